"""The new composite body method: every distance is measured from one point, the origin of E_1.

[lin1991], Fig. 3 and equations (12) to (67), in its letters and, below, under its headings. Joints
count from 0; r is the first revolute joint, the paper's N_JR, and n if there is none. ``u[m, j]``
is u_m^<j>, the vector u_m in the axes of E_j, and so for sh (s-hat), zh (zeta-hat) and d;
``s[j]``, ``p[j]``, ``ph[j]`` (p-hat), ``Jb[j]`` (J-bar), ``e[j]`` and ``A[j]`` are given in E_j; mh
is m-hat.

Two things differ from Fig. 3. The origin of E_1 is the reference point for a prismatic first joint
too, so that R_1 enters through gravity alone. Constants of the initialization are written where
they are used. Our copy of the paper is machine-read. In four places this file differs from it:

- (65): K*_m K_j {(u x p-hat)_z - m-hat s-hat_z}; our copy has no braces.
- (67): K_m; our copy has K_j.
- Fig. 3, initialization: eta_j = -m-hat_j (g^<j>)_z; our copy has m-hat_j (g^<j>)_x.
- Fig. 3: the block on H_mj, d_mj, eta_m and the first lines on zeta is not in our copy. It is
  rebuilt from (62) to (67) and (56).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from armdyn.algorithms.stages import stage
from armdyn.chain.arm import Arm
from armdyn.spatial import Z_AXIS, ZERO, Rotation, Row, Scalar, Symmetric, Vector

Vectors = dict[int, Vector]
Pairs = dict[tuple[int, int], Vector]


class Outer(NamedTuple):
    """The elements of A = s-hat_j p-hat_j^T that a_j and B_j have in common."""

    A12: Scalar
    A13: Scalar
    A21: Scalar
    A23: Scalar


class Bodies(NamedTuple):
    """The composite bodies: all that H_mj and d_mj have in common."""

    r: int
    mh: Row
    u: Pairs
    sh: Pairs
    p: Vectors  # p, m p: from r outward
    mp: Vectors
    ph: Vectors  # from max(r, 1) outward: p-hat_1 serves gravity alone
    Jb: dict[int, Symmetric]  # from r + 1 outward
    e: Vectors  # revolute joints from max(r, 1) outward
    A: dict[int, Outer]  # revolute joints from r + 1 outward


def mass_matrix(arm: Arm, q: Sequence[Scalar]) -> list[Row]:
    """H(q), shape (n, n): Fig. 3 without the boxed terms.

    All revolute 10.5n^2+38.5n-85 M, 6n^2+39n-70 A, as in Table I.
    """
    R = arm.rotations(q)
    body = composite_bodies(arm, R, q)
    return inertia_matrix(arm, body, polar_moment(arm, R, body))


def mass_matrix_and_bias(
    arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar]
) -> tuple[list[Row], Row]:
    """H(q), shape (n, n), and b(q, qd), shape (n,): the whole of Fig. 3.

    All revolute 23n^2+40n-85 M, 15n^2+40n-73 A, 1 D. The paper prints 23n^2+44n-82 M,
    15n^2+40n-70 A, which includes 4n M for the entries of the R_i. The other 3M3A may belong to
    lines that our copy of Fig. 3 lacks.
    """
    R = arm.rotations(q)
    body = composite_bodies(arm, R, q)
    H = inertia_matrix(arm, body, polar_moment(arm, R, body))
    return H, bias_vector(arm, R, body, qd)


def bias(arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar]) -> Row:
    """b(q, qd), shape (n,): Fig. 3 without the terms that H alone needs."""
    R = arm.rotations(q)
    return bias_vector(arm, R, composite_bodies(arm, R, q), qd)


def gravity(arm: Arm, q: Sequence[Scalar]) -> Row:
    """eta(q), shape (n,): (67), and of Fig. 3 what that needs."""
    R, mh = arm.rotations(q), composite_masses(arm)
    s, p = positions(arm, R, q)
    ph = first_moments(R, link_moments(arm, p))
    return gravity_terms(arm, R, mh, ph, levers(arm, mh, ph, s))


def christoffel(arm: Arm, q: Sequence[Scalar]) -> list[list[Row]]:
    """D_mkj(q), shape (n, n, n), by (45), (47) and the symmetries (32) to (34).

    (47) is used for m > j >= k; our copy states it for m > j > k.
    All revolute n^3+12n^2+34n-95 M, 2/3n^3+7n^2+106/3n-80 A.
    """
    n = arm.n
    body = composite_bodies(arm, arm.rotations(q), q)
    D: list[list[Row]] = [[[0] * n for _ in range(n)] for _ in range(n)]
    for (m, j), d in bias_coefficients(arm, body).items():
        for k in range(j + 1):
            if arm.revolute[k]:
                D[m][k][j] = D[m][j][k] = body.u[k, j] @ d
                if k <= m:
                    D[j][k][m] = D[j][m][k] = -D[m][k][j]
    return D


def composite_bodies(arm: Arm, R: Sequence[Rotation], q: Sequence[Scalar]) -> Bodies:
    """Fig. 3 as far as e_j and A."""
    r, mh = first_revolute(arm), composite_masses(arm)
    s, p = positions(arm, R, q)
    u, sh = axes(arm, R, s)
    mp = link_moments(arm, p)
    ph = first_moments(R, mp)
    Jb = inertia_tensors(arm, R, mp, p)
    e = levers(arm, mh, ph, s)
    A = outer_products(arm, sh, ph, Jb)
    return Bodies(r, mh, u, sh, p, mp, ph, Jb, e, A)


# Fig. 3: initialization --------------------------------------------------------------------------


def first_revolute(arm: Arm) -> int:
    """N_JR: the first revolute joint, counted from 0; n if there is none."""
    return next((i for i in range(arm.n) if arm.revolute[i]), arm.n)


def composite_masses(arm: Arm) -> Row:
    """m-hat_i (28): the mass of link i and all outside it."""
    return list(accumulate(reversed(arm.mass)))[::-1]


# Fig. 3: form s, p, s-hat_j^<j> ------------------------------------------------------------------


@stage("positions")
def positions(arm: Arm, R: Sequence[Rotation], q: Sequence[Scalar]) -> tuple[Vectors, Vectors]:
    """From the origin of E_1, s_i to that of E_i and p_i to the centre of link i, (25), (26), (61).

    p_i for i >= r; s_1 = 0 (59).
    """
    step, d = arm.shifts(q), arm.extensions(q)
    s: Vectors = {0: ZERO}
    for i in range(1, arm.n):
        if i == 1:
            s[1] = Vector(arm.b[1] * R[1].C, -arm.b[1] * R[1].S, d[1])
        else:
            s[i] = R[i].down(s[i - 1] + step[i])
    return s, {i: s[i] + arm.com[i] for i in range(first_revolute(arm), arm.n)}


# Fig. 3: form u_j^<i>, s-hat_j^<i> for i > j -----------------------------------------------------


@stage("axes")
def axes(arm: Arm, R: Sequence[Rotation], s: Vectors) -> tuple[Pairs, Pairs]:
    """u_j^<i>, and of revolute joints s-hat_j^<i> = (u_j x s_j)^<i>, for i >= j: (24), (27)."""
    u: Pairs = {}
    sh: Pairs = {}
    for j in range(arm.n):
        u[j, j], sh[j, j] = Z_AXIS, across(s[j])
        for i in range(j + 1, arm.n):
            if i == j + 1:
                X, Y, u[j, i] = R[i].rows()
                if arm.revolute[j]:
                    sh[j, i] = sh[j, j].x * X + sh[j, j].y * Y  # 5M2A, and none for j = 0
            else:
                u[j, i] = R[i].down(u[j, i - 1])
                if arm.revolute[j]:
                    sh[j, i] = R[i].down(sh[j, i - 1])
    return u, sh


# Fig. 3: form p-hat, J-bar -----------------------------------------------------------------------


@stage("composites")
def link_moments(arm: Arm, p: Vectors) -> Vectors:
    """m_i p_i, for i >= r."""
    return {i: arm.mass[i] * p[i] for i in p}


@stage("composites")
def first_moments(R: Sequence[Rotation], mp: Vectors) -> Vectors:
    """p-hat_i (29), from max(r, 1) outward."""
    ph: Vectors = {}
    for i in reversed(mp):
        if i > 0:
            ph[i] = mp[i] + R[i + 1].up(ph[i + 1]) if i + 1 in mp else mp[i]
    return ph


@stage("composites")
def inertia_tensors(
    arm: Arm, R: Sequence[Rotation], mp: Vectors, p: Vectors
) -> dict[int, Symmetric]:
    """J-bar_i (30), from r + 1 outward: 43M31A each, the last 6M6A."""
    Jb: dict[int, Symmetric] = {}
    for i in reversed(range(first_revolute(arm) + 1, arm.n)):
        J = arm.inertia_about_com[i]
        half = (J.xx + J.yy + J.zz) / 2
        I_tilde = J - half * Symmetric(1, 0, 0, 1, 0, 1)  # (19)
        Jb[i] = I_tilde - dyad(mp[i], p[i])
        if i + 1 < arm.n:
            Jb[i] = Jb[i] + similarity(R[i + 1], Jb[i + 1])
    return Jb


@stage("composites")
def polar_moment(arm: Arm, R: Sequence[Rotation], body: Bodies) -> Scalar:
    """(J-hat_r)_33, 14M14A; 12M12A for r = 1, where what link 1 brings is constant."""
    r = body.r
    if r == arm.n:
        return 0  # no joint turns: nothing needs it
    mp, p = body.mp[r], body.p[r]
    own = arm.inertia_about_com[r].zz + mp.x * p.x + mp.y * p.y
    if r == arm.n - 1:
        return own
    J = body.Jb[r + 1]
    Jh = Symmetric(-(J.yy + J.zz), J.xy, J.xz, -(J.xx + J.zz), J.yz, -(J.xx + J.yy))  # (23)
    Z = R[r + 1].rows()[2]
    return own + Z @ (Jh @ Z)


# Fig. 3: calculate H_mj and d_mj -----------------------------------------------------------------


@stage("columns")
def levers(arm: Arm, mh: Row, ph: Vectors, s: Vectors) -> Vectors:
    """e_j (63) of revolute joints, from max(r, 1) outward, 2M2A."""
    e: Vectors = {}
    for j in ph:
        if arm.revolute[j]:
            sh = across(s[j])
            e[j] = Vector(-ph[j].y - mh[j] * sh.x, ph[j].x - mh[j] * sh.y, 0)
    return e


@stage("columns")
def outer_products(arm: Arm, sh: Pairs, ph: Vectors, Jb: dict[int, Symmetric]) -> dict[int, Outer]:
    """A_12, A_13, A_21, A_23 of A = s-hat_j p-hat_j^T for revolute j > r, 4M; B adds A_11, A_22."""
    A: dict[int, Outer] = {}
    for j in Jb:
        if arm.revolute[j]:
            s_j, p_j = sh[j, j], ph[j]
            A[j] = Outer(s_j.x * p_j.y, s_j.x * p_j.z, s_j.y * p_j.x, s_j.y * p_j.z)
    return A


@stage("H")
def inertia_matrix(arm: Arm, body: Bodies, Jh33: Scalar) -> list[Row]:
    """H_mj (65), with a_j (62); of a_r only the third component is needed, J-hat_r's from Jh33."""
    mh, u, sh, ph, e = body.mh, body.u, body.sh, body.ph, body.e
    H: list[Row] = [[0] * arm.n for _ in range(arm.n)]
    H[0][0] = Jh33 if arm.revolute[0] else mh[0]
    for j in range(1, arm.n):
        if j in body.A:
            a = vector_a(body, j)
        elif j == body.r:
            a = Vector(0, 0, Jh33 + across(sh[j, j]) @ ph[j])
        H[j][j] = a.z - sh[j, j] @ e[j] if arm.revolute[j] else mh[j]
        for m in range(j):
            if arm.revolute[m] and arm.revolute[j]:
                H[m][j] = a @ u[m, j] - sh[m, j] @ e[j]
            elif arm.revolute[j]:
                H[m][j] = e[j] @ u[m, j]
            elif arm.revolute[m]:
                H[m][j] = across(u[m, j]) @ ph[j] - mh[j] * sh[m, j].z
            else:
                H[m][j] = mh[j] * u[m, j].z
            H[j][m] = H[m][j]
    return H


def vector_a(body: Bodies, j: int) -> Vector:
    """a_j (62) of a revolute joint j > r."""
    A, Jb = body.A[j], body.Jb[j]
    return Vector(Jb.xz + A.A23, Jb.yz - A.A13, -(Jb.xx + Jb.yy) + A.A12 - A.A21)


@stage("d")
def bias_coefficients(arm: Arm, body: Bodies) -> Pairs:
    """d_mj (66), with B_j (64), for m < j and j >= r; the D_mkj of j < r are zero."""
    mh, u, sh, ph, e = body.mh, body.u, body.sh, body.ph, body.e
    d: Pairs = {}
    for j in range(max(body.r, 1), arm.n):
        if j in body.A:
            B = matrix_B(body, j)
        for m in range(j):
            if arm.revolute[m] and arm.revolute[j]:
                Bu = Vector(*(row @ u[m, j] for row in B))
                d[m, j] = Bu + sh[m, j].cross(e[j])
            elif arm.revolute[j]:
                d[m, j] = e[j].cross(u[m, j])
            elif arm.revolute[m]:
                u_m, s_m, p_j = u[m, j], sh[m, j], ph[j]
                w_x = u_m.y * p_j.z - u_m.z * p_j.y - mh[j] * s_m.x
                w_y = u_m.z * p_j.x - u_m.x * p_j.z - mh[j] * s_m.y
                d[m, j] = Vector(-w_y, w_x, 0)
            else:
                d[m, j] = mh[j] * across(u[m, j])
    return d


def matrix_B(body: Bodies, j: int) -> tuple[Vector, Vector, Vector]:
    """The rows of B_j (64) of a revolute joint j > r."""
    A, Jb, sh, ph = body.A[j], body.Jb[j], body.sh[j, j], body.ph[j]
    A11, A22 = sh.x * ph.x, sh.y * ph.y
    return (
        Vector(-Jb.xy - A22, Jb.xx + A.A21, 0),
        Vector(-Jb.yy + A.A12, Jb.xy - A11, 0),
        Vector(-Jb.yz + A.A13, Jb.xz + A.A23, -(A11 + A22)),
    )


# Fig. 3: form g^<i>, calculate eta_m -------------------------------------------------------------


@stage("gravity")
def gravity_terms(arm: Arm, R: Sequence[Rotation], mh: Row, ph: Vectors, e: Vectors) -> Row:
    """eta_m (67); the p-hat_1 of a revolute first joint is formed here."""
    eta: Row = []
    g = arm.gravity
    for m in range(arm.n):
        g = R[m].down(g)
        if not arm.revolute[m]:
            eta.append(-(mh[m] * g.z))
        elif m == 0:
            outer_links = R[1].up(ph[1]) if arm.n > 1 else ZERO
            eta.append(-(across(arm.first_moment[0] + outer_links) @ g))
        else:
            eta.append(-(e[m] @ g))
    return eta


# Fig. 3: calculate zeta_j, zeta-hat_j^<m> --------------------------------------------------------


@stage("zeta")
def zeta_hats(arm: Arm, R: Sequence[Rotation], u: Pairs, qd: Sequence[Scalar]) -> Pairs:
    """zeta-hat_j^<m> = zeta_j^<m> qd_j for r <= j <= m, with zeta_j by (57)."""
    n, r = arm.n, first_revolute(arm)
    zh: Pairs = {}
    if r < n:
        squared = qd[r] * qd[r]
        for m in range(r, n):
            zh[r, m] = squared * u[r, m]
    for j, zeta in zetas(arm, R, u, qd).items():
        zh[j, j] = qd[j] * zeta
        for m in range(j + 1, n):
            zh[j, m] = R[m].down(zh[j, m - 1])
    return zh


def zetas(arm: Arm, R: Sequence[Rotation], u: Pairs, qd: Sequence[Scalar]) -> Vectors:
    """zeta_j in E_j, for j > r, by (56); zeta_r is u_r qd_r."""
    r = first_revolute(arm)
    spin = [
        Vector(0, 0, rate) if turns else ZERO for rate, turns in zip(qd, arm.revolute, strict=True)
    ]
    found: Vectors = {}
    for j in range(r + 1, arm.n):
        if j == r + 1:
            found[j] = (2 * qd[r]) * u[r, j] + spin[j]
        else:
            found[j] = R[j].down(found[j - 1] + spin[j - 1]) + spin[j]
    return found


# Fig. 3: calculate b_m ---------------------------------------------------------------------------


@stage("b")
def bias_vector(arm: Arm, R: Sequence[Rotation], body: Bodies, qd: Sequence[Scalar]) -> Row:
    """The boxed terms of Fig. 3: b_m by (54)."""
    b = gravity_terms(arm, R, body.mh, body.ph, body.e)
    d = bias_coefficients(arm, body)
    zh = zeta_hats(arm, R, body.u, qd)
    for m in range(arm.n):
        for j in range(body.r, arm.n):
            if j < m:
                b[m] = b[m] - zh[j, m] @ d[j, m]
            if j > m:
                b[m] = b[m] + zh[j, j] @ d[m, j]
    return b


# The arithmetic between the lines ---------------------------------------------------------------


def across(v: Vector) -> Vector:
    """u_j x v in E_j: [-v_y, v_x, 0]."""
    return Vector(-v.y, v.x, 0)


def dyad(v: Vector, w: Vector) -> Symmetric:
    """The product v w^T of parallel vectors, 6M."""
    return Symmetric(v.x * w.x, v.x * w.y, v.x * w.z, v.y * w.y, v.y * w.z, v.z * w.z)


def similarity(R: Rotation, J: Symmetric) -> Symmetric:
    """R J R^T as the paper charges it, 37M19A: B = R J without B_13, then half of B R^T."""
    C, S, Cb, Sb = R.C, R.S, R.Cb, R.Sb
    _, Y, _ = R.rows()
    B11, B21, B31 = R.up(Vector(J.xx, J.xy, J.xz))
    B12, B22, B32 = R.up(Vector(J.xy, J.yy, J.yz))
    t = S * J.xz + C * J.yz
    B23, B33 = Cb * t - Sb * J.zz, Sb * t + Cb * J.zz
    xz, yz, zz = R.up(Vector(B31, B32, B33))
    return Symmetric(C * B11 - S * B12, C * B21 - S * B22, xz, Y @ Vector(B21, B22, B23), yz, zz)
