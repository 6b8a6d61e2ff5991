"""The arm that a URDF describes is the arm that Pinocchio sees in it, on every quantity."""

import math
import re
from importlib import resources

import numpy as np
import pytest

from armdyn import Chain, ModelError
from armdyn.algorithms import kinematics, newton_euler
from armdyn.algorithms.regressor import regressor
from armdyn.chain.inertia import Inertia
from armdyn.chain.random import STRUCTURES
from armdyn.loaders import urdf
from tests.sweeping import few
from tests.urdf_writer import write

pinocchio = pytest.importorskip("pinocchio")

MODELS = resources.files("armdyn") / "models"
BORDER = 5  # axes 10^-BORDER rad off parallel are refused on some arms, not on others
TORQUES = ("bias", "gravity", "inverse dynamics")
SHIPPED = sorted(entry.name for entry in MODELS.iterdir() if entry.name.endswith(".urdf"))


def ours(chain, tip, q, qd, qdd):
    """All quantities by armdyn, the regressor's columns for the URDF's own link frames."""
    arm, state = chain.on(float), [row.tolist() for row in (q, qd, qdd)]
    Y = np.array(regressor(arm, *state)).reshape(chain.n, chain.n, 10)
    to_normal = [to_normal_frame(chain.find_frame(link.name)[1]) for link in chain.links]
    return {
        "pose": kinematics.pose(arm, state[0], tip),
        "jacobian": kinematics.jacobian(arm, state[0], tip),
        "mass matrix": newton_euler.mass_matrix(arm, state[0]),
        "bias": newton_euler.bias(arm, *state[:2]),
        "gravity": newton_euler.gravity(arm, state[0]),
        "inverse dynamics": newton_euler.inverse_dynamics(arm, *state),
        "regressor": np.concatenate([Y[:, i] @ to_normal[i] for i in range(chain.n)], axis=1),
    }


def to_normal_frame(pose):
    """The matrix (10, 10) that takes parameters in a link's own frame to those in E_i."""
    return np.column_stack(
        [Inertia.from_parameters(unit).seen_from(pose).parameters() for unit in np.eye(10)]
    )


def theirs(model, tip, q, qd, qdd):
    """The same by Pinocchio."""
    data, q = model.createData(), configuration(model, q)
    frame = model.getFrameId(tip)
    pinocchio.framesForwardKinematics(model, data, q)
    pinocchio.computeJointJacobians(model, data, q)
    jacobian = pinocchio.getFrameJacobian(model, data, frame, pinocchio.LOCAL_WORLD_ALIGNED)
    M = np.triu(pinocchio.crba(model, data, q))
    return {
        "pose": data.oMf[frame].homogeneous,
        "jacobian": jacobian,
        "mass matrix": M + np.triu(M, 1).T,
        "bias": pinocchio.nonLinearEffects(model, data, q, qd).copy(),
        "gravity": pinocchio.computeGeneralizedGravity(model, data, q).copy(),
        "inverse dynamics": pinocchio.rnea(model, data, q, qd, qdd).copy(),
        "regressor": pinocchio.computeJointTorqueRegressor(model, data, q, qd, qdd).copy(),
    }


def reduced(text, locked):
    """Pinocchio's model of a URDF with those joints locked."""
    model = pinocchio.buildModelFromXML(text)
    reference = pinocchio.neutral(model)
    for name, position in locked:
        reference[model.joints[model.getJointId(name)].idx_q] = position
    numbers = [model.getJointId(name) for name, _ in locked]
    return pinocchio.buildReducedModel(model, numbers, reference)


def configuration(model, q):
    """q as Pinocchio writes it: an unlimited angle by its cosine and sine."""
    pairs = zip(q, list(model.joints)[1:], strict=True)
    return np.concatenate([[np.cos(x), np.sin(x)] if joint.nq == 2 else [x] for x, joint in pairs])


def compare(text, chain, tip, seed=0, states=1, floor=1e-3):
    """The largest error of each quantity in random states, and its largest entry in them."""
    model = reduced(text, chain.locked)
    rng = np.random.default_rng(seed)
    off, size = {}, {}
    for state in rng.uniform(-3, 3, (states, 3, chain.n)):
        truth = theirs(model, tip, *state)
        for name, found in ours(chain, tip, *state).items():
            expected = truth[name].reshape(np.shape(found))  # Pinocchio drops axes of length one
            off[name] = max(off.get(name, 0.0), np.abs(found - expected).max())
            size[name] = max(size.get(name, floor), np.abs(expected).max())
    return off, size


def errors(text, chain, tip, seed=0):
    """The relative error of each quantity in a random state."""
    off, size = compare(text, chain, tip, seed)
    return {name: off[name] / size[name] for name in off}


def drawn(n, seed):
    """A random arm of n joints of either kind, its structure taken in turn."""
    letters = np.random.default_rng([n, seed]).choice(list("RRP"), n)
    return Chain.random(n, "".join(letters), seed, STRUCTURES[seed % len(STRUCTURES)])


def stated(chain):
    """The relative accuracy that the chain's notes say may be lost, summed."""
    found = (re.search(r"relative accuracy of up to (\S+)", note) for note in chain.notes)
    return sum(float(match[1]) for match in found if match)


def check_tilted(text, tilt, seed):
    """Right to the accuracy stated; or what the refusal says, and right with the snap it names.

    The accuracy is that of the largest a quantity is as the arm moves, for a torque that of the
    largest torque: in one state, or along gravity, hardly any may be needed.
    """
    refusal = ""
    try:
        chain = urdf.load(text, tip="tip", snap=0)
    except ModelError as error:
        refusal = str(error)
        snap = float(re.search(r"snap=(\S+)", refusal)[1])
        chain = urdf.load(text, tip="tip", snap=max(snap, 1.01 * tilt))
    off, size = compare(text, chain, "tip", seed, states=3, floor=0.0)
    size |= dict.fromkeys(TORQUES, max(size[name] for name in TORQUES))
    found = {name: off[name] / size[name] for name in off}
    assert max(found.values()) < stated(chain) + 1e-12, found
    return refusal


@pytest.mark.parametrize("file", SHIPPED)
def test_shipped_arms(file):
    """Every link that moves, seen as the tip."""
    text = (MODELS / file).read_text()
    chain = urdf.load(text, snap=0)
    for link in chain.frame_names:
        if chain.find_frame(link)[0] >= 0:
            assert max(errors(text, chain, link).values()) < 1e-12, link


@pytest.mark.parametrize(
    "choices",
    [
        {"tip": "panda_leftfinger", "lock": {"panda_finger_joint2": 0.0}},
        {"tip": "panda_link4"},
        {"lock": {"panda_joint3": 0.5, "panda_finger_joint1": 0.03}},
        {"lock": {"panda_finger_joint1": 0.01, "panda_finger_joint2": 0.04}},
        {"tip": "panda_hand_tcp", "lock": {"panda_joint1": math.pi / 2, "panda_joint7": -1}},
    ],
    ids=str,
)
def test_chosen_and_locked_joints(choices):
    text = (MODELS / "panda.urdf").read_text()
    chain = urdf.load(text, snap=0, **choices)
    tip = choices.get("tip", "panda_link7")
    assert max(errors(text, chain, tip).values()) < 1e-12


@pytest.mark.parametrize("n", few(range(1, 13), 0, 1, 2, 5))
def test_random_arms(n):
    """27 arms of each size, three of each structure: 324 in all."""
    for seed in range(27):
        original = drawn(n, seed)
        text = write(original, seed)
        chain = urdf.load(text, tip="tip", snap=0)
        found = errors(text, chain, "tip", seed)
        assert max(found.values()) < 1e-12, f"{original.name}: {found}"


@pytest.mark.parametrize("digits", range(2, 13))
@pytest.mark.parametrize(
    ("kinds", "costly"),
    [
        ("RPR", "joints 'joint2' and 'joint3'"),
        ("PRR", "joints 'joint2' and 'joint3'"),
        ("PPR", "joints 'joint2' and 'joint3'"),
        ("RRP", "joints 'joint1' and 'joint2'"),
        ("PRP", None),
        ("RPP", None),
    ],
)
def test_nearly_parallel_slides(kinds, costly, digits):
    """As below; a slide is laid on the axis before, so that those two cost nothing."""
    rng = np.random.default_rng(digits)
    refusals = []
    for seed in range(3):
        original = Chain.random(3, kinds, seed, ("parallel", "antiparallel")[seed % 2])
        tilts = [0.0, *(10.0**-digits * rng.uniform(1, 5, 2)).tolist()]
        refusals.append(check_tilted(write(original, seed, tilts), max(tilts), seed))
    if digits != BORDER:
        assert any(refusals) == (costly is not None and BORDER < digits <= 9)
    assert all(costly in refusal for refusal in refusals if refusal)


@pytest.mark.parametrize("digits", range(2, 13))
def test_nearly_parallel_axes(digits):
    """Axes 10^-digits rad off parallel are right to the accuracy stated, or refused.

    Refused are only those of 1e-6 to 1e-9 rad, and some of 1e-5, which snap= makes parallel; closer
    ones are parallel by themselves.
    """
    rng = np.random.default_rng(digits)
    refused = 0
    for seed in range(8):
        n = (2, 3, 6)[seed % 3]
        original = Chain.random(n, None, seed, ("parallel", "antiparallel")[seed % 2])
        tilts = [0.0, *(10.0**-digits * rng.uniform(1, 5, n - 1)).tolist()]
        text = write(original, seed, tilts)
        refused += bool(check_tilted(text, max(tilts), seed))
    if digits != BORDER:
        assert (refused > 0) == (BORDER < digits <= 9)


def test_a_heavy_gantry_with_a_light_wrist_costs_nothing():
    """Its wrist has next to no inertia beside it, but all of its axes are perpendicular."""
    parts, parent = ['<robot name="gantry"><link name="base"/>'], "base"
    for kind, axis, mass in (
        ("prismatic", "1 0 0", 2000),
        ("prismatic", "0 1 0", 2000),
        ("prismatic", "0 0 1", 400),
        ("continuous", "0 0 1", 1e-3),
    ):
        child = f"link{len(parts)}"
        parts.append(
            f'<joint name="to_{child}" type="{kind}"><parent link="{parent}"/>'
            f'<child link="{child}"/><origin xyz="0.3 0.4 0.5"/><axis xyz="{axis}"/>'
            f'<limit lower="-1" upper="1" velocity="1" effort="1"/></joint>'
            f'<link name="{child}"><inertial><mass value="{mass}"/><inertia ixx="1e-6" iyy="1e-6" '
            f'izz="1e-6" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        )
        parent = child
    text = "".join([*parts, "</robot>"])
    chain = urdf.load(text, snap=0)
    assert not chain.notes
    assert max(errors(text, chain, parent).values()) < 1e-12


STAGES = """
<robot name="stages">
  <link name="base"/>
  <joint name="one" type="continuous"><parent link="base"/><child link="lower"/>
    <axis xyz="0 0 1"/></joint>
  <link name="lower"><inertial><origin xyz="0.002 0 0.2"/><mass value="3"/>
    <inertia ixx="1e-3" iyy="1e-3" izz="3e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="two" type="continuous"><parent link="lower"/><child link="upper"/>
    <origin xyz="0.001 0 0.5" rpy="{tilt} {tilt} 0"/><axis xyz="0 0 1"/></joint>
  <link name="upper"><inertial><origin xyz="0 0.003 0.1"/><mass value="2"/>
    <inertia ixx="1e-3" iyy="1e-3" izz="2e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="mount" type="fixed"><parent link="upper"/><child link="tip"/>
    <origin xyz="0 0 1"/></joint>
  <link name="tip"/>
</robot>"""


@pytest.mark.parametrize("digits", range(2, 13))
def test_nearly_parallel_axes_of_slim_arms(digits):
    """Mass that lies close to the axes feels their tilt the more, however long the arm is."""
    tilt = 10.0**-digits
    refusal = check_tilted(STAGES.format(tilt=tilt), 1.5 * tilt, digits)
    if digits != BORDER:
        assert bool(refusal) == (BORDER < digits <= 9)
