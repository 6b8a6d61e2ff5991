"""Chain: a serial arm in normal driving-axis frames; frozen, and checked once, when it is built."""

from __future__ import annotations

import dataclasses
import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from armdyn.chain import checks, dh
from armdyn.chain.arm import Arm
from armdyn.chain.inertia import Inertia
from armdyn.chain.minimal import MinimalParameters
from armdyn.chain.parts import Frame, Joint, Link, assign, check_name, locked_at, tuple_of
from armdyn.chain.pose import IDENTITY, Pose, Triple, exactly, numbers
from armdyn.errors import ModelError

if TYPE_CHECKING:
    from armdyn.chain.random import Structure
    from armdyn.spatial import Scalar

log = logging.getLogger("armdyn")

EARTH: Triple = (0.0, 0.0, -9.81)
SNAP = 1e-9  # rad: a constant angle this close to a quarter turn is meant to be one


@dataclass(frozen=True)
class Chain:
    """A serial manipulator from base to tip; joint i moves link i.

    E_0 coincides with E_1 at q = 0: the constants of the first row are zero, and what stands
    before joint 1 is ``base`` (E_0 in the base frame). ``tip`` is the tip frame in E_n.
    ``locked`` says which joints of the description were locked, and where. ``notes`` says what
    a user should know: what was moved, snapped, or found without mass.
    """

    name: str
    joints: tuple[Joint, ...]
    links: tuple[Link, ...]
    base: Pose = IDENTITY
    tip: Pose = IDENTITY
    gravity: Triple = EARTH  # in the base frame [m/s^2]
    frames: tuple[Frame, ...] = ()
    locked: tuple[tuple[str, float], ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)
    check: Literal["error", "warn"] = field(default="error", compare=False, repr=False)

    def __post_init__(self) -> None:
        self._make_plain()
        broken = list(checks.structure(self)) or checks.numbers(self)
        if broken:
            raise ModelError(f"{self.name}: " + "; ".join(broken))
        found = checks.findings(self)
        if found and self.check == "error":
            raise ModelError(f"{self.name}: " + "; ".join(found))
        for note in found:
            if note not in self.notes:  # said when the chain was built that this one is made from
                log.warning("%s: %s", self.name, note)
        said = [note for note in self.notes if not isinstance(note, checks.Finding)]
        fresh = map(checks.Finding, found + checks.massless(self))
        assign(self, "notes", (*said, *(note for note in fresh if note not in said)))

    def _make_plain(self) -> None:
        """Tuples, poses and floats from whatever like them was given."""
        check_name("chain", self.name)
        for key, kind in (("joints", Joint), ("links", Link), ("frames", Frame), ("notes", str)):
            assign(self, key, tuple_of(f"{self.name}: {key}", getattr(self, key), kind))
        pairs = tuple_of(f"{self.name}: locked", self.locked, tuple, list)
        assign(self, "locked", tuple(map(locked_at, pairs)))
        assign(self, "base", dh.pose("base", self.base))
        assign(self, "tip", dh.pose("tip", self.tip))
        assign(self, "gravity", dh.vector("gravity", self.gravity))

    # What it is -----------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """The number of joints."""
        return len(self.joints)

    def __len__(self) -> int:
        return self.n

    @property
    def kinds(self) -> str:
        """A letter a joint from base to tip: "R" revolute, "P" prismatic."""
        return "".join(joint.kind for joint in self.joints)

    @property
    def mass(self) -> float:
        """Of all links that the joints move [kg]."""
        return sum(link.inertia.mass for link in self.links)

    @property
    def parameters(self) -> np.ndarray:
        """The inertial parameters of all links in the order "pinocchio", shape (10 n,)."""
        return self.parameters_in("pinocchio").ravel()

    def parameters_in(self, order: str) -> np.ndarray:
        """The inertial parameters in the order "pinocchio" or "khalil", shape (n, 10)."""
        return np.array([link.inertia.parameters(order) for link in self.links])

    @property
    def frame_names(self) -> list[str]:
        """The names that ``pose`` and ``jacobian`` know, links first, then fixed frames."""
        links, frames = [link.name for link in self.links], [frame.name for frame in self.frames]
        return links + [name for name in frames if name not in links]

    def find_frame(self, name: str | None = None) -> tuple[int, Pose]:
        """The link (counted from 0, base -1) and the pose in E_i of a named link or frame.

        None means the tip.
        """
        if name is None:
            return self.n - 1, self.tip
        for frame in self.frames:
            if frame.name == name:
                return frame.link, frame.pose
        for i, link in enumerate(self.links):
            if link.name == name:
                return i, IDENTITY
        known = ", ".join(self.frame_names)
        raise ModelError(f"no link or frame named {name!r} in {self.name!r}; it has: {known}")

    def on(
        self,
        number: Callable[[float], Scalar],
        parameters: Literal["natural", "minimal"] = "natural",
    ) -> Arm:
        """This chain as algorithms see it, its constants made scalars by ``number``.

        ``parameters="minimal"`` carries the minimal combinations of the inertial parameters and
        nothing else.
        """
        if parameters not in ("natural", "minimal"):
            raise ModelError(f"parameters are 'natural' or 'minimal', not {parameters!r}")
        if parameters == "minimal":
            return Arm(self, number, self._minimal_bodies)
        return Arm(self, number, [link.inertia for link in self.links])

    @cached_property
    def _minimal_bodies(self) -> list[Inertia]:
        return MinimalParameters(self).bodies()

    # Variations of it -----------------------------------------------------------------------

    def with_gravity(self, gravity: Sequence[float]) -> Chain:
        """The same arm where ``gravity`` (3,) [m/s^2], in the base frame, is that of free fall."""
        return dataclasses.replace(self, gravity=dh.vector("gravity", gravity))

    def with_payload(
        self, mass: float, com: ArrayLike = (0.0, 0.0, 0.0), inertia: ArrayLike | None = None
    ) -> Chain:
        """The same arm carrying a load [kg] in the tip frame.

        Args:
            mass: of the load [kg].
            com: its centre of mass in the tip frame (3,) [m].
            inertia: its tensor about its own centre, in the tip's axes (3, 3) [kg m^2].
        """
        tensor = np.zeros((3, 3)) if inertia is None else inertia
        about_com = exactly("payload: inertia", tensor, (3, 3))
        dh.check_symmetric("payload: inertia", about_com)
        weight = float(exactly("payload: mass", mass, ()))
        load = Inertia.from_com(weight, dh.vector("payload: com", com), about_com)
        for finding in load.findings():
            raise ModelError(f"payload: {finding}")
        last = self.links[-1]
        body = last.inertia + load.seen_from(self.tip)
        return dataclasses.replace(self, links=(*self.links[:-1], Link(last.name, body)))

    def with_parameters(self, parameters: ArrayLike, order: str = "pinocchio") -> Chain:
        """The same arm with other inertial parameters, shape (n, 10) or (10 n,)."""
        n = self.n
        rows = numbers("parameters", parameters)
        if rows.shape not in ((n, 10), (10 * n,)):
            raise ModelError(f"parameters have shape ({n}, 10) or ({10 * n},), not {rows.shape}")
        links = (
            Link(link.name, Inertia.from_parameters(row, order))
            for link, row in zip(self.links, rows.reshape(n, 10), strict=True)
        )
        return dataclasses.replace(self, links=tuple(links))

    # As text and as a table -----------------------------------------------------------------

    def to_mdh(self) -> dict[str, np.ndarray]:
        """The modified DH table: arrays b [m], beta [rad], d [m], theta [rad], shape (n,) each.

        The first row is zero (its constants stand in ``base``), what follows E_n in ``tip``.
        """
        columns = ("b", "beta", "d", "theta")
        return {c: np.array([getattr(joint, c) for joint in self.joints]) for c in columns}

    def to_toml(self) -> str:
        """This chain in armdyn's own format, which ``armdyn.load`` reads back bit for bit."""
        from armdyn.chain.writers import to_toml

        return to_toml(self)

    # Where it comes from --------------------------------------------------------------------

    @classmethod
    def from_mdh(
        cls,
        *,
        b: ArrayLike,
        beta: ArrayLike,
        d: ArrayLike,
        theta: ArrayLike,
        joints: str | None = None,
        mass: ArrayLike | None = None,
        com: ArrayLike | None = None,
        inertia: ArrayLike | None = None,
        inertia_about: Literal["com", "origin"] = "com",
        parameters: ArrayLike | None = None,
        order: str = "pinocchio",
        rotor_inertia: ArrayLike = 0.0,
        viscous: ArrayLike = 0.0,
        coulomb: ArrayLike = 0.0,
        limits: ArrayLike = (-math.inf, math.inf),
        joint_names: Sequence[str] | None = None,
        link_names: Sequence[str] | None = None,
        base: Pose | ArrayLike = IDENTITY,
        tip: Pose | ArrayLike = IDENTITY,
        gravity: Sequence[float] = EARTH,
        frames: Sequence[Frame] = (),
        name: str = "arm",
        degrees: bool = False,
        snap: float = SNAP,
        check: Literal["error", "warn"] = "error",
    ) -> Chain:
        """A chain from a modified DH table (Craig's; the papers' normal driving-axis frames).

        Args:
            b: column of the table (n,) [m]; E_{i-1} -> E_i is Rx(beta) Tx(b) Rz(theta) Tz(d).
            beta: column of the table (n,) [rad].
            d: column of the table (n,) [m]; a prismatic joint adds its q.
            theta: column of the table (n,) [rad]; a revolute joint adds its q.
            joints: a letter a joint, "R" or "P"; all revolute if not given.
            mass: of each link (n,) [kg].
            com: centre of mass of each link, in E_i (n, 3) [m].
            inertia: tensor of each link in the axes of E_i (n, 3, 3), or its diagonal (n, 3)
                [kg m^2].
            inertia_about: the point that ``inertia`` is taken about.
            parameters: the ten parameters of each link (n, 10), in place of mass, com and inertia.
            order: the order of ``parameters``, "pinocchio" or "khalil".
            rotor_inertia: of each motor, reflected to its joint (n,).
            viscous: friction torque a speed (n,).
            coulomb: friction, a magnitude a joint (n,), or (at negative, at positive speed) (n, 2).
            limits: (lower, upper) of each joint (n, 2) [rad or m].
            joint_names: "joint1", "joint2", ... if not given.
            link_names: "link1", "link2", ... if not given.
            base: E_0 in the base frame, before the first row; a Pose or a matrix (4, 4).
            tip: the tip in E_n; a Pose or a matrix (4, 4).
            gravity: acceleration of free fall in the base frame (3,) [m/s^2].
            frames: named frames fixed to links.
            name: of the arm.
            degrees: whether beta and theta, and limits of revolute joints, are in degrees.
            snap: a constant angle within ``snap`` [rad] of a quarter turn becomes it.
            check: "error" refuses an arm that could not exist, "warn" only logs it.
        """
        table = {"b": b, "beta": beta, "d": d, "theta": theta}
        n, snap = dh.length(table, joints), dh.checked_snap(snap)
        rows = {key: dh.column(key, value, (n,)) for key, value in table.items()}
        kinds = joints or "R" * n
        bounds = dh.column("limits", limits, (n, 2))
        if degrees:
            turning = np.array([kind == "R" for kind in kinds])
            rows["beta"], rows["theta"] = np.radians(rows["beta"]), np.radians(rows["theta"])
            bounds = np.where(turning[:, None], np.radians(bounds), bounds)
        joint_names = dh.names("joint_names", joint_names, "joint", n)
        link_names = dh.names("link_names", link_names, "link", n)
        notes = dh.snap_angles(rows, snap, joint_names)
        friction = numbers("coulomb", coulomb)
        if friction.ndim < 2:
            friction = np.abs(dh.column("coulomb", friction, (n,)))[:, None] * [-1.0, 1.0] + 0.0
        scalars = {
            **rows,
            "rotor_inertia": dh.column("rotor_inertia", rotor_inertia, (n,)),
            "viscous": dh.column("viscous", viscous, (n,)),
            "lower": bounds[:, 0],
            "upper": bounds[:, 1],
        }
        pairs = dh.column("coulomb", friction, (n, 2)).tolist()
        bodies = dh.bodies(n, mass, com, inertia, inertia_about, parameters, order)
        before = Pose.mdh(*(float(rows[key][0]) for key in ("b", "beta", "theta", "d")))
        for key in table:
            rows[key][0] = 0.0
        return cls(
            name=name,
            joints=tuple(
                Joint(
                    joint_names[i],
                    kinds[i],  # type: ignore[arg-type]
                    coulomb=tuple(pairs[i]),
                    **{key: float(column[i]) for key, column in scalars.items()},
                )
                for i in range(n)
            ),
            links=tuple(map(Link, link_names, bodies)),
            base=dh.pose("base", base) @ before,
            tip=dh.pose("tip", tip),
            gravity=dh.vector("gravity", gravity),
            frames=tuple_of("frames", frames, Frame),
            notes=tuple(notes),
            check=check,
        )

    @classmethod
    def from_dh(
        cls, *, a: ArrayLike, alpha: ArrayLike, d: ArrayLike, theta: ArrayLike, **rest: Any
    ) -> Chain:
        """A chain from a standard DH table: frame i-1 -> i is Rz(theta) Tz(d) Tx(a) Rx(alpha).

        Takes what ``from_mdh`` takes; com, inertia, parameters, frames and tip are given in the
        standard frame i, which stands at the outer end of link i.
        """
        n = dh.length({"a": a, "alpha": alpha, "d": d, "theta": theta}, rest.get("joints"))
        lengths, twists = dh.column("a", a, (n,)), dh.column("alpha", alpha, (n,))
        angles = np.radians(twists) if rest.get("degrees") else twists
        snap = dh.checked_snap(rest.get("snap", SNAP))
        outer = dh.outer_frames(lengths, angles, snap)
        keys = ("mass", "com", "inertia", "inertia_about", "parameters", "order")
        given = {key: rest.pop(key) for key in keys if key in rest}
        bodies = dh.bodies(n, **{**dict.fromkeys(keys[:3]), **given})
        seen = [body.seen_from(pose) for body, pose in zip(bodies, outer, strict=True)]
        frames = tuple_of("frames", rest.get("frames", ()), Frame)
        moved = {
            "frames": dh.frames_in_joints(outer, frames),
            "tip": outer[-1] @ dh.pose("tip", rest.get("tip", IDENTITY)),
        }
        chain = cls.from_mdh(
            b=[0.0, *lengths[:-1]],
            beta=[0.0, *twists[:-1]],
            d=d,
            theta=theta,
            parameters=[body.parameters() for body in seen],
            **{**rest, **moved},
        )
        notes = dh.last_twist_moved(chain.joints[-1].name, angles, snap)
        assign(chain, "notes", (*notes, *chain.notes))
        return chain

    @classmethod
    def random(
        cls,
        n: int,
        joints: str | None = None,
        seed: int = 0,
        structure: Structure = "generic",
    ) -> Chain:
        """A random arm of ``n`` joints, the same for the same arguments on every machine.

        The rules by which it is drawn are those of :func:`armdyn.chain.random.draw`.

        Args:
            n: the number of joints.
            joints: a letter a joint, "R" or "P"; all revolute if not given.
            seed: of the random generator.
            structure: how the axes lie, a name of ``armdyn.chain.random.STRUCTURES``.
        """
        from armdyn.chain.random import draw

        return draw(n, joints, seed, structure)
