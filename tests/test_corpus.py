"""The processes that try robot files: none can hold up the others."""

import os
import time

from tests.corpus.workers import results


def job(number, step):
    step()
    match number:
        case 1:
            time.sleep(60)
        case 2:
            os._exit(1)
        case 3:
            raise ValueError("three")
    step()
    return 10 * number


def test_a_hang_and_a_crash_hold_up_no_other_job():
    found = dict(results(job, list(range(6)), limit=0.5))
    assert found.pop(3).startswith("crash: Traceback")
    assert found == {0: 0, 1: "hang", 2: "crash", 4: 40, 5: 50}
