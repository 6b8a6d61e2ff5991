"""Polynomials in the sines and cosines of joints, as scalars that algorithms run on.

Their coefficients are exact, so that nothing has to be simplified afterwards: equal terms meet by
themselves. A result is written in powers of sines and cosines, or in sines and cosines of sums of
angles, whichever is shorter.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

from armdyn.errors import MethodError, listed
from armdyn.forks import importing
from armdyn.quantities import STATE
from armdyn.spatial import sincos

DIGITS = 15  # of a number in a result,
LONG = 60  # terms of a polynomial, from where on sums of angles are not tried: they are more
SHORT = 1000  # where a fraction beside names has no longer a denominator


class Letters:
    """The polynomials that stand for the joints' variables and the named constants.

    Attributes:
        named: the names of constants.
        state: q, qd, qdd, tau; of a revolute joint q is a pair (cos, sin).
        letter: the polynomial of each name.
    """

    def __init__(
        self, kinds: str, joints: Sequence[str], arguments: Sequence[str], named: Sequence[str]
    ) -> None:
        with importing:
            import sympy

        self.sympy, self.named, self.joints = sympy, list(named), list(joints)
        self._known: dict[Any, Any] = {}
        rates = {"qd": "dot", "qdd": "ddot"}
        symbols = {
            name: [_dotted(joint, rates[name]) for joint in joints]
            if name in rates
            else [f"{name}{i + 1}" for i in range(len(joints))]
            for name in arguments
            if name in STATE and name != "q"
        }
        angles = [f"cos {joint}" for joint in joints] + [f"sin {joint}" for joint in joints]
        flat = [name for row in symbols.values() for name in row]
        everything = [*angles, *joints, *flat, *self.named]
        twice = {name for name in everything if everything.count(name) > 1}
        if twice:
            raise MethodError(f"names: {listed(map(repr, sorted(twice)))} would mean two things")
        symbols_of = [sympy.Symbol(name) for name in everything]
        self.ring, *letters = sympy.polys.rings.ring(symbols_of, sympy.QQ)
        self.letter = dict(zip(everything, map(Polynomial, letters), strict=True))
        self.state: dict[str, list[Any]] = {
            name: [self.letter[each] for each in row] for name, row in symbols.items()
        }
        self.state["q"] = [
            (self.letter[f"cos {joint}"], self.letter[f"sin {joint}"])
            if kind == "R"
            else self.letter[joint]
            for joint, kind in zip(joints, kinds, strict=True)
        ]

    def number(self, value: float) -> Any:
        """A constant as the fraction that its digits say."""
        return Polynomial(self.ring(_fraction(value)))

    # Back to expressions ----------------------------------------------------------------------

    def written(self, x: Any) -> Any:
        """A scalar of the algorithm as an expression."""
        exact = self._shorter(x.element if isinstance(x, Polynomial) else self.ring(x))
        rounded = {
            fraction: self.sympy.Float(fraction, DIGITS)
            for fraction in exact.atoms(self.sympy.Rational)
            if fraction.q > (SHORT if self.named else 1)
        }
        return exact.xreplace(rounded)

    def _shorter(self, polynomial: Any) -> Any:
        """A polynomial in powers of sines and cosines, or in those of sums of angles."""
        terms = self._without_squares(polynomial)
        key = frozenset(terms.items())
        if key not in self._known:  # a symmetric matrix has most of its elements twice
            forms = [self._in_powers(terms)]
            forms += [self._in_sums(terms)] if len(terms) <= LONG else []
            self._known[key] = min(forms, key=lambda form: form.count_ops())
        return self._known[key]

    def _without_squares(self, polynomial: Any) -> dict[tuple[int, ...], Any]:
        """Its terms by their exponents, with sin^2 = 1 - cos^2 put in."""
        n = len(self.joints)
        terms: dict[tuple[int, ...], Any] = {}
        waiting = [(tuple(monomial), factor) for monomial, factor in polynomial.terms()]
        while waiting:
            monomial, factor = waiting.pop()
            high = next((i for i in range(n, 2 * n) if monomial[i] > 1), None)
            if high is None:
                terms[monomial] = terms.get(monomial, 0) + factor
                continue
            less = list(monomial)
            less[high] -= 2
            waiting.append((tuple(less), factor))
            less[high - n] += 2
            waiting.append((tuple(less), -factor))
        return {monomial: factor for monomial, factor in terms.items() if factor}

    def _in_powers(self, terms: Mapping[tuple[int, ...], Any]) -> Any:
        n, q = len(self.joints), [self.sympy.Symbol(joint) for joint in self.joints]
        turns = [self.sympy.cos(x) for x in q] + [self.sympy.sin(x) for x in q]
        total = []
        for monomial, factor in terms.items():
            powers = (turn**k for turn, k in zip(turns, monomial[: 2 * n], strict=True))
            total.append(self._rest(monomial, factor) * self.sympy.Mul(*powers))
        return self.sympy.Add(*total)

    def _in_sums(self, terms: Mapping[tuple[int, ...], Any]) -> Any:
        """By 2 cos x = e^ix + e^-ix and so on: each product is a sum of turns."""
        sympy, n = self.sympy, len(self.joints)
        q = [sympy.Symbol(joint) for joint in self.joints]
        waves: dict[tuple[int, ...], list[Any]] = {}
        for monomial, factor in terms.items():
            rest = self._rest(monomial, factor)
            for turns, (real, imaginary) in _waves(monomial[:n], monomial[n : 2 * n]).items():
                sign = next((1 if k > 0 else -1 for k in turns if k), 1)
                here = waves.setdefault(tuple(sign * k for k in turns), [[], []])
                here[0].append(real * rest)
                here[1].append(-sign * imaginary * rest)
        total = []
        for turns, (cosines, sines) in waves.items():
            angle = sympy.Add(*(k * x for k, x in zip(turns, q, strict=True)))
            total += [sympy.Add(*cosines) * sympy.cos(angle), sympy.Add(*sines) * sympy.sin(angle)]
        return sympy.expand_mul(sympy.Add(*total))

    def _rest(self, monomial: Sequence[int], factor: Any) -> Any:
        """The part of a term beside its sines and cosines."""
        names = [*self.letter][2 * len(self.joints) :]
        exponents = monomial[2 * len(self.joints) :]
        powers = (self.sympy.Symbol(x) ** k for x, k in zip(names, exponents, strict=True) if k)
        return self.sympy.QQ.to_sympy(factor) * self.sympy.Mul(*powers)


def _fraction(value: float) -> Any:
    """The fraction that the digits of a double say."""
    with importing:
        import sympy

    return sympy.QQ.from_sympy(sympy.Rational(repr(float(value))))


class Polynomial:
    """A scalar: an element of SymPy's ring, which leaves vectors to themselves."""

    __slots__ = ("element",)

    def __init__(self, element: Any) -> None:
        self.element = element

    def __add__(self, other: Any) -> Any:
        return _done(self, other, operator.add)

    def __sub__(self, other: Any) -> Any:
        return _done(self, other, operator.sub)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        return _done(self, other, operator.mul)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: int) -> Any:
        return Polynomial(self.element * (_fraction(1) / other))

    def __neg__(self) -> Polynomial:
        return Polynomial(-self.element)


def _done(one: Polynomial, other: Any, operation: Callable[[Any, Any], Any]) -> Any:
    if isinstance(other, Polynomial):
        return Polynomial(operation(one.element, other.element))
    return Polynomial(operation(one.element, other)) if isinstance(other, int) else NotImplemented


@sincos.register
def _(angle: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Of a constant angle; joints are given as pairs (cos, sin)."""
    S, C = (angle.element * 0 + _fraction(x) for x in sincos(float(angle.element.as_expr())))
    return Polynomial(S), Polynomial(C)


def _waves(cosines: Sequence[int], sines: Sequence[int]) -> dict[tuple[int, ...], tuple[Any, Any]]:
    """The coefficients (real, imaginary) of e^i(k . q) in a product of powers, by k."""
    with importing:
        import sympy

    waves = {(0,) * len(cosines): sympy.Integer(1)}
    half, turned = sympy.Rational(1, 2), sympy.I / 2
    for i, (c, s) in enumerate(zip(cosines, sines, strict=True)):
        for pair in [(half, half)] * c + [(turned, -turned)] * s:  # of e^-ix, e^ix
            before, waves = waves, {}
            for (turns, factor), (step, part) in product(
                before.items(), zip((-1, 1), pair, strict=True)
            ):
                k = (*turns[:i], turns[i] + step, *turns[i + 1 :])
                waves[k] = waves.get(k, 0) + factor * part
    return {k: sympy.expand(x).as_real_imag() for k, x in waves.items() if x != 0}


def _dotted(name: str, dots: str) -> str:
    """The name of a rate: q1 -> qdot1, which SymPy prints as one."""
    stem, digits = re.fullmatch(r"(.*?)(\d*)", name).groups()  # type: ignore[union-attr]
    return f"{stem}{dots}{digits}"
