"""torch's tensors in, tensors out: every quantity, gradients, torch.func and torch.compile."""

import functools
import sys
import weakref

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch (CPU: 190 MB to fetch, 750 MB on disk)")

from armdyn import Chain, DeviceError, ModelError, Robot, ShapeError  # noqa: E402
from armdyn.arrays import cuda  # noqa: E402
from armdyn.arrays import torch as room  # noqa: E402
from armdyn.engine import calls, gpu, traced  # noqa: E402
from armdyn.engine import cuda as cuda_driver  # noqa: E402
from armdyn.quantities import QUANTITIES  # noqa: E402
from armdyn.quantities.tasks import quantities_of  # noqa: E402
from armdyn.robot import compiled  # noqa: E402
from tests import fake_gpu  # noqa: E402
from tests.arms import with_rotors  # noqa: E402
from tests.fake_cuda import FakeCuda  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script`:DeprecationWarning")  # torch's
ROBOT = Robot(with_rotors(Chain.random(2, "RP", seed=3)))
SIX = Robot(Chain.random(6, seed=1))
RNG = np.random.default_rng(0)
STATE = dict(zip(("q", "qd", "qdd", "tau"), RNG.normal(size=(4, 3, 2)), strict=True))
LOAD = [1.0, 0.1, 0, 0, 0.2, 0, 0.2, 0, 0, 0.2]
quantities = pytest.mark.parametrize("quantity", quantities_of(ROBOT.chain))


def arrays_of(quantity):
    return [STATE[name] for name in QUANTITIES[quantity].arguments]


def tensors_of(quantity, **options):
    return [torch.tensor(x, **options) for x in arrays_of(quantity)]


def several(results):
    return results if isinstance(results, tuple) else (results,)


# Answers ------------------------------------------------------------------------------------------


@quantities
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("rows", [slice(None), 0], ids=["batch", "single"])
def test_every_quantity_has_numpys_bits(quantity, dtype, rows):
    function = getattr(ROBOT, quantity)
    given = [x[rows].astype(dtype) for x in arrays_of(quantity)]
    found, expected = function(*map(torch.tensor, given)), function(*given)
    assert isinstance(found, tuple) == isinstance(expected, tuple)
    for tensor, array in zip(several(found), several(expected), strict=True):
        assert type(tensor) is torch.Tensor and tensor.dtype is getattr(torch, dtype)
        assert np.array_equal(tensor.numpy(), array) and tensor.shape == np.shape(array)


def test_tensors_of_any_layout_are_read_where_they_lie():
    q = torch.tensor(RNG.normal(size=(2, 8)))[:, ::4].T[:, :]
    assert not q.is_contiguous()
    found = ROBOT.mass_matrix(q)
    assert np.array_equal(found.numpy(), ROBOT.mass_matrix(q.numpy()))
    lazily_negative = torch.complex(q, q).conj().imag
    assert lazily_negative.is_neg()
    assert np.array_equal(ROBOT.gravity(lazily_negative), ROBOT.gravity(-q.numpy()))


def test_results_of_calls_do_not_share_memory():
    q = torch.tensor(STATE["q"][0])
    first = ROBOT.mass_matrix(q)
    kept = first.clone()
    ROBOT.mass_matrix(q + 1)
    assert torch.equal(first, kept)


@pytest.mark.parametrize("quantity", ["gravity", "energy"])
def test_calls_leave_nothing_behind(quantity):
    function, tensors = getattr(ROBOT, quantity), tensors_of(quantity)
    held = function, *tensors
    for given in (tensors, [x[0] for x in tensors], [x[:, :1] for x in tensors]):
        before = [sys.getrefcount(each) for each in held]
        for _ in range(100):
            try:
                found = several(function(*given))
            except ShapeError:
                continue
            died = [weakref.ref(each) for each in found]
            del found
            assert not any(each() is not None for each in died)
        assert [sys.getrefcount(each) for each in held] == before


def test_plain_tensors_are_exchanged_in_c():
    if room.exchanged is None:
        pytest.skip("torch exchanges tensors in C since 2.10, where the C extension is built")
    q = torch.tensor(STATE["q"])
    function = ROBOT.gravity
    function(q)
    taken = functools.partial(room.exchanged, function, room.API)
    assert torch.equal(taken((q,)), function(q))
    other = torch.nn.Parameter(q, requires_grad=False)
    for refused in (
        q.T,
        q[:, ::2],
        q.half(),
        q.int(),
        q[:, :1],
        q[:0],
        q.to("meta"),
        q.to_sparse(),
    ):
        assert taken((refused,)) is NotImplemented
    for refused in (q.clone().requires_grad_(), torch._neg_view(q), q.to("meta"), q.to_sparse()):
        assert taken((refused,)) is NotImplemented
    pair = functools.partial(room.exchanged, ROBOT.bias, room.API)
    ROBOT.bias(q, q)
    for refused in ((q, q[0]), (q, q.float()), (q, other), (q[:2], q), (q,)):
        assert pair(refused) is NotImplemented
    assert room.exchanged(None, room.API, (q,)) is NotImplemented
    with pytest.raises(TypeError, match=r"exchanged\(function, api, values\)"):
        room.exchanged(function, room.API)
    with pytest.raises(ValueError, match="PyCapsule"):
        room.exchanged(function, 3, (q,))


def test_integers_halves_and_mixed_types_are_computed_in_float64():
    q = torch.tensor(STATE["q"], dtype=torch.bfloat16)
    expected = ROBOT.bias(q.to(torch.float64).numpy(), np.ones(2))
    for qd in (torch.ones(2, dtype=torch.int64), torch.ones(2), torch.ones(2).half(), [1, 1]):
        if isinstance(qd, list):
            found = ROBOT.bias(q.to(torch.float64), qd)
        else:
            found = ROBOT.bias(q, qd)
        assert found.dtype is torch.float64
        assert np.array_equal(found.numpy(), expected)


def test_functions_derivatives_and_arguments_at_the_call():
    q, qd = (torch.tensor(STATE[name]) for name in ("q", "qd"))
    fused = ROBOT.function("mass_matrix", "bias")
    for tensor, array in zip(fused(q, qd), fused(q.numpy(), qd.numpy()), strict=True):
        assert np.array_equal(tensor.numpy(), array)
    slope = ROBOT.derivative("gravity", "q")
    assert np.array_equal(slope(q), slope(q.numpy()))
    found = ROBOT.bias(q, qd, payload=torch.tensor(LOAD), gravity=[0, 0, 1], payload_frame=None)
    expected = ROBOT.bias(q.numpy(), qd.numpy(), payload=np.array(LOAD), gravity=[0, 0, 1])
    np.testing.assert_allclose(found, expected, rtol=1e-6)  # the payload was float32
    with pytest.raises(ModelError, match="payload: mass -1"):
        ROBOT.bias(q, qd, payload=-torch.tensor(LOAD, requires_grad=True))
    frame = ROBOT.pose(q, "link1"), ROBOT.pose(q.numpy(), "link1")
    assert np.array_equal(*frame)
    assert np.array_equal(ROBOT.mass_matrix(q, threads=2), ROBOT.mass_matrix(q.numpy()))


def test_out_takes_the_result():
    q = torch.tensor(STATE["q"])
    out = torch.empty(3, 2, 2, dtype=torch.float64)
    assert ROBOT.mass_matrix(q, out=out) is out
    assert np.array_equal(out.numpy(), ROBOT.mass_matrix(STATE["q"]))
    pair = torch.empty(3, dtype=torch.float64), torch.empty(3, dtype=torch.float64)
    assert ROBOT.energy(q, q, out=pair) is pair
    assert np.array_equal(pair[0], ROBOT.energy(STATE["q"], STATE["q"])[0])
    with pytest.raises(ShapeError, match="requires its gradient; expected no out"):
        ROBOT.mass_matrix(q.clone().requires_grad_(), out=out)
    with pytest.raises(ShapeError, match="out has 1 tensors; expected 2"):
        ROBOT.energy(q, q, out=pair[:1])
    low = torch.empty(3, 2, 2, dtype=torch.bfloat16)  # a copy of which would be written to
    with pytest.raises(ShapeError, match="out is torch.bfloat16; expected float32 or float64"):
        ROBOT.mass_matrix(q.to(torch.bfloat16), out=low)
    with pytest.raises(ShapeError, match="out is array.* expected a tensor"):
        ROBOT.mass_matrix(q, out=np.empty((3, 2, 2)))
    with pytest.raises(ShapeError, match=r"out is float64 \(3, 2\); expected a float64"):
        ROBOT.mass_matrix(q, out=torch.empty(3, 2, dtype=torch.float64))


def test_what_does_not_go_together_is_named():
    q = torch.tensor(STATE["q"])
    with pytest.raises(ShapeError, match=r"q is a torch\.Tensor, qd is a numpy\.ndarray; expected"):
        ROBOT.bias(q, STATE["qd"])
    with pytest.raises(ShapeError, match="q is on cpu, qd is on meta; expected arrays on one dev"):
        ROBOT.bias(q, q.to("meta"))
    with pytest.raises(ShapeError, match="q has dtype torch.complex128; expected real numbers"):
        ROBOT.gravity(torch.complex(q, q).requires_grad_())
    with pytest.raises(ShapeError, match=r"q has shape \(3, 1\); expected \(\.\.\., 2\)"):
        ROBOT.gravity(q[:, :1].clone().requires_grad_())
    with pytest.raises(ShapeError, match=r"batch axes do not broadcast: q \(3, 2\), qd \(2, 2\)"):
        ROBOT.bias(q.clone().requires_grad_(), q[:2])


# Gradients ----------------------------------------------------------------------------------------


@quantities
def test_every_quantity_passes_gradcheck(quantity):
    """Reverse and forward, against finite differences."""
    tensors = tensors_of(quantity, requires_grad=True)
    assert torch.autograd.gradcheck(getattr(ROBOT, quantity), tensors, check_forward_ad=True)


def test_inverse_dynamics_passes_gradgradcheck():
    tensors = tensors_of("inverse_dynamics", requires_grad=True)
    function = functools.partial(ROBOT.inverse_dynamics, gravity=[0, 0, -9.81])
    assert torch.autograd.gradgradcheck(function, tensors, check_fwd_over_rev=True)


def test_gradients_by_what_is_given_at_the_call():
    q = torch.tensor(STATE["q"])
    given = {
        "payload": torch.tensor(LOAD, dtype=torch.float64, requires_grad=True),
        "gravity": torch.tensor(RNG.normal(size=(3, 3)), requires_grad=True),
        "parameters": torch.tensor(ROBOT.chain.parameters, requires_grad=True),
    }

    def function(*values):
        return ROBOT.gravity(q, **dict(zip(given, values, strict=True)), check=None)

    assert torch.autograd.gradcheck(function, list(given.values()))


def test_gradients_are_summed_over_what_was_broadcast():
    q = torch.tensor(STATE["q"], requires_grad=True)
    qd = torch.tensor(STATE["qd"][0], requires_grad=True)
    ROBOT.bias(q, qd).sum().backward()
    every, one = ROBOT.vjp("bias")(STATE["q"], STATE["qd"][0], np.ones((3, 2)))
    assert np.array_equal(q.grad, every)
    np.testing.assert_allclose(qd.grad, one.sum(axis=0), rtol=1e-14)


def test_a_float32_argument_gets_a_float32_gradient():
    q = torch.tensor(STATE["q"], dtype=torch.float32, requires_grad=True)
    ROBOT.bias(q, torch.tensor(STATE["qd"])).sum().backward()
    assert q.grad.dtype is torch.float32 and q.grad.shape == (3, 2)


def test_nothing_is_tracked_where_nobody_asks():
    q = torch.tensor(STATE["q"], requires_grad=True)
    with torch.no_grad():
        assert not ROBOT.gravity(q).requires_grad
    with torch.inference_mode():
        assert not ROBOT.gravity(q).requires_grad
    assert not ROBOT.gravity(q.detach()).requires_grad
    assert ROBOT.gravity(torch.nn.Parameter(q.detach())).requires_grad


# torch.func ---------------------------------------------------------------------------------------


def test_vmap_is_the_batch():
    q, qd = (torch.tensor(STATE[name]) for name in ("q", "qd"))
    assert torch.equal(torch.vmap(ROBOT.mass_matrix)(q), ROBOT.mass_matrix(q))
    assert torch.equal(torch.vmap(ROBOT.mass_matrix, 1)(q.T), ROBOT.mass_matrix(q))
    inner = torch.vmap(ROBOT.bias, (None, 0))
    found = torch.vmap(inner, (0, None))(q, qd)
    assert torch.equal(found, ROBOT.bias(q[:, None], qd))
    for mapped, plain in zip(torch.vmap(ROBOT.energy)(q, qd), ROBOT.energy(q, qd), strict=True):
        assert torch.equal(mapped, plain)


def test_jacobians_and_hessians():
    q, qd = torch.tensor(STATE["q"][0]), torch.tensor(STATE["qd"][0])
    expected = ROBOT.derivative("bias")(STATE["q"][0], STATE["qd"][0])
    for transform in (torch.func.jacrev, torch.func.jacfwd):
        for found, wanted in zip(transform(ROBOT.bias, (0, 1))(q, qd), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)
    M = torch.func.hessian(lambda v: ROBOT.energy(q, v)[0])(qd)  # kinetic = qd^T M qd / 2
    np.testing.assert_allclose(M, ROBOT.mass_matrix(STATE["q"][0]), rtol=1e-12, atol=1e-14)
    value, slope = torch.func.jvp(ROBOT.gravity, (q,), (qd,))
    wanted = ROBOT.jvp("gravity")(STATE["q"][0], STATE["qd"][0])
    np.testing.assert_allclose(slope, wanted, rtol=1e-12, atol=1e-14)
    each = torch.vmap(torch.func.grad(lambda x: ROBOT.gravity(x).sum()))(torch.tensor(STATE["q"]))
    np.testing.assert_allclose(each, ROBOT.vjp("gravity")(STATE["q"], np.ones((3, 2))), rtol=1e-12)


# torch.compile ------------------------------------------------------------------------------------


def test_a_whole_graph_is_compiled_whatever_was_called_before():
    robot = Robot(ROBOT.chain)
    robot.gravity  # noqa: B018  made before torch traces; the others are not
    fused = robot.function("gravity", "pose")

    def loss(q, qd):
        g, T = fused(q)
        loaded = robot.bias(q, qd, payload=LOAD)
        return g.sum() + T.sum() + robot.gravity(q).sum() + (robot.bias(q, qd) * loaded).sum()

    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    for count in (3, 2, 1):  # the second makes torch take the size for a symbol
        q, again = (torch.tensor(STATE["q"][:count], requires_grad=True) for _ in range(2))
        qd = torch.tensor(STATE["qd"][:count])
        found, expected = compiled(q, qd), loss(again, qd)
        found.backward()
        expected.backward()
        assert torch.equal(found, expected) and torch.equal(q.grad, again.grad)


def test_what_torch_calls_while_it_traces_has_plain_arguments(monkeypatch):
    """Before 2.12 torch hands on no others, and gives up."""
    whole, place, given = traced.whole, compiled.Compiled.place, []

    def noted_whole(*arguments):
        given.extend(arguments)
        return whole(*arguments)

    def place_noted(self, *arguments):
        given.extend(arguments)
        return place(self, *arguments)

    monkeypatch.setattr(traced, "whole", traced.done_while_tracing(noted_whole))
    place_noted.__name__ = "place"  # by which torch finds it
    monkeypatch.setattr(compiled.Compiled, "place", traced.done_while_tracing(place_noted))
    robot, q = Robot(ROBOT.chain), torch.tensor(STATE["q"])
    torch.compile(lambda q: robot.gravity(q), fullgraph=True, backend="eager")(q)
    assert {*map(type, given)} == {int} and len(given) >= 2


def test_transformations_and_functions_are_compiled_too():
    q = torch.tensor(STATE["q"])
    whole = functools.partial(torch.compile, fullgraph=True, backend="aot_eager")
    assert torch.equal(whole(ROBOT.mass_matrix)(q), ROBOT.mass_matrix(q))
    assert torch.equal(whole(lambda q: torch.vmap(ROBOT.gravity)(q))(q), ROBOT.gravity(q))
    slope = whole(lambda q: torch.func.jacrev(ROBOT.gravity)(q))(q[0])
    np.testing.assert_allclose(slope, ROBOT.derivative("gravity")(STATE["q"][0]), rtol=1e-12)


def test_the_operator_keeps_torchs_rules():
    tensors = tensors_of("inverse_dynamics", requires_grad=True)
    name = room.name_of(ROBOT.inverse_dynamics.path)
    checks = torch.library.opcheck(torch.ops.armdyn.call.default, (name, tensors))
    assert set(checks.values()) == {"SUCCESS"}
    mapped = torch.vmap(lambda q: torch.ops.armdyn.call(name, [q, *tensors[1:]])[0])(
        tensors[0].expand(4, 3, 2)
    )
    assert torch.equal(mapped, ROBOT.inverse_dynamics(*tensors).expand(4, 3, 2))
    with pytest.raises(Exception, match="armdyn::call of nobody, which this process does not have"):
        torch.ops.armdyn.call("nobody", tensors)


def test_tensors_without_numbers_have_shapes():
    found = ROBOT.mass_matrix(torch.empty(4, 2, device="meta"))
    assert found.is_meta and found.shape == (4, 2, 2) and found.dtype is torch.float32


# A GPU that is none -------------------------------------------------------------------------------


def test_a_launch_is_on_the_tensors_device_and_stream(monkeypatch):
    launches = fake_gpu.install(monkeypatch)
    monkeypatch.setattr(room, "current_stream", lambda device: 17)
    path = Robot(ROBOT.chain).bias.path
    q, qd = (torch.tensor(STATE[name]) for name in ("q", "qd"))
    (found,) = room.launch(path, room.alike(path, [q.T.contiguous().T, qd[0]]))
    np.testing.assert_allclose(found, ROBOT.bias(STATE["q"], STATE["qd"][0]), rtol=1e-12)
    assert launches == [(3, "float64", None, 17, [2, 0])]
    (found,) = room.launch(path, [q[0].float(), qd[0].float()])
    assert found.shape == (2,) and launches[1][:2] == (1, "float32")
    (found,) = room.launch(path, [q[:0], qd[:0]])
    assert found.shape == (0, 2) and len(launches) == 2


def test_plain_tensors_are_launched_by_their_addresses(monkeypatch):
    if room.exchanged is None:
        pytest.skip("torch exchanges tensors in C since 2.10, where the C extension is built")
    launches = fake_gpu.install(monkeypatch)
    robot = Robot(ROBOT.chain)
    q, qd = (torch.tensor(STATE[name]) for name in ("q", "qd"))
    found = launched(robot.energy, q, qd)
    for tensor, array in zip(found, robot.energy(STATE["q"], STATE["qd"]), strict=True):
        np.testing.assert_allclose(tensor, array, rtol=1e-12)
    found = launched(robot.gravity, q[0].float())
    np.testing.assert_allclose(found, robot.gravity(STATE["q"][0]), rtol=1e-5)
    assert launches == [(3, "float64", 0, 0, [2, 2]), (1, "float32", 0, 0, [2])]
    assert launched(robot.gravity, q.T) is NotImplemented
    with pytest.raises(TypeError, match=r"launched\(function, api, values, kernel\)"):
        room._call.launched(robot.gravity, room.API, (q,))


def launched(function, *tensors):
    """A call on tensors as if they were on a GPU."""
    return room._call.launched(function, room.API, tensors, cuda.kernel(function.path))


def test_launches_on_a_device_that_was_used_are_not_pythons(monkeypatch):
    """The driver is a stand-in, whose memory is that of the process."""
    if room.exchanged is None:
        pytest.skip("torch exchanges tensors in C since 2.10, where the C extension is built")
    fake = FakeCuda()
    fake.install(monkeypatch)
    fake.allow_address(2**16, 2**47 - 2**16)  # all that there is
    robot = Robot(ROBOT.chain)
    for dtype in ("float64", "float32"):
        state = [STATE[name].astype(dtype) for name in ("q", "qd")]
        tensors = [*map(torch.tensor, state)]
        expected = robot.energy(*state)
        launched(robot.energy, *tensors)
        with monkeypatch.context() as patch:
            patch.setattr(gpu.Kernel, "launch", None)
            for count in (3, 1):
                found = launched(robot.energy, *(x[:count] for x in tensors))
                for tensor, array in zip(found, expected, strict=True):
                    assert np.array_equal(tensor, array[:count])
    assert fake.fault is None
    assert [launch.grid for launch in fake.launches] == [1] * 6
    fake.lose()
    with pytest.raises(DeviceError, match="CUDA_ERROR_LAUNCH_FAILED: the GPU no longer answers"):
        launched(robot.energy, *tensors)
    cuda_driver._leave_behind()  # as in a forked process
    with pytest.raises(DeviceError, match="was forked from one that uses the GPU"):
        launched(robot.energy, *tensors)


# The rest -----------------------------------------------------------------------------------------


def test_the_front_in_python_answers_tensors_too(monkeypatch):
    monkeypatch.setattr(calls, "EXTENSION", False)
    robot, q = Robot(ROBOT.chain), torch.tensor(STATE["q"][0], requires_grad=True)
    assert np.array_equal(robot.gravity(q.detach()), robot.gravity(STATE["q"][0]))
    assert torch.autograd.gradcheck(robot.gravity, [q])


def test_an_arm_of_six_joints():
    tensors = [torch.tensor(x, requires_grad=True) for x in RNG.normal(size=(3, 6))]
    assert torch.autograd.gradcheck(SIX.forward_dynamics, tensors)


def test_third_derivatives():
    q = torch.tensor(STATE["q"][0], requires_grad=True)
    third = torch.func.jacrev(torch.func.jacrev(torch.func.jacrev(ROBOT.gravity)))(q.detach())
    step = 1e-5 * torch.eye(2, dtype=torch.float64)
    second = torch.func.jacrev(torch.func.jacrev(ROBOT.gravity))
    differences = [(second(q.detach() + h) - second(q.detach() - h)) / 2e-5 for h in step]
    np.testing.assert_allclose(third, torch.stack(differences, dim=-1), atol=1e-8)
