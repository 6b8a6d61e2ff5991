"""Lin and Fang 1999, section 2 and Appendices A and B: five formulations of the inertia matrix.

The tests evaluate the paper's statements on random arms. The truth is the matrix D that
``samples`` computes from the velocities of the links. Joints count from 0.
"""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from tests.papers.bodies import Body
from tests.papers.samples import CLEAR, MIXED, REVOLUTE, SMALL, Array, cross, off, skew

U = np.array([0.0, 0, 1])


class Composite(Body):
    """An arm and its composite bodies in their own frames."""

    def ch(self, i: int) -> Array:
        """c-hat_i^<i>."""
        return np.asarray(self.at.R[i].T @ (self.ph[i] - self.mh[i] * self.at.o[i]))

    def Ji(self, i: int) -> Array:
        """J-hat_i^<i>."""
        return self.tensor_within(i, self.tensor(i, self.at.o[i]))

    def d(self, i: int) -> float:
        """d_i."""
        return float(self.chain.joints[i].d + self.K[i] * self.q[i])

    def constants(self, i: int) -> tuple[float, float, float]:
        """b_i and the sine and cosine of beta_i."""
        joint = self.chain.joints[i]
        return joint.b, np.sin(joint.beta), np.cos(joint.beta)

    def angles(self, i: int) -> tuple[float, float]:
        """The sine and cosine of theta_i."""
        theta = self.chain.joints[i].theta + self.Ks[i] * self.q[i]
        return np.sin(theta), np.cos(theta)


@cache
def arms() -> list[Composite]:
    """Revolute and mixed arms."""
    return [Composite(kinds, k) for k, kinds in enumerate((*REVOLUTE, *MIXED), start=1)]


def every(
    columns: Callable[[Composite], Iterator[tuple[int, int, float]]],
    some: list[Composite] | None = None,
) -> float:
    """The error of D over all arms or some, by its elements (j, i, D_ji)."""

    def wrong(s: Composite) -> float:
        found = list(columns(s))
        assert len(found) == s.n * (s.n + 1) / 2
        return off([D for _, _, D in found], [s.M[j, i] for j, i, _ in found])

    return max(map(wrong, some or arms()))


def worst(element: Callable[[Composite, int, int], Any]) -> float:
    """The same, by a function of j and i."""
    return every(lambda s: ((j, i, element(s, j, i)) for i in range(s.n) for j in range(i + 1)))


def test_3_to_5():
    """(3) to (5): mass, first moment, tensor of a composite body; (5) rotates I_j^<j>."""
    double = []
    for s in arms():
        for i in range(s.n):
            m, c, J, twice = 0.0, np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3))
            for j in range(i, s.n):
                R = s.turned(j, i)
                lever = s.far(i, j) + R @ s.c[j]
                m = m + s.m[j]
                c = c + s.m[j] * lever
                J = J + R @ s.I[j] @ R.T - s.m[j] * skew(lever) @ skew(lever)
                twice = twice + R @ (R @ s.I[j] @ R.T) @ R.T - s.m[j] * skew(lever) @ skew(lever)
            assert off(m, s.mh[i]) < SMALL and off(c, s.ch(i)) < SMALL
            assert off(J, s.Ji(i)) < SMALL
            double.append(off(twice, s.Ji(i)))
    assert max(double) > CLEAR  # I_j^<i>, as our copy has it


def test_6_to_11():
    """(6) to (11), Formulation 1: force and torque of body i, carried inward to joint j."""

    def element(s: Composite, j: int, i: int) -> float:
        f = s.Ks[i] * cross(U, s.ch(i)) + s.K[i] * s.mh[i] * U
        t = s.Ks[i] * s.Ji(i) @ U + s.K[i] * cross(s.ch(i), U)
        for k in reversed(range(j, i)):
            f = s.turned(k + 1, k) @ f
            t = s.turned(k + 1, k) @ t + cross(s.far(k, k + 1), f)
        return float(U @ ((1 - s.K[j]) * t + s.K[j] * f))

    assert worst(element) < SMALL


def test_12_to_17():
    """(12) to (17): the same in six dimensions, Method IV of Lilly and Orin."""

    def element(s: Composite, j: int, i: int) -> float:
        C, Z = skew(s.ch(i)), np.zeros((3, 3))
        f = np.block([[s.Ji(i), C], [C.T, s.mh[i] * np.eye(3)]])
        f = f @ np.concatenate([s.Ks[i] * U, s.K[i] * U])
        for k in reversed(range(j, i)):
            R, far = s.turned(k + 1, k), s.far(k, k + 1)
            f = np.block([[R, skew(far) @ R], [Z, R]]) @ f
        return float(np.concatenate([s.Ks[j] * U, s.K[j] * U]) @ f)

    assert worst(element) < SMALL


def test_19():
    """(19): D_ji with all vectors in E_j, and so the tensor J-hat_i^<j>."""

    def element(s: Composite, j: int, i: int, own: bool) -> float:
        R = s.turned(i, j)
        u, c, far, m = R @ U, R @ s.ch(i), s.far(j, i), s.mh[i]
        J = s.Ji(i) if own else R @ s.Ji(i) @ R.T
        D = s.Ks[j] * s.Ks[i] * U @ (J @ u + cross(far, cross(u, c)))
        D += s.K[j] * s.Ks[i] * U @ cross(u, c)
        D += s.Ks[j] * s.K[i] * U @ (m * cross(far, u) + cross(c, u))
        return float(D + s.K[j] * s.K[i] * m * u @ U)

    assert worst(lambda s, j, i: element(s, j, i, False)) < SMALL
    assert worst(lambda s, j, i: element(s, j, i, True)) > CLEAR  # J-hat_i^<i>, as our copy has it


def test_table_1():
    """Table I: Formulation 1 with its zeros and constants; f_{i-1,i} by K*_i."""

    def columns(s: Composite) -> Iterator[tuple[int, int, float]]:
        for i in range(s.n):
            (cx, cy, _), J, m = s.ch(i), s.Ji(i), s.mh[i]
            f = s.Ks[i] * np.array([-cy, cx, 0]) + s.K[i] * np.array([0, 0, m])
            t = s.Ks[i] * J[:, 2] + s.K[i] * np.array([cy, -cx, 0])
            yield i, i, s.Ks[i] * t[2] + s.K[i] * f[2]
            for j in reversed(range(i)):
                R, (b, Sb, Cb), (S, C), d = (
                    g(j + 1) for g in (lambda k: s.turned(k, k - 1), s.constants, s.angles, s.d)
                )
                if j == 0:
                    t = R @ (t + cross(np.array([b * C, -b * S, d]), f))
                    f = R @ f
                else:
                    before, f = f, R @ f
                    if j == i - 1:
                        f = s.Ks[i] * f + s.K[i] * np.array([0, -m * Sb, m * Cb])
                    t = R @ (t + cross(np.array([0, 0, d]), before))
                    t = t + cross(np.array([b, 0, 0]), f)
                yield j, i, s.Ks[j] * t[2] + s.K[j] * f[2]

    assert every(columns) < SMALL


def test_20_and_table_2():
    """(20), Table II: Formulation 2, with u_j and s_j carried outward from E_j to E_i."""

    def columns(s: Composite) -> Iterator[tuple[int, int, float]]:
        for j in range(s.n):
            yield j, j, s.Ks[j] * s.Ji(j)[2, 2] + s.K[j] * s.mh[j]
            u, x = U, np.zeros(3)
            for i in range(j + 1, s.n):
                R, (b, _, _), J, c, m = (
                    s.turned(i, i - 1),
                    s.constants(i),
                    s.Ji(i),
                    s.ch(i),
                    s.mh[i],
                )
                u = R.T @ u
                x = s.Ks[j] * (R.T @ (x + [b, 0, 0]) + [0, 0, s.d(i)])
                a = J[:, 2] + [-c[0] * x[2], -c[1] * x[2], c[0] * x[0] + c[1] * x[1]]
                D = s.Ks[j] * s.Ks[i] * u @ a + s.K[j] * s.Ks[i] * u @ np.array([-c[1], c[0], 0])
                D += s.Ks[j] * s.K[i] * u @ np.array([m * x[1] + c[1], -m * x[0] - c[0], 0])
                yield j, i, D + s.K[j] * s.K[i] * m * u[2]

    assert every(columns) < SMALL


def test_21_and_table_3():
    """(21), Table III: Formulation 3; as in (21), its K*_j K_i term takes u.[-c_y, c_x, 0] off."""

    def columns(s: Composite, sign: int) -> Iterator[tuple[int, int, float]]:
        for j in range(s.n):
            yield j, j, s.Ks[j] * s.Ji(j)[2, 2] + s.K[j] * s.mh[j]
            u, sh = U, np.zeros(3)
            for i in range(j + 1, s.n):
                R, (b, Sb, _), c, m = s.turned(i, i - 1), s.constants(i), s.ch(i), s.mh[i]
                if i == j + 1:
                    sh = s.Ks[j] * R.T @ [s.d(i) * Sb, b, 0]
                else:
                    sh = R.T @ (sh + cross(u, np.array([b, 0, 0])))
                    sh = s.Ks[j] * (sh + cross(R.T @ u, np.array([0, 0, s.d(i)])))
                u = R.T @ u
                e = np.array([-c[1], c[0], 0])
                D = s.Ks[j] * s.Ks[i] * (u @ s.Ji(i)[:, 2] + e @ sh) + s.K[j] * s.Ks[i] * u @ e
                D += s.Ks[j] * s.K[i] * (m * sh[2] + sign * u @ e)
                yield j, i, D + s.K[j] * s.K[i] * m * u[2]

    assert every(lambda s: columns(s, -1)) < SMALL
    assert every(lambda s: columns(s, 1)) > CLEAR  # the sign of our copy


def test_table_4():
    """Table IV: Formulation 4, force and torque as in Table I, but in E_n."""

    def columns(s: Composite) -> Iterator[tuple[int, int, float]]:
        n = s.n - 1
        N = [s.turned(i, n) for i in range(s.n)]
        for i in range(s.n):
            (cx, cy, _), J, m = s.ch(i), s.Ji(i), s.mh[i]
            f = s.Ks[i] * np.array([-cy, cx, 0]) + s.K[i] * np.array([0, 0, m])
            t = s.Ks[i] * J[:, 2] + s.K[i] * np.array([cy, -cx, 0])
            yield i, i, s.Ks[i] * t[2] + s.K[i] * f[2]
            f, t = N[i] @ f, N[i] @ t
            for j in reversed(range(i)):
                b, u = s.constants(j + 1)[0], N[j] @ U
                t = t + cross(N[j] @ [b, 0, 0] + N[j + 1] @ [0, 0, s.d(j + 1)], f)
                yield j, i, s.Ks[j] * u @ t + s.K[j] * u @ f

    assert every(columns) < SMALL


def test_b5_to_b11():
    """(B5) to (B11), Table V: Formulation 5; -f x s belongs to K*_i, D_ij takes K of joint j."""

    def columns(
        s: Composite, always: bool, own: bool, share: float = 1
    ) -> Iterator[tuple[int, int, float]]:
        for i in range(s.n):
            m, k_i = share * s.mh[i], s.Ks[i] * s.Ji(i) @ U
            yield i, i, s.Ks[i] * U @ k_i + s.K[i] * m
            for j in reversed(range(i)):
                R, far = s.turned(j + 1, j), s.far(j, j + 1)
                if j == i - 1:
                    h, u = R @ s.ch(i) + m * far, R @ U
                    f = -s.Ks[i] * cross(h - m * far, u) + s.K[i] * m * u
                    t = -(1 if always else s.Ks[i]) * cross(f, far)
                    t = t + s.Ks[i] * R @ k_i + s.K[i] * cross(h, u)
                else:
                    f = R @ f
                    t = R @ t + cross(far, f)
                own_kind = s.Ks[j] if own else s.Ks[i]
                yield j, i, U @ (own_kind * t + (1 - own_kind) * f)

    assert every(lambda s: columns(s, False, True)) < SMALL
    assert every(lambda s: columns(s, True, True)) > CLEAR  # Table V, t_{i-1,i}
    assert every(lambda s: columns(s, False, False)) > CLEAR  # (B11) and Table V, K_i
    revolute = arms()[: len(REVOLUTE)]  # here m-hat may be 0, and h is c-hat
    assert every(lambda s: columns(s, False, True, 0), revolute) < SMALL
    assert every(lambda s: columns(s, False, True, 0), arms()) > CLEAR


def test_a1_to_a10():
    """(A1) to (A10): D from Newton and Euler; (A4) adds (1/m-hat) [c-hat x][c-hat x]."""

    def tensor(s: Composite, i: int, sign: int) -> Array:
        return np.asarray(s.Ji(i) + sign / s.mh[i] * skew(s.ch(i)) @ skew(s.ch(i)))

    def element(s: Composite, j: int, i: int) -> float:
        r = s.at.R[i].T @ s.at.o[i] + s.ch(i) / s.mh[i]
        rdd = s.Ks[i] * cross(U, r - s.at.R[i].T @ s.at.o[i]) + s.K[i] * U
        wd = s.Ks[i] * U
        f_T, t_T = -s.mh[i] * rdd, -tensor(s, i, 1) @ wd
        f = -f_T
        t = -t_T - cross(s.ch(i), f_T) / s.mh[i]
        R = s.turned(i, j)
        return float(U @ (s.Ks[j] * (R @ t + cross(s.far(j, i), R @ f)) + s.K[j] * R @ f))

    assert worst(element) < SMALL
    for s in arms():
        for i in range(s.n):
            centre = s.at.o[i] + s.at.R[i] @ s.ch(i) / s.mh[i]
            truth = s.tensor_within(i, s.tensor(i, centre))
            assert off(tensor(s, i, 1), truth) < SMALL
            assert off(tensor(s, i, -1), truth) > CLEAR  # the sign of our copy
