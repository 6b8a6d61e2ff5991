"""The disk cache keeps within its capacity, and removes nothing but its own files to do so."""

import os
import random
import time

import pytest

from armdyn.engine import cache


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A place for the cache that does not exist yet."""
    monkeypatch.setenv("ARMDYN_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_room", {})
    return tmp_path / "cache"


def entry(folder, key):
    return folder / cache._name(key)


def age(path, days):
    then = time.time() - days * cache.DAY
    os.utime(path, (then, then))


def total(folder):
    return sum(path.stat().st_size for path in folder.glob("*" + cache.ENTRY))


def test_the_total_never_exceeds_the_capacity(folder, monkeypatch):
    monkeypatch.setattr(cache, "CAPACITY", 100_000)
    generator = random.Random(0)
    totals = []
    for i in range(300):
        cache.put(str(i), bytes(generator.randrange(20_000)))
        totals.append(total(folder))
    assert 70_000 < max(totals) <= 100_000
    assert min(totals[20:]) > 50_000  # and it is made use of
    assert cache.get("299") is not None


def test_the_least_recently_used_go_first(folder, monkeypatch):
    size = 1000 + cache.HEADER.size
    monkeypatch.setattr(cache, "CAPACITY", 10 * size)
    for i in range(10):
        cache.put(str(i), bytes(1000))
        age(entry(folder, str(i)), 100 - i)
    assert cache.get("0") == bytes(1000)  # the oldest, but of use just now
    cache._room.clear()  # as a new process begins
    cache.put("new", bytes(1000))
    left = {key for key in [*map(str, range(10)), "new"] if entry(folder, key).exists()}
    assert left == {"0", "new", "9", "8", "7", "6", "5"}  # seven fill 3/4 of the capacity


@pytest.mark.parametrize(("days", "touched"), [(2, True), (0.9, False), (-2, True)])
def test_a_hit_is_noted_once_a_day(folder, days, touched):
    cache.put("key", b"data")
    path = entry(folder, "key")
    age(path, days)
    before = path.stat().st_mtime
    assert cache.get("key") == b"data"
    assert (path.stat().st_mtime != before) == touched
    assert not touched or abs(path.stat().st_mtime - time.time()) < 60


def test_only_own_files_are_removed(folder, monkeypatch):
    """Someone may name a directory that holds other things; an hour is enough to write a file."""
    folder.mkdir(mode=0o700, parents=True)
    monkeypatch.setattr(cache, "CAPACITY", 1000)
    unfinished = 64 * "a" + cache.UNFINISHED, 64 * "b" + cache.UNFINISHED
    foreign = "thesis.tex", "arm.armdyn", "x" + 64 * "a" + ".armdyn", 64 * "a" + ".armdyn~"
    for name in (*unfinished, *foreign):
        (folder / name).write_bytes(bytes(5000))
        age(folder / name, 400)
    age(folder / unfinished[1], 0.9 / 24)
    for i in range(20):
        cache.put(str(i), bytes(200))
    kept = {path.name for path in folder.iterdir()}
    assert kept >= {*foreign, unfinished[1]} and unfinished[0] not in kept
    assert total(folder) - 2 * 5000 <= 1000  # two of the foreign files end like an entry


def test_entries_that_others_remove_meanwhile_are_passed_over(folder):
    for i in range(5):
        cache.put(str(i), b"data")
    with cache.Folder(folder) as opened:
        listed = []
        for name, _ in opened.files():
            listed.append(name)
            for path in folder.iterdir():
                path.unlink()
    assert len(listed) == 1


def test_looking_at_the_total_is_rare(folder, monkeypatch):
    trim, calls = cache._trim, []
    monkeypatch.setattr(cache, "_trim", lambda folder: calls.append(1) or trim(folder))
    for i in range(100):
        cache.put(str(i), bytes(1000))
    assert len(calls) == 1
