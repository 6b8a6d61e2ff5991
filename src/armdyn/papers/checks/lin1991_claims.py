"""Checks of what [lin1991] claims of its counts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from armdyn.algorithms import catalogue, forward_dynamics
from armdyn.algorithms import lin1991 as algorithm
from armdyn.chain import Chain
from armdyn.counting.polynomial import Polynomial
from armdyn.counting.scalars import Counted, Tally
from armdyn.papers import lin1991
from armdyn.papers.checks.counts import part, total
from armdyn.papers.checks.lin1991 import Body, bodies
from armdyn.papers.claims import Claim
from armdyn.papers.evidence import FAILS, HOLDS, Evidence, claim, error, rebuilt
from armdyn.program.program import Op
from armdyn.quantities import tasks
from armdyn.spatial import Rotation, Vector, steiner

TABLE_I = partial(total, lin1991.TABLE_I)
TABLE_II = partial(total, lin1991.TABLE_II)


def cheapest(lines: tuple[Claim, ...], n: int) -> str:
    """Which printed line takes fewest operations."""
    totals = {line.name: total(lines, line.name)(n) for line in lines if line.published}
    return min(totals, key=lambda name: totals[name])


def most_efficient() -> Evidence:
    """Claim: the present method takes fewest for five or more joints."""
    wins = [n for n in range(2, 101) if cheapest(lin1991.TABLE_I, n) == "Present"]
    text = f"by Table I's polynomials for n = {wins[0]} to {wins[-1]}; then Fijany and Bejczy's"
    return claim(wins == list(range(5, 101)), text)


def few_joints() -> Evidence:
    """Claim: for four joints or fewer that of reference 13."""
    best = {cheapest(lin1991.TABLE_I, n) for n in (2, 3, 4)}
    return claim(best == {"Lin, reference 13"}, "by Table I for n = 2, 3, 4")


def other_types() -> Evidence:
    """Claim: more efficient than the two other types of composite body methods."""
    wins = [
        n
        for n in range(2, 101)
        if TABLE_I("Present")(n) < min(TABLE_I("Walker and Orin")(n), TABLE_I("Renaud")(n))
    ]
    return claim(wins == list(range(2, 101)), f"by Table I from n = {wins[0]} on")


def quadratic_coefficients() -> Evidence:
    """Claim: the coefficients of n^2 are less than those of the other types."""
    others = [
        part(lin1991.TABLE_I, name, k) for name in ("Walker and Orin", "Renaud") for k in (0, 1)
    ]
    own = [part(lin1991.TABLE_I, "Present", k) for k in (0, 1)]
    less = all(own[k % 2].coefficients[2] < p.coefficients[2] for k, p in enumerate(others))
    return claim(less, "10.5 and 6 against 11 and 8, 13.5 and 9")


def cubic() -> Evidence:
    """Claim: the algorithm of reference 13 is of order n^3."""
    return claim(len(TABLE_I("Lin, reference 13").coefficients) == 4, "by its polynomials")


def bias_cheaper() -> Evidence:
    """Claim: the bias vector costs less than by Newton and Euler for six joints or fewer."""
    wins = [n for n in range(2, 20) if cheapest(lin1991.TABLE_II, n) == "Present"]
    return claim(wins == list(range(2, 7)), f"by Table II for n = {wins[0]} to {wins[-1]}")


def not_above_renaud() -> Evidence:
    """Claim: Fijany and Bejczy's algorithm is not more efficient than Renaud's."""
    first = next(n for n in range(2, 99) if TABLE_I("Fijany and Bejczy")(n) < TABLE_I("Renaud")(n))
    return claim(first > 98, f"by Table I's own polynomials it is from n = {first} on")


def operations(made: Callable[[Counted], object]) -> str:
    """What something takes on counting scalars, as the papers write it."""
    tally = Tally()
    made(Counted(tally))
    found = tally.counters[""]
    return f"{found['mul']}M {found['add']}A"


def rotated_vector() -> Evidence:
    """Claim: R v takes 8M4A, for entries of R can be factored."""
    found = operations(lambda x: Rotation(x, x, x, x).down(Vector(x, x, x)))
    return claim(found == "8M 4A", found)


def half_traces() -> Evidence:
    """Claim: tensors less half their trace save a few operations: a dyad for a Steiner term."""
    dyad, whole = (
        operations(lambda x, f=f: f(Vector(x, x, x), Vector(x, x, x)))  # type: ignore[misc]
        for f in (algorithm.dyad, steiner)
    )
    return claim((dyad, whole) == ("6M 0A", "6M 3A"), f"{dyad} a link in place of {whole}")


def same_as_others() -> Evidence:
    """Claim: the results of a program are the same as those of other methods."""
    names = ("lin1991", "renaud", "walker-orin", "crba", "lagrange", "newton-euler")
    found = []
    for s in bodies():
        results = [catalogue.find("mass_matrix", name).function for name in names]
        found += [error(function(s.arm, s.q.tolist()), s.M) for function in results]
    return claim(max(found) < HOLDS, f"the inertia matrix by {len(names)} methods, to 1e-10")


def linear_solver() -> Evidence:
    """Claim: LDL^T is preferable; the experiment is in reference 13, that it solves is shown."""

    def wrong(s: Body) -> float:
        q, qd = s.q.tolist(), s.qd.tolist()
        qdd = forward_dynamics.ldl(s.arm, q, qd, s.qdd.tolist())
        return error(qdd, np.linalg.solve(s.M, s.qdd - s.bias))

    return rebuilt(map(wrong, bodies()), "LDL^T of H")


def one_point() -> Evidence:
    """Claim: from one reference point Renaud's invariant terms would vary."""

    def moved(s: Body) -> float:
        there = s.place(s.q + s.Ks)
        here = s.m[-1] * s.at.R[-1].T @ s.at.p[-1]
        return error(s.m[-1] * there.R[-1].T @ there.p[-1], here)

    least = min(moved(s) for s in bodies() if s.Ks[1:-1].any())
    return claim(least > FAILS, f"m p of the last link changes by {least:.1g} or more in its frame")


def parallel() -> Evidence:
    """Claim: parallel computation can be applied: the longest chain of operations is short."""
    program = tasks.program(Chain.random(6), [tasks.Task("mass_matrix", "lin1991")])
    depth: list[int] = []
    for op, places, _ in program.instructions:
        free = op in (Op.INPUT, Op.CONSTANT, Op.NEG, Op.SIN, Op.COS)
        depth.append(max((depth[k] for k in places), default=0) + (not free))
    longest = max(depth[k] for k in program.outputs)
    operations = int(total(lin1991.TABLE_I, "Present")(6))
    text = f"n = 6: no chain is longer than {longest} of {operations} operations"
    return claim(10 * longest < operations, text)


def what_b_adds() -> Evidence:
    """Claim: b takes 12.5n^2+5.5n+3 M, 9n^2+n A beyond H: the difference of the two counts."""
    both = [Polynomial.parse(text) for text in lin1991.TEXT[0].published or ()]
    alone = [part(lin1991.TABLE_I, "Present", k) for k in (0, 1)]
    more = [a - b for a, b in zip(both, alone, strict=True)]
    same = more == [part(lin1991.TABLE_II, "Present", k) for k in (0, 1)]
    return claim(same, f"{more[0]} M, {more[1]} A")
