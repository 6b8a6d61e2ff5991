"""The catalogue: quantity -> method name -> function, paper, count on generic arms.

One file an algorithm, one function a quantity, one signature a quantity; each takes an ``Arm``
(a view of a chain on some scalar) and the state, and knows nothing of what the scalars are.
Adding a method is one file, one line here, one entry in ``docs/references.bib``: the tests, the
counts and the comparison find it by themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

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

if TYPE_CHECKING:
    from armdyn.chain.arm import Arm

FAR = 100.0  # times the largest m |c|^2 that a body can have: it costs as much accuracy

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
        generic: its literal count on generic arms of n revolute joints, mul + add + double, a
            polynomial in n; what is far from the best there is not tried on a given arm.
        refuses: why it does not apply to an arm, given its natural view; None if it does.
    """

    name: str
    function: Callable[..., Any]
    paper: str
    where: str = ""
    view: Literal["natural", "minimal"] = "natural"
    exact: bool = True
    generic: str = ""
    refuses: Callable[[Arm], str | None] = lambda arm: None

    def operations(self, n: int) -> float:
        """How many operations it takes on a generic arm of n revolute joints; 0 if unknown."""
        from armdyn.counting.polynomial import Polynomial

        return float(Polynomial.parse(self.generic)(n)) if self.generic else 0.0


def without_centres(arm: Arm) -> str | None:
    """Why a method about centres of mass does not apply: a link, read with "warn", has none.

    Or one so far away that no body of its inertia has it, and what is computed there cancels: of
    any body m |c|^2 is at most half the trace of its tensor.
    """
    links = zip(arm.mass, arm.first_moment, arm.inertia, strict=True)
    for i, (m, h, J) in enumerate(links, start=1):
        if m < 0 or h @ h > FAR * m * max(0.0, J.xx + J.yy + J.zz):
            moment = ", ".join(f"{x:g}" for x in h)
            return f"link {i} has no centre of mass (mass {m:g} kg, first moment ({moment}) kg m)"
    return None


CATALOGUE: dict[str, tuple[Method, ...]] = {
    "mass_matrix": (
        Method(
            "lin1991",
            lin1991.mass_matrix,
            "lin1991",
            "Fig. 3 unboxed, Table I",
            generic="16.5n^2+77.5n-155",
            refuses=without_centres,
        ),
        Method(
            "walker-orin",
            walker_orin.mass_matrix,
            "lin1991",
            "Table I",
            generic="18n^2+92n-110",
            refuses=without_centres,
        ),
        Method(
            "renaud", renaud.mass_matrix, "lin1991", "Fig. A1, Table I", generic="22.5n^2+48.5n-132"
        ),
        Method(
            "fijany-bejczy",
            fijany_bejczy.mass_matrix,
            "lin1991",
            "(A10) to (A15), Table I",
            generic="8.5n^2+157.5n-309",
        ),
        Method("lin-fang-1", lin_fang.formulation_1, "lin1999", "Table I", generic="16n^2+47n-61"),
        Method(
            "lin-fang-2", lin_fang.formulation_2, "lin1999", "Table II", generic="19.5n^2+31.5n-51"
        ),
        Method(
            "lin-fang-3", lin_fang.formulation_3, "lin1999", "Table III", generic="20.5n^2+28.5n-49"
        ),
        Method(
            "lin-fang-4", lin_fang.formulation_4, "lin1999", "Table IV", generic="8.5n^2+131.5n-215"
        ),
        Method("lin-fang-5", lin_fang.formulation_5, "lin1999", "Table V", generic="16n^2+51n-57"),
        Method(
            "lin-fang-1-minimal",
            lin_fang_minimal.formulation_1,
            "lin1999",
            "Tables I, VII, (29) to (31)",
            "minimal",
            generic="16n^2+37n-84",
        ),
        Method(
            "lin-fang-2-minimal",
            lin_fang_minimal.formulation_2,
            "lin1999",
            "Tables II, VII, (32)",
            "minimal",
            generic="19.5n^2+21.5n-74",
        ),
        Method(
            "kic",
            kic.mass_matrix,
            "kang",
            "eq. 9",
            generic="13/6n^3+19.5n^2+397/3n-12",
            refuses=without_centres,
        ),
        Method(
            "kic-augmented",
            kic_augmented.mass_matrix,
            "kang",
            "eqs. 23, 24, steps 1 to 4",
            generic="11.5n^2+152.5n-220",
            refuses=without_centres,
        ),
        Method(
            "gdahj",
            gdahj.mass_matrix,
            "safeea2018",
            "Algorithm 1, Table I",
            generic="5.5n^2+231.5n-33",
            refuses=without_centres,
        ),
        Method(
            "gdahj-one-sum",
            gdahj.mass_matrix_in_one_sum,
            "safeea2018",
            "Algorithm 1",
            generic="5.5n^2+225.5n-57",
            refuses=without_centres,
        ),
        Method("crba", crba.mass_matrix, "safeea2018", "Table I", generic="16n^2+57n-73"),
        Method(
            "crba-minimal",
            crba.mass_matrix,
            "armdyn",
            "crba on the minimal parameters",
            "minimal",
            generic="16n^2+52n-84",
        ),
        Method(
            "lagrange",
            lagrange.mass_matrix,
            "zomaya1988",
            "eqs. 3, 6 to 9",
            generic="3n^3+53.5n^2-84.5n+38",
        ),
        Method(
            "newton-euler",
            newton_euler.mass_matrix,
            "safeea2018",
            "note under Table I",
            generic="78n^2-104n+25",
        ),
        Method("hybrid", hybrid.mass_matrix, "armdyn", generic="5.5n^2+171.5n-85"),
        Method(
            "hybrid-minimal",
            hybrid.mass_matrix,
            "armdyn",
            view="minimal",
            generic="5.5n^2+166.5n-96",
        ),
        Method(
            "momentum",
            momentum.mass_matrix,
            "armdyn",
            generic="5.5n^2+185.5n-252",
            refuses=without_centres,
        ),
    ),
    "bias": (
        Method(
            "lin1991",
            lin1991.bias,
            "lin1991",
            "Fig. 3, Table II",
            generic="33.5n^2+79.5n-176",
            refuses=without_centres,
        ),
        Method("newton-euler", newton_euler.bias, "luh1980", generic="179n-184"),
        Method(
            "newton-euler-minimal",
            newton_euler.bias,
            "lin1995",
            "as lin1999 quotes it",
            "minimal",
            generic="161n-184",
        ),
        Method(
            "lagrange",
            lagrange.bias,
            "zomaya1988",
            "eqs. 2, 5, and 16 in order",
            generic="2.25n^4+25/3n^3+64.25n^2-521/6n+37",
        ),
        Method(
            "kic",
            kic.bias,
            "kang",
            "eqs. 8, 10",
            generic="4n^4+14n^3+29.5n^2+181.5n-9",
            refuses=without_centres,
        ),
        Method(
            "kic-augmented",
            kic_augmented.bias,
            "kang",
            "eqs. 8, 25 to 27, steps 1 to 7",
            generic="23/3n^3+17n^2+361/3n-186",
            refuses=without_centres,
        ),
        Method(
            "zomaya-morris",
            zomaya_morris.bias,
            "zomaya1988",
            "eqs. 13 to 17",
            exact=False,
            generic="4.5n^4+26/3n^3+49n^2-445/6n+37",
        ),
    ),
    "mass_matrix+bias": (
        Method(
            "lin1991",
            lin1991.mass_matrix_and_bias,
            "lin1991",
            "Fig. 3, Table II",
            generic="38n^2+80n-157",
            refuses=without_centres,
        ),
    ),
    "gravity": (
        Method(
            "lin1991",
            lin1991.gravity,
            "lin1991",
            "(67)",
            generic="55n-53",
            refuses=without_centres,
        ),
        Method("newton-euler", newton_euler.gravity, "luh1980", generic="66n-39"),
        Method(
            "newton-euler-minimal",
            newton_euler.gravity,
            "lin1995",
            "as lin1999 quotes it",
            "minimal",
            generic="32n-14",
        ),
    ),
    "christoffel": (
        Method(
            "lin1991",
            lin1991.christoffel,
            "lin1991",
            "(45) to (47), (66)",
            generic="5/3n^3+19n^2+208/3n-175",
            refuses=without_centres,
        ),
        Method(
            "kic",
            kic.christoffel,
            "kang",
            "eq. 10, symmetrised",
            generic="4n^4+13n^3+24n^2+131n-12",
            refuses=without_centres,
        ),
        Method(
            "kic-augmented",
            kic_augmented.christoffel,
            "kang",
            "steps 1 to 7, symmetrised",
            generic="20/3n^3+15.5n^2+701/6n-195",
            refuses=without_centres,
        ),
        Method(
            "lagrange",
            lagrange.christoffel,
            "zomaya1988",
            "eq. 16 in order",
            generic="2.25n^4+22/3n^3+52.75n^2-271/3n+37",
        ),
        Method(
            "momentum",
            momentum.christoffel,
            "armdyn",
            generic="5/3n^3+10n^2+499/3n-242",
            refuses=without_centres,
        ),
    ),
    "coriolis_matrix": (
        Method(
            "newton-euler",
            newton_euler.coriolis_matrix,
            "armdyn",
            "the polarised bias",
            generic="360n^2-438n",
        ),
    ),
    "inverse_dynamics": (
        Method("newton-euler", newton_euler.inverse_dynamics, "luh1980", generic="180n-157"),
        Method(
            "newton-euler-minimal",
            newton_euler.inverse_dynamics,
            "lin1995",
            "as lin1999 quotes it",
            "minimal",
            generic="162n-161",
        ),
    ),
    "forward_dynamics": (
        Method(
            "ldl", forward_dynamics.ldl, "lin1991", "conclusion", generic="1/3n^3+19n^2+767/3n-339"
        ),
        Method(
            "articulated-body",
            articulated_body.forward_dynamics,
            "featherstone1983",
            generic="429n-483",
        ),
    ),
}
_SUMMED = {  # generic counts of the Coriolis matrix summed from Christoffel symbols
    "lin1991": "11/3n^3+16n^2+208/3n-174",
    "kic": "4n^4+15n^3+23n^2+131n-12",
    "kic-augmented": "26/3n^3+14.5n^2+689/6n-195",
    "lagrange": "2.25n^4+28/3n^3+49.75n^2-271/3n+38",
    "momentum": "11/3n^3+7n^2+499/3n-241",
}
CATALOGUE["coriolis_matrix"] += tuple(
    replace(
        method,
        function=from_christoffel(method.function),
        generic=_SUMMED.get(method.name, ""),
    )
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
