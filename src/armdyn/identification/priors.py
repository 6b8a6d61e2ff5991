"""What is known of an arm before it is measured, as bodies that the consistent fit starts from."""

from __future__ import annotations

from typing import Any

import numpy as np

from armdyn.chain import Chain
from armdyn.chain.inertia import Inertia
from armdyn.chain.minimal import seen_from_matrix
from armdyn.errors import IdentificationError, listed, shorten
from armdyn.identification.columns import Columns
from armdyn.identification.consistent import Bodies, in_units_of, moved_inside, pseudo_inertia
from armdyn.identification.moments import Moments
from armdyn.robot import Robot

POSITIVE = ("rotor", "viscous", "coulomb")
SHARE = 0.05  # of a joint's torque, which a drive of an arm that says nothing of it may take
LOAD, RADIUS = 0.1, 0.05  # kg, m: a ball, the least that a load is taken to be


def prior_of(moments: Moments, prior: Any) -> Chain | None:
    """The arm that a fit stays near to; None for none."""
    chain = moments.columns.chain
    if prior is None:
        return None
    if isinstance(prior, str) and prior == "robot":
        return chain
    found = prior.chain if isinstance(prior, Robot) else prior
    if not isinstance(found, Chain):
        raise IdentificationError(
            f"prior is {shorten(prior)}; expected 'robot', a Robot or Chain, or None for no prior"
        )
    if found.kinds != chain.kinds:
        raise IdentificationError(
            f"the prior's joints are {found.kinds}, the robot's {chain.kinds}; expected the same"
        )
    return found


def links(moments: Moments, prior: Chain) -> tuple[Bodies, list[str]]:
    """All links and drives of an arm, and what had to be moved to be possible, in words."""
    columns, n = moments.columns, prior.n
    P = pseudo_inertia(prior.parameters.reshape(n, 10))
    mass = prior.mass / n or 1.0
    reach = sum(abs(joint.b) + abs(joint.d) for joint in prior.joints) / n or 0.1
    pairs = [moved_inside(each, mass, reach) for each in P]
    P0 = np.array([inside for inside, _ in pairs])
    moved = [link.name for link, (_, was) in zip(prior.links, pairs, strict=True) if was]
    notes = [f"prior moved inside what a body can have: {listed(moved)}"] if moved else []
    K = in_units_of(P0)
    matrix = columns.natural.copy()
    for i in range(n):
        matrix[:, 10 * i : 10 * i + 10] = matrix[:, 10 * i : 10 * i + 10] @ K[i]
    kept = [drive for drive in columns.drives if drive in POSITIVE]
    scales = np.concatenate([np.zeros(0), *(_scale(moments, prior, drive) for drive in kept)])
    matrix[:, 10 * n : 10 * n + len(scales)] *= scales
    return Bodies(matrix, np.zeros(columns.count), n, len(scales), K), notes


def _scale(moments: Moments, prior: Chain, drive: str) -> np.ndarray:
    """x0 of a drive's parameter, a joint each: the prior's, or what a small part of the torque is.

    The moments tell how large the column is where the joint moves.
    """
    columns = moments.columns
    given = Columns(prior, columns.drives).given[columns.place(drive)]
    torque = moments.rms(np.zeros(columns.count))
    scales = []
    for i, felt in enumerate(columns.felt):
        place = 1 + int(np.flatnonzero(felt == columns.place(drive).start + i)[0])
        square = moments.grams[i][:, place, place].sum() / max(moments.rows[:, i].sum(), 1)
        small = SHARE * torque[i] / np.sqrt(square) if square > 0 else 1.0
        scales.append(given[i] if given[i] > 0 else small or 1.0)
    return np.array(scales)


def load(columns: Columns, mass: float) -> Bodies:
    """A body at the tip, of about this mass; all else is held."""
    m = max(mass, LOAD)
    ball = Inertia.from_com(m, np.zeros(3), 0.4 * m * RADIUS**2 * np.eye(3))
    K = in_units_of(pseudo_inertia(ball.parameters())[None])
    return Bodies(load_columns(columns) @ K[0], columns.given, 1, 0, K)


def load_columns(columns: Columns) -> np.ndarray:
    """What the ten parameters of a body in the tip frame add to theta, (count, 10)."""
    last = columns.natural[:, 10 * (columns.chain.n - 1) : 10 * columns.chain.n]
    return last @ seen_from_matrix(columns.chain.tip)
