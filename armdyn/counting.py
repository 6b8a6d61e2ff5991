"""Operation counts of the methods, by the papers' rules: run a method on scalars that count.

Four kinds, from the papers' own reading to the machine's:

- ``literal``: the method line by line on a generic arm with the robot's joint kinds. Nothing is
  shared between lines. A constant with a constant is free, anything else but 0 and +-1 is charged.
  What the papers form at run time they charge as run-time, constants in it included. That is:

  1. R_i is formed at run time: C, S, Cb, Sb of a ``Rotation`` count as run-time (also where
     theta_i is constant, for a prismatic joint), and so do its entries; ``arm.Cb``, ``arm.Sb``
     themselves are constants, for terms a paper computes in advance.
  2. A ``Vector`` or ``Symmetric`` with a run-time component is formed at run time: its other
     components, except 0 and +-1, count as run-time from there on (d in s^<i> = [bC, -bS, d]).
  3. The last link is a composite body like the others: ``arm.first_moment[n-1]`` and
     ``arm.inertia[n-1]`` (k_n, U_n) count as run-time; ``mass``, ``com`` and
     ``inertia_about_com`` of every link are constants.

- ``folded``: the same on the robot itself, without these three rules: constants fold everywhere.
- ``shared``: folded, equal subexpressions computed once, and only what the result needs.
- ``program``: every instruction of the program on this robot, entries of R_i and sines included.

Free in all but ``program``: sin and cos, the entries of R_i (C and S times Cb and Sb), negation,
and the joint variables theta_i' + q_i and d_i' + q_i. A doubling, 2 x, is counted apart. Rotor
inertia is in none of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from armdyn import algorithms
from armdyn.algorithms import Method
from armdyn.algorithms.stages import watcher
from armdyn.arm import Arm
from armdyn.chain import Chain
from armdyn.errors import MethodError
from armdyn.program.tally import Counted, Position, Tally, Turn
from armdyn.spatial import Rotation, Scalar, Symmetric, Vector

Kind = Literal["literal", "folded", "shared", "program"]


@dataclass(frozen=True)
class Count:
    """Multiplications, additions and subtractions, doublings, divisions, sines and cosines."""

    mul: int = 0
    add: int = 0
    double: int = 0
    div: int = 0
    trig: int = 0


def count(
    robot: Any,
    quantity: str,
    method: str,
    kind: Kind = "literal",
    stage: str | None = None,
) -> Count:
    """How many operations a method takes on a robot (or a chain), or a stage of it alone."""
    chain: Chain = getattr(robot, "chain", robot)
    found = algorithms.find(quantity, method)
    if kind == "literal":
        joints = "".join(joint.kind for joint in chain.joints)
        chain = Chain.random(chain.n, joints, seed=7)
    tally = Tally()
    execute(found, quantity, chain, tally, literal=kind == "literal")
    counter = tally.total if stage is None else tally.stages.get(stage)
    if counter is None:
        known = ", ".join(tally.stages) or "none"
        raise MethodError(f"{quantity} by {method} has no stage {stage!r}; it has: {known}")
    return Count(**counter)


def execute(method: Method, quantity: str, chain: Chain, tally: Tally, literal: bool) -> None:
    """Run a method once on counting scalars."""
    arm = chain.on(float, method.view)
    twists = list(zip(arm.Cb, arm.Sb, strict=True))
    state = {"q": [Position(tally, twist) for twist in twists]}
    others = [[Counted(tally) for _ in twists] for _ in algorithms.STATE[quantity][1:]]
    token = watcher.set(tally.stage)
    try:
        if literal:
            seal_last_link(arm, tally)
            with sealing(tally):
                method.function(arm, state["q"], *others)
        else:
            method.function(arm, state["q"], *others)
    finally:
        watcher.reset(token)


# What literal counts take for run-time ---------------------------------------------------------


def seal(x: Scalar, tally: Tally) -> Scalar:
    """x as a run-time number, unless it is 0 or +-1."""
    return x if isinstance(x, Counted) or x in (0, 1, -1) else Counted(tally)


def seal_last_link(arm: Arm, tally: Tally) -> None:
    """Rule 3, with the constants about the centre of mass taken before."""
    if hasattr(arm, "inertia"):
        arm.com, arm.inertia_about_com  # noqa: B018
        arm.first_moment[-1] = Vector(*(seal(x, tally) for x in arm.first_moment[-1]))
        arm.inertia[-1] = Symmetric(*(seal(x, tally) for x in arm.inertia[-1]))


_one_at_a_time = threading.Lock()


@contextmanager
def sealing(tally: Tally) -> Iterator[None]:
    """Rules 1 and 2: while it lasts, the constructors of spatial.py seal constants.

    They do so only beside counting scalars, so other threads may go on building vectors.
    """
    plain = {cls: cls.__init__ for cls in (Vector, Symmetric)}
    rotation = Rotation.__init__

    def sealed(init: Callable[..., None]) -> Callable[..., None]:
        def construct(self: Any, *components: Scalar) -> None:
            if any(isinstance(x, Counted) for x in components):
                components = tuple(seal(x, tally) for x in components)
            init(self, *components)

        return construct

    def formed(self: Rotation, C: Scalar, S: Scalar, Cb: Scalar, Sb: Scalar) -> None:
        twist = seal(Cb, tally), seal(Sb, tally)
        C, S = (Turn(tally, twist) if isinstance(seal(x, tally), Counted) else x for x in (C, S))
        rotation(self, C, S, *twist)

    with _one_at_a_time:
        try:
            for cls, init in plain.items():
                cls.__init__ = sealed(init)  # type: ignore[misc]
            Rotation.__init__ = formed  # type: ignore[method-assign]
            yield
        finally:
            for cls, init in plain.items():
                cls.__init__ = init  # type: ignore[misc]
            Rotation.__init__ = rotation  # type: ignore[method-assign]
