"""The command ``armdyn trace``."""

from __future__ import annotations

import argparse
import json
import os
from typing import Any

from rich.text import Text

from armdyn.cli.arguments import add_robot, load
from armdyn.cli.eval import add_state, argument, refuse_idle
from armdyn.counting.steps import Step, Steps, trace
from armdyn.output.report import console
from armdyn.program.program import Op
from armdyn.quantities import find
from armdyn.quantities.tasks import Task

HELP = "a program step by step: values, lines of the algorithm, what was saved"
MOST = 60  # steps that are shown unless all are asked for
SIGNS = {Op.ADD: "+", Op.SUB: "-", Op.MUL: "*", Op.DIV: "/"}


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_robot(command)
    add_state(command)
    add = command.add_argument
    add("--method", help="the formulation, in place of the cheapest")
    add("--frame", help="the link or frame, in place of the tip")
    add("--all", action="store_true", help=f"show all steps, not the first {MOST} only")
    add("--json", action="store_true", help="print JSON, with all steps")


def run(arguments: argparse.Namespace) -> None:
    """Trace a quantity, and show its program with values."""
    robot, asked = load(arguments), find(arguments.quantity)
    refuse_idle(arguments)
    state = {name: argument(robot, name, arguments).tolist() for name in asked.arguments}
    task = Task(arguments.quantity, arguments.method, arguments.frame)
    found = trace(robot.chain, task, state)
    if arguments.json:
        print(json.dumps(data(robot.name, state, found), indent=2))
        return
    screen = console()
    for line in lines(robot.name, found, None if arguments.all else MOST):
        screen.print(line)


def lines(robot: str, found: Steps, most: int | None) -> list[Text]:
    """What people read: under each line of the algorithm what it added to the program."""
    by = f" by {found.task.method}" if found.task.method else ""
    shown = [Text(f"{found.task.quantity} of {robot}{by}", style="bold")]
    source = None
    for step in found.steps[:most]:
        if step.source != source and step.source is not None:
            place = f"{os.path.basename(step.source.file)}:{step.source.line}"
            shown.append(Text(f"{place}  {step.text}", style="cyan"))
        source = step.source
        shown.append(Text(f"  {written(step)}"))
    shown += rest(len(found.steps), most, "steps")
    numbers = results(found)
    shown += [Text("Results", style="bold"), *map(Text, numbers[:most])]
    shown += rest(len(numbers), most, "results")
    return [*shown, Text(summary(found))]


def rest(count: int, most: int | None, what: str) -> list[Text]:
    """That there is more to see, where there is."""
    if most is None or count <= most:
        return []
    return [Text(f"... and {count - most} {what} more; --all shows them")]


def written(step: Step) -> str:
    """An instruction and its value."""
    op, args, value = step.instruction
    names = [f"%{k}" for k in args]
    if op is Op.INPUT:
        done = str(value)
    elif op is Op.CONSTANT:
        done = "constant"
    elif op in SIGNS:
        done = f" {SIGNS[op]} ".join(names)
    elif op is Op.PART:
        done = f"element {value} of {names[0]}"
    else:
        done = f"{op.value}({', '.join(names[:4])}{', ...' if len(names) > 4 else ''})"
    number = f"{len(step.value)} numbers" if isinstance(step.value, list) else f"{step.value:.6g}"
    return f"%{step.place} = {done} = {number}"


def results(found: Steps) -> list[str]:
    """Each number of each result, by the step that has it."""
    values = {step.place: step.value for step in found.steps}
    places = iter(found.program.outputs)
    shown = []
    for result, shape in zip(find(found.task.quantity).results, found.program.shapes, strict=True):
        for index in _indices(shape):
            k = next(places)
            name = result.name + "".join(f"[{i}]" for i in index)
            shown.append(f"  {name} = %{k} = {values[k]:.6g}")
    return shown


def _indices(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    if not shape:
        return [()]
    return [(i, *rest) for i in range(shape[0]) for rest in _indices(shape[1:])]


def summary(found: Steps) -> str:
    """What folding and sharing saved."""
    saved = found.saved
    return (
        f"Operations asked for: {saved.generic} on a generic arm with such joints, {saved.asked} "
        "on this one, for what meets its zeros, ones and constants folds. Recorded: "
        f"{saved.recorded}, equal terms once. In the program: {saved.program}, what no result "
        "needs left out."
    )


def data(robot: str, state: dict[str, list[float]], found: Steps) -> dict[str, Any]:
    """All of it as programs read it."""
    return {
        "robot": robot,
        "quantity": found.task.quantity,
        "method": found.task.method,
        "arguments": state,
        "steps": [
            {
                "place": step.place,
                "operation": step.instruction.op.value,
                "operands": list(step.instruction.args),
                "value": step.value,
                "file": step.source and os.path.basename(step.source.file),
                "line": step.source and step.source.line,
                "text": step.text,
            }
            for step in found.steps
        ],
        "outputs": list(found.program.outputs),
        "operations": vars(found.saved),
    }
