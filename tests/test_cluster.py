"""Moments over dask workers: the same as in one process, whoever is ready first or dies."""

import os
import signal
import sys

import numpy as np
import pytest

import armdyn
from armdyn.identification import cluster
from armdyn.identification.logs import Log
from armdyn.identification.moments import GROUPS, moments

SHARDS = 10


@pytest.fixture(scope="module")
def robot():
    return armdyn.load("two_link")


@pytest.fixture(scope="module")
def shards(robot, tmp_path_factory):
    """Ten files of a noisy record, half of them Parquet."""
    folder, rng = tmp_path_factory.mktemp("shards"), np.random.default_rng(0)
    motion = armdyn.excite(robot, 40.0, harmonics=5, frequency=0.25).sample(50)
    tau = robot.inverse_dynamics(motion.q, motion.qd, motion.qdd, friction=True)
    tau += 0.01 * rng.standard_normal(tau.shape)
    paths = []
    for k, rows in enumerate(np.array_split(np.arange(len(motion.t)), SHARDS)):
        arrays = {name: x[rows] for name, x in motion._asdict().items()} | {"tau": tau[rows]}
        paths.append(written(folder / f"{k}", arrays, k % 2 == 1))
    return paths


def written(path, arrays, parquet):
    """A file of a log, Parquet where that can be written."""
    try:
        from pyarrow import parquet as format
        from pyarrow import table
    except ImportError:
        parquet = False
    if not parquet:
        np.savez(f"{path}.npz", **arrays)
        return f"{path}.npz"
    n = arrays["q"].shape[1]
    columns = {f"{x}{j + 1}": arrays[x][:, j] for x in ("q", "qd", "qdd", "tau") for j in range(n)}
    format.write_table(table({"t": arrays["t"], **columns}), f"{path}.parquet")
    return f"{path}.parquet"


def assert_same(one, two):
    """Part by part, to 1e-12 of the largest."""
    assert (one.rows == two.rows).all()
    for a, b in zip(one.grams, two.grams, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * np.abs(a).max())


# The same ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cutoff", [None, 4.0])
def test_workers_find_what_one_process_finds(robot, shards, client, cutoff):
    pytest.importorskip("scipy")
    here = cluster.moments(robot, shards, cutoff=cutoff, rest=0.02)
    there = cluster.moments(robot, shards, client, cutoff=cutoff, rest=0.02)
    assert_same(here, there)
    assert here.notes == there.notes
    one, two = here.fit(weight=1e-3), there.fit(weight=1e-3)
    np.testing.assert_allclose(one.theta, two.theta, rtol=0, atol=1e-12)
    np.testing.assert_allclose(one.covariance, two.covariance, rtol=1e-9, atol=1e-15)


def test_sums_are_those_of_all_logs_one_after_the_other(robot, shards):
    serial = moments(robot, map(Log.read, shards), cutoff=None)
    sharded = cluster.moments(robot, shards, cutoff=None)
    assert (serial.rows.sum(axis=0) == sharded.rows.sum(axis=0)).all()
    for a, b in zip(serial.grams, sharded.grams, strict=True):
        a, b = a.sum(axis=0), b.sum(axis=0)
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * np.abs(a).max())
    theta = [each.fit(prior=None).theta for each in (serial, sharded)]
    np.testing.assert_allclose(*theta, rtol=0, atol=1e-12 * np.abs(theta[0]).max())


def test_more_shards_than_parts(robot, shards, client):
    """Neighbours make a part; the tree has several levels."""
    many = shards * 9
    here = cluster.moments(robot, many, cutoff=None)
    assert here.groups == GROUPS
    assert_same(here, cluster.moments(robot, many, client, cutoff=None))


def test_one_shard_alone(robot, shards, client):
    here, there = (
        cluster.moments(robot, shards[:1], where, cutoff=None) for where in (None, client)
    )
    assert_same(here, there)


@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 100, 1000])
def test_a_plan_has_each_shard_once_and_in_order(count):
    parts = cluster.plan(count)
    assert [k for part in parts for k in part] == list(range(count))
    assert len(parts) == min(count, GROUPS)
    sizes = {len(part) for part in parts}
    assert max(sizes) - min(sizes) <= 1


def test_the_users_own_columns(robot, shards, client):
    def spring(q, qd, qdd):
        return np.sin(q)

    here = cluster.moments(robot, shards, cutoff=None, columns=[spring])
    there = cluster.moments(robot, shards, client, cutoff=None, columns=[spring])
    assert here.columns.user == there.columns.user == ("spring",)
    assert_same(here, there)


# Workers -----------------------------------------------------------------------------------------


def test_a_worker_that_dies_is_survived(robot, shards, client, tmp_path):
    """The first to come to the seventh shard is killed in the midst of it."""
    marker = str(tmp_path / "killed")
    last = Log.read(shards[6]).q[-1].copy()

    def deadly(q, qd, qdd, marker=marker, last=last):
        if (q[-1] == last).all():
            try:
                os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
        return np.sin(q)

    before = set(client.run(os.getpid).values())
    there = cluster.moments(robot, shards, client, cutoff=None, columns={"sine": deadly})
    assert os.path.exists(marker)
    client.wait_for_workers(2, timeout=60)
    assert len(before - set(client.run(os.getpid).values())) == 1
    assert_same(cluster.moments(robot, shards, cutoff=None, columns={"sine": deadly}), there)


def test_workers_of_a_local_cluster_have_one_thread_each(client):
    found = client.run(lambda: [os.environ.get(name) for name in cluster.BLAS])
    assert list(found.values()) == [["1", "1", "1"]] * 2
    assert set(client.nthreads().values()) == {1}


def test_workers_of_a_local_cluster_keep_the_memory_they_freed(client):
    found = client.run(lambda: {name: os.environ.get(name) for name in cluster.MEMORY})
    wanted = {name: str(value) for name, value in cluster.MEMORY.items()}
    assert list(found.values()) == [wanted] * 2


def test_several_blas_threads_in_a_worker_are_remarked_on(monkeypatch, caplog):
    monkeypatch.setattr(cluster, "_in_worker", lambda: True)
    for name in cluster.BLAS:
        monkeypatch.delenv(name, raising=False)
    cluster._check_blas()
    assert "OMP_NUM_THREADS is not 1 in a dask worker" in caplog.text
    caplog.clear()
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    cluster._check_blas()
    assert caplog.text == ""


def test_progress_is_told_shard_by_shard(robot, shards, client):
    for where in (None, client):
        told = []
        cluster.moments(
            robot, shards, where, cutoff=None, progress=lambda *news, to=told: to.append(news)
        )
        assert told == [(k + 1, SHARDS) for k in range(SHARDS)]


# Bad input ---------------------------------------------------------------------------------------


def test_a_shard_that_cannot_be_read_is_named(robot, shards, client, tmp_path):
    wrong = tmp_path / "wrong.npz"
    wrong.write_bytes(b"no log")
    for where in (None, client):
        with pytest.raises(armdyn.IdentificationError, match=r"wrong\.npz"):
            cluster.moments(robot, [*shards, wrong], where, cutoff=None, retries=0)


@pytest.mark.parametrize(
    "given, options, message",
    [
        ([], {}, "there are no shards; expected one or more"),
        ("a.npz", {}, "shards is 'a.npz'; expected a list of paths"),
        ([3], {}, "shards are paths of files that workers read"),
        (["a.npz"], {"client": "here"}, "client is 'here'; expected a distributed.Client"),
        (["a.npz"], {"retries": -1}, "retries is -1; expected a whole number of at least 0"),
    ],
)
def test_bad_input_is_named(robot, given, options, message):
    if "client" in options:
        pytest.importorskip("distributed", reason="clusters need armdyn[cluster]")
    with pytest.raises(armdyn.IdentificationError, match=message):
        cluster.moments(robot, given, cutoff=None, **options)


def test_no_robot_is_named():
    with pytest.raises(armdyn.IdentificationError, match="expected a Robot"):
        cluster.moments("panda", ["a.npz"], cutoff=None)


def test_without_dask_it_is_said_what_to_install(robot, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(armdyn.IdentificationError, match=r"pip install 'armdyn\[cluster\]'"):
        cluster.moments(robot, ["a.npz"], object(), cutoff=None)
    with pytest.raises(armdyn.IdentificationError, match=r"pip install 'armdyn\[cluster\]'"):
        with cluster.local():
            pass
