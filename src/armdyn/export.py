"""An arm's dynamics as source that a controller can keep: C99, a header and a self-test.

Nothing that a model file says reaches the source as it stands: names become identifiers of letters,
digits and underscores, and in comments every other character is written as its code point.
"""

from __future__ import annotations

import os
import re
import string
import textwrap
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import armdyn
from armdyn.algorithms import catalogue
from armdyn.chain import Chain, Joint
from armdyn.chain.inertia import Inertia
from armdyn.engine.derived import KINDS, Derived, with_respect_to
from armdyn.errors import ExportError, MethodError, as_names, listed, shorten, unknown
from armdyn.output.files import unfinished
from armdyn.program.c import Dtype, Function
from armdyn.program.selftest import Draws, selftest
from armdyn.quantities import QUANTITIES, Quantity, find
from armdyn.quantities.tasks import Task, check_arguments, program

if TYPE_CHECKING:
    from armdyn.robot import Robot

DEFAULT = ("mass_matrix", "bias", "inverse_dynamics", "forward_dynamics")
MARK = "/* Written by armdyn "  # how a file begins that may be written again

DTYPES: Mapping[str, Dtype] = {  # C's names and NumPy's
    "double": "double",
    "float": "float",
    "float64": "double",
    "float32": "float",
}


# Names -------------------------------------------------------------------------------------------


def identifier(name: str) -> str:
    """A name as the beginning of identifiers and file names: a-z, 0-9 and single underscores."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    safe = "_".join(re.findall("[a-z0-9]+", plain))[:40].strip("_")
    if not safe:
        return "arm"
    return safe if safe[0].isalpha() else f"arm_{safe}"


def comment(text: str) -> str:
    """A text that cannot end a comment; what is not a plain character stands as <code point>."""
    plain = string.ascii_letters + string.digits + " _-+.,:"
    safe = "".join(char if char in plain else f"<{ord(char):x}>" for char in text[:60])
    return safe if len(text) <= 60 else f"{safe}..."


# The files ---------------------------------------------------------------------------------------


def c_files(
    robot: Robot | Chain,
    quantities: str | Iterable[str] = DEFAULT,
    *,
    dtype: str = "double",
    methods: Mapping[str, str] | None = None,
    name: str | None = None,
    frame: str | None = None,
    friction: bool = False,
    arguments: str | Iterable[str] = (),
    payload_frame: str | None = None,
    wrench_frame: str | None = None,
    derivatives: str | Iterable[str] = (),
    wrt: str | Sequence[str] | None = None,
) -> dict[str, str]:
    """The C files of an arm, by name: header, source, self-test.

    Sums of products stay sums of products: on a machine without such an instruction ``fma`` is a
    slow call, and on one with it the compiler may fuse them by itself.

    Args:
        robot: the arm.
        quantities: what to export, names of ``quantities.QUANTITIES``; if not given, what a
            controller needs.
        dtype: of all numbers, a name of DTYPES.
        methods: the method for a quantity; the cheapest exact one for those not named.
        name: with which functions and files begin; the arm's own if not given.
        frame: that pose, jacobian and the like are those of; the tip if not given.
        friction: whether inverse and forward dynamics have friction.
        arguments: what functions take besides the state, each where it is felt: "payload",
            "gravity", "parameters" in place of the arm's constants, "wrench".
        payload_frame: the frame that a payload is given in; the tip if not given.
        wrench_frame: the frame that a wrench acts at; the tip if not given.
        derivatives: of each quantity, besides itself, "derivative", "jvp", "vjp" or "hvp", which
            Robot has under the same names.
        wrt: with respect to which arguments; to all of them if not given.

    Raises:
        MethodError: for a quantity, derivative, argument or method that does not exist or does not
            apply.
        ExportError: for an arm with a constant that the type cannot hold, or an unknown type.
    """
    chain = getattr(robot, "chain", robot)
    if not isinstance(chain, Chain):
        raise ExportError(f"{shorten(robot)} is no arm; expected a Robot or a Chain")
    if not isinstance(dtype, str) or dtype not in DTYPES:
        raise ExportError(unknown("type of numbers", dtype, DTYPES))
    if name is not None and not isinstance(name, str):
        raise ExportError(f"name is {shorten(name)}; expected a string")
    if methods is not None and not isinstance(methods, Mapping):
        raise MethodError(f"methods is {shorten(methods)}; expected a method by quantity")
    prefix = identifier(chain.name if name is None else name)
    asked = as_names("quantities", quantities)
    options = Options(
        frame, friction, as_names("arguments", arguments), payload_frame, wrench_frame
    )
    tasks = [task.settled(chain) for task in _tasks(asked, methods or {}, options)]
    derived = _derived(tasks, as_names("derivatives", derivatives), wrt)
    functions = [
        Function(
            program(chain, [task]), f"{prefix}_{task.quantity}", result_names(task), DTYPES[dtype]
        )
        for task in tasks
    ]
    functions += [
        Function(
            each.program(chain), f"{prefix}_{each.name}", [*each.results(chain)], DTYPES[dtype]
        )
        for each in derived
    ]
    opening = f"{MARK}{armdyn.__version__}: "
    include = f'#include "{prefix}_dynamics.h"\n'
    source = [f"{opening}see {prefix}_dynamics.h. */\n{include}", "#include <math.h>"]
    source += [function.definition for function in functions]
    test = f"{opening}the self-test of {prefix}_dynamics.c. */\n{include}\n"
    test += selftest(functions, draws(chain))
    return {
        f"{prefix}_dynamics.h": opening + _header(chain, prefix, [*tasks, *derived], functions),
        f"{prefix}_dynamics.c": "\n\n".join(source) + "\n",
        f"{prefix}_selftest.c": test,
    }


WRITERS: Mapping[str, Callable[..., dict[str, str]]] = {"c": c_files}  # by language


def result_names(task: Task) -> tuple[str, ...]:
    """The names of the arrays that a task's results are written to."""
    return tuple(result.name for result in find(task.quantity).results)


class Options(NamedTuple):
    """What concerns some of the quantities: see ``c_files``."""

    frame: str | None
    friction: bool
    arguments: Sequence[str]
    payload_frame: str | None
    wrench_frame: str | None

    def check(self, quantities: Mapping[str, Quantity]) -> None:
        """Refuse what concerns none of the quantities."""
        if not isinstance(self.friction, bool):
            raise MethodError(f"friction is {shorten(self.friction)}; expected True or False")
        every = listed(quantities)
        if self.frame is not None and not any(q.framed for q in quantities.values()):
            raise MethodError(
                f"frame {shorten(self.frame)}, but none of {every} is that of a frame"
            )
        if self.friction and not any(q.friction for q in quantities.values()):
            raise MethodError(f"friction, but none of {every} has any")
        check_arguments([*quantities], self.arguments, self.payload_frame, self.wrench_frame)

    def task(self, quantity: str, method: str | None) -> Task:
        """The task of a quantity with what concerns it."""
        asked = find(quantity)
        places = self.payload_frame, self.wrench_frame
        return Task.with_given(quantity, self.arguments, *places)._replace(
            method=method,
            frame=self.frame if asked.framed else None,
            friction=self.friction and asked.friction is not None,
        )


def draws(chain: Chain) -> Draws:
    """How a self-test draws what no arbitrary numbers can be: bodies."""

    def payload(chance: Random) -> list[float]:
        m, (x, y, z) = chance.uniform(0.5, 3), (chance.uniform(0.001, 0.01) for _ in range(3))
        com = [chance.uniform(-0.1, 0.1) for _ in range(3)]
        body = Inertia.from_com(m, com, m * np.diag([y + z, x + z, x + y]))
        return body.parameters().tolist()

    def parameters(chance: Random) -> list[float]:
        rows = chain.parameters_in("pinocchio").tolist()
        sizes = [chance.uniform(0.8, 1.2) for _ in rows]
        return [size * x for size, row in zip(sizes, rows, strict=True) for x in row]

    return {"payload": payload, "parameters": parameters}


def _tasks(quantities: Sequence[str], methods: Mapping[str, str], options: Options) -> list[Task]:
    """What is asked for, each quantity once, by methods that exist."""
    if not quantities:
        raise MethodError(f"no quantity to export; known: {listed(QUANTITIES)}")
    asked = {quantity: find(quantity) for quantity in [*quantities, *methods]}
    for quantity, method in methods.items():
        if quantity not in quantities:
            raise MethodError(
                f"a method for {quantity}, {shorten(method)}, but it is not to be exported"
            )
        if asked[quantity].function:
            raise MethodError(f"{quantity} has one method only; it cannot be {shorten(method)}")
        catalogue.find(quantity, method)
    options.check(asked)
    return [options.task(name, methods.get(name)) for name in dict.fromkeys(quantities)]


def _derived(tasks: Sequence[Task], kinds: Sequence[str], wrt: Any) -> list[Derived]:
    """The derivatives of these kinds, each once, of all tasks."""
    for kind in kinds:
        if kind not in KINDS:
            raise MethodError(unknown("derivative", kind, KINDS))
    if wrt is not None and not kinds:
        raise MethodError(f"wrt is {shorten(wrt)}, but no derivative is to be exported")
    return [
        Derived(kind, task, with_respect_to(task, wrt))
        for kind in dict.fromkeys(kinds)
        for task in tasks
    ]


HEADER = """\
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
{given}{locked} *
 * The functions need libm and nothing else, allocate nothing and keep nothing between calls: any
 * number of threads may call them. Compile them with
 *
 *     cc -std=c99 -O2 -c {prefix}_dynamics.c
 *
 * (-O3 gains nothing: gcc's vectoriser slows such code down), and test them where they run with
 *
 *     cc -std=c99 -O2 {prefix}_selftest.c {prefix}_dynamics.c -lm && ./a.out
 *
 * They are plain products and sums. In double, without contraction (-ffp-contract=off), results
 * are those of armdyn's interpreter bit for bit where sin and cos are; where the machine has an
 * instruction for it, contraction (-ffp-contract=fast) is as accurate.
 */
#ifndef {guard}_DYNAMICS_H
#define {guard}_DYNAMICS_H

#define {guard}_JOINTS {n}

#ifdef __cplusplus
extern "C" {{
#endif

{declarations}

#ifdef __cplusplus
}}
#endif

#endif
"""


def _header(
    chain: Chain,
    prefix: str,
    asked: Sequence[Task | Derived],
    functions: Sequence[Function],
) -> str:
    tasks = [each.task if isinstance(each, Derived) else each for each in asked]
    locked = [
        f" * Locked joint: {comment(joint)} at {float(position)!r}.\n"
        for joint, position in chain.locked
    ]
    rough = any(task.friction for task in tasks)
    declarations = [
        f"{_about(each, function)}\n{function.prototype}"
        for each, function in zip(asked, functions, strict=True)
    ]
    return HEADER.format(
        robot=comment(chain.name),
        joints="\n".join(map(_joint, range(chain.n), chain.joints)),
        n=chain.n,
        gravity=", ".join(repr(float(g)) for g in chain.gravity),
        friction=f"Friction is left out{' where none is named' if rough else ''}.",
        given="".join(_given(chain, tasks)),
        locked="".join(locked),
        prefix=prefix,
        guard=prefix.upper(),
        declarations="\n\n".join(declarations),
    )


GIVEN = {
    "payload": "the ten parameters of a load, m, m cx, m cy, m cz [kg, kg m], Ixx, Ixy, Iyy, Ixz, "
    "Iyz, Izz [kg m^2], about the origin of {frame} and in its axes",
    "gravity": "the acceleration of free fall in the base frame [m/s^2], in place of that above",
    "parameters": "m, m cx, m cy, m cz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each link about the origin "
    "of its joint's frame and in that frame's axes, in place of the arm's own",
    "wrench": "fx, fy, fz [N], mx, my, mz [N m] that act on the arm at {frame}, in base axes, the "
    "moment about its origin",
}


def _given(chain: Chain, tasks: Sequence[Task]) -> Iterator[str]:
    """What the arguments are that functions take besides the state."""
    for name, text in GIVEN.items():
        task = next((task for task in tasks if name in task.given), None)
        if task is not None:
            frame = task.wrench_frame if name == "wrench" else task.payload_frame
            place = "the tip" if frame is None else f"frame {comment(frame)}"
            line = f"{name} holds {text.format(frame=place)}."
            yield textwrap.fill(line, 100, initial_indent=" * ", subsequent_indent=" * ") + "\n"


def _joint(i: int, joint: Joint) -> str:
    units = "q [rad], tau [N m]" if joint.kind == "R" else "q [m], tau [N]"
    rotor = f"{float(joint.rotor_inertia)!r} {'kg m^2' if joint.kind == 'R' else 'kg'}"
    return f" *     {i}: {comment(joint.name)}, {units}, rotor {rotor}"


def _about(asked: Task | Derived, function: Function) -> str:
    """The comment on a function: its results, the shapes of matrices, the method."""
    if isinstance(asked, Derived):
        task, said = asked.task, [asked.sentence]
    else:
        task, said = asked, [find(asked.quantity).sentence]
    for name, shape in zip(function.results, function.program.shapes, strict=True):
        if len(shape) > 1:
            said.append(f"{name} is {' x '.join(map(str, shape))}.")
    if task.frame is not None:
        said.append(f"Here it is frame {comment(task.frame)} in place of the tip.")
    if task.friction:
        said.append("With friction.")
    if task.method:
        exact = catalogue.find(task.quantity, task.method).exact
        said.append(f"Method: {comment(task.method)}{'' if exact else ', an approximation'}.")
    lines = " ".join(["/*", *said, "*/"])
    return textwrap.fill(lines, 100, subsequent_indent=" * ", break_on_hyphens=False)


# Writing -----------------------------------------------------------------------------------------


def write(files: Mapping[str, str], directory: Path, *, force: bool = False) -> list[Path]:
    """Write files into a directory, made if it is not there; where each of them is then.

    A file appears whole or not at all. One that is there already is replaced if armdyn wrote it.

    Args:
        files: texts by name.
        directory: where they go.
        force: replace files that armdyn did not write, too.

    Raises:
        ExportError: if a file is in the way, or the directory cannot be written.
    """
    if directory.exists() and not directory.is_dir():
        raise ExportError(f"{directory} is not a directory")
    targets = [directory / name for name in files]
    try:
        for target in targets:
            _check_replaceable(target, force)
        directory.mkdir(parents=True, exist_ok=True)
        with unfinished(directory) as folder:
            for name, text in files.items():
                (folder / name).write_text(text, encoding="ascii", newline="\n")
    except OSError as error:
        raise ExportError(f"cannot write to {directory}: {error.strerror}") from None
    return targets


def _check_replaceable(target: Path, force: bool) -> None:
    if target.is_dir():
        raise ExportError(f"{target} is a directory; a file of this name is to be written")
    if force or not os.path.lexists(target):
        return
    try:
        with target.open("rb") as file:
            ours = file.read(len(MARK)) == MARK.encode()
    except OSError:
        ours = False
    if not ours:
        raise ExportError(f"{target} was not written by armdyn; move it away, or use --force")
