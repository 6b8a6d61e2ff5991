"""MJCF: armature, friction and effort of each joint, from dampers, tendons and motors.

A force along a fixed tendon or in a motor reaches a joint by a constant factor: the tendon's
coefficient, the motor's gear, or their product. Inertia and damping there reach it by the square.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from armdyn.errors import listed, shorten
from armdyn.forks import importing

JOINT, JOINT_IN_PARENT, TENDON = 0, 1, 3  # transmissions, as MuJoCo numbers them
SINGLE = (2, 3)  # joints of one freedom: slide, hinge
DIRECT = (0, 2, 3)  # dynamics that keep a control within its range: none, and filters
Factors = dict[int, float]  # of each joint that a force reaches
ANY = np.array([-math.inf, math.inf])


class Drives:
    """The tendons and motors of a compiled model.

    Attributes:
        tendons: the factors of each tendon; None for a tendon in space, whose factors vary.
        motors: the factors of each actuator; None where they vary.
    """

    def __init__(self, model: Any) -> None:
        self.model = model
        self.tendons = [self._tendon(t) for t in range(model.ntendon)]
        self.motors = [self._motor(k) for k in range(len(model.actuator_trntype))]

    def _tendon(self, t: int) -> Factors | None:
        model, start = self.model, int(self.model.tendon_adr[t])
        factors: Factors = {}
        for w in range(start, start + int(model.tendon_num[t])):
            if model.wrap_type[w] != 1:  # a joint
                return None
            j = int(model.wrap_objid[w])
            factors[j] = factors.get(j, 0.0) + float(model.wrap_prm[w])
        return factors

    def _motor(self, k: int) -> Factors | None:
        kind, at = self.model.actuator_trntype[k], int(self.model.actuator_trnid[k, 0])
        if kind == TENDON:
            factors = self.tendons[at]
            return factors and {j: self._gear(k) * factor for j, factor in factors.items()}
        if kind in (JOINT, JOINT_IN_PARENT) and self.model.jnt_type[at] in SINGLE:
            return {at: self._gear(k)}
        return None

    def _gear(self, k: int) -> float:
        """How many times a motor's own force its joint or tendon feels."""
        outputs = getattr(self.model, "actuator_outadr", None)  # since MuJoCo 4
        return float(self.model.actuator_gear[k if outputs is None else outputs[k], 0])

    def disabled(self, what: str) -> bool:
        """Whether a flag of the model switches something off, such as GRAVITY."""
        with importing:
            import mujoco

        bits = mujoco.mjtDisableBit.__members__
        bit = bits.get(f"mjDSBL_{what}", bits.get("mjDSBL_PASSIVE", 0))  # one flag before 3.4
        return bool(self.model.opt.disableflags & int(bit))

    # What a joint has -----------------------------------------------------------------------

    def properties(self, j: int) -> dict[str, Any]:
        """Rotor inertia, friction and effort by the names a chain's joint has for them."""
        model, d = self.model, self.model.jnt_dofadr[j]
        viscous = float(model.dof_damping[d]) + self._reflected("damping", j)
        loss = float(model.dof_frictionloss[d]) + self._sum("tendon", "frictionloss", j, 1)
        loss = 0.0 if self.disabled("FRICTIONLOSS") else loss
        return {
            "rotor_inertia": float(model.dof_armature[d]) + self._reflected("armature", j),
            "viscous": 0.0 if self.disabled("DAMPER") else viscous,
            "coulomb": (0.0 - loss, loss),
            "effort": self._effort(j),
        }

    def _reflected(self, what: str, j: int) -> float:
        """The armature or damping that tendons and motors add to a joint."""
        return self._sum("tendon", what, j, 2) + self._sum("actuator", what, j, 2)

    def _sum(self, kind: str, what: str, j: int, power: int) -> float:
        """A column of the model's tendons or actuators times the powers of a joint's factors."""
        found = self.tendons if kind == "tendon" else self.motors
        column = getattr(self.model, f"{kind}_{what}", np.zeros(len(found)))  # newer than MuJoCo 3
        terms = zip(column.tolist(), found, strict=True)
        sizes = ((x, abs((factors or {}).get(j, 0.0))) for x, factors in terms if x)
        return float(sum(x * (size * size if power == 2 else size) for x, size in sizes))

    def _effort(self, j: int) -> float:
        """The torque that a joint's motors can give together, the smaller of both ways.

        It is infinite where a motor has no limit. Of motors that all pull one way it is theirs.
        """
        model = self.model
        ranges = self._ranges((JOINT, JOINT_IN_PARENT), j, ANY)
        for t, factors in enumerate(self.tendons):
            if factor := (factors or {}).get(j, 0.0):
                most = model.tendon_actfrcrange[t] if model.tendon_actfrclimited[t] else ANY
                ranges += [np.sort(factor * pull) for pull in self._ranges((TENDON,), t, most)]
        most = model.jnt_actfrcrange[j] if model.jnt_actfrclimited[j] else ANY
        lower, upper = (np.sum(ranges, axis=0) if ranges else ANY).clip(*most).tolist()
        return float(min(-lower, upper) if lower < 0 < upper else max(abs(lower), abs(upper)))

    def _ranges(self, kinds: Collection[int], at: int, most: np.ndarray) -> list[np.ndarray]:
        """The least and largest forces that motors exert on a joint or tendon.

        ``most`` limits the sum of the motors' own forces, before their gears. If the gears differ
        it limits each motor by itself.
        """
        model = self.model
        there = [
            k
            for k in np.flatnonzero(model.actuator_trnid[:, 0] == at).tolist()
            if model.actuator_trntype[k] in kinds and self._gear(k)
        ]
        gears, forces = [self._gear(k) for k in there], [self._force(k) for k in there]
        with np.errstate(all="ignore"):  # a chain takes no effort that is no number
            if len(set(gears)) == 1:
                gears, forces = gears[:1], [np.sum(forces, axis=0)]
            pairs = zip(gears, forces, strict=True)
            return [np.sort(gear * force.clip(*most)) for gear, force in pairs]

    def _force(self, k: int) -> np.ndarray:
        """The least and largest force of a motor, by its own range and by that of its control."""
        model = self.model
        force = model.actuator_forcerange[k] if model.actuator_forcelimited[k] else ANY
        inputs = getattr(model, "actuator_ctrladr", None)  # since MuJoCo 4
        c = k if inputs is None else inputs[k]
        plain = not self._is_servo(k) and model.actuator_dyntype[k] in DIRECT
        if not plain or not model.actuator_ctrllimited[c] or self.disabled("CLAMPCTRL"):
            return force
        return np.sort(model.actuator_gainprm[k, 0] * model.actuator_ctrlrange[c]).clip(*force)

    def _is_servo(self, k: int) -> bool:
        """Whether a motor's force depends on more than its control."""
        return bool(self.model.actuator_gaintype[k] or self.model.actuator_biastype[k])

    # What is not read -----------------------------------------------------------------------

    def notes(self, moving: Mapping[int, str]) -> Iterator[str]:
        """What acts on the moving joints, whose names are given, and is not read."""
        model = self.model
        if not self.disabled("SPRING"):
            stiff = self._there("jnt_stiffness")
            yield from unread("springs of joints", (moving[j] for j in moving if stiff[j]))
        if not self.disabled("DAMPER"):
            curved = self._there("dof_damping", linear=False)
            bent = {j for j in moving if curved[model.jnt_dofadr[j]]}
            for kind, found in (("tendon", self.tendons), ("actuator", self.motors)):
                curved = self._there(f"{kind}_damping", linear=False)
                bent |= {j for i in np.flatnonzero(curved) for j in found[i] or () if j in moving}
            what = "terms of damping beyond the linear one"
            yield from unread(what, (moving[j] for j in sorted(bent)))
        servos = [factors or {} for k, factors in enumerate(self.motors) if self._is_servo(k)]
        held = (moving[j] for j in moving if any(j in factors for factors in servos))
        yield from unread("gains of servos", held)
        lost = [k for k, factors in enumerate(self.motors) if factors is None]
        yield from self._named("actuators that act on no joint or fixed tendon", "actuator", lost)
        yield from self._tendon_notes(moving)
        if model.opt.density or model.opt.viscosity:
            medium = f"density {model.opt.density:g}, viscosity {model.opt.viscosity:g}"
            yield f"forces of the medium are not read: {medium}"
        for what, count in (("plugins", model.nplugin), ("flexible bodies", model.nflex)):
            if count:
                yield f"{what} of the model are not read: {count}"

    def _tendon_notes(self, moving: Mapping[int, str]) -> Iterator[str]:
        """Springs and limits of fixed tendons on moving joints, and all tendons in space."""
        ours = [t for t, factors in enumerate(self.tendons) if set(factors or ()) & set(moving)]
        if not self.disabled("SPRING"):
            stiff = self._there("tendon_stiffness")
            yield from self._named("springs of tendons", "tendon", (t for t in ours if stiff[t]))
        limited = self.model.tendon_limited
        yield from self._named("limits of tendons", "tendon", (t for t in ours if limited[t]))
        space = [t for t, factors in enumerate(self.tendons) if factors is None]
        yield from self._named("tendons in space", "tendon", space)
        rubs = self._there("tendon_damping") | self._there("tendon_frictionloss")
        shared = [t for t in self.coupling(moving) if rubs[t] and t not in space]
        yield from self._named("cross terms of tendon friction", "tendon", shared)

    def coupling(self, moving: Collection[int]) -> list[int]:
        """The tendons by which moving joints feel each other, or may."""
        return [
            t
            for t, factors in enumerate(self.tendons)
            if factors is None or len(set(factors) & set(moving)) > 1
        ]

    def heavy(self, moving: Collection[int]) -> list[str]:
        """Those of them, by name, that have armature, of their own or from a motor."""
        weighty = {int(t) for t in np.flatnonzero(self._there("tendon_armature"))}
        for k in np.flatnonzero(self._there("actuator_armature")):
            if self.model.actuator_trntype[k] == TENDON:
                weighty.add(int(self.model.actuator_trnid[k, 0]))
        given = names(self.model, "tendon")
        return [given[t] or f"tendon{t}" for t in self.coupling(moving) if t in weighty]

    def _there(self, name: str, linear: bool = True) -> np.ndarray:
        """Where a coefficient of the model, or one of its higher terms, is not zero."""
        first = getattr(self.model, name, np.zeros(len(self.motors)))  # newer than MuJoCo 3
        higher = getattr(self.model, f"{name}poly", np.zeros((len(first), 1)))
        columns = np.column_stack([first, higher] if linear else [higher])
        return np.logical_or.reduce(columns != 0, axis=1)

    def _named(self, what: str, kind: str, numbers: Iterable[int]) -> list[str]:
        given = names(self.model, kind)
        return unread(what, (given[i] or f"{kind}{i}" for i in numbers))


def names(model: Any, kind: str) -> list[str]:
    """The names of all bodies ("body"), joints ("jnt") and so on, empty where none is given."""
    text = model.names
    starts = getattr(model, f"name_{kind}adr").tolist()
    return [text[start : text.index(b"\0", start)].decode(errors="replace") for start in starts]


def unread(what: str, names: Iterable[str]) -> list[str]:
    """The note that something is not read, if there is any."""
    found = listed(shorten(name) for name in names)
    return [f"{what} are not read: {found}"] if found else []
