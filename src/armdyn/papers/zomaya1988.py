"""Tables 1 to 4 of [zomaya1988]: joint torques of the Stanford arm, and why no arm has them.

Posture q = 0.3 (rad; joint 3: m) in every joint; in table t all joint speeds and all joint
accelerations are SPEEDS[t] (rad/s and rad/s^2; joint 3: m/s and m/s^2). A row has the torques of
joints 1 to 6 [N m; joint 3: N]: row "I" by the classical Lagrangian, row "II" by the paper's
simplified Coriolis terms. Numbers are text, so that their digits tell how exact they are.

The paper does not print the arm's parameters. But at a fixed posture with qd = qdd = w the torques
of any arm are g + M w + b w^2, and a parabola through three of the cases predicts the fourth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from armdyn.algorithms import lagrange, zomaya_morris
from armdyn.chain import Chain
from armdyn.chain.arm import Arm
from armdyn.loaders import load
from armdyn.papers.claims import Grid, Line, Table, Verdict, Word
from armdyn.spatial import Scalar

CITATION = (
    "A. Y. Zomaya and A. S. Morris, On the complexity analysis of the Coriolis and centripetal "
    "effects of a 6 DOF robot manipulator, 1988"
)

POSTURE = 0.3
SPEEDS = (0.5, 0.8, 1.0, 1.5)

PRINTED: tuple[dict[str, tuple[str, ...]], ...] = (
    {  # Table 1
        "I": ("0.754", "3.96", "-57.26", "0.0007", "0.656", "0.0105"),
        "II": ("0.739", "4.041", "-57.38", "0.0074", "0.7186", "0.01048"),
    },
    {  # Table 2
        "I": ("1.1", "4.91", "-55.48", "0.017", "0.706", "0.0168"),
        "II": ("0.946", "4.95", "-55.96", "0.076", "0.84", "0.017"),
    },
    {  # Table 3
        "I": ("1.178", "5.432", "-54.47", "0.026", "0.74", "0.0211"),
        "II": ("1.184", "5.604", "-55.07", "0.11", "0.95", "0.0209"),
    },
    {  # Table 4
        "I": ("0.63", "6.18", "-52.79", "0.05", "0.82", "0.0318"),
        "II": ("0.392", "7.17", "-53.3", "0.0686", "0.788", "0.0313"),
    },
)

ROWS = {"I": "Lagrangian", "II": "simplified"}
JOINTS = range(1, 7)
DROPPED_ZERO = {("I", 1): 1}  # row, joint -> the case (from 0) whose last zero seems dropped

VelocityTorque = Callable[..., Any]  # of an arm, q and qd


def half_a_digit(printed: str) -> float:
    """What rounding to the printed digits may have moved."""
    exponent = Decimal(printed).as_tuple().exponent
    return 0.5 * 10.0 ** int(exponent)


def column(row: str, joint: int) -> list[str]:
    """The four printed torques of a joint (from 1), cases 1 to 4."""
    return [table[row][joint - 1] for table in PRINTED]


# No arm has these torques ------------------------------------------------------------------------


def fourth(printed: Sequence[str]) -> tuple[float, float]:
    """The fourth case by the parabola through the other three, and what rounding leaves open."""
    first, last = np.array(SPEEDS[:3]), SPEEDS[3]
    weights = np.linalg.solve(np.vander(first, increasing=True).T, last ** np.arange(3))
    slack = np.abs(weights) @ [half_a_digit(cell) for cell in printed[:3]]
    return float(weights @ [float(cell) for cell in printed[:3]]), float(slack)


def is_quadratic(printed: Sequence[str]) -> bool:
    """Whether numbers rounded to these digits can be g + M w + b w^2 at the four speeds."""
    predicted, slack = fourth(printed)
    return abs(predicted - float(printed[3])) <= slack + half_a_digit(printed[3])


# What the Stanford arm's are ---------------------------------------------------------------------


def torques(chain: Chain, velocity_torque: VelocityTorque) -> np.ndarray:
    """M w, rotors included, plus the velocity torque and gravity, shape (4 cases, n)."""
    arm, q, rest = chain.on(float), [POSTURE] * chain.n, [0.0] * chain.n
    M: np.ndarray = np.array(lagrange.mass_matrix(arm, q)) + np.diag(arm.rotor_inertia)
    gravity, still = np.array(lagrange.bias(arm, q, rest)), arm.without_gravity()
    return np.array(
        [M.sum(1) * w + velocity_torque(still, q, [w] * chain.n) + gravity for w in SPEEDS]
    )


def in_reverse_order(arm: Arm, q: list[Scalar], qd: list[Scalar]) -> np.ndarray:
    """Velocity torque with Delta_max Delta_min in place of Delta_min Delta_max."""
    P: np.ndarray = np.array(
        zomaya_morris.velocity_coefficients(arm, lagrange.differentials(arm, q))
    )
    j, k = np.indices((arm.n, arm.n))
    ordered = P[:, np.maximum(j, k), np.minimum(j, k)] * np.outer(qd, qd)
    return np.asarray(ordered.sum(axis=(1, 2)))


def parabola_verdict(row: str, joint: int) -> Verdict:
    """Whether any arm can have the printed torques of a joint."""
    printed = column(row, joint)
    if not is_quadratic(printed):
        return Verdict("refuted", "no parabola in w goes through the four cases, whatever the arm")
    if joint == 6:
        return Verdict("explained" if row == "I" else "presumed", "see the next table")
    reason = "a parabola goes through the printed digits, but the arm's parameters are not printed"
    case = DROPPED_ZERO.get((row, joint))
    if case is not None:
        full = [*printed[:case], printed[case] + "0", *printed[case + 1 :]]
        also = "" if is_quadratic(full) else f"; with {full[case]} for {printed[case]} none does"
        reason += also
    return Verdict("not described", reason)


def parabolas() -> Iterator[Line]:
    """Cases 1 to 3 against case 4."""
    for row in ROWS:
        for joint in JOINTS:
            printed = column(row, joint)
            predicted, slack = fourth(printed)
            yield Line(
                f"{row}.{joint}",
                {"": printed[3]},
                {"": f"{predicted:.4g} +- {slack:.2g}"},
                {"": f"{predicted - float(printed[3]):.2g}"},
                {"": parabola_verdict(row, joint)},
            )


def parabola_table() -> Table:
    """What refutes the printed torques."""
    return Table(
        "Tables 1 to 4. The fourth case by a parabola through the others, row.joint",
        tuple(parabolas()),
        "At a fixed posture with qd = qdd = w every torque is g + M w + b w^2, of any arm. The "
        "range is what rounding to the printed digits leaves open.",
        found="by parabola",
    )


def joint_six(chain: Chain) -> Iterator[Line]:
    """The one joint whose torques come out, by three ways of taking the velocity terms."""
    ways: tuple[tuple[str, str, VelocityTorque, str], ...] = (
        ("I", "exact", lagrange.bias, "the exact torque is another"),
        ("I", "reversed", in_reverse_order, "with Delta_max Delta_min for Delta_min Delta_max"),
        ("II", "simplified", zomaya_morris.bias, "by eqs. 13 to 17"),
    )
    for row, name, velocity_torque, reason in ways:
        found, printed = torques(chain, velocity_torque)[:, 5], column(row, 6)
        apart = [float(ours) - float(cell) for ours, cell in zip(found, printed, strict=True)]
        missed = [k for k in range(4) if abs(apart[k]) > half_a_digit(printed[k])]
        word: Word = "refuted" if len(missed) > 1 else "presumed" if missed else "exact"
        if word == "presumed":
            off = abs(apart[missed[0]] / float(printed[missed[0]]))
            reason += f", all cells but that of case {missed[0] + 1}, which is {off:.1%} off"
        yield Line(
            f"{row}.6, {name}",
            {"": " ".join(printed)},
            {"": " ".join(f"{torque:.4f}" for torque in found)},
            {"": f"{max(apart, key=abs):.1g}"},
            {"": Verdict(word, reason)},
        )


def joint_six_table() -> Table:
    """What can be had of the printed torques."""
    return Table(
        "Tables 1 to 4. Joint 6, cases 1 to 4 [N m]",
        tuple(joint_six(load("stanford").chain)),
        "With M w and actuator inertia; gravity does not reach joint 6.",
        found="computed",
    )


def upside_down(chain: Chain) -> Chain:
    """The chain with gravity the other way round, as the paper's tables seem to have it."""
    x, y, z = chain.gravity
    return chain.with_gravity((-x, -y, -z))


def side_by_side() -> Grid:
    """The printed tables, and the Stanford arm's torques with gravity down and with gravity up."""
    chain = load("stanford").chain
    terms = {"I": lagrange.bias, "II": zomaya_morris.bias}
    ours = {"ours, gravity down": chain, "ours, gravity up": upside_down(chain)}
    found = {
        (row, name): torques(arm, term) for row, term in terms.items() for name, arm in ours.items()
    }
    lines = []
    for case, (table, w) in enumerate(zip(PRINTED, SPEEDS, strict=True)):
        for row, method in ROWS.items():
            lines.append((str(case + 1), f"{w:g}", f"{row} {method}", *table[row]))
            for name in ours:
                numbers = (f"{torque:.4g}" for torque in found[row, name][case])
                lines.append(("", "", f"   {name}", *numbers))
    at_rest = lagrange.bias(chain.on(float), [POSTURE] * 6, [0.0] * 6)[2]
    return Grid(
        "Tables 1 to 4. Torques of the Stanford arm at q = 0.3, qd = qdd = w [N m; joint 3: N]",
        ("table", "w", "row", *(f"joint {joint}" for joint in JOINTS)),
        tuple(lines),
        "Ours with the parameters of Paul 1981 and Bejczy 1974, actuator inertia included. Where "
        f"gravity pulls down, joint 3 carries {at_rest:+.1f} N at rest; the tables have the "
        "opposite sign, and with gravity turned up joints 3 and 5 come near the print.",
        words=3,
    )


TABLES = (side_by_side, parabola_table, joint_six_table)
