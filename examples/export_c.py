"""Export an arm's dynamics as C99 that a controller can keep: ``export_c.py [DIRECTORY]``."""

import sys
import tempfile
from pathlib import Path

import armdyn
from armdyn import export

robot = armdyn.load("ur5")
files = export.c_files(robot.chain, ["mass_matrix", "bias", "forward_dynamics"])

with tempfile.TemporaryDirectory() as scratch:
    directory = Path(sys.argv[1] if len(sys.argv) > 1 else scratch)
    for path in export.write(files, directory):
        print(f"{path.name}: {len(path.read_text().splitlines())} lines")

header = next(text for name, text in files.items() if name.endswith(".h"))
print("\n".join(line for line in header.splitlines() if line.startswith("void ")))
