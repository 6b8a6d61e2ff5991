"""What methods cost, on generic arms and on those that ship, and the choice that follows."""

import dataclasses
import tomllib
from pathlib import Path

import pytest

import armdyn
from armdyn import Chain, Robot
from armdyn.algorithms import catalogue, crba, newton_euler
from armdyn.algorithms.catalogue import CATALOGUE, TOGETHER, operations
from armdyn.algorithms.coriolis import from_christoffel
from armdyn.algorithms.method import Method
from armdyn.counting import count
from armdyn.quantities import QUANTITIES
from armdyn.quantities.tasks import cheapest, forget_costs, program_cost
from docs import make_costs

GENERIC = Chain.random(4).on(float)
LISTED = [
    pytest.param(quantity, method.name, id=f"{quantity}-{method.name}")
    for quantity, row in CATALOGUE.items()
    for method in row
    if not method.refuses(GENERIC)
]
LISTED += [
    pytest.param(several, method.name, id=f"{'-and-'.join(several)}-{method.name}")
    for several, row in TOGETHER.items()
    for method in row
]


# Counted costs -----------------------------------------------------------------------------------


@pytest.mark.parametrize("quantity, name", LISTED)
def test_costs_on_generic_arms_are_what_is_counted(quantity, name):
    """On arms of sizes within and beyond those that were counted for the table."""
    for n in (5, 11):
        found = count(Chain.random(n), quantity, name)
        total = found.mul + found.add + found.double
        assert total == operations(quantity, name, n), "run docs/make_costs.py"


def test_the_table_of_costs_lists_no_method_that_is_gone():
    """Nor one that does not apply to a generic arm."""
    rows = CATALOGUE.items()
    known = {(quantity, m.name) for quantity, row in rows for m in row if not m.refuses(GENERIC)}
    known |= {(several, m.name) for several, row in TOGETHER.items() for m in row}
    assert {(q, name) for q, row in catalogue.COSTS.items() for name in row} == known


@pytest.mark.sweep
def test_the_table_of_costs_is_fresh():
    """If not: python docs/make_costs.py."""
    assert make_costs.MODULE.read_text(encoding="utf-8") == make_costs.module()


# What shipped arms cost --------------------------------------------------------------------------

PINNED = tomllib.loads((Path(__file__).parent / "costs.toml").read_text(encoding="utf-8"))
PINNED_IDS = [(arm, quantity) for arm in armdyn.robots() for quantity in PINNED["two_link"]]


@pytest.mark.parametrize("arm, quantity", PINNED_IDS)
def test_a_shipped_arm_costs_what_it_did(arm, quantity):
    """The program of the chosen method, with its divisions; what is cheaper now is to be noted."""
    chain = armdyn.load(arm).chain
    found = program_cost(chain, quantity, cheapest(chain, quantity))
    noted = PINNED[arm][quantity]
    assert found <= noted, f"{quantity} of {arm} rose from {noted} to {found} operations"
    assert found == noted, f"{quantity} of {arm} fell: note {found} in tests/costs.toml"


def test_every_shipped_arm_is_noted_with_every_quantity_that_has_a_choice():
    several = {name for name, quantity in QUANTITIES.items() if not quantity.function}
    assert {arm: set(noted) for arm, noted in PINNED.items()} == dict.fromkeys(
        armdyn.robots(), several
    )


# The choice --------------------------------------------------------------------------------------


def renamed(arm):
    """A shipped arm of which no choice is remembered."""
    return dataclasses.replace(armdyn.load(arm).chain, name=f"{arm} again")


@pytest.mark.parametrize("arm", ["panda", "puma560", "two_link"])
def test_a_method_of_unknown_cost_is_tried_and_drives_none_out(arm, own_catalogue):
    """A costly one changes nothing, wherever it stands; its real cost decides."""
    chain = armdyn.load(arm).chain
    chosen = cheapest(chain, "mass_matrix")
    price = program_cost(chain, "mass_matrix", chosen)
    costly = Method("column by column", newton_euler.mass_matrix, "armdyn")
    row = own_catalogue["mass_matrix"]
    for changed in ((costly, *row), (*row, costly)):
        own_catalogue["mass_matrix"] = changed
        again = renamed(arm)
        cheapest.cache_clear()
        assert cheapest(again, "mass_matrix") == chosen
        assert program_cost(again, "mass_matrix", chosen) == price
        assert program_cost(again, "mass_matrix", costly.name) > price
        (found,) = (r for r in Robot(again).methods("mass_matrix") if r.chosen)
        assert (found.name, found.operations) == (chosen, price)
    assert operations("mass_matrix", costly.name, 7) is None


def test_a_cheap_method_of_unknown_cost_is_chosen(own_catalogue):
    """It is tried on a long arm too, where others are left out unseen."""
    free = Method("free", lambda arm, q: [[q[0]] * arm.n] * arm.n, "armdyn")
    own_catalogue["mass_matrix"] += (free,)
    assert cheapest(renamed("panda"), "mass_matrix") == "free"


@pytest.mark.parametrize("arm", ["panda", "ur5"])
def test_a_new_christoffel_method_makes_no_coriolis_matrix_dearer(arm, own_catalogue):
    """The row that follows from it has no known cost either."""
    chain = armdyn.load(arm).chain
    price = program_cost(chain, "coriolis_matrix", cheapest(chain, "coriolis_matrix"))
    slow = catalogue.find("christoffel", "lagrange").function
    own_catalogue["christoffel"] += (Method("slow", slow, "armdyn"),)
    own_catalogue["coriolis_matrix"] += (
        Method(
            "slow",
            from_christoffel(slow),
            "armdyn",
            of=("christoffel",),
            join=from_christoffel,
        ),
    )
    again = renamed(arm)
    for quantity in ("christoffel", "coriolis_matrix"):
        assert cheapest(again, quantity) == cheapest(chain, quantity)
    assert program_cost(again, "coriolis_matrix", cheapest(again, "coriolis_matrix")) == price
    assert program_cost(again, "coriolis_matrix", "slow") > price


def test_divisions_count_in_the_choice(own_catalogue):
    """A method with fewer products and sums, but a division, loses: it weighs eight of them."""
    chain = armdyn.load("two_link").chain
    chosen = cheapest(chain, "mass_matrix")
    price = program_cost(chain, "mass_matrix", chosen)
    assert 0 < price < 8
    dividing = Method("dividing", lambda arm, q: [[1 / q[1], 0], [0, 1 / q[1]]], "armdyn")
    own_catalogue["mass_matrix"] = (dividing, *own_catalogue["mass_matrix"])
    again = renamed("two_link")
    found = count(again, "mass_matrix", "dividing", "program")
    assert (found.mul, found.add, found.double, found.div) == (0, 0, 0, 1)
    assert cheapest(again, "mass_matrix") == chosen
    assert program_cost(again, "mass_matrix", "dividing") == 8


def test_of_two_real_methods_the_one_with_fewer_divisions_wins(own_catalogue):
    """M twice over, once doubled and halved by a division: the same matrix, one division more."""
    chain = Chain.random(3, "RRR", seed=6)

    def divided(arm, q):
        M = crba.mass_matrix(arm, q)
        return [[M[0][0] / (q[0] / q[0]), *M[0][1:]], *M[1:]]

    plain = Method("plain", crba.mass_matrix, "armdyn")
    own_catalogue["mass_matrix"] = (Method("divided", divided, "armdyn"), plain)
    assert cheapest(chain, "mass_matrix") == "plain"


def test_a_method_made_of_others_takes_those_that_suit_the_arm(own_catalogue):
    """ldl has no mass matrix of its own: it takes the chosen one; Coriolis keeps its namesake."""
    chain = armdyn.load("panda").chain
    price = program_cost(chain, "forward_dynamics", "ldl")
    by_name = count(chain, "forward_dynamics", "ldl", "folded").cost
    assert price < by_name  # with the paper's own mass matrix and bias
    only = tuple(m for m in own_catalogue["mass_matrix"] if m.name == "lagrange")
    own_catalogue["mass_matrix"] = only
    forget_costs()
    assert program_cost(renamed("panda"), "forward_dynamics", "ldl") > price
    costs = {name: program_cost(chain, "coriolis_matrix", name) for name in ("lin1991", "kic")}
    assert costs["lin1991"] < costs["kic"]
