"""The C compiler of this machine, on its strictest terms."""

import shutil
import subprocess

import pytest

CC = shutil.which("gcc") or shutil.which("cc")
needs_compiler = pytest.mark.skipif(CC is None, reason="no C compiler")
STRICT = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off")


def gcc(*arguments):
    done = subprocess.run([CC, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done
