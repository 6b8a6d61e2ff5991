"""The examples run as a user runs them, and say what they should."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SAYS = {  # by example: its arguments, and what it must print
    "first_steps": ((), "forward dynamics gives the motion back"),
    "compare_formulations": (("two_link",), "least time a call: "),
    "gravity_compensation": ((), "energy of motion: "),
    "adaptive_control": ((), "all ten parameters found: True"),
    "export_c": ((), "void ur5_mass_matrix(const double q[6], double M[36]);"),
    "optimal_control": ((), "converged: True"),
    "million_states": (("20000",), "the last one alone gives the same bits: True"),
    "balance_gym": ((), "the arms learned to balance"),
}
NEEDS = {"balance_gym": "gymnasium"}  # packages that not everybody has


def test_every_example_is_run():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(SAYS)


@pytest.mark.parametrize("name", SAYS)
def test_example_runs(name, tmp_path):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"{name} needs {NEEDS[name]}")
    arguments, says = SAYS[name]
    command = [sys.executable, "-W", "error", str(EXAMPLES / f"{name}.py"), *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert says in done.stdout and done.stderr == ""
    assert list(tmp_path.iterdir()) == []  # nothing is left behind
