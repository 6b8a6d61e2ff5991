"""Lin and Fang 1999, sections 3 and 4 and Appendix C: minimal parameters and Table VII.

k_i and U_i are the library's. The tests compare them with (C1) to (C3), their sums with l_i and V_i
of (24) to (26) with the composite bodies, and the parameters of Theorem 1 with those that the
energy shows. Joint r is the first revolute joint, joint s the first revolute one not parallel to
it; both count from 0, n for none.
"""

from functools import cache, cached_property

import numpy as np

from armdyn.chain.minimal import MinimalParameters, handed_in
from tests.papers.samples import CLEAR, MIXED, PARALLEL, REVOLUTE, SMALL, Array, cross, off, skew
from tests.papers.test_lin1999 import Composite, U


class Split(Composite):
    """An arm whose composite bodies are split into constants and what varies."""

    @cached_property
    def rows(self) -> Array:
        """m-hat_i, k_i and U_i in all natural parameters, shape (n, 10, 10 n)."""
        rows = np.eye(10 * self.n).reshape(self.n, 10, 10 * self.n)
        for i in reversed(range(self.n - 1)):
            rows[i] += handed_in(self.chain.joints[i + 1]) @ rows[i + 1]
        return rows

    def k(self, i: int) -> Array:
        """k_i."""
        return np.asarray(self.rows[i, 1:4] @ self.chain.parameters)

    def U(self, i: int) -> Array:
        """U_i."""
        return tensor(self.rows[i, 4:] @ self.chain.parameters)

    def l(self, i: int) -> Array:
        """c-hat_i - k_i, by (22)."""
        return self.ch(i) - self.k(i)

    def V(self, i: int) -> Array:
        """J-hat_i - U_i, by (23)."""
        return self.Ji(i) - self.U(i)

    @cached_property
    def s(self) -> int:
        """Joint s."""
        found = (
            i for i in range(self.first, self.n) if self.Ks[i] and abs(self.ur(i)[2]) < 1 - 1e-9
        )
        return next(found, self.n)

    def ur(self, i: int) -> Array:
        """u_r^<i>."""
        return np.asarray(self.at.R[i].T @ self.at.u[self.first])

    @cached_property
    def felt(self) -> Array:
        """A basis of the parameters that the energy shows, shape (rank, 10 n).

        The rest changes neither the kinetic energy nor, except by a constant, the potential one,
        and so no torque.
        """
        rng = np.random.default_rng(0)
        energies = [self.energies(*rng.uniform(-2, 2, (2, self.n))) for _ in range(25 * self.n)]
        potential = np.array([each[1] for each in energies])
        states = np.concatenate([[each[0] for each in energies], potential - potential[0]])
        _, size, basis = np.linalg.svd(states, full_matrices=False)
        return np.asarray(basis[size > 1e-9 * size[0]])

    def energies(self, q: Array, qd: Array) -> tuple[Array, Array]:
        """Kinetic and potential energy of a unit of each natural parameter."""
        links, kinetic, potential = self.place(q), [], []
        for i, (R, o) in enumerate(zip(links.R, links.o, strict=True)):
            v = R.T @ self.velocities(links, o, i) @ qd
            x, y, z = w = R.T @ self.spins(links, i) @ qd
            second = [x * x / 2, x * y, y * y / 2, x * z, y * z, z * z / 2]
            kinetic += [v @ v / 2, *cross(v, w), *second]
            potential += [-self.g @ o, *(-self.g @ R), *np.zeros(6)]
        return np.array(kinetic), np.array(potential)

    def hidden(self, parameter: Array) -> float:
        """The part of a linear combination that no energy shows, relative to the whole."""
        return off(parameter @ self.felt.T @ self.felt, parameter)


def tensor(six: Array) -> Array:
    """A symmetric matrix from xx, xy, yy, xz, yz, zz."""
    xx, xy, yy, xz, yz, zz = six
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def six(J: Array) -> Array:
    """The elements of a symmetric matrix, in the order of natural parameters."""
    return np.array([J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]])


def upright(kinds: str, structure: str) -> Split:
    """An arm whose first axis is along gravity."""
    s = Split(kinds, 7, structure)
    s.chain = s.chain.with_gravity(tuple(-9.81 * s.at.u[0]))
    s.g = np.array(s.chain.gravity)
    return s


@cache
def arms() -> list[Split]:
    """Arms in general position, and arms whose first axes are parallel or antiparallel."""
    return [
        Split(kinds, k, structure)
        for structure, some in (
            ("generic", (*REVOLUTE, *MIXED, *PARALLEL)),
            ("parallel-start", PARALLEL),
            ("antiparallel-start", PARALLEL),
        )
        for k, kinds in enumerate(some, start=1)
    ]


@cache
def along_gravity() -> list[Split]:
    """Arms whose first axis is along gravity."""
    return [
        upright(kinds, structure)
        for kinds in ("RRR", "RRRR", "PRR", "RPR", "PRPRR")
        for structure in ("generic", "parallel-start", "coincident")
    ]


def delta(s: Split, i: int) -> bool:
    """delta_i of Theorem 1; a vector of zeros counts as parallel."""
    axis = s.at.u[s.first]
    beside = [*s.at.u[:i], s.g, *(s.at.o[i] - s.at.o[m] for m in range(s.first, i) if s.Ks[m])]
    return any(np.abs(cross(axis, a)).max() > 1e-9 for a in beside)


def slid(s: Split) -> list[int]:
    """The joints r to s - 1."""
    return list(range(s.first, s.s))


def test_c1_to_c3():
    """(C1) to (C3): k_i and U_i hold what the energy shows of the bodies from i on."""

    def constants(s: Split, ten: Array) -> tuple[list[Array], list[Array]]:
        m = np.cumsum(ten[::-1, 0])[::-1]
        k, Us = [*ten[:, 1:4]], [tensor(each) for each in ten[:, 4:]]
        for i in reversed(range(s.n - 1)):
            R, far, o = s.turned(i + 1, i), s.far(i, i + 1), i + 1
            b = np.array([s.constants(o)[0], 0, 0])
            if s.Ks[o]:
                R_b = R[:, 2]
                k[i] = k[i] + m[o] * far + R_b * k[o][2]
                Us[i] = Us[i] - m[o] * skew(far) @ skew(far)
                Us[i] = Us[i] + R @ np.diag([Us[o][1, 1], Us[o][1, 1], 0]) @ R.T
                Us[i] = Us[i] - skew(far) @ skew(R_b * k[o][2]) - skew(R_b * k[o][2]) @ skew(far)
            else:
                k[i] = k[i] + m[o] * b + R @ k[o]
                Us[i] = Us[i] + R @ Us[o] @ R.T - m[o] * skew(b) @ skew(b)
                Us[i] = Us[i] - skew(b) @ skew(R @ k[o]) - skew(R @ k[o]) @ skew(b)
        return k, Us

    for s in filter(lambda s: s.n < 5, arms()):
        units = [constants(s, e.reshape(s.n, 10)) for e in np.eye(10 * s.n)]
        k = np.array([unit[0] for unit in units])
        sixes = np.array([[six(J) for J in unit[1]] for unit in units])
        for i in range(s.first, s.n):
            assert off(k[:, i].T, s.rows[i, 1:4]) < SMALL
            assert off(sixes[:, i].T, s.rows[i, 4:]) < SMALL
            if i >= s.s:
                xx, xy, yy, xz, yz, zz = sixes[:, i].T
                seen = [*k[:, i].T[:2]]
                seen += [xx - yy, xy, xz, yz, zz] if s.Ks[i] else [k[:, i, 2]]
                assert max(map(s.hidden, seen)) < SMALL


def test_theorem_1():
    """Theorem 1: its five groups are as many parameters as the energy shows, and the same ones."""

    def members(s: Split) -> list[Array]:
        found = []
        for i in range(s.n):
            m, (x, y, z), (xx, xy, yy, xz, yz, zz) = s.rows[i, 0], s.rows[i, 1:4], s.rows[i, 4:]
            if s.Ks[i] and i < s.s:
                found += [zz, x, y] if delta(s, i) else [zz]
            elif s.Ks[i]:
                found += [xx - yy, zz, xy, xz, yz, x, y]
            else:
                found += [m, x, y, z] if i > s.s else [m]
                if s.first < i < s.s and abs(s.ur(i)[2]) < 1 - 1e-9:
                    u = s.ur(i)
                    found.append(-u[1] * x + u[0] * y)
                    found.append(-u[2] * (u[0] * x + u[1] * y) + (1 - u[2] ** 2) * z)
        return found

    for s in [*(arm for arm in arms() if arm.n < 5), *along_gravity()]:
        rows = np.array(members(s))
        assert len(rows) == len(s.felt)
        assert np.linalg.matrix_rank(rows, 1e-9) == len(s.felt)
        assert max(map(s.hidden, rows)) < SMALL


def test_minimality_without_gravity():
    """Ours: without gravity, of 2R with b_2 = 0, the set has eight parameters, the energy six."""
    s = Split("RR", 1, "intersecting")
    s.chain, s.g = s.chain.with_gravity((0, 0, 0)), np.zeros(3)
    assert (len(MinimalParameters(s.chain)), len(s.felt)) == (8, 6)


def test_22_to_26():
    """(22) to (26): l_i and V_i, the parts of first moment and tensor that vary."""
    for s in arms():
        assert off(s.ch(s.n - 1), s.k(s.n - 1)) < SMALL
        assert off(s.Ji(s.n - 1), s.U(s.n - 1)) < SMALL
        for i in range(s.n - 1):
            o, R, far = i + 1, s.turned(i + 1, i), s.far(i, i + 1)
            c, l, Us, V, m = s.ch(o), s.l(o), s.U(o), s.V(o), s.mh[o]
            b, d = np.array([s.constants(o)[0], 0, 0]), np.array([0, 0, s.d(o)])
            if s.Ks[o]:
                moment = R @ [c[0], c[1], l[2]]
                inner = np.array([
                    [Us[0, 0] - Us[1, 1], Us[0, 1], Us[0, 2]],
                    [Us[0, 1], 0, Us[1, 2]],
                    [Us[0, 2], Us[1, 2], Us[2, 2]],
                ])  # fmt: skip
                inertia = R @ (V + inner) @ R.T
                inertia = inertia - skew(far) @ skew(moment) - skew(moment) @ skew(far)
            else:
                moment = R @ (l + [0, 0, m * d[2]])
                inner = V - m * skew(d) @ skew(d) - skew(d) @ skew(c) - skew(c) @ skew(d)
                inertia = R @ inner @ R.T - skew(b) @ skew(moment) - skew(moment) @ skew(b)
            assert np.abs(moment - s.l(i)).max() < SMALL
            assert np.abs(inertia - s.V(i)).max() < SMALL


def test_27_29_to_31():
    """(27), (29) to (31): D_ji before joint s; (30) as rebuilt, (31) takes (u_r^<j>)_z."""

    def rows(s: Split, i: int, own: bool) -> list[float]:
        u, l, k = s.ur(i), s.l(i), s.k(i)
        kappa_1 = -u[1] * k[0] + u[0] * k[1]
        t = s.Ks[i] * u[2] * s.Ji(i)[2, 2] + s.K[i] * (kappa_1 - u[1] * l[0] + u[0] * l[1])
        f = s.Ks[i] * cross(U, s.ch(i)) + s.K[i] * s.mh[i] * U
        found = [t]
        for j in reversed(range(s.first, i)):
            f = s.turned(j + 1, j) @ f
            t = t + s.ur(j) @ cross(s.far(j, j + 1), f)
            found.append(s.Ks[j] * s.ur(j if own else i)[2] * t + s.K[j] * f[2])
        return found

    of_our_copy = []
    for s in arms():
        for i in slid(s):
            torque = s.Ks[i] * s.Ji(i) @ U + s.K[i] * cross(s.ch(i), U)
            truth = [s.ur(i) @ torque, *s.M[s.first : i, i][::-1]]
            assert np.abs(np.array(rows(s, i, True)) - truth).max() < SMALL
            of_our_copy.append(off(rows(s, i, False), truth))
    assert max(of_our_copy) > CLEAR  # (u_r^<i>)_z


def test_32():
    """(32): Formulation 2 before joint s, where delta_i strikes what is zero."""
    for s in [*filter(lambda s: s.Ks.any(), arms()), *along_gravity()]:
        for i in range(s.s):
            for j in range(i):
                u, (x, y, _), c, m = s.turned(j, i) @ U, -s.far(i, j), s.ch(i), s.mh[i]
                v, k, l = s.ur(i), s.k(i), s.l(i)
                t = s.Ks[i] * v[2] * s.Ji(i)[2, 2]
                t += s.K[i] * (-v[1] * (k[0] + l[0]) + v[0] * (k[1] + l[1]))
                lever, side = delta(s, i) * (c[0] * x + c[1] * y), delta(s, i) * cross(U, c)
                D = s.Ks[j] * s.Ks[i] * u[2] * (s.Ji(i)[2, 2] + lever)
                D += s.K[j] * s.Ks[i] * u @ side
                D += s.Ks[j] * s.K[i] * (u @ np.array([m * y, -m * x, 0]) + s.ur(j)[2] * t)
                assert abs(D + s.K[j] * s.K[i] * m * u[2] - s.M[j, i]) < SMALL


def test_34_35_and_table_7():
    """(34), (35), first part of Table VII: V_i by X and Y = R X R^T; V_13 takes Y_13."""

    def parts(s: Split, i: int) -> tuple[Array, Array]:
        o, (b, _, _), d, m = i + 1, s.constants(i + 1), s.d(i + 1), s.mh[i + 1]
        c, l, V, Us, J = s.ch(o), s.l(o), s.V(o), s.U(o), s.Ji(o)
        if s.Ks[o]:
            w = 2 * d * l[2]
            X = [V[0, 0] + (Us[0, 0] - Us[1, 1]) + w, V[0, 1] + Us[0, 1], V[1, 1] + w]
            X += [J[0, 2] - d * c[0], J[1, 2] - d * c[1], J[2, 2]]
        else:
            w = d * (m * d + 2 * c[2])
            X = [V[0, 0] + w, V[0, 1], V[1, 1] + w, V[0, 2] - d * c[0], V[1, 2] - d * c[1], V[2, 2]]
        Y = six(s.turned(o, i) @ tensor(np.array(X)) @ s.turned(o, i).T)
        (x, y, z), (xx, xy, yy, xz, yz, zz) = b * s.l(i), Y
        rest = yy + 2 * x, xz - z, yz, zz + 2 * x
        return np.array([xx, xy - y, *rest]), np.array([xx, xy - y, rest[0], xy - z, *rest[2:]])

    of_our_copy = []
    for s in arms():
        for i in range(s.n - 1):
            found, other = parts(s, i)
            assert np.abs(found - six(s.V(i))).max() < SMALL
            of_our_copy.append(np.abs(other - six(s.V(i))).max())
    assert max(of_our_copy) > CLEAR  # Y_12


def test_38_39_55():
    """(38), (39), (55): V_33 across joint s, in E_r."""
    for s in arms():
        if s.first < s.s < s.n:
            i, u, l = s.s - 1, s.ur(s.s - 1), s.l(s.s - 1)
            (b, Sb, Cb), (S, C) = s.constants(s.s), s.angles(s.s)
            x = u[0] * C + (u[1] * Cb + u[2] * Sb) * S
            y = -u[0] * S + (u[1] * Cb + u[2] * Sb) * C
            z = -u[1] * Sb + u[2] * Cb
            assert off([x, y, z], s.ur(s.s)) < SMALL
            d, c, X = s.d(s.s), s.ch(s.s), s.Ji(s.s) - s.U(s.s)[1, 1] * np.diag([1, 1, 0])
            X = X + 2 * d * s.l(s.s)[2] * np.diag([1, 1, 0])
            X = X - d * np.array([[0, 0, c[0]], [0, 0, c[1]], [c[0], c[1], 0]])
            Y33 = x * (x * X[0, 0] + 2 * y * X[0, 1]) + y**2 * X[1, 1]
            Y33 += 2 * z * (x * X[0, 2] + y * X[1, 2]) + z**2 * X[2, 2]
            V33 = Y33 + s.Ks[i] * 2 * b * l[0]
            V33 += s.K[i] * 2 * b * (1 - u[0] ** 2) * l[0]
            V33 -= s.K[i] * 2 * b * (u[0] * u[1] * l[1] + u[0] * u[2] * l[2])
            assert abs(V33 - u @ s.V(i) @ u) < SMALL


def test_28_40():
    """(28), (40), second part of Table VII: V_33 before joint s; both l terms are doubled."""

    def V33(s: Split, i: int, x_term: int, y_term: int) -> float:
        o, (b, _, _), l, u = i + 1, s.constants(i + 1), s.l(i), s.ur(i)
        (x, y, z), k, lo, d = s.ur(o), s.k(o), s.l(o), s.d(o)
        kappa_2 = -z * (x * k[0] + y * k[1]) + (1 - z**2) * k[2]
        found = s.Ks[o] * s.Ji(o)[2, 2] + s.Ks[i] * 2 * b * l[0]
        moved = 2 * kappa_2 + (1 - z**2) * (s.mh[o] * d + 2 * lo[2])
        moved += x_term * z * x * lo[0] + y_term * z * y * lo[1]
        found += s.K[o] * (s.ur(o) @ s.V(o) @ s.ur(o) + d * moved)
        found += s.K[i] * 2 * b * (1 - u[0] ** 2) * l[0]
        return float(found - s.K[i] * 2 * b * (u[0] * u[1] * l[1] + u[0] * u[2] * l[2]))

    of_our_copy = []
    for s in arms():
        for i in slid(s)[:-1]:
            truth = s.ur(i) @ s.V(i) @ s.ur(i)
            assert abs(V33(s, i, -2, -2) - truth) < SMALL
            of_our_copy.append(abs(V33(s, i, -1, +1) - truth))
    assert max(of_our_copy) > CLEAR  # as (40) and Table VII have it
