"""The quantities of an arm in which masses have a part."""

from __future__ import annotations

from armdyn.engine.payloads import Check
from armdyn.robot.compiled import A, Axes, Given, Out, Outs, compiled


class Dynamics:
    """What torques a motion takes, and what motion torques bring about."""

    @compiled
    def mass_matrix(
        self,
        q: Given[A],
        *,
        method: str | None = None,
        payload: Given[A] | None = None,
        payload_frame: str | None = None,
        parameters: Given[A] | None = None,
        check: Check = "error",
        out: Out = None,
        threads: int | None = None,
    ) -> A:
        """The inertia matrix M(q) with rotors, (..., n) -> (..., n, n)."""
        raise NotImplementedError

    @compiled
    def bias(
        self,
        q: Given[A],
        qd: Given[A],
        *,
        method: str | None = None,
        payload: Given[A] | None = None,
        payload_frame: str | None = None,
        gravity: Given[A] | None = None,
        parameters: Given[A] | None = None,
        check: Check = "error",
        out: Out = None,
        threads: int | None = None,
    ) -> A:
        """The torque of a motion without acceleration, C(q, qd) qd + g(q) -> (..., n)."""
        raise NotImplementedError

    @compiled
    def gravity(
        self,
        q: Given[A],
        *,
        method: str | None = None,
        payload: Given[A] | None = None,
        payload_frame: str | None = None,
        gravity: Given[A] | None = None,
        parameters: Given[A] | None = None,
        check: Check = "error",
        out: Out = None,
        threads: int | None = None,
    ) -> A:
        """The torque g(q) that holds the arm still -> (..., n)."""
        raise NotImplementedError

    @compiled
    def christoffel(
        self,
        q: Given[A],
        *,
        method: str | None = None,
        payload: Given[A] | None = None,
        payload_frame: str | None = None,
        parameters: Given[A] | None = None,
        check: Check = "error",
        out: Out = None,
        threads: int | None = None,
    ) -> A:
        """Gamma[i, j, k] = 1/2 (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) -> (..., n, n, n)."""
        raise NotImplementedError

    @compiled
    def coriolis_matrix(
        self,
        q: Given[A],
        qd: Given[A],
        *,
        method: str | None = None,
        payload: Given[A] | None = None,
        payload_frame: str | None = None,
        parameters: Given[A] | None = None,
        check: Check = "error",
        out: Out = None,
        threads: int | None = None,
    ) -> A:
        """C[i, j] = sum over k of Gamma[i, j, k] qd_k, so Mdot - 2 C is skew -> (..., n, n)."""
        raise NotImplementedError

    @compiled
    def inverse_dynamics(
        self,
        q: Given[A],
        qd: Given[A],
        qdd: Given[A],
        *,
        method: str | None = None,
        friction: bool = False,
        payload: Given[A] | None = None,
        payload_frame: str | None = None,
        gravity: Given[A] | None = None,
        parameters: Given[A] | None = None,
        check: Check = "error",
        wrench: Given[A] | None = None,
        wrench_frame: str | None = None,
        out: Out = None,
        threads: int | None = None,
    ) -> A:
        """The torque tau of a motion -> (..., n).

        ``friction=True`` adds viscous qd + coulomb(sign qd).

        ``wrench`` (..., 6) acts on the arm at the tip, or at ``wrench_frame``: force at its origin,
        then moment, in base axes. Its part J^T w of the torque is spared.
        """
        raise NotImplementedError

    @compiled
    def forward_dynamics(
        self,
        q: Given[A],
        qd: Given[A],
        tau: Given[A],
        *,
        method: str | None = None,
        friction: bool = False,
        payload: Given[A] | None = None,
        payload_frame: str | None = None,
        gravity: Given[A] | None = None,
        parameters: Given[A] | None = None,
        check: Check = "error",
        wrench: Given[A] | None = None,
        wrench_frame: str | None = None,
        out: Out = None,
        threads: int | None = None,
    ) -> A:
        """The accelerations qdd that torques tau bring about -> (..., n).

        ``friction=True`` takes viscous qd + coulomb(sign qd) off the torques.

        ``wrench`` (..., 6) acts on the arm at the tip, or at ``wrench_frame``: force at its origin,
        then moment, in base axes.
        """
        raise NotImplementedError

    # Derivatives of the dynamics ------------------------------------------------------------

    @compiled
    def mass_matrix_derivative(
        self,
        q: Given[A],
        *,
        method: str | None = None,
        payload: Given[A] | None = None,
        payload_frame: str | None = None,
        parameters: Given[A] | None = None,
        check: Check = "error",
        out: Out = None,
        threads: int | None = None,
    ) -> A:
        """dM[i, j] / dq[k] at [i, j, k] -> (..., n, n, n)."""
        raise NotImplementedError

    @compiled
    def inverse_dynamics_derivatives(
        self,
        q: Given[A],
        qd: Given[A],
        qdd: Given[A],
        *,
        method: str | None = None,
        friction: bool = False,
        payload: Given[A] | None = None,
        payload_frame: str | None = None,
        gravity: Given[A] | None = None,
        parameters: Given[A] | None = None,
        check: Check = "error",
        out: Outs = None,
        threads: int | None = None,
    ) -> tuple[A, A, A]:
        """(dtau/dq, dtau/dqd, dtau/dqdd) of inverse dynamics, (..., n, n) each; a row a torque.

        The last one is the inertia matrix. ``friction=True`` adds viscous friction to the diagonal
        of dtau/dqd; Coulomb's has the derivative 0, at rest, where it jumps, too.
        """
        raise NotImplementedError

    @compiled
    def forward_dynamics_derivatives(
        self,
        q: Given[A],
        qd: Given[A],
        tau: Given[A],
        *,
        method: str | None = None,
        friction: bool = False,
        payload: Given[A] | None = None,
        payload_frame: str | None = None,
        gravity: Given[A] | None = None,
        parameters: Given[A] | None = None,
        check: Check = "error",
        out: Outs = None,
        threads: int | None = None,
    ) -> tuple[A, A, A]:
        """(dqdd/dq, dqdd/dqd, dqdd/dtau) of forward dynamics, (..., n, n) each; a row a joint.

        The last one is the inverse of the inertia matrix. ``friction=True`` takes friction off the
        torques; Coulomb's has the derivative 0, at rest, where it jumps, too.
        """
        raise NotImplementedError

    @compiled
    def inverse_dynamics_second_derivatives(
        self,
        q: Given[A],
        qd: Given[A],
        qdd: Given[A],
        *,
        method: str | None = None,
        payload: Given[A] | None = None,
        payload_frame: str | None = None,
        gravity: Given[A] | None = None,
        parameters: Given[A] | None = None,
        check: Check = "error",
        out: Outs = None,
        threads: int | None = None,
    ) -> tuple[A, A, A, A]:
        """Second derivatives of inverse dynamics, (..., n, n, n) each, friction or not.

        At [i, j, k] stands that of tau[i] by (q[j], q[k]), by (q[j], qd[k]), by (qd[j], qd[k]), by
        (q[j], qdd[k]); those by (qd, qdd) and by (qdd, qdd) are zero.
        """
        raise NotImplementedError

    # Energy, frames, parameters --------------------------------------------------------------

    @compiled
    def energy(
        self,
        q: Given[A],
        qd: Given[A],
        *,
        payload: Given[A] | None = None,
        payload_frame: str | None = None,
        gravity: Given[A] | None = None,
        parameters: Given[A] | None = None,
        check: Check = "error",
        out: Outs = None,
        threads: int | None = None,
    ) -> tuple[A, A]:
        """(kinetic with rotors, potential) [J], (...,) each; potential zero at the base origin."""
        raise NotImplementedError

    @compiled
    def operational_space_inertia(
        self,
        q: Given[A],
        frame: str | None = None,
        *,
        axes: Axes = "base",
        payload: Given[A] | None = None,
        payload_frame: str | None = None,
        parameters: Given[A] | None = None,
        check: Check = "error",
        out: Out = None,
        threads: int | None = None,
    ) -> A:
        """The inertia that the tip or a named frame shows, (J M^-1 J^T)^-1 with rotors (..., 6, 6).

        In a posture where J is singular every number is infinite or NaN. A frame that cannot move
        in six directions has none: a MethodError.
        """
        raise NotImplementedError

    @compiled
    def operational_space_inertia_inverse(
        self,
        q: Given[A],
        frame: str | None = None,
        *,
        axes: Axes = "base",
        payload: Given[A] | None = None,
        payload_frame: str | None = None,
        parameters: Given[A] | None = None,
        check: Check = "error",
        out: Out = None,
        threads: int | None = None,
    ) -> A:
        """J M^-1 J^T with rotors, for the tip or a named frame, in any posture -> (..., 6, 6)."""
        raise NotImplementedError

    @compiled
    def regressor(
        self,
        q: Given[A],
        qd: Given[A],
        qdd: Given[A],
        *,
        gravity: Given[A] | None = None,
        out: Out = None,
        threads: int | None = None,
    ) -> A:
        """Y with tau = Y @ robot.chain.parameters, rotors and friction apart -> (..., n, 10 n)."""
        raise NotImplementedError

    @compiled
    def minimal_regressor(
        self,
        q: Given[A],
        qd: Given[A],
        qdd: Given[A],
        *,
        out: Out = None,
        threads: int | None = None,
    ) -> A:
        """Ymin with tau = Ymin @ robot.minimal_parameters().values, rotors and friction apart.

        Shape (..., n, p), a column for each of the p minimal parameters.
        """
        raise NotImplementedError
