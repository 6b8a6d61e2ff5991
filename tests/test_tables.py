"""Instructions with many results: loops that give the bits of their unrolled form."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from armdyn import Chain, Robot
from armdyn.algorithms import catalogue
from armdyn.chain.pose import Pose
from armdyn.counting import count
from armdyn.errors import TraceError
from armdyn.program import items, llvm, passes, rounding, tape
from armdyn.program.adjoints import vjp
from armdyn.program.c import Function
from armdyn.program.fma import place_fma
from armdyn.program.interpreter import evaluate
from armdyn.program.passes import cost, drop_unused, unroll
from armdyn.program.program import TABLES, Instruction, Op, Program
from armdyn.program.sincos import FORMATS
from armdyn.program.tables import Each, Products, Solution, runs
from armdyn.program.tangents import jvp
from armdyn.program.tape import record
from armdyn.quantities import QUANTITIES
from armdyn.quantities.tasks import Task, formula
from armdyn.spatial import Symmetric, Vector, select_lt, sincos
from armdyn.spatial.each import each
from armdyn.spatial.matrices import joined as joined_at_diagonal
from armdyn.spatial.matrices import products, solve
from tests.c_compiler import needs_compiler
from tests.sweeping import few
from tests.test_export import bits, call, interpreted, joined, library, states
from tests.test_llvm import Machine, same_bits

LARGE = 10**9
METHODS = catalogue.CATALOGUE["inverse_dynamics_second_derivatives"]


@pytest.fixture(params=[0, LARGE], ids=["looped", "plain"])
def size(request, monkeypatch):
    """From how many rows on tables are recorded as such."""
    monkeypatch.setattr(tape, "LOOPED", request.param)


@pytest.fixture
def looped(monkeypatch):
    """All tables are recorded as such, and none is unrolled because a program is brief."""
    monkeypatch.setattr(tape, "LOOPED", 0)
    monkeypatch.setattr(passes, "BRIEF", 0)


def traced(chain, *tasks):
    """The program of tasks, traced now."""
    asked = [Task(*task) for task in tasks]
    names = ("q", "qd", "tau") if any(t.quantity == "forward_dynamics" for t in asked) else ("q",)

    def together(*state):
        return tuple(
            formula(chain, float, t)(*state[: len(QUANTITIES[t.quantity].arguments)]) for t in asked
        )

    return drop_unused(record(together, dict.fromkeys(names, chain.n), "tables"))


def rows(numbers):
    """Rows of two vectors each."""
    return [[Vector(*six[:3]), Vector(*six[3:])] for six in zip(*[iter(numbers)] * 6, strict=True)]


def table_and_solution(n):
    """A program that is a table, and the solution of a system that has it but for the diagonal."""

    def both(a, b, y):
        T = products(rows(a), rows(b))
        return T, solve([[x + n * (i == j) for j, x in enumerate(t)] for i, t in enumerate(T)], y)

    return record(both, {"a": 6 * n, "b": 6 * n, "y": n})


def wrench(J, w, v, scale):
    """Some function of a tensor, two vectors and a number."""
    force = scale * v.cross(w) + 2 * v
    return (J @ w - w.cross(force), force), scale * scale / (3 + w @ w)


def same_many_times(n, spread=False):
    """A function of n items, products of what it gives, and sums of that with other numbers."""

    def function(J, p, scale):
        tensors = [Symmetric(*row) for row in zip(*[iter(J)] * 6, strict=True)]
        w, v = ([Vector(*row) for row in zip(*[iter(x)] * 3, strict=True)] for x in (p[3:], p[:-3]))
        v[0] = Vector(0, 1, v[0].z)  # a number is zero by structure there, and one is constant
        scales = [scale[0]] * n if spread else scale
        wrenches, numbers = zip(*each(wrench, tensors, w, v, scales), strict=True)
        T = products(wrenches, wrenches)
        return (
            T,
            list(numbers),
            [x - y for (m, _), y in zip(wrenches, scale, strict=True) for x in m],
        )

    return record(function, {"J": 6 * n, "p": 3 * n + 3, "scale": n})


def tables(program):
    return [ins for ins in program.instructions if ins.op in TABLES]


def kinds(n):
    """Revolute and prismatic joints anywhere."""
    return "".join(np.random.default_rng(n).choice(list("RRP"), n))


M, GDAHJ, LDL = ("mass_matrix", "hybrid"), ("mass_matrix", "gdahj"), ("forward_dynamics", "ldl")


# What they mean ----------------------------------------------------------------------------------


def test_a_solution_of_fractions_is_exact():
    n = 7
    hilbert = [[Fraction(1, i + j + 1) for j in range(n)] for i in range(n)]
    table = Solution(n)
    rules = {
        Op.MUL: lambda a, b: a * b,
        Op.SUB: lambda a, b: a - b,
        Op.DIV: lambda a, b: a / b,
        Op.NEG: lambda a: -a,
        Op.FMA: lambda a, b, c: a * b + c,
    }
    triangle = [x for i, row in enumerate(hilbert) for x in row[: i + 1]]
    for fused in (False, True):
        x = Solution(n, fused).unrolled(
            [*triangle, *[Fraction(1)] * (n + 1)], lambda o, *a: rules[o](*a)
        )
        assert sum(x) == n * n
    assert table.operands == len(triangle) + n + 1
    assert solve(hilbert, [Fraction(1)] * n) == x


def test_the_same_many_times_is_what_map_gives():
    numbers = [Fraction(k, 7) for k in range(1, 40)]
    tensors = [Symmetric(*numbers[k : k + 6]) for k in range(3)]
    w, v = ([Vector(*numbers[k : k + 3]) for k in range(i, i + 3)] for i in (9, 20))
    found = each(wrench, tensors, w, v, numbers[:3])
    assert [scale for _, scale in found] == [
        x * x / (3 + w_i @ w_i) for x, w_i in zip(numbers, w, strict=False)
    ]
    assert list(found[2][0][1]) == list(wrench(tensors[2], w[2], v[2], numbers[2])[0][1])


@pytest.mark.parametrize("spread", [False, True], ids=["own", "spread"])
@pytest.mark.parametrize("n", [1, 2, 13])
def test_the_same_many_times_recorded_once(n, spread, looped, monkeypatch):
    monkeypatch.setattr(items, "SPREAD", 1)
    program = same_many_times(n, spread)
    found = [ins for ins in tables(program) if ins.op is Op.EACH]
    assert len(found) == 1
    (state,) = states(program, 1)
    once = interpreted(program, state)
    monkeypatch.setattr(tape, "LOOPED", LARGE)
    plain = same_many_times(n, spread)
    assert not tables(plain)
    np.testing.assert_allclose(once, interpreted(plain, state), rtol=1e-13, atol=1e-13)


def test_items_that_differ_in_structure_are_recorded_by_themselves(looped):
    def function(x):
        vectors = [Vector(0, x[k], x[k + 1]) for k in range(9)] + [Vector(x[0], x[1], x[2])]
        return [list(v) for v in each(lambda v: v.cross(Vector(1, 2, 3)), vectors)]

    program = record(function, {"x": 10})
    (table,) = tables(program)
    assert (table.value.n, table.value.columns) == (9, 2)
    x = np.linspace(1, 2, 10).tolist()
    rows = [[0, x[k], x[k + 1]] for k in range(9)] + [x[:3]]
    np.testing.assert_allclose(evaluate(program, {"x": x}), np.cross(rows, [1, 2, 3]), atol=1e-14)


def test_few_items_that_are_alike_are_no_loop():
    def function(x):
        return each(lambda a, b: a * a + 2 * b, x, [y if k % 2 else 0 for k, y in enumerate(x)])

    assert not tables(record(function, {"x": 11}))  # of which six have a zero
    assert tables(record(function, {"x": 15}))


def test_a_function_of_nothing_but_zeros_and_constants(looped):
    program = record(lambda x: each(lambda y: 2.0 * y, [x[0]] + [0] * 9), {"x": 2})
    assert evaluate(program, {"x": [3.0, 4.0]}) == [6.0] + [0.0] * 9
    program = record(lambda x: each(lambda y: 5.0, x), {"x": 9})
    assert not tables(program) and evaluate(program, {"x": [1.0] * 9}) == [5.0] * 9


def test_a_function_takes_all_its_numbers_as_arguments(looped):
    with pytest.raises(TraceError, match="met one of another"):
        record(lambda x: each(lambda y: y * x[0], x), {"x": 9})


def test_what_no_loop_does_is_recorded_one_by_one(looped):
    program = record(lambda x: each(lambda y: select_lt(y, 0, -y, y), x), {"x": 9})
    assert not tables(program)
    x = np.linspace(-1, 1, 9)
    np.testing.assert_array_equal(evaluate(program, {"x": x.tolist()}), np.abs(x))


def test_derivatives_of_the_same_many_times(looped):
    program = same_many_times(4)
    (state,) = states(program, 1)
    rng = np.random.default_rng(4)
    along = {f"{name}_tangent": rng.uniform(-1, 1, len(x)) for name, x in state.items()}
    names = ["T", "numbers", "sums"]
    sizes = [int(np.prod(shape)) for shape in program.shapes]
    weights = {name: rng.uniform(-1, 1, size) for name, size in zip(names, sizes, strict=True)}
    forward = evaluate(jvp(program), state | along)
    back = evaluate(vjp(program, cotangents=names), state | weights)
    there = sum(np.ravel(f) @ w for f, w in zip(forward, weights.values(), strict=True))
    here = sum(np.ravel(b) @ along[f"{name}_tangent"] for b, name in zip(back, state, strict=True))
    h = 1e-7
    ahead, behind = (
        interpreted(program, {k: np.add(x, s * along[f"{k}_tangent"]) for k, x in state.items()})
        for s in (h, -h)
    )
    apart = (np.array(ahead) - behind) / (2 * h)
    np.testing.assert_allclose(np.concatenate([np.ravel(f) for f in forward]), apart, atol=1e-6)
    assert there == pytest.approx(here, rel=1e-12)


@pytest.mark.parametrize(
    "table",
    [
        Products(5, groups=(3, 3)),
        Products(4, groups=(1, 2)),
        Solution(1),
        Solution(6),
        Each(3, columns=1, shared=1, body=tuple(map(Instruction, [Op.INPUT] * 2)), outputs=(0, 1)),
    ],
)
def test_operations_are_those_of_the_unrolled_table(table):
    found = Counter()

    def do(op, *operands):
        found[op] += 1
        return op

    table.unrolled(list(range(table.operands)), do)
    assert found == table.operations()


def test_products_are_the_dot_products_of_rows(size):
    rng = np.random.default_rng(0)
    a, b = rng.uniform(-1, 1, (2, 9, 2, 3))

    def function(*rows):
        pairs = [
            [Vector(*row[:3]), Vector(*row[3:])] for row in zip(*[iter(rows[0])] * 6, strict=True)
        ]
        return products(pairs[:9], pairs[9:])

    program = record(function, {"x": 108})
    found = np.array(evaluate(program, {"x": [*a.ravel(), *b.ravel()]}))
    full = np.einsum("jvx,ivx->ij", a, b)
    expected = np.tril(full) + np.tril(full, -1).T
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)


def test_columns_of_zeros_are_left_out(looped):
    planar = Chain.random(9, structure="parallel")
    planar = replace(planar, base=Pose())
    (table,) = tables(traced(planar, M))
    assert table.value.length == 3
    q = np.random.default_rng(1).uniform(-1, 1, 9).tolist()
    found = np.array(evaluate(traced(planar, M), {"q": q}))
    expected = Robot(planar).mass_matrix(q, method="newton-euler")
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_small_arms_have_no_tables_and_large_ones_do():
    large = tape.SCATTERED * tape.LOOPED
    assert not tables(traced(Chain.random(large - 1), M, LDL))
    assert len(tables(traced(Chain.random(large), M, ("forward_dynamics", "ldl")))) >= 2


# Passes and checks -------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 5, 11])
def test_passes_keep_every_bit(n, looped):
    program = traced(Chain.random(n, kinds(n), seed=n), M, GDAHJ, LDL)
    fused = place_fma(program)
    (state,) = states(program, 1)
    assert bits(interpreted(unroll(program), state)) == bits(interpreted(program, state))
    assert bits(interpreted(unroll(fused), state)) == bits(interpreted(fused, state))
    assert tables(program) and tables(fused) and not tables(unroll(fused))
    assert all(ins.value.fused for ins in tables(fused))
    exact, near = interpreted(program, state), interpreted(fused, state)
    np.testing.assert_allclose(near, exact, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_a_table_costs_what_it_costs_unrolled(n, looped):
    program = table_and_solution(n)
    assert cost(program) == cost(unroll(program)) == cost(place_fma(program))
    program = same_many_times(n)
    assert cost(program) == cost(unroll(program)) == cost(place_fma(program))


def test_equal_tables_are_one_instruction(looped):
    program = traced(Chain.random(5), M, M)
    assert len(tables(program)) == 1


def test_a_program_with_a_wrong_table_is_refused(looped):
    program = traced(Chain.random(3), M)
    code = list(program.instructions)
    k = next(k for k, ins in enumerate(code) if ins.op is Op.PRODUCTS)

    def changed(place, instruction):
        return Program(
            "f",
            program.inputs,
            (*code[:place], instruction, *code[place + 1 :]),
            program.outputs,
            program.shapes,
        )

    for place, instruction, finding in [
        (k, Instruction(Op.PRODUCTS, code[k].args[:-1], code[k].value), "arguments, not"),
        (k, Instruction(Op.SOLUTION, code[k].args, code[k].value), "of its kind"),
        (k + 1, Instruction(Op.PART, (k,), 1), "is part of nothing"),  # above the diagonal
        (k + 1, Instruction(Op.PART, (k - 1,), 0), "is part of nothing"),
        (k + 1, Instruction(Op.NEG, (k,)), "only a part"),
    ]:
        with pytest.raises(TraceError, match=finding):
            changed(place, instruction).check()
    with pytest.raises(TraceError, match="has many results"):
        Program("f", program.inputs, tuple(code), (k,), ((),)).check()
    assert f"%{k + 1} = part 0 %{k}" in str(program)


def test_runs_are_found_across_the_diagonal(looped):
    program = traced(Chain.random(6), M)
    (run,) = runs(program, program.outputs)
    assert (run.start, run.first, run.length) == (0, 0, 36)
    rows = [r for i in range(6) for r in runs(program, program.outputs[6 * i : 6 * i + 4])]
    assert [(r.first, r.length) for r in rows] == [(6 * i, 4) for i in range(6)]


def test_counts_are_those_of_the_unrolled_program(monkeypatch):
    robot = Robot(Chain.random(10, kinds(10)))
    found = {}
    for size in (0, LARGE):
        monkeypatch.setattr(tape, "LOOPED", size)
        found[size] = [
            count(robot, "mass_matrix", "gdahj", kind=kind)
            for kind in ("shared", "literal", "folded")
        ]
    looped, plain = found[0][0], found[LARGE][0]
    assert found[0][1:] == found[LARGE][1:]  # loops are no matter of formulas
    assert looped.div == plain.div and looped.trig == plain.trig
    prismatic = kinds(10).count("P")  # zeros in their rows are charged in loops
    assert plain.mul <= looped.mul <= plain.mul + 30 * prismatic


def test_rounding_is_bounded_as_if_unrolled(looped):
    program = traced(Chain.random(4), LDL)
    (state,) = states(program, 1)
    found = rounding.bounds(program, state, "float")
    np.testing.assert_array_equal(found, rounding.bounds(unroll(program), state, "float"))


# Machine code ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", few([1, 3, 8, 16, 17, 19, 22], 0, 2, 4))
def test_loops_have_the_bits_of_the_interpreter_alone_and_in_a_batch(n, looped):
    for program in (table_and_solution(n), place_fma(table_and_solution(n))):
        inputs = awkward(program)
        arrays = {name: list(x.T) for name, x in zip(program.inputs, inputs, strict=True)}
        T, x = evaluate(program, arrays)
        same_every_way(program, "float64", inputs, [np.moveaxis(np.array(T), -1, 0), np.array(x).T])


@pytest.mark.parametrize("spread", [False, True], ids=["own", "spread"])
@pytest.mark.parametrize("n", few([2, 4, 7, 8, 11, 16, 19], 1, 4))
def test_the_same_many_times_has_the_bits_of_unrolled_code(n, spread, looped, monkeypatch):
    monkeypatch.setattr(items, "SPREAD", 1)
    for program in (same_many_times(n, spread), place_fma(same_many_times(n, spread))):
        inputs = awkward(program)
        for dtype in ("float64", "float32"):
            expected = Machine(unroll(program), dtype).run("batch", *inputs)
            same_every_way(program, dtype, inputs, expected)


def test_columns_that_loops_made_are_read_where_they_lie(looped):
    program = place_fma(same_many_times(9))
    areas = llvm.Writer(program, FORMATS["float64"], 1, 4).areas
    kinds = {program.instructions[k].op: k for k in areas.columns}
    made, read = kinds[Op.EACH], kinds[Op.PRODUCTS]
    results = range(areas.made[made], areas.made[made] + 9 * 7)
    assert set(areas.columns[read]) <= set(results) and len(areas.columns[read]) == 12


@pytest.mark.parametrize("constant", [True, False], ids=["constants", "inputs"])
def test_who_runs_first_fills_a_column_that_others_read(constant, looped):
    """The one recorded first waits for sines, so it runs last."""
    numbers = [k + 0.5 for k in range(16)] if constant else None

    def function(x, y):
        own = numbers or y
        first = each(lambda a, b: a * b + 1, own, [sincos(z)[0] for z in x])
        return first, each(lambda a, b: 3 * a - b * b, x, own)

    program = place_fma(record(function, {"x": 16, "y": 16}))
    assert len(tables(program)) == 2
    inputs = awkward(program)
    same_every_way(program, "float64", inputs, Machine(unroll(program)).run("batch", *inputs))


def test_a_loop_that_gives_more_than_a_result_has_an_area_of_its_own(looped):
    def function(x):
        many = each(lambda y: tuple(y * k for k in range(2, 12)), x)
        return [[row[k] for row in many] for k in range(9)], [row[9] for row in many]

    program = record(function, {"x": 9})
    assert not llvm.Writer(program, FORMATS["float64"], 1, 4).areas.inside
    found, last = Machine(program).run("single", np.arange(18.0).reshape(2, 9))
    np.testing.assert_array_equal(found[1], np.arange(9, 18.0) * np.arange(2, 11.0)[:, None])
    np.testing.assert_array_equal(last[1], 11 * np.arange(9, 18.0))


@pytest.mark.parametrize("n", few([2, 9, 17], 0, 1))
def test_what_a_solution_writes_over_others_still_have(n, looped):
    """Two solutions that share their matrix, which is a result, and a right side that is used."""

    def several(a, y):
        M = [[a[n * i + j] * a[n * j + i] + n * (i == j) for j in range(n)] for i in range(n)]
        right = [2 * x for x in y]
        first, second = solve(M, right), solve(M, [3 * x for x in right])
        return first, second, M, [x + r for x, r in zip(first, right, strict=True)]

    program = place_fma(record(several, {"a": n * n, "y": n}))
    assert len(tables(program)) == 2
    inputs = awkward(program)
    for dtype in ("float64", "float32"):
        expected = Machine(unroll(program), dtype).run("batch", *inputs)
        same_every_way(program, dtype, inputs, expected)


@pytest.mark.parametrize("n", few([1, 9, 17, 18, 19, 20], 0, 2))
def test_loops_have_the_bits_of_unrolled_code_in_float32(n, looped):
    program = place_fma(table_and_solution(n))
    inputs = awkward(program)
    expected = Machine(unroll(program), "float32").run("batch", *inputs)
    same_every_way(program, "float32", inputs, expected)


@pytest.mark.sweep
@pytest.mark.parametrize("n", [12, 34])
def test_loops_of_arms_have_the_bits_of_unrolled_code(n, looped):
    chain = Chain.random(n, kinds(n), seed=n)
    program = place_fma(traced(chain, M, GDAHJ) if n > 30 else traced(chain, M, GDAHJ, LDL))
    inputs = awkward(program)
    for dtype in ("float64", "float32"):
        expected = Machine(unroll(program), dtype).run("batch", *inputs)
        same_every_way(program, dtype, inputs, expected)


def awkward(program):
    """Some states, two of which are not finite."""
    rng = np.random.default_rng(2)
    inputs = [rng.uniform(-2, 2, (21, length)) for length in program.inputs.values()]
    inputs[0][3, 0] = np.nan
    inputs[0][4, -1] = np.inf
    return inputs


def same_every_way(program, dtype, inputs, expected):
    """The kernels give these bits; states that are not finite stay alone."""
    machine = Machine(program, dtype)
    assert np.isfinite(expected[0][[0, 2, 5]]).all() and np.isnan(expected[0][3]).any()
    for kind in ("single", "batch"):
        for a, b in zip(machine.run(kind, *inputs), expected, strict=True):
            np.testing.assert_array_equal(a, b)  # what is not a number equals itself here
            number = ~np.isnan(b)
            same_bits([a[number]], [b[number]])


def test_rotors_stand_on_the_diagonal_of_a_table(looped):
    """Then a result is not the table itself, and neither is the matrix that is solved with."""
    n = 17
    plain = Chain.random(n, kinds(n), seed=4)
    rotors = np.linspace(1, 2, n)
    joints = zip(plain.joints, rotors.tolist(), strict=True)
    chain = replace(plain, joints=tuple(replace(j, rotor_inertia=r) for j, r in joints))
    state = np.random.default_rng(3).uniform(-1, 1, (3, 5, n))
    program = place_fma(traced(chain, M, LDL))
    machine, bare = Machine(program), Machine(place_fma(traced(plain, M)))
    mass, qdd = machine.run("batch", *state)
    (without,) = bare.run("batch", state[0])
    np.testing.assert_allclose(mass - without, np.diag(rotors) + np.zeros((5, n, n)), atol=1e-11)
    same_bits(machine.run("single", *state), [mass, qdd])
    expected = Robot(chain).forward_dynamics(*state, method="articulated-body")
    np.testing.assert_allclose(qdd, expected, rtol=1e-7, atol=1e-7)


def test_a_table_made_in_a_result_takes_no_memory_besides(looped):
    program = place_fma(traced(Chain.random(20), M))
    writer = llvm.Writer(program, FORMATS["float64"], 1, 4)
    assert list(writer.areas.inside.values()) == [0]


# C -----------------------------------------------------------------------------------------------


@needs_compiler
@pytest.mark.parametrize("fused", [False, True], ids=["plain", "fma"])
@pytest.mark.parametrize("n", [1, 4, 18])
@pytest.mark.parametrize("made", [table_and_solution, same_many_times])
def test_c_equals_the_interpreter_bit_for_bit(made, n, fused, tmp_path, looped):
    program = made(n)
    names = ["T", "x", "y"][: len(program.shapes)]
    function = Function(place_fma(program) if fused else program, "f", names, "double")
    compiled = library(tmp_path, joined([function]))
    for state in states(program, 4):
        found = call(compiled, function, state)
        assert bits(found) == bits(interpreted(function.program, state))


# All the way -------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [20, 26])
def test_a_large_arm_moves_as_the_methods_without_tables_say(n, monkeypatch):
    monkeypatch.setenv("ARMDYN_CACHE_DIR", "")
    robot = Robot(Chain.random(n, kinds(n), seed=1))
    q, qd, tau = np.random.default_rng(5).uniform(-1, 1, (3, 4, n))
    mass = robot.mass_matrix(q)
    np.testing.assert_allclose(mass, robot.mass_matrix(q, method="crba"), rtol=1e-11, atol=1e-11)
    qdd = robot.forward_dynamics(q, qd, tau, method="ldl")
    np.testing.assert_allclose(robot.inverse_dynamics(q, qd, qdd), tau, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("method", [m.name for m in METHODS])
def test_dual_numbers_find_no_table_of_plain_ones(method, monkeypatch):
    # Vectors of the first joint do not depend on q: they are no dual numbers, those after it are.
    chain, task = Chain.random(3, "RPR"), Task("inverse_dynamics_second_derivatives", method)
    arguments = dict.fromkeys(("q", "qd", "qdd"), 3)
    found = []
    for size in (0, LARGE):
        monkeypatch.setattr(tape, "LOOPED", size)
        program = record(lambda *x: formula(chain, float, task)(*x), arguments, "second")
        (state,) = states(program, 1)
        found.append(np.array(evaluate(program, state), float))
    np.testing.assert_allclose(*found, rtol=1e-12, atol=1e-12 * np.abs(found[1]).max())


@pytest.mark.parametrize("used", [False, True], ids=["alone", "used-besides"])
@pytest.mark.parametrize("n", [8, 17])
def test_two_tables_share_a_result_at_its_diagonal(n, used, looped):
    """Each is computed where it is seen, unless its numbers are needed elsewhere too."""

    def both(a, b):
        first, second = products(rows(a), rows(b)), products(rows(b), rows(b))
        return joined_at_diagonal(first, second), [2 * second[1][0]] if used else [a[0]]

    program = place_fma(record(both, {"a": 6 * n, "b": 6 * n}))
    writer = llvm.Writer(program, FORMATS["float64"], 1, 4)
    assert list(writer.areas.shared) == ([] if used else [0])
    inputs = awkward(program)
    expected = Machine(unroll(program)).run("batch", *inputs)
    same_every_way(program, "float64", inputs, expected)
