"""excite: a motion that tells as much as it can of an arm's parameters, within the joints' limits.

Fourier series that begin and end at rest; -log det of the information, balanced, with a log barrier
for the limits, is minimised by BFGS from the best of some random series.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.random import default_rng
from numpy.typing import ArrayLike

from armdyn.engine.calls import real_array
from armdyn.errors import IdentificationError, shorten
from armdyn.forks import importing
from armdyn.identification import allowed
from armdyn.identification.fourier import Limits, Series, motion
from armdyn.identification.information import SLOW, Information
from armdyn.identification.search import Search
from armdyn.output.files import check_writable, written
from armdyn.output.progress import told
from armdyn.robot import Robot

MOST_ROWS = 1e8  # of samples
FINE = 1000  # times a period at which the condition is taken


class Samples(NamedTuple):
    """A motion at evenly spaced times: t [s], shape (rows,); q, qd, qdd, shape (rows, n)."""

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Excitation:
    """A motion for identification, from t = 0 to ``duration`` [s], at rest before and after.

    Called with a time, it answers with q, qd and qdd, shape (n,); an array of times leads these
    axes with its own. So it can be what a controller of ``armdyn.simulate`` follows.

    Attributes:
        robot: the arm.
        duration: how long it takes [s].
        series: the Fourier series that it is one of.
        x: which one, in the series' free numbers.
        information: of which parameters, and in what units of noise.
        notes: which limits were not known, and what was taken.
    """

    robot: Robot
    duration: float
    series: Series
    x: np.ndarray
    information: Information
    notes: tuple[str, ...] = ()

    @property
    def limits(self) -> Limits:
        """Of position, speed and acceleration, that it keeps at all times."""
        return self.series.limits

    @cached_property
    def coefficients(self) -> np.ndarray:
        """Of 1, sin and cos of w t, 2 w t, ...: o, s_1 to s_N, c_1 to c_N a joint, (n, 2 N + 1)."""
        found = np.einsum("jkl,jl->jk", self.series.free, self.x)
        found[:, 0] += self.limits.centre
        return found

    @property
    def frequency(self) -> float:
        """Of the slowest harmonic [Hz]."""
        return 1 / self.series.period

    @cached_property
    def used(self) -> np.ndarray:
        """How much of half the range, the speed and the acceleration is used at most, (n, 3).

        Nowhere more, between any samples: a bound, of which 1 in 200 may be missing.
        """
        return np.abs(motion(self.series.checks, self.x)).max(axis=1).T

    @cached_property
    def condition(self) -> float:
        """Of the regressor along the motion, its columns scaled to unit length."""
        return self.information.condition(np.stack(self(self._period(FINE))))

    def _period(self, times: int) -> np.ndarray:
        return np.arange(times) * (self.series.period / times)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of what it tells: minimal parameters, then rotors, friction, offsets."""
        return self.information.names

    def __call__(self, t: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Position, speed and acceleration of each joint at the time t [s]."""
        time = real_array("t", t).astype(float)
        moving = (time >= 0) & (time <= self.duration) | np.isnan(time)
        basis = self.series.basis(np.where(moving, time, 0.0).ravel())
        q, qd, qdd = (basis @ self.coefficients.T).reshape(3, *time.shape, self.robot.n)
        still = ~moving[..., None]
        return q, np.where(still, 0.0, qd), np.where(still, 0.0, qdd)

    def sample(self, rate: float = 1000.0) -> Samples:
        """The motion at so many times a second [Hz], from t = 0 to the end."""
        hertz = allowed.positive("rate", rate, "a positive number of samples a second")
        if self.duration * hertz > MOST_ROWS:
            raise IdentificationError(
                f"rate is {shorten(rate)}, which makes {self.duration * hertz:.3g} rows; expected "
                f"at most {MOST_ROWS:g}"
            )
        t = np.arange(round(np.floor(self.duration * hertz * (1 + 1e-12))) + 1) / hertz
        return Samples(t, *self(t))

    # Out of the program -----------------------------------------------------------------------

    def save(self, path: str | Path, rate: float = 1000.0) -> None:
        """Writes it at so many samples a second, as .csv (t, q1, ..., qd1, ..., qdd1, ...) or .npz.

        These are the names that ``armdyn.Log`` reads, so that measured torques tau1, ... beside
        them make a log.
        """
        check_path(path)
        samples = self.sample(rate)
        with written(path) as place:
            if Path(path).suffix.lower() == ".npz":
                with open(place, "wb") as file:  # to a name in .NPZ, NumPy would add .npz
                    np.savez_compressed(file, **samples._asdict(), joints=self.robot.joint_names)
            else:
                joints = range(1, self.robot.n + 1)
                heading = ["t", *(f"{name}{j}" for name in ("q", "qd", "qdd") for j in joints)]
                with open(place, "w", newline="", encoding="utf-8") as lines:
                    writer = csv.writer(lines)
                    writer.writerow(heading)
                    writer.writerows(np.column_stack(samples).tolist())

    def plot(self, path: str | Path | None = None) -> Any:
        """A figure of positions, speeds and accelerations, each in parts of what is allowed.

        Args:
            path: where to save it, if anywhere; the suffix chooses the format.
        """
        with importing:
            from armdyn.identification.excitation_figure import draw

        return draw(self, path)

    # To be read -------------------------------------------------------------------------------

    def summary(self) -> str:
        """The motion in a line."""
        return (
            f"{self.robot.name}, {self.duration:.4g} s, {self.series.harmonics} harmonics of "
            f"{self.frequency:.4g} Hz; condition {self.condition:.4g} of "
            f"{len(self.parameters)} parameters"
        )

    def __repr__(self) -> str:
        return f"Excitation({self.summary()})"

    def _repr_html_(self) -> str:
        """A table of the joints for notebooks."""
        with importing:
            from html import escape

            from armdyn.output.report import html_table

        notes = "".join(f"<p>{escape(note)}</p>\n" for note in self.notes)
        return f"<p>{escape(self.summary())}</p>\n{notes}" + html_table(HEADINGS, self.rows())

    def rows(self) -> list[list[str]]:
        """A row a joint under HEADINGS: its limits, and how much of them is used."""
        return [
            [name, *(f"{value:.4g}" for value in (*position, speed, acceleration))]
            + [f"{100 * used:.3g} %" for used in part]
            for name, position, speed, acceleration, part in zip(
                self.robot.joint_names, *self.limits, self.used, strict=True
            )
        ]


HEADINGS = (
    "joint",
    "lower",
    "upper",
    "speed",
    "acceleration",
    "range used",
    "speed used",
    "acceleration used",
)


def check_path(path: str | Path) -> None:
    """Refuse a file that a motion could not be saved to."""
    if Path(path).suffix.lower() not in (".npz", ".csv"):
        raise IdentificationError(
            f"cannot save to {shorten(str(path))}; expected a name in .csv or .npz"
        )
    check_writable(path)


def excite(
    robot: Robot,
    duration: float = 10.0,
    *,
    limits: ArrayLike | None = None,
    speed: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    harmonics: int = 8,
    frequency: float | None = None,
    friction: bool = True,
    rotors: bool = True,
    offsets: bool = True,
    noise: ArrayLike = 1.0,
    balance: float = 0.6,
    seed: int = 0,
    progress: bool | Callable[[int, int], object] | None = None,
) -> Excitation:
    """A motion that tells as much as it can of an arm's parameters, within the joints' limits.

    It is a Fourier series, at rest at both ends. It minimises -log det of the information that
    torques along it hold of the minimal parameters and of the other columns asked for. Limits hold
    at all times, not only at samples. Neither the arm's parts nor what stands around it are looked
    at: whether they collide is for you to see, by narrower ``limits`` or in a simulation.

    Args:
        robot: the arm.
        duration: how long it takes [s].
        limits: (lower, upper) of each joint (n, 2) [rad or m]; None: ``robot.position_limits``. A
            range of more than a full turn, or more than a metre, is narrowed to that, about zero
            or as near to it as the limits allow: no more can be learnt there.
        speed: the greatest speed of the joints, a number or (n,) [rad/s or m/s]; None:
            ``robot.velocity_limits``, and where there is none pi/2 rad/s or 0.5 m/s.
        acceleration: the greatest, a number or (n,) [rad/s^2 or m/s^2]; None: what reaches the
            greatest speed in half a second.
        harmonics: how many of the slowest frequency, at least 2.
        frequency: the slowest [Hz], a whole number of whose periods is the duration; None: one
            period.
        friction: whether viscous and Coulomb friction are to be told.
        rotors: whether rotors are.
        offsets: whether offsets of the torques are.
        noise: standard deviation of the joints' torques, a number or (n,); only ratios matter.
        balance: from 0 to less than 1, how much of what size alone brings is taken off: 0 is
            -log det, whose standard deviations are the smallest on average; nearer to 1, all
            parameters are told about as well, and the condition is better.
        seed: of the random series that it starts from.
        progress: True shows a bar on stderr; a function is told the steps done, and all steps.

    Raises:
        IdentificationError: if a joint cannot move, or no such motion tells all parameters.
    """
    bounds, notes = allowed.limits(robot, limits, speed, acceleration)
    time, period = allowed.period(duration, frequency)
    series = Series(bounds, allowed.harmonics(harmonics), period)
    asked = allowed.flags(friction=friction, rotors=rotors, offsets=offsets)
    drives = {
        "rotor": asked["rotors"],
        "viscous": asked["friction"],
        "coulomb": asked["friction"],
        "offset": asked["offsets"],
    }
    information = Information(
        robot,
        tuple(name for name, there in drives.items() if there),
        allowed.each("noise", noise, robot.n),
        SLOW * bounds.speed,
    )
    news = "the steps done, and all steps"
    with told(progress, "exciting", news, IdentificationError) as tell:
        search = Search(series, information, allowed.balance(balance))
        x = search.best(default_rng(allowed.seed(seed)), tell)
    return Excitation(robot, time, series, x, information, notes)
