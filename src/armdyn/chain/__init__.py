"""Chain: a serial arm in normal driving-axis frames; frozen, and checked once, when it is built."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

import numpy as np
from numpy.typing import ArrayLike

from armdyn.chain import at_call, checks, dh, given
from armdyn.chain.arm import Arm
from armdyn.chain.at_call import NOTHING, AtCall, View
from armdyn.chain.dh import EARTH
from armdyn.chain.inertia import Inertia
from armdyn.chain.minimal import MinimalParameters
from armdyn.chain.parts import File, Frame, Joint, Link, assign, locked_at
from armdyn.chain.pose import IDENTITY, Pose
from armdyn.errors import ACCEPTED, ModelError, cut, shorten, unknown, warn, whole
from armdyn.forks import importing

if TYPE_CHECKING:
    from armdyn.chain.random import Structure
    from armdyn.spatial import Scalar

Check = Literal["error", "warn"]


@dataclass(frozen=True, repr=False)
class Chain:
    """A serial manipulator from base to tip; joint i moves link i.

    E_0 coincides with E_1 at q = 0: the constants of the first row are zero, and what stands
    before joint 1 is ``base`` (E_0 in the base frame). ``tip`` is the tip frame in E_n.
    ``locked`` says which joints of the description were locked, and where. ``notes`` says what
    a user should know: what was moved, snapped, or found without mass. ``file`` is where it was
    read from, if it was a file.
    """

    name: str
    joints: tuple[Joint, ...]
    links: tuple[Link, ...]
    base: Pose = IDENTITY
    tip: Pose = IDENTITY
    gravity: given.Triple = EARTH  # in the base frame [m/s^2]
    frames: tuple[Frame, ...] = ()
    locked: tuple[tuple[str, float], ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)
    check: Check = field(default="error", compare=False)
    file: File | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        self._make_plain()
        broken = list(checks.structure(self)) or checks.unusable(self)
        found = [] if broken else checks.findings(self)
        if broken or (found and self.check == "error"):
            remedy = "" if broken else f"; {ACCEPTED}"
            raise ModelError(f"{cut(self.name)}: {given.summed_up(broken or found)}{remedy}")
        for note in found:
            if note not in self.notes:  # said when the chain was built that this one is made from
                warn("%s: %s", cut(self.name), note)
        said = [note for note in self.notes if not isinstance(note, checks.Finding)]
        fresh = map(checks.Finding, found + checks.massless(self) + checks.odd_angles(self))
        assign(self, "notes", (*said, *(note for note in fresh if note not in said)))

    def _make_plain(self) -> None:
        """Tuples, poses and floats from whatever like them was given."""
        given.check_name("chain", self.name)
        given.choice("check", self.check, ("error", "warn"))
        for key, kind in (("joints", Joint), ("links", Link), ("frames", Frame), ("notes", str)):
            value = given.tuple_of(f"{cut(self.name)}: {key}", getattr(self, key), kind)
            assign(self, key, value)
        pairs = given.tuple_of(f"{cut(self.name)}: locked", self.locked, tuple, list)
        assign(self, "locked", tuple(map(locked_at, pairs)))
        assign(self, "base", Pose.given("base", self.base))
        assign(self, "tip", Pose.given("tip", self.tip))
        assign(self, "gravity", given.vector("gravity", self.gravity))
        if not isinstance(self.file, File | None):
            raise ModelError(f"{cut(self.name)}: file is a File, not {shorten(self.file)}")

    # What it is -----------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """The number of joints."""
        return len(self.joints)

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        return f"Chain({shorten(self.name)}, {cut(self.kinds)}, {self.mass:.3g} kg)"

    @property
    def key(self) -> str:
        """All that makes this chain the one it is, exactly: equal for chains of the same bits."""
        compared = (part.name for part in dataclasses.fields(self) if part.compare)
        return repr([getattr(self, name) for name in compared])

    @property
    def kinds(self) -> str:
        """A letter a joint from base to tip: "R" revolute, "P" prismatic."""
        return "".join(joint.kind for joint in self.joints)

    @property
    def mass(self) -> float:
        """Of all links that the joints move [kg]."""
        return sum(link.inertia.mass for link in self.links)

    @property
    def kinematic_only(self) -> bool:
        """Whether no link has mass, nor every joint a rotor: then there are no dynamics."""
        moved = all(joint.rotor_inertia for joint in self.joints)
        return not moved and all(link.inertia.is_zero for link in self.links)

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

    @property
    def tip_name(self) -> str:
        """The first frame that stands where the tip does; empty if there is none."""
        names = (f.name for f in self.frames if (f.link, f.pose) == (self.n - 1, self.tip))
        return next(names, "")

    def find_frame(self, name: str | None = None) -> tuple[int, Pose]:
        """The link (counted from 0, base -1) and the pose in E_i of a named link or frame.

        None means the tip.
        """
        if name is None:
            return self.n - 1, self.tip
        if isinstance(name, str):
            for frame in self.frames:
                if frame.name == name:
                    return frame.link, frame.pose
            for i, link in enumerate(self.links):
                if link.name == name:
                    return i, IDENTITY
        raise ModelError(
            f"{cut(self.name)}: " + unknown("link or frame named", name, self.frame_names)
        )

    def on(
        self,
        number: Callable[[float], Scalar],
        parameters: View = "natural",
        call: AtCall = NOTHING,
    ) -> Arm:
        """This chain as algorithms see it, its constants made scalars by ``number``.

        ``parameters="minimal"`` carries the minimal combinations of the inertial parameters and
        nothing else; ``"flat"`` does too, regrouped so that XX + YY = ZZ in each tensor. ``call``
        has scalars that stand in place of some of the constants; ``"mixed"`` is "minimal", but
        for a payload, which stays a body of the link that carries it.
        """
        given.choice("parameters", parameters, get_args(View))
        if not callable(number):
            raise ModelError(f"number must be a function of a float, not {shorten(number)}")
        if not isinstance(call, AtCall):
            raise ModelError(f"call must be an AtCall, not {shorten(call)}")
        return Arm(self, number, at_call.bodies(self, parameters, number, call), call.gravity)

    def seen_as(self, view: View, any_gravity: bool = False) -> list[Inertia]:
        """The links as a view has them, in doubles; ``any_gravity``: whatever gravity may be."""
        given.choice("view", view, get_args(View))
        key = view, given.flag("any_gravity", any_gravity)
        if key not in self._views:
            links = [link.inertia for link in self.links]
            self._views[key] = at_call.viewed(self, view, links, any_gravity=any_gravity)
        return self._views[key]

    @cached_property
    def minimal_count(self) -> int:
        """The number of minimal parameters."""
        return len(MinimalParameters(self))

    @cached_property
    def _views(self) -> dict[tuple[View, bool], list[Inertia]]:
        return {}

    # Variations of it -----------------------------------------------------------------------

    def with_gravity(self, gravity: ArrayLike, check: Check | None = None) -> Chain:
        """The same arm under another gravity.

        Args:
            gravity: acceleration of free fall in the base frame (3,) [m/s^2].
            check: "error" or "warn", see ``armdyn.load``; this chain's own if not given.
        """
        return self._with(check, gravity=given.vector("gravity", gravity))

    def with_payload(
        self,
        mass: float,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike | None = None,
        check: Check | None = None,
        frame: str | None = None,
    ) -> Chain:
        """The same arm carrying a load in the tip frame, or in another.

        Args:
            mass: of the load [kg].
            com: its centre of mass in that frame (3,) [m].
            inertia: its tensor about its own centre, in that frame's axes (3, 3) [kg m^2].
            check: "error" or "warn", see ``armdyn.load``; this chain's own if not given.
            frame: a name of ``frame_names``; the tip if not given.
        """
        tensor = np.zeros((3, 3)) if inertia is None else inertia
        about_com = given.exactly("payload: inertia", tensor, (3, 3))
        given.check_symmetric("payload: inertia", about_com)
        weight = given.number("payload: mass", mass)
        load = Inertia.from_com(weight, given.vector("payload: com", com), about_com)
        for finding in load.findings():
            raise ModelError(f"payload: {finding}")
        i, pose = self.find_frame(frame)
        if i < 0:
            raise ModelError(
                f"payload: frame {shorten(frame)} is fixed to the base, and never moves"
            )
        link = self.links[i]
        body = Link(link.name, link.inertia + load.seen_from(pose))
        return self._with(check, links=(*self.links[:i], body, *self.links[i + 1 :]))

    def with_frame(
        self,
        name: str,
        link: str | int | None = None,
        pose: Pose | ArrayLike = IDENTITY,
        check: Check | None = None,
    ) -> Chain:
        """The same arm with one more named frame.

        Args:
            name: of the frame.
            link: the link or frame that it is fixed to, a name of ``frame_names``; the tip if not
                given; -1 is the base.
            pose: where it stands in that; a Pose or a matrix (4, 4).
            check: "error" or "warn", see ``armdyn.load``; this chain's own if not given.
        """
        carrier, place = (-1, IDENTITY) if whole(link) == -1 else self.find_frame(link)  # type: ignore[arg-type]
        there = place @ Pose.given("pose", pose)
        return self._with(check, frames=(*self.frames, Frame(name, carrier, there)))

    def with_friction(
        self,
        viscous: ArrayLike | None = None,
        coulomb: ArrayLike | None = None,
        check: Check | None = None,
    ) -> Chain:
        """The same arm with other friction; what is not given stays as it is.

        Args:
            viscous: torque a speed, of each joint (n,) or one number for all [N m s/rad or N s/m].
            coulomb: a magnitude a joint (n,) or one for all, or (at negative, at positive speed)
                of each (n, 2) [N m or N].
            check: "error" or "warn", see ``armdyn.load``; this chain's own if not given.
        """
        changes = {}
        if viscous is not None:
            changes["viscous"] = given.column("viscous", viscous, (self.n,))
        if coulomb is not None:
            changes["coulomb"] = given.coulomb(coulomb, self.n)
        if not changes:
            raise ModelError("with_friction takes viscous=, coulomb=, or both; neither was given")
        return self._with_joints(check, changes)

    def with_rotors(
        self, inertia: ArrayLike, gear: ArrayLike = 1.0, check: Check | None = None
    ) -> Chain:
        """The same arm with other rotors.

        A joint feels the inertia of its motor times the square of the gear ratio.

        Args:
            inertia: of each motor, on the motor side of the gear (n,), or one number for all
                [kg m^2; kg for a prismatic joint without gear].
            gear: ratio of motor speed to joint speed (n,), or one number for all [1, or rad/m for
                a prismatic joint]; 1 if ``inertia`` is already reflected to the joint.
            check: "error" or "warn", see ``armdyn.load``; this chain's own if not given.
        """
        column = given.column("inertia", inertia, (self.n,))
        ratio = given.column("gear", gear, (self.n,))
        if not np.isfinite(ratio).all() or not ratio.all():
            raise ModelError(
                f"gear is {shorten(gear)}; expected finite ratios of motor speed to joint speed, "
                "none of them zero"
            )
        with np.errstate(all="ignore"):  # the joints refuse what is not finite
            return self._with_joints(check, {"rotor_inertia": column * ratio**2})

    def _with_joints(self, check: Check | None, changes: dict[str, np.ndarray]) -> Chain:
        columns = {key: column.tolist() for key, column in changes.items()}
        joints = (
            dataclasses.replace(joint, **{key: columns[key][i] for key in columns})
            for i, joint in enumerate(self.joints)
        )
        return self._with(check, joints=tuple(joints))

    def with_parameters(
        self, parameters: ArrayLike, order: str = "pinocchio", check: Check | None = None
    ) -> Chain:
        """The same arm with other inertial parameters.

        Args:
            parameters: ten a link, shape (n, 10) or (10 n,).
            order: of the ten, "pinocchio" or "khalil".
            check: "error" or "warn", see ``armdyn.load``; this chain's own if not given.
        """
        n = self.n
        rows = given.numbers("parameters", parameters)
        if rows.shape not in ((n, 10), (10 * n,)):
            raise ModelError(f"parameters have shape ({n}, 10) or ({10 * n},), not {rows.shape}")
        links = (
            Link(link.name, Inertia.from_parameters(row, order))
            for link, row in zip(self.links, rows.reshape(n, 10), strict=True)
        )
        return self._with(check, links=tuple(links))

    def _with(self, check: Check | None, **changes: Any) -> Chain:
        return dataclasses.replace(self, check=self.check if check is None else check, **changes)

    # As text and as a table -----------------------------------------------------------------

    def to_mdh(self) -> dict[str, np.ndarray]:
        """The modified DH table: arrays b [m], beta [rad], d [m], theta [rad], shape (n,) each.

        The first row is zero (its constants stand in ``base``), what follows E_n in ``tip``.
        """
        columns = ("b", "beta", "d", "theta")
        return {c: np.array([getattr(joint, c) for joint in self.joints]) for c in columns}

    def to_toml(self) -> str:
        """This chain in armdyn's own format, which ``armdyn.load`` reads back bit for bit."""
        with importing:
            from armdyn.chain.writers import to_toml

        return to_toml(self)

    def to_urdf(self) -> str:
        """This chain as a URDF; the log says what that has no place for, such as gravity."""
        with importing:
            from armdyn.chain import writers

        for line in (*writers.left_out(self), *writers.lost_tip(self)):
            warn("%s: %s", cut(self.name), line)
        return writers.to_urdf(self)

    # Where it comes from --------------------------------------------------------------------

    @staticmethod
    def from_mdh(
        *,
        b: ArrayLike | None = None,
        beta: ArrayLike | None = None,
        d: ArrayLike,
        theta: ArrayLike,
        a: ArrayLike | None = None,
        alpha: ArrayLike | None = None,
        **rest: Unpack[dh.Rest],
    ) -> Chain:
        """A chain from a modified DH table (Craig's; the papers' normal driving-axis frames).

        Args:
            b: column of the table (n,) [m]; E_{i-1} -> E_i is Rx(beta) Tx(b) Rz(theta) Tz(d).
            beta: column of the table (n,) [rad].
            d: column of the table (n,) [m]; a prismatic joint adds its q.
            theta: column of the table (n,) [rad]; a revolute joint adds its q.
            a: Craig's name of b.
            alpha: Craig's name of beta.
            **rest: by keyword, in any order:

                - ``joints``: a letter a joint, "R" or "P"; all revolute if not given.
                - ``mass``: of each link (n,) [kg]; without any the arm has no dynamics.
                - ``com``: centre of mass of each link, in E_i (n, 3) [m].
                - ``inertia``: tensor of each link in the axes of E_i (n, 3, 3), or its diagonal
                  (n, 3) [kg m^2].
                - ``inertia_about``: the point that ``inertia`` is taken about, "com" (if not
                  given) or "origin".
                - ``parameters``: the ten parameters of each link (n, 10), in place of mass, com
                  and inertia.
                - ``order``: the order of ``parameters``, "pinocchio" (if not given) or "khalil".
                - ``rotor_inertia``: of each motor, reflected to its joint (n,).
                - ``viscous``: friction torque a speed (n,).
                - ``coulomb``: friction, a magnitude a joint (n,), or (at negative, at positive
                  speed) (n, 2).
                - ``limits``: (lower, upper) of each joint (n, 2) [rad or m].
                - ``joint_names``: "joint1", "joint2", ... if not given.
                - ``link_names``: "link1", "link2", ... if not given.
                - ``base``: E_0 in the base frame, before the first row; a Pose or a matrix (4, 4).
                - ``tip``: the tip in E_n; a Pose or a matrix (4, 4).
                - ``gravity``: acceleration of free fall in the base frame (3,) [m/s^2].
                - ``frames``: named frames fixed to links.
                - ``name``: of the arm.
                - ``degrees``: whether beta and theta, and limits of revolute joints, are in
                  degrees.
                - ``snap``: a constant angle within ``snap`` [rad] of a quarter turn becomes it.
                - ``check``: "error" refuses an arm that could not exist, "warn" only logs it.
        """
        dh.check_arguments("mdh", rest)
        first, second = dh.one_of("b", b, "a", a), dh.one_of("beta", beta, "alpha", alpha)
        return dh.build("mdh", {"b": first, "beta": second, "d": d, "theta": theta}, **rest)

    @staticmethod
    def from_dh(
        *,
        a: ArrayLike,
        alpha: ArrayLike,
        d: ArrayLike,
        theta: ArrayLike,
        **rest: Unpack[dh.Rest],
    ) -> Chain:
        """A chain from a standard DH table: frame i-1 -> i is Rz(theta) Tz(d) Tx(a) Rx(alpha).

        Takes what ``from_mdh`` takes; com, inertia, parameters, frames and tip are given in the
        standard frame i, which stands at the outer end of link i.

        Args:
            a: column of the table (n,) [m].
            alpha: column of the table (n,) [rad].
            d: column of the table (n,) [m]; a prismatic joint adds its q.
            theta: column of the table (n,) [rad]; a revolute joint adds its q.
            **rest: as ``from_mdh`` has it.
        """
        dh.check_arguments("dh", rest)
        return dh.build("dh", {"a": a, "alpha": alpha, "d": d, "theta": theta}, **rest)

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
        with importing:
            from armdyn.chain.random import draw

        return draw(n, joints, seed, structure)
