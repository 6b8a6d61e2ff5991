"""The rule by which a method is chosen: the cheapest exact one on the arm at hand.

What counts are operations, a division as eight, one in a loop of a large arm as three quarters of
one (see ``tasks.LESS``). The catalogue's first of equals wins. On more than a few joints, methods
that are far from the best on generic arms are not tried; one whose cost there is unknown is. A
method that a user registered is chosen only where it proves right.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from armdyn.algorithms import catalogue
from armdyn.algorithms.method import Method
from armdyn.chain import Chain
from armdyn.errors import MethodError, shorten, warn
from armdyn.forks import importing
from armdyn.quantities import Formula, find, reference, sizes

NEAR = 2.5  # a method is tried if on generic arms it takes at most so often the least operations,
TRIES = 60  # and is one of the best TRIES / n, but of the best two at least;
SMALL = 4  # up to so many joints all are tried


# Answers a question with the name of a method. It takes the question, all names that may be the
# answer, and a function that chooses one of them. The engine puts one here that asks the disk.
remembered: Callable[[str, Sequence[str], Callable[[], str]], str]
remembered = lambda question, names, choose: choose()  # noqa: E731


def able(chain: Chain, quantity: str, refuses: Callable[[Method], str | None]) -> Sequence[Method]:
    """The methods of a quantity that may be chosen; ``refuses`` says why one does not apply."""
    methods = [m for m in catalogue.methods(quantity) if m.exact and m.tried]
    found = [m for m in methods if not refuses(m)]
    if not found:
        reasons = "; ".join(f"{m.name}: {refuses(m)}" for m in catalogue.methods(quantity))
        raise MethodError(f"no method of {quantity} applies to {shorten(chain.name)}: {reasons}")
    return found


def choose(
    chain: Chain,
    quantity: str,
    able: Sequence[Method],
    price: Callable[[Method], float],
    compute: Callable[[str], Formula],
) -> Method:
    """The method of a quantity for an arm, of those that are able.

    ``price`` says what a method costs there, ``compute`` makes a function on floats of its name.
    """
    tried = able if chain.n <= SMALL else _near_the_best(able, quantity, chain.n)
    costs = {m: _cost(chain, quantity, m, price) for m in tried}
    for method in sorted(tried, key=lambda m: costs[m]):
        if not method.registered or proves_right(chain, quantity, method.name, compute):
            return method
    raise MethodError(f"no registered method of {quantity} proves right on {shorten(chain.name)}")


def _near_the_best(able: Sequence[Method], quantity: str, n: int) -> list[Method]:
    """The methods worth trying on an arm of n joints, in order."""
    counted = {m.name: catalogue.operations(quantity, m.name, n) for m in able}
    known = {name: operations for name, operations in counted.items() if operations is not None}
    best = sorted(known, key=lambda name: known[name])[: max(2, TRIES // n)]
    near = {name for name in best if known[name] <= NEAR * known[best[0]]}
    return [m for m in able if m.name in near or m.name not in known]


def _cost(chain: Chain, quantity: str, method: Method, price: Callable[[Method], float]) -> float:
    """What a method costs on this arm; infinitely much where a registered one fails."""
    try:
        return price(method)
    except Exception as error:
        if not method.registered:
            raise
        _pass_over(chain, quantity, method.name, error)
        return math.inf


# Methods that users bring ------------------------------------------------------------------------

TRIALS = 5  # random states in which a registered method must prove right
ROUNDING = 1e-10  # how much a right one may lose of a joint's largest number;
NEGLIGIBLE = 1e-6  # a joint with less than so much of the largest of all is measured by that


def proves_right(chain: Chain, quantity: str, name: str, compute: Callable[[str], Formula]) -> bool:
    """Whether a registered method gives on this arm what the reference gives; logged if not."""
    judge = reference(chain, quantity)
    with importing:
        from numpy.random import default_rng  # slow to import

    rng = default_rng(0)
    given = sizes(chain.n, find(quantity).arguments).values()
    states = [[rng.uniform(-math.pi, math.pi, size) for size in given] for _ in range(TRIALS)]

    def values(method: str) -> np.ndarray:  # by state, joint of a result, what that has
        function = compute(method)
        found = [function(*(argument.tolist() for argument in state)) for state in states]
        shape = TRIALS, len(find(quantity).results) * chain.n, -1
        return np.array(found, dtype=float).reshape(shape)

    try:
        apart, size = np.abs(values(name) - values(judge)), np.abs(values(judge))
    except Exception as error:
        _pass_over(chain, quantity, name, error)
        return False
    size = size.max(axis=(0, 2), keepdims=True)  # of each joint
    size = np.where(size < NEGLIGIBLE * size.max(), size.max(), size)
    if bool((apart <= ROUNDING * size).all()):
        return True
    _pass_over(chain, quantity, name, f"it is off what {judge} gives by {apart.max():.1e}")
    return False


def _pass_over(chain: Chain, quantity: str, name: str, reason: object) -> None:
    """Say why a registered method is not chosen."""
    arm = shorten(chain.name)
    warn("%s of %s is not computed by %s: %s", quantity, arm, name, reason)
