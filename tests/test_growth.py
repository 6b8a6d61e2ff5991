"""What hostile text costs: four times the text takes at most eight times the processor's time.

A quadratic reader takes sixteen times as much. XML has tests of its own.
"""

import time
from contextlib import suppress

import numpy as np
import pytest

from armdyn import ArmdynError
from armdyn.errors import meant
from armdyn.identification import Log
from armdyn.identification.formats import CsvTable, layout
from armdyn.loaders import dh_table, toml

ARM = "[[joint]]\ntype = 'revolute'\nlink = {mass = 1, inertia = [1, 1, 1]}\n"
ROW = "revolute,0.1,0.2,0.3,0.4\n"
HEAD = "type,b,beta,d,theta\n"


def names(n):
    return [f"a{k}" for k in range(n)]


def log_columns(n, ending=""):
    """The first two lines of a CSV log of n named joints."""
    heads = ["t", *(f"q_{name}" for name in names(n)), *(f"tau_{name}" for name in names(n))]
    return ",".join(heads), ",".join(["0"] * (2 * n) + [ending or "0"])


def read_log(n, ending=""):
    head, row = log_columns(n, ending)
    table = CsvTable(",", head.split(","), layout(head.split(",")))
    return table.rows([f"{row}\n".encode()], 2)


def order_log(n):
    zeros = np.zeros((1, n))
    Log([0.0], zeros, zeros, joints=names(n)).for_joints(names(n)[::-1])


def miss_joint(n):
    zeros = np.zeros((1, n))
    Log([0.0], zeros, zeros, joints=names(n)).for_joints(["b1"])


HOSTILE = {  # what reads a text of size n, and the least n
    "TOML, a dotted key": (lambda n: toml.load("a." * n + "a = 1"), 50_000),
    "TOML, a dotted key in quotes": (lambda n: toml.load("'a' . " * n + "a = 1"), 20_000),
    "TOML, a dotted table": (lambda n: toml.load(f"[{'a.' * n}a]"), 50_000),
    "TOML, a dotted key in a line": (lambda n: toml.load(f"a = {{{'a.' * n}a = 1}}"), 50_000),
    "TOML, keys of eight parts": (
        lambda n: toml.load("".join(f"[a{k}.a.a.a]\na.a.a.a.a.a.a.a=1\n" for k in range(n))),
        200,
    ),
    "TOML, many keys": (lambda n: toml.load("".join(f"a{k}=1\n" for k in range(n))), 2_000),
    "TOML, many tables": (lambda n: toml.load("[[joint]]\n[joint.link]\n" * n), 2_000),
    "TOML, brackets": (lambda n: toml.load("a = " + "[" * n), 50_000),
    "TOML, strings that do not end": (lambda n: toml.load('"""\n' + '\\"""\n' * n), 20_000),
    "TOML, quotes": (lambda n: toml.load('"\\' * n), 20_000),
    "TOML, one word": (lambda n: toml.load("a" * n), 100_000),
    "TOML, words": (lambda n: toml.load("a " * n), 50_000),
    "TOML, digits": (lambda n: toml.load("snap = 0." + "1" * n), 50_000),
    "TOML, a long name": (lambda n: toml.load(f"{ARM}name = '{'n' * n}'"), 100_000),
    "TOML, a long link's name": (
        lambda n: toml.load(f"{ARM}[[frame]]\nname = 'f'\nlink = '{'link1' * n}'"),
        20_000,
    ),
    "DH table, rows": (lambda n: dh_table.load(HEAD + ROW * n), 2_000),
    "DH table, columns": (lambda n: dh_table.load(",".join(["b", "d"] * n) + "\n1"), 50_000),
    "DH table, unknown columns": (lambda n: dh_table.load(",".join(names(n)) + "\n1"), 20_000),
    "DH table, a long name": (
        lambda n: dh_table.load(f"name,{HEAD}{'n' * n},{ROW}"),
        20_000,
    ),
    "DH table, a long number": (lambda n: dh_table.load(HEAD + ROW.strip() + "0" * n), 20_000),
    "DH table, a quote that does not end": (lambda n: dh_table.load(HEAD + '"' + ROW * n), 500),
    "a slip in a long name": (lambda n: meant(many(n), [many(n)[::-1], many(n) + "x"]), 500),
    "log, columns": (read_log, 5_000),
    "log, columns and a blank cell": (lambda n: read_log(n, " "), 5_000),
    "log, other names": (lambda n: layout(["t", *(f"q_a{k}" for k in range(n)), "tau_b"]), 5_000),
    "log, a long name": (lambda n: layout(["t", f"q_{'a' * n}", f"tau_{'a' * n}b"]), 100_000),
    "log, joints in another order": (order_log, 5_000),
    "log, a joint that it does not have": (miss_joint, 5_000),
}


def many(n):
    """A name of many different letters."""
    return "".join(chr(0x4E00 + k % 20_000) for k in range(n))


def seconds(function, n):
    start = time.process_time()
    with suppress(ArmdynError):
        function(n)
    return time.process_time() - start


@pytest.mark.sweep
@pytest.mark.parametrize("case", HOSTILE)
def test_time_grows_as_the_text(case):
    function, n = HOSTILE[case]
    pairs = [(seconds(function, n), seconds(function, 4 * n)) for _ in range(5)]
    small, large = map(min, zip(*pairs, strict=True))
    assert large < 8 * max(small, 2e-4)
