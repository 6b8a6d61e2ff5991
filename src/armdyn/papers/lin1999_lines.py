"""Tables I to V and VII of [lin1999], line by line, with the operations printed beside each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from armdyn.algorithms.lin_fang import axis_before
from armdyn.algorithms.lin_fang_minimal import along, similarity
from armdyn.papers.claims import Table
from armdyn.papers.lines import OnHand, PrintedLine, table
from armdyn.spatial import Scalar, Symmetric, Vector

ZERO_OF_T = "the zero of t_{i,i} is not used"


def carried(g: OnHand, f: Vector) -> Vector:
    """t_{j,i} from t and f beyond joint j + 1, by (18): d along z, the rotation, b along x."""
    t = g.R[2].up(g.v + Vector(0, 0, g.d[2]).cross(f))
    return t + Vector(g.arm.b[2], 0, 0).cross(g.v)


def carried_from_slide(g: OnHand) -> Vector:
    """t_{i-1,i} of a joint that slides; f_{i-1,i} is constant."""
    f = g.arm.mass[2] * axis_before(g.arm, 2)
    t = g.R[2].up(g.xy + Vector(0, 0, g.d[2]).cross(Vector(0, 0, g.arm.mass[2])))
    return t + Vector(g.arm.b[2], 0, 0).cross(f)


def to_first(g: OnHand, f: Vector) -> Vector:
    """t_{1,i} from what joint 2 carries."""
    return g.R[1].up(g.v + g.s.cross(f))


def times(rows: tuple[Vector, Vector, Vector], v: Vector) -> Vector:
    """A matrix by its rows, times a vector."""
    return Vector(*(row @ v for row in rows))


FORCE = PrintedLine("f_{j,i} = R f_{j+1,i}", (8, 4), lambda g: g.R[2].up(g.v))
TORQUE = PrintedLine(
    "t_{j,i} = R(t + [0,0,d] x f) + [b,0,0] x f", (12, 8), lambda g: carried(g, g.v)
)
FIRST_FORCE = PrintedLine("f_{1,i}, joint 1 slides", (8, 4), lambda g: g.R[1].up(g.v))
FIRST_TORQUE = PrintedLine("t_{1,i} = R(t + s x f)", (14, 10), lambda g: to_first(g, g.v))
AXIS = PrintedLine("u_j^<k> = R u_j^<k-1>", (8, 4), lambda g: g.R[2].down(g.u))
FIRST_AXIS = PrintedLine("u_j^<j+1>", (0, 0), lambda g: g.R[2].rows()[2])
LEVER = PrintedLine("D_ji, joint j slides", (2, 1), lambda g: g.v @ g.xy)
MASS = PrintedLine("D_ji, both slide", (1, 0), lambda g: g.arm.mass[2] * g.v.z)

TABLE_I = (
    PrintedLine("f_{i-1,i} = R f_{i,i}", (6, 2), lambda g: g.R[2].up(g.xy)),
    PrintedLine("t_{i-1,i}", (12, 8), lambda g: carried(g, g.xy)),
    PrintedLine(
        "t_{i-1,i}, joint i slides",
        (8, 6),
        carried_from_slide,
        slides=True,
        difference=(-2, -2),
        why=ZERO_OF_T,
    ),
    FORCE,
    TORQUE,
    FIRST_FORCE,
    PrintedLine("f_{1,2}, joint 1 slides", (6, 2), lambda g: g.R[1].up(g.xy)),
    FIRST_TORQUE,
    PrintedLine("t_{1,2}", (12, 8), lambda g: to_first(g, g.xy)),
)


def turning_2(g: OnHand) -> Scalar:
    """D_ji of two revolute joints by (20)."""
    J, c, s = g.v, g.v, g.v
    return g.v @ Vector(J.x - c.x * s.z, J.y - c.y * s.z, J.z + c.x * s.x + c.y * s.y)


def sliding_2(g: OnHand) -> Scalar:
    """D_ji of a joint i that slides by (20)."""
    m, c, s = g.arm.mass[2], g.v, g.v
    return g.v @ Vector(m * s.y + c.y, -(m * s.x + c.x), 0)


TABLE_II = (
    FIRST_AXIS,
    AXIS,
    PrintedLine(
        "s_j^<k> = R(s + [b,0,0]) + [0,0,d]",
        (8, 6),
        lambda g: g.R[2].down(g.v + Vector(g.arm.b[2], 0, 0)) + Vector(0, 0, g.d[2]),
    ),
    PrintedLine("D_ji, both turn", (7, 6), turning_2),
    LEVER,
    PrintedLine("D_ji, joint i slides", (4, 3), sliding_2),
    MASS,
)


def moment_3(g: OnHand) -> Vector:
    """s-hat_j^<j+1> from constants; its z is prepared."""
    X, Y, _ = g.R[2].rows()
    a, b = g.arm.d[2] * g.arm.Sb[2], g.arm.b[2]
    return Vector(X.x * a + Y.x * b, X.y * a + Y.y * b, -(g.arm.Sb[2] * b))


TABLE_III = (
    FIRST_AXIS,
    AXIS,
    PrintedLine("s-hat_j^<j+1> = R [d Sb, b, 0]", (4, 2), moment_3),
    PrintedLine(
        "s-hat_j^<k> = R(s-hat + u x [b,0,0]) + u x [0,0,d]",
        (12, 8),
        lambda g: (
            g.R[2].down(g.v + g.u.cross(Vector(g.arm.b[2], 0, 0))) + g.v.cross(Vector(0, 0, g.d[2]))
        ),
    ),
    PrintedLine("D_ji, both turn", (5, 4), lambda g: g.v @ g.v + g.xy @ g.v),
    LEVER,
    PrintedLine("D_ji, joint i slides", (3, 2), lambda g: g.arm.mass[2] * g.v.z - g.v @ g.xy),
    MASS,
)

TABLE_IV = (
    PrintedLine("R from E_i to E_n", (24, 12), lambda g: tuple(g.R[2].up(row) for row in g.rows)),
    PrintedLine(
        "u_i^<n>",
        (8, 4),
        lambda g: Vector(*(row.z for row in g.rows)),
        difference=(-8, -4),
        why="it is a column of the matrix of the line above",
    ),
    PrintedLine(
        "s_n^<n> = [b C, -b S, d]",
        (2, 0),
        lambda g: Vector(g.arm.b[3] * g.R[3].C, -g.arm.b[3] * g.R[3].S, g.d[3]),
    ),
    PrintedLine(
        "s_{i+1}^<n> = R [b,0,0] + R [0,0,d]",
        (6, 3),
        lambda g: g.arm.b[2] * g.v + g.d[2] * g.v,
    ),
    PrintedLine("f_{i,i}^<n>", (6, 3), lambda g: times(g.rows, g.xy)),
    PrintedLine(
        "f_{i,i}^<n>, joint i slides",
        (3, 0),
        lambda g: times(g.rows, Vector(0, 0, g.arm.mass[2])),
    ),
    PrintedLine("t_{i,i}^<n>", (9, 6), lambda g: times(g.rows, g.v)),
    PrintedLine("t_{i,i}^<n>, joint i slides", (6, 3), lambda g: times(g.rows, g.xy)),
    PrintedLine("t_{j,i}^<n> = t + s x f", (6, 6), lambda g: g.v + g.v.cross(g.v)),
    PrintedLine("D_ji = u_j.t", (3, 2), lambda g: g.v @ g.v),
)


def force_5(g: OnHand) -> Vector:
    """f_{i-1,i} from h_i by (B7)."""
    s = Vector(g.arm.b[2], -(g.d[2] * g.arm.Sb[2]), g.d[2] * g.arm.Cb[2])
    return -(g.v - g.arm.mass[2] * s).cross(axis_before(g.arm, 2))


TABLE_V = (
    PrintedLine("f_{i-1,i} = -(h - m-hat s) x u_i", (4, 4), force_5),
    PrintedLine(
        "t_{i-1,i} = R k_i - f x s", (14, 10), lambda g: g.R[2].up(g.v) - g.v.cross(g.step)
    ),
    PrintedLine(
        "t_{i-1,i} = h x u_i, joint i slides",
        (8, 5),
        lambda g: g.v.cross(axis_before(g.arm, 2)),
        slides=True,
        difference=(-4, -4),
        why="4M4A are for - f x s, which (B8) has for revolute joints only",
    ),
    FORCE,
    TORQUE,
    FIRST_FORCE,
    FIRST_TORQUE,
)

U = 0.3  # stands for a constant of a composite body, or of u_r


def tensor(g: OnHand) -> Symmetric:
    """X of a revolute joint: (34)."""
    d = g.arm.d[2]
    w = 2 * d * g.v.z
    V, J, c = g.J, g.v, g.v
    return Symmetric(V.xx + U + w, V.xy + U, J.x - d * c.x, V.yy + w, J.y - d * c.y, J.z)


def slid_tensor(g: OnHand) -> Symmetric:
    """X of a joint that slides: (35)."""
    m, d, V, c = g.arm.mass[2], g.d[2], g.J, g.v
    w = d * (m * d + 2 * c.z)
    return Symmetric(V.xx + w, V.xy, V.xz - d * c.x, V.yy + w, V.yz - d * c.y, V.zz)


def tensor_V(g: OnHand) -> Symmetric:
    """V_i from Y."""
    b, Y, (x, y, z) = g.arm.b[2], g.J, g.v
    w = 2 * b * x
    return Symmetric(Y.xx, Y.xy - b * y, Y.xz - b * z, Y.yy + w, Y.yz, Y.zz + w)


def slid_Y33(g: OnHand) -> Scalar:
    """(Y)_33 beyond a joint i + 1 < s that slides: (40)."""
    m, d, (x, y, z) = g.arm.mass[2], g.d[2], g.v
    return g.x + d * (2 * U + U * (m * d + 2 * z) - 2 * U * x - 2 * U * y)


NOT_CHARGED = "the doubling of a number known at run time is not charged here"
TABLE_VII = (
    PrintedLine("l_i = R [c_x, c_y, l_z]", (8, 4), lambda g: g.R[2].up(g.v)),
    PrintedLine(
        "l_i = R(l + [0,0,m-hat d]), joint i + 1 slides",
        (9, 5),
        lambda g: g.R[2].up(g.v + Vector(0, 0, g.arm.mass[2] * g.d[2])),
        slides=True,
    ),
    PrintedLine("X", (3, 6), tensor),
    PrintedLine(
        "X, joint i + 1 slides",
        (4, 5),
        slid_tensor,
        slides=True,
        difference=(1, 0),
        why=NOT_CHARGED,
    ),
    PrintedLine(
        "Y = R X R^T by (41) to (54)",
        (18, 14),
        lambda g: similarity(g.R[2], g.J),
        difference=(-1, 0),
        why="2 S beta A5 of (52) is charged as two products",
    ),
    PrintedLine("V_i from Y", (3, 4), tensor_V),
    PrintedLine("c-hat_i = k_i + [l_x, l_y, 0]", (0, 2), lambda g: Vector(U, U, U) + g.xy),
    PrintedLine("c-hat_i = k_i + l_i, joint i slides", (0, 3), lambda g: Vector(U, U, U) + g.v),
    PrintedLine("third column of J-hat_i", (0, 3), lambda g: Vector(U, U, U) + g.v),
    PrintedLine("u_r^<s>, joint s - 1 slides", (4, 2), lambda g: g.R[2].down(Vector(U, U, U))),
    PrintedLine("(Y)_33 = u^T X u by (55)", (10, 5), lambda g: along(Vector(g.x, g.x, U), g.J)),
    PrintedLine(
        "(Y)_33, i < s - 1, joint i + 1 slides",
        (5, 5),
        slid_Y33,
        slides=True,
        difference=(1, 0),
        why=NOT_CHARGED,
    ),
    PrintedLine("V_33 = Y_33 + 2 b l_x", (1, 1), lambda g: g.x + 2 * g.arm.b[2] * g.v.x),
    PrintedLine(
        "V_33, joint i slides",
        (4, 3),
        lambda g: g.x + 2 * g.arm.b[2] * (U * g.v.x - U * g.v.y - U * g.v.z),
    ),
    PrintedLine("(J-hat_i)_33", (0, 1), lambda g: U + g.x),
    PrintedLine("(t_{i,i}^<r>)_z, joint i slides", (2, 2), lambda g: U - U * g.v.x + U * g.v.y),
)

LITERAL = {"I": TABLE_I, "II": TABLE_II, "III": TABLE_III, "IV": TABLE_IV, "V": TABLE_V}


def formulation(number: str) -> Table:
    """Tables I to V, line by line."""
    k = list(LITERAL).index(number) + 1
    return table(f"Table {number}, line by line. Formulation {k}", LITERAL[number])


def table_vii() -> Table:
    """Table VII, line by line."""
    title = "Table VII, line by line. First moments and inertia tensors"
    return table(title, TABLE_VII, literal=False, doubling="M")


TABLES: tuple[Callable[[], Table], ...] = (
    *(partial(formulation, number) for number in LITERAL),
    table_vii,
)
