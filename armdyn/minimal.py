"""Minimal parameters: the fewest linear combinations of inertial parameters that fix all torques.

[LinFang1999], Theorem 1 and Appendix C. A link hands to the link before it whatever part of its
inertia their joint cannot tell apart; what is left, and can be felt at some joint, is the set.
Everything here is linear in the natural parameters, so a link's constants are carried as the
matrix of their coefficients, ten rows by all 10 n parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np

from armdyn import axes
from armdyn.inertia import NAMES, ORDERS, Inertia
from armdyn.pose import Pose

if TYPE_CHECKING:
    from armdyn.chain import Chain, Joint

# The ten parameters of a link in the order "pinocchio"; K is Khalil's name of each.
M, MX, MY, MZ, XX, XY, YY, XZ, YZ, ZZ = np.eye(10)
KHALIL = dict(zip(ORDERS["khalil"], NAMES["khalil"], strict=True))
K = tuple(KHALIL[own] for own in ORDERS["pinocchio"])

RESOLVED = 1e-9  # of the regressor scaled to unit columns; rounding leaves about 1e-14
VISIBLE = 1e-12  # coefficients below are rounding


class Element(NamedTuple):
    """One member of the set, on the constants mh, k, U of its link.

    Attributes:
        name: the paper's, without the link's number.
        read: its coefficients in the ten constants.
        body: the ten parameters of a body that has one unit of it and nothing of the others.
    """

    name: str
    read: np.ndarray
    body: np.ndarray


@dataclass(frozen=True)
class Combination:
    """One minimal parameter: its name, its value, its coefficients in the natural parameters.

    ``formula`` maps a natural parameter, such as "ZZ2" or "MX3" (Khalil's letters, the tensor
    about the link frame's origin, links counted from 1), to its coefficient.
    """

    name: str
    value: float
    formula: dict[str, float]

    def __str__(self) -> str:
        return f"{self.name} = {_sum(self.formula)} = {self.value:.6g}"


class MinimalParameters(Sequence[Combination]):
    """The minimal parameters of a chain: a sequence of combinations, and their matrix.

    Attributes:
        names: of each, such as "U33_1", "kx_2", "mh_3": the paper's letters, links from 1.
        coefficients: ``values = coefficients @ chain.parameters``, shape (count, 10 n).
        values: in SI units, shape (count,).
    """

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        members = elements(chain)
        self.names = [f"{e.name}_{i + 1}" for i, row in enumerate(members) for e in row]
        self.coefficients = np.array(
            [e.read @ X for row, X in zip(members, constants(chain), strict=True) for e in row]
        ).reshape(-1, 10 * chain.n)
        self.values: np.ndarray = self.coefficients @ chain.parameters

    @cached_property
    def minimal(self) -> bool:
        """Whether no smaller set would do.

        Theorem 1 says so wherever gravity is not zero; without it the set is sufficient, but may
        hold more than motion can tell apart. Decided by the regressor's rank.
        """
        from armdyn.algorithms.regressor import regressor

        rng = np.random.default_rng(0)
        arm, n, count = self.chain.on(float), self.chain.n, len(self)
        states = rng.uniform(-np.pi, np.pi, (3 + 3 * count // n, 3, n)).tolist()
        Y = np.concatenate([np.array(regressor(arm, *state), float) for state in states])
        felt = Y @ np.linalg.pinv(self.coefficients)
        size = np.linalg.norm(felt, axis=0)
        if not size.all():
            return False
        singular = np.linalg.svd(felt / size, compute_uv=False)
        return bool(singular[-1] > RESOLVED * singular[0])

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, index: int) -> Combination: ...
    @overload
    def __getitem__(self, index: slice) -> list[Combination]: ...
    def __getitem__(self, index: int | slice) -> Combination | list[Combination]:
        return list(self)[index]

    def __iter__(self) -> Iterator[Combination]:
        natural = [f"{name}{i + 1}" for i in range(self.chain.n) for name in K]
        for name, value, row in zip(self.names, self.values, self.coefficients, strict=True):
            terms = zip(natural, row.tolist(), strict=True)
            yield Combination(name, float(value), {k: c for k, c in terms if abs(c) > VISIBLE})

    def __str__(self) -> str:
        return "\n".join(map(str, self))


def regrouped(chain: Chain) -> list[Inertia]:
    """A body a link: together they move as the chain does, made of its minimal parameters alone.

    Bodies add up, whereas the constants mh, k, U of a link also hold what lies beyond a prismatic
    joint; so from each element is taken off what the bodies further out bring to it. What is not
    in the set is the integer 0.
    """
    members = elements(chain)
    ends = np.cumsum([len(row) for row in members])[:-1]
    values = np.split(MinimalParameters(chain).values, ends)
    bodies = []
    outer = np.zeros(10)  # the constants of link i, as far as bodies i + 1 to n bring them about
    for joint, row, wanted in reversed(list(zip(chain.joints, members, values, strict=True))):
        body = np.zeros(10)
        for e, value in zip(row, wanted, strict=True):
            body += (value - e.read @ outer) * e.body
        present = np.any([e.body != 0 for e in row], axis=0) if row else np.zeros(10, bool)
        bodies.append(_inertia(body, present))
        outer = handed_in(joint) @ (body + outer)
    return bodies[::-1]


def constants(chain: Chain) -> list[np.ndarray]:
    """The inertia constants (mh_i, k_i, U_i) of each link, (10, 10 n) each: (3), (C1) to (C3)."""
    own = np.eye(10 * chain.n).reshape(chain.n, 10, 10 * chain.n)
    X = [own[-1]]
    for i in reversed(range(chain.n - 1)):
        X.append(own[i] + handed_in(chain.joints[i + 1]) @ X[-1])
    return X[::-1]


def handed_in(joint: Joint) -> np.ndarray:
    """What a link's constants add to those of the link before it, (10, 10): (C1) to (C3).

    Beyond a revolute joint it is the part that turning does not change: the mass, the first
    moment along the axis, and diag(U22, U22, 0). Beyond a prismatic joint it is all, at d = 0.
    """
    if joint.kind == "P":
        return _seen_from(Pose.mdh(joint.b, joint.beta, joint.theta, 0.0))
    unturned = np.outer(M, M) + np.outer(MZ, MZ) + np.outer(XX + YY, YY)
    return _seen_from(Pose.mdh(joint.b, joint.beta, joint.theta, joint.d)) @ unturned


def elements(chain: Chain) -> list[list[Element]]:
    """The members of Theorem 1's set, link by link."""
    r, s, u = axes.start(chain)
    in_place = axes.turns_in_place(chain)
    members = []
    for i, joint in enumerate(chain.joints):
        if joint.kind == "P":
            row = [Element("mh", M, M)]  # 3.
            if i > s:
                row += FIRST_MOMENT  # 4.
            elif i > r:
                row += kappas(u[i])  # 5.
        elif i < s:
            row = [U33] + ([] if in_place[i] else FIRST_MOMENT[:2])  # 1.
        else:
            row = [Element("U11-22", XX - YY, XX), U33, *PRODUCTS, *FIRST_MOMENT[:2]]  # 2.
        members.append(row)
    return members


U33 = Element("U33", ZZ, ZZ)
PRODUCTS = [Element("U12", XY, XY), Element("U13", XZ, XZ), Element("U23", YZ, YZ)]
FIRST_MOMENT = [Element("kx", MX, MX), Element("ky", MY, MY), Element("kz", MZ, MZ)]


def kappas(u: Sequence[float]) -> list[Element]:
    """kappa_1i and kappa_2i, (27) and (28), of a prismatic joint i with u = u_r^<i>.

    They are what joint r feels of k_i: with e the part of u_i across u_r,
    kappa_1 = (e x u_r) . k and kappa_2 = e . k. None if joint i is parallel to joint r: link i - 1 has it.
    """
    x, y, z = u
    across = 1 - z * z
    if x == y == 0:
        return []
    one = x * MY - y * MX
    two = across * MZ - z * (x * MX + y * MY)
    return [Element("kappa1", one, one / across), Element("kappa2", two, two / across)]


def _seen_from(pose: Pose) -> np.ndarray:
    """Inertia.seen_from as a matrix (10, 10)."""
    seen = [Inertia.from_parameters(unit).seen_from(pose).parameters() for unit in np.eye(10)]
    return np.column_stack(seen)


def _inertia(ten: np.ndarray, present: np.ndarray) -> Inertia:
    """A body of the ten parameters, in which what is not ``present`` is the integer 0."""
    m, x, y, z, xx, xy, yy, xz, yz, zz = (
        value if here else 0 for value, here in zip(ten.tolist(), present, strict=True)
    )
    return Inertia(m, (x, y, z), (xx, xy, xz, yy, yz, zz))


def _sum(formula: dict[str, float]) -> str:
    """A linear formula as it is read: "ZZ2 + YY3 - 0.2 MX3"."""
    text = ""
    for name, coefficient in formula.items():
        size = abs(coefficient)
        factor = "" if abs(size - 1) < VISIBLE else f"{size:.6g} "
        sign = "-" if coefficient < 0 else "+"
        text += f" {sign} {factor}{name}" if text else f"{'-' * (sign == '-')}{factor}{name}"
    return text
