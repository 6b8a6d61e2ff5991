"""The disk cache: what it gives back is what was put in, or nothing, whatever happens to it."""

import errno
import json
import logging
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from armdyn.engine import cache

PROJECT = Path(__file__).parent.parent
NOBODY = 65534
POSIX = os.name == "posix"
ROOT = POSIX and os.geteuid() == 0
posix = pytest.mark.skipif(not POSIX, reason="Windows has other permissions")
root = pytest.mark.skipif(not ROOT, reason="only root can give a file away")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A place for the cache that does not exist yet."""
    monkeypatch.setenv("ARMDYN_CACHE_DIR", str(tmp_path / "some" / "where"))
    monkeypatch.setattr(cache, "_logged", set())
    monkeypatch.setattr(cache, "_room", {})
    return tmp_path / "some" / "where"


def entry(folder, key):
    return folder / cache._name(key)


def mode(path):
    return stat.S_IMODE(path.lstat().st_mode)


def assert_off(caplog, why):
    """No cache, no exception, one line in the log however often it is asked."""
    caplog.clear()
    with caplog.at_level(logging.INFO, "armdyn"):
        for _ in range(3):
            cache.put("key", b"data")
            assert cache.get("key") is None
    assert cache.directory() is None
    assert why in cache.why_off()
    assert [why in record.getMessage() for record in caplog.records] == [True]


# Putting and getting ------------------------------------------------------------------------


@pytest.mark.parametrize("by_descriptor", [pytest.param(True, marks=posix), False])
def test_what_was_put_is_got(folder, monkeypatch, by_descriptor):
    monkeypatch.setattr(cache, "POSIX", by_descriptor)
    keys = ["", "key", "../../key", "/etc/passwd", "k" * 10_000, "\0", "\ud800", "KEY", "clé\n"]
    data = {key: bytes([i]) * 10**i for i, key in enumerate(keys[:5])}
    data |= {key: os.urandom(i) for i, key in enumerate(keys[5:])}
    assert [cache.get(key) for key in keys] == [None] * len(keys)
    for key in keys:
        cache.put(key, b"to be replaced")
        cache.put(key, data[key])
    assert [cache.get(key) for key in keys] == list(data.values())
    assert cache.directory() == str(folder) and cache.why_off() is None
    assert {path.name for path in folder.iterdir()} == set(map(cache._name, keys))


@posix
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_everything_made_is_private(folder, umask):
    before = os.umask(umask)
    try:
        cache.put("key", b"data")
    finally:
        os.umask(before)
    assert (mode(folder.parent), mode(folder)) == (0o700, 0o700)
    assert mode(entry(folder, "key")) == 0o600


def test_a_directory_removed_meanwhile_is_made_again(folder):
    cache.put("key", b"data")
    shutil.rmtree(folder)
    assert cache.get("key") is None
    cache.put("key", b"data")
    assert cache.get("key") == b"data"


@posix
def test_no_descriptor_stays_open(folder):
    def lowest_free():
        os.close(fd := os.open(os.devnull, os.O_RDONLY))
        return fd

    before = lowest_free()
    cache.put("key", b"data")
    cache.put("other", b"data")
    entry(folder, "other").write_bytes(b"damaged")
    assert [cache.get(key) for key in ("key", "other", "none")] == [b"data", None, None]
    folder.chmod(0o777)
    cache.put("key", b"data")
    assert cache.get("key") is None
    assert lowest_free() == before


# Where it is --------------------------------------------------------------------------------


def test_an_empty_variable_means_no_cache(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("ARMDYN_CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache.put("key", b"data")
    assert cache.get("key") is None
    assert cache.directory() is None
    assert cache.why_off() == "ARMDYN_CACHE_DIR is empty"
    assert not caplog.records and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("platform", "caches", "place"),
    [
        ("linux", None, "~/.cache/armdyn"),
        ("linux", "/xdg", "/xdg/armdyn"),
        ("linux", "xdg", "~/.cache/armdyn"),  # the XDG specification: ignore a relative path
        ("linux", "", "~/.cache/armdyn"),
        ("darwin", "/xdg", "~/Library/Caches/armdyn"),
        ("win32", "/xdg", "/local/armdyn/cache"),
    ],
)
def test_default_places(monkeypatch, tmp_path, platform, caches, place):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.delenv("ARMDYN_CACHE_DIR")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    if caches is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", caches)
    assert cache._path() == os.path.normpath(place.replace("~", str(tmp_path)))


@posix
def test_a_user_without_a_home_has_no_cache(monkeypatch, caplog):
    import pwd

    for variable in ("ARMDYN_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)  # a container's unknown user
    assert_off(caplog, "'~/.cache/armdyn' is not an absolute path")


def test_a_relative_directory_is_refused(tmp_path, monkeypatch, caplog):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ARMDYN_CACHE_DIR", "here")
    assert_off(caplog, "'here' is not an absolute path")
    assert not list(tmp_path.iterdir())


# Directories that are refused ---------------------------------------------------------------


def writable_by(bits):
    return lambda folder: folder.chmod(0o700 | bits)


def given_away(folder):
    os.chown(folder, NOBODY, NOBODY)


def linked(folder):
    folder.rename(folder.with_name("target"))
    folder.symlink_to("target")


def dangling(folder):
    shutil.rmtree(folder)
    folder.symlink_to("nowhere")


def a_file(folder):
    shutil.rmtree(folder)
    folder.write_bytes(b"precious")


@posix
@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (writable_by(0o020), "only you can write to"),
        (writable_by(0o002), "only you can write to"),
        (writable_by(0o077), "only you can write to"),
        pytest.param(given_away, "a directory of yours", marks=root),
        (linked, "is a symbolic link"),
        (dangling, "is a symbolic link"),
        (a_file, "Not a directory"),
    ],
)
def test_a_directory_that_others_may_have_written_is_refused(folder, caplog, spoil, why):
    """And left as it is: nothing in it is read, removed or added."""
    cache.put("key", b"data")
    cache.put("other", b"data")
    entry(folder, "other").write_bytes(b"damaged")
    spoil(folder)
    before = sorted(folder.parent.rglob("*"))
    assert_off(caplog, why)
    assert str(folder) in cache.why_off()
    assert cache.get("other") is None
    assert sorted(folder.parent.rglob("*")) == before


@posix
def test_a_directory_that_others_may_read_will_do(folder):
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    cache.put("key", b"data")
    assert cache.get("key") == b"data"


@posix
def test_a_directory_put_in_place_of_the_checked_one_is_not_looked_at(folder):
    cache.put("key", b"data")
    with cache.Folder(folder) as checked:
        folder.rename(folder.with_name("moved"))
        folder.mkdir()
        name = cache._name("key")
        entry(folder, "key").write_bytes(cache._header(name, b"evil") + b"evil")
        assert cache._read(checked, name) == b"data"
        cache._write(checked, cache._name("new"), b"new")
    assert [path.name for path in folder.iterdir()] == [name]


# Entries that are refused -------------------------------------------------------------------


def test_every_flipped_bit_is_noticed_and_the_entry_removed(folder):
    cache.put("key", os.urandom(24))
    path = entry(folder, "key")
    good = path.read_bytes()
    assert len(good) == cache.HEADER.size + 24
    for bit in range(8 * len(good)):
        damaged = bytearray(good)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        assert cache.get("key") is None, f"bit {bit}"
        assert not path.exists(), f"bit {bit}"
        path.touch(0o600)


def test_every_other_length_is_noticed_and_the_entry_removed(folder):
    cache.put("key", bytes(24))  # zeros: an extension by zeros is the likeliest to pass
    path = entry(folder, "key")
    good = path.read_bytes()
    for length in {*range(2 * len(good)), 10**6} - {len(good)}:
        path.write_bytes(good[:length].ljust(length, b"\0"))
        assert cache.get("key") is None, f"{length} bytes"
        assert not path.exists(), f"{length} bytes"
        path.touch(0o600)


def test_an_entry_under_another_key_is_foreign(folder):
    cache.put("key", b"data")
    shutil.copy(entry(folder, "key"), entry(folder, "other"))
    assert cache.get("other") is None
    assert not entry(folder, "other").exists()
    assert cache.get("key") == b"data"


def test_of_another_format_version_nothing_is_read(monkeypatch):
    monkeypatch.setattr(cache, "VERSION", cache.VERSION + 1)
    cache.put("key", b"data")
    monkeypatch.undo()
    assert cache.get("key") is None


def replaced_by_link(path):
    path.rename(path.with_suffix(".elsewhere"))
    path.symlink_to(path.with_suffix(".elsewhere"))


def replaced_by_pipe(path):
    path.unlink()
    os.mkfifo(path)


def replaced_by_directory(path):
    path.unlink()
    path.mkdir()


@posix
@pytest.mark.parametrize(
    "spoil",
    [
        writable_by(0o020),
        writable_by(0o002),
        pytest.param(given_away, marks=root),
        replaced_by_link,
        replaced_by_pipe,
        replaced_by_directory,
    ],
)
def test_a_file_that_others_may_have_written_is_refused(folder, caplog, spoil):
    """Then written anew, which nothing but a directory in its place can prevent."""
    cache.put("key", b"data")
    spoil(entry(folder, "key"))
    assert cache.get("key") is None
    cache.put("key", b"new data")
    assert cache.get("key") == (None if spoil is replaced_by_directory else b"new data")
    assert len(caplog.records) == (spoil is replaced_by_directory)


def test_a_file_of_absurd_size_is_not_read(folder, monkeypatch):
    monkeypatch.setattr(cache, "CAPACITY", 4000)
    cache.put("key", bytes(1001))
    assert not folder.exists()
    cache.put("key", bytes(1000))
    assert cache.get("key") == bytes(1000)
    monkeypatch.setattr(cache, "CAPACITY", 3999)
    assert cache.get("key") is None


# Trouble with the disk ----------------------------------------------------------------------


@contextmanager
def ordinary_user():
    """A directory of a user whom permissions bind, and that user's rights while it lasts."""
    with tempfile.TemporaryDirectory() as home:
        if not ROOT:
            yield Path(home)
            return
        os.chown(home, NOBODY, NOBODY)
        os.seteuid(NOBODY)
        try:
            yield Path(home)
        finally:
            os.seteuid(0)


@posix
def test_a_cache_that_cannot_be_written_to_can_be_read(monkeypatch, caplog):
    with ordinary_user() as home:
        monkeypatch.setenv("ARMDYN_CACHE_DIR", str(home))
        cache.put("key", b"data")
        os.utime(entry(home, "key"), (0, 0))
        home.chmod(0o500)
        for _ in range(2):
            cache.put("other", b"data")
        assert cache.get("key") == b"data"
        assert cache.get("other") is None
        home.chmod(0o700)
    assert ["Permission denied" in record.getMessage() for record in caplog.records] == [True]


def test_a_hit_that_cannot_be_noted_is_a_hit(folder, monkeypatch):
    def read_only(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    cache.put("key", b"data")
    os.utime(entry(folder, "key"), (0, 0))
    monkeypatch.setattr(os, "utime", read_only)
    assert cache.get("key") == b"data"


@posix
def test_a_directory_that_cannot_be_made(monkeypatch, caplog):
    with ordinary_user() as home:
        home.chmod(0o500)
        monkeypatch.setenv("ARMDYN_CACHE_DIR", str(home / "some" / "where"))
        assert_off(caplog, "Permission denied")
        home.chmod(0o700)


@posix
def test_a_directory_of_impossible_name(folder, monkeypatch, caplog):
    monkeypatch.setenv("ARMDYN_CACHE_DIR", str(folder / ("x" * 300)))
    assert_off(caplog, "File name too long")


def test_a_directory_below_a_file(folder, monkeypatch, caplog):
    folder.parent.mkdir()
    folder.write_bytes(b"precious")
    monkeypatch.setenv("ARMDYN_CACHE_DIR", str(folder / "below"))
    assert_off(caplog, str(folder))
    assert folder.read_bytes() == b"precious"


@posix
def test_a_disk_that_fills_up_leaves_nothing_half_written(folder, caplog):
    import resource

    cache.put("key", b"data")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        cache.put("key", bytes(200_000))
        cache.put("other", bytes(200_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert ["File too large" in record.getMessage() for record in caplog.records] == [True]
    assert cache.get("key") == b"data"
    assert list(folder.iterdir()) == [entry(folder, "key")]


# Everything at once -------------------------------------------------------------------------


def test_processes_at_once_find_the_right_data_or_none(folder):
    """Four of them put, get, evict and damage the same few entries for two seconds."""
    command = [sys.executable, "-m", "tests.cache_churn"]
    workers = [
        subprocess.Popen([*command, str(seed)], cwd=PROJECT, stdout=subprocess.PIPE, text=True)
        for seed in range(4)
    ]
    for worker in workers:
        found = json.loads(worker.communicate(timeout=60)[0])
        assert found["wrong"] == 0
        assert found["right"] > 20 and found["none"] > 20
    assert not list(folder.glob("*" + cache.UNFINISHED))


@posix
@pytest.mark.sweep
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_process_killed_while_it_writes_leaves_the_right_data_or_none(folder):
    """200 processes; their unfinished files are removed in time."""
    pick = random.Random(1)
    data = {key: pick.randbytes(300_000) for key in "abc"}
    cache.put("a", data["a"])
    for _ in range(200):
        child = os.fork()
        if child == 0:
            try:
                signal.alarm(60)
                while True:
                    for key, value in data.items():
                        cache.put(key, value)
            finally:
                os._exit(1)
        time.sleep(0.01 * pick.random())
        os.kill(child, signal.SIGKILL)
        assert os.waitpid(child, 0)[1] == signal.SIGKILL
        assert all(cache.get(key) in (value, None) for key, value in data.items())
    left = list(folder.glob("*" + cache.UNFINISHED))
    for path in left:
        os.utime(path, (0, 0))
    cache._room.clear()  # as a new process begins
    cache.put("a", data["a"])
    assert not list(folder.glob("*" + cache.UNFINISHED))
