"""Lin and Fang 1999: the operations printed beside its lines, and Tables VI to VIII.

Each printed line is run by itself on counting scalars. Type 1 has n revolute joints; of type 2
joint 3 is prismatic. Joints count from 0, so K[2] is that joint.
"""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np

from armdyn.algorithms.lin_fang import axis_before
from armdyn.algorithms.lin_fang_minimal import along, similarity
from armdyn.algorithms.stages import stage
from armdyn.chain import Chain
from armdyn.counting import Kind, count, count_stage
from armdyn.counting.polynomial import Polynomial
from armdyn.spatial import Symmetric, Vector

Costs = dict[str, np.ndarray[Any, Any]]
CONSTANT = 0.3  # stands for a constant of a composite body, or of u_r
VI = {  # Table VI: multiplications, additions, by type and formulation
    (1, 1): ("10n^2-18n+10", "6n^2-10n+4"),
    (1, 2): ("11.5n^2-27.5n+16", "8n^2-18n+10"),
    (1, 3): ("12.5n^2-28.5n+16", "8n^2-18n+10"),
    (1, 4): ("4.5n^2+48.5n-108", "4n^2+24n-56"),
    (1, 5): ("10n^2-18n+14", "6n^2-6n+2"),
    (2, 1): ("10n^2-18n", "6n^2-10n"),
    (2, 2): ("11.5n^2-40.5n+60", "8n^2-29n+46"),
    (2, 3): ("12.5n^2-43.5n+65", "8n^2-29n+45"),
    (2, 4): ("4.5n^2+48.5n-114", "4n^2+24n-62"),
    (2, 5): ("10n^2-18n+4", "6n^2-6n-7"),
}
VII = {1: ("32n-47", "33n-57"), 2: ("32n-45", "33n-59")}
VIII = {
    (1, "1"): ("10n^2+14n-37", "6n^2+23n-53"),
    (1, "2"): ("11.5n^2+4.5n-31", "8n^2+15n-47"),
    (1, "Kawasaki I"): ("11n^2+15n-41", "7n^2+32n-66"),
    (1, "Kawasaki II"): ("11n^2+9n-35", "7n^2+23n-57"),
    (2, "1"): ("10n^2+14n-45", "6n^2+23n-59"),
    (2, "2"): ("11.5n^2-8.5n+15", "8n^2+4n-13"),
}


class Given:
    """What a line is given, on counting scalars; i = 2 stands for a general joint."""

    def __init__(self, arm: Any, q: Any, qd: Any) -> None:
        self.arm, self.R, self.d = arm, arm.rotations(q), arm.extensions(q)
        self.m, self.b = arm.mass[2], arm.b[2]
        self.x = x = qd[0]
        self.v, self.xy, self.J = Vector(x, x, x), Vector(x, x, 0), Symmetric(x, x, x, x, x, x)
        self.dz, self.bx = Vector(0, 0, self.d[2]), Vector(arm.b[2], 0, 0)
        self.s_1 = Vector(arm.b[1] * self.R[1].C, -arm.b[1] * self.R[1].S, self.d[1])
        self.u_i = axis_before(arm, 2)  # u_i^<i-1>, constant
        self.u_2 = self.R[1].rows()[2]  # u_2^<3>

    def times(self, v: Vector) -> Vector:
        """A matrix times v."""
        return Vector(self.v @ v, self.v @ v, self.v @ v)


def carried(g: Given, f: Vector) -> Vector:
    """t_{j,i} by (18)."""
    return g.R[2].up(g.v + g.dz.cross(f)) + g.bx.cross(g.v)


def first_s_hat(g: Given) -> Vector:
    """s-hat_j^<j+1>."""
    (X, Y, _), a = g.R[2].rows(), g.arm.d[2] * g.arm.Sb[2]
    return Vector(X.x * a + Y.x * g.b, X.y * a + Y.y * g.b, -(g.arm.Sb[2] * g.b))


def force_from_h(g: Given) -> Vector:
    """f_{i-1,i} by (B7)."""
    s = Vector(g.b, -(g.d[2] * g.arm.Sb[2]), g.d[2] * g.arm.Cb[2])
    return -(g.v - g.m * s).cross(g.u_i)


def shifted(g: Given, U: float, w: Any) -> Symmetric:
    """X of Table VII."""
    x, d = g.x, g.d[2]
    return Symmetric(x + U + w, x + U, x - d * x, x + w, x - d * x, x)


LINES: dict[str, Callable[[Given], Any]] = {
    "f_{i-1,i}": lambda g: g.R[2].up(g.xy),
    "t_{i-1,i}": lambda g: carried(g, g.xy),
    "t_{i-1,i}, slides": lambda g: (
        g.R[2].up(g.xy + g.dz.cross(Vector(0, 0, g.m))) + g.bx.cross(g.m * g.u_i)
    ),
    "f_{j,i}": lambda g: g.R[2].up(g.v),
    "t_{j,i}": lambda g: carried(g, g.v),
    "t_{j,i} at once": lambda g: g.R[2].up(g.v) + g.v.cross(g.v),
    "t_{1,i}": lambda g: g.R[1].up(g.v + g.s_1.cross(g.v)),
    "t_{1,2}": lambda g: g.R[1].up(g.v + g.s_1.cross(g.xy)),
    "u_j": lambda g: g.R[2].down(g.u_2),
    "s_j": lambda g: g.R[2].down(g.v + g.bx) + g.dz,
    "D_2": lambda g: g.v @ Vector(g.x - g.x * g.x, g.x - g.x * g.x, g.x + g.x * g.x + g.x * g.x),
    "D_2, i": lambda g: g.v @ Vector(g.m * g.x + g.x, -(g.m * g.x + g.x), 0),
    "D_3": lambda g: g.v @ g.v + g.xy @ g.v,
    "D_3, i": lambda g: g.m * g.x - g.v @ g.xy,
    "D, j": lambda g: g.v @ g.xy,
    "s-hat, first": first_s_hat,
    "s-hat": lambda g: g.R[2].down(g.v + g.u_2.cross(g.bx)) + g.v.cross(g.dz),
    "N": lambda g: [g.R[2].up(row) for row in (g.v, g.v, g.v)],
    "u_i": lambda g: g.x,  # a column of N
    "s_n": lambda g: Vector(g.arm.b[3] * g.R[3].C, -g.arm.b[3] * g.R[3].S, g.d[3]),
    "s_i": lambda g: g.b * g.v + g.d[2] * g.v,
    "N f": lambda g: g.times(g.xy),
    "N f, slides": lambda g: g.times(Vector(0, 0, g.m)),
    "N t": lambda g: g.times(g.v),
    "N t, slides": lambda g: g.times(g.xy),
    "t_{j,i}^<n>": lambda g: g.v + g.v.cross(g.v),
    "D_4": lambda g: g.v @ g.v,
    "f from h": force_from_h,
    "t from k": lambda g: g.R[2].up(g.v) - g.v.cross(g.arm.shifts([0] * 4)[2]),
    "h x u, slides": lambda g: g.v.cross(g.u_i),
    "f x s, slides": lambda g: g.v - (g.m * g.u_i).cross(g.v),
    "l": lambda g: g.R[2].up(g.v),
    "l, slides": lambda g: g.R[2].up(g.v + Vector(0, 0, g.m * g.d[2])),
    "X": lambda g: shifted(g, CONSTANT, 2 * g.d[2] * g.x),
    "X, slides": lambda g: shifted(g, 0, g.d[2] * (g.m * g.d[2] + 2 * g.x)),
    "Y": lambda g: similarity(g.R[2], g.J),
    "V": lambda g: [g.x - g.b * g.x, g.x - g.b * g.x, (w := 2 * g.b * g.x) + g.x, w + g.x],
    "c": lambda g: Vector(CONSTANT, CONSTANT, CONSTANT) + g.xy,
    "c or J": lambda g: Vector(CONSTANT, CONSTANT, CONSTANT) + g.v,
    "Y_33": lambda g: along(Vector(g.x, g.x, CONSTANT), g.J),
    "V_33": lambda g: g.x + 2 * g.b * g.x,
    "J_33": lambda g: CONSTANT + g.x,
}  # what each line does, i = 2 being joint i, "slides" that it is prismatic


def cost(name: str, folded: bool = False) -> list[int]:
    """Multiplications and additions of a line; a folded doubling is a multiplication."""

    def function(arm: Any, q: Any, qd: Any) -> list[Any]:
        stage("line")(LINES[name])(Given(arm, q, qd))
        return []

    joints = "RRPR" if "slides" in name else "RRRR"
    found = count_stage(Chain.random(4, joints), function, "line", not folded)
    return [found.mul + folded * found.double, found.add + (not folded) * found.double]


def checked(printed: dict[str, tuple[int, int]], more: Any = None, folded: bool = False) -> Costs:
    """The printed costs, once each line was counted; ``more`` has what they charge beyond ours."""
    for name, pair in printed.items():
        beyond = (more or {}).get(name, (0, 0))
        assert pair == tuple(np.add(cost(name, folded), beyond)), name
    return {name: np.array(pair) for name, pair in printed.items()}


def values(polynomials: tuple[str, str], n: int) -> list[int]:
    """Multiplications and additions for n joints."""
    return [int(Polynomial.parse(text)(n)) for text in polynomials]


def difference(one: tuple[str, str], other: tuple[str, str]) -> tuple[str, str]:
    """One pair of polynomials less another."""
    mul, add = (Polynomial.parse(one[k]) - Polynomial.parse(other[k]) for k in (0, 1))
    return str(mul), str(add)


def adds_up(total: Callable[[list[int]], Any], kind: int, printed: tuple[str, str]) -> bool:
    """Whether lines add up to the polynomials, for n = 4 to 11 joints."""
    arms = [[int(kind == 2 and i == 2) for i in range(n)] for n in range(4, 12)]
    return all(list(total(K)) == values(printed, len(K)) for K in arms)


def counted(kind: int, method: str, n: int, how: Kind = "literal", part: str = "matrix") -> Any:
    """The operations of a method's stage, by running it."""
    joints = "RRP" + "R" * (n - 3) if kind == 2 else "R" * n
    return count(Chain.random(n, joints), "mass_matrix", method, how, part)


def test_after_18():
    """After (18): with it (10) takes 12M and 8A instead of 14M and 10A."""
    assert cost("t_{j,i}") == [12, 8]
    assert cost("t_{j,i} at once") == [14, 10]


def test_table_1():
    """Table I: the lines and two products of s_1^<2> add up to Table VI, both types."""
    c = checked(
        {"f_{i-1,i}": (6, 2), "t_{i-1,i}": (12, 8), "t_{i-1,i}, slides": (8, 6),
         "f_{j,i}": (8, 4), "t_{j,i}": (12, 8), "t_{1,i}": (14, 10), "t_{1,2}": (12, 8)},
        {"t_{i-1,i}, slides": (2, 2)},  # ours uses the zero of t_{i,i}
    )  # fmt: skip

    def total(K: list[int]) -> Any:
        found = c["t_{1,2}"] + [2, 0]
        for i in range(2, len(K)):
            found = found + (1 - K[i]) * (c["f_{i-1,i}"] + c["t_{i-1,i}"])
            found = found + K[i] * c["t_{i-1,i}, slides"]
            found = found + (i - 2) * (c["f_{j,i}"] + c["t_{j,i}"]) + c["t_{1,i}"]
        return found

    assert adds_up(total, 1, VI[1, 1]) and adds_up(total, 2, VI[2, 1])


def test_table_2():
    """Table II: the lines add up to Table VI for type 1; for type 2 to 3M and 3A less."""
    c = checked({"u_j": (8, 4), "s_j": (8, 6), "D_2": (7, 6), "D, j": (2, 1), "D_2, i": (4, 3)})

    def total(K: list[int]) -> Any:
        found = np.zeros(2)
        for j, i in combinations(range(len(K)), 2):
            if i > j + 1:
                found = found + c["u_j"] + (1 - K[j]) * c["s_j"]
            found = found + (1 - K[j]) * (1 - K[i]) * c["D_2"]
            found = found + K[j] * c["D, j"] + K[i] * c["D_2, i"]
        return found

    assert adds_up(total, 1, VI[1, 2])
    assert not adds_up(total, 2, VI[2, 2])
    assert adds_up(lambda K: total(K) + [3, 3], 2, VI[2, 2])


def test_table_3():
    """Table III: the lines add up to Table VI, both types."""
    c = checked({"u_j": (8, 4), "s-hat, first": (4, 2), "s-hat": (12, 8), "D_3": (5, 4),
                 "D, j": (2, 1), "D_3, i": (3, 2)})  # fmt: skip

    def total(K: list[int]) -> Any:
        found = np.zeros(2)
        for j, i in combinations(range(len(K)), 2):
            if i == j + 1:
                found = found + (1 - K[j]) * c["s-hat, first"]
            else:
                found = found + c["u_j"] + (1 - K[j]) * c["s-hat"]
            found = found + (1 - K[j]) * (1 - K[i]) * c["D_3"]
            found = found + K[j] * c["D, j"] + K[i] * c["D_3, i"]
        return found

    assert adds_up(total, 1, VI[1, 3]) and adds_up(total, 2, VI[2, 3])


def test_table_4():
    """Table IV: the lines, less 4M, add up to Table VI, both types."""
    c = checked(
        {"N": (24, 12), "u_i": (8, 4), "s_n": (2, 0), "s_i": (6, 3), "N f": (6, 3), "N t": (9, 6),
         "N f, slides": (3, 0), "N t, slides": (6, 3), "t_{j,i}^<n>": (6, 6), "D_4": (3, 2)},
        {"u_i": (8, 4)},  # ours takes a column of N
    )  # fmt: skip

    def total(K: list[int]) -> Any:
        n = len(K)
        found = (n - 2) * (c["N"] + c["u_i"] + c["s_i"]) + c["s_n"] - [4, 0]
        for i in range(1, n - 1):
            found = found + (1 - K[i]) * (c["N f"] + c["N t"])
            found = found + K[i] * (c["N f, slides"] + c["N t, slides"])
        return found + n * (n - 1) // 2 * (c["t_{j,i}^<n>"] + c["D_4"])

    assert adds_up(total, 1, VI[1, 4]) and adds_up(total, 2, VI[2, 4])


def test_table_5():
    """Table V: the lines add up to Table VI, both types; K_i 8M5A pays for -f x s."""
    c = checked({"f from h": (4, 4), "t from k": (14, 10), "h x u, slides": (4, 1),
                 "f x s, slides": (4, 4), "f_{j,i}": (8, 4), "t_{j,i}": (12, 8),
                 "t_{1,i}": (14, 10)})  # fmt: skip
    slides = c["h x u, slides"] + c["f x s, slides"]
    assert tuple(slides) == (8, 5)

    def total(K: list[int]) -> Any:
        found = c["f from h"] + c["t from k"]
        for i in range(2, len(K)):
            found = found + (1 - K[i]) * (c["f from h"] + c["t from k"]) + K[i] * slides
            found = found + (i - 2) * (c["f_{j,i}"] + c["t_{j,i}"]) + c["t_{1,i}"]
        return found

    assert adds_up(total, 1, VI[1, 5]) and adds_up(total, 2, VI[2, 5])


def test_table_7():
    """Table VII: the lines, less the zeros of body n, add up; J-hat's column takes 24M 27A."""
    c = checked(
        {"l": (8, 4), "l, slides": (9, 5), "X": (3, 6), "X, slides": (4, 5), "Y": (18, 14),
         "V": (3, 4), "c": (0, 2), "c or J": (0, 3), "Y_33": (10, 5), "V_33": (1, 1),
         "J_33": (0, 1)},
        {"X, slides": (-1, 0), "Y": (1, 0)},  # a doubling; 2 S beta A5 as two products
        folded=True,
    )  # fmt: skip
    assert tuple(c["X"] + c["Y"] + c["V"] + c["c or J"]) == (24, 27)

    def total(K: list[int]) -> Any:
        found = c["Y_33"] + c["V_33"] + c["c"] + c["J_33"] - [5, 10]
        for i in range(len(K) - 1):
            found = found + (c["l, slides"] + c["X, slides"] if K[i + 1] else c["l"] + c["X"])
            if i >= 1:
                found = found + c["Y"] + c["V"] + c["c or J"] + (1 - K[i]) * c["c"]
        return found

    assert adds_up(total, 1, VII[1]) and adds_up(total, 2, VII[2])


def test_cells_of_table_6():
    """Table VI: all cells but one are values of its polynomials; 1016 of our copy is 1026."""
    cells = {
        (1, 1): {4: [98, 60], 6: [262, 160], 11: [1022, 620]},
        (1, 2): {4: [90, 66], 6: [265, 190], 11: [1105, 780]},
        (1, 3): {4: [102, 66], 6: [295, 190], 11: [1215, 780]},
        (1, 4): {4: [158, 104], 6: [345, 232], 11: [970, 692]},
        (1, 5): {4: [102, 74], 6: [266, 182], 11: [1026, 662]},
        (2, 1): {6: [252, 156], 8: [496, 304], 9: [648, 396]},
        (2, 2): {6: [231, 160], 8: [472, 326], 9: [627, 433]},
        (2, 3): {6: [254, 159], 8: [517, 325], 9: [686, 432]},
        (2, 4): {6: [339, 226], 8: [562, 386], 9: [687, 478]},
        (2, 5): {6: [256, 173], 8: [500, 329], 9: [652, 425]},
    }
    for key, row in cells.items():
        assert {n: values(VI[key], n) for n in row} == row
    assert values(VI[1, 5], 11)[0] != 1016 and values(VI[2, 5], 11)[0] == 1016


def test_table_8():
    """Table VIII: the sum of VI and VII; all cells but one fit, 194 of our copy is 195."""
    cells = {
        (1, "1"): {4: [179, 135], 6: [407, 301], 8: [715, 515]},
        (1, "2"): {4: [171, 141], 6: [410, 331], 8: [741, 585]},
        (1, "Kawasaki I"): {4: [195, 174], 6: [445, 378], 8: [783, 638]},
        (1, "Kawasaki II"): {4: [177, 147], 6: [415, 333], 8: [741, 575]},
        (2, "1"): {4: [171, 129], 6: [399, 295], 8: [707, 509]},
        (2, "2"): {4: [165, 131], 6: [378, 299], 8: [683, 531]},
    }
    for key, row in cells.items():
        assert {n: values(VIII[key], n) for n in row} == row
    for kind, k in ((1, 1), (1, 2), (2, 1), (2, 2)):
        assert difference(VIII[kind, str(k)], VI[kind, k]) == VII[kind]


def test_our_methods():
    """Ours: our methods beside Tables VI and VII, counted by running them."""
    more = {
        (1, 1): ("0", "0"),
        (1, 2): ("2n-2", "0"),
        (1, 3): ("0", "0"),
        (1, 4): ("-10n+18", "-6n+6"),
        (1, 5): ("2", "0"),
        (2, 1): ("-4", "-4"),
        (2, 2): ("2n-9", "-3"),
        (2, 3): ("1", "0"),
        (2, 4): ("-10n+17", "-6n+5"),
        (2, 5): ("-4", "-6"),
    }
    for n in (5, 6, 8):
        for (kind, k), rest in more.items():
            found = counted(kind, f"lin-fang-{k}", n)
            excess = np.array([found.mul, found.add]) - values(VI[kind, k], n)
            assert list(excess) == values(rest, n), (kind, k)
        for kind in (1, 2):
            found = counted(kind, "lin-fang-1-minimal", n, "folded", "composites")
            doubled = n - 2  # 2 S beta A5 of (52), which Table VII charges as two products
            assert [found.mul + found.double + doubled, found.add] == values(VII[kind], n)


def test_fewest_operations():
    """Ours: with equal terms shared, crba-minimal takes fewer than Formulations 1 and 2."""
    chain, found = Chain.random(6), {}
    for method in ("lin-fang-1-minimal", "lin-fang-2-minimal", "crba-minimal"):
        needed = count(chain, "mass_matrix", method, "shared")
        found[method] = needed.mul, needed.add, needed.double
    assert list(found.values()) == [(328, 260, 4), (377, 315, 4), (319, 252, 4)]


def best(kind: int, n: int) -> int:
    """The formulation of fewest operations, multiplications and additions, by Table VI."""
    return min(range(1, 6), key=lambda k: sum(values(VI[kind, k], n)))


def test_best_formulations():
    """Section 2: 1 is best for n = 5 to 11 (type 2: 9 to 11), 2 for fewer joints; not beyond 11."""
    for kind, fewest, first in ((1, 2, 5), (2, 4, 9)):
        found = [best(kind, n) for n in range(fewest, 13)]
        assert found == [2] * (first - fewest) + [1] * (12 - first) + [4]


def test_2_against_3_and_1_against_5():
    """Section 2: 2 always takes less than 3, and 1 less than 5, by multiplications and in all."""
    for n in range(3, 100):
        for kind in (1, 2):
            one, two, three, _, five = (values(VI[kind, k], n) for k in range(1, 6))
            assert two[0] < three[0] and sum(two) < sum(three)
            assert one[0] < five[0] and sum(one) < sum(five)


def test_differences_of_formulations():
    """Section 2: 3 takes n(n-1)M more than 2, of type 2 n(n-3)+5; 5 about 4n A more than 1."""
    assert difference(VI[1, 3], VI[1, 2]) == ("n^2-n", "0")
    assert difference(VI[2, 3], VI[2, 2]) == ("n^2-3n+5", "-1")
    assert difference(VI[1, 5], VI[1, 1]) == ("4", "4n-2")
    assert difference(VI[2, 5], VI[2, 1]) == ("4", "4n-7")


def test_saved_by_a_translational_joint():
    """Section 2: of type 2 Formulation 2 takes (13n-44)M (11n-36)A less, Formulation 1 10M 4A."""
    assert difference(VI[1, 2], VI[2, 2]) == ("13n-44", "11n-36")
    assert difference(VI[1, 1], VI[2, 1]) == ("10", "4")


def test_formulation_4():
    """Section 2: 4 takes more than 1 and 5 for n <= 11; by M + A it holds to n = 10."""
    for n in range(3, 12):
        for kind in (1, 2):
            one, four, five = (sum(values(VI[kind, k], n)) for k in (1, 4, 5))
            assert four > one and (four > five) == (n <= 10)
    assert values(VI[1, 4], 11)[0] < values(VI[1, 1], 11)[0]  # by multiplications alone


def test_against_kawasaki():
    """Section 4: 1 takes less than Kawasaki et al.; 2 does for n < 8, by multiplications."""
    for n in range(3, 50):
        theirs = [values(VIII[1, f"Kawasaki {k}"], n) for k in ("I", "II")]
        one, two = values(VIII[1, "1"], n), values(VIII[1, "2"], n)
        assert sum(one) < min(map(sum, theirs))
        assert (two[0] < min(mul for mul, _ in theirs)) == (n < 8)
    assert sum(values(VIII[1, "2"], 7)) == sum(values(VIII[1, "Kawasaki II"], 7)) == 1014
