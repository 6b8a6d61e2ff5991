"""The numbers on the home page: read from the benchmarks' results, never typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results.json"
ARM, BATCH = "panda", 4096


def setup(app: Any) -> dict[str, Any]:
    """Joins Sphinx."""
    app.add_directive("three-numbers", ThreeNumbers)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


class ThreeNumbers(Directive):
    """``{three-numbers}``: what was measured, in large letters, and on what."""

    def run(self) -> list[nodes.Node]:
        """The numbers, as HTML."""
        self.state.document.settings.env.note_dependency(str(RESULTS))
        results = json.loads(RESULTS.read_text(encoding="utf-8"))
        cells = "".join(f"<div><strong>{n}</strong>{text}</div>" for n, text in three(results))
        where = (
            f"Measured on one core of an {results['machine']['processor']}, Python "
            f"{results['machine']['python']}"
        )
        html = f'<div class="numbers">{cells}</div><p class="where">{where}; '
        return [
            nodes.raw("", f'{html}<a href="performance.html">all results</a>.</p>', format="html")
        ]


def three(results: dict[str, Any]) -> list[tuple[str, str]]:
    """Each number, and what it is the number of."""
    call = seconds(results, "mass_matrix", "armdyn", "new array", 1)
    other = seconds(results, "forward_dynamics", "pinocchio", "new array", 1)
    ours = seconds(results, "forward_dynamics", "armdyn", "new array", 1)
    batched = seconds(results, "inverse_dynamics", "armdyn", "in place", BATCH)
    return [
        (f"{1e9 * call:.0f} ns", "for the mass matrix of a seven-joint arm, called from Python"),
        (f"{other / ours:.1f} times", "as fast as Pinocchio's forward dynamics from Python"),
        (f"{1e-6 / batched:.0f} million", "states a second of inverse dynamics in a batch"),
    ]


def seconds(results: dict[str, Any], quantity: str, library: str, form: str, batch: int) -> float:
    """The least time a state that was measured of the Panda, on one core, in doubles."""
    wanted = (ARM, quantity, library, form, batch, "float64", 1)
    keys = ("arm", "quantity", "library", "form", "batch", "dtype", "cores")
    (found,) = (r for r in results["speed"] if tuple(r[key] for key in keys) == wanted)
    return float(found["least"])
