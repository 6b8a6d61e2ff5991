"""What comments in exported source say of an arm and its functions, in any language.

Nothing that a model file says reaches the source as it stands: names become identifiers of letters,
digits and underscores, and in comments every other character is written as its code point.
"""

from __future__ import annotations

import re
import string
import textwrap
import unicodedata
from collections.abc import Iterator, Sequence

import armdyn
from armdyn.algorithms import catalogue
from armdyn.chain import Chain, Joint
from armdyn.errors import ExportError, shorten
from armdyn.export.asked import Asked
from armdyn.quantities.tasks import Task

MARK = "/* Written by armdyn "  # how a file begins that may be written again


def identifier(name: str) -> str:
    """A name as the beginning of identifiers and file names: a-z, 0-9 and single underscores."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    safe = "_".join(re.findall("[a-z0-9]+", plain))[:40].strip("_")
    if not safe:
        return "arm"
    return safe if safe[0].isalpha() else f"arm_{safe}"


def prefix(chain: Chain, name: str | None) -> str:
    """With which files begin: with the name that is given, else with the arm's."""
    if name is not None and not isinstance(name, str):
        raise ExportError(f"name is {shorten(name)}; expected a string")
    return identifier(chain.name if name is None else name)


def comment(text: str) -> str:
    """A text that cannot end a comment; what is not a plain character stands as <code point>."""
    plain = string.ascii_letters + string.digits + " _-+.,:"
    safe = "".join(char if char in plain else f"<{ord(char):x}>" for char in text[:60])
    return safe if len(text) <= 60 else f"{safe}..."


def opening() -> str:
    """The beginning of every file: a comment, which the file goes on with and ends."""
    return f"{MARK}{armdyn.__version__}: "


ARM = """\
the dynamics of a robot arm, in SI units and radians.
 *
 * M(q) qdd + C(q, qd) qd + g(q) = tau of the arm {robot}.
 *
{joints}
 *
 * q, qd, qdd and tau hold position, speed, acceleration and torque (force, of a slide), one number
 * a joint from base to tip in the order above. Matrices lie row after row: M_ij is M[{n} * i + j].
 * Results must not overlap arguments or one another. Gravity is ({gravity}) m/s^2 in the
 * base frame. Rotor inertia, reflected to the joint, adds to the diagonal of M and to all that
 * follows from it: torques of acceleration, accelerations, kinetic energy.
 * {friction}
{given}{locked} *"""


def about_arm(chain: Chain, functions: Sequence[Asked]) -> str:
    """What the first comment says of the arm: joints, units, gravity, arguments."""
    tasks = [function.task for function in functions]
    locked = [
        f" * Locked joint: {comment(joint)} at {float(position)!r}.\n"
        for joint, position in chain.locked
    ]
    rough = any(task.friction for task in tasks)
    return ARM.format(
        robot=comment(chain.name),
        joints="\n".join(map(_joint, range(chain.n), chain.joints)),
        n=chain.n,
        gravity=", ".join(repr(float(g)) for g in chain.gravity),
        friction=f"Friction is left out{' where none is named' if rough else ''}.",
        given="".join(_given(tasks)),
        locked="".join(locked),
    )


def _joint(i: int, joint: Joint) -> str:
    units = "q [rad], tau [N m]" if joint.kind == "R" else "q [m], tau [N]"
    rotor = f"{float(joint.rotor_inertia)!r} {'kg m^2' if joint.kind == 'R' else 'kg'}"
    return f" *     {i}: {comment(joint.name)}, {units}, rotor {rotor}"


GIVEN = {
    "payload": "the ten parameters of a load, m, m cx, m cy, m cz [kg, kg m], Ixx, Ixy, Iyy, Ixz, "
    "Iyz, Izz [kg m^2], about the origin of {frame} and in its axes",
    "gravity": "the acceleration of free fall in the base frame [m/s^2], in place of that above",
    "parameters": "m, m cx, m cy, m cz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each link about the origin "
    "of its joint's frame and in that frame's axes, in place of the arm's own",
    "wrench": "fx, fy, fz [N], mx, my, mz [N m] that act on the arm at {frame}, in base axes, the "
    "moment about its origin",
    "point": "the coordinates [m] of a point in the axes of the frame, in place of its origin",
}


def _given(tasks: Sequence[Task]) -> Iterator[str]:
    """What the arguments are that functions take besides the state."""
    for name, text in GIVEN.items():
        task = next((task for task in tasks if name in task.given), None)
        if task is not None:
            frame = task.wrench_frame if name == "wrench" else task.payload_frame
            place = "the tip" if frame is None else f"frame {comment(frame)}"
            yield lines(f"{name} holds {text.format(frame=place)}.", " * ") + "\n"


def about(function: Asked) -> str:
    """What the comment on a function says: its results, the shapes of matrices, the method."""
    task, said = function.task, [function.sentence]
    for name, shape in zip(function.results, function.program.shapes, strict=True):
        if len(shape) > 1:
            said.append(f"{name} is {' x '.join(map(str, shape))}.")
    if task.frame is not None:
        said.append(f"Here it is frame {comment(task.frame)} in place of the tip.")
    if task.axes == "frame":
        said.append("Here the axes are the frame's own.")
    if task.friction:
        said.append("With friction.")
    if task.method:
        exact = catalogue.find(task.quantity, task.method).exact
        said.append(f"Method: {comment(task.method)}{'' if exact else ', an approximation'}.")
    return " ".join(said)


def lines(text: str, first: str = "") -> str:
    """A text as lines of a comment."""
    return textwrap.fill(
        text, 100, initial_indent=first, subsequent_indent=" * ", break_on_hyphens=False
    )
