"""The operation counts that the papers print for whole methods, as plain numbers."""

from __future__ import annotations

from functools import cache

from armdyn.counting.polynomial import Polynomial
from armdyn.papers import kang, lin1991, lin1999, safeea2018
from armdyn.papers.claims import Claim

Whole = tuple[str, str]  # a quantity and a method


@cache
def _wholes() -> dict[Whole, list[Claim]]:
    """The printed lines about a method as a whole; what is shared in them names the method."""
    lines = (
        *lin1991.TABLE_I,
        *(claim for claims in lin1999.TABLE_VIII.values() for claim in claims),
        *kang.claims(),
        *safeea2018.TABLE_I,
    )
    found: dict[Whole, list[Claim]] = {}
    for claim in lines:
        if claim.published and len(claim.shared) == 1 and claim.shared[0].stage is None:
            (whole,) = claim.shared
            found.setdefault((str(whole.quantity), whole.method), []).append(claim)
    return found


def operations(quantity: str, method: str, joints: str) -> int | None:
    """Multiplications and additions that a paper prints for an arm with joints of these kinds.

    None where it prints nothing, only a part of the method, or nothing for so few joints.
    """
    n = len(joints)
    for claim in _wholes().get((quantity, method), ()):
        if claim.published and n >= min(claim.cells, default=2) and claim.joints(n) == joints:
            mul, add = (Polynomial.parse(text)(n) for text in claim.published)
            return int(mul + add)
    return None
