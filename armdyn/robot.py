"""Robot: the quantities of one chain as functions of NumPy arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from armdyn.algorithms import Method, methods
from armdyn.batches import evaluate, states
from armdyn.chain import Chain
from armdyn.minimal import MinimalParameters
from armdyn.quantities import SHAPES, formula


class Robot:
    """The dynamics ``M(q) qdd + C(q, qd) qd + g(q) = tau`` of one arm.

    Every function takes joint positions q, speeds qd, accelerations qdd or torques tau as arrays
    of shape (..., n), one number a joint from base to tip, in SI units and radians. Leading axes
    are batch axes and broadcast against each other. Lists, integers and float32 are accepted;
    where all arguments are float32, so is the result. ``out=`` receives the result in place, and
    ``method=`` names a formulation of the catalogue, see ``methods``.
    """

    def __init__(self, chain: Chain) -> None:
        if not isinstance(chain, Chain):
            raise TypeError(f"Robot takes a Chain, not {type(chain).__name__}; see armdyn.load")
        self.chain = chain

    # What it is -----------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The arm's name."""
        return self.chain.name

    @property
    def n(self) -> int:
        """The number of joints."""
        return self.chain.n

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints' names, base to tip."""
        return tuple(joint.name for joint in self.chain.joints)

    @property
    def limits(self) -> np.ndarray:
        """(lower, upper) of each joint, shape (n, 2) [rad or m]; infinite where there is none."""
        return np.array([(joint.lower, joint.upper) for joint in self.chain.joints])

    @property
    def locked(self) -> dict[str, float]:
        """Joints of the description that do not move, and where they were locked [rad or m]."""
        return dict(self.chain.locked)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know: what was snapped, moved, or found without mass."""
        return self.chain.notes

    def __repr__(self) -> str:
        kinds = "".join(joint.kind for joint in self.chain.joints)
        mass = sum(link.inertia.mass for link in self.chain.links)
        return f"Robot({self.name!r}, {kinds}, {mass:.3g} kg)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Robot) and self.chain == other.chain

    def __hash__(self) -> int:
        return hash(self.chain)

    def methods(self, quantity: str) -> tuple[Method, ...]:
        """The catalogue's methods for a quantity that apply to this arm."""
        revolute = tuple(joint.kind == "R" for joint in self.chain.joints)
        return tuple(m for m in methods(quantity) if m.refuses(revolute) is None)

    # Dynamics -------------------------------------------------------------------------------

    def mass_matrix(
        self, q: ArrayLike, *, method: str | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """The inertia matrix M(q) with rotors, (..., n) -> (..., n, n)."""
        return self._evaluate("mass_matrix", out, method, q=q)

    def bias(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        *,
        method: str | None = None,
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        """The torque of a motion without acceleration, C(q, qd) qd + g(q) -> (..., n)."""
        return self._evaluate("bias", out, method, q=q, qd=qd)

    def gravity(
        self, q: ArrayLike, *, method: str | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """The torque g(q) that holds the arm still -> (..., n)."""
        return self._evaluate("gravity", out, method, q=q)

    def christoffel(
        self, q: ArrayLike, *, method: str | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Gamma[i, j, k] = 1/2 (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) -> (..., n, n, n)."""
        return self._evaluate("christoffel", out, method, q=q)

    def coriolis_matrix(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        *,
        method: str | None = None,
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        """C[i, j] = sum over k of Gamma[i, j, k] qd_k, so Mdot - 2 C is skew -> (..., n, n)."""
        return self._evaluate("coriolis_matrix", out, method, q=q, qd=qd)

    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        *,
        method: str | None = None,
        friction: bool = False,
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        """The torque tau of a motion -> (..., n).

        ``friction=True`` adds viscous qd + coulomb(sign qd).
        """
        tau = self._evaluate("inverse_dynamics", out, method, q=q, qd=qd, qdd=qdd)
        if friction:
            tau += self._friction(states(self.n, qd=qd)[0][0]).astype(tau.dtype)
        return tau

    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        *,
        method: str | None = None,
        friction: bool = False,
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        """The accelerations qdd that torques tau bring about -> (..., n).

        ``friction=True`` takes viscous qd + coulomb(sign qd) off the torques.
        """
        if friction:
            (_, speeds, torques), dtype = states(self.n, q=q, qd=qd, tau=tau)
            tau = (torques - self._friction(speeds)).astype(dtype)
        return self._evaluate("forward_dynamics", out, method, q=q, qd=qd, tau=tau)

    # Kinematics, energy, parameters ---------------------------------------------------------

    def pose(
        self, q: ArrayLike, frame: str | None = None, *, out: np.ndarray | None = None
    ) -> np.ndarray:
        """The tip, or a named link or frame, in the base frame -> (..., 4, 4)."""
        return self._evaluate("pose", out, frame=frame, q=q)

    def jacobian(
        self, q: ArrayLike, frame: str | None = None, *, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Rows vx vy vz wx wy wz of the tip's or a named frame's origin, base axes (..., 6, n)."""
        return self._evaluate("jacobian", out, frame=frame, q=q)

    def energy(self, q: ArrayLike, qd: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """(kinetic with rotors, potential) [J], (...,) each; potential zero at the base origin."""
        both = self._evaluate("energy", None, q=q, qd=qd)
        return both[..., 0], both[..., 1]

    def regressor(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Y with tau = Y @ robot.chain.parameters, rotors and friction apart -> (..., n, 10 n)."""
        return self._evaluate("regressor", out, q=q, qd=qd, qdd=qdd)

    def minimal_parameters(self) -> MinimalParameters:
        """The fewest combinations of the links' parameters that fix all torques: see the class.

        ``.minimal`` is False where, without gravity, they are sufficient but not the fewest.
        """
        return MinimalParameters(self.chain)

    # How it is computed ---------------------------------------------------------------------

    def _evaluate(
        self,
        quantity: str,
        out: np.ndarray | None,
        method: str | None = None,
        frame: str | None = None,
        **state: ArrayLike,
    ) -> np.ndarray:
        function = formula(self.chain, float, quantity, method, frame)
        return evaluate(function, self.n, SHAPES[quantity](self.n), out, **state)

    def _friction(self, qd: np.ndarray) -> np.ndarray:
        """Viscous qd + coulomb(sign qd), with sign(0) = 0 -> (..., n)."""
        viscous = np.array([joint.viscous for joint in self.chain.joints])
        negative, positive = np.array([joint.coulomb for joint in self.chain.joints]).T
        return viscous * qd + np.where(qd > 0, positive, 0.0) + np.where(qd < 0, negative, 0.0)
