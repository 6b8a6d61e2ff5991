"""Does an installed armdyn work? ``python .ci/smoke.py [--call-path C|ctypes]``, from any folder.

Uses what pip installed and nothing of the checkout: run by CI in empty environments.
"""

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import numpy as np

import armdyn


def check_place() -> None:
    """The package is the installed one, and brought its data."""
    here = Path(armdyn.__file__).resolve().parent
    installed = Path(sysconfig.get_path("platlib")).resolve()
    assert installed in here.parents, f"{here} does not lie in {installed}"
    assert (here / "py.typed").exists() and (here / "models" / "LICENCES.txt").exists()
    assert len(armdyn.robots()) >= 10, armdyn.robots()
    assert armdyn.load("two_link").view().text.startswith("<!DOCTYPE html>")


def check_laws() -> None:
    """M qdd + bias = tau, and forward dynamics undoes inverse dynamics; alone and in a batch."""
    robot = armdyn.load("panda")
    for batch in (), (1000,):
        q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, *batch, robot.n))
        tau = robot.inverse_dynamics(q, qd, qdd)
        M, bias = robot.mass_matrix(q), robot.bias(q, qd)
        np.testing.assert_allclose(np.einsum("...ij,...j", M, qdd) + bias, tau, atol=1e-11)
        np.testing.assert_allclose(robot.forward_dynamics(q, qd, tau), qdd, atol=1e-10)


def check_commands() -> None:
    """The command line, by module and by script."""
    script = Path(sysconfig.get_path("scripts")) / ("armdyn.exe" if os.name == "nt" else "armdyn")
    robots = run(sys.executable, "-m", "armdyn", "robots")
    assert "panda" in robots and robots == run(script, "robots")
    with tempfile.TemporaryDirectory() as folder:
        written = run(script, "export", "two_link", "--to", "c", "-o", folder).split()
        assert written and all(Path(path).stat().st_size for path in written)
        compiler = shutil.which("cc")
        for path in written:
            if compiler and path.endswith(".c"):
                run(compiler, "-c", path, "-o", f"{path}.o")


def run(*command: str | Path) -> str:
    """What a command prints; it must succeed in silence."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stderr == "", f"{command}: {done.stderr}"
    return done.stdout


def main() -> None:
    """Check all of it, and that calls take the path that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--call-path", choices=["C", "ctypes"])
    wanted = parser.parse_args().call_path
    path = armdyn.info()["call_path"]
    assert wanted is None or path.startswith(wanted), path
    check_place()
    check_laws()
    check_commands()
    print(f"armdyn {armdyn.__version__} works: Python {sys.version.split()[0]}, {path}")


if __name__ == "__main__":
    main()
