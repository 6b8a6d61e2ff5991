"""Ctrl-C at random moments, and forks under load: nothing hangs, crashes or answers wrongly.

``python -m tests.storm --interrupts 10000 --forks 1000`` says how many there were, and how many
processes came to a bad end. Every process is a fresh one, for the first use imports most.
"""

import argparse
import faulthandler
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

import numpy as np

import armdyn
from armdyn import forks

PROJECT = Path(__file__).parent.parent
INTERRUPTS, FORKS = 100, 20  # of one process
SECONDS = 100  # after which a process hangs that works for some seconds


def use(seed):
    """Whether a new arm's gravity, alone and in a batch, is that of Newton-Euler in floats."""
    with forks.importing:
        from armdyn.algorithms import newton_euler

    chain = armdyn.Chain.random(2, seed=seed)
    q = np.array([0.3, -0.7])
    truth = newton_euler.gravity(chain.on(float), q.tolist())
    robot = armdyn.Robot(chain)
    found = robot.gravity(q), *robot.gravity(np.stack([q, q]))
    return all(np.allclose(g, truth, rtol=0, atol=1e-13) for g in found)


def use_more(seed):
    """Something else of many rooms, chosen by the seed; nothing is checked but that it is done."""
    zero = np.zeros(2)
    robot = armdyn.Robot(armdyn.Chain.random(2, seed=seed))
    [
        lambda: armdyn.load("two_link").mass_matrix(zero),
        lambda: armdyn.load(robot.chain.to_urdf()).energy(zero, zero),
        lambda: armdyn.Robot(robot.chain.with_payload(1.0)).pose(zero),
        lambda: armdyn.count(robot, "gravity", "newton-euler", kind="literal"),
        lambda: armdyn.simulate(robot, zero, zero, zero, 0.01, 0.001),
        lambda: robot.stepper(0.001).step(zero, zero, zero),
        lambda: robot.derivative("gravity", "q")(zero),
        lambda: robot.minimal_parameters(),
    ][seed % 8]()


def interrupted(seed, count):
    """Use armdyn while another process sends Ctrl-C, and once more when it has stopped."""
    came, armed = 0, False

    def interrupt(number, frame):
        nonlocal came
        came += 1
        if armed:
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, interrupt)
    print("ready", flush=True)
    step = seed
    while came < count:
        try:
            armed = True
            while came < count:
                use_more(step)
                if not use(step):
                    return came, "wrong"
                step += 1
        except KeyboardInterrupt:
            armed = False
            step += 1
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = []
    threads = [threading.Thread(target=lambda k=k: answers.append(use(k))) for k in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS / 4)
    use_more(seed)
    fine = answers == [True, True] and use(3) and all_are_free()
    return came, "fine" if fine else "locked or wrong"


def all_are_free():
    """Whether another thread may take every lock that a fork waits for."""
    free = []

    def take():
        for lock in forks.LOCKS:
            free.append(lock.acquire(timeout=9))
            if free[-1]:
                lock.release()

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    return all(free)


def forking(seed, count):
    """Fork while threads use armdyn, from its first import on; every child uses it, too."""
    done, failed = threading.Event(), 0

    def keep_using(function, first):
        step = first
        while not done.is_set():
            function(step)
            step += 1

    for k, function in enumerate((use, use_more, use_more)):
        thread = threading.Thread(target=keep_using, args=(function, seed + 10**k), daemon=True)
        thread.start()
    pick = random.Random(seed)
    for k in range(count):
        time.sleep(pick.choice((0, 0, 0.002, 0.02)))
        child = os.fork()
        if child == 0:
            faulthandler.dump_traceback_later(SECONDS // 4, exit=True)
            right = False
            try:
                use_more(seed + k)
                right = use(seed + k)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(0 if right else 1)
        failed += os.waitpid(child, 0)[1] != 0
        if failed:
            break
    done.set()
    return k + 1, "fine" if not failed else "a child hung, died or was wrong"


def one_process(kind, seed, count):
    """How much one process got, and how it ended."""
    command = [sys.executable, "-m", "tests.storm", "--only", kind, str(seed), str(count)]
    environment = os.environ | {"ARMDYN_CACHE_DIR": ""}
    pick, end = random.Random(seed), time.monotonic() + SECONDS
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command, cwd=PROJECT, env=environment, stdout=said, stderr=errors
        )
        while process.poll() is None and time.monotonic() < end:
            time.sleep(pick.uniform(0.0005, 0.02))
            if kind == "interrupted" and os.fstat(said.fileno()).st_size:  # it is ready
                process.send_signal(signal.SIGINT)
        status = process.poll()
        process.kill()
        process.wait()
        said.seek(0)
        errors.seek(0)
        trouble = errors.read()[-2000:].decode()
        if status != 0:
            return 0, f"{'hung' if status is None else f'ended with {status}'}: {trouble}"
        came, how = json.loads(said.read().splitlines()[-1])
    return came, how if how == "fine" else f"{how}: {trouble}"


def campaign(kind, total, each, seconds=float("inf"), seed=0):
    """How many interrupts or forks there were, and every bad end."""
    came, bad, end = 0, [], time.monotonic() + seconds
    while came < total and len(bad) < 5 and time.monotonic() < end:
        count, how = one_process(kind, seed, min(each, total - came))
        came += count
        if how != "fine":
            bad.append(f"seed {seed}: {how}")
        seed += 1000
    return came, bad


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--interrupts", type=int, default=0)
    parser.add_argument("--forks", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="the most it takes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.only:
        kind, seed, count = asked.only
        run = {"interrupted": interrupted, "forking": forking}[kind]
        print(json.dumps(run(int(seed), int(count))), flush=True)
        return 0
    worst = 0
    for kind, total, each in (
        ("interrupted", asked.interrupts, INTERRUPTS),
        ("forking", asked.forks, FORKS),
    ):
        came, bad = campaign(kind, total, each, asked.seconds, asked.seed)
        print(f"{kind}: {came} of {total}, {len(bad)} bad ends", *bad, sep="\n")
        worst += len(bad)
    return min(worst, 1)


if __name__ == "__main__":
    sys.exit(main())
