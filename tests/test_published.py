"""What the papers print about counts: the file, count's kind "paper", tables, the papers' pages."""

import contextlib
import json
from pathlib import Path

import pytest

from armdyn import Chain, MethodError, count
from armdyn.algorithms import catalogue
from armdyn.cli import main
from armdyn.comparison import printed
from armdyn.counting import published
from docs import make_papers

ROOT = Path(__file__).parents[1]
LINES = published.lines()


# The file ----------------------------------------------------------------------------------------


def test_cells_are_values_of_the_polynomials_but_for_three():
    others = {
        (line.place, line.name, n): cell
        for line in LINES
        for n, cell in line.cells.items()
        if cell != tuple(polynomial(n) for polynomial in line.printed)
    }
    assert others == {
        ("Table VI, type 1", "Formulation 5", 11): (1016, 662),
        ("Table VIII, type 1", "Kawasaki et al. I", 4): (194, 174),
        ("Section 4.2", "Steps 1 to 7", 6): (1647, 1715),
    }


def test_printed_lines_add_up_to_the_printed_polynomials_but_for_four():
    pairs = {(x.place, x.name): (x.printed, x.by_the_paper) for x in LINES if x.printed}
    others = {
        key: tuple(str(a - b) for a, b in zip(*pair, strict=True))
        for key, pair in pairs.items()
        if pair[0] != pair[1]
    }
    assert others == {
        ("Table VI, type 1", "Formulation 4"): ("-4", "0"),
        ("Table VI, type 2", "Formulation 4"): ("-4", "0"),
        ("Table VI, type 2", "Formulation 2"): ("3", "3"),
        ("Section 4.2", "Steps 1 to 7"): ("0", "-n"),
    }


@pytest.mark.parametrize(
    "line", [x for x in LINES if x.steps], ids=lambda line: f"{line.method} {line.joints}"
)
def test_the_lines_of_our_method_add_up_to_its_count(line):
    """So the list of lines shows where ours differs, and all of it."""
    for n in (5, 7, 12):
        found = count(Chain.random(n, line.kinds(n)), line.quantity, line.method, stage=line.stage)
        ours = tuple(polynomial(n) for polynomial in published.total(line.steps, "ours"))
        assert ours == (found.mul, found.add + found.double)


def differences():
    """Counted minus printed, M and A, of every line that both have, unless it is zero."""
    for paper in published.PAPERS:
        for table in published.tables(paper):
            for line in table.lines:
                ours = line.printed and not line.steps and printed.fitted(table, line)
                both = zip(ours or (), line.printed or (), strict=False)
                apart = tuple(str(a - b) for a, b in both)
                if set(apart) - {"0"}:
                    yield (table.place, line.name), apart


def test_differences_without_printed_lines():
    """Each has a note that gives its reason, or says that the paper prints no break-down."""
    found = dict(differences())
    assert {key: apart for key, apart in found.items() if key[0] != "Section 4.2"} == {
        ("Table I", "Walker and Orin"): ("-3n+13", "-n^2-10n+13"),
        ("Table I", "Fijany and Bejczy"): ("-25n-26", "-24n-7"),
        ("Text before Table I", "Present, H and b"): ("-3", "-3"),
        ("Table II", "Present"): ("-3", "-3"),
        ("Table VII, type 1", "All bodies"): ("-n+2", "0"),
        ("Table VII, type 2", "All bodies"): ("-n+2", "0"),
        ("Table VIII, type 1", "Formulation 1"): ("-n+2", "0"),
        ("Table VIII, type 1", "Formulation 2"): ("n", "0"),
        ("Table VIII, type 2", "Formulation 1"): ("-n-2", "-4"),
        ("Table VIII, type 2", "Formulation 2"): ("n-7", "-3"),
        ("Table I", "CRBA"): ("0", "-2n+2"),
        ("Table I", "RNEA"): ("n+29", "n+26"),
    }
    assert {name for place, name in found if place == "Section 4.2"} == {
        *(f"Step {k}" for k in range(1, 8)),
        "Steps 1 to 4",
        "Steps 1 to 7",
    }


# count(..., kind="paper") ------------------------------------------------------------------------


def test_a_paper_counts_joints_of_the_same_kinds():
    puma, stanford = Chain.random(6), Chain.random(6, "RRPRRR")
    for chain, expected in ((puma, (265, 190)), (stanford, (228, 157))):
        found = count(chain, "mass_matrix", "lin-fang-2", "paper", "matrix")
        assert (found.mul, found.add) == expected


@pytest.mark.parametrize(
    ("joints", "quantity", "method", "message"),
    [
        ("RRRRRR", "mass_matrix", "crba-minimal", "by crba-minimal for joints RRRRRR; printed for"),
        ("RRP", "mass_matrix", "crba", "by crba for joints RRP; printed for some joints: walker"),
        ("RRR", "mass_matrix", None, "takes the name of a method"),
        ("RRR", "gravity", "lagrange", "no paper prints a count of gravity by any method"),
    ],
)
def test_what_no_paper_prints(joints, quantity, method, message):
    with pytest.raises(MethodError, match=message):
        count(Chain.random(len(joints), joints), quantity, method, "paper")


# Our counts --------------------------------------------------------------------------------------

AS_COUNTED = {"lin1991": None, "gdahj": "dynamics", "crba-minimal": None}


@pytest.mark.parametrize("method", [*AS_COUNTED, "lin-fang-1-minimal"])
def test_counts_in_the_readme(method):
    """A column has one kind of count: as the paper counts, and with equal terms shared."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (line,) = [line for line in readme.splitlines() if f"(`{method}`)" in line]
    stage, chain = AS_COUNTED.get(method), Chain.random(6)
    shared = count(chain, "mass_matrix", method, "shared", stage)
    parts = [count(chain, "mass_matrix", method, "literal", stage)]
    if method == "lin-fang-1-minimal":  # as Table VIII
        parts = [
            count(chain, "mass_matrix", "lin-fang-1", "literal", "matrix"),
            count(chain, "mass_matrix", method, "folded", "composites"),
        ]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    for cell, found in zip(cells[-2:], (sum(parts[1:], parts[0]), shared), strict=True):
        assert cell == " + ".join(str(n) for n in (found.mul, found.add, found.double) if n)


def test_the_fewest_operations_known():
    """For M of six revolute joints, with equal terms shared: crba-minimal takes 575."""
    chain = Chain.random(6)
    costs = {
        method.name: count(chain, "mass_matrix", method.name, "shared").cost
        for method in catalogue.methods("mass_matrix")
    }
    assert min(costs, key=costs.get) == "crba-minimal"
    assert costs["crba-minimal"] == 319 + 252 + 4


# armdyn tables -----------------------------------------------------------------------------------


def shown(capsys, *arguments):
    status = main(("tables", *arguments))
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.mark.parametrize("paper", published.PAPERS)
def test_tables_name_their_kinds_of_count(paper):
    for grid in printed.grids(paper):
        assert {len(row) for row in grid.rows} == {len(grid.headings)}
        assert any("printed" in text for row in (grid.headings, *grid.rows) for text in row)
    for table in published.tables(paper):
        kinds = {" + ".join(dict.fromkeys(p.kind for p in x.parts)) for x in table.lines if x.parts}
        assert kinds == {table.kind}


def test_terminal_of_a_hundred_columns(capsys):
    status, out, err = shown(capsys, "--paper", "kang")
    assert (status, err) == (0, "")
    assert "23/6n^3+6.5n^2+697/6n-138" in out and "its lines" in out
    assert max(map(len, out.splitlines())) <= 100 and "…" not in out


def test_json_has_all_of_it(capsys):
    _, out, _ = shown(capsys, "--paper", "lin1991", "--json")
    (paper,) = json.loads(out)
    table, cells, *_ = paper["tables"]
    assert table["headings"] == ["", "", "printed", "its lines", "literal", "difference"]
    assert table["rows"][2] == ["Renaud", "M", *["13.5n^2+22.5n-68"] * 3, "0"]
    assert cells["rows"][0][:5] == ["Walker and Orin", "printed", "76/74", "184/166", "314/274"]


def test_markdown_of_one_paper(capsys):
    _, out, _ = shown(capsys, "--paper", "zomaya1988", "--markdown")
    assert out.startswith("## zomaya1988") and "kang" not in out
    for block in out.split("\n\n"):
        if block.startswith("|"):
            assert len({line.count(" | ") for line in block.strip().splitlines()}) == 1


def test_torques_of_the_stanford_arm():
    """With gravity turned up, joint 3 comes near the printed -57.26."""
    (grid,) = printed.grids("zomaya1988")
    rows = [row[2:6] for row in grid.rows[:3]]
    assert [row[0] for row in rows] == ["printed", "lagrange, gravity down", "lagrange, gravity up"]
    assert [row[3] for row in rows] == ["-57.26", "64.18", "-57.09"]


def test_an_interrupted_command_prints_nothing(capsys, monkeypatch):
    def interrupt(paper):
        raise KeyboardInterrupt

    monkeypatch.setattr(printed, "torques", interrupt)
    with contextlib.suppress(KeyboardInterrupt):
        main(("tables", "--markdown"))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("key", ["lin1992", "safea2018"])
def test_an_unknown_paper_takes_one_line(capsys, key):
    status, out, err = shown(capsys, "--paper", key)
    assert (status, out) == (2, "")
    assert f"no paper '{key}'" in err and "lin1991" in err and err.count("\n") == 1


# The pages ---------------------------------------------------------------------------------------


def test_the_pages_are_up_to_date():
    """If not: python docs/make_papers.py."""
    for path, text in make_papers.pages().items():
        assert path.read_text(encoding="utf-8") == text, path.name


@pytest.mark.parametrize("text", ["no markers", "<!-- tables: begin --> and no end"])
def test_a_page_without_markers_is_refused(text):
    with pytest.raises(ValueError, match="no markers"):
        make_papers.filled(text, "tables", "| |")
