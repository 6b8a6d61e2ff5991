"""Arm: what an algorithm sees of a chain, on one kind of scalar."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from armdyn.chain import axes
from armdyn.chain.minimal import MinimalParameters
from armdyn.chain.pose import Pose, quarter_turns
from armdyn.spatial import ZERO, Dyads, Rotation, Scalar, Symmetric, Vector, sincos, steiner

if TYPE_CHECKING:
    from armdyn.chain import Chain
    from armdyn.chain.inertia import Inertia

QUARTER_TURNS = ((1, 0), (0, 1), (-1, 0), (0, -1))  # (cos, sin), exact


class Arm:
    """A serial arm on scalars of one kind: read-only, unchecked, made by ``chain.on(number)``.

    Joints and links count from 0 here, where the papers count from 1; joint i moves link i.

    Attributes:
        n: the number of joints.
        revolute: a bool a joint, the papers' K*_i = 1; prismatic otherwise.
        b, d: constants of the modified DH table [m]; a prismatic joint adds q_i to d_i.
        theta: the constant of joint i's angle [rad], a float; a revolute joint adds q_i to it.
        Cb, Sb: cos and sin of beta_i; the integers 0, 1, -1 where beta_i is a quarter turn.
        parallel: a bool a joint, whether its axis is parallel or antiparallel to that before it
            by structure, so that Sb is 0 and Cb is 1 or -1; of the first it is False.
        mass: [kg] a link.
        first_moment: m c [kg m], a Vector a link, in E_i from its origin.
        inertia: a Symmetric a link [kg m^2], about the origin of E_i, in its axes.
        rotor_inertia: [kg m^2, or kg for a prismatic joint], reflected to the joint.
        viscous, coulomb: friction, as in ``armdyn.chain.Joint``.
        gravity: the acceleration of free fall in E_0, a Vector [m/s^2].
    """

    def __init__(
        self,
        chain: Chain,
        number: Callable[[float], Scalar],
        links: Sequence[Inertia],
        gravity: Sequence[Scalar] | None = None,
    ) -> None:
        self._chain, self._number, self._links = chain, number, links
        self.n = chain.n
        self.revolute = tuple(kind == "R" for kind in chain.kinds)
        self.b = [number(joint.b) for joint in chain.joints]
        self.d = [number(joint.d) for joint in chain.joints]
        self.theta = [joint.theta for joint in chain.joints]
        betas = [self._constant_turn(joint.beta) for joint in chain.joints]
        self.Cb, self.Sb = [c for c, _ in betas], [s for _, s in betas]
        self.parallel = tuple(
            i > 0 and isinstance(Sb, int) and Sb == 0 for i, Sb in enumerate(self.Sb)
        )
        self.mass = [self._given(link.mass) for link in links]
        self.first_moment = [Vector(*map(self._given, link.first_moment)) for link in links]
        self.inertia = [Symmetric(*map(self._given, link.tensor)) for link in links]
        self.rotor_inertia = [number(joint.rotor_inertia) for joint in chain.joints]
        self.viscous = [number(joint.viscous) for joint in chain.joints]
        self.coulomb = [tuple(map(number, joint.coulomb)) for joint in chain.joints]
        self.gravity = self._in_first_frame(
            self._vector(chain.gravity) if gravity is None else Vector(*gravity)
        )

    def without_gravity(self) -> Arm:
        """This arm where nothing falls, for the terms of motion alone."""
        still = copy.copy(self)
        still.gravity = ZERO
        return still

    def rotations(self, q: Sequence[Scalar]) -> list[Rotation]:
        """R_i from E_i to E_{i-1}; q_i may be a pair (cos, sin) for a revolute joint."""
        turns = [self._turn(i, q[i]) for i in range(self.n)]
        return [
            Rotation(C, S, Cb, Sb) for (C, S), Cb, Sb in zip(turns, self.Cb, self.Sb, strict=True)
        ]

    def shifts(self, q: Sequence[Scalar]) -> list[Vector]:
        """s_i [m], from the origin of E_{i-1} to that of E_i, in the axes of E_{i-1}."""
        return [
            Vector(b, -d * Sb, d * Cb)
            for b, d, Cb, Sb in zip(self.b, self.extensions(q), self.Cb, self.Sb, strict=True)
        ]

    def extensions(self, q: Sequence[Scalar]) -> list[Scalar]:
        """d_i [m], with q_i added for a prismatic joint."""
        pairs = zip(self.d, q, self.revolute, strict=True)
        return [d if revolute else d + qi for d, qi, revolute in pairs]

    @cached_property
    def start(self) -> tuple[int, int, dict[int, Vector]]:
        """Joints r and s of [lin1999], Theorem 1, and the constants u_r^<i>, r <= i < s.

        r is the first revolute joint, s the first revolute one not parallel to it; n for none.
        """
        r, s, u = axes.start(self._chain)
        return r, s, {i: Vector(*map(self._given, axis)) for i, axis in u.items()}

    @cached_property
    def shoulder(self) -> int:
        """The last joint j whose axis goes through the point where those of all before it meet.

        It is so by structure, of revolute joints. 0 if there is none, or if the origin of E_j is
        that point (d_j = 0), where nothing is gained.
        """
        joints, j = self._chain.joints, 0
        while j + 1 < self.n and all(self.revolute[: j + 2]) and not joints[j + 1].b:
            j += 1
            if joints[j].d:
                return j
        return 0

    @cached_property
    def minimal_units(self) -> list[list[tuple[int, Scalar]]]:
        """For each minimal parameter links that have one unit of it and nothing of the others.

        That is (k, value) of each natural parameter k, counted over all links, that is not zero;
        the integer 1 where it is one.
        """
        units = MinimalParameters(self._chain).units.T.tolist()
        return [
            [(k, 1 if x == 1 else self._number(x)) for k, x in enumerate(unit) if x]
            for unit in units
        ]

    @cached_property
    def com(self) -> list[Vector]:
        """Each link's centre of mass [m], from the origin of E_i; zero for one without mass."""
        found = []
        for m, h, link in zip(self.mass, self.first_moment, self._links, strict=True):
            if not _is_constant(link):
                found.append(1 / m * h)
            else:
                found.append(Vector(h.x / m, h.y / m, h.z / m) if link.mass else ZERO)
        return found

    @cached_property
    def inertia_about_com(self) -> list[Symmetric]:
        """Each link's tensor about its centre of mass [kg m^2], in the axes of E_i."""
        triples = zip(self.inertia, self.first_moment, self.com, strict=True)
        return [J - steiner(h, c) for J, h, c in triples]

    @cached_property
    def inertia_dyads(self) -> list[Dyads | Symmetric]:
        """``inertia_about_com`` as sums of dyads, found in double precision where it is known."""
        return [
            self._dyads(link.about_com) if _is_constant(link) else self.inertia_about_com[i]
            for i, link in enumerate(self._links)
        ]

    @cached_property
    def mass_share(self) -> list[Scalar]:
        """Each link's part in the mass of all links from it outward; zero where there is none."""
        outboard = [sum(self.mass[i:], 0) for i in range(self.n)]
        has_mass = [not _is_constant(link) or bool(link.mass) for link in self._links]
        massive = [any(has_mass[i:]) for i in range(self.n)]
        triples = zip(self.mass, outboard, massive, strict=True)
        return [m / M if there else 0 for m, M, there in triples]

    def frame(self, name: str | None = None) -> tuple[int, tuple[Vector, Vector, Vector], Vector]:
        """A named link or frame (None: the tip): its link, the rows of its rotation, its origin.

        Link -1 is the base; rotation and origin [m] are those in the link's frame E_i.
        """
        link, pose = self._chain.find_frame(name)
        return link, self._rows(pose), self._vector(pose.translation)

    @cached_property
    def base(self) -> tuple[tuple[Vector, Vector, Vector], Vector]:
        """The rows of the rotation, and the origin [m], of E_0 in the base frame."""
        return self._rows(self._chain.base), self._vector(self._chain.base.translation)

    def _given(self, value: float) -> Scalar:
        """A constant of the chain as a scalar; an integer is what structure makes it, and stays.

        So does what is a scalar already, given at the call.
        """
        return self._number(value) if isinstance(value, float) else value

    def turned(self, theta: float, q: Scalar) -> tuple[Scalar, Scalar]:
        """(cos, sin) of theta + q; a constant theta of quarter turns costs nothing.

        In place of q its (cos, sin) may be given.
        """
        k = quarter_turns(theta)
        if k is None and not isinstance(q, tuple):
            S, C = sincos(self._number(theta) + q)
            return C, S
        S, C = sincos(q)
        if k is None:
            c, s = self._constant_turn(theta)
            return c * C - s * S, s * C + c * S
        return ((C, S), (-S, C), (-C, -S), (S, -C))[k % 4]

    def _turn(self, i: int, qi: Scalar) -> tuple[Scalar, Scalar]:
        """(cos, sin) of joint i's angle."""
        if not self.revolute[i]:
            return self._constant_turn(self.theta[i])
        return self.turned(self.theta[i], qi)

    def _constant_turn(self, angle: float) -> tuple[Scalar, Scalar]:
        k = quarter_turns(angle)
        if k is not None:
            return QUARTER_TURNS[k % 4]
        S, C = sincos(self._number(angle))
        return C, S

    def _in_first_frame(self, v: Vector) -> Vector:
        columns = zip(*self._chain.base.rotation, strict=True)
        return Vector(*(self._vector(column) @ v for column in columns))

    def _dyads(self, tensor: np.ndarray) -> Dyads:
        moments, axis = np.linalg.eigh(tensor)
        u, v = (np.sqrt(moments[i] - moments[0]) * axis[:, i] for i in (1, 2))
        lam, trace = self._number(float(moments[0])), self._number(float(np.trace(tensor)))
        return Dyads(lam, self._vector(u.tolist()), self._vector(v.tolist()), trace)

    def _rows(self, pose: Pose) -> tuple[Vector, Vector, Vector]:
        x, y, z = (self._vector(row) for row in pose.rotation)
        return x, y, z

    def _vector(self, v: Sequence[float]) -> Vector:
        return Vector(*map(self._number, v))


def _is_constant(link: Inertia) -> bool:
    """Whether a link is known in doubles, and not given at the call."""
    return all(isinstance(x, (float, int)) for x in link.ten)
