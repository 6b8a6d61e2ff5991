"""The JavaScript files of an arm: a module for browsers and Node.js, and its self-test."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from armdyn.chain import Chain
from armdyn.errors import ExportError, as_names, shorten
from armdyn.export.asked import DEFAULT, Asked, Options, arm, functions, numbers
from armdyn.export.comments import about, about_arm, lines, opening, prefix
from armdyn.export.draws import draws
from armdyn.program.javascript import Function, string
from armdyn.program.javascript_selftest import selftest

if TYPE_CHECKING:
    from armdyn.robot import Robot


def js_files(
    robot: Robot | Chain,
    quantities: str | Iterable[str] = DEFAULT,
    *,
    dtype: str = "double",
    methods: Mapping[str, str] | None = None,
    name: str | None = None,
    frame: str | None = None,
    axes: str = "base",
    friction: bool = False,
    arguments: str | Iterable[str] = (),
    payload_frame: str | None = None,
    wrench_frame: str | None = None,
    derivatives: str | Iterable[str] = (),
    wrt: str | Sequence[str] | None = None,
) -> dict[str, str]:
    """The JavaScript files of an arm, by name: an ES module, and its self-test.

    The module exports a function a quantity, under the quantity's name, and ``joints``, the name
    and kind of each. A function takes arrays, then, if you like, those that its results go to, and
    returns its result, or an array of several. The arguments are those of ``c_files``, except that

    - ``name`` is what files begin with, and functions do not;
    - ``dtype`` is double, which all numbers of JavaScript are.

    Raises:
        MethodError: for a quantity, derivative, argument or method that does not exist or does not
            apply.
        ExportError: for numbers that are not double.
    """
    chain, kind = arm(robot), numbers(dtype)
    if kind != "double":
        raise ExportError(f"JavaScript has no {shorten(dtype)}: its numbers are double")
    start = prefix(chain, name)
    given = as_names("arguments", arguments)
    options = Options(frame, axes, friction, given, payload_frame, wrench_frame)
    asked = functions(chain, quantities, methods, options, derivatives, wrt)
    written = [Function(each.program, each.name, each.results) for each in asked]
    module = f"{start}_dynamics.mjs"
    test = f"{opening()}the self-test of {module}: node {start}_selftest.mjs */\n"
    return {
        module: _module(chain, start, asked, written),
        f"{start}_selftest.mjs": test + selftest(f"./{module}", written, draws(chain)),
    }


MODULE = """\
{opening}{arm}
 * A result goes to the array that is given for it; without one, a Float64Array is made. The
 * functions need nothing but Math and keep nothing between calls. Test them where they run with
 *
 *     node {prefix}_selftest.mjs
 *
 * They are plain products and sums of doubles: results are those of armdyn's interpreter bit for
 * bit where Math.sin and Math.cos are.
 */

export const joints = [
{joints}
];

{functions}
"""


def _module(chain: Chain, start: str, asked: Sequence[Asked], written: Sequence[Function]) -> str:
    kinds = {"R": "revolute", "P": "prismatic"}
    joints = [
        f'  {{ name: {string(joint.name)}, kind: "{kinds[joint.kind]}" }},'
        for joint in chain.joints
    ]
    definitions = [
        f"{_comment(each)}\nexport {function.definition}"
        for each, function in zip(asked, written, strict=True)
    ]
    return MODULE.format(
        opening=opening(),
        arm=about_arm(chain, asked),
        prefix=start,
        joints="\n".join(joints),
        functions="\n\n".join(definitions),
    )


def _comment(each: Asked) -> str:
    """The comment on a function, with the types and sizes that editors show."""
    sizes = zip(each.results, map(math.prod, each.program.shapes), strict=True)
    several = len(each.results) > 1
    said = [
        lines(f"/** {about(each)}"),
        *(
            f" * @param {{ArrayLike<number>}} {name} {_count(size)}"
            for name, size in each.program.inputs.items()
        ),
        *(f" * @param {{Float64Array}} [{name}] {_count(size)}" for name, size in sizes),
        f" * @returns {{Float64Array{'[]' * several}}} {', '.join(each.results)}",
        " */",
    ]
    return "\n".join(said)


def _count(size: int) -> str:
    return "1 number" if size == 1 else f"{size} numbers"
