"""Handlers for XLA on a GPU: frames made by hand, and a stand-in driver. JAX is not needed."""

import ctypes
from ctypes import CFUNCTYPE, POINTER, byref, c_int64, c_void_p, cast, pointer, sizeof

import numpy as np
import pytest

from armdyn.arrays import xla
from armdyn.engine import cuda
from armdyn.engine.calls import Argument, CarefulPath
from armdyn.engine.recorded import Recorded
from armdyn.program.tape import record
from tests.fake_cuda import FakeCuda

DTYPES = ("float64", "float32")
STREAM = 40


class FakeXLA:
    """The functions of XLA's interface that handlers call, and what they were asked."""

    def __init__(self, device=0, functions=24):
        self.device, self.refuses = device, ()
        self.errors, self.forgotten = [], []
        self.context = 77
        asked, errors = POINTER(xla.Asked), POINTER(xla.Trouble)
        self.kept = {
            xla.GET_STREAM: CFUNCTYPE(c_void_p, asked)(self._stream),
            xla.GET_DEVICE: CFUNCTYPE(c_void_p, asked)(self._device),
            xla.CREATE_ERROR: CFUNCTYPE(c_void_p, errors)(self._error),
            xla.FORGET_ERROR: CFUNCTYPE(None, asked)(self._forget),
        }
        self.api = (c_void_p * 24)(functions * sizeof(c_void_p))
        for place, function in self.kept.items():
            self.api[place] = cast(function, c_void_p).value

    def _answer(self, question, asked, answer):
        assert asked[0].context == self.context and asked[0].struct_size == sizeof(xla.Asked)
        if question in self.refuses:
            return 1000 + question
        asked[0].answer = answer
        return None

    def _stream(self, asked):
        return self._answer(xla.GET_STREAM, asked, STREAM + self.device)

    def _device(self, asked):
        return self._answer(xla.GET_DEVICE, asked, self.device)

    def _error(self, trouble):
        assert trouble[0].code == xla.INTERNAL
        self.errors.append(trouble[0].message.decode())
        return 5000

    def _forget(self, asked):
        self.forgotten.append(asked[0].context)

    def frame(self, inputs, outputs):
        """The frame of a call on arrays."""
        lists = [self._buffers(arrays) for arrays in (inputs, outputs)]
        size = sizeof(xla.Frame)
        return xla.Frame(size, None, self.api, self.context, 3, *lists)

    def _buffers(self, arrays):
        found = []
        for x in arrays:
            dims = (c_int64 * max(x.ndim, 1))(*x.shape)
            buffer = xla.Buffer(sizeof(xla.Buffer), None, 0, x.ctypes.data, x.ndim, dims)
            found.append(pointer(buffer))
        table = (POINTER(xla.Buffer) * len(found))(*found)
        return xla.Buffers(sizeof(xla.Buffers), None, len(found), None, table)


@pytest.fixture
def fake(monkeypatch):
    found = FakeCuda(devices=2)
    found.install(monkeypatch)
    return found


def handler(dtype="float64"):
    """Of a function of two arguments with two results."""
    program = record(
        lambda q, h: ([x * h[0] for x in q], [[x + h[1]] for x in q]), {"q": 3, "h": 2}, "both"
    )
    arguments = {name: Argument((size,)) for name, size in program.inputs.items()}
    return xla.OnGPU(CarefulPath("both", arguments, program.shapes, Recorded(program)), dtype)


def called(made, api, fake, count=5, address=None):
    """What a handler answers, and whether the results are right."""
    dtype = made._dtype
    rng = np.random.default_rng(count)
    q, h = (fake.array(rng.uniform(size=(count, k)).astype(dtype), api.device) for k in (3, 2))
    doubled, moved = (
        fake.array(np.zeros((count, *shape), dtype), api.device) for shape in ((3,), (3, 1))
    )
    frame = api.frame([q, h], [doubled, moved])
    said = xla.HANDLER(address or made.address)(byref(frame))
    right = np.array_equal(doubled, q * h[:, :1]) and np.array_equal(moved[..., 0], q + h[:, 1:])
    return said, right


@pytest.mark.parametrize("dtype", DTYPES)
def test_machine_code_launches_what_python_does(fake, dtype):
    made, api = handler(dtype), FakeXLA()
    python = cast(made.slow, c_void_p).value
    for count in (5, 33, 70):
        assert called(made, api, fake, count, python) == (None, True)
        assert called(made, api, fake, count) == (None, True)
        one, other = fake.launches[-2:]
        assert one == other and other.stream == STREAM
    assert fake.fault is None and not api.errors


def test_only_the_first_call_on_a_device_is_pythons(fake, monkeypatch):
    made = handler()
    for device in (0, 1):
        assert called(made, FakeXLA(device), fake) == (None, True)
    monkeypatch.setattr(made._kernel, "launch", None)
    for device in (1, 0, 1):
        assert called(made, FakeXLA(device), fake) == (None, True)
    found = [(launch.device, launch.stream) for launch in fake.launches]
    assert found == [(device, STREAM + device) for device in (0, 1, 1, 0, 1)]


def test_no_states_are_no_launch(fake):
    made, api = handler(), FakeXLA()
    for _ in range(2):
        assert called(made, api, fake, count=0) == (None, True)
        assert not fake.launches
        assert called(made, api, fake) == (None, True)
        fake.launches.clear()


def test_metadata_is_told_before_all_else(fake):
    metadata = xla.Metadata(sizeof(xla.Metadata), 24, None, 9, 9, 9)
    extension = xla.Extension(
        sizeof(xla.Extension), xla.METADATA, None, cast(pointer(metadata), c_void_p)
    )
    frame = xla.Frame(sizeof(xla.Frame), cast(pointer(extension), c_void_p))
    assert xla.HANDLER(handler().address)(byref(frame)) is None
    assert (metadata.major, metadata.minor, metadata.traits) == (*xla.VERSION, 0)


def test_a_lost_device_is_an_error_of_xlas(fake):
    made, api = handler(), FakeXLA()
    called(made, api, fake)
    fake.lose()
    for _ in range(2):
        assert called(made, api, fake) == (5000, False)
    assert "DeviceError: CUDA_ERROR_LAUNCH_FAILED: the GPU no longer answers" in api.errors[1]


def test_a_device_that_is_not_there_is_named(fake):
    for number in (2, cuda.DEVICES + 3, 2**31):
        api = FakeXLA()
        made = handler()
        api.device = number
        q, h, a, b = (np.zeros((5, k)) for k in (3, 2, 3, 3))
        frame = api.frame([q, h], [a, b])
        assert xla.HANDLER(made.address)(byref(frame)) == 5000
        assert f"no GPU {number}; this machine has 2, counted from 0" in api.errors[0]


def test_a_forked_process_says_so(fake):
    made, api = handler(), FakeXLA()
    called(made, api, fake)
    cuda._leave_behind()
    assert called(made, api, fake) == (5000, False)
    assert "forked from one that uses the GPU" in api.errors[0] and len(fake.launches) == 1


@pytest.mark.parametrize("question", [xla.GET_DEVICE, xla.GET_STREAM])
def test_what_xla_does_not_answer_is_an_error(fake, question):
    made, api = handler(), FakeXLA()
    called(made, api, fake)
    api.refuses = (question,)
    assert called(made, api, fake) == (5000, False)
    assert f"XLA does not answer question {question} of its interface" in api.errors[0]
    assert api.forgotten == [1000 + question] * 2  # asked by machine code, and by Python
    early = FakeXLA(functions=question)
    assert called(made, early, fake) == (5000, False) and not early.forgotten


def test_structs_are_xlas():
    """Sizes and places as in xla/ffi/api/c_api.h, whose text JAX has."""
    places = {
        xla.Frame: {"extension": 8, "api": 16, "context": 24, "arguments": 40, "results": 80},
        xla.Buffers: {"size": 16, "buffers": 32},
        xla.Buffer: {"data": 24, "rank": 32, "dims": 40},
        xla.Extension: {"type": 8, "metadata": 24},
        xla.Metadata: {"major": 24, "minor": 28, "traits": 32},
        xla.Asked: {"context": 16, "answer": 24},
    }
    for struct, known in places.items():
        assert {name: getattr(struct, name).offset for name in known} == known
    assert ctypes.sizeof(xla.Buffers) == 40
