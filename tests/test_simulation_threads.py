"""Simulated batches on threads: the same bits on any number, and the number that was asked for."""

import numpy as np
import pytest

import armdyn
from armdyn import Chain, Robot, SimulationError, controllers
from armdyn.engine import calls, workers

needs_c = pytest.mark.skipif(not calls.EXTENSION, reason="the C extension is not built")
N, STEPS, DT = 3, 12, 1e-3
ROBOT = Robot(Chain.random(N, "RPR", seed=2))
TORQUES = {
    "none": None,
    "constant": np.array([0.1, -0.2, 0.3]),
    "held": np.random.default_rng(1).normal(size=(STEPS, N)),
    "law": controllers.pd_gravity([0.2, 0.0, 0.5], 20.0, 2.0),
    "sampled": controllers.pd_gravity([0.2, 0.0, 0.5], 20.0, 2.0, rate=200),
    "function": lambda t, q, qd: -q - qd,
}
MOTION = ("q", "qd", "qdd", "tau")


def simulate(torque="none", count=100, dtype=np.float64, **options):
    q0, qd0 = np.random.default_rng(0).normal(size=(count, 2, N)).astype(dtype).swapaxes(0, 1)
    tau = TORQUES[torque]
    tau = tau.astype(dtype) if isinstance(tau, np.ndarray) else tau
    return armdyn.simulate(ROBOT, q0, qd0, tau, t=STEPS * DT, dt=DT, **options)


def same(one, other):
    return all(getattr(one, x).tobytes() == getattr(other, x).tobytes() for x in MOTION)


@pytest.fixture
def eager(monkeypatch):
    """Threads are worth their while for any work; answers with a list of those that were used."""
    used, march = [], calls._call.march
    monkeypatch.setattr(calls, "WORTH_THREADS_IN_C", 0)
    monkeypatch.setattr(calls._call, "march", lambda *x: (used.append(x[-1]), march(*x))[1])
    return used


@needs_c
@pytest.mark.parametrize("integrator", ["ab4", "rk4", "midpoint"])
@pytest.mark.parametrize("torque", TORQUES)
def test_a_motion_has_the_same_bits_on_any_number_of_threads(eager, torque, integrator):
    alone = simulate(torque, integrator=integrator, threads=1)
    for threads in 2, 3, 8:
        assert same(simulate(torque, integrator=integrator, threads=threads), alone)
    few = simulate(torque, count=33, integrator=integrator, threads=2)
    assert few.q.tobytes() == alone.q[:33].tobytes()
    compiled = torque != "function" or integrator == "midpoint"
    assert set(eager) == ({1, 2, 3, 8} if compiled else set())


@needs_c
@pytest.mark.parametrize("count", [1, 2, 15, 16, 17, 1023, 1025, 3000])
def test_batches_of_any_size_in_float32(eager, count):
    alone = simulate("law", count, np.float32, threads=1)
    assert same(simulate("law", count, np.float32, threads=3), alone)


@needs_c
@pytest.mark.parametrize("integrator", ["ab4", "rk4", "midpoint"])
@pytest.mark.parametrize("torque", ["law", "sampled"])
@pytest.mark.parametrize("count", [1, 40, 1500])
def test_without_the_extension_a_motion_has_the_same_bits(monkeypatch, torque, integrator, count):
    in_c = simulate(torque, count, integrator=integrator)
    monkeypatch.setattr(calls, "EXTENSION", False)
    assert same(simulate(torque, count, integrator=integrator), in_c)


@needs_c
def test_the_number_of_threads_is_that_asked_for_or_the_environments(eager, monkeypatch):
    def used(**options):
        eager.clear()
        simulate(**options)
        return set(eager)

    monkeypatch.setattr(workers, "cores", lambda: 3)
    monkeypatch.delenv("ARMDYN_NUM_THREADS", raising=False)
    assert used() == used(threads=None) == {3}
    assert used(threads=2) == {2}
    monkeypatch.setenv("ARMDYN_NUM_THREADS", "1")
    assert used() == {1}
    assert used(threads=2) == {2}
    monkeypatch.setattr(calls, "WORTH_THREADS_IN_C", 1e12)  # would not pay
    assert used(threads=2) == {1}


def test_a_simulation_leaves_the_default_as_it_was():
    before = workers.default_threads()
    seen = []
    TORQUES["watching"] = lambda t, q, qd: (seen.append(workers.default_threads()), -q)[1]
    try:
        simulate("watching", threads=before + 3)
    finally:
        del TORQUES["watching"]
    assert set(seen) == {before + 3}
    assert workers.default_threads() == before


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "2"], ids=repr)
def test_a_number_of_threads_that_is_none_is_refused(wrong):
    with pytest.raises(SimulationError, match="threads is .*; expected a whole number"):
        simulate(threads=wrong)
