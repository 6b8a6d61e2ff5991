"""DH tables: the columns a user gives, checked and made the data of a chain."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from armdyn.errors import ModelError
from armdyn.inertia import Inertia, places
from armdyn.pose import QUARTER, Pose, quarter_turns


def length(columns: dict[str, ArrayLike], joints: str | None) -> int:
    """The number of joints a table speaks of: of its letters, or of its longest column."""
    n = len(joints) if joints is not None else max(map(np.size, columns.values()))
    if n == 0:
        raise ModelError("expected a table of at least one joint")
    return n


def column(name: str, value: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
    """A column of a table as floats; one number stands for all joints."""
    try:
        array = np.array(value, float)
        return np.array(np.broadcast_to(array, shape))
    except (TypeError, ValueError):
        raise ModelError(f"{name} must be numbers of shape {shape}, not {value!r}") from None


def pose(value: Pose | ArrayLike) -> Pose:
    """A pose, or the one that a matrix (4, 4) is."""
    return value if isinstance(value, Pose) else Pose.from_matrix(value)


def snapped(angle: float, snap: float) -> float:
    """The angle, or the quarter turns that it is within ``snap`` [rad] of."""
    k = quarter_turns(angle, snap)
    return angle if k is None else k * QUARTER


def snap_angles(rows: dict[str, np.ndarray], snap: float, names: Sequence[str]) -> list[str]:
    """Make angles near a quarter turn that turn, in place; say which ones moved."""
    notes = []
    for key in ("beta", "theta"):
        for i, angle in enumerate(rows[key].tolist()):
            rows[key][i] = snapped(angle, snap)
            if math.isfinite(angle) and rows[key][i] != angle:
                moved = rows[key][i] - angle
                notes.append(
                    f"joint {names[i]!r}: {key} snapped by {moved:.1e} rad to a quarter turn"
                )
    return notes


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
    if parameters is not None:
        if not (mass is None and com is None and inertia is None):
            raise ModelError("give either parameters=, or mass=, com= and inertia=, not both")
        places(order)
        return [
            Inertia.from_parameters(row, order) for row in column("parameters", parameters, (n, 10))
        ]
    if mass is None:
        raise ModelError(
            "a chain needs the links' inertia: give mass=, com= and inertia=, or parameters="
        )
    if inertia_about not in ("com", "origin"):
        raise ModelError(f"inertia_about is 'com' or 'origin', not {inertia_about!r}")
    masses = column("mass", mass, (n,))
    centres = column("com", 0.0 if com is None else com, (n, 3))
    tensors = np.asarray(0.0 if inertia is None else inertia, float)
    if tensors.ndim < 3:
        diagonals = column("inertia", tensors, (n, 3))
        tensors = diagonals[:, :, None] * np.eye(3)
    tensors = column("inertia", tensors, (n, 3, 3))
    for i, J in enumerate(tensors):
        if np.isfinite(J).all() and not np.allclose(J, J.T, rtol=1e-9, atol=0):
            raise ModelError(f"inertia of link {i + 1} is not symmetric: {J.tolist()}")
    if inertia_about == "com":
        return [Inertia.from_com(m, c, J) for m, c, J in zip(masses, centres, tensors, strict=True)]
    return [Inertia.of(m, m * c, J) for m, c, J in zip(masses, centres, tensors, strict=True)]
