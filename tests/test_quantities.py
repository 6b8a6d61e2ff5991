"""One table of quantities: Robot, exported source, comparisons and the documentation follow it."""

import dataclasses
import inspect
import re
from decimal import Decimal, localcontext

import numpy as np
import pytest

import armdyn
from armdyn import Chain, MethodError, Robot, comparison, export, quantities
from armdyn.algorithms import catalogue
from armdyn.comparison import exactness
from armdyn.quantities import ARGUMENTS, QUANTITIES, Result
from armdyn.quantities.tasks import Task, formula
from armdyn.robot.influences import Influences
from docs import make_methods, make_quantities

PAGE = make_quantities.PAGE.read_text(encoding="utf-8")


def forgotten(name, quantity):
    """What does not know a quantity, or knows it as something else."""
    return [
        text
        for text, there in {
            "a method of Robot": hasattr(Robot, name),
            "its signature": hasattr(Robot, name) and signature(name) == expected(quantity),
            "its annotation": hasattr(Robot, name) and annotated(name, quantity),
            "its docstring": bool(getattr(getattr(Robot, name, None), "__doc__", None)),
            "an algorithm": bool(quantity.function) != (name in catalogue.CATALOGUE),
            "a reference": bool(quantity.function) != bool(quantity.references),
            "names in exported source": all(r.name.isidentifier() for r in quantity.results),
            "a sentence": quantity.sentence.endswith(".") and quantity.sentence.isascii(),
            "the documentation": f"| `{name}({make_quantities.signature(quantity)})` |" in PAGE,
        }.items()
        if not there
    ]


def signature(name):
    """The parameters of Robot's method that say what is computed; of all else nothing is asked."""
    parameters = list(inspect.signature(getattr(Robot, name)).parameters)[1:]
    return [parameter for parameter in parameters if parameter not in ("out", "threads")]


def expected(quantity):
    options = {
        "frame": quantity.framed,
        "axes": quantity.axes,
        "method": not quantity.function,
        "friction": quantity.friction,
        "payload": "payload" in quantity.at_call,
        "payload_frame": "payload" in quantity.at_call,
        "gravity": "gravity" in quantity.at_call,
        "parameters": "parameters" in quantity.at_call,
        "check": "payload" in quantity.at_call,
        "wrench": quantity.wrench,
        "wrench_frame": quantity.wrench,
        "point": "point" in quantity.at_call,
    }
    return [*quantity.arguments, *(option for option, there in options.items() if there)]


def annotated(name, quantity):
    found = str(inspect.signature(getattr(Robot, name)).return_annotation)
    return re.search(r"\bA\b", found) and ("tuple" in found) == (len(quantity.results) > 1)


@pytest.mark.parametrize("name", QUANTITIES)
def test_nothing_forgets_a_quantity(name):
    assert forgotten(name, QUANTITIES[name]) == []


def test_a_forgotten_quantity_is_noticed():
    """A new entry alone, and entries that other places know otherwise."""
    M, pose = QUANTITIES["mass_matrix"], QUANTITIES["pose"]
    new = dataclasses.replace(M, sentence="Momentum", results=(Result("2p", "n"),))
    assert set(forgotten("momenta", new)) == {
        *("a method of Robot", "its signature", "its annotation", "its docstring"),
        *("an algorithm", "names in exported source", "a sentence", "the documentation"),
    }
    moving = dataclasses.replace(M, arguments=("q", "qd"))
    assert forgotten("mass_matrix", moving) == ["its signature", "the documentation"]
    unframed = dataclasses.replace(pose, framed=False)
    assert forgotten("pose", unframed) == ["its signature", "the documentation"]
    pair = dataclasses.replace(pose, results=2 * pose.results)
    assert forgotten("pose", pair) == ["its annotation"]
    unjudged = dataclasses.replace(M, references=())
    assert forgotten("mass_matrix", unjudged) == ["a reference"]


def test_what_lists_quantities_lists_these():
    methods = [name for name, quantity in QUANTITIES.items() if not quantity.function]
    assert list(catalogue.CATALOGUE) == list(comparison.SEVERAL) == methods
    public = [name for name in dir(Robot) if not name.startswith("_")]
    asked = {name for name in public if callable(getattr(Robot, name)) and "q" in signature(name)}
    others = {"plot", *vars(Influences)}  # which are drawn, or computed without compiling
    assert asked - others == set(QUANTITIES)
    for quantity in QUANTITIES.values():
        assert list(quantity.arguments) == [
            name for name in ARGUMENTS if name in quantity.arguments
        ]


@pytest.mark.parametrize("name", QUANTITIES)
def test_results_have_the_shapes_of_the_table(name, interpreted):
    chain = Chain.random(7, "RPRRRRR", seed=1)
    found = Robot(chain).function(name)(*np.zeros((len(QUANTITIES[name].arguments), 2, 7)))
    shapes = [result.shape(chain) for result in QUANTITIES[name].results]
    several = found if isinstance(found, tuple) else (found,)
    assert [array.shape for array in several] == [(2, *shape) for shape in shapes]
    assert len(set(export.result_names(Task(name)))) == len(shapes)


@pytest.mark.parametrize(
    "ask",
    [
        lambda name: quantities.find(name),
        lambda name: Robot(Chain.random(2)).function(name),
        lambda name: Robot(Chain.random(2)).methods(name),
        lambda name: export.c_files(Chain.random(2), [name]),
        lambda name: comparison.compare(Chain.random(2), [name]),
        lambda name: armdyn.register(name, "mine", lambda arm, q: q),
    ],
    ids=["find", "function", "methods", "c_files", "compare", "register"],
)
def test_the_quantity_that_was_meant_is_named(ask):
    with pytest.raises(MethodError, match="quantity 'mass_matrx'; did you mean 'mass_matrix'?"):
        ask("mass_matrx")


@pytest.mark.parametrize("quantity", [["bias"], None, 3, "mass_matrix+bias"])
def test_what_is_no_quantity_has_no_methods(quantity):
    with pytest.raises(MethodError, match="no quantity .*known: mass_matrix"):
        Robot(Chain.random(2)).methods(quantity)


def test_a_quantity_with_one_method_has_none_to_choose_from():
    with pytest.raises(MethodError, match="pose has one method only; several have: mass_matrix"):
        Robot(Chain.random(2)).methods("pose")


# Fifty digits ------------------------------------------------------------------------------------

OTHER = {  # methods that share no text with the reference, and prepare nothing in doubles
    "mass_matrix": "lagrange",
    "bias": "lin1991",
    "gravity": "lin1991",
    "christoffel": "lagrange",
    "coriolis_matrix": "lin1991",
}


def digits(chain, quantity, method, states):
    given = [[Decimal(x) for x in states[name][0]] for name in QUANTITIES[quantity].arguments]
    return np.array(formula(chain, Decimal, Task(quantity, method))(*given), dtype=object)


@pytest.mark.parametrize("quantity", OTHER)
def test_the_reference_is_right_to_all_digits(quantity):
    """Another method agrees in 45 of 50 digits: neither keeps those of a double only."""
    chain = Chain.random(3, "RRR", seed=4)
    states = exactness.random_states(chain, 1)
    with localcontext(prec=50):
        judge = digits(chain, quantity, quantities.reference(chain, quantity), states)
        other = digits(chain, quantity, OTHER[quantity], states)
        assert np.abs(judge - other).max() < Decimal("1e-45") * np.abs(judge).max()


def test_references_invert_each_other_to_all_digits():
    """Forward dynamics of the torque that inverse dynamics gives is the motion's acceleration."""
    chain = Chain.random(3, "RPR", seed=4)
    states = exactness.random_states(chain, 1)
    with localcontext(prec=50):
        tau = digits(chain, "inverse_dynamics", "newton-euler", states)
        forward = formula(chain, Decimal, Task("forward_dynamics", "articulated-body"))
        q, qd, qdd = ([Decimal(x) for x in states[name][0]] for name in ("q", "qd", "qdd"))
        found = np.array(forward(q, qd, list(tau)), dtype=object)
        assert np.abs(found - np.array(qdd)).max() < Decimal("1e-45")


@pytest.mark.parametrize("quantity", comparison.SEVERAL)
def test_no_reference_prepares_constants_in_doubles(quantity):
    for name in QUANTITIES[quantity].references:
        assert not make_methods.prepares_in_doubles(quantity, catalogue.find(quantity, name))


def test_what_prepares_constants_in_doubles_is_found():
    """By those that do: an eigensolver's dyads, minimal parameters."""
    for name in ("kic", "gdahj", "momentum", "hybrid", "crba-minimal", "lin-fang-1-minimal"):
        assert make_methods.prepares_in_doubles(
            "mass_matrix", catalogue.find("mass_matrix", name)
        ), name
