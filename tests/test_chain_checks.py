"""What a chain refuses, what it only notes: tables, parts, bodies, payloads and random arms."""

import dataclasses
import logging
import math
import re

import numpy as np
import pytest

from armdyn import Chain, MethodError, ModelError, Robot, TraceError, compare, count
from armdyn.algorithms import catalogue
from armdyn.chain import Frame, Joint, Link
from armdyn.chain.inertia import Inertia
from armdyn.chain.pose import Pose
from armdyn.loaders import toml
from armdyn.quantities import QUANTITIES

BODY = dict(mass=[1.0, 1.0], com=[[0.1, 0, 0]] * 2, inertia=[[0.1, 0.1, 0.1]] * 2)
ROWS = dict(b=[0, 0.3], beta=[0, 1.0], d=[0, 0], theta=[0, 0])
BAD = {
    "nan in the table": (dict(b=[0, math.nan]), "joint 'joint2': b must be finite, not nan"),
    "infinite angle": (dict(beta=[0, math.inf]), "joint 'joint2': beta must be finite, not inf"),
    "nan angle of row one": (dict(theta=[math.nan, 0]), "base: the pose must be finite"),
    "nan mass": (dict(mass=[1, math.nan]), "link 'link2': mass, first moment and inertia must be"),
    "negative mass": (dict(mass=[1, -2]), "link 'link2': mass -2 kg is negative"),
    "negative inertia": (
        dict(inertia=[[0.1] * 3, [-0.1, 0.1, 0.1]]),
        "link 'link2'.*principal moments.*negative",
    ),
    "triangle inequality": (
        dict(inertia=[[0.1] * 3, [0.1, 0.1, 0.3]]),
        "link 'link2'.*largest exceeds the sum",
    ),
    "asymmetric inertia": (
        dict(inertia=[np.eye(3), np.eye(3) + [[0, 1, 0], [0, 0, 0], [0, 0, 0]]]),
        "inertia of link 2 is not symmetric",
    ),
    "inertia without mass": (dict(mass=[1, 0]), "link 'link2': it has no mass but"),
    "nothing to move": (
        dict(mass=[1, 0], inertia=[[0.1] * 3, [0] * 3]),
        "joint 'joint2' moves nothing that has inertia",
    ),
    "no mass given": (dict(mass=None), "a chain needs the links' inertia"),
    "both kinds of inertia": (dict(parameters=np.ones((2, 10))), "either parameters=, or mass="),
    "unknown joint letter": (dict(joints="RX"), "joint 'joint2': kind is 'R' or 'P', not 'X'"),
    "letters that do not fit": (dict(joints="RRR"), r"b must be numbers of shape \(3,\)"),
    "no joints": (dict(joints=""), "at least one joint"),
    "words for numbers": (dict(d=["a", "b"]), "d must be numbers"),
    "wrong com": (dict(com=[[0, 0]] * 2), r"com must be numbers of shape \(2, 3\)"),
    "unknown centre": (dict(inertia_about="tip"), "inertia_about is 'com' or 'origin', not 'tip'"),
    "names that do not fit": (dict(joint_names=["a"]), "joint_names must have 2 names, not 1"),
    "a name used twice": (dict(joint_names=["a", "a"]), "joint name 'a' is used twice"),
    "negative rotor": (dict(rotor_inertia=[-1, 0]), "rotor_inertia must not be negative, is -1"),
    "limits upside down": (dict(limits=[[1, -1]] * 2), "limits must be lower <= upper"),
    "friction that drives": (dict(coulomb=[[1, 2]] * 2), "coulomb friction is"),
    "gravity in two dimensions": (
        dict(gravity=[0, -9.81]),
        r"gravity must be numbers of shape \(3,\)",
    ),
    "gravity one number": (
        dict(gravity=-9.81),
        r"gravity must be numbers of shape \(3,\), not -9.81",
    ),
    "gravity a word": (
        dict(gravity="down"),
        r"gravity must be numbers of shape \(3,\), not 'down'",
    ),
    "infinite gravity": (dict(gravity=[0, 0, -math.inf]), "gravity must be finite"),
    "a base that is no placement": (dict(base=2 * np.eye(4)), "not a rigid placement"),
    "a mirrored tip": (dict(tip=np.diag([1, 1, -1, 1])), "not a rigid placement"),
    "a scaled pose": (
        dict(base=Pose(((2.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 2.0)))),
        r"base: not a rigid placement \(rotation and translation\): \[\[2.0,",
    ),
    "a mirrored pose": (
        dict(tip=Pose(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, -1.0)))),
        "tip: not a rigid placement",
    ),
    "a frame askew": (
        dict(frames=[Frame("f", 0, Pose(((1.0, 0.1, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))))]),
        "frame 'f': not a rigid placement",
    ),
    "a ragged pose": (dict(tip=Pose(((1.0,), (0.0, 1.0), (0.0,)))), "tip: the rotation of a pose"),
    "a base that is a word": (dict(base="x"), r"base: .* numbers of shape \(4, 4\), not 'x'"),
    "a ragged column": (dict(b=[[1], [1, 2]]), r"b must be numbers, not \[\[1\], \[1, 2\]\]"),
    "a column of nothing": (dict(d=None), "d must be numbers, not None"),
    "a number beyond doubles": (dict(b=[0, 10**400]), "b must be numbers, not .0, 1000"),
    "a number beyond printing": (dict(b=10**5000), "not an integer of more digits than"),
    "joints a number": (dict(joints=5), "joints must be a letter a joint, such as 'RRP', not 5"),
    "too many joints": (dict(b=np.zeros(1001)), "at most 1000, not 1001"),
    "inertia a word": (dict(inertia="x"), "inertia must be numbers, not 'x'"),
    "inertia ragged": (dict(inertia=[[1], [1, 2]]), "inertia must be numbers, not"),
    "inertia complex": (dict(inertia=np.full((2, 3), 1j)), "inertia must be numbers, not array"),
    "friction a word": (dict(coulomb="x"), "coulomb must be numbers, not 'x'"),
    "names a number": (dict(joint_names=5), "joint_names must be a list of 2 names, not 5"),
    "names a word": (dict(link_names="ab"), "link_names must be a list of 2 names, not 'ab'"),
    "names of numbers": (dict(joint_names=[1, 2]), "name of a joint must be a string, not 1"),
    "no name": (dict(name=None), "name of a chain must be a string, not None"),
    "frames none": (dict(frames=None), "frames must be a tuple of Frame, not None"),
    "frames of numbers": (dict(frames=[5]), r"frames must be a tuple of Frame, not \[5\]"),
    "a frame beyond": (dict(frames=[Frame("f", 2)]), "frame 'f' is fixed to link 2, but"),
    "snap negative": (dict(snap=-1), "0 <= snap < pi/4 .rad., not -1"),
    "snap nan": (dict(snap=math.nan), "0 <= snap < pi/4 .rad., not nan"),
    "snap a word": (dict(snap="x"), "0 <= snap < pi/4 .rad., not 'x'"),
    "unknown order": (dict(order="mine"), "no parameter order 'mine'"),
    "unknown check": (dict(check="never"), "check is 'error' or 'warn', not 'never'"),
}
PARTS = {
    "frame on a word": (lambda: Frame("f", "0"), "frame 'f': link is counted from 0.*not '0'"),
    "frame at no pose": (lambda: Frame("f", 0, np.eye(3)), "frame 'f': .*shape .4, 4."),
    "frame without a name": (lambda: Frame(3, 0), "name of a frame must be a string, not 3"),
    "joint of nothing": (
        lambda: Joint("j", "R", b=None),
        "joint 'j': b must be a number, not None",
    ),
    "joint of one friction": (lambda: Joint("j", "R", coulomb=1), "joint 'j': coulomb must be"),
    "joint of no kind": (lambda: Joint("j", ["R"]), "kind is 'R' or 'P', not .'R'."),
    "link of nothing": (lambda: Link("l", None), "link 'l': expected an Inertia, not None"),
    "link of a word": (lambda: Link("l", Inertia("x")), "link 'l': mass must be a number, not 'x'"),
    "chain of nothing": (lambda: Chain("c", None, None), "c: joints must be a tuple of Joint"),
    "chain without gravity": (lambda: one(gravity=None), "gravity must be numbers of shape"),
    "chain without a base": (lambda: one(base=None), "base: .* not None"),
    "locked of one": (lambda: one(locked=[("a",)]), "locked: expected .name of a joint, position"),
    "notes a word": (lambda: one(notes="so"), "notes must be a tuple of str, not 'so'"),
    "ten parameters": (lambda: Chain.random(2).with_parameters([1] * 10), r"\(2, 10\) or \(20,\)"),
    "word parameters": (lambda: Chain.random(2).with_parameters("x"), "parameters must be numbers"),
    "flat gravity": (lambda: Chain.random(2).with_gravity([1, 2]), r"gravity .*\(3,\), not .1, 2."),
    "gravity a number": (lambda: Chain.random(2).with_gravity(9.81), r"gravity .*not 9.81"),
}


def one(**fields):
    """A chain of one joint."""
    return Chain(
        "c", (Joint("j", "R"),), (Link("l", Inertia(1.0, tensor=(1, 0, 0, 1, 0, 1))),), **fields
    )


@pytest.mark.parametrize("case", PARTS)
def test_bad_parts_are_refused_by_name(case):
    make, message = PARTS[case]
    one()
    with pytest.raises(ModelError, match=message):
        make()


@pytest.mark.parametrize("case", BAD)
def test_bad_tables_are_refused_by_name(case):
    change, message = BAD[case]
    with pytest.raises(ModelError, match=message):
        Chain.from_mdh(**{**ROWS, **BODY, **change})


def test_an_impossible_arm_loads_with_a_warning_if_asked(caplog):
    with caplog.at_level(logging.WARNING, "armdyn"):
        chain = Chain.from_mdh(**ROWS, **{**BODY, "inertia": [0.1, 0.1, 0.3]}, check="warn")
        assert chain.with_gravity((0, 0, 0)).notes == chain.notes
    assert "triangle inequality" in chain.notes[0]
    assert [record.message for record in caplog.records] == [f"arm: {note}" for note in chain.notes]


@pytest.mark.parametrize(
    ("first_link", "message"),
    [
        ((math.nan, 0, 0, 0), "link 'link1': mass, first moment and inertia must be finite"),
        ((5e-324, 1, 0, 0), "link 'link1': the inertia about the centre of mass is too large"),
    ],
)
def test_bodies_that_no_method_can_compute_with_are_always_refused(first_link, message):
    ten = np.array([[*first_link, 1, 0, 1, 0, 0, 1], [1, 0, 0, 0, 1, 0, 1, 0, 0, 1]])
    for check in ("error", "warn"):
        with pytest.raises(ModelError, match=message):
            Chain.from_mdh(**ROWS, parameters=ten, check=check)


@pytest.mark.parametrize(
    ("second_link", "message"),
    [
        ((-1, 0.1, 0.2, 0), "link 'link2': mass -1 kg is negative"),
        ((0, 0, 0.1, 0), "link 'link2': it has no mass but a first moment of [0.0, 0.1, 0.0] kg m"),
        ((1e-10, 0, 0.1, 0), "link 'link2': the inertia about the centre of mass has principal"),
    ],
)
@pytest.mark.parametrize("kinds", ["RRPR"])
def test_a_body_without_a_centre_of_mass_loads_with_a_warning(
    kinds, second_link, message, interpreted
):
    """Torque is linear in its parameters all the same; methods about centres of mass refuse it."""
    sound = Chain.random(4, kinds, seed=3)
    ten = sound.parameters_in("pinocchio")
    ten[1, :4] = second_link
    with pytest.raises(ModelError, match=re.escape(message)):
        sound.with_parameters(ten)
    chain = dataclasses.replace(sound, check="warn").with_parameters(ten)
    assert chain.notes[0].startswith(message)
    robot, refused = Robot(chain), set()
    state = dict(zip(("q", "qd", "qdd", "tau"), 0.1 + np.eye(4), strict=True))
    for quantity in catalogue.CATALOGUE:
        if "derivative" in quantity:  # which are made of the others, and take long to compile
            continue
        compute = getattr(robot, quantity)
        given = [state[argument] for argument in QUANTITIES[quantity].arguments]
        expected = compute(*given)
        for method in catalogue.methods(quantity):
            reason = method.refuses(chain.on(float))
            if reason is not None and "centre of mass" in reason:
                refused.add(method.name)
                with pytest.raises(MethodError, match="link 2 has no centre of mass .mass -?[01]"):
                    compute(*given, method=method.name)
            elif method.exact and reason is None:
                found = compute(*given, method=method.name)
                assert np.allclose(found, expected, rtol=1e-11, atol=1e-11), method.name
    assert refused == {
        *("lin1991", "walker-orin", "kic", "kic-augmented"),
        *("gdahj", "gdahj-one-sum", "frame-injection", "momentum", "momentum-tip"),
    }


def test_methods_are_judged_by_one_that_applies():
    """Christoffel symbols of links with a first moment but no mass: those without centres apply."""
    sound = Chain.random(3, seed=3)
    ten = sound.parameters_in("pinocchio")
    ten[:, 0] = 0
    chain = dataclasses.replace(sound, check="warn").with_parameters(ten)
    (ranking,) = compare(Robot(chain), ["christoffel"], states=2, seconds=0.01).rankings
    exact = dict.fromkeys(("lagrange", "momentum-flat", "momentum-tip-flat"), "right")
    verdicts = {row.method: row.verdict for row in ranking.rows}
    assert verdicts == exact | {"zomaya-morris": "approximate"}
    with pytest.raises(MethodError, match="mass_matrix and bias by lin1991 .*: link 1 has no"):
        count(chain, ("mass_matrix", "bias"), "lin1991", kind="literal")


def test_a_joint_that_moves_nothing_is_noted_and_accelerates_without_end():
    ten = np.zeros((2, 10))
    ten[0] = 1, 0, 0, 0, 1, 0, 1, 0, 0, 1
    ten[1, 1] = 0.1  # a first moment alone: M_22 of the slide is zero
    chain = Chain.from_mdh(**ROWS, joints="RP", parameters=ten, check="warn")
    moment, singular = chain.notes
    assert "no mass but a first moment" in moment
    assert "joint 'joint2' moves nothing" in singular or "not positive definite" in singular
    with pytest.raises(TraceError, match="forward_dynamics divides by zero, whatever"):
        Robot(chain).forward_dynamics([0, 0], [0, 0], [1, 1])


def test_a_mended_arm_keeps_no_note_of_what_it_was():
    """Nor does its text; what the loader said stays."""
    parameters = np.array([[0.0] * 10, [1, 0, 0, 0, 1, 0, 1, 0, 0, 9]])
    rows = {**ROWS, "beta": [0, math.pi / 2 + 1e-10]}
    broken = Chain.from_mdh(**rows, parameters=parameters, check="warn")
    snapped, triangle, massless = broken.notes
    assert "snapped" in snapped and "triangle" in triangle
    assert massless == "link 'link1' has no mass"
    mended = np.array([[1.0, 0, 0, 0, 1, 0, 1, 0, 0, 1]] * 2)
    assert broken.with_parameters(mended).notes == (snapped,)
    assert toml.load(broken.to_toml(), check="warn").with_parameters(mended).notes == (snapped,)
    round_load = broken.with_payload(100, inertia=100 * np.eye(3))
    assert round_load.notes == (snapped, massless)


def test_printed_digits_decide_what_a_body_can_be():
    """Rounding to ten digits is forgiven, more is not: the slack is 1e-9 of the largest moment."""

    def body(*moments):
        return Inertia.from_com(1.0, (0, 0, 0), np.diag(moments)).findings()

    assert body(1, 1, 2 + 1.9e-9) == [] == body(1, 1, -0.9e-9)
    assert "triangle inequality" in body(1, 1, 2 + 2.1e-9)[0]
    assert "none below zero" in body(1, 1, -1.1e-9)[0]
    assert body(0.5, 1, 1.4) == [] and "triangle inequality" in body(0.1, 1, 1.2)[0]


@pytest.mark.parametrize("seed", range(10))
def test_two_joints_on_one_axis_need_inertia_between_them(seed):
    """Joints 2 and 3, turned against each other, move nothing: M is singular, up to rounding."""
    chain = Chain.random(3, seed=seed)
    ten = chain.parameters_in("pinocchio")
    table = chain.to_mdh()
    table["b"][2], table["beta"][2] = 0, (0, math.pi)[seed % 2]
    with pytest.raises(ModelError, match="moves nothing that has inertia"):
        Chain.from_mdh(**table, parameters=[ten[0], np.zeros(10), ten[2]])
    Chain.from_mdh(**table, parameters=[ten[0], 1e-9 * ten[1], ten[2]])


def test_the_first_row_belongs_into_the_base():
    with pytest.raises(ModelError, match="belong into base="):
        Chain("arm", (Joint("j", "R", b=0.1),), (Link("l", Inertia(1.0)),))


def test_payloads_are_checked():
    chain = Chain.random(2)
    with pytest.raises(ModelError, match="payload: mass -1 kg is negative"):
        chain.with_payload(-1)
    for arguments, message in (
        (dict(mass=1, inertia=[1, 1, 1]), r"payload: inertia must be numbers of shape \(3, 3\)"),
        (dict(mass=1, inertia="x"), "payload: inertia must be .*not 'x'"),
        (dict(mass=1, inertia=[[1, 1, 0], [0, 1, 0], [0, 0, 1]]), "payload: inertia is not symm"),
        (dict(mass=1, com=[0, 1]), r"payload: com must be numbers of shape \(3,\), not \[0, 1\]"),
        (dict(mass="x"), "payload: mass must be a number, not 'x'"),
        (dict(mass=[1]), r"payload: mass must be a number, not \[1\]"),
        (dict(mass=math.nan), "payload: mass, first moment and inertia must be finite"),
        (dict(mass=0, inertia=np.eye(3)), "payload: it has no mass but an inertia"),
    ):
        with pytest.raises(ModelError, match=message):
            chain.with_payload(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(n=3.0), "n must be a whole number of at least 0, not 3.0"),
        (dict(n=True), "n must be a whole number of at least 0, not True"),
        (dict(n="a"), "n must be a whole number of at least 0, not 'a'"),
        (dict(n=0), "at least one joint and at most 1000, not 0"),
        (dict(n=1001), "at least one joint and at most 1000, not 1001"),
        (dict(n=2, seed=-1), "seed must be a whole number of at least 0, not -1"),
        (dict(n=2, seed="a"), "seed must be a whole number of at least 0, not 'a'"),
        (dict(n=2, joints=""), "one letter for each of n = 2 joints, not ''"),
        (dict(n=2, joints=5), "one letter for each of n = 2 joints, not 5"),
        (dict(n=2, structure="round"), "no structure 'round'; known: generic"),
    ],
)
def test_random_arms_that_cannot_be_drawn(arguments, message):
    with pytest.raises(ModelError, match=message):
        Chain.random(**arguments)
