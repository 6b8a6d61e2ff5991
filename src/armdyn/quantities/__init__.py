"""What can be asked of an arm: each quantity's arguments, results, sentence and formula.

``QUANTITIES`` is the only place that lists them: Robot's methods, the comparison, exported source
and the documentation read it. Adding a quantity is one entry there, one algorithm and one method of
Robot; a test fails where one of them is forgotten.

``tasks`` makes a program of a quantity of a robot, ``choice`` has the rule by which its method is
chosen, ``users`` lets users bring methods of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from armdyn.algorithms import catalogue
from armdyn.algorithms.late import Late
from armdyn.chain import Chain
from armdyn.chain.arm import Arm
from armdyn.errors import MethodError, shorten, unknown

Formula = Callable[..., Any]  # lists of n scalars in, nested lists of scalars out
Shape = tuple[int, ...]


class Argument(NamedTuple):
    """An array that a quantity depends on: its sizes, as a Result has them, and its meaning.

    The meaning is told to who gave another shape; {n} in it stands for the number of joints.
    """

    sizes: str
    meaning: str

    def shape(self, n: int) -> Shape:
        """Its shape on an arm of n joints."""
        return shape_of(self.sizes, n)


class Result(NamedTuple):
    """An array that a quantity gives: its letter, and its sizes, a number or one of these each.

    "n": joints; "10n": inertial parameters; "p": minimal parameters.
    """

    name: str
    sizes: str

    def shape(self, chain: Chain) -> Shape:
        """Its shape on that arm."""
        return shape_of(self.sizes, chain.n, chain.minimal_count if "p" in self.sizes else 0)


def shape_of(sizes: str, n: int, p: int = 0) -> Shape:
    """The shape of an array, of its sizes in words, on an arm of n joints and p parameters."""
    known = {"n": n, "10n": 10 * n, "p": p}
    return tuple(known[size] if size in known else int(size) for size in sizes.split())


@dataclass(frozen=True)
class Quantity:
    """Something that can be asked of an arm.

    Attributes:
        arguments: what it depends on, names of ARGUMENTS.
        results: what it gives, one array or more.
        sentence: what that is, for the documentation and for comments in exported source.
        references: methods that judge the others in fifty digits, the first that applies to an
            arm; none prepares constants in doubles. Empty where there is one method only.
        function: the algorithm, where there is one only; the catalogue has the others.
        of: what the algorithm is made of, quantities of the catalogue, each computed by the
            cheapest method; then ``function`` makes the algorithm of functions that compute these,
            and where it is given none, of those that a paper would take.
        framed: whether it is that of a frame, the tip if none is named.
        axes: whether it can be had in the frame's axes, too, in place of the base's.
        refuses: why it does not exist for a frame of an arm, ``refuses(arm, frame)``; None if it
            does.
        rotors: adds to a result what rotors contribute, ``rotors(arm, result, *state)``.
        friction: makes a formula with friction of one without, ``friction(arm, formula)``.
        wrench: makes a formula that takes a wrench at a frame, as its last argument, of one that
            does not, ``wrench(arm, formula, frame)``.
        at_call: what a call may give besides the state, names of ARGUMENTS: a wrench, a point, and
            what stands in place of the arm's constants.
    """

    arguments: tuple[str, ...]
    results: tuple[Result, ...]
    sentence: str
    references: tuple[str, ...] = ()
    function: Formula | None = None
    of: tuple[str, ...] = ()
    framed: bool = False
    axes: bool = False
    refuses: Callable[[Arm, str | None], str | None] | None = None
    rotors: Formula | None = None
    friction: Callable[[Arm, Formula], Formula] | None = None
    wrench: Callable[[Arm, Formula, str | None], Formula] | None = None
    at_call: tuple[str, ...] = ()


# The table ---------------------------------------------------------------------------------------

AXES = ("base", "frame")  # in which vectors of a frame are expressed
EACH = "one number for each of {n} joints"
STATE = ("q", "qd", "qdd", "tau")
ARGUMENTS: Mapping[str, Argument] = {  # in the order of those of several quantities together
    **{name: Argument("n", EACH) for name in STATE},
    "payload": Argument("10", "m, mcx, mcy, mcz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz"),
    "gravity": Argument("3", "an acceleration in the base frame"),
    "parameters": Argument("10n", "ten numbers for each of {n} links"),
    "wrench": Argument("6", "fx, fy, fz, mx, my, mz in base axes"),
    "point": Argument("3", "a point in the axes of the frame, from its origin"),
}
GIVEN = tuple(name for name in ARGUMENTS if name not in STATE)  # at the call, besides the state
BODIES = ("payload", "parameters")  # those in place of the arm's constants: of its links,
ALL = ("payload", "gravity", "parameters")  # and all of them
drives, kinematics, kic, regressor = map(Late, ("drives", "kinematics", "kic", "regressor"))
frame_motion, operational, wrenches = map(Late, ("frame_motion", "operational", "wrenches"))
QUANTITIES: Mapping[str, Quantity] = {
    "mass_matrix": Quantity(
        ("q",),
        (Result("M", "n n"),),
        "The inertia matrix M(q), symmetric, with rotors.",
        references=("newton-euler",),
        rotors=drives.on_diagonal,
        at_call=BODIES,
    ),
    "bias": Quantity(
        ("q", "qd"),
        (Result("b", "n"),),
        "The torque of a motion without acceleration, b = C(q, qd) qd + g(q).",
        references=("newton-euler",),
        at_call=ALL,
    ),
    "gravity": Quantity(
        ("q",),
        (Result("g", "n"),),
        "The torque g(q) that holds the arm still.",
        references=("newton-euler",),
        at_call=ALL,
    ),
    "christoffel": Quantity(
        ("q",),
        (Result("Gamma", "n n n"),),
        "Gamma_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2.",
        references=("lin1991", "lagrange"),
        at_call=BODIES,
    ),
    "coriolis_matrix": Quantity(
        ("q", "qd"),
        (Result("C", "n n"),),
        "C_ij = sum over k of Gamma_ijk qd_k, so dM/dt - 2 C is skew.",
        references=("newton-euler",),
        at_call=BODIES,
    ),
    "inverse_dynamics": Quantity(
        ("q", "qd", "qdd"),
        (Result("tau", "n"),),
        "The torque of a motion, with rotors.",
        references=("newton-euler",),
        rotors=drives.on_torque,
        friction=drives.overcome,
        wrench=wrenches.borne,
        at_call=(*ALL, "wrench"),
    ),
    "forward_dynamics": Quantity(
        ("q", "qd", "tau"),
        (Result("qdd", "n"),),
        "The acceleration under torques, with rotors.",
        references=("articulated-body",),
        friction=drives.taken_off,
        wrench=wrenches.pushed,
        at_call=(*ALL, "wrench"),
    ),
    "mass_matrix_derivative": Quantity(
        ("q",),
        (Result("dM", "n n n"),),
        "dM_ij/dq_k.",
        references=("lin1991", "lagrange"),
        at_call=BODIES,
    ),
    "inverse_dynamics_derivatives": Quantity(
        ("q", "qd", "qdd"),
        (Result("dtau_dq", "n n"), Result("dtau_dqd", "n n"), Result("dtau_dqdd", "n n")),
        "The derivatives of the torque of a motion, with rotors: dtau_i/dq_j, dtau_i/dqd_j, and "
        "dtau_i/dqdd_j, which is M.",
        references=("newton-euler",),
        rotors=drives.on_derivatives,
        friction=drives.slope_added,
        at_call=ALL,
    ),
    "forward_dynamics_derivatives": Quantity(
        ("q", "qd", "tau"),
        (Result("dqdd_dq", "n n"), Result("dqdd_dqd", "n n"), Result("dqdd_dtau", "n n")),
        "The derivatives of the acceleration under torques, with rotors: dqdd_i/dq_j, "
        "dqdd_i/dqd_j, and dqdd_i/dtau_j, which is the inverse of M.",
        references=("articulated-body",),
        friction=drives.slope_taken_off,
        at_call=ALL,
    ),
    "inverse_dynamics_second_derivatives": Quantity(
        ("q", "qd", "qdd"),
        (
            Result("tau_q_q", "n n n"),
            Result("tau_q_qd", "n n n"),
            Result("tau_qd_qd", "n n n"),
            Result("tau_q_qdd", "n n n"),
        ),
        "The second derivatives of the torque of a motion: element ijk is that of tau_i by "
        "(q_j, q_k), (q_j, qd_k), (qd_j, qd_k), (q_j, qdd_k); the others are zero.",
        references=("newton-euler",),
        at_call=ALL,
    ),
    "pose": Quantity(
        ("q",),
        (Result("T", "4 4"),),
        "The homogeneous matrix [m] of the tip in the base frame.",
        function=kinematics.pose,
        framed=True,
    ),
    "jacobian": Quantity(
        ("q",),
        (Result("J", "6 n"),),
        "Rows vx vy vz wx wy wz of the tip's origin, a column for each joint's speed; base axes.",
        function=kinematics.jacobian,
        framed=True,
        axes=True,
    ),
    "jacobian_derivative": Quantity(
        ("q", "qd"),
        (Result("Jd", "6 n"),),
        "The rate in time of the Jacobian, dJ/dt.",
        function=frame_motion.jacobian_derivative,
        framed=True,
        axes=True,
    ),
    "acceleration_bias": Quantity(
        ("q", "qd"),
        (Result("a", "6"),),
        "The tip's acceleration at constant joint speeds, dJ/dt qd: of its origin, then angular.",
        function=frame_motion.acceleration_bias,
        framed=True,
        axes=True,
    ),
    "operational_space_inertia": Quantity(
        ("q",),
        (Result("Lambda", "6 6"),),
        "The inertia that the tip shows, with rotors: Lambda = (J M^-1 J^T)^-1. Where J is "
        "singular its numbers are infinite or NaN.",
        function=operational.inertia,
        of=("mass_matrix",),
        framed=True,
        axes=True,
        refuses=operational.refuses,
        at_call=BODIES,
    ),
    "operational_space_inertia_inverse": Quantity(
        ("q",),
        (Result("A", "6 6"),),
        "The tip's acceleration under a wrench at rest, with rotors: J M^-1 J^T, in any posture.",
        function=operational.inertia_inverse,
        of=("mass_matrix",),
        framed=True,
        axes=True,
        at_call=BODIES,
    ),
    "influence": Quantity(
        ("q",),
        (Result("gT", "3 n"), Result("gR", "3 n"), Result("hT", "3 n n"), Result("hR", "3 n n")),
        "The tip's velocity is gT qd, its acceleration gT qdd + qd^T hT qd; likewise its angular "
        "velocity and acceleration by gR and hR; base axes.",
        function=kic.influence,
        framed=True,
        at_call=("point",),
    ),
    "energy": Quantity(
        ("q", "qd"),
        (Result("kinetic", ""), Result("potential", "")),
        "The energy [J], kinetic with rotors; potential zero with all mass at the base origin.",
        function=kinematics.energy,
        rotors=drives.on_kinetic,
        at_call=ALL,
    ),
    "regressor": Quantity(
        ("q", "qd", "qdd"),
        (Result("Y", "n 10n"),),
        "tau = Y p without rotors and friction; p has for each link its mass m, m cx, m cy, m cz, "
        "Ixx, Ixy, Iyy, Ixz, Iyz, Izz about its joint frame's origin, in that frame's axes.",
        function=regressor.regressor,
        at_call=("gravity",),
    ),
    "minimal_regressor": Quantity(
        ("q", "qd", "qdd"),
        (Result("Ymin", "n p"),),
        "tau = Ymin pi without rotors and friction; pi are the p minimal parameters.",
        function=regressor.minimal_regressor,
    ),
}


# Those with several methods to choose from.
SEVERAL = tuple(name for name, quantity in QUANTITIES.items() if not quantity.function)


def find(quantity: str) -> Quantity:
    """The quantity of that name."""
    if not isinstance(quantity, str) or quantity not in QUANTITIES:
        raise MethodError(unknown("quantity", quantity, QUANTITIES))
    return QUANTITIES[quantity]


def check_axes(axes: object) -> None:
    """Refuse axes that are not one of AXES."""
    if not isinstance(axes, str) or axes not in AXES:
        raise MethodError(
            f"axes is {shorten(axes)}; expected {' or '.join(map(repr, AXES))}: 'base' has the "
            "axes of the base (Pinocchio's LOCAL_WORLD_ALIGNED), 'frame' those of the frame (its "
            "LOCAL); its WORLD is not offered"
        )


def needs_inertia(quantity: str) -> bool:
    """Whether a quantity depends on the links' inertia, so that a call may give that."""
    return "parameters" in find(quantity).at_call


def sizes(n: int, names: Iterable[str]) -> dict[str, int]:
    """How many numbers each of these arguments has, on an arm of n joints."""
    return {name: math.prod(ARGUMENTS[name].shape(n)) for name in names}


def given_to(quantity: str, names: Iterable[str]) -> tuple[str, ...]:
    """Those of some arguments that a quantity takes at the call, in order."""
    taken = find(quantity).at_call
    return tuple(name for name in ARGUMENTS if name in names and name in taken)


def reference(chain: Chain, quantity: str) -> str:
    """The method by which the others are judged on this arm."""
    natural = chain.on(float)
    return next(
        name
        for name in find(quantity).references
        if not catalogue.find(quantity, name).refuses(natural)
    )
