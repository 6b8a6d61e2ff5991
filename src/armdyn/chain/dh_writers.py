"""A chain as a DH table of either convention: text, CSV, LaTeX.

A table says how joints stand to one another, and nothing else. What else the arm has is listed in
``DHText.left_out``, and each of the texts says it too.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from armdyn.chain.dh import COLUMNS
from armdyn.chain.given import choice
from armdyn.chain.pose import IDENTITY, Pose
from armdyn.errors import cut
from armdyn.forks import importing
from armdyn.output.files import marked

if TYPE_CHECKING:
    from armdyn.chain import Chain

SAME = 1e-12  # by which a row may miss a pose, beside the lengths in it: rounding
WORDS = {
    "mdh": "modified DH table: Rx(beta) Tx(b) Rz(theta) Tz(d)",
    "dh": "standard DH table: Rz(theta) Tz(d) Tx(a) Rx(alpha)",
}
LETTERS = {"beta": r"\beta", "alpha": r"\alpha", "theta": r"\theta"}
ANGLES = ("beta", "alpha", "theta")
SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


class DHText(NamedTuple):
    """The rows of a DH table that is to be written, and what it leaves out.

    Attributes:
        chain: the arm.
        convention: "mdh" or "dh".
        rows: the numbers of each joint under the convention's columns [m, rad].
        left_out: what the arm has and the table has not, in words.
    """

    chain: Chain
    convention: str
    rows: list[list[float]]
    left_out: list[str]

    @classmethod
    def of(cls, chain: Chain, convention: str = "mdh") -> DHText:
        """The table of a chain; its first row holds as much of the base as it can.

        The last row of a standard table holds as much of the tip.
        """
        choice("convention", convention, tuple(COLUMNS))
        rows = [[joint.b, joint.beta, joint.d, joint.theta] for joint in chain.joints]
        first, base = _row(chain.base), chain.base
        if convention == "mdh":
            if first is not None:
                rows[0], base = first, IDENTITY
            tip = chain.tip
        else:
            if first is not None and first[:2] == [0.0, 0.0]:
                rows[0], base = first, IDENTITY
            ends = [[b, beta] for b, beta, _, _ in rows[1:]] + [[0.0, 0.0]]
            rows = [[*end, d, theta] for end, (_, _, d, theta) in zip(ends, rows, strict=True)]
            back, tip = _row(chain.tip.inverse()), chain.tip
            if back is not None:  # Rz(theta) Tz(d) Tx(a) Rx(alpha) is the inverse of such a row
                a, alpha, d, theta = (0.0 - x for x in back)
                rows[-1] = [a, alpha, rows[-1][2] + d, rows[-1][3] + theta]
                tip = IDENTITY
        return cls(chain, convention, rows, list(_left_out(chain, base, tip)))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return COLUMNS[self.convention]

    # As files say it --------------------------------------------------------------------------

    def text(self) -> str:
        """For people: columns of plain text, angles in degrees."""
        units = ("deg" if name in ANGLES else "m" for name in self.names)
        heads = [f"{name} [{unit}]" for name, unit in zip(self.names, units, strict=True)]
        lines = [["i", "joint", *heads]]
        for i, (joint, row) in enumerate(self._joints(), start=1):
            lines.append([str(i), cut(joint.name), *self._cells(joint.kind, row, "q{}", i)])
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown = ("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)
        title = f"{cut(self.chain.name)}, {WORDS[self.convention]}"
        return "\n".join([title, "", *shown, "", *self._remarks()]) + "\n"

    def csv(self) -> str:
        """For programs: every digit, in metres and radians; lines that begin with # are remarks."""
        page = io.StringIO()
        page.writelines(f"# {line}\n" for line in [WORDS[self.convention], *self._remarks()])
        writer = csv.writer(page, lineterminator="\n")
        writer.writerow(["joint", "name", "type", *self.names])
        for i, (joint, row) in enumerate(self._joints(), start=1):
            kind = "revolute" if joint.kind == "R" else "prismatic"
            writer.writerow([i, marked(cut(joint.name)), kind, *map(repr, row)])
        return page.getvalue()

    def latex(self) -> str:
        """For papers: a tabular without packages, angles in degrees."""
        units = (r"$^\circ$" if name in ANGLES else "m" for name in self.names)
        heads = [
            f"${LETTERS.get(name, name)}_i$ [{unit}]"
            for name, unit in zip(self.names, units, strict=True)
        ]
        lines = [f"% {line}" for line in [WORDS[self.convention], *self._remarks()]]
        lines += [r"\begin{tabular}{rlrrrr}", r"\hline"]
        lines += [" & ".join(["$i$", "joint", *heads]) + r" \\", r"\hline"]
        for i, (joint, row) in enumerate(self._joints(), start=1):
            cells = (f"${cell}$" for cell in self._cells(joint.kind, row, "q_{{{}}}", i))
            lines.append(" & ".join([str(i), _escaped(cut(joint.name)), *cells]) + r" \\")
        return "\n".join([*lines, r"\hline", r"\end{tabular}"]) + "\n"

    def _joints(self) -> Iterator[tuple[Any, list[float]]]:
        return zip(self.chain.joints, self.rows, strict=True)

    def _cells(self, kind: str, row: Sequence[float], variable: str, i: int) -> list[str]:
        """The numbers of a row, with the joint's variable where it is added."""
        moving = "theta" if kind == "R" else "d"
        cells = []
        for name, value in zip(self.names, row, strict=True):
            shown = f"{(math.degrees(value) if name in ANGLES else value) + 0.0:.10g}"
            added = variable.format(i)
            if name == moving:
                shown = added if shown == "0" else f"{shown} + {added}"
            cells.append(shown)
        return cells

    def _remarks(self) -> list[str]:
        return [f"not in this table: {line}" for line in self.left_out]


def _row(pose: Pose) -> list[float] | None:
    """b, beta, d and theta of the row that a pose is; None if it is none."""
    R, t = np.array(pose.rotation), np.array(pose.translation)
    beta, theta = math.atan2(-R[1, 2], R[2, 2]), math.atan2(-R[0, 1], R[0, 0])
    b, d = float(t[0]), float(t[1] * R[1, 2] + t[2] * R[2, 2])  # z of the inner frame: R's last
    off = np.abs(Pose.mdh(b, beta, theta, d).matrix - pose.matrix).max()
    return [x + 0.0 for x in (b, beta, d, theta)] if off <= SAME * max(1.0, abs(t).max()) else None


def _left_out(chain: Chain, base: Pose, tip: Pose) -> Iterator[str]:
    """What a table of joints says nothing of; ``base`` and ``tip`` are what no row holds."""
    if base != IDENTITY:
        yield f"the first frame stands in the base frame at {_place(base)}"
    if tip != IDENTITY:
        yield f"the tip stands in the last frame at {_place(tip)}"
    others = [name for name in chain.frame_names if name not in {x.name for x in chain.links}]
    if others:
        yield f"{len(others)} named frame{'s'[: len(others) > 1]}"
    if any(not link.inertia.is_zero for link in chain.links):
        yield "masses, centres of mass and inertias of the links"
    numbers = {
        "limits": [math.isfinite(x) for j in chain.joints for x in (j.lower, j.upper)],
        "limits of speed and effort": [
            math.isfinite(x) for j in chain.joints for x in (j.velocity, j.effort)
        ],
        "rotors": [bool(joint.rotor_inertia) for joint in chain.joints],
        "friction": [bool(joint.viscous or any(joint.coulomb)) for joint in chain.joints],
    }
    of_joints = [name for name, found in numbers.items() if any(found)]
    if of_joints:
        yield f"{', '.join(of_joints)} of the joints"
    yield f"gravity {tuple(chain.gravity)} m/s^2"


def _place(pose: Pose) -> str:
    with importing:
        from armdyn.chain.writers import rpy

    shift = ", ".join(f"{x + 0.0:.10g}" for x in pose.translation)
    turn = ", ".join(f"{math.degrees(x) + 0.0:.10g}" for x in rpy(pose))
    return f"({shift}) m, turned by roll, pitch, yaw ({turn}) deg"


def _escaped(name: str) -> str:
    """A name as LaTeX prints it."""
    return re.sub(r"[\\~^&%$#_{}]", lambda m: SPECIAL.get(m[0], "\\" + m[0]), name)
