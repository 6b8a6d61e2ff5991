"""The ten inertial parameters of a rigid body, in which joint torque is linear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from armdyn.chain.given import Triple, exactly, number, triple
from armdyn.chain.limits import HUGE
from armdyn.chain.pose import Pose
from armdyn.errors import ModelError, shorten, unknown
from armdyn.spatial import Scalar

EYE = np.eye(3)
SLACK = 1e-9  # relative: inertias are printed with rounded digits

# Where each name stands among (m, mcx, mcy, mcz, Ixx, Ixy, Ixz, Iyy, Iyz, Izz), our own order.
ORDERS = {
    "pinocchio": (0, 1, 2, 3, 4, 5, 7, 6, 8, 9),  # m, mc, Ixx, Ixy, Iyy, Ixz, Iyz, Izz
    "khalil": (4, 5, 6, 7, 8, 9, 1, 2, 3, 0),  # XX, XY, XZ, YY, YZ, ZZ, MX, MY, MZ, M
}
NAMES = {
    "pinocchio": ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz"),
    "khalil": ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M"),
}


def places(order: str) -> list[int]:
    """The permutation of a named parameter order."""
    if not isinstance(order, str) or order not in ORDERS:
        raise ModelError(unknown("parameter order", order, ORDERS))
    return list(ORDERS[order])


@dataclass(frozen=True)
class Inertia:
    """A rigid body: mass [kg], first moment m c [kg m], tensor about the frame's origin [kg m^2].

    The tensor is stored as (xx, xy, xz, yy, yz, zz), in the frame's axes, with the signs of the
    tensor: xy = - integral of x y dm. In the views of an arm the numbers are scalars of any kind.
    """

    mass: float = 0.0
    first_moment: Triple = (0.0, 0.0, 0.0)
    tensor: tuple[float, float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    @classmethod
    def of(cls, mass: float, first_moment: ArrayLike, tensor: ArrayLike) -> Inertia:
        """From arrays: first moment (3,), tensor about the origin (3, 3)."""
        J = exactly("the tensor of a body", tensor, (3, 3))
        h = exactly("the first moment of a body", first_moment, (3,))
        six = tuple(float(J[i]) for i in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))
        return cls(number("mass", mass), triple(h), six)  # type: ignore[arg-type]

    @classmethod
    @np.errstate(over="ignore", invalid="ignore")
    def from_com(cls, mass: float, com: ArrayLike, about_com: ArrayLike) -> Inertia:
        """From the centre of mass (3,) [m] and the tensor about it (3, 3) [kg m^2]."""
        m, c = number("mass", mass), exactly("com", com, (3,))
        J = exactly("the tensor of a body", about_com, (3, 3))
        return cls.of(m, m * c, J + m * _steiner(c))

    @classmethod
    def from_parameters(cls, ten: ArrayLike, order: str = "pinocchio") -> Inertia:
        """From the ten parameters in a named order, shape (10,)."""
        own = np.empty(10)
        own[places(order)] = exactly("the inertial parameters of a link", ten, (10,))
        return cls(float(own[0]), triple(own[1:4]), tuple(own[4:].tolist()))

    @classmethod
    def from_ten(cls, ten: Sequence[Scalar]) -> Inertia:
        """From ten scalars of any kind in the order "pinocchio", as they are."""
        m, x, y, z, xx, xy, yy, xz, yz, zz = ten
        return cls(m, (x, y, z), (xx, xy, xz, yy, yz, zz))

    @property
    def ten(self) -> list[Scalar]:
        """The ten parameters in the order "pinocchio", as they are."""
        xx, xy, xz, yy, yz, zz = self.tensor
        return [self.mass, *self.first_moment, xx, xy, yy, xz, yz, zz]

    def parameters(self, order: str = "pinocchio") -> np.ndarray:
        """The ten parameters in a named order, shape (10,)."""
        return np.array([self.mass, *self.first_moment, *self.tensor])[places(order)]

    @property
    def matrix(self) -> np.ndarray:
        """The tensor about the frame's origin, shape (3, 3)."""
        xx, xy, xz, yy, yz, zz = self.tensor
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    @property
    @np.errstate(over="ignore", invalid="ignore")
    def com(self) -> np.ndarray:
        """The centre of mass [m], shape (3,); the origin for a body without mass."""
        return np.array(self.first_moment) / self.mass if self.mass else np.zeros(3)

    @property
    @np.errstate(over="ignore", invalid="ignore")
    def about_com(self) -> np.ndarray:
        """The tensor about the centre of mass, shape (3, 3)."""
        return self.matrix - self.mass * _steiner(self.com)

    @property
    def is_zero(self) -> bool:
        """Whether nothing is there, no mass, no first moment, no inertia."""
        return self == Inertia()

    @np.errstate(over="ignore", invalid="ignore")
    def __add__(self, other: Inertia) -> Inertia:
        """Two bodies fixed to each other, both given in the same frame."""
        moment = np.add(self.first_moment, other.first_moment)
        tensor = np.add(self.tensor, other.tensor)
        return Inertia(float(self.mass + other.mass), triple(moment), tuple(tensor.tolist()))

    @np.errstate(over="ignore", invalid="ignore")
    def seen_from(self, pose: Pose) -> Inertia:
        """The same body in an outer frame in which its own frame stands at ``pose``."""
        R, p = np.array(pose.rotation), np.array(pose.translation)
        h = R @ self.first_moment
        J = R @ self.matrix @ R.T
        cross_terms = 2 * (p @ h) * EYE - p[:, None] * h - h[:, None] * p
        return Inertia.of(self.mass, h + self.mass * p, J + cross_terms + self.mass * _steiner(p))

    def errors(self) -> list[str]:
        """What no method can compute with, in words; empty if all is well."""
        ten = self.parameters()
        if not np.isfinite(ten).all():
            return [f"mass, first moment and inertia must be finite, not {shorten(ten.tolist())}"]
        if np.abs(ten).max() > HUGE:
            return [
                f"mass, first moment and inertia must be at most {HUGE:g} in size, not "
                + shorten(ten.tolist())
            ]
        if not np.abs(self.about_com).max() <= HUGE**2:
            return ["the inertia about the centre of mass is too large a number to compute with"]
        return []

    def findings(self, slack: float = SLACK) -> list[str]:
        """What no physical body could have, in words; empty if all is well to a relative slack."""
        if self.errors():
            return self.errors()
        if self.mass < 0:
            return [f"mass {self.mass:g} kg is negative"]
        if self.mass == 0 and any(self.first_moment):
            return [f"it has no mass but a first moment of {list(self.first_moment)} kg m"]
        if self.mass == 0:
            return [] if self.is_zero else ["it has no mass but an inertia"]
        return _moment_findings(self.about_com, float(np.abs(self.matrix).max()), slack)


def _moment_findings(about_com: np.ndarray, scale: float, slack: float) -> list[str]:
    moments = np.linalg.eigvalsh(about_com)
    slack *= max(scale, float(np.abs(moments).max()))
    shown = ", ".join(f"{value:.6g}" for value in moments)
    if moments[0] < -slack:
        return [
            f"the inertia about the centre of mass has principal moments ({shown}) kg m^2, one of "
            "them negative; expected none below zero"
        ]
    if moments[2] > moments[0] + moments[1] + slack:
        return [
            f"the inertia about the centre of mass has principal moments ({shown}) kg m^2: the "
            "largest exceeds the sum of the others, which no body can have (triangle inequality)"
        ]
    return []


def _steiner(c: np.ndarray) -> np.ndarray:
    return float(c @ c) * EYE - c[:, None] * c
