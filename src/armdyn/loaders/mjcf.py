"""MJCF: the serial arm in a model that MuJoCo has compiled.

MuJoCo itself reads the text, so that defaults, classes and includes mean what they mean there.
Bodies become links, hinges and slides joints, sites frames. Notes list what acts on the arm's
joints and is not read. The mass matrix and the bias force are compared with MuJoCo's own.
"""

from __future__ import annotations

import math
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from armdyn.chain import Chain
from armdyn.chain.dh import SNAP
from armdyn.chain.given import choice, snap_angle
from armdyn.chain.inertia import Inertia
from armdyn.chain.limits import LARGEST
from armdyn.chain.parts import assign
from armdyn.chain.pose import IDENTITY, Pose
from armdyn.errors import ACCEPTED, ModelError, cut, shorten, warn
from armdyn.forks import importing
from armdyn.loaders.mjcf_drives import Drives, names, unread
from armdyn.loaders.mjcf_guard import difference, keep_warnings
from armdyn.loaders.serial import to_chain
from armdyn.loaders.tree import Tree, TreeJoint, TreeLink, bound, rotation
from armdyn.loaders.trunk import Serial, choose

ORIGIN = (0.0, 0.0, 0.0)
UNNAMED = "MuJoCo Model"  # what MuJoCo calls a model without a name
TYPES = {0: "floating", 1: "ball", 2: "prismatic", 3: "revolute"}  # as MuJoCo numbers them
BODIES, JOINTS, SITE = (0, 1), 2, 6  # what equality constraints tie, as MuJoCo numbers it


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
    given it is the model's.
    """
    snap_angle(snap)
    choice("check", check, ("error", "warn"))
    warned: list[str] = []
    reader = Reader(_compiled(source, warned))
    tree = reader.tree()
    locked = {} if lock is None else lock
    serial = choose(tree, base, tip, locked, check)
    if tip is None:  # a body, not the point of it that its joint turns about
        serial = serial._replace(tip=reader.bodies.get(serial.tip, serial.tip))
    chain = to_chain(
        tree,
        serial,
        name=reader.name if name is None else name,
        gravity=reader.gravity() if gravity is None else gravity,
        snap=snap,
        check=check,
        notes=[*reader.notes(tree, serial)],
        moved=(),
    )
    with keep_warnings(warned):
        note = difference(chain, reader, locked, own_gravity=gravity is None)
    if note and check == "error":
        raise ModelError(f"{note}; {ACCEPTED}")
    if note:
        warn("%s: %s", cut(chain.name), note)
    said = [f"MuJoCo warns: {cut(text, 300)}" for text in dict.fromkeys(warned)]
    assign(chain, "notes", (*([note] if note else []), *chain.notes, *said))
    return chain


def _compiled(source: str | bytes | Path, warned: list[str]) -> Any:
    """MuJoCo's model; its warnings are appended to ``warned``."""
    try:
        with importing:
            import mujoco
    except ImportError:
        raise ModelError(
            "MJCF is read by MuJoCo, which is not installed; try pip install 'armdyn[mjcf]'"
        ) from None
    try:
        with keep_warnings(warned):
            if isinstance(source, Path):
                return mujoco.MjModel.from_xml_path(str(source))
            text = source.removeprefix(BOM_UTF8).decode() if isinstance(source, bytes) else source
            return mujoco.MjModel.from_xml_string(text)
    except (ValueError, mujoco.FatalError) as error:
        raise ModelError(f"MuJoCo cannot read it: {cut(' '.join(str(error).split()))}") from None


class Reader:
    """A compiled model as a tree of links and joints.

    Attributes:
        name: of the model.
        links: the names of its bodies.
        joints: the names of its joints.
        bodies: the body that each link belongs to which stands where a joint is, away from the
            body's own origin.
        drives: its motors, tendons and dampers.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        name = model.names.partition(b"\0")[0].decode(errors="replace")
        self.name = name if name not in ("", UNNAMED) else "robot"
        self.drives = Drives(model)
        self.bodies: dict[str, str] = {}
        bodies, joints, self.sites = (names(model, kind) for kind in ("body", "jnt", "site"))
        self.taken_links, self.taken_joints = {*bodies, *self.sites}, set(joints)
        self.links = [name or self._new_link(f"body{i}") for i, name in enumerate(bodies)]
        self.joints = [name or self._new_joint(f"joint{i}") for i, name in enumerate(joints)]
        self._check_sizes()

    def _new_link(self, name: str) -> str:
        return _new(name, self.taken_links)

    def _new_joint(self, name: str) -> str:
        return _new(name, self.taken_joints)

    def _check_sizes(self) -> None:
        """Refuse places, masses and inertias so large that nothing can be computed with them."""
        body = ("pos", "quat", "ipos", "iquat", "mass", "inertia")
        checked = (
            *(("body", key, self.links) for key in body),
            *(("jnt", key, self.joints) for key in ("pos", "axis")),
            *(("site", key, self.sites) for key in ("pos", "quat")),
        )
        for kind, key, named in checked:
            for name, value in zip(named, getattr(self.model, f"{kind}_{key}"), strict=True):
                if not np.all(abs(value) <= LARGEST):
                    raise ModelError(
                        f"{kind} {shorten(name)}: {key} {shorten(value.tolist())} will not do; "
                        f"expected at most {LARGEST:g} in size"
                    )
        for what, values in (
            ("a joint's ref", self.model.qpos0),
            ("gravity", self.model.opt.gravity),
        ):
            if not (abs(values) <= LARGEST).all():
                raise ModelError(f"{what} is too large; expected at most {LARGEST:g} in size")

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
        for i, site in enumerate(self.sites):
            body = self.links[model.site_bodyid[i]]
            if not site or site in self.links:
                site = self._new_link(f"{site} (site)" if site else f"site{i}")
            pose = _pose(model.site_pos[i], model.site_quat[i])
            links.append(TreeLink(site))
            on = self._new_joint(f"{site} on {body}")
            joints.append(TreeJoint(on, "fixed", body, site, pose))
        return Tree(links, joints)

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
            name, point = self.joints[j], Pose.of(np.eye(3), model.jnt_pos[j])
            last = j == places[-1] and point == IDENTITY
            child = body if last else self._new_link(f"{name} of {body}")
            if not last:
                self.bodies[child] = body
            yield self._joint(j, name, parent, child, pose @ point)
            parent, pose = child, point.inverse()
        if parent != body:
            yield TreeJoint(self._new_joint(f"{body} on {parent}"), "fixed", parent, body, pose)

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
        found = self.drives.properties(j)
        found["effort"] = bound(found["effort"])
        if self.model.jnt_limited[j]:
            found["lower"], found["upper"] = map(bound, self.model.jnt_range[j].tolist())
        return found

    def gravity(self) -> np.ndarray:
        """The model's, in the axes of the world [m/s^2]."""
        return np.zeros(3) if self.drives.disabled("GRAVITY") else self.model.opt.gravity

    # What is not read -----------------------------------------------------------------------

    def notes(self, tree: Tree, serial: Serial) -> Iterator[str]:
        """What acts on the joints that move and is not read."""
        moving = {self.joints.index(joint.name): joint.name for joint in serial.moving}
        order = {joint.name: i for i, joint in enumerate(serial.moving)}
        carriers = {serial.base: -1}  # the joint that moves each link, -1: none
        for joint in tree.below(serial.base):
            carriers[joint.child] = order.get(joint.name, carriers[joint.parent])
        yield from self.drives.notes(moving)
        helped = np.flatnonzero(self.model.body_gravcomp)
        carried = (self.links[i] for i in helped if carriers.get(self.links[i], -1) >= 0)
        yield from unread("terms of gravity compensation", carried)
        tied, others = self._equalities(moving, carriers)
        yield from unread("equality constraints on the joints that move", tied)
        yield from unread("equality constraints among what is locked", others)

    def _equalities(
        self, moving: Mapping[int, str], carriers: Mapping[str, int]
    ) -> tuple[list[str], list[str]]:
        """Constraints on moving joints, and others, each by the names of its two ends."""
        model, given = self.model, names(self.model, "eq")
        tied: list[str] = []
        others: list[str] = []
        for e in np.flatnonzero(model.eq_active0):
            ends = [int(k) for k in (model.eq_obj1id[e], model.eq_obj2id[e]) if k >= 0]
            if model.eq_type[e] == JOINTS:
                shown = [self.joints[j] for j in ends]
                ties = any(j in moving for j in ends)
            elif model.eq_type[e] in BODIES:
                sites = model.eq_objtype[e] == SITE
                shown = [self.links[model.site_bodyid[k] if sites else k] for k in ends]
                ties = len({carriers.get(link, -1) for link in shown}) > 1
            else:
                shown, ties = [given[e] or f"equality{e}"], True
            (tied if ties else others).append(" and ".join(shown))
        return tied, others


def _new(name: str, taken: set[str]) -> str:
    """A name that is not taken yet, and that is taken from now on."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _pose(position: np.ndarray, quaternion: np.ndarray) -> Pose:
    """Where MuJoCo has something in its parent's frame."""
    w, *v = quaternion.tolist()
    size = math.hypot(*v)
    if size == 0:
        return Pose.of(np.eye(3), position)
    axis = v[0] / size, v[1] / size, v[2] / size
    return Pose.of(rotation(axis, 2 * math.atan2(size, w)), position)
