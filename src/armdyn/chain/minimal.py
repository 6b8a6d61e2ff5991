"""Minimal parameters: the fewest linear combinations of inertial parameters that fix all torques.

[lin1999], Theorem 1 and Appendix C. A link hands to the link before it whatever of its inertia
their joint cannot tell apart; what is left, and can be felt at some joint, is the set. All of it
is linear in the natural parameters: the coefficients come first, values are their products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np

from armdyn.chain import axes
from armdyn.chain.given import Triple
from armdyn.chain.inertia import NAMES, ORDERS, Inertia
from armdyn.chain.pose import Pose
from armdyn.forks import importing
from armdyn.spatial import Scalar
from armdyn.spatial.matrices import linear

if TYPE_CHECKING:
    from armdyn.chain import Chain, Joint

# Unit vectors of a link's ten parameters, in the order "pinocchio" but by Khalil's names.
M, MX, MY, MZ, XX, XY, YY, XZ, YZ, ZZ = np.eye(10)
KHALIL = [
    dict(zip(ORDERS["khalil"], NAMES["khalil"], strict=True))[own] for own in ORDERS["pinocchio"]
]

RESOLVED = 1e-9  # of the regressor scaled to unit columns, in which rounding leaves about 1e-14
VISIBLE = 1e-12  # a smaller coefficient is rounding, and not shown


@dataclass(frozen=True)
class Combination:
    """One minimal parameter: its name, its value in SI units, its formula.

    ``formula`` gives its coefficient in each natural parameter, such as "ZZ2" or "MX3": Khalil's
    letters, tensors about the link frame's origin, links counted from 1.
    """

    name: str
    value: float
    formula: dict[str, float]

    def __str__(self) -> str:
        terms = [(c < 0, abs(c), name) for name, c in self.formula.items()]
        factors = ["" if abs(size - 1) < VISIBLE else f"{size:.6g} " for _, size, _ in terms]
        signs = [" - " if negative else " + " for negative, _, _ in terms]
        text = "".join(s + f + t[2] for s, f, t in zip(signs, factors, terms, strict=True))
        return f"{self.name} = {text.removeprefix(' + ').lstrip()} = {self.value:.6g}"


class MinimalParameters(Sequence[Combination]):
    """The minimal parameters of a chain: a sequence of combinations, and their matrix.

    Attributes:
        names: of each, such as "U33_1", "kx_2", "mh_3": the paper's letters, links from 1.
        coefficients: ``values = coefficients @ chain.parameters``, shape (count, 10 n).
        values: in SI units, shape (count,).
    """

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self._members = members_of(chain)
        pairs = list(zip(self._members, self.constants(), strict=True))
        self.names = [f"{e.name}_{i + 1}" for i, row in enumerate(self._members) for e in row]
        rows = [e.read @ constants for row, constants in pairs for e in row]
        self.coefficients = np.array(rows).reshape(-1, 10 * chain.n)
        self.values: np.ndarray = self.coefficients @ chain.parameters

    @cached_property
    def minimal(self) -> bool:
        """Whether no smaller set would do.

        Theorem 1 says so where gravity is not zero. Without gravity the set is sufficient, but
        may hold more than motion can tell apart: then the regressor's rank decides.
        """
        if any(self.chain.gravity):
            return True
        with importing:
            from armdyn.algorithms.regressor import regressor

        arm, n = self.chain.on(float), self.chain.n
        with importing:
            from numpy.random import default_rng  # slow to import

        rng = default_rng(0)
        states = rng.uniform(-np.pi, np.pi, (3 + 3 * len(self) // n, 3, n)).tolist()
        Y = np.concatenate([np.array(regressor(arm, *state), float) for state in states])
        felt = Y @ np.linalg.pinv(self.coefficients)
        size = np.linalg.norm(felt, axis=0)
        if size.min() <= RESOLVED * size.max():
            return False
        singular = np.linalg.svd(felt / size, compute_uv=False)
        return bool(singular[-1] > RESOLVED * singular[0])

    @property
    def units(self) -> np.ndarray:
        """Natural parameters that have one unit of each and nothing of the others, (10 n, count).

        ``coefficients @ units`` is the identity. The columns are those links that ``bodies`` makes
        of unit values: single parameters where all joints are revolute.
        """
        ends = np.cumsum([0, *map(len, self._members)])
        units = np.zeros((self.chain.n, 10, len(self)))
        outboard = np.zeros((10, len(self)))
        for i in reversed(range(self.chain.n)):
            for k, e in enumerate(self._members[i], start=ends[i]):
                units[i] += np.outer(e.body, np.eye(len(self))[k] - e.read @ outboard)
            outboard = handed_in(self.chain.joints[i]) @ (units[i] + outboard)
        return units.reshape(-1, len(self))

    def bodies(self) -> list[Inertia]:
        """A body a link, made of the minimal parameters alone; together they move as the chain."""
        return regrouped(self.chain, [link.inertia for link in self.chain.links])

    def constants(self) -> list[np.ndarray]:
        """mh_i, k_i, U_i of each link in all natural parameters, (10, 10 n): (3), (C1) to (C3)."""
        n = self.chain.n
        own = np.eye(10 * n).reshape(n, 10, 10 * n)
        constants = [own[-1]]
        for i in reversed(range(1, n)):
            constants.append(own[i - 1] + handed_in(self.chain.joints[i]) @ constants[-1])
        return constants[::-1]

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, index: int) -> Combination: ...
    @overload
    def __getitem__(self, index: slice) -> list[Combination]: ...
    def __getitem__(self, index: int | slice) -> Combination | list[Combination]:
        return list(self)[index]

    def __iter__(self) -> Iterator[Combination]:
        natural = [f"{name}{i + 1}" for i in range(self.chain.n) for name in KHALIL]
        for name, value, row in zip(self.names, self.values, self.coefficients, strict=True):
            terms = zip(natural, row.tolist(), strict=True)
            yield Combination(name, float(value), {t: c for t, c in terms if abs(c) > VISIBLE})

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def __repr__(self) -> str:
        first = ", ".join([*self.names[:3], *(["..."] if len(self) > 3 else [])])
        return f"MinimalParameters({len(self)} of {10 * self.chain.n}: {first})"


def handed_in(joint: Joint) -> np.ndarray:
    """What a link's constants mh, k, U add to those of the link before it, (10, 10): (C1) to (C3).

    Past a revolute joint it is what turning does not change: the mass, the first moment along the
    axis, diag(U22, U22, 0). Past a prismatic joint it is all, at d = 0.
    """
    if joint.kind == "P":
        return seen_from_matrix(Pose.mdh(joint.b, joint.beta, joint.theta, 0.0))
    unturned = np.outer(M, M) + np.outer(MZ, MZ) + np.outer(XX + YY, YY)
    return seen_from_matrix(Pose.mdh(joint.b, joint.beta, joint.theta, joint.d)) @ unturned


def seen_from_matrix(pose: Pose) -> np.ndarray:
    """Inertia.seen_from as a matrix (10, 10)."""
    seen = [Inertia.from_parameters(unit).seen_from(pose).parameters() for unit in np.eye(10)]
    return np.column_stack(seen)


def regrouped(
    chain: Chain,
    bodies: Sequence[Inertia],
    number: Callable[[float], Scalar] = float,
    any_gravity: bool = False,
) -> list[Inertia]:
    """Bodies of any scalars, a body a link, as others of the minimal parameters alone.

    Together they move as before. Link by link from the tip, what is not in the set goes on to the
    link before, as far as it is felt at all; what is not in the set is the integer 0.
    """
    found, rest = [], [0] * 10
    rows = zip(members_of(chain, any_gravity), chain.joints, bodies, strict=True)
    for members, joint, body in reversed(list(rows)):
        rest = [x + y for x, y in zip(body.ten, rest, strict=True)]
        kept = sum((np.outer(e.body, e.read) for e in members), np.zeros((10, 10)))
        found.append(Inertia.from_ten(linear(kept, rest, number)))
        rest = linear(handed_in(joint) @ (np.eye(10) - kept), rest, number)
    return found[::-1]


class Member(NamedTuple):
    """One member of the set, in the constants mh, k, U of its link.

    Attributes:
        name: the paper's, without the link's number.
        read: its coefficients in the ten constants.
        body: the ten constants that have one unit of it, and nothing of the other members.
    """

    name: str
    read: np.ndarray
    body: np.ndarray


MH = Member("mh", M, M)
KX, KY, KZ = Member("kx", MX, MX), Member("ky", MY, MY), Member("kz", MZ, MZ)
U11_22 = Member("U11-22", XX - YY, XX)
U12, U13, U23 = Member("U12", XY, XY), Member("U13", XZ, XZ), Member("U23", YZ, YZ)
U33 = Member("U33", ZZ, ZZ)


def members_of(chain: Chain, any_gravity: bool = False) -> list[list[Member]]:
    """The members of Theorem 1's set, link by link; its five cases by number.

    ``any_gravity`` asks for those that gravity in any direction makes felt.
    """
    r, s, u = axes.start(chain)
    in_place = [False] * chain.n if any_gravity else axes.turns_in_place(chain)
    members = []
    for i, joint in enumerate(chain.joints):
        if joint.kind == "R" and i < s:
            row = [U33] if in_place[i] else [U33, KX, KY]  # 1
        elif joint.kind == "R":
            row = [U11_22, U33, U12, U13, U23, KX, KY]  # 2
        elif i > s:
            row = [MH, KX, KY, KZ]  # 3, 4
        elif i > r:
            row = [MH, *kappas(u[i])]  # 3, 5
        else:
            row = [MH]  # 3
        members.append(row)
    return members


def kappas(u: Triple) -> list[Member]:
    """kappa_1i and kappa_2i of a prismatic joint i, r < i < s, by (27) and (28); u is u_r^<i>.

    With e = u_i - (u_i.u) u, the part of the joint's axis across u_r, they are (e x u).k_i and
    e.k_i, so all of k_i that turning about u_r shows. None (sigma_i = 0) if the joint is parallel
    to joint r: then link i - 1 has it.
    """
    x, y, z = u
    across = x * x + y * y
    if across == 0:
        return []
    one = x * MY - y * MX
    two = across * MZ - z * (x * MX + y * MY)
    return [Member("kappa1", one, one / across), Member("kappa2", two, two / across)]
