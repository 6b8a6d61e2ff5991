"""The five rules of literal counts: which constants are charged as run-time numbers.

The rules are stated in :mod:`armdyn.counting`. To seal a constant is to put a run-time number in
its place. Only the constructor of a vector knows which numbers belong to one vector. So while a
method is counted, the constructors of :mod:`armdyn.spatial` are replaced by ones that seal; neither
that module nor an algorithm knows of it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextvars import ContextVar, copy_context
from typing import Any

from armdyn.algorithms.stages import stored_zero
from armdyn.chain.arm import Arm
from armdyn.counting.scalars import Counted, Tally, Turn
from armdyn.forks import free_in_children
from armdyn.spatial import Rotation, Scalar, Symmetric, Vector

PLAIN: dict[Any, Callable[..., None]] = {cls: cls.__init__ for cls in (Rotation, Vector, Symmetric)}
_tally: ContextVar[Tally | None] = ContextVar("tally", default=None)
_one_count_at_a_time = free_in_children(threading.Lock())


def run_sealed(tally: Tally, arms: Sequence[Arm], work: Callable[[], object]) -> None:
    """Call a function while the rules hold in this thread, for these arms and their vectors.

    They hold in a context of their own, which ends with the call wherever Ctrl-C ends it. Beyond
    it a constructor that seals does what the plain one does.
    """
    for arm in arms:
        seal_parameters(arm, tally)

    def run() -> None:
        _tally.set(tally)
        stored_zero.set(Counted(tally))  # rule 5
        work()

    with _one_count_at_a_time:
        try:
            for cls, construct in PLAIN.items():
                cls.__init__ = (formed_at_run_time if cls is Rotation else sealed)(construct)
            copy_context().run(run)
        finally:
            for cls, construct in PLAIN.items():
                cls.__init__ = construct


def seal(x: Scalar, tally: Tally) -> Scalar:
    """A number that counts as run-time in place of a constant x, unless that is 0 or +-1."""
    return Counted(tally) if isinstance(x, int | float) and x not in (0, 1, -1) else x


def formed_at_run_time(construct: Callable[..., None]) -> Callable[..., None]:
    """Rule 1, for Rotation."""

    def constructor(R: Rotation, C: Scalar, S: Scalar, Cb: Scalar, Sb: Scalar) -> None:
        tally = _tally.get()
        if tally and isinstance(C, Turn):
            Cb, Sb = seal(Cb, tally), seal(Sb, tally)
            C = S = Turn(tally, (Cb, Sb))
        elif tally and isinstance(seal(Cb, tally), Counted):
            Cb = Sb = Turn(tally, (C, S))
        construct(R, C, S, Cb, Sb)

    return constructor


def sealed(construct: Callable[..., None]) -> Callable[..., None]:
    """Rule 2, for Vector and Symmetric."""

    def constructor(self: Vector | Symmetric, *components: Scalar) -> None:
        tally = _tally.get()
        if tally and any(isinstance(x, Counted) for x in components):
            components = tuple(seal(x, tally) for x in components)
        construct(self, *components)

    return constructor


def seal_parameters(arm: Arm, tally: Tally) -> None:
    """Rules 3 and 4, after the constants about the centres of mass have been taken."""

    def every(v: Vector) -> Vector:
        return Vector(*(seal(x, tally) for x in v))

    rows, origin = arm.base
    vars(arm).update(
        com=arm.com,
        inertia_about_com=arm.inertia_about_com,
        base=(tuple(map(every, rows)), every(origin)),
    )
    arm.first_moment[-1] = every(arm.first_moment[-1])
    arm.inertia[-1] = Symmetric(*(seal(x, tally) for x in arm.inertia[-1]))
    arm.Cb[0], arm.Sb[0] = Counted(tally), Counted(tally)
