"""Functions that users record: by the public door, compiled, cached, refused."""

import ast
import importlib
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn import TraceError, engine
from armdyn.algorithms import catalogue
from armdyn.engine import cache, recorded
from armdyn.program import evaluate, jacobian, jvp, record, sqrt, tape, vjp
from armdyn.program.program import Op
from armdyn.spatial import Vector, select_lt, sincos
from armdyn.spatial.matrices import products, solve

SIZES = {"x": 3, "p": 2}


def function(x, p):
    """A bit of everything, on any scalar."""
    (s, c), length = sincos(x[0]), sqrt(x[1] * x[1] + x[2] * x[2] + 1)
    return [[p[0] * c, s / length], [select_lt(x[1], 0, -x[1], p[1]), 2.0]], length


def drawn(program, *batch, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(*batch, n)) for n in program.inputs.values()]


@pytest.mark.parametrize("derive", [None, jvp, vjp, jacobian])
def test_a_recorded_function_and_its_derivatives_run_compiled(derive):
    program = record(function, SIZES, "mine")
    program = program if derive is None else derive(program)
    f = armdyn.compile(program)
    assert f.name == program.name and f.arguments == tuple(program.inputs)
    assert f.shapes == program.shapes and f.takes == tuple((n,) for n in program.inputs.values())
    for batch in ((), (3,), (2, 40)):
        values = drawn(program, *batch)
        found = f(*values)
        columns = {
            name: list(np.moveaxis(x, -1, 0)) if batch else x.tolist()
            for name, x in zip(program.inputs, values, strict=True)
        }
        for one, right, shape in zip(
            found, evaluate(program, columns), program.shapes, strict=True
        ):
            right = np.array(right, dtype=float)
            right = np.moveaxis(right, range(len(shape)), range(-len(shape), 0))
            np.testing.assert_allclose(one, right, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("derive", [jvp, vjp, jacobian])
def test_derivatives_of_loops_run_compiled(derive, monkeypatch):
    """Tables of products and triangular solutions, which on large arms are loops."""
    monkeypatch.setattr(tape, "LOOPED", 0)

    def coupled(x, y):
        rows = [[Vector(*x[k : k + 3])] for k in (0, 3, 6)]
        T = products(rows, rows)
        return solve([[T[i][j] + (3 if i == j else 0) for j in range(3)] for i in range(3)], y)

    program = derive(record(coupled, {"x": 9, "y": 3}))
    assert {Op.PRODUCTS, Op.SOLUTION} <= {op for op, _, _ in program.instructions}
    values = drawn(program, 20)
    found = armdyn.compile(program)(*values)
    several = found if isinstance(found, tuple) else (found,)
    for i in (0, 7, 19):
        state = {name: x[i].tolist() for name, x in zip(program.inputs, values, strict=True)}
        expected = evaluate(program, state)
        for one, right in zip(several, expected if len(several) > 1 else [expected], strict=True):
            np.testing.assert_allclose(one[i], right, rtol=0, atol=1e-13 * np.abs(right).max())


def test_it_is_the_function_itself_on_floats():
    program = record(function, SIZES)
    x, p = ([1.0, -2.0, 0.5], [3.0, 4.0])
    found = armdyn.compile(program)(x, p)
    for one, right in zip(found, function(x, p), strict=True):
        np.testing.assert_allclose(one, right, rtol=1e-15)


def test_a_function_made_of_an_arms_dynamics():
    """The power that a motion takes, by a method of the catalogue, and its gradient."""
    robot = armdyn.load("puma560")
    method = catalogue.find("inverse_dynamics", "newton-euler")
    arm = robot.chain.on(float, method.view)

    def power(q, qd, qdd):
        torques = method.function(arm, q, qd, qdd)
        return sum(t * v for t, v in zip(torques, qd, strict=True))

    program = record(power, dict.fromkeys(("q", "qd", "qdd"), 6), "power")
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 10, 6))
    rotors = np.array([joint.rotor_inertia for joint in robot.chain.joints])
    tau = robot.inverse_dynamics(q, qd, qdd) - rotors * qdd
    np.testing.assert_allclose(armdyn.compile(program)(q, qd, qdd), (tau * qd).sum(-1), rtol=1e-11)
    by_qdd = armdyn.compile(vjp(program, "qdd"))(q, qd, qdd, np.ones((10, 1)))
    M = robot.mass_matrix(q) - np.diag(rotors)
    np.testing.assert_allclose(by_qdd, np.einsum("bij,bj->bi", M, qd), rtol=1e-10, atol=1e-10)


def test_code_is_kept_on_the_disk_by_the_program(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMDYN_CACHE_DIR", str(tmp_path))
    compiled = []
    inner = engine.jit.compile
    monkeypatch.setattr(engine.jit, "compile", lambda *a: compiled.append(a) or inner(*a))

    def scaled(by):
        return record(lambda x: [by * x[0]], {"x": 1}, "scaled")

    for by, new in ((3.0, 1), (3.0, 0), (5.0, 1), (3.0, 0)):
        before = len(compiled)
        assert armdyn.compile(scaled(by))([2.0]) == [2 * by]
        assert len(compiled) - before == new
    assert cache.directory() is not None


def test_what_cannot_be_compiled_is_refused():
    with pytest.raises(TraceError, match="compile takes a Program, not function; see record"):
        armdyn.compile(function)
    deep = record(lambda x: [[[[[x[0]]]]]], {"x": 1}, "deep")
    many = record(lambda *x: x[0], {f"x{k}": 1 for k in range(17)}, "many")
    none = record(lambda: [1.0], {}, "none")
    for program, message in (
        (deep, "deep has 1 arguments and 1 results of up to 5 axes; expected .* up to 4"),
        (many, "many has 17 arguments.*expected 1 to 16"),
        (none, "none has 0 arguments"),
    ):
        with pytest.raises(TraceError, match=message):
            armdyn.compile(program)


def test_the_limit_of_axes_is_that_of_the_extension():
    header = (Path(engine.__file__).parent / "_rows.h").read_text(encoding="utf-8")
    assert f"#define MAX_RANK {recorded.MOST_AXES} " in header


def test_the_room_lists_what_it_offers():
    room = importlib.import_module("armdyn.program")
    assert {"evaluate", "jacobian", "jvp", "record", "sqrt", "vjp"} == set(room.__all__)
    for name in room.__all__:
        assert getattr(room, name).__doc__
    with pytest.raises(AttributeError, match="module 'armdyn.program' has no attribute 'jpv'"):
        _ = room.jpv
    tree = ast.parse(Path(room.__file__).read_text(encoding="utf-8"))
    told = {
        alias.name: statement.module.removeprefix("armdyn.program.")
        for branch in tree.body
        if isinstance(branch, ast.If) and isinstance(branch.test, ast.Name)
        for statement in branch.body
        for alias in statement.names
    }
    assert told == room._HOMES
