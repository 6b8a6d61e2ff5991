"""Simulations on a GPU that is none: CuPy's name, a stand-in driver, a simulator of PTX.

The truth is the same simulation on the processor, bit for bit.
"""

import dataclasses
import sys
from contextlib import nullcontext
from importlib import import_module

import numpy as np
import pytest

import armdyn
from armdyn import Chain, Robot, ShapeError, SimulationError, arrays, controllers, trajectories
from armdyn.engine import calls, cuda
from armdyn.simulation import launches, run
from armdyn.simulation import on_gpu as rollouts
from armdyn.simulation.step import Step, StepKernels
from tests import fake_cupy
from tests.fake_cuda import FakeCuda
from tests.fake_cupy import Cupy
from tests.on_simulator import compiled, computed
from tests.test_simulation_limits import MOTION, slider

STEPS, DT = 12, 1e-2
TWO_LINK, PANDA = armdyn.load("two_link"), armdyn.load("panda")
MIXED = Robot(Chain.random(3, "RPR", seed=3))
RNG = np.random.default_rng(0)
TARGETS = RNG.uniform(-1, 1, (4, 2))
PATH = trajectories.quintic([0.0, 0.0], [0.5, 1.0], STEPS * DT)
ROWS, EACH = RNG.uniform(-1, 1, (STEPS, 2)), RNG.uniform(-1, 1, (4, STEPS, 2))
HEAVIER = RNG.uniform(0.8, 1.2, (4, 1)) * TWO_LINK.chain.parameters
LOAD = np.array([1.0, 0.1, 0, 0, 0.2, 0, 0.2, 0, 0, 0.2])
FAR = {"every": 4, "limits": "ignore"}
ROLLED = {"integrator": "rk4", "friction": True, **FAR}


def sweep(*values):
    """What takes longer."""
    return pytest.param(*values, marks=pytest.mark.sweep)


@pytest.fixture(scope="module")
def driver():
    """One for all tests: kernels that were made stay on its devices."""
    with pytest.MonkeyPatch.context() as patch:
        found = FakeCuda(devices=2)
        found.install(patch)
        yield found


@pytest.fixture
def fake(driver):
    driver.launches.clear()
    return driver


@pytest.fixture
def cupy(fake, monkeypatch):
    monkeypatch.setattr(arrays, "_known", {})
    yield fake_cupy.install(monkeypatch, fake)
    sys.modules.pop("armdyn.arrays.cupy", None)
    calls.libraries.pop(Cupy, None)


def named(value):
    """What a test is called by."""
    return "-".join(value) if isinstance(value, dict) else getattr(value, "name", value)


def look_every(monkeypatch, steps):
    """Looks at the motion after so many, here and there."""
    for room in (run, rollouts):
        monkeypatch.setattr(room, "SEGMENT", steps)


def drawn(robot, dtype, *batch):
    return np.random.default_rng(1).uniform(-1, 1, (2, *batch, robot.n)).astype(dtype)


def simulated(robot, q, qd, dtype="float64", **options):
    given = {
        name: x.astype(dtype) if isinstance(x, np.ndarray) else x for name, x in options.items()
    }
    return armdyn.simulate(robot, q, qd, **{"t": STEPS * DT, "dt": DT, **given})


def on_gpu(cupy, robot, q, qd, dtype="float64", **options):
    given = {
        name: cupy.asarray(x, dtype) if isinstance(x, np.ndarray) else x
        for name, x in options.items()
    }
    state = cupy.asarray(q), cupy.asarray(qd)
    return armdyn.simulate(robot, *state, **{"t": STEPS * DT, "dt": DT, **given})


def same(found, expected):
    for name in MOTION:
        one, two = getattr(found, name), getattr(expected, name)
        assert type(one) is Cupy and one.dtype == two.dtype
        np.testing.assert_array_equal(one, two, err_msg=name)
        np.testing.assert_array_equal(np.signbit(one), np.signbit(two), err_msg=name)
    assert found.violations == expected.violations
    assert (found.steps, found.held) == (expected.steps, expected.held)


@pytest.mark.parametrize(
    ("robot", "dtype", "options"),
    [
        (TWO_LINK, "float64", {}),
        (TWO_LINK, "float32", {"friction": True, "tau": np.array([0.5, -0.2])}),
        (TWO_LINK, "float32", {"tau": EACH, "gravity": np.array([0.0, 0, -3])}),
        (TWO_LINK, "float64", {"tau": ROWS, "integrator": "rk4", "every": 4}),
        (TWO_LINK, "float64", {"tau": controllers.computed_torque(PATH, 30, 5)}),
        (TWO_LINK, "float32", {"tau": controllers.pd(PATH, 3, 0.3, rate=20), "every": 3}),
        sweep(TWO_LINK, "float64", {"tau": controllers.pd(TARGETS, 3, 1, 50), "payload": LOAD}),
        sweep(MIXED, "float64", {"tau": controllers.gravity_compensation(), **ROLLED}),
        sweep(PANDA, "float32", {"tau": controllers.gravity_compensation(), **ROLLED}),
    ],
    ids=named,
)
def test_the_bits_are_the_processors(fake, cupy, robot, dtype, options):
    state = drawn(robot, dtype, 2, 2) if options.get("tau") is not EACH else drawn(robot, dtype, 4)
    found = on_gpu(cupy, robot, *state, dtype, **options)
    assert fake.fault is None
    same(found, simulated(robot, *state, dtype, **options))


@pytest.mark.parametrize(
    ("dtype", "options"),
    [
        ("float64", {}),
        ("float64", {"tau": EACH}),
        ("float32", {"tau": controllers.pd_gravity(TARGETS, 30, 5), "friction": True}),
        ("float64", {"tau": controllers.computed_torque(TARGETS, 30, 5)}),
        ("float32", {"tau": controllers.pd(PATH, 30, 5)}),
        ("float64", {"tau": controllers.pd(PATH, 30, 5, rate=100)}),
        sweep("float64", {"parameters": HEAVIER, "tau": controllers.pd_gravity([0, 0], 30, 5)}),
    ],
    ids=named,
)
def test_steps_that_leave_no_row_never_leave_registers(fake, cupy, dtype, options):
    """The bits are those of a run with all rows, and every fourth row is two launches."""
    state = drawn(TWO_LINK, dtype, 4)
    options = {"integrator": "rk4", **options, **FAR}
    found = on_gpu(cupy, TWO_LINK, *state, dtype, **options)
    assert fake.fault is None
    same(found, simulated(TWO_LINK, *state, dtype, **options))
    others = 4 if "tau" in options and not isinstance(options["tau"], np.ndarray) else 2
    assert len(fake.launches) == 2 * STEPS // 4 + others  # which make the first row and the last


def test_a_launch_that_goes_on_from_another_may_read_its_state_twice(fake, cupy, monkeypatch):
    """Light links, whose reciprocals in float32 need care: a state that met one begins again."""
    monkeypatch.setattr(launches, "LONGEST", 2)
    q, qd = drawn(TWO_LINK, "float32", 4)
    light = 1e-37 * TWO_LINK.chain.parameters  # its least inertia is subnormal
    options = {"parameters": light, "integrator": "rk4", **FAR, "every": 8, "t": 16 * DT}
    found = on_gpu(cupy, TWO_LINK, q, qd, "float32", **options)
    assert fake.fault is None
    same(found, simulated(TWO_LINK, q, qd, "float32", **options))


def test_a_rollout_is_one_launch_on_the_device_and_stream_of_its_state(fake, cupy):
    q, qd = drawn(TWO_LINK, "float32", 40)
    on_gpu(cupy, TWO_LINK, q, qd, "float32", integrator="rk4")
    assert len(fake.launches) == 3  # with the accelerations of the first row and of the last
    assert {(launch.device, launch.stream) for launch in fake.launches} == {(1, 17)}


@pytest.mark.parametrize(("share", "count"), [(16, 1), (2**31, 2)])
def test_launches_are_as_long_as_the_card_has_memory_for(fake, cupy, monkeypatch, share, count):
    monkeypatch.setattr(run, "SEGMENT_BYTES", 1)  # of the processor
    monkeypatch.setattr(rollouts, "SHARE", share)
    q, qd = drawn(TWO_LINK, "float64", 4)
    on_gpu(cupy, TWO_LINK, q, qd, integrator="rk4", t=20 * DT)
    assert len(fake.launches) == count + 2  # with those of the first row and of the last


def test_one_state_and_none(cupy, monkeypatch):
    q, qd = drawn(TWO_LINK, "float64")
    same(on_gpu(cupy, TWO_LINK, q, qd), simulated(TWO_LINK, q, qd))
    monkeypatch.setattr(cuda.Driver, "copy", None)  # of nothing there is nothing to copy
    empty = armdyn.simulate(TWO_LINK, cupy.asarray(np.zeros((0, 2))), t=DT, dt=DT)
    assert empty.q.shape == (0, 2, 2)


# Looking at the motion ------------------------------------------------------------------------


@pytest.mark.parametrize("every", [1, 10])
def test_limits_are_reported_as_the_processor_does(cupy, monkeypatch, every):
    """A mass of 2 kg on a spring passes limits of position, speed and effort, in some states."""
    look_every(monkeypatch, 16)  # several looks
    robot = slider(lower=-0.15, upper=0.1, velocity=0.8, effort=11.0)
    start = np.array([[0.0], [0.09], [0.105], [0.14], [-0.2]])
    options = {"tau": controllers.pd([0.0], 100, 0), "t": 0.5, "every": every}
    found = on_gpu(cupy, robot, start, 0 * start, **options)
    expected = simulated(robot, start, 0 * start, **options)
    same(found, expected)
    assert {each.kind for each in found.violations} == {"position", "speed", "effort"}
    assert {each.state for each in found.violations} == {2, 3, 4}


@pytest.mark.parametrize(
    "options", [{}, {"every": 10}, {"every": 10, "limits": "ignore", "integrator": "rk4"}]
)
def test_a_motion_that_diverges_says_when_and_where(cupy, options):
    """Damping of 1e6 / s on a mass in steps of 10 ms; the others of three states are at rest."""
    robot, wild = slider(), controllers.pd([0.0], 0, 2e6)
    start, speed = np.zeros((3, 1)), np.array([[0.0], [1.0], [0.0]])
    options = {"tau": wild, "t": 1.0, **options}
    with pytest.raises(SimulationError) as expected:
        simulated(robot, start, speed, **options)
    with pytest.raises(SimulationError, match="joint 'joint1' of state 1 is no longer") as found:
        on_gpu(cupy, robot, start, speed, **options)
    assert str(found.value) == str(expected.value)
    same(found.value.result, expected.value.result)


@pytest.mark.parametrize("every", [1, sweep(5)])
def test_progress_is_told_and_ctrl_c_leaves_what_was_computed(cupy, monkeypatch, every):
    look_every(monkeypatch, 16)
    q, qd = drawn(TWO_LINK, "float64", 2)
    told, options = [], {"t": 0.4, "integrator": "rk4", "every": every}

    def stop(done, steps):
        told.append((done, steps))
        if done == 32:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as found:
        on_gpu(cupy, TWO_LINK, q, qd, progress=stop, **options)
    assert told == [(16, 40), (32, 40)]
    result = found.value.result
    with pytest.raises(KeyboardInterrupt) as expected:
        simulated(TWO_LINK, q, qd, progress=stop, **options)
    same(result, expected.value.result)
    assert len(result.t) == 31 // every + 1


def test_ctrl_c_comes_through_between_launches_of_steps_without_rows(cupy, monkeypatch):
    """Here with the seventh launch of two steps: in the second row of nine steps each."""
    monkeypatch.setattr(launches, "LONGEST", 2)
    look_every(monkeypatch, 18)
    q, qd = drawn(TWO_LINK, "float64", 2)
    waits = iter(range(1, 100))

    def wait(*_):
        if next(waits) == 7:
            raise KeyboardInterrupt

    options = {"integrator": "rk4", **FAR, "every": 9, "t": 27 * DT}
    expected = simulated(TWO_LINK, q, qd, **options)
    monkeypatch.setattr(cuda.Driver, "wait", wait)
    with pytest.raises(KeyboardInterrupt) as found:
        on_gpu(cupy, TWO_LINK, q, qd, **options)
    result = found.value.result
    assert len(result.t) == 1
    for name in launches.MOTION:
        np.testing.assert_array_equal(getattr(result, name), getattr(expected, name)[:, :1])


# What comes out of it, and what cannot be ------------------------------------------------------


def test_results_are_drawn_saved_and_told_from_the_host(cupy, tmp_path):
    state = drawn(TWO_LINK, "float64", 3)
    found = on_gpu(cupy, TWO_LINK, *state, gravity=np.array([0.0, 0, -2]))
    expected = simulated(TWO_LINK, *state, gravity=np.array([0.0, 0, -2]))
    assert type(found.energy.total) is Cupy
    np.testing.assert_array_equal(found.drift, expected.drift)
    assert found.summary().partition(" in ")[0] == expected.summary().partition(" in ")[0]
    assert TWO_LINK.joint_names[0] in found._repr_html_()
    found.save(tmp_path / "run.npz")
    again = armdyn.simulation.results.Result.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(again.q, expected.q)
    np.testing.assert_array_equal(again.given["gravity"], expected.given["gravity"])
    here = found.numpy()
    assert type(here.q) is np.ndarray and here.numpy() is here


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"integrator": "midpoint"}, "integrator 'midpoint' does not run on a GPU; expected 'ab4'"),
        ({"integrator": "DOP853"}, "integrator 'DOP853' does not run on a GPU; expected 'ab4' or"),
        ({"limits": "stop"}, "limits='stop' does not run on a GPU; expected 'report' or 'ignore'"),
        ({"tau": lambda t, q, qd: 0 * q}, "a function in Python, which does not run on a GPU; exp"),
        ({"client": "a"}, "client is 'a', and q0 lies on a GPU of this machine; expected no cl"),
        ({"tau": np.array([np.nan, 0])}, r"tau is .*nan.*; expected finite numbers"),
        ({"tau": np.zeros((3, 2))}, r"tau has shape \(3, 2\); expected a constant \(2,\) or a row"),
        ({"payload": -LOAD}, "payload: mass -1"),
        ({"t": 1e9}, "takes 6.4 TB of memory; expected at most .* and 2.15 GB"),
    ],
)
def test_what_a_gpu_cannot_do_is_refused(cupy, options, message):
    with pytest.raises(armdyn.ArmdynError, match=message):
        on_gpu(cupy, TWO_LINK, np.zeros(2), np.zeros(2), **options)


def test_wrong_states_are_named(cupy):
    q = cupy.asarray(np.zeros((4, 2)))
    with pytest.raises(SimulationError, match="q0 is .*nan.*; expected finite numbers"):
        armdyn.simulate(TWO_LINK, q * np.nan)
    with pytest.raises(ShapeError, match=r"q0 has shape \(4, 1\); expected \(\.\.\., 2\)"):
        armdyn.simulate(TWO_LINK, q[:, :1])
    with pytest.raises(ShapeError, match=r"batch axes do not broadcast: q0 \(4, 2\), qd0 \(3, 2\)"):
        armdyn.simulate(TWO_LINK, q, q[:3])
    with pytest.raises(ShapeError, match="q0 has dtype complex128; expected real numbers"):
        armdyn.simulate(TWO_LINK, q.astype(complex))
    with pytest.raises(ShapeError, match=r"q0 is a .*Cupy, qd0 is a numpy\.ndarray; expected arra"):
        armdyn.simulate(TWO_LINK, q, np.zeros(2))


# The same with the memory of torch and of JAX ----------------------------------------------------


@pytest.fixture(params=["torch", "jax"])
def room(request, fake, monkeypatch):
    """A library whose arrays in the memory of this process are said to lie on GPU 1."""
    pytest.importorskip(request.param, reason=f"needs {request.param}")
    found = import_module(f"armdyn.arrays.{request.param}")

    class Memory(found.Memory):
        number, stream = 1, 17

        def __init__(self, device):
            self.device = device

        def address(self, array):
            address = super().address(array)
            fake.allow_address(address, array.nbytes, self.number)
            return address

    monkeypatch.setattr(found, "memory", lambda value: Memory(found.device(value)))
    with sys.modules["jax"].enable_x64(True) if request.param == "jax" else nullcontext():
        yield found


@pytest.mark.parametrize(
    ("dtype", "options"),
    [
        ("float32", {"friction": True}),
        ("float64", {"tau": EACH, "gravity": np.array([0.0, 0, -3]), "every": 4}),
        ("float32", {"tau": controllers.pd_gravity(TARGETS, 30, 5), "integrator": "rk4", **FAR}),
        ("float64", {"tau": controllers.pd(PATH, 3, 0.3, rate=20), "every": 3}),
    ],
    ids=named,
)
def test_torch_and_jax_have_the_bits_of_the_processor_too(fake, room, dtype, options):
    q, qd = drawn(TWO_LINK, dtype, 4)
    example = room.Memory.names.zeros(1)
    own = room.of_numpy(q, example), room.of_numpy(qd, example)
    given = {
        name: room.of_numpy(x.astype(dtype), example) if isinstance(x, np.ndarray) else x
        for name, x in options.items()
    }
    found = armdyn.simulate(TWO_LINK, *own, t=STEPS * DT, dt=DT, **given)
    assert fake.fault is None and fake.launches
    expected = simulated(TWO_LINK, q, qd, dtype, **options)
    assert type(found.q) is type(own[0])
    for name in MOTION:
        np.testing.assert_array_equal(np.asarray(getattr(found, name)), getattr(expected, name))


def test_torch_and_jax_report_limits_and_diverge_too(room):
    start = np.array([[0.0], [0.14], [-0.2]])
    own = room.of_numpy(start, room.Memory.names.zeros(1))
    robot = slider(lower=-0.15, upper=0.1, velocity=0.8, effort=11.0)
    options = {"t": 0.5, "dt": DT}
    found = armdyn.simulate(robot, own, tau=controllers.pd([0.0], 100, 0), **options)
    expected = armdyn.simulate(robot, start, tau=controllers.pd([0.0], 100, 0), **options)
    assert found.violations and found.violations == expected.violations
    wild = controllers.pd([0.0], 0, 2e6)
    for more in ({}, {"every": 10, "limits": "ignore", "integrator": "rk4"}):
        with pytest.raises(SimulationError) as expected:
            armdyn.simulate(robot, start, start, wild, t=1.0, dt=DT, **more)
        with pytest.raises(SimulationError) as found:
            armdyn.simulate(robot, own, own, wild, t=1.0, dt=DT, **more)
        assert str(found.value) == str(expected.value)


def test_jax_without_float64_computes_in_float32(fake, room):
    if room.__name__ != "armdyn.arrays.jax":
        pytest.skip("torch has float64")
    jax = sys.modules["jax"]
    with jax.enable_x64(False):
        q = jax.numpy.asarray([[1, 0], [0, 1]])  # whole numbers
        found = armdyn.simulate(TWO_LINK, q, t=STEPS * DT, dt=DT, integrator="rk4")
        traced = jax.jit(
            lambda x: armdyn.simulate(TWO_LINK, q, t=STEPS * DT, dt=DT, integrator="rk4").q + x
        )(0.0)
    expected = simulated(TWO_LINK, np.eye(2, dtype="float32"), None, "float32", integrator="rk4")
    np.testing.assert_array_equal(found.q, expected.q)
    np.testing.assert_array_equal(traced, expected.q)


@pytest.fixture
def under_way(monkeypatch):
    """Copies and launches that nobody has waited for; what the library reads must not be of them.

    JAX has a stream of its own: it knows nothing of what stands on the driver's.
    """
    found = []

    def noted(owner, name, change):
        usual = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *given: change(given) or usual(*given))

    def read(_):
        assert not found

    noted(cuda.Driver, "copy", found.append)
    noted(launches.gpu.March, "launch", found.append)
    noted(cuda.Driver, "wait", lambda _: found.clear())
    noted(rollouts, "is_finite", read)
    noted(launches.IntegrationOnGPU, "_torque_at", read)
    return found


@pytest.mark.parametrize("options", [{}, {"every": 5}, {"every": 5, "limits": "ignore"}])
def test_jax_reads_what_copies_and_launches_have_left(room, monkeypatch, under_way, options):
    if room.__name__ != "armdyn.arrays.jax":
        pytest.skip("torch's own stream has all of it")
    look_every(monkeypatch, 16)

    def fail(done, steps):
        raise ValueError(f"{done} of {steps}")

    own = room.of_numpy(np.zeros((4, 2)), room.Memory.names.zeros(1))
    options = {"t": 0.4, "dt": DT, "integrator": "rk4", **options}
    armdyn.simulate(TWO_LINK, own, **options)
    assert not under_way
    with pytest.raises(ValueError, match="1. of 40"):
        armdyn.simulate(TWO_LINK, own, progress=fail, **options)
    assert not under_way  # for then memory is handed out anew


# Stages of a step in a loop --------------------------------------------------------------------


def rolled(chain, step, dtype, h=0.05, count=300):
    """A whole step and its stages, one after the other: next q and qd of both."""
    whole = StepKernels(chain, step)
    stage = StepKernels(chain, dataclasses.replace(step, method="rk4-stage"))
    rng = np.random.default_rng(0)
    known = {"h": np.full((count, 1), h), "zero": np.full((count, 1), -0.0)}
    for name, length in whole.inputs.items():
        known.setdefault(name.partition("@")[0], rng.uniform(-1, 1, (count, length)))
    known["q"][:9], known["qd"][:9] = 0.0, -0.0
    known = {name: x.astype(dtype) for name, x in known.items()}
    taken = [[known.get(name.partition("@")[0]) for name in code.inputs] for code in (whole, stage)]
    nothing = np.full((count, chain.n), -0.0, dtype)
    state = [*taken[0][:2], *taken[0][:2], nothing, nothing, np.zeros((count, 1), dtype)]
    here = compiled(stage.program, dtype)
    for _ in range(4):
        state = computed(stage.program, dtype, [*state, *taken[1][7:]], here)
    return computed(whole.program, dtype, taken[0])[:2], state[:2]


def has_the_bits_of_its_stages(chain, step, dtype):
    return all(a.tobytes() == b.tobytes() for a, b in zip(*rolled(chain, step, dtype), strict=True))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "step",
    [
        *(Step("rk4", law) for law in (None, "zero", "gravity", "pd", "computed-torque")),
        Step("rk4", "pd-gravity", friction=True),
        Step("rk4", "pd", sampled=True),
        Step("rk4", given=("payload", "gravity")),
    ],
)
def test_a_step_has_the_bits_of_its_stages(step, dtype):
    """Also of a joint that does not move, where a zero has its sign, or has a constant rate."""
    assert has_the_bits_of_its_stages(TWO_LINK.chain.with_friction(0.3, 0.2), step, dtype)
    assert has_the_bits_of_its_stages(Chain.random(4, "RPRP", seed=5), step, dtype)
    for direction in ((0, 0, -9.81), (3.0, 1.0, -2.0), (0, 0, 0)):
        slide = Chain.random(1, "P", seed=1).with_gravity(direction)
        assert has_the_bits_of_its_stages(slide, step, dtype)


@pytest.mark.sweep
@pytest.mark.parametrize("name", armdyn.robots())
def test_steps_of_every_arm_that_ships_have_the_bits_of_their_stages(name):
    for law in ("pd-gravity", "computed-torque"):
        assert has_the_bits_of_its_stages(armdyn.load(name).chain, Step("rk4", law), "float64")
