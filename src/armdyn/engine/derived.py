"""Derivatives of a quantity: which arguments their functions take, and what they give.

The four kinds differ in what is multiplied with the derivative: nothing (``derivative``), a
direction of the arguments (``jvp``), weights of the results (``vjp``), or both, one order higher
(``hvp``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from armdyn.chain import Chain
from armdyn.engine import Kernels, calls, taken
from armdyn.errors import MethodError, as_names, unknown
from armdyn.program.adjoints import vjp
from armdyn.program.jacobians import jacobian
from armdyn.program.program import Program
from armdyn.program.tangents import jvp
from armdyn.quantities import Result, find
from armdyn.quantities.tasks import Task, arguments, program

Shape = tuple[int, ...]


class Derived(NamedTuple):
    """A derivative to compute: its kind, of which task, with respect to which arguments."""

    kind: str
    task: Task
    wrt: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of its function: inverse_dynamics_vjp."""
        return f"{self.task.quantity}_{self.kind}"

    @property
    def sentence(self) -> str:
        """What it is, for comments in exported source."""
        task, wrt = self.task.quantity, ", ".join(self.wrt)
        sums = " + ".join(f"{name} . {result.name}" for result, name in self._weights)
        return {
            "derivative": f"The derivatives of {task}, whose last index is that of the argument.",
            "jvp": f"The derivative of {task} along a direction of {wrt}.",
            "vjp": f"The gradient of {sums} of {task} with respect to {wrt}.",
            "hvp": f"The Hessian of {sums} of {task} times a direction of {wrt}.",
        }[self.kind]

    def arguments(self, chain: Chain) -> dict[str, calls.Argument]:
        """What its function takes, on that arm."""
        plain = taken(chain.n, [self.task])
        found = dict(plain)
        if KINDS[self.kind].weighted:
            for result, name in self._weights:
                found[name] = calls.Argument(
                    result.shape(chain), f"a weight for each of {result.name}"
                )
        if KINDS[self.kind].directed:
            for name in self.wrt:
                found[f"{name}_tangent"] = calls.Argument(plain[name].shape, f"as {name} has")
        return found

    def results(self, chain: Chain) -> dict[str, Shape]:
        """The names and shapes of what its function gives."""
        given = taken(chain.n, [self.task])
        if self.kind == "jvp":
            return {f"{result.name}_tangent": result.shape(chain) for result in self._results}
        if self.kind == "derivative":
            return {
                f"d{result.name}_d{name}": (*result.shape(chain), *given[name].shape)
                for result in self._results
                for name in self.wrt
            }
        ending = "cotangent" if self.kind == "vjp" else "hvp"
        return {f"{name}_{ending}": given[name].shape for name in self.wrt}

    def program(self, chain: Chain) -> Program:
        """Its program, of a settled task."""
        cotangents = [name for _, name in self._weights]
        made = KINDS[self.kind].derive(program(chain, [self.task]), self.wrt, cotangents)
        sizes = {name: math.prod(each.shape) for name, each in self.arguments(chain).items()}
        if made.inputs != sizes:
            raise AssertionError(f"{self.name} takes {made.inputs}, not {sizes}")
        return made

    @property
    def _results(self) -> tuple[Result, ...]:
        return find(self.task.quantity).results

    @property
    def _weights(self) -> list[tuple[Result, str]]:
        """The task's results, and what the weights of each are called."""
        return [(result, f"{result.name}_cotangent") for result in self._results]


class Kind(NamedTuple):
    """A kind of derivative: how its program is made, and what that takes besides."""

    derive: Callable[[Program, Sequence[str], Sequence[str]], Program]
    directed: bool  # a tangent for each argument that moves
    weighted: bool  # a cotangent for each result


KINDS = {
    "derivative": Kind(lambda made, wrt, names: jacobian(made, wrt), False, False),
    "jvp": Kind(lambda made, wrt, names: jvp(made, wrt), True, False),
    "vjp": Kind(lambda made, wrt, names: vjp(made, wrt, names), False, True),
    "hvp": Kind(lambda made, wrt, names: jvp(vjp(made, wrt, names), wrt), True, True),
}


def with_respect_to(task: Task, wrt: str | Sequence[str] | None) -> tuple[str, ...]:
    """The arguments of a task that are named, in the order given; all if none is."""
    quantity, known = task.quantity, arguments([task])
    names = known if wrt is None else tuple(as_names("wrt", wrt))
    for name in names:
        if name not in known:
            hint = f"; arguments={name!r} makes it one" if name in find(quantity).at_call else ""
            raise MethodError(unknown(f"argument of {quantity}", name, known) + hint)
    if not names or len(set(names)) < len(names):
        raise MethodError(f"wrt is {list(names)}; expected arguments of {quantity}, each once")
    return names


class _Kernels(Kernels):
    """The kernels of a derivative; the choice is the method of its task."""

    def __init__(self, chain: Chain, derived: Derived) -> None:
        self._derived = derived
        super().__init__(chain, derived)

    def trace(self) -> Program:
        """The derivative's program, by the method that suits the chain best."""
        task = self._derived.task.settled(self.chain)
        self.choices = [task.method]
        return self._derived._replace(task=task).program(self.chain)


def function(chain: Chain, derived: Derived) -> Callable[..., Any]:
    """A compiled function of arrays for a derivative; compiles at its first call."""
    return calls.Function(
        derived.name,
        derived.arguments(chain),
        tuple(derived.results(chain).values()),
        _Kernels(chain, derived),
    )
