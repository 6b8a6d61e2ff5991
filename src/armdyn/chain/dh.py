"""DH tables: the columns a user gives, checked and made the data of a chain."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from armdyn.chain.inertia import Inertia, places
from armdyn.chain.pose import QUARTER, Pose, Triple, exactly, numbers, quarter_turns, triple
from armdyn.errors import ModelError, shorten

if TYPE_CHECKING:
    from armdyn.chain import Frame

MOST_JOINTS = 1000  # checks and programs grow with the square and more of them


def length(columns: dict[str, ArrayLike], joints: Sequence[str] | None) -> int:
    """The number of joints a table speaks of: of its letters, or of its longest column."""
    if joints is None:
        n = max(numbers(name, value).size for name, value in columns.items())
    elif isinstance(joints, str | list | tuple):
        n = len(joints)
    else:
        raise ModelError(f"joints must be a letter a joint, such as 'RRP', not {shorten(joints)}")
    check_count(n)
    return n


def check_count(n: int) -> None:
    """Refuse an arm without joints, and one of more than MOST_JOINTS."""
    if not 1 <= n <= MOST_JOINTS:
        raise ModelError(f"expected at least one joint and at most {MOST_JOINTS}, not {n}")


def column(name: str, value: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    """A column of a table as floats; one number stands for all joints."""
    expected = f"numbers of shape {shape}"
    found = numbers(name, value, expected)
    try:
        return np.array(np.broadcast_to(found, shape))
    except ValueError:
        raise ModelError(f"{name} must be {expected}, not {shorten(value)}") from None


def vector(name: str, value: ArrayLike) -> Triple:
    """Three numbers, and nothing that could be made three."""
    return triple(exactly(name, value, (3,)))


def names(what: str, given: Sequence[str] | None, stem: str, n: int) -> list[str]:
    """The names given, or the stem with a number."""
    if given is None:
        return [f"{stem}{i + 1}" for i in range(n)]
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise ModelError(f"{what} must be a list of {n} names, not {shorten(given)}")
    if len(given) != n:
        raise ModelError(f"{what} must have {n} names, not {len(given)}")
    return list(given)


def pose(name: str, value: Pose | ArrayLike) -> Pose:
    """A pose, or the one that a matrix (4, 4) is."""
    try:
        if isinstance(value, Pose):
            return Pose.of(value.rotation, value.translation)
        return Pose.from_matrix(value)
    except ModelError as error:
        raise ModelError(f"{name}: {error}") from None


# Angles -------------------------------------------------------------------------------------


def checked_snap(snap: float) -> float:
    """How near to a quarter turn an angle becomes it [rad]."""
    if not (isinstance(snap, Real) and 0 <= snap < math.pi / 4):
        raise ModelError(f"snap is an angle of 0 <= snap < pi/4 [rad], not {shorten(snap)}")
    return float(snap)


def snapped(angle: float, snap: float) -> float:
    """The angle, or the quarter turns that it is within ``snap`` [rad] of."""
    k = quarter_turns(angle, snap)
    return angle if k is None else k * QUARTER


def moved(what: str, angle: float, turn: float) -> list[str]:
    """A note that an angle became that turn, if it moved."""
    if not math.isfinite(angle) or turn == angle:
        return []
    return [f"{what} snapped by {turn - angle:.1e} rad to a quarter turn"]


def snap_angles(rows: dict[str, np.ndarray], snap: float, names: Sequence[str]) -> list[str]:
    """Make angles near a quarter turn that turn, in place; say which ones moved."""
    notes = []
    for key in ("beta", "theta"):
        for i, angle in enumerate(rows[key].tolist()):
            rows[key][i] = snapped(angle, snap)
            notes += moved(f"joint {names[i]!r}: {key}", angle, float(rows[key][i]))
    return notes


# Standard DH --------------------------------------------------------------------------------


def outer_frames(a: np.ndarray, alpha: np.ndarray, snap: float) -> list[Pose]:
    """Where in E_i standard frame i stands: at the outer end of link i, where joint i + 1 begins.

    Its a and alpha are the b and beta of row i + 1; the last ones are in no row.
    """
    pairs = zip(a.tolist(), alpha.tolist(), strict=True)
    return [Pose.mdh(length, snapped(twist, snap), 0.0, 0.0) for length, twist in pairs]


def last_twist_moved(name: str, alpha: np.ndarray, snap: float) -> list[str]:
    """A note on the last joint's alpha, which stands in no row of a modified table."""
    last = float(alpha[-1])
    return moved(f"joint {name!r}: alpha", last, snapped(last, snap))


def frames_in_joints(outer: Sequence[Pose], frames: Iterable[Frame]) -> list[Frame]:
    """Frames given in the standard frames, seen from E_i; those of the base stay."""
    return [
        dataclasses.replace(frame, pose=outer[frame.link] @ frame.pose)
        if 0 <= frame.link < len(outer)
        else frame
        for frame in frames
    ]


# Bodies -------------------------------------------------------------------------------------


def bodies(
    n: int,
    mass: ArrayLike | None,
    com: ArrayLike | None,
    inertia: ArrayLike | None,
    inertia_about: str = "com",
    parameters: ArrayLike | None = None,
    order: str = "pinocchio",
) -> list[Inertia]:
    """The links' inertias, from (mass, com, inertia) or from the ten parameters."""
    places(order)
    if inertia_about not in ("com", "origin"):
        raise ModelError(f"inertia_about is 'com' or 'origin', not {shorten(inertia_about)}")
    if parameters is not None:
        if not (mass is None and com is None and inertia is None):
            raise ModelError("give either parameters=, or mass=, com= and inertia=, not both")
        return [
            Inertia.from_parameters(row, order) for row in column("parameters", parameters, (n, 10))
        ]
    if mass is None:
        raise ModelError(
            "a chain needs the links' inertia: give mass=, com= and inertia=, or parameters="
        )
    masses = column("mass", mass, (n,))
    centres = column("com", 0.0 if com is None else com, (n, 3))
    tensors = numbers("inertia", 0.0 if inertia is None else inertia)
    if tensors.ndim < 3:
        diagonals = column("inertia", tensors, (n, 3))
        tensors = diagonals[:, :, None] * np.eye(3)
    tensors = column("inertia", tensors, (n, 3, 3))
    for i, J in enumerate(tensors):
        check_symmetric(f"inertia of link {i + 1}", J)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is found not finite
        if inertia_about == "com":
            rows = zip(masses, centres, tensors, strict=True)
            return [Inertia.from_com(m, c, J) for m, c, J in rows]
        return [Inertia.of(m, m * c, J) for m, c, J in zip(masses, centres, tensors, strict=True)]


def check_symmetric(name: str, J: np.ndarray) -> None:
    """Refuse a tensor (3, 3) that is not symmetric to the digits it is printed with."""
    if np.isfinite(J).all() and not np.allclose(J, J.T, rtol=1e-9, atol=0):
        raise ModelError(f"{name} is not symmetric: {J.tolist()}")
