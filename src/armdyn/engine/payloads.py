"""Payloads that no body has, found at each call by a compiled check, which costs next to nothing.

A body's pseudo-inertia, the matrix [[E, h], [h^T, m]] with E = integral of r r^T dm, has no
negative eigenvalue: no mass is negative, no moment of inertia is, and the largest principal moment
is at most the sum of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from armdyn.chain import Chain, given
from armdyn.chain.inertia import SLACK, Inertia
from armdyn.engine import Kernels, calls
from armdyn.errors import ModelError, warn
from armdyn.program.passes import drop_unused
from armdyn.program.program import Program
from armdyn.program.tape import record
from armdyn.spatial import Row, Scalar

Check = Literal["error", "warn"] | None

SLACK_OF_FLOAT32 = 1e-6  # relative, as SLACK is of doubles
NOTHING = 1e-100  # added to each eigenvalue, so that no payload is one


def margins(ten: Sequence[Scalar], slack: float) -> Row:
    """Four numbers, all of them zero or more if a body may have these ten parameters.

    The pivots of m (E + slack) - h h^T, which is positive definite if the pseudo-inertia is, and
    the mass, less what is nothing beside the inertia.
    """
    m, x, y, z, Jxx, Jxy, Jyy, Jxz, Jyz, Jzz = ten
    trace = Jxx + Jyy + Jzz
    half, more = trace / 2, slack * trace + NOTHING
    m_ = m + NOTHING
    xx, yy, zz = (m_ * (half - J + more) - v * v for J, v in ((Jxx, x), (Jyy, y), (Jzz, z)))
    xy, xz, yz = -(m_ * Jxy + x * y), -(m_ * Jxz + x * z), -(m_ * Jyz + y * z)
    first = xx
    second = yy - xy * xy / first
    yz = yz - xy * xz / first
    third = zz - xz * xz / first - yz * yz / second
    return [first, second, third, m - NOTHING * trace]


class Payloads:
    """The check of an arm's payloads; compiled when the first one comes."""

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._margins: dict[float, Callable[..., Any]] = {}

    def check(self, payload: ArrayLike | None, check: Check) -> None:
        """Refuse a payload that no body has, or with "warn" log it; None looks at nothing.

        A payload of None is one whose numbers are not known yet, and passes.

        Raises:
            ModelError: it names the first such payload of a batch. A wrong shape is left to the
                function that is called.
        """
        if check is None:
            return
        given.choice("check", check, ("error", "warn"))
        if payload is None:
            return
        found = calls.real_array("payload", payload)
        if found.shape[-1:] != (10,):
            return
        narrow = found.dtype.kind == "f" and found.dtype.itemsize < 8
        slack = SLACK_OF_FLOAT32 if narrow else SLACK
        if slack not in self._margins:
            self._margins[slack] = compiled(self._chain, slack)
        ten = found.astype(float, copy=False)
        least = self._margins[slack](ten)
        if least.min(initial=0) >= 0:  # nan is not
            return
        possible = least >= 0
        for where in np.argwhere(~possible.all(axis=-1)).tolist():
            for finding in Inertia.from_parameters(ten[tuple(where)]).findings(slack):
                place = f"[{', '.join(map(str, where))}]" if where else ""
                if check == "error":
                    raise ModelError(f"payload{place}: {finding}")
                warn("payload%s: %s", place, finding)
                return


def compiled(chain: Chain, slack: float) -> Callable[..., Any]:
    """``margins`` as a function of arrays."""
    return calls.Function(
        "payload", {"payload": calls.Argument((10,))}, ((4,),), Margins(chain, slack)
    )


class Margins(Kernels):
    """The kernels of ``margins``."""

    def __init__(self, chain: Chain, slack: float) -> None:
        super().__init__(chain, ("margins of a payload", slack))
        self._slack = slack

    def trace(self) -> Program:
        """The program, the same for every arm."""
        function = lambda ten: margins(ten, self._slack)  # noqa: E731
        return drop_unused(record(function, {"payload": 10}, "margins"))
