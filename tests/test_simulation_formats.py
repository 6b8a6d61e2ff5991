"""Results in files: all of a run comes back, bit for bit; what cannot be read is named."""

import dataclasses
import sys

import numpy as np
import pytest

import armdyn
from armdyn import ArmdynError, controllers
from armdyn.simulation import formats
from armdyn.simulation.results import Result, joined

ROBOT = armdyn.load("two_link")
NEEDS = {".npz": "numpy", ".parquet": "pyarrow", ".zarr": "zarr"}
STARTS = np.array([[[0.5, 0.0], [1.0, 2.0]], [[-0.3, 0.4], [2.0, -1.0]]])
LIGHT = [0.5, 0.05, 0, 0, 0.01, 0, 0.02, 0, 0, 0.02]


def limited():
    """The arm with limits that it passes within half a second."""
    joints = ROBOT.chain.joints
    joints = (dataclasses.replace(joints[0], lower=-0.1, upper=0.6, velocity=1.0), *joints[1:])
    return armdyn.Robot(dataclasses.replace(ROBOT.chain, joints=joints))


RUNS = {
    "one state": lambda: armdyn.simulate(ROBOT, STARTS[0, 0], t=0.01),
    "float32": lambda: armdyn.simulate(ROBOT, STARTS[0].astype(np.float32), t=0.01),
    "two batch axes": lambda: armdyn.simulate(
        ROBOT, STARTS, tau=controllers.pd([0.1, 0.2], 30, 5, rate=500), t=0.02, every=5
    ),
    "stopped at limits": lambda: armdyn.simulate(
        limited(), STARTS[0], t=0.5, limits="stop", integrator="rk4", every=50
    ),
    "no state": lambda: armdyn.simulate(ROBOT, np.zeros((0, 2)), t=0.01, payload=LIGHT),
    "given": lambda: armdyn.simulate(
        ROBOT,
        STARTS[0, 0],
        t=0.01,
        payload=[LIGHT, np.zeros(10), LIGHT],
        payload_frame=ROBOT.chain.links[0].name,
        gravity=[0, -3.7, 0],
        friction=True,
    ),
}


def assert_same(found, expected):
    """Every field, the numbers bit for bit."""
    for field in dataclasses.fields(Result):
        one, two = getattr(found, field.name), getattr(expected, field.name)
        if isinstance(two, np.ndarray):
            assert one.dtype == two.dtype
            np.testing.assert_array_equal(one, two)
        elif field.name == "given":
            assert list(one) == list(two)
            assert all((one[name] == two[name]).all() for name in two)
        else:
            assert one == two, field.name
    np.testing.assert_array_equal(found.energy.total, expected.energy.total)
    assert found.summary() == expected.summary()


@pytest.mark.parametrize("suffix", NEEDS)
@pytest.mark.parametrize("name", RUNS)
def test_a_result_comes_back_whole(name, suffix, tmp_path):
    pytest.importorskip(NEEDS[suffix], reason=f"{suffix} needs its package")
    run, path = RUNS[name](), tmp_path / f"run{suffix}"
    run.save(path)
    assert_same(Result.load(path), run)
    assert [each.name for each in tmp_path.iterdir()] == [f"run{suffix}"]


@pytest.mark.parametrize("name", ["float32", "stopped at limits"])
def test_shards_come_back_as_one_run(name, tmp_path):
    run = RUNS[name]()
    paths = []
    for k in range(2):
        options = {"t": 0.01} if name == "float32" else {"t": 0.5, "limits": "stop", "every": 50}
        robot = limited() if options.get("limits") else ROBOT
        integrator = "rk4" if options.get("limits") else "ab4"
        start = STARTS[0, k : k + 1].astype(run.q.dtype)
        part = armdyn.simulate(robot, start, integrator=integrator, **options)
        paths.append(str(tmp_path / f"{k}.npz"))
        part.save(paths[-1])
    whole = Result.load(paths)
    assert_same(
        dataclasses.replace(whole, wall_time=run.wall_time, compile_time=run.compile_time), run
    )
    with pytest.raises(ArmdynError, match="do not belong together; expected parts of a run"):
        joined([run, armdyn.simulate(ROBOT, STARTS[0], t=0.01, dt=5e-3)])
    with pytest.raises(ArmdynError, match="there are no results; expected one or more"):
        Result.load([])


def test_a_dataframe_has_a_line_for_each_state_and_row():
    pytest.importorskip("pandas", reason="DataFrames need armdyn[pandas]")
    run = RUNS["given"]()
    frame = run.to_dataframe()
    assert list(frame.columns[:4]) == ["state", "t", "q_shoulder", "q_elbow"]
    assert frame.shape == (3 * 11, 2 + 4 * 2 + 10 + 3 + 3)
    for state, lines in frame.groupby("state"):
        np.testing.assert_array_equal(lines["t"], run.t)
        np.testing.assert_array_equal(lines["qdd_elbow"], run.qdd[state, :, 1])
        np.testing.assert_array_equal(lines["total"], run.energy.total[state])
        assert (lines["payload_2"] == run.given["payload"][state, 1]).all()
        assert (lines["gravity_2"] == -3.7).all()
    alone = RUNS["one state"]().to_dataframe()
    assert "state" not in alone and len(alone) == 11


# What goes wrong ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "suffix, package, message",
    [
        (".parquet", "pyarrow", r"pip install 'armdyn\[cluster\]'"),
        (".zarr", "zarr", r"pip install 'armdyn\[zarr\]'"),
    ],
)
def test_without_a_package_it_says_what_to_install(monkeypatch, tmp_path, suffix, package, message):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ArmdynError, match=message):
        RUNS["one state"]().save(tmp_path / f"run{suffix}")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ArmdynError, match=message):  # before anything is simulated
        formats.check_path(tmp_path / f"run{suffix}")


def test_without_pandas_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ArmdynError, match=r"pandas': pip install 'armdyn\[pandas\]'"):
        RUNS["one state"]().to_dataframe()


def test_files_that_hold_no_result_are_named(tmp_path):
    run = RUNS["one state"]()
    run.save(tmp_path / "run.csv")
    with pytest.raises(ArmdynError, match=r"cannot load .*run.csv'; expected a name in .npz"):
        Result.load(tmp_path / "run.csv")
    with pytest.raises(ArmdynError, match=r"cannot read a result from .*nothing.npz'"):
        Result.load(tmp_path / "nothing.npz")
    np.savez(tmp_path / "other.npz", q=np.zeros(3))
    with pytest.raises(ArmdynError, match=r"cannot read a result from .*other.npz'.*armdyn"):
        Result.load(tmp_path / "other.npz")
    np.savez(tmp_path / "later.npz", armdyn='{"version": 99}')
    with pytest.raises(ArmdynError, match="it is of version 99, not 1"):
        Result.load(tmp_path / "later.npz")
    run.save(tmp_path / "whole.npz")
    whole = (tmp_path / "whole.npz").read_bytes()
    for length in (0, 10, len(whole) // 2, len(whole) - 30):
        (tmp_path / "cut.npz").write_bytes(whole[:length])
        with pytest.raises(ArmdynError, match=r"cannot read a result from .*cut.npz'"):
            Result.load(tmp_path / "cut.npz")
    damaged = bytearray(whole)
    damaged[whole.index(b"q.npy") + 60] ^= 255
    (tmp_path / "damaged.npz").write_bytes(damaged)
    with pytest.raises(ArmdynError, match=r"cannot read a result from .*damaged.npz'"):
        Result.load(tmp_path / "damaged.npz")


def test_parquet_that_holds_no_result_is_named(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="Parquet needs its package")
    from pyarrow import parquet

    (tmp_path / "text.parquet").write_text("no table")
    parquet.write_table(pyarrow.table({"t": [0.0]}), tmp_path / "table.parquet")
    for name in ("text.parquet", "table.parquet"):
        with pytest.raises(ArmdynError, match=f"cannot read a result from .*{name}'"):
            Result.load(tmp_path / name)


def test_a_folder_that_is_there_is_left_alone(tmp_path, monkeypatch):
    zarr = pytest.importorskip("zarr", reason="Zarr needs its package")
    run, path = RUNS["one state"](), tmp_path / "run.zarr"
    path.mkdir()
    with pytest.raises(ArmdynError, match="run.zarr': it is there; expected a new name"):
        run.save(path)
    with pytest.raises(ArmdynError, match="cannot write .*nowhere"):
        run.save(tmp_path / "nowhere" / "run.zarr")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(zarr, "open_group", full)
    with pytest.raises(ArmdynError, match="cannot write .*new.zarr': No space left on device"):
        run.save(tmp_path / "new.zarr")
    assert [each.name for each in tmp_path.iterdir()] == ["run.zarr"]
