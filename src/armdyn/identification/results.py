"""What logs tell of an arm, and what can be done with it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from armdyn.errors import IdentificationError, shorten
from armdyn.forks import importing
from armdyn.identification.fit import Undetermined
from armdyn.identification.logs import Log
from armdyn.identification.moments import Moments
from armdyn.identification.validation import Validation, validate
from armdyn.robot import Robot

UNIDENTIFIED = "not identifiable from these logs"


class Parameter(NamedTuple):
    """What was found: a name, value, standard deviation (infinite: not determined) and unit."""

    name: str
    value: float
    deviation: float
    unit: str

    def __str__(self) -> str:
        return f"{self.name} = {self.value:.6g} +- {self.deviation:.2g} {self.unit}".rstrip()


@dataclass(frozen=True, eq=False, repr=False)
class Identification:
    """What logs tell of an arm.

    Attributes:
        parameters: name, value, standard deviation and unit of each.
        covariance: of their values, (count, count).
        robot: the arm with these parameters.
        rms: of measured minus predicted torque of each joint, in the logs it is from, (n,).
        condition: of the regressor, scaled to unit columns and by the joints' noise.
        undetermined: which parameters of links and drives the logs tell nothing of, only
            in combination, or exactly.
        notes: what a user should know.
        weight: of the prior, for each row; 0 without a prior.
        theta: what predicts the torque, in the order of ``moments.columns.names``.
        moments: of the logs.
        before: what was thought of each parameter before, (count,); NaN: nothing.
        logs: that ``identify`` was given.
    """

    parameters: tuple[Parameter, ...]
    covariance: np.ndarray
    robot: Robot
    rms: np.ndarray
    condition: float
    undetermined: Undetermined
    notes: tuple[str, ...]
    weight: float
    theta: np.ndarray
    moments: Moments
    before: np.ndarray
    logs: tuple[Log, ...] = ()

    @property
    def cutoff(self) -> float | None:
        """Of the low-pass [Hz]; None: the logs' own speeds and accelerations, not filtered."""
        return self.moments.cutoff

    def __repr__(self) -> str:
        return (
            f"Identification({self.robot.name!r}, {len(self.parameters)} parameters, "
            f"rms {np.array2string(self.rms, precision=3)})"
        )

    def __str__(self) -> str:
        """The parameters, and why some standard deviations are infinite."""
        why = [note for note in self.notes if note.startswith(f"{UNIDENTIFIED} (+- inf)")]
        return "\n".join([*map(str, self.parameters), *why])

    def validate(self, log: Log | str | os.PathLike[str]) -> Validation:
        """How well the parameters predict another log, or the file of one.

        Measured and predicted torque are low-passed at the cutoff of the fit, and a joint's rows
        at rest are left out as there.
        """
        if isinstance(log, str | os.PathLike):
            log = Log.read(log)
        if not isinstance(log, Log):
            raise IdentificationError(
                f"validate takes a Log or the path of one, not {shorten(log)}; see armdyn.Log.read"
            )
        return validate(self.moments, self.theta, log)

    def save(self, path: str | os.PathLike[str]) -> tuple[str, ...]:
        """Write the arm to a .urdf file, the one it was loaded from with new numbers, or .toml.

        Answers with notes on what has no place in such a file.
        """
        with importing:
            from armdyn.identification import write

        return write.save(self.robot.chain, path)

    def plot(self, path: str | Path | None = None, log: Log | None = None) -> Any:
        """A figure of measured and predicted torque, and of the parameters with their intervals.

        Args:
            path: where to save it, if anywhere.
            log: whose torques are drawn; the first that was identified from if not given.
        """
        with importing:
            from armdyn.identification import plots

        shown = log or next(iter(self.logs), None)
        pairs = zip(self.parameters, self.before.tolist(), strict=True)
        estimates = [plots.Estimate(*parameter, before) for parameter, before in pairs]
        torques = None
        if shown is not None:
            seen, joints = self.validate(shown), self.robot.joint_names
            kinds = self.robot.chain.kinds
            drawn = seen.times, seen.measured, seen.predicted
            torques = plots.Torques(joints, kinds, *drawn, seen.rms.tolist())
        return plots.draw(self.robot.name, torques, estimates, path)
