"""Operation counts: the rules one by one, and what the papers print."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import pytest

from armdyn import Chain, load
from armdyn.algorithms import catalogue
from armdyn.algorithms.method import Method
from armdyn.algorithms.stages import stage, zero
from armdyn.counting import Count, count, growth
from armdyn.counting.polynomial import Polynomial
from armdyn.errors import MethodError, TraceError
from armdyn.spatial import Z_AXIS, Rotation, Symmetric, Vector

ARM = Chain.random(3, "RRP", seed=5)


@pytest.fixture
def counted(monkeypatch):
    """Counts a function of (arm, q, qd) as if it were a method of the bias."""

    def run(function, kind="literal", stage=None, chain=ARM):
        method = Method("under test", function, "armdyn")
        monkeypatch.setitem(catalogue.CATALOGUE, "bias", (method,))
        return count(chain, "bias", "under test", kind, stage)

    return run


EVERY = ("literal", "folded", "shared", "program")
PAPER = EVERY[:3]


# The rules ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", EVERY)
def test_what_every_kind_agrees_on(counted, kind):
    def each(expression):
        return counted(lambda arm, q, qd: [expression(*qd, arm.b[1])], kind)

    assert each(lambda x, y, z, b: x * y + z) == Count(mul=1, add=1)
    assert each(lambda x, y, z, b: x - y - z) == Count(add=2)
    assert each(lambda x, y, z, b: b * x + b) == Count(mul=1, add=1)
    assert each(lambda x, y, z, b: (b * b - 3 * b) * x) == Count(mul=1)
    assert each(lambda x, y, z, b: (2 * b) * x) == Count(mul=1)
    assert each(lambda x, y, z, b: 2 * x + -2 * (y * z)) == Count(mul=1, add=1, double=2)
    assert each(lambda x, y, z, b: -x * 1 + 0 * y - 0 + 1 * z) == Count(add=1)
    assert each(lambda x, y, z, b: x / y) == Count(div=1)
    assert each(lambda x, y, z, b: b / x) == Count(div=1)
    assert each(lambda x, y, z, b: x / 4) == Count(mul=1)
    assert each(lambda x, y, z, b: 0 / x + y / 1) == Count()


@pytest.mark.parametrize("kind", PAPER)
def test_rotations_and_joint_variables_are_on_hand(counted, kind):
    def entries(arm, q, qd):
        R, d = arm.rotations(q)[1], arm.extensions(q)
        return [*(x for row in R.rows() for x in row), *R.down(Z_AXIS), R.C, d[2]]

    assert counted(entries, kind) == Count()


def test_a_program_pays_for_the_entries_of_its_rotations(counted):
    def entries(arm, q, qd):
        return [x for row in arm.rotations(q)[1].rows() for x in row]

    assert counted(entries, "program") == Count(mul=4, add=1, trig=2)  # theta' + q, Cb C, ...


@pytest.mark.parametrize("kind", PAPER)
def test_the_products_with_a_rotation_as_the_papers_count_them(counted, kind):
    def on(function):
        def method(arm, q, qd):
            return list(function(arm.rotations(q)[1], Vector(*qd)))

        return counted(method, kind)

    assert on(lambda R, v: R.up(v)) == on(lambda R, v: R.down(v)) == Count(mul=8, add=4)
    assert on(lambda R, v: R.up(Vector(v.x, v.y, 0))) == Count(mul=6, add=2)
    assert on(lambda R, v: [row @ v for row in R.rows()]) == Count(mul=8, add=5)


def test_nothing_is_shared_unless_it_is_asked_for(counted):
    def twice(arm, q, qd):
        x, y, _ = qd
        unused = x + y
        return [x * y, y * x, unused - unused]

    assert counted(twice, "literal") == counted(twice, "folded") == Count(mul=2, add=2)
    assert counted(twice, "shared") == counted(twice, "program") == Count(mul=1)


def products(vector):
    """A constant times each component: charged for those that count as run-time."""
    return [3.0 * x for x in vector]


def shifted(arm, q, i):
    """2M for s_3 = [b, -d Sb, d Cb], whose d changes."""
    return products(arm.shifts(q)[i])


@pytest.mark.parametrize(
    "function, charged",
    [
        pytest.param(function, charged, id=f"rule {rule}")
        for rule, function, charged in [
            (
                "1: entries of R",
                lambda arm, q, qd: [3.0 * x for x in arm.rotations(q)[1].rows()[2]],
                3,
            ),
            ("1: Cb and Sb of R", lambda arm, q, qd: [3.0 * arm.rotations(q)[1].Cb], 1),
            (
                "1: of a prismatic joint",
                lambda arm, q, qd: products(arm.rotations(q)[2].rows()[1]),
                3,
            ),
            ("1: not its C and S", lambda arm, q, qd: [3.0 * arm.rotations(q)[2].C], 0),
            ("1: not the arm's", lambda arm, q, qd: [3.0 * arm.Cb[1]], 0),
            ("2: in a vector", lambda arm, q, qd: products(Vector(qd[0], arm.d[1], 0)), 2),
            ("2: not alone", lambda arm, q, qd: products(Vector(arm.b[1], arm.d[1], 1)), 0),
            ("2: in the shift of a prismatic joint", lambda arm, q, qd: shifted(arm, q, 2), 2 + 3),
            ("2: not of a revolute one", lambda arm, q, qd: shifted(arm, q, 1), 2 + 0),
            (
                "2: in a tensor",
                lambda arm, q, qd: products(Symmetric(qd[0], arm.b[1], 0, 1, 2, 0)),
                3,
            ),
            ("3: last first moment", lambda arm, q, qd: products(arm.first_moment[-1]), 3),
            ("3: last tensor", lambda arm, q, qd: products(arm.inertia[-1]), 6),
            ("3: not the others", lambda arm, q, qd: products(arm.first_moment[0]), 0),
            ("3: not about the centre", lambda arm, q, qd: products(arm.inertia_about_com[-1]), 0),
            ("3: nor the mass", lambda arm, q, qd: [3.0 * arm.mass[-1]], 0),
            ("4: the first twist", lambda arm, q, qd: [3.0 * arm.rotations(q)[0].Sb], 1),
            ("4: the base", lambda arm, q, qd: products(arm.base[1]), 3),
            ("5: stored zeros", lambda arm, q, qd: products(Vector(zero(), 0, 0)), 1),
        ]
    ],
)
def test_what_literal_counts_take_for_run_time(counted, function, charged):
    assert counted(function) == Count(mul=charged)


line = stage("line")(lambda compute: compute())  # what of a function a printed line computes


def axis_line(arm, q, qd):
    R = arm.rotations(q)
    return list(line(lambda: R[2].down(R[1].rows()[2])))


def generalised_link_line(arm, q, qd):
    R, s = arm.rotations(q), arm.shifts(q)
    u, sh = R[1].rows()[2], Vector(qd[0], qd[1], arm.b[1] * arm.Sb[1])
    return list(line(lambda: R[2].down(sh + u.cross(s[2]))))


def line_beyond_a_slide(arm, q, qd):
    R, d, sh = arm.rotations(q), arm.extensions(q), Vector(*qd[:3])
    u, b = R[2].rows()[2], Vector(arm.b[3], 0, 0)
    u_4, d_4 = R[3].down(u), Vector(0, 0, d[3])
    return list(line(lambda: R[3].down(sh + u.cross(b)) + u_4.cross(d_4)))


def position_line(arm, q, qd):
    R = arm.rotations(q)
    s = Vector(arm.b[1] * R[1].C, -arm.b[1] * R[1].S, arm.d[1])
    return list(line(lambda: R[2].down(s + arm.shifts(q)[2])))


def torque_line(arm, q, qd):
    R, b, d = arm.rotations(q)[2], Vector(arm.b[2], 0, 0), Vector(0, 0, arm.d[2])
    c, J = arm.first_moment[2], arm.inertia[2]
    f, t = Vector(-c.y, c.x, 0), Vector(J.xz, J.yz, J.zz)
    f_2 = R.up(f)
    return list(line(lambda: R.up(t + d.cross(f)) + b.cross(f_2)))


def gravity_line(arm, q, qd):
    R = arm.rotations(q)[0]
    return list(line(lambda: R.down(arm.gravity)))


PRINTED_LINES = [  # what literal counts would not give without one of the rules 1 to 4
    ("1, [lin1991] Fig. 3, [lin1999] Tables II, III: u_j^<j+2>", axis_line, "RRR", 8, 4),
    ("1, [lin1991] Fig. A1: s-hat_j^<j+2>", generalised_link_line, "RRR", 14, 10),
    ("1, [lin1999] Table III: s-hat_2^<4>, joint 3 slides", line_beyond_a_slide, "RRPR", 12, 8),
    ("2, [lin1991] Fig. 3: s^<3>", position_line, "RRR", 8, 7),
    ("3, [lin1999] Table I: t_{n-1,n}", torque_line, "RRR", 12, 8),
    ("4, [lin1991] Fig. 3: g^<1>", gravity_line, "RRR", 8, 4),
]


@pytest.mark.parametrize(
    "function, joints, mul, add",
    [pytest.param(*values, id=f"rule {name}") for name, *values in PRINTED_LINES],
)
def test_the_rules_give_the_costs_that_the_papers_print_beside_their_lines(
    counted, function, joints, mul, add
):
    """Folding the constants gives less: it is the rule that makes the printed number."""
    chain = Chain.random(len(joints), joints, seed=5)
    assert counted(function, "literal", "line", chain) == Count(mul, add)
    folded = counted(function, "folded", "line", chain)
    assert folded.mul < mul or folded.add < add


def test_the_other_kinds_fold_all_constants(counted):
    def constants(arm, q, qd):
        R = arm.rotations(q)
        fixed = [*R[2].rows()[1], R[1].Cb, *arm.first_moment[-1], *arm.inertia[-1], R[0].Sb]
        return [3.0 * x for x in fixed] + [3.0 * Vector(qd[0], arm.b[1], zero()).y]

    for kind in ("folded", "shared", "program"):
        assert counted(constants, kind) == Count()


# Depth -------------------------------------------------------------------------------------------


def test_a_depth_is_the_longest_chain_of_operations(counted):
    def each(expression):
        return counted(lambda arm, q, qd: [expression(*qd, arm.rotations(q)[0].C)], "depth")

    assert each(lambda x, y, z, C: x) == 0
    assert each(lambda x, y, z, C: -x) == 0
    assert each(lambda x, y, z, C: C) == 0  # a cosine is on hand
    assert each(lambda x, y, z, C: C * x) == 1
    assert each(lambda x, y, z, C: x + y + z + x * y) == 3
    assert each(lambda x, y, z, C: (x + y) + (z + x * y)) == 3
    assert each(lambda x, y, z, C: (x + y) * (x + y) / z) == 3
    assert each(lambda x, y, z, C: 0 * (x + y) * z + y) == 0  # what is not needed


def test_a_table_is_as_deep_as_what_it_stands_for():
    """With loops, from 16 joints on, the same chain as without, joint by joint."""
    depths = [count(Chain.random(n), "mass_matrix", "hybrid", kind="depth") for n in (14, 15, 16)]
    assert depths[2] - depths[1] == depths[1] - depths[0]


def test_critical_paths_of_six_joints():
    """An independent count of the same programs has these."""
    chain = Chain.random(6)
    found = {
        (quantity, method): count(chain, quantity, method, kind="depth")
        for quantity, method in (
            ("mass_matrix", "crba-minimal"),
            ("mass_matrix", "gdahj"),
            ("christoffel", "momentum"),
        )
    }
    assert list(found.values()) == [58, 46, 39]


def test_a_depth_is_of_a_whole_method():
    with pytest.raises(MethodError, match="a depth is that of a whole method"):
        count(ARM, "mass_matrix", "gdahj", "depth", "dynamics")


# Stages ------------------------------------------------------------------------------------------


@stage("outer")
def outer(x, y):
    return x * y + inner(x, y)


@stage("inner")
def inner(x, y):
    return x * y - y


@pytest.mark.parametrize("kind", EVERY)
def test_a_stage_counts_all_that_is_done_within_it(counted, kind):
    def method(arm, q, qd):
        x, y, z = qd
        return [outer(x, y) + z, inner(y, z)]

    shared = kind in ("shared", "program")  # x y is first recorded in the outer stage
    assert counted(method, kind, "inner") == Count(mul=2 - (kind == "program"), add=2)
    assert counted(method, kind, "outer") == Count(mul=2 - shared, add=2)
    assert counted(method, kind) == Count(mul=3 - shared, add=4)
    with pytest.raises(MethodError, match="no stage 'middle'; it has: inner, outer"):
        counted(method, kind, "middle")


def test_a_shared_count_of_a_stage_takes_nothing_as_on_hand_but_what_it_is_handed(counted):
    """x y is computed before the stage, which is handed x, y and x + y; it needs x y again."""

    @stage("later")
    def later(x, y, total, rotation):
        return total * (x * y) + y * x + rotation.rows()[2].x

    def method(arm, q, qd):
        x, y, _ = qd
        return [x * y, later(x, y, x + y, arm.rotations(q)[1])]

    assert counted(method, "shared", "later") == Count(mul=2, add=2)
    assert counted(method, "program", "later").mul == 2  # total (x y), and an entry of R
    assert counted(method, "shared") == Count(mul=2, add=3)


def test_a_stage_without_work_counts_nothing(counted):
    idle = stage("idle")(lambda x: x)
    for kind in EVERY:
        assert counted(lambda arm, q, qd: [idle(qd[0])], kind, "idle") == Count()


# What the papers print ---------------------------------------------------------------------------


def printed(mul, add, double="0"):
    """Published polynomials, as ``growth`` gives them."""
    texts = {"mul": mul, "add": add, "double": double, "div": "0", "trig": "0"}
    return {name: Polynomial.parse(text) for name, text in texts.items()}


@pytest.mark.parametrize(
    "method, part, expected",
    [
        ("lin1991", None, printed("10.5n^2+38.5n-85", "6n^2+39n-70")),  # L91, Table I
        ("renaud", None, printed("13.5n^2+22.5n-68", "9n^2+23n-58", "3n-6")),  # D = 1A: 9n^2+26n-64
        ("lin-fang-1", "matrix", printed("10n^2-18n+10", "6n^2-10n+4")),  # LF99, Table VI
        ("lin-fang-3", "matrix", printed("12.5n^2-28.5n+16", "8n^2-18n+10")),
        ("gdahj", "dynamics", printed("3n^2+88n-3", "5/2n^2+191/2n-18")),  # S18, Table I
    ],
    ids=["lin1991", "renaud", "lin-fang-1", "lin-fang-3", "gdahj"],
)
def test_literal_counts_are_the_published_ones(method, part, expected):
    assert growth("mass_matrix", method, "literal", part) == expected


def test_crba_multiplies_as_often_as_published():
    """S18, Table I; its additions, 6n^2+37n-43, are not those of the algorithm."""
    found = growth("mass_matrix", "crba")
    assert found["mul"] == Polynomial.parse("10n^2+22n-32")


def test_table_vii_folded():
    """LF99, Table VII: 33n-57 additions; 32n-47 products with D = 1M and 2 Sb A5 charged twice."""
    found = growth("mass_matrix", "lin-fang-1-minimal", "folded", "composites")
    assert found == printed("30n-44", "33n-57", "n-1")
    charged = found["mul"] + found["double"] + Polynomial.parse("n-2")
    assert charged == Polynomial.parse("32n-47")


def test_the_best_formulation_shared():
    assert count(Chain.random(6), "mass_matrix", "lin-fang-1-minimal", "shared") == Count(
        328, 260, 4
    )


def test_two_quantities_together_share_their_work():
    chain = Chain.random(5)
    for kind in EVERY:
        both = count(chain, ("mass_matrix", "bias"), "lin1991", kind)
        each = [count(chain, quantity, "lin1991", kind) for quantity in ("mass_matrix", "bias")]
        assert max(each, key=lambda c: c.cost).cost < both.cost < (each[0] + each[1]).cost
        assert both == count(chain, ("bias", "mass_matrix"), "lin1991", kind)
    both = count(chain, ("mass_matrix", "gravity"), "newton-euler", "literal")
    each = [count(chain, name, "newton-euler", "literal") for name in ("mass_matrix", "gravity")]
    assert both == each[0] + each[1]


@pytest.mark.parametrize("joints", ["RRRR", "PRPR"])
@pytest.mark.parametrize(
    "quantity, method",
    [
        pytest.param(quantity, method, id=f"{quantity}-{method.name}")
        for quantity, methods in catalogue.CATALOGUE.items()
        for method in methods
    ],
)
def test_every_method_can_be_counted(quantity, method, joints):
    chain = Chain.random(4, joints)
    if method.name == "ldl-shoulder":
        chain = load("panda").chain
    assert method.refuses(chain.on(float)) is None
    found = {kind: count(chain, quantity, method.name, kind) for kind in EVERY}
    assert found["literal"].cost > 0
    assert found["shared"].cost <= found["folded"].cost
    assert found["shared"].cost <= found["program"].cost


def test_a_method_that_does_not_apply_is_not_counted():
    """About centres of mass, on an arm with a link that has none."""
    rows = ARM.parameters_in("pinocchio")
    rows[1, 0] = -1.0
    chain = replace(ARM, check="warn").with_parameters(rows)
    with pytest.raises(MethodError, match="mass_matrix by gdahj does not apply"):
        count(chain, "mass_matrix", "gdahj")


# Manners -----------------------------------------------------------------------------------------


def test_counting_leaves_the_constructors_as_they_were(counted):
    plain = Vector.__init__, Symmetric.__init__, Rotation.__init__

    def broken(arm, q, qd):
        assert Vector.__init__ is not plain[0]
        raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        counted(broken)
    assert (Vector.__init__, Symmetric.__init__, Rotation.__init__) == plain
    assert zero() == 0


def test_other_threads_are_not_disturbed_by_a_count(counted):
    """While one thread counts literally, another computes with floats and counts otherwise."""
    chain, q = Chain.random(4, "RPRP"), [0.1, 0.2, 0.3, 0.4]

    def work():
        arm = chain.on(float)
        return (
            catalogue.find("mass_matrix", "crba").function(arm, q),
            count(chain, "mass_matrix", "crba", "folded"),
            count(chain, "mass_matrix", "crba", "shared"),
        )

    def method(arm, q, qd):
        with ThreadPoolExecutor() as other:
            found.append(other.submit(work).result())
        return [qd[0] * arm.inertia[-1].xx]

    found = [work()]
    assert counted(method) == Count(mul=1)
    assert found[0] == found[1]


def test_counts_in_many_threads():
    expected = count(Chain.random(5), "mass_matrix", "renaud")
    with ThreadPoolExecutor(4) as threads:
        jobs = [threads.submit(count, Chain.random(5), "mass_matrix", "renaud") for _ in range(8)]
        assert [job.result() for job in jobs] == [expected] * 8


@pytest.mark.parametrize("kind", EVERY)
def test_an_algorithm_that_branches_on_a_value_is_refused(counted, kind):
    with pytest.raises(TraceError, match="branch on the arm's structure"):
        counted(lambda arm, q, qd: [qd[0] if qd[0] > 0 else 0], kind)


def test_what_is_not_known_is_named():
    with pytest.raises(MethodError, match="no kind of count 'exact'; known: literal, folded"):
        count(ARM, "mass_matrix", "crba", "exact")
    with pytest.raises(MethodError, match="no method 'nonsense' for mass_matrix"):
        count(ARM, "mass_matrix", "nonsense")
    with pytest.raises(MethodError, match="no quantity 'mass'"):
        count(ARM, "mass", "crba")


# Polynomials in n --------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["10.5n^2+38.5n-85", "5/3n^3-n", "-n^2+0.25", "n", "-7", "0"])
def test_a_polynomial_prints_as_it_reads(text):
    p = Polynomial.parse(text)
    assert str(p) == text
    assert Polynomial.through({n: p(n) for n in (2, 3, 5, 6, 9)}) == p


def test_a_polynomial_adds_up():
    p, q = Polynomial.parse("n^2-3n+1/2"), Polynomial.parse("-n^2+n")
    assert str(p + q) == "-2n+0.5"
    assert p - p == Polynomial()
    assert p(3) == Fraction(1, 2)


def test_a_fit_must_be_confirmed():
    with pytest.raises(MethodError, match="leaves a point to confirm it"):
        Polynomial.through({2: 4, 3: 9, 4: 17})
    assert str(Polynomial.through({2: 4, 3: 9, 4: 16, 5: 25})) == "n^2"
    with pytest.raises(MethodError, match="'3m' is no polynomial in n"):
        Polynomial.parse("3m")
