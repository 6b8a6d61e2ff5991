"""The joints of a tree that move in an arm; the others are locked, or mimic one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from armdyn.chain import dh, given
from armdyn.chain.checks import CUT
from armdyn.chain.limits import LARGEST
from armdyn.chain.pose import IDENTITY, Pose
from armdyn.errors import ACCEPTED, ModelError, cut, listed, meant, shorten
from armdyn.loaders.tree import UNMOVABLE, Tree, TreeJoint, quoted


class Serial(NamedTuple):
    """The chain that moves: from link ``base`` over the ``moving`` joints to link ``tip``.

    ``outboard`` are all joints beyond the base, parents first, but those of free objects.
    ``stance`` is the pose of the base link in the root link. ``locked`` holds the positions of
    the joints outboard that do not move, fixed ones apart, and of all that the user locked.
    ``cuts`` says what stands first: joints that a mimic locks in spite of their inertia, and those
    that a trunk leaves out, if they are many. ``notes`` says the rest.
    """

    base: str
    tip: str
    moving: list[TreeJoint]
    outboard: list[TreeJoint]
    stance: Pose
    locked: dict[str, float]
    cuts: list[str]
    notes: list[str]


def choose(
    tree: Tree,
    base: str | None,
    tip: str | None,
    lock: Mapping[str, float],
    check: str = "error",
) -> Serial:
    """The joints between base and tip or, without a tip, those of the trunk.

    The trunk follows moving joints from the base until a body carries two or more of them; what
    lies beyond is locked at zero. A joint that mimics another is locked where that one puts it.
    If that one moves and this one carries inertia, the arm is refused. A body that floats on the
    base and carries no joint is an object: it is left out. ``check="warn"`` locks all that mimic.
    """
    start = tree.root if base is None else tree.link(base, "base")
    _check_lock(tree, lock)
    lost = [j for j in tree.joints.values() if j.mimics and j.mimics[0] not in tree.joints]
    if lost and check == "error":
        raise ModelError(f"{_follows_nothing(lost[0])}; {ACCEPTED}")
    followings = _followings(tree, lock)
    held = {name for name in tree.joints if tree.joints[name].type == "fixed"}
    held |= {name for name, following in followings.items() if following.leader in lock}
    objects = _objects(tree, start, held)
    held |= objects.keys()
    outboard = list(tree.below(start, objects))
    cuts: list[str] = []
    if tip is None:
        moving, cuts = _trunk(tree, start, held, outboard)
    else:
        moving = _path(tree, start, tree.link(tip, "tip"), held)
    if not moving:
        raise ModelError(
            f"no joint moves between base {shorten(start)} and "
            f"{'any tip' if tip is None else f'tip {shorten(tip)}'}; expected at least one"
        )
    given.check_count(len(moving))
    for joint in moving:
        _refuse_unmovable(joint)
    notes = [f"{_follows_nothing(joint)}; it is locked" for joint in lost]
    if objects:
        names = quoted(joint.child for joint in objects.values())
        notes.append(f"bodies that float freely and carry no joint are left out: {names}")
    moves = {joint.name for joint in moving}
    still = [j for j in outboard if j.type != "fixed" and j.name not in moves]
    inboard = _path(tree, tree.root, start, set())
    positions = {j.name: _position(j.name, followings[j.name], lock) for j in still + inboard}
    stance = IDENTITY
    for joint in inboard:
        stance = stance @ joint.at(positions[joint.name])
    locked = {j.name: positions[j.name] for j in still}
    locked |= {name: float(lock[name]) for name in lock if name not in locked}
    lacking: list[str] = []
    heavy = _heavy(tree, outboard)
    for joint in still:
        leader, ratio, _ = followings[joint.name]
        if leader in moves:
            loaded = joint.child in heavy or joint.properties.get("rotor_inertia")
            said = f"joint {shorten(joint.name)} mimics {shorten(leader)}, which moves"
            if ratio and loaded and check == "error":
                ways = _ways_out(joint.name, leader, moving)
                raise ModelError(f"{said}, and carries inertia; {ways}")
            said += f", but is locked at {locked[joint.name]:g}"
            if ratio and loaded:
                lacking.append(f"{said}: M and gravity lack what it carries")
            else:
                notes.append(said)
    notes += (note for name in lock for note in _odd_lock(tree.joints[name], locked[name]))
    end = moving[-1].child if tip is None else tip
    return Serial(start, end, moving, outboard, stance, locked, [*lacking, *cuts], notes)


def _objects(tree: Tree, base: str, held: set[str]) -> dict[str, TreeJoint]:
    """The joints of bodies that float on the base, carry no moving joint, and are not all."""
    found = list(_leaving_body(tree, base, held))
    free = {
        joint.name: joint
        for joint in found
        if joint.type == "floating" and all(j.name in held for j in tree.below(joint.child))
    }
    return free if len(free) < len(found) else {}


def _ways_out(follower: str, leader: str, moving: Sequence[TreeJoint]) -> str:
    """What to write where a joint follows one of those that move."""
    if len(moving) == 1:  # without which there is no arm
        return f"lock={{{shorten(follower)}: 0.0}} locks it; {ACCEPTED}"
    before = {joint.name: joint.parent for joint in moving[1:]}
    shorter = f", and tip={shorten(before.get(leader))} ends the arm before it"
    return (
        f"expected a leader that does not move: lock={{{shorten(leader)}: 0.0}} locks it"
        f"{shorter if leader in before else ''}; {ACCEPTED}"
    )


def _follows_nothing(joint: TreeJoint) -> str:
    assert joint.mimics is not None
    return f"joint {shorten(joint.name)} mimics {shorten(joint.mimics[0])}, which is no joint"


def _odd_lock(joint: TreeJoint, position: float) -> list[str]:
    """Notes on a lock that the joint's limits, or the size of an angle, speak against."""
    what = f"joint {shorten(joint.name)}"
    notes = [] if joint.type == "prismatic" else dh.in_degrees(f"lock: {what}", position)
    lower, upper = (joint.properties.get(end, position) for end in ("lower", "upper"))
    if not lower <= position <= upper:
        notes.append(
            f"{what} is locked at {position:g}, outside its limits {lower:g} and {upper:g}"
        )
    return notes


def _trunk(
    tree: Tree, base: str, held: set[str], outboard: Sequence[TreeJoint]
) -> tuple[list[TreeJoint], list[str]]:
    """The joints of the trunk, and a note if it leaves out at least half of those that move."""
    moving: list[TreeJoint] = []
    link = base
    while len(found := list(_leaving_body(tree, link, held))) == 1:
        moving += found
        link = found[0].child
    if len(found) < 2:
        return moving, []
    tips = _tips(tree, base, held, outboard)
    names = [repr(joint.name) for joint in found]
    if not moving:
        for joint in () if tips else found:
            _refuse_unmovable(joint)
        raise ModelError(
            f"the arm branches at its base {shorten(base)}, into joints {listed(names)}; choose "
            f"one of its tips by tip=: {quoted(tips)}"
        )
    taken = {*held, *(joint.name for joint in moving)}
    left = sum(j.name not in taken and _moves(j) for j in outboard)
    if left < len(moving) or not tips:
        return moving, []
    carried = f"{listed(names[:-1])} and {cut(names[-1])}"
    locked = "1 joint is locked" if left == 1 else f"{left} joints are locked"
    best, most = next(iter(tips.items()))
    offer = f"; tip={shorten(best)} gives {most}" if most > len(moving) else ""
    return moving, [f"{CUT} {shorten(link)}, which carries {carried}; {locked}{offer}"]


def _tips(tree: Tree, base: str, held: set[str], outboard: Sequence[TreeJoint]) -> dict[str, int]:
    """The outermost links that an arm can end at, and how many joints it has; the most first."""
    heavy = _heavy(tree, outboard)
    free = {joint.name for joint in outboard if joint.name not in held and _moves(joint)}
    loaded = {joint.name for joint in outboard if joint.name in free and joint.child in heavy}
    passed = held | (loaded or free)
    counts = {base: 0}
    for joint in outboard:
        if joint.parent in counts and joint.name in passed:
            counts[joint.child] = counts[joint.parent] + (joint.name not in held)
    inner = {joint.parent for joint in outboard if joint.child in counts}
    tips = [link for link in counts if counts[link] and link not in inner]
    return {tip: counts[tip] for tip in sorted(tips, key=lambda tip: -counts[tip])}


def _heavy(tree: Tree, outboard: Sequence[TreeJoint]) -> set[str]:
    """The links that have inertia, or carry one that has."""
    heavy = {link for link in tree.links if not tree.links[link].inertia.is_zero}
    for joint in reversed(outboard):
        if joint.child in heavy:
            heavy.add(joint.parent)
    return heavy


def _moves(joint: TreeJoint) -> bool:
    """Whether a joint that nothing holds can move in an arm."""
    return joint.type not in UNMOVABLE and not joint.mimics


def _leaving_body(tree: Tree, link: str, held: set[str]) -> Iterator[TreeJoint]:
    """The moving joints on a link and on all that is fixed to it."""
    waiting = [link]
    for name in waiting:
        for joint in tree.leaving[name]:
            if joint.name in held:
                waiting.append(joint.child)
            else:
                yield joint


def _path(tree: Tree, base: str, tip: str, held: set[str]) -> list[TreeJoint]:
    joints: list[TreeJoint] = []
    link = tip
    while link != base:
        if link == tree.root:
            raise ModelError(f"tip={shorten(tip)} is not outboard of base={shorten(base)}")
        joints.append(tree.arriving[link])
        link = joints[-1].parent
    return [joint for joint in reversed(joints) if joint.name not in held]


def _refuse_unmovable(joint: TreeJoint) -> None:
    remedy = (
        f"lock={{{shorten(joint.name)}: 0.0}} locks it, and tip= (or base=) ends the chain before "
        "(or starts it after) it"
    )
    if joint.mimics:
        raise ModelError(
            f"joint {shorten(joint.name)} mimics {shorten(joint.mimics[0])}; expected joints that "
            f"move by themselves: {remedy}"
        )
    if joint.type in UNMOVABLE:
        raise ModelError(
            f"joint {shorten(joint.name)} is {joint.type}; expected revolute, continuous, "
            f"prismatic or fixed joints: {remedy}"
        )


def _check_lock(tree: Tree, lock: Mapping[str, float]) -> None:
    if not isinstance(lock, Mapping):
        raise ModelError(f"lock is a mapping from joints to positions, not {shorten(lock)}")
    for name, position in lock.items():
        if name not in tree.joints:
            raise ModelError(
                f"lock names {shorten(name)}, which is no joint; {meant(name, tree.joints)}"
                f"expected one of: {quoted(tree.joints)}"
            )
        if tree.joints[name].type == "fixed":
            raise ModelError(f"lock names joint {shorten(name)}, which is fixed already")
        given.finite(f"lock: joint {shorten(name)}", position)


class Following(NamedTuple):
    """How a joint follows another, ``ratio`` times its position plus ``offset``; or itself."""

    leader: str
    ratio: float = 1.0
    offset: float = 0.0


def _followings(tree: Tree, lock: Mapping[str, float]) -> dict[str, Following]:
    """What each joint follows in the end; a joint that ``lock`` names follows no other."""
    found: dict[str, Following] = {}
    for joint in tree.joints.values():
        chain: dict[str, tuple[str, float, float]] = {}
        while joint.name not in found:
            if joint.name in chain:
                circle = quoted([*chain, joint.name])
                raise ModelError(f"joints mimic one another in a circle: {circle}")
            if not joint.mimics or joint.mimics[0] not in tree.joints or joint.name in lock:
                found[joint.name] = Following(joint.name)
                break
            chain[joint.name] = joint.mimics
            joint = tree.joints[joint.mimics[0]]
        for name, (leader, multiplier, offset) in reversed(chain.items()):
            end, ratio, added = found[leader]
            found[name] = Following(end, multiplier * ratio, multiplier * added + offset)
    return found


def _position(name: str, following: Following, lock: Mapping[str, float]) -> float:
    leader, ratio, offset = following
    position = ratio * float(lock.get(leader, 0.0)) + offset
    if not abs(position) <= LARGEST:
        raise ModelError(
            f"joint {shorten(name)} would be locked at {position:g}; expected at most {LARGEST:g}"
        )
    return position
