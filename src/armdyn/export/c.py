"""The C files of an arm, C99 that a controller can keep: a header, a source file, a self-test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from armdyn.chain import Chain
from armdyn.errors import as_names
from armdyn.export.asked import DEFAULT, Asked, Options, arm, functions, numbers
from armdyn.export.comments import about, about_arm, lines, opening, prefix
from armdyn.export.draws import draws
from armdyn.program.c import Function
from armdyn.program.c_selftest import selftest

if TYPE_CHECKING:
    from armdyn.robot import Robot


def c_files(
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
        axes: of jacobian and the like, "base" or "frame".
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
    chain, kind = arm(robot), numbers(dtype)
    start = prefix(chain, name)
    given = as_names("arguments", arguments)
    options = Options(frame, axes, friction, given, payload_frame, wrench_frame)
    asked = functions(chain, quantities, methods, options, derivatives, wrt)
    written = [Function(each.program, f"{start}_{each.name}", each.results, kind) for each in asked]
    include = f'#include "{start}_dynamics.h"\n'
    source = [f"{opening()}see {start}_dynamics.h. */\n{include}", "#include <math.h>"]
    source += [function.definition for function in written]
    test = f"{opening()}the self-test of {start}_dynamics.c. */\n{include}\n"
    return {
        f"{start}_dynamics.h": _header(chain, start, asked, written),
        f"{start}_dynamics.c": "\n\n".join(source) + "\n",
        f"{start}_selftest.c": test + selftest(written, draws(chain)),
    }


HEADER = """\
{opening}{arm}
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


def _header(chain: Chain, start: str, asked: Sequence[Asked], written: Sequence[Function]) -> str:
    declarations = [
        f"{lines(f'/* {about(each)} */')}\n{function.prototype}"
        for each, function in zip(asked, written, strict=True)
    ]
    return HEADER.format(
        opening=opening(),
        arm=about_arm(chain, asked),
        n=chain.n,
        prefix=start,
        guard=start.upper(),
        declarations="\n\n".join(declarations),
    )
