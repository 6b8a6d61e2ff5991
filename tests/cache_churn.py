"""A process that puts, gets, evicts and damages the entries of a disk cache, as others do too."""

import json
import os
import random
import shutil
import sys
import time
from contextlib import suppress
from pathlib import Path

from armdyn.engine import cache

SECONDS = 1.8
DATA = {key: random.Random(key).randbytes(20_000 + ord(key)) for key in "abcde"}


def damage(folder, generator):
    """What crashes, other programs and bad disks may do to a file, while others read it."""
    path, other = (folder / cache._name(generator.choice([*DATA])) for _ in "12")
    kind = generator.randrange(8)
    with suppress(OSError):
        if kind == 0:
            path.unlink()
        elif kind == 1:
            os.replace(other, path)
        elif kind == 2:
            path.write_bytes(other.read_bytes())
        elif kind == 3:
            other.unlink()
            other.symlink_to(path)
        elif kind == 4 and generator.random() < 0.1:
            shutil.rmtree(folder)
        else:
            with open(path, "r+b") as file:
                file.seek(generator.randrange(20_000))
                file.truncate() if kind == 5 else file.write(generator.randbytes(2))


def churn(seed):
    """How many gets found the right data, none, or worse."""
    generator, folder = random.Random(seed), Path(cache._path())
    cache.CAPACITY = 90_000  # room for four of the five entries: there is always one to evict
    found = {"right": 0, "none": 0, "wrong": 0}
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        key, dice = generator.choice([*DATA]), generator.random()
        if dice < 0.2:
            cache.put(key, DATA[key])
        elif dice < 0.3:
            damage(folder, generator)
        else:
            data = cache.get(key)
            right = "right" if data == DATA[key] else "wrong"
            found["none" if data is None else right] += 1
    return found


if __name__ == "__main__":
    print(json.dumps(churn(int(sys.argv[1]))))
