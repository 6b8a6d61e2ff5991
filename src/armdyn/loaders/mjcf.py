"""MJCF: the serial arm in a model that MuJoCo has compiled.

MuJoCo itself reads the text, so that defaults, classes and includes mean what they mean there.
Bodies become links, hinges and slides joints, sites frames; actuators, contacts, tendons and
springs have no place in an arm and are noted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from armdyn.chain import Chain
from armdyn.chain.dh import SNAP
from armdyn.chain.given import choice, snap_angle
from armdyn.chain.inertia import Inertia
from armdyn.chain.pose import IDENTITY, Pose
from armdyn.errors import ModelError, cut, listed, shorten
from armdyn.loaders.serial import to_chain
from armdyn.loaders.tree import Tree, TreeJoint, TreeLink, bound, choose, rotation

ORIGIN = (0.0, 0.0, 0.0)
UNNAMED = "MuJoCo Model"  # what MuJoCo calls a model without a name
TYPES = {0: "floating", 1: "ball", 2: "prismatic", 3: "revolute"}  # as MuJoCo numbers them


def load(
    source: str | bytes | Path,
    *,
    name: str | None = None,
    base: str | None = None,
    tip: str | None = None,
    lock: Mapping[str, float] | None = None,
    gravity: ArrayLike | None = None,
    snap: float = SNAP,
    check: Literal["error", "warn"] = "error",
) -> Chain:
    """A chain from a file in MJCF, or from its text; includes and meshes need the file.

    Options are those of ``armdyn.loaders.urdf.load``. The root link is the world. If no gravity is
    given it is the model's, in the base link's frame where the model starts.
    """
    snap_angle(snap)
    choice("check", check, ("error", "warn"))
    reader = Reader(_compiled(source))
    tree = reader.tree()
    locked = {} if lock is None else lock
    if tip is None:  # a body, not the point of it that its joint turns about
        end = choose(tree, base, None, locked, check).tip
        tip = reader.bodies.get(end, end)
    return to_chain(
        tree,
        name=reader.name if name is None else name,
        base=base,
        tip=tip,
        lock=locked,
        gravity=reader.gravity(base) if gravity is None else gravity,
        snap=snap,
        check=check,
        notes=[*reader.notes()],
        moved=0.0,
    )


def _compiled(source: str | bytes | Path) -> Any:
    """MuJoCo's model."""
    try:
        import mujoco
    except ImportError:
        raise ModelError(
            "MJCF is read by MuJoCo, which is not installed; try pip install 'armdyn[mjcf]'"
        ) from None
    try:
        if isinstance(source, Path):
            return mujoco.MjModel.from_xml_path(str(source))
        text = source.decode("utf-8-sig") if isinstance(source, bytes) else source
        return mujoco.MjModel.from_xml_string(text)
    except (ValueError, UnicodeDecodeError) as error:
        raise ModelError(f"MuJoCo cannot read it: {cut(' '.join(str(error).split()))}") from None


class Reader:
    """A compiled model as a tree of links and joints.

    Attributes:
        name: of the model.
        bodies: the body that each link belongs to which stands where a joint is, away from the
            body's own origin.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        name = model.names.partition(b"\0")[0].decode(errors="replace")
        self.name = name if name not in ("", UNNAMED) else "robot"
        self.bodies: dict[str, str] = {}
        self.links = [self._name("body", i) for i in range(model.nbody)]

    def tree(self) -> Tree:
        """All bodies, joints and sites."""
        model = self.model
        links = [TreeLink(self.links[0])]
        joints: list[TreeJoint] = []
        for i in range(1, model.nbody):
            places = range(model.body_jntadr[i], model.body_jntadr[i] + model.body_jntnum[i])
            links.append(self._link(i))
            joints += self._joints(i, list(places))
        links += [TreeLink(link) for link in self.bodies]
        taken = {link.name for link in links}
        for i in range(model.nsite):
            site, body = self._name("site", i), self.links[model.site_bodyid[i]]
            site = f"{site} (site)" if site in taken else site
            pose = _pose(model.site_pos[i], model.site_quat[i])
            links.append(TreeLink(site))
            joints.append(TreeJoint(f"{site} on {body}", "fixed", body, site, pose))
        return Tree(links, joints)

    def _name(self, kind: str, i: int) -> str:
        """The name of a body, joint or site; its number where it has none."""
        return str(getattr(self.model, kind)(i).name or f"{kind}{i}")

    def _link(self, i: int) -> TreeLink:
        model = self.model
        xx, yy, zz = model.body_inertia[i].tolist()
        body = Inertia(float(model.body_mass[i]), ORIGIN, (xx, 0.0, 0.0, yy, 0.0, zz))
        return TreeLink(self.links[i], body, _pose(model.body_ipos[i], model.body_iquat[i]))

    def _joints(self, i: int, places: list[int]) -> Iterator[TreeJoint]:
        """The joints of a body in their order, each about a point of the body."""
        model, body, parent = self.model, self.links[i], self.links[self.model.body_parentid[i]]
        pose = _pose(model.body_pos[i], model.body_quat[i])  # of what comes next in its parent
        for j in places:
            name, point = self._name("joint", j), Pose.of(np.eye(3), model.jnt_pos[j])
            last = j == places[-1] and point == IDENTITY
            child = body if last else f"{name} of {body}"
            if not last:
                self.bodies[child] = body
            yield self._joint(j, name, parent, child, pose @ point)
            parent, pose = child, point.inverse()
        if parent != body:
            yield TreeJoint(f"{body} on {parent}", "fixed", parent, body, pose)

    def _joint(self, j: int, name: str, parent: str, child: str, pose: Pose) -> TreeJoint:
        """One joint; MuJoCo's position is ``ref`` where the model starts."""
        model = self.model
        kind = TYPES[int(model.jnt_type[j])]
        if kind not in ("revolute", "prismatic"):
            return TreeJoint(name, kind, parent, child, pose)
        x, y, z = model.jnt_axis[j].tolist()
        start = float(model.qpos0[model.jnt_qposadr[j]])
        back = TreeJoint(name, kind, parent, child, pose, (x, y, z)).at(-start)
        return TreeJoint(name, kind, parent, child, back, (x, y, z), None, self._properties(j))

    def _properties(self, j: int) -> dict[str, Any]:
        """Limits, friction and rotor inertia by the names a chain's joint has for them."""
        model, d = self.model, self.model.jnt_dofadr[j]
        loss = float(model.dof_frictionloss[d])
        found: dict[str, Any] = {
            "rotor_inertia": float(model.dof_armature[d]),
            "viscous": float(model.dof_damping[d]),
            "coulomb": (0.0 - loss, loss),
            "effort": bound(self._effort(j)),
        }
        if model.jnt_limited[j]:
            found["lower"], found["upper"] = map(bound, model.jnt_range[j].tolist())
        return found

    def _effort(self, j: int) -> float:
        """The torque that a joint's motors can give either way, infinite where nobody says."""
        model, most = self.model, math.inf
        if model.jnt_actfrclimited[j]:
            most = float(np.abs(model.jnt_actfrcrange[j]).min())
        for k in range(model.nu):
            drives = model.actuator_trntype[k] == 0 and model.actuator_trnid[k, 0] == j
            if drives and model.actuator_forcelimited[k]:
                force = np.abs(model.actuator_forcerange[k]).min()
                most = min(most, float(force * abs(model.actuator_gear[k, 0])))
        return most

    def gravity(self, base: str | None) -> np.ndarray:
        """The model's, in the axes of a link."""
        import mujoco

        whole = np.array(self.model.opt.gravity)
        if base is None or base not in self.links:
            return whole
        data = mujoco.MjData(self.model)
        mujoco.mj_kinematics(self.model, data)
        return data.xmat[self.links.index(base)].reshape(3, 3).T @ whole

    def notes(self) -> Iterator[str]:
        """What the model has and an arm has not."""
        model = self.model
        springs = [j for j in range(model.njnt) if model.jnt_stiffness[j]]
        if springs:
            names = listed(shorten(self._name("joint", j)) for j in springs)
            yield f"springs of joints are not read: {names}"
        helped = [i for i in range(model.nbody) if model.body_gravcomp[i]]
        if helped:
            names = listed(shorten(self.links[i]) for i in helped)
            yield f"gravity compensation of bodies is not read: {names}"
        for what, count in (("equality constraints", model.neq), ("tendons", model.ntendon)):
            if count:
                yield f"{count} {what} of the model are not read"


def _pose(position: np.ndarray, quaternion: np.ndarray) -> Pose:
    """Where MuJoCo has something in its parent's frame."""
    w, *v = quaternion.tolist()
    size = math.hypot(*v)
    if size == 0:
        return Pose.of(np.eye(3), position)
    axis = v[0] / size, v[1] / size, v[2] / size
    return Pose.of(rotation(axis, 2 * math.atan2(size, w)), position)
