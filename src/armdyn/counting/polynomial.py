"""Polynomials in n with rational coefficients, as the papers print operation counts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from armdyn.errors import MethodError, shorten

TERM = re.compile(r"([+-]?)(\d+(?:\.\d+|/\d+)?)?(n(?:\^(\d+))?)?")


@dataclass(frozen=True)
class Polynomial:
    """``sum of coefficients[k] n^k``, without zeros at the end."""

    coefficients: tuple[Fraction, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Polynomial:
        """The polynomial that prints as ``text``: "10.5n^2+38.5n-85", "5/3n^3-n"."""
        found: dict[int, Fraction] = {}
        rest = text.replace(" ", "")
        while rest:
            match = TERM.match(rest)
            sign, number, power, exponent = match.groups() if match else ("", None, None, None)
            if match is None or not (number or power):
                raise MethodError(
                    f"{shorten(text)} is no polynomial in n; expected one like 3n^2-0.5n+1"
                )
            k = int(exponent or 1) if power else 0
            found[k] = found.get(k, Fraction(0)) + Fraction(sign + (number or "1"))
            rest = rest[match.end() :]
        return cls._of([found.get(k, Fraction(0)) for k in range(max(found, default=-1) + 1)])

    @classmethod
    def through(cls, points: Mapping[int, int]) -> Polynomial:
        """The polynomial of lowest degree through all points, one at least more than it needs."""
        sizes = sorted(points)
        differences = [Fraction(points[n]) for n in sizes]  # divided, Newton's scheme
        newton = differences[:1]
        for order in range(1, len(sizes)):
            differences = [
                (b - a) / (sizes[i + order] - sizes[i])
                for i, (a, b) in enumerate(zip(differences, differences[1:], strict=False))
            ]
            newton.append(differences[0])
        while newton and not newton[-1]:
            newton.pop()
        if len(newton) >= len(sizes):
            raise MethodError(f"no polynomial through {dict(points)} leaves a point to confirm it")
        coefficients: list[Fraction] = []
        for n, c in zip(reversed(sizes[: len(newton)]), reversed(newton), strict=True):
            shifted = [Fraction(0), *coefficients]  # times (x - n), then add c
            for k, a in enumerate(coefficients):
                shifted[k] -= n * a
            shifted[0] += c
            coefficients = shifted
        return cls._of(coefficients)

    @classmethod
    def _of(cls, coefficients: list[Fraction]) -> Polynomial:
        while coefficients and not coefficients[-1]:
            coefficients = coefficients[:-1]
        return cls(tuple(coefficients))

    def __call__(self, n: int) -> Fraction:
        """Its value at n."""
        return sum((c * n**k for k, c in enumerate(self.coefficients)), Fraction(0))

    def __add__(self, other: Polynomial) -> Polynomial:
        length = max(len(self.coefficients), len(other.coefficients))
        pairs = zip(self._padded(length), other._padded(length), strict=True)
        return self._of([a + b for a, b in pairs])

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + Polynomial(tuple(-c for c in other.coefficients))

    def __mul__(self, factor: int) -> Polynomial:
        return self._of([factor * c for c in self.coefficients])

    def _padded(self, length: int) -> tuple[Fraction, ...]:
        return self.coefficients + (Fraction(0),) * (length - len(self.coefficients))

    def __str__(self) -> str:
        terms = []
        for k, c in reversed(list(enumerate(self.coefficients))):
            if c:
                power = "" if k == 0 else "n" if k == 1 else f"n^{k}"
                number = "" if abs(c) == 1 and k else _printed(abs(c))
                terms.append(("-" if c < 0 else "+") + number + power)
        return "".join(terms).removeprefix("+") or "0"


def _printed(c: Fraction) -> str:
    """10.5 where the decimals end soon, else 5/3."""
    return f"{float(c):g}" if 100 % c.denominator == 0 else str(c)
