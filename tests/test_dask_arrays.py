"""dask's arrays in, lazy arrays out: the bits of the call in one process, on whatever workers."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

da = pytest.importorskip("dask.array", reason="needs dask (20 MB)")

import dask  # noqa: E402
from dask.base import tokenize  # noqa: E402

from armdyn import Chain, Robot, ShapeError, load  # noqa: E402
from armdyn.arrays.dask import Block  # noqa: E402
from armdyn.quantities import QUANTITIES  # noqa: E402
from armdyn.quantities.tasks import quantities_of  # noqa: E402
from tests.arms import with_rotors  # noqa: E402

ROBOT = Robot(with_rotors(Chain.random(2, "RP", seed=3)))
RNG = np.random.default_rng(0)
STATE = dict(zip(("q", "qd", "qdd", "tau"), RNG.normal(size=(4, 20, 3, 2)), strict=True))
quantities = pytest.mark.parametrize("quantity", quantities_of(ROBOT.chain))
NAME = """
import dask.array as da, numpy as np, armdyn
q = da.zeros((8, 2), chunks=3)
print(armdyn.load("two_link").mass_matrix(q).name)
"""


def lazy(array, chunks=(7, 2, 1)):
    return da.from_array(array, chunks=chunks)


@quantities
def test_every_quantity_is_lazy_and_has_numpys_bits(quantity):
    arrays = [STATE[name] for name in QUANTITIES[quantity].arguments]
    function = getattr(ROBOT, quantity)
    found, expected = function(*map(lazy, arrays)), function(*arrays)
    several = isinstance(expected, tuple)
    found, expected = (found, expected) if several else ((found,), (expected,))
    assert all(isinstance(each, da.Array) for each in found)
    for each, computed, wanted in zip(found, dask.compute(*found), expected, strict=True):
        assert each.shape == wanted.shape and each.dtype == wanted.dtype
        assert np.array_equal(computed, wanted)


def test_chunks_are_those_of_the_batch():
    found = ROBOT.mass_matrix(lazy(STATE["q"]))
    assert found.chunks == ((7, 7, 6), (2, 1), (2,), (2,))
    assert isinstance(found._meta, np.ndarray)


def test_arguments_broadcast_whatever_their_chunks():
    qd = STATE["qd"][:, :1]
    found = ROBOT.bias(lazy(STATE["q"]), lazy(qd, (3, 1, 2)), gravity=[0, 0, -1.0])
    expected = ROBOT.bias(STATE["q"], qd, gravity=[0, 0, -1.0])
    assert np.array_equal(found.compute(), expected)
    found = ROBOT.bias(lazy(STATE["q"]), lazy(STATE["qd"][0, 0], 1))
    assert np.array_equal(found.compute(), ROBOT.bias(STATE["q"], STATE["qd"][0, 0]))


def test_a_single_state_and_float32():
    q, qd = (STATE[name][0, 0].astype("f4") for name in ("q", "qd"))
    found = ROBOT.energy(lazy(q, 2), lazy(qd, 2))
    for each, wanted in zip(dask.compute(*found), ROBOT.energy(q, qd), strict=True):
        assert each == wanted and each.dtype == np.float32


def test_no_states_at_all():
    found = ROBOT.energy(lazy(np.zeros((0, 2)), 2), lazy(np.zeros((0, 2)), 2))
    assert [each.shape for each in dask.compute(*found)] == [(0,), (0,)]


def test_several_results_are_computed_once(monkeypatch):
    seen = []
    monkeypatch.setattr(Block, "__call__", counted(Block.__call__, seen))
    dask.compute(*ROBOT.energy(lazy(STATE["q"]), lazy(STATE["qd"])), scheduler="sync")
    assert len(seen) == 6  # blocks


def counted(function, seen):
    def call(self, *arrays):
        seen.append(arrays)
        return function(self, *arrays)

    return call


def test_the_same_question_has_the_same_name_in_every_process():
    names = {
        subprocess.run(
            [sys.executable, "-c", NAME], capture_output=True, text=True, check=True
        ).stdout.strip()
        for _ in range(2)
    }
    here = load("two_link").mass_matrix(da.zeros((8, 2), chunks=3)).name
    assert names == {here}
    q = lazy(STATE["q"])
    assert ROBOT.gravity(q).name != ROBOT.gravity(q, method="newton-euler").name
    other = Robot(ROBOT.chain.with_gravity((0, 0, -1.62)))
    assert ROBOT.gravity(q).name != other.gravity(q).name
    assert ROBOT.gravity(q).name != ROBOT.gravity(q + 1).name


def test_a_block_travels_in_a_few_kilobytes():
    block = Block(ROBOT.inverse_dynamics, None)
    sent = pickle.dumps(block)
    assert len(sent) < 10_000
    arrays = [STATE[name] for name in ("q", "qd", "qdd")]
    arrived = pickle.loads(sent)
    assert np.array_equal(arrived(*arrays), ROBOT.inverse_dynamics(*arrays))
    assert pickle.loads(sent).function is arrived.function  # compiled once
    assert tokenize(arrived) == tokenize(block)
    vjp = pickle.loads(pickle.dumps(Block(ROBOT.vjp("gravity"), None)))
    assert np.array_equal(
        vjp(STATE["q"], STATE["qd"]), ROBOT.vjp("gravity")(STATE["q"], STATE["qd"])
    )


def test_other_processes_compute_the_same_bits():
    with dask.config.set({"multiprocessing.context": "spawn"}):
        found = ROBOT.mass_matrix(lazy(STATE["q"])).compute(scheduler="processes", num_workers=2)
    assert np.array_equal(found, ROBOT.mass_matrix(STATE["q"]))


def test_what_cannot_be_is_said_at_once():
    q = lazy(STATE["q"])
    with pytest.raises(ShapeError, match=r"q is a dask\.Array, qd is a numpy\.ndarray; expected"):
        ROBOT.bias(q, STATE["qd"])
    with pytest.raises(ShapeError, match=r"q has shape \(20, 3, 1\); expected \(\.\.\., 2\)"):
        ROBOT.gravity(q[..., :1])
    with pytest.raises(ShapeError, match="q has dtype complex128; expected real numbers"):
        ROBOT.gravity(q + 1j)
    with pytest.raises(ShapeError, match="out is .*; expected none with dask's arrays"):
        ROBOT.gravity(q, out=np.empty((20, 3, 2)))
