"""A fuzz campaign: change good texts; each must end in an arm or in an ArmdynError.

    python -m tests.fuzz                    # ten thousand texts of all kinds
    python -m tests.fuzz 1000000            # a campaign, on all processors: under an hour on two
    python -m tests.fuzz --kind toml 5000   # one kind
    python -m tests.fuzz --kind urdf --show 1234   # one text and its result

Kind and number determine a text. A finding is a foreign exception, a warning, an empty or
unprintable message, a number that is not finite, or a text that takes ten seconds.
"""

from __future__ import annotations

import argparse
import logging
import random
import re
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from armdyn import ArmdynError, Chain, Log
from armdyn.algorithms import crba
from armdyn.loaders import dh_table, mjcf, toml, urdf
from tests.corpus.workers import results
from tests.test_bad_input import GOOD, MIMIC, added, side_arm
from tests.urdf_writer import write

TOML = """# An arm
name = "arm"
angles = "degrees"
gravity = [0, 0, -9.81]
[base]
xyz = [0, 0, 0.5]
rpy = [0, 90, 0]
[[joint]]
name = "shoulder"
type = "revolute"
d = 0.1
alpha = 90
viscous = 0.5
link = {name = "lower", mass = 2, com = [0, 0.1, 0], inertia = [0.02, 0, 0, 0.03, 0, 0.04]}
[[joint]]
type = "prismatic"
a = 0.4
lower = -1
[[frame]]
name = "tool"
link = "link2"
"""
DH = "joint,name,type,a,alpha,d,theta\n1,waist,revolute,0,90,0.3,0\n2,,prismatic,0.4,-90,0,1.5\n"
LOG = "t,q1,q2,tau1,tau2,qd1,qd2\n" + "".join(
    f"{k / 10},{k},{-k / 3:.3f},1e{k},+.5,,{k}\n" for k in range(8)
)
MJCF = """<mujoco model="arm"><compiler angle="radian"/><!-- an arm -->
<option gravity="0 0 -9.81" density="0"/><default><joint damping="0.1"/></default>
<worldbody><site name="start" pos="0 0 0.1"/>
<body name="lower" pos="0 0 0.5" quat="1 0 0 0">
<joint name="shoulder" type="hinge" axis="0 0 1" range="-2 2" armature="0.1"/>
<inertial pos="0 0.1 0.2" mass="2" diaginertia="0.02 0.03 0.04"/>
<body name="upper" pos="0.4 0 0"><joint name="elbow" type="slide" axis="0 1 0" stiffness="2"/>
<geom type="box" size="0.1 0.2 0.3"/><site name="tool"/></body></body>
<body name="cube"><freejoint/><geom size="0.1"/></body></worldbody>
<tendon><fixed name="rope"><joint joint="elbow" coef="2"/></fixed></tendon>
<actuator><motor joint="shoulder" gear="50" ctrlrange="-3 3"/><position joint="elbow" kp="9"/>
<motor tendon="rope"/></actuator></mujoco>"""
SEEDS = {
    "urdf": [
        GOOD,
        added(side_arm(kind="prismatic"), side_arm("finger", "prismatic", "upper", MIMIC)),
        added(side_arm(kind="floating", parent="tool")),
        write(Chain.random(3, "RPR", 1), 1),
        write(Chain.random(4, "RRRP", 2, "parallel"), 2),
    ],
    "toml": [TOML, Chain.random(3, "RPR", 1).to_toml()],
    "dh": [DH, DH.replace(",", ";"), "a,alpha,d,offset\n0,0,1,pi/2\n1,-pi/2,0,0\n"],
    "log": [LOG, LOG.replace(",", "\t"), LOG.replace("q1", "q_elbow").replace("tau1", "tau_elbow")],
    "mjcf": [MJCF],
}
SHARES = {"urdf": 50, "toml": 20, "dh": 14, "log": 14, "mjcf": 2}  # of a campaign [%]
PIECE = re.compile(r"[-+]?\d[\d.]*(?:[eE][-+]?\d+)?|\w+|\s+|.", re.DOTALL)
NUMBERS = "0 -0 1 -1 nan inf -inf 1e-320 1e308 1e999 -1e9 1.5707963 3.14159 1_0 0x1p3 ٣ ² 1e 1,5 +"
SNIPPETS = [
    *('"', "'", "<", ">", "/>", "<!--", "-->", "<![CDATA[", "]]>", "&lt;", "&x;", "&#0;", "${m}"),
    *("{", "}", "[", "]", "[[", "]]", '"""', "=", "#", ",", ";", "\t", "\r", "\n\n", "\0", "\x1b"),
    *("\ufeff", "\u2028", "\ud800", "\U0001f916", "é", "x" * 999, "9" * 400, "<?xml?>", "..", "\\"),
    *('<link name="base"/>', '<joint name="shoulder"/>', "[[joint]]\n", "name = 1\n", ",,,,\n"),
    *('xyz="1 2 3"', 'rpy="0 0"', 'type="floating"', 'class="x"', 'ref="0.5"', "mass = -1\n"),
]
BYTES = [b"\xff\xfe", b"\x00", b"\x80", b"\xc3", b"\x1f\x8b", b"PK\x03\x04", b"\xef\xbb\xbf"]
BATCH = 500  # texts that a process takes at a time
WORST = 20  # findings that are shown


def case(kind: str, number: int) -> tuple[bytes, dict[str, Any]]:
    """The text of a number, and the options of ``load``."""
    draw = random.Random(f"{kind} {number}")
    pieces = PIECE.findall(draw.choice(SEEDS[kind]))
    words = [piece for piece in pieces if piece.isidentifier()]
    for _ in range(draw.choice([0, 1, 1, 1, 1, 2, 2, 3, 6])):
        _change(draw, pieces, words)
    text = bytearray("".join(pieces).encode(errors="surrogatepass"))
    for _ in range(draw.choice([0] * 18 + [1, 3])):
        start = draw.randrange(len(text) + 1)
        text[start : start + draw.randrange(4)] = draw.choice(BYTES)
    if draw.random() < 0.03:
        del text[draw.randrange(len(text) + 1) :]
    numbers = [0.0, -0.5, 3, 1e9, np.nan, np.inf, True, "1", None]
    possible: dict[str, Callable[[], Any]] = {
        "check": lambda: draw.choice(["error", "warn"]),
        "snap": lambda: draw.choice([0.0, 1e-9, 1e-3, 0.5]),
        "gravity": lambda: [draw.choice(numbers[:6]) for _ in range(draw.choice([3, 3, 2]))],
    }
    if kind in ("urdf", "mjcf"):
        possible["tip"] = possible["base"] = lambda: draw.choice(words)
        possible["lock"] = lambda: {draw.choice(words): draw.choice(numbers)}
    if kind == "log":
        possible = {}
    rare = {key: 0.1 for key in possible} | {"check": 0.5}
    return bytes(text), {k: make() for k, make in possible.items() if draw.random() < rare[k]}


def _change(draw: random.Random, pieces: list[str], words: list[str]) -> None:
    """Change a text of pieces in one place."""
    if not pieces:
        return
    start = draw.randrange(len(pieces))
    end = start + draw.choice([1, 1, 2, 5, 30])
    match draw.randrange(10):
        case 0 | 1 | 2 | 8 | 9:
            places = [k for k, piece in enumerate(pieces) if piece[-1].isdigit()]
            new = draw.choice([*NUMBERS.split(), repr(draw.gauss(0, 1)), repr(draw.gauss(0, 1e-6))])
            pieces[draw.choice(places) if places else start] = new
        case 3:
            places = [k for k, piece in enumerate(pieces) if piece.isidentifier()]
            pieces[draw.choice(places) if places else start] = draw.choice(words)
        case 4:
            del pieces[start:end]
        case 5:
            place = draw.randrange(len(pieces))
            pieces[place:place] = pieces[start:end]
        case 6:
            pieces.insert(start, draw.choice(SNIPPETS))
        case 7:
            pieces[start : start + 1] = draw.choice(SNIPPETS) * draw.choice([1, 1, 2, 50])


def ends_well(kind: str, number: int, folder: Path) -> str:
    """The result of a text: "arm", "log" or an error's name; raises for a finding."""
    text, options = case(kind, number)
    try:
        if kind == "log":
            path = folder / "log.csv"
            path.write_bytes(text)
            log = Log.read(path)
            assert len(log) == len(log.q) == len(log.tau) and log.n
            return "log"
        loader = {"urdf": urdf, "toml": toml, "dh": dh_table, "mjcf": mjcf}[kind]
        arm = loader.load(text, **options)
    except ArmdynError as error:
        assert len(str(error)) > 12, str(error)
        assert all(sign.isprintable() for sign in str(error)), ascii(str(error))
        return type(error).__name__
    assert isinstance(arm, Chain)
    assert np.isfinite(crba.mass_matrix(arm.on(float), [0.5] * arm.n)).all()
    assert all(np.isfinite(position) for _, position in arm.locked)
    return "arm"


def _batch(job: tuple[str, int, int], step: Callable[[], None]) -> tuple[Counter[str], list[str]]:
    """The results of consecutive texts, and the findings."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("error")
    kind, first, end = job
    ends: Counter[str] = Counter()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, end):
            step()
            try:
                ends[ends_well(kind, number, Path(folder))] += 1
            except Exception:
                ends["not well"] += 1
                found.append(f"{kind} {number}: {traceback.format_exc(limit=-3)}")
    return ends, found


def main() -> int:
    """Run a campaign; returns 1 if there is a finding."""
    parser = argparse.ArgumentParser("python -m tests.fuzz")
    parser.add_argument("count", nargs="?", type=int, default=10_000, help="texts in all")
    parser.add_argument("--kind", choices=SEEDS, help="of the texts; all if not given")
    parser.add_argument("--start", type=int, default=0, help="the number of the first")
    parser.add_argument("--show", type=int, help="the number of a text to print and to try")
    asked = parser.parse_args()
    shares = {asked.kind: 100} if asked.kind else SHARES
    if asked.show is not None:
        print(*case(*shares, asked.show), sep="\n")
        print(_batch((*shares, asked.show, asked.show + 1), lambda: None))
        return 0
    jobs = [
        (kind, first, min(first + BATCH, asked.start + asked.count * share // 100))
        for kind, share in shares.items()
        for first in range(asked.start, asked.start + asked.count * share // 100, BATCH)
    ]
    random.Random(0).shuffle(jobs)
    ends: dict[str, Counter[str]] = {kind: Counter() for kind in shares}
    found: list[str] = []
    for done, (job, answer) in enumerate(results(_batch, jobs), start=1):
        if isinstance(answer, str):
            answer = Counter([answer.partition(":")[0]]), [f"{job}: {answer}"]
        ends[job[0]] += answer[0]
        found += answer[1]
        if done % 20 == 0 or done == len(jobs):
            print(f"{done}/{len(jobs)} runs, {len(found)} findings", file=sys.stderr, end="\r")
    print()
    for kind, counts in ends.items():
        print(f"{kind}: {sum(counts.values())} texts:", dict(counts.most_common()))
    kinds = Counter(line.strip().splitlines()[-1][:100] for line in found)
    print(*(f"{count} x {line}" for line, count in kinds.most_common(WORST)), sep="\n")
    print(*found[:WORST], sep="\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
