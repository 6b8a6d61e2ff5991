"""Lin and Fang's formulations: what they take when equal terms are shared, and the shoulder.

test_published.py compares the lines of Tables I to V with literal counts.
"""

import itertools
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


@each(itertools.product(range(1, 6), (1, 2)))
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
