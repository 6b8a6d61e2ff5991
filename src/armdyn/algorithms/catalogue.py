"""The catalogue: quantity -> method name -> function, paper, equations.

One file an algorithm, one function a quantity, one signature a quantity; each takes an ``Arm``
(a view of a chain on some scalar) and the state, and knows nothing of what the scalars are.
Adding a method is one file, one line here, one entry in ``docs/references.bib``: the tests, the
counts and the comparison find it by themselves. What a method costs on generic arms is counted, by
``docs/make_costs.py``, and kept in ``costs.py``. Which method suits an arm is decided elsewhere,
by ``quantities.choice``.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from armdyn.algorithms.coriolis import from_christoffel, slopes_from_christoffel
from armdyn.algorithms.costs import COSTS
from armdyn.algorithms.late import Late
from armdyn.algorithms.method import Method, without_centres
from armdyn.errors import MethodError, shorten, unknown

# The modules whose functions stand in the rows below.
articulated_body = Late("articulated_body")
crba = Late("crba")
echeandia_wensing = Late("echeandia_wensing")
fijany_bejczy = Late("fijany_bejczy")
forward_derivatives = Late("forward_derivatives")
forward_dynamics = Late("forward_dynamics")
forward_mode = Late("forward_mode")
frame_injection = Late("frame_injection")
gdahj = Late("gdahj")
hybrid = Late("hybrid")
kic = Late("kic")
kic_augmented = Late("kic_augmented")
lagrange = Late("lagrange")
lin1991 = Late("lin1991")
lilly_orin = Late("lilly_orin")
lin_fang = Late("lin_fang")
lin_fang_minimal = Late("lin_fang_minimal")
momentum = Late("momentum")
newton_euler = Late("newton_euler")
newton_euler_angles = Late("newton_euler_angles")
newton_euler_flat = Late("newton_euler_flat")
newton_euler_sums = Late("newton_euler_sums")
renaud = Late("renaud")
reverse_mode = Late("reverse_mode")
second_derivatives = Late("second_derivatives")
shoulder = Late("shoulder")
singh = Late("singh")
singh_base = Late("singh_base")
walker_orin = Late("walker_orin")
zomaya_morris = Late("zomaya_morris")

SUMS = "angles of parallel joints summed"
ANGLES = "by sines of summed angles"
FLAT = "bodies flat across their axes"
BASE = "in base axes"
DUAL = "on dual numbers"

# What users may know a method as: the field's names, and those of the text of [lin1999].
ALIASES = {
    "rnea": "newton-euler",
    "aba": "articulated-body",
    **{f"formulation-{k}": f"lin-fang-{k}" for k in range(1, 6)},
    "kawasaki": "lin-fang-5",
}

Asked = str | tuple[str, ...]  # a quantity, or several that are computed together


CATALOGUE: dict[str, tuple[Method, ...]] = {
    "mass_matrix": (
        Method(
            "lin1991",
            lin1991.mass_matrix,
            "lin1991",
            "Fig. 3 unboxed, Table I",
            refuses=without_centres,
        ),
        Method(
            "walker-orin", walker_orin.mass_matrix, "lin1991", "Table I", refuses=without_centres
        ),
        Method("renaud", renaud.mass_matrix, "lin1991", "Fig. A1, Table I"),
        Method("fijany-bejczy", fijany_bejczy.mass_matrix, "lin1991", "(A10) to (A15), k = n"),
        Method(
            "fijany-bejczy-2",
            fijany_bejczy.mass_matrix_in_second,
            "lin1991",
            "(A10) to (A15), k = 2, Table I",
            tried=False,
        ),
        Method("lin-fang-1", lin_fang.formulation_1, "lin1999", "Table I"),
        Method("lin-fang-2", lin_fang.formulation_2, "lin1999", "Table II"),
        Method("lin-fang-3", lin_fang.formulation_3, "lin1999", "Table III"),
        Method("lin-fang-4", lin_fang.formulation_4, "lin1999", "Table IV"),
        Method("lin-fang-5", lin_fang.formulation_5, "lin1999", "Table V"),
        Method("lilly-orin", lilly_orin.mass_matrix, "lin1999", "(12) to (17)"),
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
        Method("kic", kic.mass_matrix, "kang", "eq. 9", refuses=without_centres),
        Method(
            "kic-augmented",
            kic_augmented.mass_matrix,
            "kang",
            "eqs. 23, 24, steps 1 to 4",
            refuses=without_centres,
        ),
        Method(
            "gdahj",
            gdahj.mass_matrix,
            "safeea2018",
            "Algorithm 1, Table I",
            refuses=without_centres,
        ),
        Method(
            "gdahj-one-sum",
            gdahj.mass_matrix_in_one_sum,
            "safeea2018",
            "Algorithm 1",
            refuses=without_centres,
        ),
        Method("crba", crba.mass_matrix, "safeea2018", "Table I"),
        Method(
            "crba-minimal", crba.mass_matrix, "armdyn", "crba on the minimal parameters", "mixed"
        ),
        Method("lagrange", lagrange.mass_matrix, "zomaya1988", "eqs. 3, 6 to 9"),
        Method("newton-euler", newton_euler.mass_matrix, "safeea2018", "note under Table I"),
        Method("hybrid", hybrid.mass_matrix, "armdyn"),
        Method("hybrid-minimal", hybrid.mass_matrix, "armdyn", view="mixed"),
        Method("momentum", momentum.mass_matrix, "armdyn", refuses=without_centres),
    ),
    "bias": (
        Method("lin1991", lin1991.bias, "lin1991", "Fig. 3, Table II", refuses=without_centres),
        Method("newton-euler", newton_euler.bias, "luh1980"),
        Method(
            "newton-euler-minimal", newton_euler.bias, "lin1995", "as lin1999 quotes it", "mixed"
        ),
        Method("newton-euler-sums", newton_euler_sums.bias, "armdyn", SUMS, "mixed"),
        Method(
            "newton-euler-angles", newton_euler_angles.bias, "armdyn", ANGLES, "mixed", tried=False
        ),
        Method("newton-euler-flat", newton_euler_flat.bias, "armdyn", FLAT, "flat"),
        Method("lagrange", lagrange.bias, "zomaya1988", "eqs. 2, 5, and 16 in order"),
        Method("kic", kic.bias, "kang", "eqs. 8, 10", refuses=without_centres),
        Method(
            "kic-augmented",
            kic_augmented.bias,
            "kang",
            "eqs. 8, 25 to 27, steps 1 to 7",
            refuses=without_centres,
        ),
        Method("zomaya-morris", zomaya_morris.bias, "zomaya1988", "eqs. 13 to 17", exact=False),
    ),
    "gravity": (
        Method("lin1991", lin1991.gravity, "lin1991", "(67)", refuses=without_centres),
        Method("newton-euler", newton_euler.gravity, "luh1980"),
        Method(
            "newton-euler-minimal",
            newton_euler.gravity,
            "lin1995",
            "as lin1999 quotes it",
            "minimal",
        ),
        Method("lagrange", lagrange.gravity, "zomaya1988", "eq. 10"),
        Method(
            "lagrange-minimal",
            lagrange.gravity,
            "zomaya1988",
            "eq. 10 on the minimal parameters",
            "mixed",
        ),
    ),
    "christoffel": (
        Method(
            "lin1991", lin1991.christoffel, "lin1991", "(45) to (47), (66)", refuses=without_centres
        ),
        Method("kic", kic.christoffel, "kang", "eq. 10, symmetrised", refuses=without_centres),
        Method(
            "kic-augmented",
            kic_augmented.christoffel,
            "kang",
            "steps 1 to 7, symmetrised",
            refuses=without_centres,
        ),
        Method("lagrange", lagrange.christoffel, "zomaya1988", "eq. 16 in order"),
        Method(
            "zomaya-morris", zomaya_morris.christoffel, "zomaya1988", "eqs. 13 to 17", exact=False
        ),
        Method("momentum", momentum.christoffel, "armdyn", refuses=without_centres),
        Method(
            "momentum-tip",
            momentum.christoffel_from_last,
            "armdyn",
            "about the last origin",
            refuses=without_centres,
        ),
        Method("momentum-flat", momentum.christoffel_flat, "armdyn", FLAT, "flat"),
        Method(
            "momentum-tip-flat",
            momentum.christoffel_flat_from_last,
            "armdyn",
            f"about the last origin, {FLAT}",
            "flat",
        ),
    ),
    "coriolis_matrix": (
        Method("newton-euler", newton_euler.coriolis_matrix, "armdyn", "the polarised bias"),
        Method(
            "echeandia-wensing-flat",
            echeandia_wensing.coriolis_matrix,
            "echeandia2021",
            "Algorithm 1, with 12 numbers for B",
            "flat",
        ),
        Method(
            "momentum",
            momentum.coriolis_matrix,
            "armdyn",
            "running sums",
            refuses=without_centres,
        ),
        Method(
            "momentum-tip",
            momentum.coriolis_matrix_from_last,
            "armdyn",
            "running sums about the last origin",
            refuses=without_centres,
        ),
        Method(
            "momentum-flat",
            momentum.coriolis_matrix_flat,
            "armdyn",
            f"running sums, {FLAT}",
            "flat",
        ),
        Method(
            "momentum-tip-flat",
            momentum.coriolis_matrix_flat_from_last,
            "armdyn",
            f"running sums about the last origin, {FLAT}",
            "flat",
        ),
    ),
    "inverse_dynamics": (
        Method("newton-euler", newton_euler.inverse_dynamics, "luh1980"),
        Method(
            "newton-euler-minimal",
            newton_euler.inverse_dynamics,
            "lin1995",
            "as lin1999 quotes it",
            "mixed",
        ),
        Method("newton-euler-sums", newton_euler_sums.inverse_dynamics, "armdyn", SUMS, "mixed"),
        Method(
            "newton-euler-angles",
            newton_euler_angles.inverse_dynamics,
            "armdyn",
            ANGLES,
            "mixed",
            tried=False,
        ),
        Method("newton-euler-flat", newton_euler_flat.inverse_dynamics, "armdyn", FLAT, "flat"),
        Method(
            "frame-injection",
            frame_injection.inverse_dynamics,
            "safeea2018",
            "eqs. 4 to 17",
            tried=False,
            refuses=without_centres,
        ),
        Method("lagrange", lagrange.inverse_dynamics, "zomaya1988", "eqs. 2 to 9, and 16 in order"),
        Method("zomaya-morris", zomaya_morris.inverse_dynamics, "zomaya1988", "eq. 2", exact=False),
    ),
    "forward_dynamics": (
        Method(
            "ldl",
            forward_dynamics.ldl,
            "lin1991",
            "conclusion",
            of=("mass_matrix", "bias"),
            join=forward_dynamics.from_methods,
        ),
        Method(
            "ldl-shoulder",
            shoulder.forward_dynamics,
            "armdyn",
            "elimination in the frame of a shoulder",
            "flat",
            refuses=shoulder.refuses,
        ),
        Method("articulated-body", articulated_body.forward_dynamics, "featherstone1983"),
    ),
    "mass_matrix_derivative": (
        Method(
            "tape-forward",
            forward_mode.mass_matrix_derivative,
            "wengert1964",
            "dual numbers through the cheapest mass matrix",
            of=("mass_matrix",),
            join=forward_mode.by_q,
        ),
    ),
    "inverse_dynamics_derivatives": (
        Method(
            "newton-euler",
            forward_mode.inverse_dynamics_derivatives,
            "wengert1964",
            DUAL,
            of=("inverse_dynamics",),
            join=forward_mode.by_arguments,
        ),
        Method(
            "tape-forward",
            forward_mode.inverse_dynamics_derivatives,
            "wengert1964",
            "dual numbers through the cheapest inverse dynamics",
            of=("inverse_dynamics",),
            join=forward_mode.by_arguments,
        ),
        Method(
            "tape-reverse",
            reverse_mode.inverse_dynamics_derivatives,
            "linnainmaa1976",
            "back through the cheapest inverse dynamics",
            of=("inverse_dynamics",),
            join=reverse_mode.by_arguments,
        ),
        Method("singh-flat", singh.inverse_dynamics_derivatives, "singh2022", FLAT, "flat"),
        Method("singh-base", singh_base.inverse_dynamics_derivatives, "singh2022", BASE, "flat"),
    ),
    "forward_dynamics_derivatives": (
        Method(
            "ldl",
            forward_derivatives.ldl,
            "singh2022",
            of=("inverse_dynamics_derivatives", "gravity"),
            join=forward_derivatives.from_methods,
        ),
        Method("articulated-body", forward_mode.forward_dynamics_derivatives, "wengert1964", DUAL),
    ),
    "inverse_dynamics_second_derivatives": (
        Method(
            "newton-euler",
            forward_mode.inverse_dynamics_second_derivatives,
            "wengert1964",
            DUAL,
        ),
        Method(
            "singh-flat",
            second_derivatives.in_link_frames,
            "singh2022",
            f"{FLAT}, {DUAL}",
            "flat",
            of=("inverse_dynamics_derivatives", "christoffel"),
            join=second_derivatives.from_methods,
        ),
        Method(
            "singh-base",
            second_derivatives.in_base_axes,
            "singh2022",
            f"{BASE}, {DUAL}",
            "flat",
            of=("inverse_dynamics_derivatives", "christoffel"),
            join=second_derivatives.from_methods,
        ),
    ),
}
CATALOGUE["coriolis_matrix"] += tuple(
    replace(
        method,
        function=from_christoffel(method.function),
        of=("christoffel",),
        join=from_christoffel,
    )
    for method in CATALOGUE["christoffel"]
    if method.exact
    and method.name not in {own.name for own in CATALOGUE["coriolis_matrix"]}  # a cheaper way
)
CATALOGUE["mass_matrix_derivative"] += tuple(
    replace(
        method,
        function=slopes_from_christoffel(method.function),
        of=("christoffel",),
        join=slopes_from_christoffel,
    )
    for method in CATALOGUE["christoffel"]
    if method.exact
)
TOGETHER: dict[tuple[str, ...], tuple[Method, ...]] = {  # what computes several quantities at once
    ("mass_matrix", "bias"): (
        Method(
            "lin1991",
            lin1991.mass_matrix_and_bias,
            "lin1991",
            "Fig. 3, Table II",
            refuses=without_centres,
        ),
    )
}


def methods(quantity: Asked) -> tuple[Method, ...]:
    """All methods of a quantity, in the catalogue's order; of several those for all together."""
    if isinstance(quantity, tuple):
        return TOGETHER.get(quantity, ())
    if not isinstance(quantity, str) or quantity not in CATALOGUE:
        raise MethodError(unknown("quantity", quantity, CATALOGUE))
    return CATALOGUE[quantity]


def plain(name: str) -> str:
    """A method's name or alias as the catalogue spells it: "Formulation 3" is lin-fang-3."""
    small = name.lower().replace(" ", "-")
    return ALIASES.get(small, small)


def find(quantity: Asked, name: str) -> Method:
    """The method of that name or alias, in any case."""
    known = {plain(method.name): method for method in methods(quantity)}
    if isinstance(name, str) and plain(name) in known:
        return known[plain(name)]
    what = quantity if isinstance(quantity, str) else " and ".join(quantity)
    names = [method.name for method in known.values()]
    raise MethodError(unknown("method", name, names, f" for {what}"))


def operations(quantity: Asked, name: str, n: int) -> float | None:
    """How many operations a method takes on a generic arm of n revolute joints; None if unknown.

    That is its literal count without divisions, multiplications, additions and doublings, as
    counted when ``costs.py`` was written.
    """
    counted = COSTS.get(quantity, {}).get(name)
    if counted is None:
        return None
    denominator, numerators = counted
    return sum(numerator * n**k for k, numerator in enumerate(numerators)) / denominator


# Methods that users bring ------------------------------------------------------------------------

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def add(
    quantity: str,
    name: str,
    function: Callable[..., Any],
    paper: str | None,
    arguments: Sequence[str],
) -> None:
    """Add a user's method to a quantity of these arguments; see ``armdyn.register``."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise MethodError(
            f"{shorten(name)} cannot be a method's name; expected letters, digits, -, _ and ."
        )
    taken = (plain(method.name) for method in methods(quantity))
    if name.lower() in ALIASES or plain(name) in taken:
        raise MethodError(f"{quantity} has a method {shorten(name)} already; choose another name")
    if paper is not None and not isinstance(paper, str):
        raise MethodError(f"paper is {shorten(paper)}; expected a text")
    _check_callable(function, arguments)
    CATALOGUE[quantity] += (Method(name, function, paper or "", registered=True),)


def _check_callable(function: object, arguments: Sequence[str]) -> None:
    """Refuse what cannot be called with an arm and the arguments."""
    expected = f"expected a function of (arm, {', '.join(arguments)})"
    if not callable(function):
        raise MethodError(f"function is {shorten(function)}; {expected}")
    try:
        inspect.signature(function).bind("arm", *arguments)
    except TypeError as error:
        raise MethodError(f"function {shorten(function)} has {error}; {expected}") from None
    except ValueError:  # it does not say what it takes
        return


def registered() -> bool:
    """Whether a user brought a method of any quantity."""
    return any(method.registered for row in CATALOGUE.values() for method in row)
