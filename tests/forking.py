"""Forks again and again while threads trace, compile and drop kernels; run by test_forks.py.

Every child compiles a kernel of its own and compares it with an algorithm in floats. One that
hangs is ended by its alarm, one that is wrong or dies says so by its status.
"""

import os
import signal
import sys
import threading

import numpy as np

from armdyn import Chain, Robot, count
from armdyn.algorithms import newton_euler

SECONDS = 30  # for a child to compile what takes some milliseconds


def compile_and_compare(seed):
    """Whether a new arm's gravity, alone and in a batch, is that of Newton-Euler in floats."""
    chain = Chain.random(2, seed=seed)
    q = np.array([0.3, -0.7])
    truth = newton_euler.gravity(chain.on(float), q.tolist())
    found = Robot(chain).gravity(q), *Robot(chain).gravity(np.stack([q, q]))
    return all(np.allclose(g, truth, rtol=0, atol=1e-13) for g in found)


def answer_in_child(seed):
    signal.alarm(SECONDS)
    right = False
    try:
        count(Robot(Chain.random(2, seed=seed)), "gravity", "newton-euler", kind="literal")
        right = compile_and_compare(seed)
    finally:
        os._exit(0 if right else 1)


def main(forks):
    """0 if all children were right, else the number of those that were not."""
    compile_and_compare(0)  # imports what is needed: no child survives its parent's importing
    done, failed = threading.Event(), 0

    def keep_compiling(first):
        seed = first
        while not done.is_set():
            seed += 1
            compile_and_compare(seed)

    def keep_counting():
        robot = Robot(Chain.random(2))
        while not done.is_set():
            count(robot, "gravity", "newton-euler", kind="literal")

    threads = [threading.Thread(target=keep_compiling, args=(10**k,)) for k in (5, 6)]
    threads.append(threading.Thread(target=keep_counting))
    for thread in threads:
        thread.start()
    try:
        for seed in range(forks):
            child = os.fork()
            if child == 0:
                answer_in_child(seed)
            failed += os.waitpid(child, 0)[1] != 0
            if failed:
                break
    finally:
        done.set()
        for thread in threads:
            thread.join()
    return failed


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
