"""Rigid placements as plain data: hashable, comparable, exact where the numbers are."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from armdyn.chain.given import Triple, exactly, number
from armdyn.errors import ModelError, shorten

QUARTER = math.pi / 2


def quarter_turns(angle: float, snap: float = 0.0) -> int | None:
    """How many quarter turns an angle is, exactly or within ``snap`` [rad]; None if it is not."""
    if not math.isfinite(angle):
        return None
    k = round(angle / QUARTER)
    return k if abs(angle - k * QUARTER) <= snap else None


def cos_sin(angle: float, snap: float = 0.0) -> tuple[float, float]:
    """(cos, sin) of a constant angle [rad], exactly 0 and +-1 at quarter turns."""
    if not math.isfinite(angle):
        return math.nan, math.nan
    k = quarter_turns(angle, snap)
    if k is None:
        return math.cos(angle), math.sin(angle)
    return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[k % 4]


def rotation_about(axis: str, angle: float, snap: float = 0.0) -> np.ndarray:
    """The rotation matrix about "x", "y" or "z" by a constant angle [rad], shape (3, 3)."""
    c, s = cos_sin(angle, snap)
    if axis == "x":
        return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    if axis == "y":
        return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def rotation_rpy(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Rz(yaw) Ry(pitch) Rx(roll), as URDF has it, shape (3, 3)."""
    x, y, z = map(rotation_about, "xyz", (roll, pitch, yaw))
    return z @ y @ x


@dataclass(frozen=True)
class Pose:
    """Where a frame stands in another: ``p_outer = rotation p_inner + translation`` [m]."""

    rotation: tuple[Triple, Triple, Triple] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    translation: Triple = (0.0, 0.0, 0.0)

    @classmethod
    def of(cls, rotation: ArrayLike, translation: ArrayLike = (0.0, 0.0, 0.0)) -> Pose:
        """From a rotation matrix (3, 3) and a translation (3,) [m]."""
        turn = exactly("the rotation of a pose", rotation, (3, 3))
        shift = exactly("the translation of a pose", translation, (3,))
        return cls(tuple(map(tuple, turn.tolist())), tuple(shift.tolist()))  # type: ignore[arg-type]

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Pose:
        """From a homogeneous matrix (4, 4), checked to be a rigid placement."""
        H = exactly("the homogeneous matrix of a pose", matrix, (4, 4))
        pose = cls.of(H[:3, :3], H[:3, 3])
        if not pose.is_rigid or tuple(H[3]) != (0, 0, 0, 1):
            raise ModelError(
                f"not a rigid placement (rotation and translation): {shorten(H.tolist())}"
            )
        return pose

    @classmethod
    def given(cls, name: str, value: Pose | ArrayLike) -> Pose:
        """What a user gave as ``name``: a pose, or the one that a matrix (4, 4) is."""
        try:
            if isinstance(value, Pose):
                return cls.of(value.rotation, value.translation)
            return cls.from_matrix(value)
        except ModelError as error:
            raise ModelError(f"{name}: {error}") from None

    @classmethod
    @np.errstate(over="ignore", invalid="ignore")
    def mdh(cls, b: float, beta: float, theta: float, d: float) -> Pose:
        """Rx(beta) Tx(b) Rz(theta) Tz(d): one row of a modified DH table [m, rad]."""
        names = "b", "beta", "theta", "d"
        b, beta, theta, d = map(number, names, (b, beta, theta, d))
        R = rotation_about("x", beta) @ rotation_about("z", theta)
        return cls.of(R, np.array([b, 0.0, 0.0]) + d * R[:, 2])

    @property
    def matrix(self) -> np.ndarray:
        """The homogeneous matrix, shape (4, 4)."""
        H = np.eye(4)
        H[:3, :3], H[:3, 3] = self.rotation, self.translation
        return H

    @property
    @np.errstate(over="ignore", invalid="ignore")
    def is_rigid(self) -> bool:
        """Whether the rotation is one, to 1e-9: its axes of unit length, square, right-handed."""
        R = np.array(self.rotation)
        if not np.isfinite(R).all():
            return False
        return np.allclose(R @ R.T, np.eye(3), rtol=0, atol=1e-9) and bool(np.linalg.det(R) > 0)

    @np.errstate(over="ignore", invalid="ignore")
    def __matmul__(self, inner: Pose) -> Pose:
        R = np.array(self.rotation)
        return Pose.of(R @ np.array(inner.rotation), R @ inner.translation + self.translation)

    @np.errstate(over="ignore", invalid="ignore")
    def inverse(self) -> Pose:
        """The placement of the outer frame in the inner one."""
        R = np.array(self.rotation).T
        return Pose.of(R, -(R @ self.translation))


IDENTITY = Pose()
