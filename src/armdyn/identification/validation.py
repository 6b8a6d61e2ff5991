"""How well parameters predict a log that they are not from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armdyn.errors import IdentificationError, listed
from armdyn.identification.columns import Columns
from armdyn.identification.logs import Log
from armdyn.identification.moments import Moments
from armdyn.identification.rows import RowsOf, segments


@dataclass(frozen=True, eq=False)
class Validation:
    """Measured torques of a log beside predicted ones, both low-passed.

    Attributes:
        rms: of measured minus predicted torque of each joint, where it moves, (n,) [N m or N].
        torque: the rms of the measured torque there, (n,).
        times: of each segment's rows [s].
        measured: torques of each segment, (rows, n).
        predicted: likewise.
    """

    rms: np.ndarray
    torque: np.ndarray
    times: list[np.ndarray]
    measured: list[np.ndarray]
    predicted: list[np.ndarray]


def validate(moments: Moments, theta: np.ndarray, log: Log) -> Validation:
    """The torques of a log beside those of parameters, prepared as for these moments."""
    columns, user = moments.columns, moments.user
    if columns.user and not user:
        raise IdentificationError(
            f"the columns {listed(columns.user)} are functions, which saved moments do not have"
        )
    pieces, _ = segments(log.for_joints(moments.robot.joint_names), None, moments.cutoff)
    rows_of = RowsOf(columns, user)
    measured, predicted, moving = [], [], []
    for piece in pieces:
        blocks = [
            (np.stack([X[:, 0] for X in joints], axis=1), block.qd, _torque(columns, joints, theta))
            for block in rows_of(piece, 0, piece.rows)
            for joints in block.joints[:1]
        ]
        tau, qd, found = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        measured.append(tau)
        predicted.append(found)
        moving.append(np.abs(qd) >= moments.rest)
    here = np.concatenate(moving)
    count = np.maximum(here.sum(axis=0), 1)
    tau, error = np.concatenate(measured), np.concatenate(measured) - np.concatenate(predicted)
    rms, torque = (np.sqrt((x**2 * here).sum(axis=0) / count) for x in (error, tau))
    return Validation(rms, torque, [piece.times for piece in pieces], measured, predicted)


def _torque(columns: Columns, joints: list[np.ndarray], theta: np.ndarray) -> np.ndarray:
    pairs = zip(joints, columns.felt, strict=True)
    return np.stack([X[:, 1:] @ theta[felt] for X, felt in pairs], axis=1)
