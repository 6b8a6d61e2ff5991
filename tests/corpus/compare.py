"""A loaded chain against Pinocchio or MuJoCo, at random states."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from copy import deepcopy
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

import mujoco
import numpy as np
import pinocchio

from armdyn import Chain, Robot
from armdyn.algorithms import crba, kinematics, newton_euler
from armdyn.loaders import mjcf, xacro
from tests.corpus.packages import RobotFile

STATES = 3
TORQUES = ("bias", "gravity", "inverse dynamics")
Errors = dict[str, float]


def compared(
    file: RobotFile, chain: Chain, inboard: Mapping[str, float] | None = None
) -> tuple[str, Errors, list[str]]:
    """The reference or the reason for none, relative errors, and faults.

    Args:
        file: that the chain was loaded from.
        chain: the loaded chain.
        inboard: positions of joints before the chain's base; poses are then not compared.
    """
    with_reference = _with_mujoco if file.kind == "mjcf" else _with_pinocchio
    reference, errors, faults = with_reference(
        file, chain, dict(chain.locked) | dict(inboard or {})
    )
    if inboard is not None:
        errors.pop("poses", None)
    return reference, errors, faults


def moving(file: RobotFile) -> int:
    """The joints of a file that move by themselves, about or along one axis."""
    if file.kind == "mjcf":
        return int(np.isin(_mujoco_model(file).jnt_type, (2, 3)).sum())
    joints = _urdf(file).findall("joint")
    free = [joint for joint in joints if joint.find("mimic") is None]
    return sum(joint.get("type") in ("revolute", "continuous", "prismatic") for joint in free)


@lru_cache(1)
def _urdf(file: RobotFile) -> ElementTree.Element:
    text: str | bytes = file.path.read_bytes()
    if file.kind == "xacro":
        text = xacro.expanded(file.path, xacro._Arguments(None), None)
    builder, parser = ElementTree.TreeBuilder(), expat.ParserCreate()  # takes unbound prefixes
    parser.StartElementHandler, parser.EndElementHandler = builder.start, builder.end
    parser.Parse(text, True)
    return builder.close()


@lru_cache(1)
def _mujoco_model(file: RobotFile) -> Any:
    model = mujoco.MjModel.from_xml_path(str(file.path))
    off = mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.opt.disableflags |= off
    return model


def stated(chain: Chain) -> float:
    """The relative error that the chain's notes speak of."""
    notes = " ".join(chain.notes)
    losses = re.findall(r"relative accuracy of up to ([\d.e-]+)|snapped by ([\d.e-]+) rad", notes)
    small = re.findall(r"(\d+) angles? snapped, at most ([\d.e-]+) rad", notes)
    most = [float(loss or angle) for loss, angle in losses]
    return sum(most) + sum(int(count) * float(angle) for count, angle in small)


def as_compiled(robot: Robot) -> Errors:
    """The compiled functions against the same algorithms on plain numbers."""
    q, qd, _ = np.random.default_rng(0).uniform(-1, 1, (3, robot.n))
    ours = _ours(robot.chain, q, qd, 0 * q)
    found = {"pose": robot.pose(q), "bias": robot.bias(q, qd), "gravity": robot.gravity(q)}
    found["mass matrix"] = robot.mass_matrix(q) - np.diag(
        [joint.rotor_inertia for joint in robot.chain.joints]
    )
    return {
        f"compiled {name}": np.abs(found[name] - ours[name]).max() / np.abs(ours[name]).max()
        for name in found
        if np.abs(ours[name]).max() > 0
    }


def _ours(chain: Chain, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> dict[str, np.ndarray]:
    arm, state = chain.on(float), [row.tolist() for row in (q, qd, qdd)]
    found = {"pose": kinematics.pose(arm, state[0])}
    if not chain.kinematic_only:
        found["mass matrix"] = crba.mass_matrix(arm, state[0])
        found["bias"] = newton_euler.bias(arm, *state[:2])
        found["gravity"] = newton_euler.gravity(arm, state[0])
        found["inverse dynamics"] = newton_euler.inverse_dynamics(arm, *state)
    return {name: np.array(value, float) for name, value in found.items()}


def _relative(pairs: list[tuple[dict[str, np.ndarray], dict[str, np.ndarray]]]) -> Errors:
    """The largest error of each quantity, relative to its largest entry in all states.

    A torque counts relative to the largest torque, for gravity may be next to nothing.
    """
    off: Errors = {}
    size: Errors = {}
    for ours, theirs in pairs:
        for name, value in theirs.items():
            found = np.asarray(ours[name]).reshape(np.shape(value))
            off[name] = max(off.get(name, 0.0), float(np.abs(found - value).max()))
            size[name] = max(size.get(name, 0.0), float(np.abs(value).max()))
    largest = max((size.get(name, 0.0) for name in TORQUES), default=0.0)
    size |= {name: largest for name in TORQUES if name in size}
    return {name: off[name] / (size[name] or 1.0) for name in off}


# Pinocchio ----------------------------------------------------------------------------------


def _with_pinocchio(
    file: RobotFile, chain: Chain, locked: Mapping[str, float]
) -> tuple[str, Errors, list[str]]:
    try:
        model = pinocchio.buildModelFromXML(_with_links_apart(deepcopy(_urdf(file))))
    except Exception as error:
        return f"not compared: {str(error).splitlines()[0][:60]}", {}, []
    model = _reduced(model, chain, locked)
    order = [model.getJointId(joint.name) for joint in chain.joints]
    rows = np.array([model.joints[k].idx_v for k in order])
    data = model.createData()
    rng = np.random.default_rng(0)
    names = [name for name in chain.frame_names if model.existFrame(f"link {name}")]
    pairs = []
    for state in rng.uniform(-3, 3, (STATES, 3, chain.n)):
        ours = _ours(chain, *state)
        qd, qdd = np.zeros((2, model.nv))
        qd[rows], qdd[rows] = state[1], state[2]
        q = pinocchio.neutral(model)
        for k, x in zip(order, state[0], strict=True):
            place = model.joints[k]
            turn = [np.cos(x), np.sin(x)] if place.nq == 2 else [x]
            q[place.idx_q : place.idx_q + place.nq] = turn
        pinocchio.framesForwardKinematics(model, data, q)
        ours["poses"], theirs = _poses(chain, state[0], names), {}
        theirs["poses"] = np.array(
            [data.oMf[model.getFrameId(f"link {name}")].homogeneous for name in names]
        )
        if not chain.kinematic_only:
            M = np.triu(pinocchio.crba(model, data, q))
            M = (M + np.triu(M, 1).T)[np.ix_(rows, rows)]
            theirs["mass matrix"] = M
            theirs["bias"] = pinocchio.nonLinearEffects(model, data, q, qd)[rows].copy()
            theirs["gravity"] = pinocchio.computeGeneralizedGravity(model, data, q)[rows].copy()
            theirs["inverse dynamics"] = pinocchio.rnea(model, data, q, qd, qdd)[rows].copy()
        pairs.append((ours, theirs))
    places = [model.joints[k].idx_q for k in order]
    turning = np.array([model.joints[k].nq == 2 for k in order])  # without limits
    joints = {
        "viscous": model.damping[rows],
        "coulomb": model.friction[rows],
        "effort": model.effortLimit[rows],
        "velocity": model.velocityLimit[rows],
        "lower": np.where(turning, -np.inf, model.lowerPositionLimit[places]),
        "upper": np.where(turning, np.inf, model.upperPositionLimit[places]),
    }
    errors = _relative(pairs) | _joint_data(chain, joints)
    return ("Pinocchio, poses" if chain.kinematic_only else "Pinocchio"), errors, []


def _with_links_apart(root: ElementTree.Element) -> str:
    """The URDF with names of links that differ from those of joints, which Pinocchio wants."""
    for link in root.findall("link"):
        link.set("name", f"link {link.get('name')}")
    for joint in root.findall("joint"):
        for end in (*joint.findall("parent"), *joint.findall("child")):
            end.set("link", f"link {end.get('link')}")
    return ElementTree.tostring(root, encoding="unicode")


def _reduced(model: Any, chain: Chain, locked: Mapping[str, float]) -> Any:
    """Pinocchio's model of the chain's joints, all others locked."""
    reference, numbers = pinocchio.neutral(model), []
    for name in {*model.names[1:]} - {joint.name for joint in chain.joints}:
        numbers.append(model.getJointId(name))
        place, position = model.joints[numbers[-1]], locked.get(name, 0.0)
        if place.nq == 1:
            reference[place.idx_q] = position
        elif place.nq == 2:
            reference[place.idx_q : place.idx_q + 2] = np.cos(position), np.sin(position)
    return pinocchio.buildReducedModel(model, numbers, reference)


def _joint_data(chain: Chain, theirs: Mapping[str, np.ndarray]) -> Errors:
    """The relative errors of limits and friction, by the names that a joint has for them."""
    errors = {}
    for name, expected in theirs.items():
        ours = [getattr(joint, name) for joint in chain.joints]
        pairs = zip(map(np.max, ours), expected.tolist(), strict=True)
        errors[name] = max(_apart(x, y) for x, y in pairs)
    return errors


def _apart(ours: float, theirs: float) -> float:
    if math.isinf(ours):  # of limits, zero and the largest numbers say that there is none
        return 0.0 if theirs == 0 or abs(theirs) > 1e30 else math.inf
    return float(abs(ours - theirs) / max(1.0, abs(theirs)))


def _poses(chain: Chain, q: np.ndarray, names: list[str]) -> np.ndarray:
    arm, state = chain.on(float), q.tolist()
    return np.array([kinematics.pose(arm, state, name) for name in names], float)


# MuJoCo -------------------------------------------------------------------------------------


def _with_mujoco(
    file: RobotFile, chain: Chain, locked: Mapping[str, float]
) -> tuple[str, Errors, list[str]]:
    model = _mujoco_model(file)
    reader = mjcf.Reader(model)
    names = {name: j for j, name in enumerate(reader.joints)}
    if unknown := {joint.name for joint in chain.joints} - {*names}:
        return "not compared: joint names", {}, [f"MuJoCo has no joints {unknown}"]
    data = mujoco.MjData(model)
    places = [names[joint.name] for joint in chain.joints]
    rows, at = model.jnt_dofadr[places], model.jnt_qposadr[places]
    start = model.qpos0.copy()
    for name, position in locked.items():
        if model.jnt_type[names[name]] in (2, 3):
            start[model.jnt_qposadr[names[name]]] = position
    numbers = {name: i for i, name in enumerate(reader.links)}
    bodies = [(name, numbers[name]) for name in chain.frame_names if name in numbers]
    pairs, passive = [], dict.fromkeys(("spring", "gravcomp", "fluid"), 0.0)
    for state in np.random.default_rng(0).uniform(-3, 3, (STATES, 3, chain.n)):
        ours = _ours(chain, *state)
        data.qpos[:], data.qvel[:] = start, 0
        data.qpos[at] = state[0]
        mujoco.mj_forward(model, data)
        theirs = {"gravity": data.qfrc_bias[rows].copy()}
        theirs["poses"] = np.array([_homogeneous(data, i) for _, i in bodies])
        ours["poses"] = _poses(chain, state[0], [name for name, _ in bodies])
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, M)
        data.qvel[rows] = state[1]
        mujoco.mj_forward(model, data)
        theirs["bias"] = data.qfrc_bias[rows].copy()
        theirs["damping"] = data.qfrc_damper[rows].copy()
        ours["damping"] = -np.array([joint.viscous for joint in chain.joints]) * state[1]
        for what in passive:
            passive[what] = max(passive[what], np.abs(getattr(data, f"qfrc_{what}")[rows]).max())
        if chain.kinematic_only:
            theirs = {"poses": theirs["poses"]}
        else:
            rotors = np.diag([joint.rotor_inertia for joint in chain.joints])
            ours["mass matrix"] = ours["mass matrix"] + rotors
            theirs["mass matrix"] = M[np.ix_(rows, rows)]
            theirs["inverse dynamics"] = theirs["mass matrix"] @ state[2] + theirs["bias"]
            ours["inverse dynamics"] = ours["inverse dynamics"] + rotors @ state[2]
        pairs.append((ours, theirs))
    ends = np.where(
        model.jnt_limited[places] == 1, model.jnt_range[places].T, ((-np.inf,), (np.inf,))
    )
    limits = {"lower": ends[0], "upper": ends[1]}
    if not model.tendon_frictionloss.any():  # which acts on joints, too
        limits["coulomb"] = model.dof_frictionloss[rows]
    errors = _relative(pairs) | _joint_data(chain, limits)
    reference = "MuJoCo, poses" if chain.kinematic_only else "MuJoCo"
    return reference, errors, _unsaid(chain, model, passive, rows)


def _homogeneous(data: Any, i: int) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = data.xmat[i].reshape(3, 3), data.xpos[i]
    return pose


def _unsaid(chain: Chain, model: Any, passive: dict[str, float], rows: np.ndarray) -> list[str]:
    """Forces of the model that the chain leaves out without a note."""
    notes = " ".join(chain.notes)
    words = {"spring": "spring", "gravcomp": "gravity compensation", "fluid": "medium"}
    found = [f"{words[k]} without a note" for k, most in passive.items() if most > 1e-12]
    servos = (model.actuator_biastype != 0) | (model.actuator_gaintype != 0)
    own = [k for k in range(model.nu) if model.actuator_trntype[k] == 0]
    if any(servos[k] and model.jnt_dofadr[model.actuator_trnid[k, 0]] in rows for k in own):
        found.append("servo without a note")
    return [fault for fault in found if fault.removesuffix(" without a note") not in notes]
