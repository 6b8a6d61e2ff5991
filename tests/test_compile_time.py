"""A program that takes long to compile says so, and one that takes too long is refused."""

import logging

import numpy as np
import pytest

import armdyn
from armdyn import Chain, MethodError, Robot
from armdyn.engine import jit
from armdyn.program.program import Instruction, Op, Program


def powers(count):
    """A program of so many instructions besides its input, and as many results."""
    code = [Instruction(Op.INPUT, (), "x[0]")]
    code += [Instruction(Op.MUL, (k, 0)) for k in range(count)]
    return Program("powers", {"x": 1}, tuple(code), tuple(range(1, count + 1)), ((count,),))


def test_a_program_that_takes_too_long_is_refused():
    """Before it is compiled: this one would take minutes."""
    with pytest.raises(
        MethodError, match="powers: 500001 instructions and 500000 numbers"
    ) as found:
        jit.compile(powers(500_000), "batch", "float64")
    for part in ("about 185 s", "at most 120 s", "method=", "ARMDYN_COMPILE_SECONDS"):
        assert part in str(found.value)


def test_the_limit_can_be_set(monkeypatch, caplog):
    program = powers(40_000)
    monkeypatch.setenv("ARMDYN_COMPILE_SECONDS", "6")
    with pytest.raises(MethodError, match="about 15 s .* at most 6 s"):
        jit.check_size(program, "batch")
    monkeypatch.setenv("ARMDYN_COMPILE_SECONDS", "20.5")
    with caplog.at_level(logging.WARNING, "armdyn"):
        jit.check_size(program, "single")
        jit.check_size(program, "batch")
    assert [line.split(" store ")[1] for line in caplog.messages] == [
        "take about 7 s to compile",
        "take about 15 s to compile",
    ]


@pytest.mark.parametrize("seconds", ["soon", "0", "-3", "nan"])
def test_a_limit_that_is_none_is_named(monkeypatch, seconds):
    monkeypatch.setenv("ARMDYN_COMPILE_SECONDS", seconds)
    with pytest.raises(armdyn.ArmdynError, match=f"ARMDYN_COMPILE_SECONDS is '{seconds}'"):
        jit.check_size(powers(40_000), "batch")


def test_a_robots_function_is_refused_by_name(monkeypatch):
    monkeypatch.setattr(jit, "LONG", 0)
    monkeypatch.setenv("ARMDYN_COMPILE_SECONDS", "1e-3")
    monkeypatch.setenv("ARMDYN_CACHE_DIR", "")
    with pytest.raises(
        MethodError, match="christoffel: .* instructions and 18 numbers to store would take"
    ):
        Robot(Chain.random(3, seed=31)).christoffel(np.zeros(3))


def test_arms_that_ship_compile_in_silence(caplog, monkeypatch):
    monkeypatch.setenv("ARMDYN_CACHE_DIR", "")
    arm = armdyn.load("panda")
    with caplog.at_level(logging.WARNING, "armdyn"):
        arm.christoffel(np.zeros((2, arm.n)))
    assert not caplog.messages
