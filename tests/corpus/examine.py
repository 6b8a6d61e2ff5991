"""One robot file: load it, follow the advice of a refusal, compare the numbers."""

from __future__ import annotations

import ast
import logging
import math
import re
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import armdyn
from tests.corpus import compare
from tests.corpus.packages import RobotFile

CLOSE = 1e-9  # the largest relative error of equal numbers
MOVED = " with base= and lock="
UNNAMED = ("other", "foreign exception")
STEPS = 100  # the most refusals in a row
SAMPLE = 16  # one robot in 16 also runs as compiled code
REASONS = {  # a pattern in a refusal, and its name in the table; the first match counts
    r"branches at": "branches",
    r"is floating; expected": "free joint",
    r"is ball; expected": "ball joint",
    r"is planar; expected": "planar joint",
    r"mimic": "mimic",
    r"closes a loop|form a loop": "loop",
    r"links have no parent|link \S+ is unknown": "not a tree",
    r"no joint moves": "no joint moves",
    r"rror opening file|ould not open|[Nn]o such file": "file missing",
    r"MuJoCo cannot read": "MuJoCo refuses",
    r"substitution args not supported|find|package": "xacro package",
    r"ndefined substitution arg|ndefined param|is not defined": "xacro argument",
    r"xacro cannot expand": "xacro",
    r"macros only|has no link": "macros only",
    r"is read, MuJoCo has": "unlike MuJoCo",
    r"moves nothing that has inertia": "nothing moved",
    r"principal moments|no mass but|physical|negative|definite": "not physical",
    r"snap=": "nearly parallel",
    r"is used twice|elements; expected one": "given twice",
    r"xacro|macro|\$[({]": "xacro in a URDF",
    r"finite number|lower <= upper": "numbers",
    r"not well-formed|unbound prefix|XML": "not XML",
}
ADVICE = {  # an option, and the pattern of the advice that gives its value
    "tip": r"tips by tip=: ('[^']*'|\"[^\"]*\")",
    "lock": r"lock=(\{.*?\})",
    "snap": r"snap=([\d.e+-]+)",
    "check": r"check=(['\"]warn['\"])",
}


class Finding(NamedTuple):
    """The outcome of a file."""

    outcome: str  # "whole", "trunk", "refused: ..." or what a process ended in
    then: str = ""  # the advice that was followed, and the last refusal if any
    joints: str = ""  # moving joints of the chain / of the file
    reference: str = ""  # of the comparison, or the reason for none
    errors: dict[str, float] = {}  # relative, by quantity
    faults: tuple[str, ...] = ()  # silent errors, and advice that fails
    seconds: float = 0.0  # of the processor, to load it
    notes: tuple[str, ...] = ()
    message: str = ""  # of the first refusal


def examine(file: RobotFile, step: Callable[[], None]) -> Finding:
    """The outcome of a file."""
    logging.disable(logging.CRITICAL)
    compare.mujoco.set_mju_user_warning(lambda *_: None)  # else it writes them to a file
    options: dict[str, Any] = {}
    robot, message, seconds = _load(file, options, step)
    first, faults, then = message, list[str](), list[str]()
    while robot is None and len(then) < STEPS:
        kind, value = _advice(message, options)
        if not kind:
            break
        if kind == "tip":
            faults += _dead_tips(file, options, message, step)
        options[kind] = options.get(kind, {}) | value if kind == "lock" else value
        then.append(kind)
        robot, message, _ = _load(file, options, step)
    done = "+".join(dict.fromkeys(then))
    found = Finding(
        f"refused: {_reason(first)}", done, faults=tuple(faults), seconds=seconds, message=first
    )
    if robot is not None:
        return _compared(file, robot, options, found, step)
    ending = _reason(message)
    if then and (ending != "no joint moves" or compare.moving(file)):
        faults.append(f"{done} as advised ends in: {message}")
        found = found._replace(then=f"{done}: {ending}")
    if ending in UNNAMED:
        faults.append(f"{ending}: {message}")
    return found._replace(faults=tuple(faults))


def _compared(
    file: RobotFile,
    robot: armdyn.Robot,
    options: dict[str, Any],
    found: Finding,
    step: Callable[[], None],
) -> Finding:
    """The finding of a robot that was loaded with these options."""
    step()
    chain, moving = robot.chain, compare.moving(file)
    reference, errors, silent = compare.compared(file, chain)
    faults = [*found.faults, *silent, *_trunk(file, chain, moving, options, step)]
    if int(file.digest[:8], 16) % SAMPLE == 0 and not chain.kinematic_only and chain.n <= 12:
        step()
        errors |= compare.as_compiled(robot)
    if chain.n > 2:
        errors |= _from_base(file, options, chain, step)
    worst, stated = max(errors.values(), default=0.0), compare.stated(chain)
    if CLOSE < worst < math.inf:
        reference += f" to {10 ** math.ceil(math.log10(worst)):.0e}"
    off = [name for name, error in errors.items() if not error <= CLOSE + stated]
    if off and "check" not in options:  # which replaces numbers that no body has, with a note
        faults.append(f"off by {worst:.1e}, and notes say {stated:.1e}: {', '.join(off)}")
    return found._replace(
        outcome=found.outcome if found.message else "whole" if chain.n == moving else "trunk",
        joints=f"{chain.n}/{moving}",
        reference=reference,
        errors=errors,
        faults=tuple(faults),
        notes=chain.notes,
    )


def _trunk(
    file: RobotFile,
    chain: armdyn.Chain,
    moving: int,
    options: dict[str, Any],
    step: Callable[[], None],
) -> list[str]:
    """Faults of the note on a trunk: none, or one with a tip that gives other joints."""
    first = chain.notes[0] if chain.notes else ""
    promise = re.search(r"^the arm ends at .* tip=('[^']*'|\"[^\"]*\") gives (\d+)", first)
    if promise is None:
        short = "tip" not in options and 2 * chain.n <= moving
        return [f"{chain.n} of {moving} joints move, and no note says so first"] * short
    tip = promise[1][1:-1]
    robot, message, _ = _load(file, options | {"tip": tip}, step)
    if _advice(message, options) != ("", None) or robot and robot.n == int(promise[2]):
        return []
    return [f"tip={tip!r} gives {robot.n if robot else message}, where a note says {promise[2]}"]


def _from_base(
    file: RobotFile, options: dict[str, Any], chain: armdyn.Chain, step: Callable[[], None]
) -> dict[str, float]:
    """The errors of the same arm on its first link, with its first and last joint locked."""
    first = {chain.joints[0].name: 0.3}
    lock = options.get("lock", {}) | first | {chain.joints[-1].name: 0.2}
    ends = {"base": chain.links[0].name, "tip": chain.links[-1].name}
    robot, message, _ = _load(file, options | ends | {"lock": lock}, step)
    if robot is None:
        return {message + MOVED: math.inf}
    step()
    errors = compare.compared(file, robot.chain, first)[1]
    return {f"{name}{MOVED}": error for name, error in errors.items()}


def _load(
    file: RobotFile, options: dict[str, Any], step: Callable[[], None]
) -> tuple[armdyn.Robot | None, str, float]:
    """The robot or the error's message, and the processor time [s]."""
    step()
    start = time.process_time()
    try:
        robot = armdyn.load(file.path, **options)
    except armdyn.ArmdynError as error:
        return None, str(error), time.process_time() - start
    except Exception as error:
        return None, f"foreign exception: {error!r}", time.process_time() - start
    return robot, "", time.process_time() - start


def _reason(message: str) -> str:
    if message.startswith("foreign exception"):
        return "foreign exception"
    told = message.partition(": ")[2]  # without the file's name
    return next((name for found, name in REASONS.items() if re.search(found, told)), "other")


def _advice(message: str, options: dict[str, Any]) -> tuple[str, Any]:
    """The option that a message advises, and its value."""
    for kind, form in ADVICE.items():
        found = re.search(form, message)
        if found and (kind == "lock" or kind not in options):
            try:
                return kind, ast.literal_eval(found[1])
            except (SyntaxError, ValueError):
                continue  # a form to fill in
    return "", None


def _dead_tips(
    file: RobotFile, options: dict[str, Any], message: str, step: Callable[[], None]
) -> list[str]:
    """A fault for each offered tip that fails."""
    offered = re.findall(r"'([^']*)'|\"([^\"]*)\"", message.partition("tips by tip=: ")[2])
    faults = []
    tips = ["".join(names) for names in offered]
    for tip in tips if file.kind == "urdf" else {*tips[:2], *tips[-1:]}:  # MJCF takes longer
        robot, end, _ = _load(file, options | {"tip": tip}, step)
        if robot is None and _reason(end) in ("no joint moves", *UNNAMED):
            faults.append(f"the offered tip={tip!r} ends in: {end}")
    return faults
