"""The notebooks run, cell by cell, and the site shows what they print and draw."""

import json
import logging

import pytest

from docs import notebooks

NOTEBOOKS = sorted(notebooks.FOLDER.glob("*.ipynb"))
LONG = ("identify-tx40",)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.sweep] * (path.stem in LONG))
        for path in NOTEBOOKS
    ],
)
def test_notebooks_run_and_are_kept_without_outputs(path, caplog):
    caplog.set_level(logging.NOTSET, "armdyn")  # set back when the test ends, whatever a cell sets
    pytest.importorskip("matplotlib")
    pytest.importorskip("scipy")
    document = json.loads(path.read_text(encoding="utf-8"))
    assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in document["cells"]}) == len(document["cells"])
    for cell in document["cells"]:
        assert cell.get("outputs", []) == [] and cell.get("execution_count") is None
    cells = list(notebooks.run(path))
    assert any(shown is not None for *_, shown in cells)
    assert sum(kind == "code" for kind, *_ in cells) >= 4


def test_there_are_three_notebooks():
    assert len(NOTEBOOKS) == 3


def made_notebook(folder, *sources):
    cells = [{"cell_type": kind, "source": [text]} for kind, text in sources]
    path = folder / "made.ipynb"
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    return path


def test_a_notebook_shows_what_its_cells_print_and_end_with(tmp_path):
    path = made_notebook(
        tmp_path,
        ("markdown", "# Title"),
        ("code", "x = 6\nprint('six')\nx * 7"),
        ("code", "x;"),
        ("code", "'<b>' + str(x)"),
    )
    text = notebooks.markdown(path)
    assert text.startswith("# Title\n")
    assert "```text\nsix\n```" in text and "<pre>42</pre>" in text
    assert "<pre>6</pre>" not in text  # it ends in ;
    assert "&lt;b&gt;6" in text and "<b>6" not in text


def test_a_notebook_that_fails_says_in_which_cell(tmp_path):
    path = made_notebook(tmp_path, ("markdown", "text"), ("code", "1 / 0"))
    with pytest.raises(ZeroDivisionError) as caught:
        list(notebooks.run(path))
    assert caught.traceback[-1].path == "cell 1 of made.ipynb"
