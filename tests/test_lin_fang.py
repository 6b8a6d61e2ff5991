"""Lin and Fang's formulations: their tables line by line, counted."""

import math
from collections import Counter

import numpy as np
import pytest

from armdyn import Chain
from armdyn.algorithms import crba, lin_fang, lin_fang_minimal
from armdyn.counting import count
from armdyn.program.passes import needed
from armdyn.program.program import Op
from armdyn.program.tape import Tape
from armdyn.spatial import Rotation, Symmetric, Vector
from tests.arms import with_shoulder


def arm_of_type(kind, n):
    """The paper's types: 1 is n revolute joints (Puma), 2 has a prismatic joint 3 (Stanford)."""
    return Chain.random(n, "R" * n if kind == 1 else "RRP" + "R" * (n - 3), seed=1)


def each(pairs):
    """A test for each formulation and type of arm."""
    cases = [pytest.param(*pair, id="lin-fang-{}, type {}".format(*pair)) for pair in pairs]
    return pytest.mark.parametrize("formulation, kind", cases)


def at(n, a, b, c):
    return a * n**2 + b * n + c


# Table VI: formulation, type -> multiplications, additions as a n^2 + b n + c; and what a literal
# count of Tables I to V has on top, (b, c) each.
TABLE_VI = {
    (1, 1): ((10, -18, 10), (6, -10, 4)),
    (2, 1): ((11.5, -27.5, 16), (8, -18, 10)),
    (3, 1): ((12.5, -28.5, 16), (8, -18, 10)),
    (4, 1): ((4.5, 48.5, -108), (4, 24, -56)),
    (5, 1): ((10, -18, 14), (6, -6, 2)),
    (1, 2): ((10, -18, 0), (6, -10, 0)),
    (2, 2): ((11.5, -40.5, 60), (8, -29, 46)),
    (3, 2): ((12.5, -43.5, 65), (8, -29, 45)),
    (4, 2): ((4.5, 48.5, -114), (4, 24, -62)),
    (5, 2): ((10, -18, 4), (6, -6, -7)),
}
DIFFERS = {
    (1, 1): ((0, 0), (0, 0)),
    (2, 1): ((2, -2), (0, 0)),  # the two products of s_j^<j+1>, never charged
    (3, 1): ((0, 0), (0, 0)),
    (4, 1): ((-10, 18), (-6, 6)),  # u_i^<n> is a column of a matrix on hand; a zero of f_nn
    (5, 1): ((0, 2), (0, 0)),  # the two products of s_1^<2>, charged in Table I but not here
    (1, 2): ((0, -4), (0, -4)),  # zeros of t_33 and f_23
    (2, 2): ((2, -9), (0, -3)),  # its lines add up to 57 and 43, not 60 and 46; s_j^<j+1>
    (3, 2): ((0, 1), (0, 0)),  # d_3 S beta_3 is not constant
    (4, 2): ((-10, 17), (-6, 5)),  # as type 1
    (5, 2): ((0, -4), (0, -6)),  # t_23 = h x u is 4M1A, not 8M5A; a zero of f_23; s_1^<2>
}


@each(TABLE_VI)
def test_table_vi(formulation, kind):
    """Every formulation's own part, with the composite bodies on hand."""
    published, differs = TABLE_VI[formulation, kind], DIFFERS[formulation, kind]
    for n in (5, 6, 8, 9):
        found = count(
            arm_of_type(kind, n), "mass_matrix", f"lin-fang-{formulation}", "literal", "matrix"
        )
        expected = [at(n, *p) + at(n, 0, *e) for p, e in zip(published, differs, strict=True)]
        assert [found.mul, found.add, found.double] == [*expected, 0]


# The lines of Tables I to V as printed: what each costs, M and A, and how often it stands for n
# joints of type 1, and of type 2, whose joint 3 slides.
LINES = {
    (1, 1): lambda n: [
        (2, 0, 1),  # s_1^<2>
        (6, 2, n - 2),  # f_{i-1,i}
        (12, 8, n - 2),  # t_{i-1,i}
        (8, 4, (n - 3) * (n - 2) / 2),  # f_{j,i}
        (12, 8, (n - 3) * (n - 2) / 2),  # t_{j,i}
        (14, 10, n - 2),  # t_{1,i}
        (12, 8, 1),  # t_{1,2}
    ],
    (2, 1): lambda n: [
        (8, 4, (n - 2) * (n - 1) / 2),  # u_j^<k>
        (8, 6, (n - 2) * (n - 1) / 2),  # s_j^<k>
        (7, 6, n * (n - 1) / 2),  # D_ji
    ],
    (3, 1): lambda n: [
        (8, 4, (n - 2) * (n - 1) / 2),  # u_j^<k>
        (4, 2, n - 1),  # sh_j^<j+1>
        (12, 8, (n - 2) * (n - 1) / 2),  # sh_j^<k>
        (5, 4, n * (n - 1) / 2),  # D_ji
    ],
    (4, 1): lambda n: [
        (24, 12, n - 2),  # R
        (8, 4, n - 2),  # u_i^<n>
        (2, 0, 1),  # s_{n-1}^<n>
        (6, 3, n - 2),  # s_i^<n>
        (6 + 9, 3 + 6, n - 2),  # f_{i,i}, t_{i,i}
        (6 + 3, 6 + 2, n * (n - 1) / 2),  # t_{j,i}, D_ji
    ],
    (5, 1): lambda n: [
        (4, 4, n - 1),  # f_{i-1,i}
        (14, 10, n - 1),  # t_{i-1,i}
        (8 + 12, 4 + 8, (n - 3) * (n - 2) / 2),  # f_{j,i}, t_{j,i}
        (14, 10, n - 2),  # t_{1,i}
    ],
    (1, 2): lambda n: [
        (2, 0, 1),
        (6, 2, n - 3),
        (12, 8, n - 3),
        (8, 6, 1),  # t_{2,3} of the sliding joint
        (8 + 12, 4 + 8, (n - 3) * (n - 2) / 2),
        (14, 10, n - 2),
        (12, 8, 1),
    ],
    (2, 2): lambda n: [
        (8, 4, (n - 2) * (n - 1) / 2),
        (8, 6, (n - 2) * (n - 1) / 2 - (n - 4)),  # none for j = 3
        (7, 6, n * (n - 1) / 2 - 2 - (n - 3)),
        (4, 3, 2),  # D_j3
        (2, 1, n - 3),  # D_3i
    ],
    (3, 2): lambda n: [
        (8, 4, (n - 2) * (n - 1) / 2),
        (4, 2, n - 2),
        (12, 8, (n - 2) * (n - 1) / 2 - (n - 4)),
        (5, 4, n * (n - 1) / 2 - 2 - (n - 3)),
        (3, 2, 2),
        (2, 1, n - 3),
    ],
    (4, 2): lambda n: [
        (24 + 8 + 6, 12 + 4 + 3, n - 2),
        (2, 0, 1),
        (6 + 9, 3 + 6, n - 3),
        (3 + 6, 0 + 3, 1),  # f_{3,3}, t_{3,3}
        (6 + 3, 6 + 2, n * (n - 1) / 2),
    ],
    (5, 2): lambda n: [
        (4, 4, n - 2),
        (14, 10, n - 2),
        (8, 5, 1),  # t_{2,3}
        (8 + 12, 4 + 8, (n - 3) * (n - 2) / 2),
        (14, 10, n - 2),
    ],
}
SLIPS = {(2, 2): (3, 3), (4, 1): (-4, 0), (4, 2): (-4, 0)}  # Table VI less the sum of the lines


@each(LINES)
def test_table_vi_is_the_sum_of_the_printed_lines(formulation, kind):
    """What shows the reasons for the differences: which terms are charged, and how.

    Three of the ten pairs of sums are not the lines': formulation 2 adds up to 57 and 43 in type
    2; formulation 4 leaves out four products, those with the zero of R_n, but not their additions.
    """
    for n in (5, 6, 9):
        lines, slips = LINES[formulation, kind](n), SLIPS.get((formulation, kind), (0, 0))
        for k, (published, slip) in enumerate(zip(TABLE_VI[formulation, kind], slips, strict=True)):
            assert at(n, *published) == sum(line[k] * line[2] for line in lines) + slip


@each(TABLE_VI)
def test_shared_counts_of_a_formulation_are_those_of_its_part_alone(formulation, kind):
    """Its table run on inputs: c-hat, J-hat and h are given, R_i and d_i recorded before."""
    for n in (4, 6, 7):
        chain = arm_of_type(kind, n)
        arm = chain.on(float)
        tape = Tape({"q": n, "ch": 3 * n, "J3": 3 * n, "h": 3 * n})
        q, *bodies = tape.arguments()
        R, d = arm.rotations(q), arm.extensions(q)
        for rotation in R:
            rotation.rows()
        on_hand = len(tape.instructions)
        mh = np.cumsum(arm.mass[::-1])[::-1].tolist()
        ch, J3, h = ([Vector(*x[3 * i : 3 * i + 3]) for i in range(n)] for x in bodies)
        last = arm.inertia[-1]
        ch[-1], J3[-1] = arm.first_moment[-1], Vector(last.xz, last.yz, last.zz)  # constants
        table = getattr(lin_fang, f"table_{formulation}")
        program = tape.finish("D", table(arm, R, d, lin_fang.Composites(mh, ch, J3, h)))
        found = Counter(program.instructions[k].op for k in needed(program) if k >= on_hand)
        shared = count(chain, "mass_matrix", f"lin-fang-{formulation}", "shared", "matrix")
        assert (shared.mul, shared.add) == (found[Op.MUL], found[Op.ADD] + found[Op.SUB])


@pytest.mark.parametrize(
    "kind, mul, add",
    [pytest.param(1, -44, -57, id="type 1"), pytest.param(2, -42, -59, id="type 2")],
)
def test_table_vii(kind, mul, add):
    """30 n - 44 M, 33 n - 57 A; type 2: 30 n - 42 M, 33 n - 59 A; and n - 1 doublings.

    Published are 32 n - 47 and 32 n - 45 M: a doubling there is a multiplication, and 2 S beta A5
    two of them. Of type 2's n - 2 doublings in A1 one is of the constant S theta_3.
    """
    for n in (4, 6, 9):
        found = count(
            arm_of_type(kind, n), "mass_matrix", "lin-fang-1-minimal", "folded", "composites"
        )
        assert (found.mul, found.add, found.double) == (30 * n + mul, 33 * n + add, n - 1)


def test_printed_cost_of_the_similarity_charges_a_product_twice():
    """Table VII prints 18M14A for (41) to (54), which take 17M14A with D = 1M."""
    tape = Tape({"turn": 2, "X": 6})
    (C, S), X = tape.arguments()
    Y = lin_fang_minimal.similarity(Rotation(C, S, 0.6, 0.8), Symmetric(*X))
    found = Counter(ins.op for ins in tape.finish("Y", [list(Y)]).instructions)
    assert (found[Op.MUL], found[Op.ADD] + found[Op.SUB]) == (18 - 1, 14)


SHARED = {  # formulation, type -> n -> M, A, D
    (1, 1): {4: (132, 110, 3), 6: (328, 260, 5), 8: (604, 458, 7)},
    (2, 1): {4: (150, 129, 3), 6: (377, 315, 5), 8: (696, 565, 7)},
    (1, 2): {4: (128, 106, 3), 6: (324, 256, 5), 8: (600, 454, 7)},
    (2, 2): {4: (136, 117, 3), 6: (335, 280, 5), 8: (628, 508, 7)},
}
TABLE_VIII = {  # formulation, type -> n -> M, A as printed
    (1, 1): {4: (179, 135), 6: (407, 301), 8: (715, 515)},
    (2, 1): {4: (171, 141), 6: (410, 331), 8: (741, 585)},
    (1, 2): {4: (171, 129), 6: (399, 295), 8: (707, 509)},
    (2, 2): {4: (165, 131), 6: (378, 299), 8: (683, 531)},
}


@each(SHARED)
def test_what_the_minimal_formulations_really_need(formulation, kind):
    """From minimal parameters to D, with equal terms shared: well below Table VIII."""
    for n, most in SHARED[formulation, kind].items():
        method = f"lin-fang-{formulation}-minimal"
        found = count(arm_of_type(kind, n), "mass_matrix", method, "shared")
        assert all(a <= b for a, b in zip((found.mul, found.add, found.double), most, strict=True))
        mul, add = TABLE_VIII[formulation, kind][n]
        assert found.mul + found.double < mul
        assert found.add < add


@pytest.mark.parametrize("kind", [1, 2], ids="type {}".format)
def test_minimal_parameters_leave_the_matrix_part_as_it_is(kind):
    """Only Table VII knows of them, as long as joint 2 is joint s."""
    chain = arm_of_type(kind, 6)
    for k in (1, 2):
        natural = count(chain, "mass_matrix", f"lin-fang-{k}", "literal", "matrix")
        assert count(chain, "mass_matrix", f"lin-fang-{k}-minimal", "literal", "matrix") == natural


@pytest.mark.parametrize("joints", ["RRRRRR", "RRPRRR", "RPRPRR"])
def test_table_vii_gives_the_composite_bodies(joints):
    """(22) and (23): k + l and U + V are the first moment and the tensor of links i to n."""
    chain = Chain.random(6, joints, seed=4)
    q = np.random.default_rng(4).uniform(-3, 3, 6).tolist()
    arm = chain.on(float)
    truth = lin_fang.composites(arm, arm.rotations(q), arm.extensions(q))
    arm = chain.on(float, "minimal")
    found, _ = lin_fang_minimal.table_7(arm, arm.rotations(q), arm.extensions(q))
    _, s, _ = arm.start
    for i in range(6):
        if arm.revolute[i]:
            first = 0 if i >= s else 2
            np.testing.assert_allclose([*found.J3[i]][first:], [*truth.J3[i]][first:], rtol=1e-12)
            np.testing.assert_allclose([*found.ch[i]][:2], [*truth.ch[i]][:2], rtol=1e-12)
        elif i > s:
            np.testing.assert_allclose([*found.ch[i]], [*truth.ch[i]], rtol=1e-12)
        if not arm.revolute[i]:
            assert found.mh[i] == pytest.approx(truth.mh[i], rel=1e-14)


def test_efficient_similarity_is_the_similarity():
    """(41) to (54) against R X R^T."""
    theta, beta = 0.7, -1.9
    R = Rotation(math.cos(theta), math.sin(theta), math.cos(beta), math.sin(beta))
    X = Symmetric(*np.random.default_rng(0).uniform(-1, 1, 6).tolist())
    rows = np.array([[*row] for row in R.rows()])
    tensor = np.array([[X.xx, X.xy, X.xz], [X.xy, X.yy, X.yz], [X.xz, X.yz, X.zz]])
    Y = rows @ tensor @ rows.T
    found = lin_fang_minimal.similarity(R, X)
    np.testing.assert_allclose([*found], Y[np.triu_indices(3)], rtol=1e-13)


# The shoulder ------------------------------------------------------------------------------------


@pytest.mark.parametrize("axes", [1, 2, 3, 7])
@pytest.mark.parametrize("d", [0.0, 0.3])
def test_joints_whose_axes_meet_are_a_shoulder(axes, d):
    """Torques are taken about the point where they meet, and are those of another method."""
    chain = with_shoulder(Chain.random(7, seed=axes), axes, d)
    arm = chain.on(float)
    assert arm.shoulder == (axes - 1 if d else 0)
    q = np.random.default_rng(axes).uniform(-3, 3, 7).tolist()
    truth = np.array(crba.mass_matrix(arm, q))
    for view, formulation_1 in (
        ("natural", lin_fang.formulation_1),
        ("minimal", lin_fang_minimal.formulation_1),
    ):
        found = np.array(formulation_1(chain.on(float, view), q))
        np.testing.assert_allclose(found, truth, rtol=1e-12, atol=1e-13 * np.abs(truth).max())
