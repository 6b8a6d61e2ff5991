"""Fig. 3 and Fig. A1 of [lin1991], line by line, with the operations printed beside each line.

Of Fig. 3 our copy lacks the lines on H_mj, d_mj and the first zeta; they are not here.
"""

from __future__ import annotations

from armdyn.algorithms.lin1991 import across, dyad, similarity
from armdyn.algorithms.renaud import crossed
from armdyn.papers.claims import Table
from armdyn.papers.lines import OnHand, PrintedLine, table
from armdyn.spatial import Scalar, Symmetric, Vector, steiner

NOT_ADDED = "the term is charged, but not its addition to the others"


def polar(g: OnHand, J: Symmetric) -> Scalar:
    """(R J R^T)_33."""
    Z = g.R[2].rows()[2]
    return Z @ (J @ Z)


def tilde(g: OnHand) -> Symmetric:
    """I~_i, a constant: (19)."""
    return g.arm.inertia_about_com[1].less_half_trace()


def hatted(g: OnHand) -> Symmetric:
    """J-hat from J-bar: (23)."""
    J = g.J
    return Symmetric(-(J.yy + J.zz), J.xy, J.xz, -(J.xx + J.zz), J.yz, -(J.xx + J.yy))


def matrix_B(g: OnHand) -> list[Scalar]:
    """The elements of B_j that are sums, from J-bar_j and A."""
    J, A = g.J, g.x
    return [-J.xy - A, J.xx + A, -J.yy + A, J.xy - A, -J.yz + A, J.xz + A, -A - A]


def turned_shift(g: OnHand) -> Vector:
    """s-hat_j^<j+1> from the constants of s_{j+1}; its z is prepared."""
    X, Y, _ = g.R[2].rows()
    v = across(g.step)
    return Vector(v.x * X.x + v.y * Y.x, v.x * X.y + v.y * Y.y, -g.arm.b[2] * g.arm.Sb[2])


FIG_3 = (
    PrintedLine(
        "R_i",
        (4, 0),
        lambda g: g.R[2].rows(),
        difference=(-4, 0),
        why="the entries of R_i are free in our counts; where the paper charges them for H and b "
        "together, 4M a joint are added",
    ),
    PrintedLine("s_i^<i-1>, joint i slides", (2, 0), lambda g: slid(g), slides=True),
    PrintedLine("g^<i> = R g^<i-1>", (8, 4), lambda g: g.R[2].down(g.v)),
    PrintedLine(
        "b_1 = -(m c x g)_z for n = 1",
        (2, 1),
        lambda g: -(across(g.arm.first_moment[0]) @ g.v),
    ),
    PrintedLine(
        "s^<2> = [b C, -b S, d]",
        (2, 0),
        lambda g: Vector(g.arm.b[1] * g.R[1].C, -g.arm.b[1] * g.R[1].S, g.arm.d[1]),
    ),
    PrintedLine("s^<i> = R(s^<i-1> + s_i^<i-1>)", (8, 7), lambda g: g.R[2].down(g.s + g.step)),
    PrintedLine("p^<i> = s^<i> + c_i", (0, 3), lambda g: g.v + g.arm.com[2]),
    PrintedLine("s-hat_i^<i> = [-s_y, s_x, 0]", (0, 0), lambda g: across(g.v)),
    PrintedLine("u_j^<j+1>", (0, 0), lambda g: g.R[2].rows()[2]),
    PrintedLine(
        "s-hat_j^<j+1> = R [-s_y, s_x, 0]",
        (5, 2),
        lambda g: g.v.x * g.R[2].rows()[0] + g.v.y * g.R[2].rows()[1],
    ),
    PrintedLine("u_j^<i> = R u_j^<i-1>", (8, 4), lambda g: g.R[2].down(g.u)),
    PrintedLine("s-hat_j^<i> = R s-hat_j^<i-1>", (8, 4), lambda g: g.R[2].down(g.v)),
    PrintedLine("p-hat_n = m_n p", (3, 0), lambda g: g.arm.mass[3] * g.v),
    PrintedLine("J-bar_n = I~_n - (m p) p^T", (6, 6), lambda g: tilde(g) - dyad(g.v, g.v)),
    PrintedLine(
        "(J-bar_n)_33 for N_JR = n",
        (2, 2),
        lambda g: g.arm.inertia_about_com[1].zz + g.v.x * g.v.x + g.v.y * g.v.y,
    ),
    PrintedLine(
        "p-hat_i = m_i p + R p-hat_{i+1}",
        (11, 7),
        lambda g: g.arm.mass[1] * g.v + g.R[2].up(g.v),
    ),
    PrintedLine(
        "p-hat_1 = p_1^C + R p-hat_2",
        (8, 7),
        lambda g: g.arm.first_moment[0] + g.R[2].up(g.v),
    ),
    PrintedLine(
        "J-bar_i = I~_i - (m p) p^T + R J-bar_{i+1} R^T",
        (43, 31),
        lambda g: tilde(g) - dyad(g.v, g.v) + similarity(g.R[2], g.J),
    ),
    PrintedLine("J-hat = J-bar - tr(J-bar) E", (0, 3), hatted),
    PrintedLine(
        "(J-hat_i)_33, i = N_JR > 1",
        (14, 11),
        lambda g: g.arm.inertia_about_com[1].zz + g.v.x * g.v.x + g.v.y * g.v.y + polar(g, g.J),
    ),
    PrintedLine("(J-hat_1)_33", (12, 9), lambda g: g.arm.inertia_about_com[0].zz + polar(g, g.J)),
    PrintedLine(
        "e_j",
        (2, 2),
        lambda g: Vector(-g.v.y - g.arm.mass[2] * g.xy.x, g.v.x - g.arm.mass[2] * g.xy.y, 0),
    ),
    PrintedLine(
        "A = s-hat_j p-hat_j^T",
        (6, 0),
        lambda g: (g.xy.x * g.v, g.xy.y * g.v),
    ),
    PrintedLine("B_j from J-bar_j and A", (0, 7), matrix_B),
)


def slid(g: OnHand) -> Vector:
    """S of a joint that slides, from its d."""
    b, d = g.arm.b[2], g.d[2]
    return Vector(b, -d * g.arm.Sb[2], d * g.arm.Cb[2])


FIG_A1 = (
    PrintedLine("u_j^<j+1>", (0, 0), lambda g: g.R[2].rows()[2]),
    PrintedLine("s-hat_j^<j+1> = R [-s_y, s_x, 0]", (4, 2), turned_shift),
    PrintedLine("u_j^<i> = R u_j^<i-1>", (8, 4), lambda g: g.R[2].down(g.u)),
    PrintedLine(
        "s-hat_j^<i> = R(s-hat_j^<i-1> + u_j x s_i)",
        (14, 10),
        lambda g: g.R[2].down(g.v + g.u.cross(g.step)),
    ),
    PrintedLine("c-hat_{i+1}^<i> = R c-hat_{i+1}", (8, 4), lambda g: g.R[2].up(g.v)),
    PrintedLine(
        "c-hat_i = c-bar_i + c-hat_{i+1}^<i>", (0, 3), lambda g: g.arm.first_moment[1] + g.v
    ),
    PrintedLine(
        "c-hat_i, joint i + 1 slides",
        (3, 6),
        lambda g: g.arm.first_moment[1] + g.v + g.arm.mass[2] * g.step,
        slides=True,
    ),
    PrintedLine(
        "J-bar_i + R J-hat_{i+1} R^T",
        (37, 25),
        lambda g: g.arm.inertia[1] + similarity(g.R[2], g.J),
    ),
    PrintedLine("... - [s x][c x] - [c x][s x]", (9, 15), lambda g: g.J + crossed(g.step, g.v)),
    PrintedLine(
        "... - m-hat [s x][s x], joint i + 1 slides",
        (9, 3),
        lambda g: g.J + steiner(g.arm.mass[2] * g.step, g.step),
        slides=True,
        difference=(0, 6),
        why=NOT_ADDED,
    ),
    PrintedLine(
        "(J-bar_i + R J-hat_{i+1} R^T)_33",
        (12, 9),
        lambda g: g.arm.inertia[1].zz + polar(g, g.J),
    ),
    PrintedLine(
        "... + 2(s_x c_x + s_y c_y)",
        (2, 2),
        lambda g: g.x + ((2 * g.step.x) * g.v.x + (2 * g.step.y) * g.v.y),
    ),
    PrintedLine(
        "... + m-hat (s_x^2 + s_y^2), joint i + 1 slides",
        (3, 1),
        lambda g: g.x + g.arm.mass[2] * (g.step.x * g.step.x + g.step.y * g.step.y),
        slides=True,
        difference=(0, 1),
        why=NOT_ADDED,
    ),
    PrintedLine("H_mj = a_j.u_m + s-hat.e_j", (5, 4), lambda g: g.v @ g.v + g.v @ g.xy),
    PrintedLine("H_mj = e_j.u_m, joint m slides", (2, 1), lambda g: g.xy @ g.v),
    PrintedLine(
        "H_mj = m-hat s-hat_z - e_j.u_m, joint j slides",
        (3, 2),
        lambda g: g.arm.mass[2] * g.v.z - g.xy @ g.v,
    ),
    PrintedLine("H_mj = m-hat u_z, both slide", (1, 0), lambda g: g.arm.mass[2] * g.v.z),
)


def fig_3() -> Table:
    """Fig. 3, line by line."""
    return table("Figure 3, line by line. The new composite body method", FIG_3)


def fig_a1() -> Table:
    """Fig. A1, line by line."""
    return table("Figure A1, line by line. Renaud's formulation", FIG_A1)
