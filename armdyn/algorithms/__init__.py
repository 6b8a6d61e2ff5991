"""The catalogue: quantity -> method name -> function, paper, published count.

One file an algorithm, one function a quantity, one signature a quantity; each takes an ``Arm``
(a view of a chain on some scalar) and the state, and knows nothing of what the scalars are.
Adding a method is one file, one line here, one entry in ``docs/references.bib``: the tests, the
counts and the comparison find it by themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from armdyn.algorithms import (
    articulated_body,
    crba,
    fijany_bejczy,
    forward_dynamics,
    gdahj,
    hybrid,
    kic,
    kic_augmented,
    lagrange,
    lin1991,
    lin_fang,
    lin_fang_minimal,
    momentum,
    newton_euler,
    renaud,
    walker_orin,
    zomaya_morris,
)
from armdyn.algorithms.coriolis import from_christoffel
from armdyn.errors import MethodError

STATE = {  # quantity -> the arguments after the arm, each a sequence of n scalars
    "mass_matrix": ("q",),
    "bias": ("q", "qd"),
    "mass_matrix+bias": ("q", "qd"),  # a pair, for the papers that count both together
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
        Method("lin1991", lin1991.mass_matrix, "lin1991", "Fig. 3 unboxed, Table I"),
        Method("walker-orin", walker_orin.mass_matrix, "lin1991", "Table I"),
        Method("renaud", renaud.mass_matrix, "lin1991", "Fig. A1, Table I"),
        Method("fijany-bejczy", fijany_bejczy.mass_matrix, "lin1991", "(A10) to (A15), Table I"),
        Method("lin-fang-1", lin_fang.formulation_1, "lin1999", "Table I"),
        Method("lin-fang-2", lin_fang.formulation_2, "lin1999", "Table II"),
        Method("lin-fang-3", lin_fang.formulation_3, "lin1999", "Table III"),
        Method("lin-fang-4", lin_fang.formulation_4, "lin1999", "Table IV"),
        Method("lin-fang-5", lin_fang.formulation_5, "lin1999", "Table V"),
        Method(
            "lin-fang-1-minimal",
            lin_fang_minimal.formulation_1,
            "lin1999",
            "Tables I, VII, (29) to (31)",
            "minimal",
        ),
        Method(
            "lin-fang-2-minimal",
            lin_fang_minimal.formulation_2,
            "lin1999",
            "Tables II, VII, (32)",
            "minimal",
        ),
        Method("kic", kic.mass_matrix, "kang", "eq. 9"),
        Method("kic-augmented", kic_augmented.mass_matrix, "kang", "eqs. 23, 24, steps 1 to 4"),
        Method("gdahj", gdahj.mass_matrix, "safeea2018", "Algorithm 1, Table I"),
        Method("gdahj-one-sum", gdahj.mass_matrix_in_one_sum, "safeea2018", "Algorithm 1"),
        Method("crba", crba.mass_matrix, "safeea2018", "Table I"),
        Method("lagrange", lagrange.mass_matrix, "zomaya1988", "eqs. 3, 6 to 9"),
        Method("newton-euler", newton_euler.mass_matrix, "safeea2018", "note under Table I"),
        Method("hybrid", hybrid.mass_matrix, "armdyn"),
        Method("hybrid-minimal", hybrid.mass_matrix, "armdyn", view="minimal"),
        Method("momentum", momentum.mass_matrix, "armdyn"),
    ),
    "bias": (
        Method("lin1991", lin1991.bias, "lin1991", "Fig. 3, Table II"),
        Method("newton-euler", newton_euler.bias, "luh1980"),
        Method("newton-euler-minimal", newton_euler.bias, "lin1999", "Theorem 1", "minimal"),
        Method("lagrange", lagrange.bias, "zomaya1988", "eqs. 2, 5, and 16 in order"),
        Method("kic", kic.bias, "kang", "eqs. 8, 10"),
        Method("kic-augmented", kic_augmented.bias, "kang", "eqs. 8, 25 to 27, steps 1 to 7"),
        Method("zomaya-morris", zomaya_morris.bias, "zomaya1988", "eqs. 13 to 17", exact=False),
    ),
    "mass_matrix+bias": (
        Method("lin1991", lin1991.mass_matrix_and_bias, "lin1991", "Fig. 3, Table II"),
    ),
    "gravity": (
        Method("lin1991", lin1991.gravity, "lin1991", "(67)"),
        Method("newton-euler", newton_euler.gravity, "luh1980"),
        Method("newton-euler-minimal", newton_euler.gravity, "lin1999", "Theorem 1", "minimal"),
    ),
    "christoffel": (
        Method("lin1991", lin1991.christoffel, "lin1991", "(45) to (47), (66)"),
        Method("kic", kic.christoffel, "kang", "eq. 10, symmetrised"),
        Method("kic-augmented", kic_augmented.christoffel, "kang", "steps 1 to 7, symmetrised"),
        Method("lagrange", lagrange.christoffel, "zomaya1988", "eq. 16 in order"),
        Method("momentum", momentum.christoffel, "armdyn"),
    ),
    "coriolis_matrix": (
        Method("newton-euler", newton_euler.coriolis_matrix, "armdyn", "the polarised bias"),
    ),
    "inverse_dynamics": (
        Method("newton-euler", newton_euler.inverse_dynamics, "luh1980"),
        Method(
            "newton-euler-minimal", newton_euler.inverse_dynamics, "lin1999", "Theorem 1", "minimal"
        ),
    ),
    "forward_dynamics": (
        Method("ldl", forward_dynamics.ldl, "lin1991", "conclusion"),
        Method("articulated-body", articulated_body.forward_dynamics, "featherstone1983"),
    ),
}
CATALOGUE["coriolis_matrix"] += tuple(
    replace(method, function=from_christoffel(method.function))
    for method in CATALOGUE["christoffel"]
)


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
