"""The catalogue: quantity -> method name -> function, paper, published count.

One file an algorithm, one function a quantity, one signature a quantity; each takes an ``Arm``
(a view of a chain on some scalar) and the state, and knows nothing of what the scalars are.
Adding a method is one file, one line here, one entry in ``docs/references.bib``: the tests, the
counts and the comparison find it by themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from armdyn.algorithms import newton_euler
from armdyn.errors import MethodError

STATE = {  # quantity -> the arguments after the arm, each a sequence of n scalars
    "mass_matrix": ("q",),
    "bias": ("q", "qd"),
    "gravity": ("q",),
    "christoffel": ("q",),
    "coriolis_matrix": ("q", "qd"),
    "inverse_dynamics": ("q", "qd", "qdd"),
    "forward_dynamics": ("q", "qd", "tau"),
}


@dataclass(frozen=True)
class Method:
    """One way to compute one quantity.

    Attributes:
        name: as users call it.
        function: takes an Arm and the state; returns nested lists of scalars.
        paper: key in ``docs/references.bib``; "armdyn" for our own.
        where: the equations or table of that paper.
        view: the parameters it sees, "natural" or "minimal".
        exact: False for an approximation, which is never chosen by itself.
        refuses: why it does not apply to an arm, given its ``revolute`` flags; None if it does.
    """

    name: str
    function: Callable[..., Any]
    paper: str
    where: str = ""
    view: Literal["natural", "minimal"] = "natural"
    exact: bool = True
    refuses: Callable[[tuple[bool, ...]], str | None] = lambda revolute: None


CATALOGUE: dict[str, tuple[Method, ...]] = {
    "mass_matrix": (
        Method("newton-euler", newton_euler.mass_matrix, "safeea2018", "note under Table I"),
    ),
    "bias": (Method("newton-euler", newton_euler.bias, "luh1980"),),
    "gravity": (Method("newton-euler", newton_euler.gravity, "luh1980"),),
    "christoffel": (),
    "coriolis_matrix": (
        Method("newton-euler", newton_euler.coriolis_matrix, "armdyn", "the polarised bias"),
    ),
    "inverse_dynamics": (Method("newton-euler", newton_euler.inverse_dynamics, "luh1980"),),
    "forward_dynamics": (),
}


def methods(quantity: str) -> tuple[Method, ...]:
    """All methods of a quantity, in the catalogue's order."""
    if quantity not in CATALOGUE:
        raise MethodError(f"no quantity {quantity!r}; known: {', '.join(CATALOGUE)}")
    return CATALOGUE[quantity]


def find(quantity: str, name: str) -> Method:
    """The method of that name."""
    for method in methods(quantity):
        if method.name == name:
            return method
    known = ", ".join(method.name for method in methods(quantity))
    raise MethodError(f"no method {name!r} for {quantity}; known: {known}")
