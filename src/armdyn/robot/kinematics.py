"""The quantities of an arm in which masses have no part."""

from __future__ import annotations

from armdyn.robot.compiled import A, Axes, Given, Out, Outs, compiled


class Kinematics:
    """Where the frames of an arm are, and how they move."""

    @compiled
    def pose(
        self, q: Given[A], frame: str | None = None, *, out: Out = None, threads: int | None = None
    ) -> A:
        """The tip, or a named link or frame, in the base frame -> (..., 4, 4)."""
        raise NotImplementedError

    @compiled
    def jacobian(
        self,
        q: Given[A],
        frame: str | None = None,
        *,
        axes: Axes = "base",
        out: Out = None,
        threads: int | None = None,
    ) -> A:
        """Rows vx vy vz wx wy wz of the tip's or a named frame's origin -> (..., 6, n).

        ``axes="frame"``: in the axes of that frame, in place of the base's.
        """
        raise NotImplementedError

    @compiled
    def jacobian_derivative(
        self,
        q: Given[A],
        qd: Given[A],
        frame: str | None = None,
        *,
        axes: Axes = "base",
        out: Out = None,
        threads: int | None = None,
    ) -> A:
        """The rate in time of the Jacobian, in the same axes, dJ/dt -> (..., 6, n)."""
        raise NotImplementedError

    @compiled
    def acceleration_bias(
        self,
        q: Given[A],
        qd: Given[A],
        frame: str | None = None,
        *,
        axes: Axes = "base",
        out: Out = None,
        threads: int | None = None,
    ) -> A:
        """The part dJ/dt qd of a frame's acceleration, which is J qdd + dJ/dt qd -> (..., 6).

        In base axes that is the acceleration of its origin, then its angular acceleration, at
        constant joint speeds. With ``axes="frame"`` it belongs to the Jacobian in those axes.
        """
        raise NotImplementedError

    @compiled
    def influence(
        self,
        q: Given[A],
        frame: str | None = None,
        *,
        point: Given[A] | None = None,
        out: Outs = None,
        threads: int | None = None,
    ) -> tuple[A, A, A, A]:
        """Kinematic influence coefficients of the tip or a named link or frame, in base axes.

        ``point`` (..., 3) is the point of that link or frame in place of its origin [m], in its
        own axes.

        First order gT, gR, shape (..., 3, n): velocity and angular velocity are gT qd and gR qd;
        second order hT, hR, shape (..., 3, n, n): accelerations are gT qdd + qd^T hT qd, likewise
        gR, hR. [kang], eqs. 1 to 7.
        """
        raise NotImplementedError
