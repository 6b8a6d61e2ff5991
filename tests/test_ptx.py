"""PTX of programs, executed by the simulator: the bits of the processor, and no fault."""

import re

import numpy as np
import pytest

import armdyn
from armdyn import Chain
from armdyn.engine import Compilation, derived, ptx
from armdyn.engine.derived import Derived
from armdyn.program import pages, passes, tape
from armdyn.program import ptx as program_ptx
from armdyn.program.fma import place_fma
from armdyn.program.ptx import module
from armdyn.program.sincos import DOUBLE, FLOAT
from armdyn.program.tape import record, sqrt
from armdyn.quantities import QUANTITIES
from armdyn.quantities.tasks import Task
from armdyn.spatial import select_lt, sincos
from armdyn.spatial.matrices import solution
from tests.on_simulator import LIMIT, computed, same_bits, simulated, states
from tests.ptx_simulator import Fault
from tests.test_tables import same_many_times, table_and_solution

DTYPES = ("float32", "float64")
SMALLEST = ptx.LIMITS[0]
THREE_PAGES = 9000  # bytes in which 40 numbers have three pages or more
ALIKE = ("kinova", "xarm7", "ur3", "ur10")  # as panda and ur5 are, on which all is executed
A_FEW = [
    *(("panda", "mass_matrix"), ("panda", "inverse_dynamics"), ("panda", "pose")),
    *(("stanford", "forward_dynamics"), ("two_link", "christoffel"), ("scara", "energy")),
    ("panda", "forward_dynamics"),  # whose threads take several states, in float32
]


def asked(arm, quantity):
    return Compilation(armdyn.load(arm).chain, [Task(quantity)]).program


def check(program, dtype, count=70, limit=LIMIT):
    inputs = states(program, dtype, count)
    same_bits(simulated(program, dtype, inputs, limit), computed(program, dtype, inputs))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("arm", "quantity"), A_FEW)
def test_a_quantity_has_the_bits_of_the_processor(arm, quantity, dtype):
    check(asked(arm, quantity), dtype)


@pytest.mark.sweep
@pytest.mark.parametrize("arm", armdyn.robots())
def test_every_quantity_has_the_bits_of_the_processor(arm):
    missing = ["operational_space_inertia"] if arm in ("scara", "two_link") else []
    for k, quantity in enumerate(q for q in QUANTITIES if q not in missing):
        program, dtype = asked(arm, quantity), DTYPES[(k + len(arm)) % 2]
        if "derivative" in quantity and arm in ALIKE:
            ptx.compile(program, dtype, LIMIT)  # which verifies it
        else:
            check(program, dtype, count=40)


def test_fused_functions_and_derivatives_have_the_bits_of_the_processor():
    chain = Chain.random(3, "RPR")
    check(Compilation(chain, [Task("pose"), Task("gravity"), Task("energy")]).program, "float32")
    vjp = derived._Kernels(chain, Derived("vjp", Task("bias"), ("q", "qd")))
    check(vjp.program, "float64")


def operations(x, y):
    s, c = sincos(x[0] * y[0])
    deeper, _ = sincos(s * 1e9)
    least = select_lt(x[1], y[1], x[1], y[1])
    return [x[0] / y[0], sqrt(x[1]), least, -x[2], x[0] * y[1] + x[2], s, c, deeper, 2.5, y[2]]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_operation_has_the_bits_of_the_processor(dtype):
    check(place_fma(record(operations, {"x": 3, "y": 3})), dtype, count=200)


@pytest.mark.parametrize("made", [table_and_solution, same_many_times])
@pytest.mark.parametrize(("dtype", "n"), [("float32", 5), ("float64", 9)])
def test_tables_are_computed_by_loops_to_the_same_bits(monkeypatch, dtype, n, made):
    monkeypatch.setattr(tape, "LOOPED", 0)
    monkeypatch.setattr(passes, "BRIEF", 0)
    program = place_fma(made(n))
    assert "alloca" in module(program, dtype, LIMIT).text
    check(program, dtype, count=40)


UNUSUAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-39, 2.0**-126, 2.0**126, -3e38]


def test_reciprocals_of_unusual_numbers_are_computed_with_care():
    program = record(lambda x, y: [1 / x[0] + y[0], 1 / x[1]], {"x": 2, "y": 1})
    usual = np.geomspace(2.0**-125, 2.0**125, 90).reshape(45, 2).astype(np.float32)
    mixed = usual.copy()
    mixed[3 : 3 + len(UNUSUAL), 0] = mixed[20 : 20 + len(UNUSUAL), 1] = UNUSUAL
    texts = []
    for x in (usual, mixed):
        inputs = [x, np.ones((45, 1), np.float32)]
        found = simulated(program, "float32", inputs, change=lambda t: texts.append(t) or t)
        same_bits(found, computed(program, "float32", inputs))
    assert "rcp.approx.ftz.f32" in texts[0]
    without = re.sub(r"call\.uni careful", "// ", texts[0])
    with pytest.raises(AssertionError, match="differ"):
        same_bits(simulated(program, "float32", inputs, change=lambda _: without), found)


# Rows of any kind ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [1, 7, 8, 9, 12, 14, 33])
def test_rows_of_any_width_lie_anywhere_and_are_as_many_as_there_are(width, dtype):
    program = record(lambda q: [x + 1 for x in q[::-1]], {"q": width})
    for count, off in [(1, 0), (31, 1), (32, 2), (33, 3), (64, 4), (95, 0)]:
        (q,) = states(program, dtype, count)
        (found,) = simulated(program, dtype, [q], off=off)
        np.testing.assert_array_equal(found, q[:, ::-1] + 1)


def test_a_row_may_serve_all_states_and_rows_may_lie_apart():
    program = record(lambda q, r: [a - b for a, b in zip(q, r, strict=True)], {"q": 3, "r": 3})
    wide = np.arange(5 * 40.0).reshape(40, 5)
    one = np.broadcast_to(np.array([1.0, 2.0, 4.0]), (40, 3))
    (found,) = simulated(program, "float64", [wide[:, :3], one])
    np.testing.assert_array_equal(found, wide[:, :3] - one)


def test_rows_are_fetched_ahead_as_far_as_there_are_any(monkeypatch):
    dtype = "float32"
    monkeypatch.setattr(program_ptx, "AHEAD", 1)
    monkeypatch.setattr(pages, "SHORT", 0)
    program = record(lambda q, r: [a - b for a, b in zip(q, r, strict=True)], {"q": 9, "r": 9})
    inputs = states(program, dtype, 75)
    texts = []
    found = simulated(program, dtype, inputs, change=lambda text: texts.append(text) or text)
    same_bits(found, computed(program, dtype, inputs))
    assert texts[0].count("prefetch.global.L2") == 2 * -(-9 * inputs[0].itemsize // 32)
    guard = r"setp\.ge\.u64[^;]*;\s*@%p\d+ bra[^;]*;(?=(?:(?!setp).)*prefetch)"
    always, changed = re.subn(guard, "", texts[0], flags=re.S)
    assert changed == 1
    with pytest.raises(Fault, match="not allowed"):
        simulated(program, dtype, inputs, change=lambda _: always)


@pytest.mark.parametrize("dtype", DTYPES)
def test_wide_rows_go_page_by_page(dtype):
    program = asked("two_link", "regressor")
    for limit in (THREE_PAGES, SMALLEST):
        found = pages.pages([40], 0, {"float32": FLOAT, "float64": DOUBLE}[dtype], limit)
        assert (len(found) > 2) == (limit == THREE_PAGES)
        check(program, dtype, count=45, limit=limit)


@pytest.mark.parametrize("off", range(4))
def test_pages_of_odd_rows_lie_anywhere(off):
    program = record(lambda q: [x + 1 for x in q[::-1]], {"q": 71})
    (q,) = states(program, "float32", 37)
    (found,) = simulated(program, "float32", [q], limit=THREE_PAGES, off=off)
    np.testing.assert_array_equal(found, q[:, ::-1] + 1)


def test_a_page_waits_for_nothing_that_later_ones_need_alone():
    """Results of the first page come last in the program, deeper sines among what others need."""

    def text(q):
        a = [sincos(x * x)[0] for x in q]
        b = [sincos(x + y)[1] for x, y in zip(a, q, strict=True)]
        return [*b, *a] + [x + 1 for x in a]

    check(place_fma(record(text, {"q": 12})), "float32", count=40, limit=THREE_PAGES)


def test_pages_hold_every_column_once_and_no_more_than_there_is_room():
    for form, straight in ((FLOAT, 2), (FLOAT, 8), (DOUBLE, 0)):
        number = 32 * form.bits // 8
        for sizes in ([490], [49, 7, 3], [9, 343, 16, 1], [200, 200, 200]):
            for limit in ptx.LIMITS:
                found = pages.pages(sizes, straight, form, limit)
                assert pages.shared_bytes(found, form) <= limit
                columns = [(p.result, c) for page in found for p in page for c in range(*p[1:3])]
                staged = [k for k, size in enumerate(sizes) if size > straight]
                assert columns == [(k, c) for k in staged for c in range(sizes[k])]
                for page in found:
                    ends = [p.offset + (p.end - p.start) * number for p in page]
                    assert [p.offset for p in page] == [0, *ends[:-1]]


# What must not be ---------------------------------------------------------------------------------


def less(text, number):
    """The text without one of its barriers."""
    start = [found.start() for found in re.finditer("bar.warp.sync", text)][number]
    return text[:start] + text[text.index(";", start) + 1 :]


def test_every_barrier_is_missed_when_it_is_not_there():
    program = asked("two_link", "regressor")
    inputs = states(program, "float32", 40)
    texts = []
    simulated(program, "float32", inputs, THREE_PAGES, lambda text: texts.append(text) or text)
    barriers = texts[0].count("bar.warp.sync")
    assert barriers > 4
    for number in range(barriers):
        with pytest.raises(Fault, match="race"):
            simulated(program, "float32", inputs, THREE_PAGES, lambda text, k=number: less(text, k))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ((r"st\.global\.[bf]32", "st.global.b64"), "multiple|allowed"),
        ((r"add\.rn\.f32", "add.f32"), "may be fused"),
    ],
)
def test_the_simulator_notices_what_a_gpu_must_not_do(change, fault):
    program = record(lambda q: [q[0] + q[1]], {"q": 2})
    (q,) = states(program, "float32", 33)
    with pytest.raises(Fault, match=fault):
        simulated(program, "float32", [q], change=lambda text: re.sub(*change, text))


def test_a_state_beyond_the_arrays_is_a_fault():
    program = record(lambda q: [q[0] + q[1]], {"q": 2})
    (q,) = states(program, "float32", 33)
    with pytest.raises(Fault, match="not allowed"):
        simulated(program, "float32", [q], more=1)


def test_a_barrier_that_some_threads_do_not_reach_is_a_fault():
    program = record(lambda q: [q[0] + k for k in range(9)], {"q": 1})
    (q,) = states(program, "float32", 32)

    def change(text):
        first = "mov.u32 \t%r1, %tid.x;"
        assert first in text
        away = "setp.lt.s32 \t%p99, %r1, 3;\n\t@%p99 bra \t$L__away;"
        return text.replace("bar.warp.sync", f"{away}\n\tbar.warp.sync").replace(
            "ret;", "$L__away:\n\tret;"
        )

    with pytest.raises(Fault, match="barrier"):
        simulated(program, "float32", [q], change=change)


def test_only_wide_float32_kernels_with_little_shared_memory_have_a_limit_of_registers():
    def limited(arm, quantity, dtype):
        return b".maxnreg 128" in ptx.compile(asked(arm, quantity), dtype, LIMIT)

    assert limited("two_link", "regressor", "float32")
    assert not limited("two_link", "regressor", "float64")
    assert not limited("two_link", "forward_dynamics", "float32")


def test_threads_of_long_narrow_float32_kernels_take_several_states():
    def takes_several(arm, quantity, dtype):
        return ptx.takes_several(ptx.compile(asked(arm, quantity), dtype, LIMIT))

    assert takes_several("panda", "forward_dynamics", "float32")
    assert not takes_several("panda", "forward_dynamics", "float64")
    assert not takes_several("panda", "gravity", "float32")
    assert not takes_several("panda", "coriolis_matrix", "float32")


def long_and_narrow(q, r):
    """A few results of many operations, reciprocals and sines among them."""
    total, (s, c) = 0, sincos(q[0])
    for k in range(800):
        total = total * q[k % 3] + (s if k % 2 else c)
    return [total, 1 / (total + r[0]), q[2]], [r[1]]


def with_a_table(q, r):
    """The same with a triangular solution, whose numbers lie in a scratch array."""
    (a, b, c), (d,) = long_and_narrow(q, r)
    M = [[q[i % 3] * q[j % 3] + 30 * (i == j) for j in range(16)] for i in range(16)]
    return [], [a, b, c, solution(a, M, [*q, *[d] * 13])[15]], [d]


@pytest.mark.parametrize("function", [long_and_narrow, with_a_table])
@pytest.mark.parametrize("count", [1, 31, 33, 64, 65, 97, 200])
def test_each_state_has_its_turn(count, function):
    """Also where a row of an argument serves all states, and where a result is empty."""
    program = place_fma(record(function, {"q": 3, "r": 2}))
    q, r = states(program, "float32", count)
    assert module(program, "float32", LIMIT).several
    for given in ([q, r], [q, np.broadcast_to(r[:1], r.shape)]):
        found = simulated(program, "float32", given)
        same_bits(found, computed(program, "float32", given))


@pytest.mark.parametrize("dtype", DTYPES)
def test_results_may_be_constants_or_arguments(dtype):
    program = record(lambda q, r: ([1.5] * 9, [q[1], 0.0], [2.0, *r]), {"q": 2, "r": 9})
    q, r = states(program, dtype, 33)
    ones, few, many = simulated(program, dtype, [q, r])
    np.testing.assert_array_equal(ones, np.full((33, 9), 1.5))
    np.testing.assert_array_equal(few, np.column_stack([q[:, 1], np.zeros(33)]))
    np.testing.assert_array_equal(many, np.column_stack([np.full(33, 2.0), r]))
