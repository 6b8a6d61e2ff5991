"""What can be asked of an arm: each quantity's arguments, shape and formula on any scalar.

Here an algorithm of the catalogue becomes a quantity of a robot: rotor inertia, which no paper
counts, is added to what the algorithm computes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from armdyn.algorithms import CATALOGUE, STATE, find, kinematics, regressor
from armdyn.arm import Arm
from armdyn.chain import Chain
from armdyn.errors import MethodError
from armdyn.spatial import Scalar

Formula = Callable[..., Any]  # lists of n scalars in, nested lists of scalars out

ARGUMENTS = STATE | {
    "pose": ("q",),
    "jacobian": ("q",),
    "energy": ("q", "qd"),
    "regressor": ("q", "qd", "qdd"),
}
SHAPES: dict[str, Callable[[int], tuple[int, ...]]] = {
    "mass_matrix": lambda n: (n, n),
    "bias": lambda n: (n,),
    "gravity": lambda n: (n,),
    "christoffel": lambda n: (n, n, n),
    "coriolis_matrix": lambda n: (n, n),
    "inverse_dynamics": lambda n: (n,),
    "forward_dynamics": lambda n: (n,),
    "pose": lambda n: (4, 4),
    "jacobian": lambda n: (6, n),
    "energy": lambda n: (2,),
    "regressor": lambda n: (n, 10 * n),
}
REFERENCE = {  # what answers where no method is named; Newton-Euler for the rest
    "christoffel": "momentum",
    "forward_dynamics": "articulated-body",
}
UNIQUE = {
    "energy": kinematics.energy,
    "regressor": regressor.regressor,
    "pose": kinematics.pose,
    "jacobian": kinematics.jacobian,
}


def formula(
    chain: Chain,
    number: Callable[[float], Scalar],
    quantity: str,
    method: str | None = None,
    frame: str | None = None,
) -> Formula:
    """A quantity of this chain as a function of lists of scalars, in the order of ARGUMENTS.

    Args:
        chain: the arm.
        number: makes a scalar of a constant of the arm.
        quantity: a key of ARGUMENTS.
        method: a method of the catalogue; None for the reference.
        frame: for pose and jacobian, a named link or frame; None for the tip.
    """
    if quantity in ("pose", "jacobian"):
        chain.find_frame(frame)  # an unknown name fails here, not at the first state
        return partial(UNIQUE[quantity], chain.on(number), frame=frame)
    if quantity in CATALOGUE:
        chosen = find(quantity, method or REFERENCE.get(quantity, "newton-euler"))
        function, arm = chosen.function, chain.on(number, chosen.view)
        reason = chosen.refuses(arm.revolute)
        if reason:
            raise MethodError(f"{chosen.name} does not apply to {chain.name!r}: {reason}")
    else:
        function, arm = UNIQUE[quantity], chain.on(number)
    add_rotors = ROTORS.get(quantity)
    if add_rotors is None:
        return partial(function, arm)
    return lambda *state: add_rotors(arm, function(arm, *state), *state)


def _on_diagonal(arm: Arm, M: list[list[Scalar]], q: list[Scalar]) -> list[list[Scalar]]:
    return [
        [entry + arm.rotor_inertia[i] if i == j else entry for j, entry in enumerate(row)]
        for i, row in enumerate(M)
    ]


def _on_torque(
    arm: Arm, tau: list[Scalar], q: list[Scalar], qd: list[Scalar], qdd: list[Scalar]
) -> list[Scalar]:
    return [t + rotor * a for t, rotor, a in zip(tau, arm.rotor_inertia, qdd, strict=True)]


def _on_kinetic(
    arm: Arm, both: tuple[Scalar, Scalar], q: list[Scalar], qd: list[Scalar]
) -> tuple[Scalar, Scalar]:
    kinetic, potential = both
    doubled = sum(rotor * v * v for rotor, v in zip(arm.rotor_inertia, qd, strict=True))
    return kinetic + doubled / 2, potential


ROTORS: dict[str, Formula] = {
    "mass_matrix": _on_diagonal,
    "inverse_dynamics": _on_torque,
    "energy": _on_kinetic,
}
