"""Closed forms of an arm's quantities in SymPy: ``Robot.symbolic``.

The algorithms run on polynomials in the sines and cosines of the joints (``polynomials``), in which
the arm's constants are numbers, or bear names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from armdyn.algorithms import catalogue
from armdyn.chain.arm import Arm
from armdyn.errors import MethodError, as_names, listed, shorten
from armdyn.export.polynomials import Letters
from armdyn.forks import importing
from armdyn.quantities import check_axes, find
from armdyn.quantities.tasks import check_inertia
from armdyn.spatial import Vector, steiner

if TYPE_CHECKING:
    from armdyn.chain import Chain

METHODS = {  # that divide by nothing but numbers, and prepare nothing in doubles
    **dict.fromkeys(("mass_matrix", "bias", "gravity", "inverse_dynamics"), "newton-euler"),
    **dict.fromkeys(("christoffel", "coriolis_matrix"), "lagrange"),
}
PLAIN = ("pose", "jacobian", "jacobian_derivative", "acceleration_bias", "influence")
KNOWN = (*METHODS, "forward_dynamics", *PLAIN, "energy", "regressor")
MOST = 3  # joints for which accelerations are written: with more they fill pages
NOISE = 1e-12  # relative: of a body's moments, left by rounding
TENSOR = ("xx", "xy", "xz", "yy", "yz", "zz")


def closed_form(
    chain: Chain,
    quantity: str,
    *,
    parameters: bool = False,
    names: Sequence[str] | None = None,
    frame: str | None = None,
    axes: str = "base",
) -> Any:
    """What ``Robot.symbolic`` gives, and documents."""
    asked = _checked(chain, quantity, parameters, frame, axes)
    if quantity == "forward_dynamics":
        return _accelerations(chain, parameters, names)
    named = constants(chain) if parameters else {}
    letters = Letters(chain.kinds, _joint_names(chain, names), asked.arguments, list(named))
    arm = NamedArm(chain, letters)
    if asked.function:
        options = {"frame": frame if asked.framed else None, "axes": axes if asked.axes else None}
        compute: Callable[..., Any] = partial(
            asked.function, arm, **{key: value for key, value in options.items() if value}
        )
    else:
        compute = partial(catalogue.find(quantity, METHODS[quantity]).function, arm)
    state = [letters.state[name] for name in asked.arguments]
    found = compute(*state)
    if asked.rotors:
        found = asked.rotors(arm, found, *state)
    results = found if len(asked.results) > 1 else (found,)
    shaped = tuple(_shaped(result, letters.written) for result in results)
    return shaped if len(shaped) > 1 else shaped[0]


def _accelerations(chain: Chain, parameters: bool, names: Sequence[str] | None) -> Any:
    """M^-1 (tau - b), by Cramer's rule."""
    sympy = _sympy()
    M, b = (
        closed_form(chain, each, parameters=parameters, names=names)
        for each in ("mass_matrix", "bias")
    )
    tau = sympy.ImmutableMatrix([sympy.Symbol(f"tau{i + 1}") for i in range(chain.n)])
    return M.adjugate() * (tau - b) / sympy.expand(M.det())


def values(robot: Any) -> dict[Any, float]:
    """The numbers that ``parameters=True`` gave names to, by their symbols."""
    chain = getattr(robot, "chain", robot)
    sympy = _sympy()
    return {sympy.Symbol(name): value for name, value in constants(chain).items()}


def _sympy() -> Any:
    try:
        with importing:
            import sympy
    except ImportError:
        raise MethodError("closed forms need SymPy: pip install 'armdyn[symbolic]'") from None
    return sympy


def _checked(chain: Chain, quantity: str, parameters: Any, frame: Any, axes: Any) -> Any:
    """The quantity, if it has a closed form here, and the options that it has."""
    asked = find(quantity)
    _sympy()
    if quantity not in KNOWN:
        what = f"closed form of {quantity} here; differentiate or solve one of these in SymPy"
        raise MethodError(f"no {what}: {listed(KNOWN)}")
    if not isinstance(parameters, bool):
        raise MethodError(f"parameters is {shorten(parameters)}; expected True or False")
    for name, value, has in (("frame", frame, asked.framed), ("axes", axes, asked.axes)):
        if value not in (None, "base") and not has:
            raise MethodError(f"{quantity} has no {name}, but {name}={shorten(value)} is given")
    check_axes(axes)
    chain.find_frame(frame)
    check_inertia(chain, quantity)
    if quantity == "forward_dynamics" and chain.n > MOST:
        raise MethodError(
            f"the closed form of {quantity} fills pages for more than {MOST} joints, and "
            f"{shorten(chain.name)} has {chain.n}; take mass_matrix and bias, and solve"
        )
    return asked


def _joint_names(chain: Chain, names: Sequence[str] | None) -> list[str]:
    """The names of the joints' variables."""
    given = [f"q{i + 1}" for i in range(chain.n)] if names is None else as_names("names", names)
    if len(given) != chain.n or len(set(given)) < chain.n:
        raise MethodError(f"names is {shorten(names)}; expected {chain.n}, one a joint, each once")
    for name in given:
        if not re.fullmatch(r"[A-Za-z]\w*", name):
            raise MethodError(f"names: {shorten(name)} is no name of a variable")
        if name in constants(chain):
            raise MethodError(f"names: {shorten(name)} is the name of a constant of the arm")
    return given


# The constants that get names -------------------------------------------------------------------


def constants(chain: Chain) -> dict[str, float]:
    """The arm's masses, centres of mass, inertias, lengths and rotors that are not zero, by name.

    Of link i: its mass m, centre of mass cx, cy, cz, inertia about it Ixx, Ixy, ... in E_i; of
    joint i b and d of the modified DH table and the rotor Im; the tip's place in the last frame;
    gravity g, or gx, gy, gz where it points along no axis.
    """
    found: dict[str, float] = {}
    for i, (joint, link) in enumerate(zip(chain.joints, chain.links, strict=True), start=1):
        body = link.inertia
        named = {"m": body.mass, "b": joint.b, "d": joint.d, "Im": joint.rotor_inertia}
        scale = NOISE * np.abs(body.about_com).max() if body.mass else 0.0
        centre = body.com.tolist() if body.mass else [0.0] * 3
        named |= {f"c{axis}": x for axis, x in zip("xyz", centre, strict=True)}
        six = body.about_com[np.triu_indices(3)].tolist()
        for key, x in zip(TENSOR, six, strict=True):
            named[f"I{key}"] = x if abs(x) > scale else 0.0
        found |= {f"{key}{i}": float(x) for key, x in named.items() if x}
    ends = {"base": chain.base.translation, "tip": chain.tip.translation}
    for end, place in ends.items():
        found |= {f"{end}{axis}": x for axis, x in zip("xyz", place, strict=True) if x}
    down = [x for x in chain.gravity if x]
    if len(down) == 1:
        found["g"] = abs(down[0])
    else:
        found |= {f"g{axis}": x for axis, x in zip("xyz", chain.gravity, strict=True) if x}
    return found


def _shaped(result: Any, written: Callable[[Any], Any]) -> Any:
    """Nested lists as SymPy has them: a matrix, a column, an array of more indices, a number."""
    with importing:
        import sympy

    shape = np.shape(np.array(result, dtype=object))
    flat = [written(x) for x in np.array(result, dtype=object).ravel().tolist()]
    if not shape:
        return flat[0]
    if len(shape) > 2:
        return sympy.ImmutableDenseNDimArray(flat, shape)
    return sympy.ImmutableMatrix(*(shape if len(shape) == 2 else (*shape, 1)), flat)


class NamedArm(Arm):
    """An arm on such polynomials, whose constants bear their names."""

    def __init__(self, chain: Chain, letters: Letters) -> None:
        self._letters = letters
        super().__init__(chain, letters.number, [link.inertia for link in chain.links])
        if not letters.named:
            return
        named, joints = self._constant, chain.joints
        rows = list(enumerate(joints, start=1))
        self.b = [named(f"b{i}", joint.b) for i, joint in rows]
        self.d = [named(f"d{i}", joint.d) for i, joint in rows]
        self.rotor_inertia = [named(f"Im{i}", joint.rotor_inertia) for i, joint in rows]
        self.mass = [named(f"m{i}", link.inertia.mass) for i, link in enumerate(chain.links, 1)]
        centres = [
            Vector(*(letters.letter.get(f"c{axis}{i}", 0) for axis in "xyz")) for i, _ in rows
        ]
        self.first_moment = [m * c for m, c in zip(self.mass, centres, strict=True)]
        about_com = [
            type(J)(*(letters.letter.get(f"I{key}{i}", 0) for key in TENSOR))
            for i, J in enumerate(self.inertia, start=1)
        ]
        pairs = zip(about_com, self.first_moment, centres, strict=True)
        self.inertia = [J + steiner(h, c) for J, h, c in pairs]
        down = [x for x in chain.gravity if x]
        g = letters.letter.get("g")
        signs = np.sign(chain.gravity) if len(down) == 1 else np.array(chain.gravity)
        pull = (
            int(sign) * g if g is not None else named(f"g{axis}", sign)
            for axis, sign in zip("xyz", signs.tolist(), strict=True)
        )
        self.gravity = self._in_first_frame(Vector(*pull))

    def _constant(self, name: str, value: float) -> Any:
        """A constant by its name, if it has one; else the number."""
        return self._letters.letter.get(name) or self._letters.number(value)

    def frame(self, name: str | None = None) -> Any:
        """As ``Arm.frame``; the tip stands where its named constants say."""
        link, rows, origin = super().frame(name)
        if name is None:
            origin = self._place("tip", origin, self._chain.tip.translation)
        return link, rows, origin

    @property
    def base(self) -> Any:
        """As ``Arm.base``, with the names of its lengths."""
        chain = self._chain
        origin = self._vector(chain.base.translation)
        return self._rows(chain.base), self._place("base", origin, chain.base.translation)

    def _place(self, what: str, origin: Vector, values: Sequence[float]) -> Vector:
        pairs = zip("xyz", origin, values, strict=True)
        return Vector(
            *(self._letters.letter.get(f"{what}{axis}", x) if v else x for axis, x, v in pairs)
        )
