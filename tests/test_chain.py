"""Chain: its constructors, its parameters, its variations."""

import copy
import dataclasses
import math
import pickle

import numpy as np
import pytest

from armdyn import Chain, ModelError, Robot
from armdyn.chain import Frame, Joint, Link, checks
from armdyn.chain.inertia import NAMES, Inertia
from armdyn.chain.pose import Pose
from armdyn.chain.random import STRUCTURES
from armdyn.loaders import load, toml

TABLE = dict(
    joints="RPR", mass=[1, 2, 3], com=[[0.1, 0.2, 0.3]] * 3, inertia=[[0.1, 0.12, 0.14]] * 3
)


def turn(axis, angle):
    """Rodrigues' formula, written independently of the package."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    H = np.eye(4)
    H[:3, :3] = np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K
    return H


def shift(x, y, z):
    H = np.eye(4)
    H[:3, 3] = x, y, z
    return H


X, Z = (1, 0, 0), (0, 0, 1)
COLUMNS = dict(d=[0.1, 0.2, 0.3], theta=[0.4, 0.5, 0.6])
A, ALPHA = [0.7, 0.8, 0.9], [1.0, 1.1, 1.2]
Q = np.array([0.3, -0.2, 0.5])


def test_modified_dh_table_is_craigs():
    """Tip pose = product of Rx(beta) Tx(b) Rz(theta + q) Tz(d), the slide in d."""
    chain = Chain.from_mdh(b=A, beta=ALPHA, **COLUMNS, **TABLE)
    expected = np.eye(4)
    for i in range(3):
        dq, tq = (Q[i], 0) if TABLE["joints"][i] == "P" else (0, Q[i])
        expected = expected @ turn(X, ALPHA[i]) @ shift(A[i], 0, 0)
        expected = expected @ turn(Z, COLUMNS["theta"][i] + tq) @ shift(0, 0, COLUMNS["d"][i] + dq)
    np.testing.assert_allclose(Robot(chain).pose(Q), expected, atol=1e-15)


def test_standard_dh_table_is_denavit_and_hartenbergs():
    """Tip pose = product of Rz(theta + q) Tz(d) Tx(a) Rx(alpha)."""
    chain = Chain.from_dh(a=A, alpha=ALPHA, **COLUMNS, **TABLE)
    expected = np.eye(4)
    for i in range(3):
        dq, tq = (Q[i], 0) if TABLE["joints"][i] == "P" else (0, Q[i])
        expected = expected @ turn(Z, COLUMNS["theta"][i] + tq) @ shift(0, 0, COLUMNS["d"][i] + dq)
        expected = expected @ shift(A[i], 0, 0) @ turn(X, ALPHA[i])
    np.testing.assert_allclose(Robot(chain).pose(Q), expected, atol=1e-15)


def test_standard_dh_links_are_given_in_the_standard_frame():
    """Potential energy from the links' centres of mass, placed by the standard frames."""
    chain = Chain.from_dh(a=A, alpha=ALPHA, **COLUMNS, **TABLE)
    placed, potential = np.eye(4), 0.0
    for i in range(3):
        dq, tq = (Q[i], 0) if TABLE["joints"][i] == "P" else (0, Q[i])
        placed = placed @ turn(Z, COLUMNS["theta"][i] + tq) @ shift(0, 0, COLUMNS["d"][i] + dq)
        placed = placed @ shift(A[i], 0, 0) @ turn(X, ALPHA[i])
        potential += TABLE["mass"][i] * 9.81 * (placed @ [*TABLE["com"][i], 1])[2]
    assert Robot(chain).energy(Q, np.zeros(3))[1] == pytest.approx(potential, rel=1e-14)


def test_standard_dh_frames_are_given_in_the_standard_frame():
    """A frame on link 2 stands where the product of the first two rows puts it."""
    eye = turn((0, 1, 0), 0.7) @ shift(1, 2, 3)
    frames = [Frame("eye", 1, eye), Frame("floor", -1, eye)]
    chain = Chain.from_dh(a=A, alpha=ALPHA, **COLUMNS, **TABLE, frames=frames)
    expected = np.eye(4)
    for i in range(2):
        dq, tq = (Q[i], 0) if TABLE["joints"][i] == "P" else (0, Q[i])
        expected = expected @ turn(Z, COLUMNS["theta"][i] + tq) @ shift(0, 0, COLUMNS["d"][i] + dq)
        expected = expected @ shift(A[i], 0, 0) @ turn(X, ALPHA[i])
    np.testing.assert_allclose(Robot(chain).pose(Q, frame="eye"), expected @ eye, atol=1e-15)
    np.testing.assert_allclose(Robot(chain).pose(Q, frame="floor"), eye, atol=1e-15)


def test_degrees_and_inertia_about_the_origin():
    radians = Chain.from_mdh(b=A, beta=ALPHA, **COLUMNS, **TABLE)
    degrees = Chain.from_mdh(
        b=A,
        beta=np.degrees(ALPHA),
        d=COLUMNS["d"],
        theta=np.degrees(COLUMNS["theta"]),
        degrees=True,
        limits=[[-90, 90]] * 3,
        **TABLE,
    )
    np.testing.assert_allclose(Robot(degrees).pose(Q), Robot(radians).pose(Q), atol=1e-15)
    np.testing.assert_allclose(
        Robot(degrees).position_limits,
        np.array([[-1, 1]] * 3) * [[math.pi / 2], [90], [math.pi / 2]],
    )
    c = np.array(TABLE["com"][0])
    about_origin = [
        np.diag(TABLE["inertia"][0]) + m * (c @ c * np.eye(3) - np.outer(c, c)) for m in (1, 2, 3)
    ]
    other = Chain.from_mdh(
        b=A, beta=ALPHA, **COLUMNS, **{**TABLE, "inertia": about_origin}, inertia_about="origin"
    )
    np.testing.assert_allclose(other.parameters, radians.parameters, atol=1e-15)


def test_named_parameter_orders():
    """The ten parameters by name; a round trip through either order is exact."""
    chain = Chain.random(2, seed=3)
    body = chain.links[1].inertia
    truth = {
        "m": body.mass,
        "mcx": body.mass * body.com[0],
        "mcy": body.mass * body.com[1],
        "mcz": body.mass * body.com[2],
        "Ixx": body.matrix[0, 0],
        "Ixy": body.matrix[0, 1],
        "Iyy": body.matrix[1, 1],
        "Ixz": body.matrix[0, 2],
        "Iyz": body.matrix[1, 2],
        "Izz": body.matrix[2, 2],
    }
    khalil = dict(
        zip(
            ("M", "MX", "MY", "MZ", "XX", "XY", "YY", "XZ", "YZ", "ZZ"), truth.values(), strict=True
        )
    )
    for order, values in (("pinocchio", truth), ("khalil", khalil)):
        np.testing.assert_allclose(
            chain.parameters_in(order)[1], [values[name] for name in NAMES[order]], rtol=1e-15
        )
        assert chain.with_parameters(chain.parameters_in(order), order) == chain
    with pytest.raises(ModelError, match="no parameter order 'mine'; known: pinocchio, khalil"):
        chain.parameters_in("mine")


def test_quarter_turns_are_snapped_and_noted():
    chain = Chain.from_mdh(b=A, beta=[0, math.pi / 2 + 1e-10, 0], **COLUMNS, **TABLE)
    assert chain.joints[1].beta == math.pi / 2
    assert "joint 'joint2': beta snapped by" in chain.notes[0]
    kept = Chain.from_mdh(b=A, beta=[0, math.pi / 2 + 1e-10, 0], snap=0, **COLUMNS, **TABLE)
    assert kept.joints[1].beta != math.pi / 2 and kept.notes == ()


def test_the_last_alpha_is_snapped_and_noted_too():
    """It stands in no row of the modified table, but in the tip."""
    almost = math.pi / 2 + 1e-10
    chain = Chain.from_dh(a=A, alpha=[0, 0, almost], **COLUMNS, **TABLE)
    assert chain.notes == ("joint 'joint3': alpha snapped by -1.0e-10 rad to a quarter turn",)
    assert chain.tip.rotation[1] == (0, 0, -1)
    assert Chain.from_dh(a=A, alpha=[0, 0, almost], snap=0, **COLUMNS, **TABLE).notes == ()


def test_snap_is_less_than_an_eighth_of_a_turn():
    """At an eighth an angle is as near to one quarter turn as to the next."""
    eighth = math.pi / 4
    widest = math.nextafter(eighth, 0)
    chain = Chain.from_mdh(b=A, beta=[0, -0.78, 0.79], snap=widest, **COLUMNS, **TABLE)
    assert [joint.beta for joint in chain.joints] == [0, 0, math.pi / 2]
    for snap in (eighth, -1e-300):
        with pytest.raises(ModelError, match="snap must be an angle of 0 <= snap < pi/4"):
            Chain.from_mdh(b=A, beta=0, snap=snap, **COLUMNS, **TABLE)


def test_any_real_number_is_a_snap():
    for snap in (np.float32(1e-3), np.float64(1e-3), np.int64(0), 0):
        Chain.from_mdh(b=A, beta=ALPHA, **COLUMNS, **TABLE, snap=snap)


def test_to_mdh_gives_the_table_back():
    chain = Chain.from_mdh(b=A, beta=ALPHA, **COLUMNS, **TABLE)
    again = Chain.from_mdh(
        **chain.to_mdh(), joints="RPR", base=chain.base, parameters=chain.parameters_in("pinocchio")
    )
    assert again == chain


def test_chains_hash_compare_and_pickle():
    chain = Chain.random(5, "RPRPR", seed=9)
    assert pickle.loads(pickle.dumps(chain)) == chain
    assert hash(chain) == hash(Chain.random(5, "RPRPR", seed=9))
    assert chain != Chain.random(5, "RPRPR", seed=10)
    assert chain.with_gravity((0, 0, 0)) != chain
    with pytest.raises(dataclasses.FrozenInstanceError):
        chain.name = "another"


def test_lists_and_numpy_numbers_make_the_same_chain():
    chain = dataclasses.replace(
        Chain.random(2), frames=(Frame("eye", 0),), locked=(("claw", 1.0),), notes=("so",)
    )
    other = Chain(
        chain.name,
        list(chain.joints),
        [
            Link(link.name, Inertia(*map(np.array, dataclasses.astuple(link.inertia))))
            for link in chain.links
        ],
        base=chain.base.matrix,
        tip=Pose([list(row) for row in chain.tip.rotation], list(chain.tip.translation)),
        gravity=np.array(chain.gravity),
        frames=[Frame("eye", np.int64(0), np.eye(4))],
        locked=[["claw", 1]],
        notes=["so"],
    )
    assert other == chain and hash(other) == hash(chain) and other.notes == chain.notes
    joint = Joint("j", "R", np.float64(1), coulomb=[-1, 1])
    assert joint == Joint("j", "R", 1.0, coulomb=(-1.0, 1.0)) and type(joint.b) is float


def test_random_arms_are_the_same_for_ever():
    """The stream of numpy's default_rng(7), taken in the order that the docstring gives."""
    chain = Chain.random(3, "RPR", seed=7)
    body = chain.links[2].inertia
    exactly = dict(rel=1e-12)
    assert chain.joints[1].b == pytest.approx(0.3212284183827663, **exactly)
    assert chain.joints[2].beta == pytest.approx(1.7321842783482628, **exactly)
    assert chain.joints[1].d == pytest.approx(-0.19696757318068647, **exactly)
    assert chain.joints[2].theta == pytest.approx(2.3471055195601043, **exactly)
    assert body.mass == pytest.approx(2.77046716531079, **exactly)
    assert body.com[1] == pytest.approx(0.0450158417092123, **exactly)
    assert body.about_com[1, 2] == pytest.approx(0.006930739561378792, rel=1e-9)
    assert chain.base.rotation[0][1] == pytest.approx(-0.8561216927826867, **exactly)
    table = Chain.random(4, seed=7, structure="orthogonal").to_mdh()
    assert (table["beta"] / (math.pi / 2)).tolist() == [0, 0, 2, 0]
    assert (table["theta"] / (math.pi / 2)).tolist() == [0, 3, 2, 1]
    assert np.flatnonzero(table["b"]).tolist() == [1] and table["d"][1] == 0


@pytest.mark.parametrize("structure", STRUCTURES)
def test_random_structures_are_what_they_say(structure):
    chain = Chain.random(6, seed=11, structure=structure)
    rows = chain.to_mdh()
    twist, length = rows["beta"][1:], rows["b"][1:]
    expected = {
        "generic": lambda: np.all(np.sin(twist)) and np.all(length),
        "parallel": lambda: np.all(twist == 0),
        "antiparallel": lambda: np.all(twist == math.pi),
        "parallel-start": lambda: twist[0] == 0 and np.all(twist[1:]),
        "antiparallel-start": lambda: twist[0] == math.pi and np.all(np.sin(twist[1:])),
        "orthogonal": lambda: np.all(twist % (math.pi / 2) == 0) and 0 in length,
        "intersecting": lambda: np.all(length == 0) and np.all(twist),
        "coincident": lambda: 0 in length and np.all((length == 0) == (twist == 0)),
        "spherical-wrist": lambda: (
            np.all(length[-2:] == 0) and np.all(np.sin(twist[-2:]) ** 2 == 1)
        ),
    }[structure]
    assert expected()


def test_a_massless_link_is_noted_where_mass_lies_outboard():
    chain = Chain.from_mdh(
        b=[0, 0.3],
        beta=[0, 1.0],
        d=[0, 0],
        theta=[0, 0],
        mass=[0, 1],
        com=[[0, 0, 0], [0.1, 0, 0]],
        inertia=[[0, 0, 0], [0.1, 0.1, 0.1]],
    )
    assert chain.notes == ("link 'link1' has no mass",)


def test_inertia_seen_from_another_frame():
    """Moving a body by a pose moves its centre and turns its tensor about the centre."""
    body = Chain.random(1, seed=5).links[0].inertia
    pose = Pose.mdh(0.3, 0.7, -0.4, 0.2)
    R = np.array(pose.rotation)
    moved = body.seen_from(pose)
    np.testing.assert_allclose(moved.com, R @ body.com + pose.translation, atol=1e-15)
    np.testing.assert_allclose(moved.about_com, R @ body.about_com @ R.T, atol=1e-15)
    back = moved.seen_from(pose.inverse())
    np.testing.assert_allclose(back.parameters(), body.parameters(), atol=1e-15)


def test_angles_that_look_like_degrees_are_noted():
    """Those of the first row too, which move into the base; not once more when read back."""
    said = "rad looks like an angle in degrees"
    chain = Chain.from_mdh(
        b=A, beta=ALPHA, d=0, theta=[90, 45, 0.5], limits=[[-1, 1], [-50, 50], [-180, 1]], **TABLE
    )
    assert chain.notes == (
        f"joint 'joint1': theta = 90 {said}",
        f"joint 'joint2': theta = 45 {said}",
        f"joint 'joint3': a limit = -180 {said}",
    )
    assert toml.load(chain.to_toml()).notes == chain.notes
    alpha = Chain.from_dh(a=A, alpha=[90, 1, -45], d=0, theta=0, **TABLE)
    assert alpha.notes == (
        f"joint 'joint3': alpha = -45 {said}",
        f"joint 'joint2': beta = 90 {said}",
    )


@pytest.mark.parametrize(
    "limit, noted", [(12.56, False), (12.57, True), (999, True), (1000, False)]
)
def test_two_turns_and_what_stands_for_no_limit_are_not_in_degrees(limit, noted):
    limits = [[-1, 1], [-1, 1], [-1, limit]]
    chain = Chain.from_mdh(b=A, beta=ALPHA, limits=limits, **COLUMNS, **TABLE)
    assert bool(chain.notes) == noted


def test_a_frame_that_is_not_there_is_named_and_put_right():
    with pytest.raises(ModelError, match="frame named 'panda_hnd'; did you mean 'panda_hand'"):
        load("panda").chain.find_frame("panda_hnd")


def test_short_representations():
    assert repr(load("panda").chain) == "Chain('panda', RRRRRRR, 16.8 kg)"
    assert repr(load("stanford").chain).startswith("Chain('stanford', RRPRRR, ")
    assert len(repr(dataclasses.replace(Chain.random(200), name="x" * 1000))) < 200


def variants(value):
    """The same value with one of its parts changed by as little as can be."""
    if isinstance(value, float):
        yield math.nextafter(value, 0.0) if value else 5e-324
        if value == 0:
            yield -value
    elif isinstance(value, str):
        yield {"R": "P", "P": "R"}.get(value, value + "'")
    elif isinstance(value, int):
        yield value - 1
    elif isinstance(value, tuple):
        for i, part in enumerate(value):
            yield from ((*value[:i], changed, *value[i + 1 :]) for changed in variants(part))
        yield value[:-1]
    else:
        for field in dataclasses.fields(value):
            if field.compare:
                for changed in variants(getattr(value, field.name)):
                    other = copy.copy(value)
                    object.__setattr__(other, field.name, changed)
                    yield other


def test_the_key_tells_chains_apart_that_differ_in_one_bit():
    """Compiled code is kept under it: two arms of one key would run each other's."""
    chain = dataclasses.replace(
        Chain.random(3, "RPR", seed=3), frames=(Frame("eye", 1),), locked=(("claw", 1.0),)
    )
    keys = [other.key for other in variants(chain)]
    assert len(keys) > 150
    assert len({chain.key, *keys}) == len(keys) + 1
    assert pickle.loads(pickle.dumps(chain)).key == chain.key
    noted = dataclasses.replace(chain, notes=("so",), check="warn")
    assert noted.key == chain.key


def test_a_chain_is_built_once_under_another_gravity(monkeypatch):
    built = []
    monkeypatch.setattr(checks, "findings", lambda chain: built.append(chain) or [])
    for name in ("two_link", "panda"):
        assert load(name, gravity=(1, 2, 3)).chain.gravity == (1, 2, 3)
    assert len(built) == 2


def test_many_problems_are_summed_up():
    table = dict(b=np.zeros(300), beta=0.5, d=0, theta=0, inertia=1.0)
    with pytest.raises(ModelError, match="and 290 more") as caught:
        Chain.from_mdh(**table, mass=math.nan, name="x" * 1000)
    assert len(str(caught.value)) < 3000


@pytest.mark.parametrize("method", ["walker-orin", "kic-augmented", "crba", "lin1991"])
@pytest.mark.parametrize("kinds", ["RRR", "RPR", "RRP"])
def test_links_without_mass_at_the_end_weigh_nothing(kinds, method):
    """Only its rotor moves with the last joint; shares in a mass that is not there are zero."""
    chain = Chain.random(3, kinds, seed=3)
    joints = (*chain.joints[:2], dataclasses.replace(chain.joints[2], rotor_inertia=0.25))
    links = (*chain.links[:2], Link("rotor"))
    bare = dataclasses.replace(chain, joints=joints, links=links)
    q = [0.3, -0.5, 0.7]
    shorter = dataclasses.replace(chain, joints=chain.joints[:2], links=chain.links[:2])
    expected = np.zeros((3, 3))
    expected[:2, :2] = Robot(shorter).mass_matrix(q[:2], method="newton-euler")
    expected[2, 2] = 0.25
    found = Robot(bare).mass_matrix(q, method=method)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)
    assert bare.on(float).mass_share[2] == 0
