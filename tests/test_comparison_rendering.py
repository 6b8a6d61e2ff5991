"""The comparison as it is shown: tables, notebooks, files, pictures."""

import csv
import io
import json
from dataclasses import replace
from xml.etree import ElementTree

import pytest

import armdyn
from armdyn import Robot
from armdyn.cli import main
from armdyn.comparison import arms, page, rendering
from armdyn.comparison.ranking import Measured
from tests.interpreting import LEAST, interpret


@pytest.fixture(scope="module")
def found():
    with pytest.MonkeyPatch.context() as patch:
        interpret(patch)
        return armdyn.compare(armdyn.load("two_link"), **LEAST)


def test_the_table_fits_eighty_columns_and_tells_more_in_wider_terminals(found):
    narrow, wide = (rendering.text(found, width) for width in (80, 175))
    assert max(map(len, narrow.splitlines())) <= 80
    assert max(map(len, wide.splitlines())) <= 175
    for ranking in found.rankings:
        for line in ranking.rows:
            cells = rendering.cells(line, brief=True)
            assert any(all(cell in shown for cell in cells) for shown in narrow.splitlines())
            assert line.where in wide
    assert "Fig. 3 unboxed, Table I" in wide and "Fig. 3 unboxed" not in narrow


def test_the_chosen_method_is_marked(found):
    lines = str(found).splitlines()
    marked = [line.split()[1] for line in lines if line.startswith("* ")]
    assert marked == [ranking.chosen for ranking in found.rankings]


def test_the_widest_cells_fit_eighty_columns(found):
    (ranking, *_) = found.rankings
    wide = Measured("newton-euler-minimal", "zomaya1988", "", True, True, 99999, 99999)
    wide = replace(wide, call_ns=1.234e5, batch_ns=98765.0, error=0.031, verdict="wrong")
    shown = replace(found, rankings=(replace(ranking, rows=(wide,)),))
    text = rendering.text(shown, 80)
    for cell in ("newton-euler-minimal", "zomaya1988", "99999", "123 us", "wrong: 3.1e-02"):
        assert cell in text


def test_depth_size_and_eps_are_shown_at_any_width(found):
    """In the same table from 124 columns on, in one of their own below."""
    few = tuple(
        replace(ranking, rows=tuple(replace(row, code_bytes=4321) for row in ranking.rows[:3]))
        for ranking in found.rankings
    )
    for width in (60, 80, 123, 124, 150):
        text = rendering.text(replace(found, rankings=few), width)
        for heading in ("longest", "bytes", "in eps"):
            assert heading in text
        for ranking in few:
            for row in ranking.rows:
                cells = (row.method, *rendering.more_cells(row))
                assert row.depth and cells[-2] == "4321"
                assert any(all(cell in line for cell in cells) for line in text.splitlines())


def test_an_error_in_eps():
    row = Measured("a", "paper", "", True, True, 1, error=2.0**-51)
    assert row.error_eps == 2 and rendering.more_cells(row)[-1] == "2"
    assert rendering.more_cells(replace(row, error=0.1))[-1] == ""  # no rounding
    assert replace(row, error=None).error_eps is None


@pytest.mark.parametrize(
    "ns, shown",
    [
        (0.4567, "0.46 ns"),
        (99.96, "100 ns"),
        (999.4, "999 ns"),
        (999.6, "1.00 us"),
        (2e9, "2000 ms"),
    ],
)
def test_durations_have_three_digits(ns, shown):
    assert rendering.duration(ns) == shown


def test_csv_has_a_line_a_method(capsys, interpreted):
    options = ["--methods=crba,lin1991", "--batch=2", "--states=2", "--seconds=0"]
    assert main(["compare", "two_link", "--csv", *options]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {(row["quantity"], row["method"]) for row in rows} == {
        ("mass_matrix", "crba"),
        ("mass_matrix", "lin1991"),
        ("bias", "lin1991"),
    }
    assert all(float(row["call_ns"]) > 0 and row["robot"] == "two_link" for row in rows)


def test_html_is_well_formed_and_escapes(found):
    hostile = replace(found, robot="<script>&")
    page = ElementTree.fromstring(f"<div>{hostile._repr_html_()}</div>")
    assert page.find(".//script") is None
    assert len(page.findall("table")) == 2
    rows = sum(len(ranking.rows) for ranking in found.rankings)
    assert len(page.findall(".//td")) == rows * len(rendering.HEADINGS + rendering.MORE)


def test_repr_is_one_line(found):
    assert repr(found).startswith("Comparison('two_link', mass_matrix: ")
    assert "\n" not in repr(found)


def test_a_robot_shows_its_table_and_masses_in_a_notebook():
    chain = armdyn.load("stanford").chain
    robot = Robot(replace(chain, name="<b>"))
    page = ElementTree.fromstring(f"<div>{robot._repr_html_()}</div>")
    cells = [cell.text for cell in page.findall(".//td")]
    for joint, link in zip(chain.joints, chain.links, strict=True):
        assert joint.name in cells and f"{link.inertia.mass:.4g}" in cells
    assert "<b>" in page.find("p/b").text


# Several arms, and the page ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def several():
    with pytest.MonkeyPatch.context() as patch:
        interpret(patch)
        names = ("two_link", "scara")
        few = ["lin1991", "newton-euler", "lagrange"]
        return [armdyn.compare(name, ["gravity", "bias"], few, **LEAST) for name in names]


def test_several_arms_stand_in_one_table(several):
    for rankings in arms.by_quantity(several):
        headings, rows = arms.grid(rankings)
        assert headings[1::2] == ["two_link\noperations", "scara\noperations"]
        found = {row[0]: row[1:] for row in rows}
        for k, (_, ranking) in enumerate(rankings):
            for row in ranking.rows:
                cell = found[row.method][2 * k]
                assert cell.lstrip("*").split()[0] == str(row.operations)
                assert cell.startswith("*") == row.chosen
    assert any(row.chosen for one in several for ranking in one.rankings for row in ranking.rows)
    first, second = ({row.method for row in one.rankings[0].rows} for one in several)
    assert first == second == {row[0] for row in arms.grid(arms.by_quantity(several)[0])[1]}


def test_several_arms_on_the_command_line(capsys, monkeypatch, interpreted):
    options = ["--quantity=gravity", "--batch=2", "--states=2", "--seconds=0"]
    options.append("--methods=lagrange,newton-euler")
    texts = []
    for width in (60, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        assert main(["compare", "two_link", "scara", "stanford", *options]) == 0
        texts.append(capsys.readouterr().out)
        assert max(map(len, texts[-1].splitlines())) <= width
    for name in ("two_link", "scara", "stanford"):
        assert all(f"{name}: Robot chooses" in " ".join(text.split()) for text in texts)
    assert main(["compare", "two_link", "scara", "--json", *options]) == 0
    assert [one["robot"] for one in json.loads(capsys.readouterr().out)] == ["two_link", "scara"]
    assert main(["compare", "two_link", "scara", "--csv", *options]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert {row["robot"] for row in rows} == {"two_link", "scara"}


def test_a_picture_is_of_one_arm(capsys):
    assert main(["compare", "two_link", "scara", "--plot=bars.svg"]) == 2
    assert "--plot draws one arm; --html shows several" in capsys.readouterr().err


def read(path):
    """A page as a tree."""
    text = path.read_text(encoding="utf-8")
    return ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>\n")), text


def test_the_page_is_whole_and_needs_nothing_else(several, tmp_path):
    hostile = [replace(several[0], robot="<script>&"), several[1]]
    path = tmp_path / "report.html"
    page.write(hostile, path)
    root, text = read(path)
    assert len(root.findall(".//script")) == 1 and "&lt;script&gt;&amp;" in text
    assert "http" not in text and "src=" not in text and "href" not in text
    viewport = root.find("head/meta[@name='viewport']")
    assert viewport is not None and viewport.get("content").startswith("width=device-width")
    rankings = [ranking for one in hostile for ranking in one.rankings]
    tables = root.findall(".//table")
    assert len(tables) == len(arms.by_quantity(hostile)) + len(rankings)
    for table, ranking in zip(tables[-len(rankings) :], rankings, strict=True):
        widths = [float(bar.get("width")) for bar in table.findall(".//rect")]
        costs = [row.operations for row in ranking.rows]
        assert widths == [pytest.approx(100 * c / (max(costs) or 1), abs=0.01) for c in costs]


def test_a_row_of_the_page_names_its_paper_and_marks_the_chosen_method(found, tmp_path):
    found.write_html(tmp_path / "one.html")
    root, _ = read(tmp_path / "one.html")
    tables = root.findall(".//table")
    assert len(tables) == len(found.rankings)
    for table, ranking in zip(tables, found.rankings, strict=True):
        marked = [row for row in table.findall("tbody/tr") if row.get("class") == "chosen"]
        assert [row.find("th").text for row in marked] == [ranking.chosen]
        assert marked[0].find("th/span").text == "chosen"
        for line, row in zip(table.findall("tbody/tr"), ranking.rows, strict=True):
            name, _, *cells = line
            assert name.get("title").startswith(
                f"{row.paper}, {row.where}" if row.where else row.paper
            )
            assert [cell.get("data-label") for cell in cells[:-1]] == [x for x, _ in page.COLUMNS]
            assert cells[0].get("data-value") == str(row.operations)


def test_a_page_that_cannot_be_written_is_refused_before_the_work(capsys):
    assert main(["compare", "two_link", "--html=nowhere/report.html"]) == 2
    assert "there is no directory 'nowhere'" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_bars_are_drawn(found, tmp_path, suffix):
    pytest.importorskip("matplotlib")
    path = tmp_path / f"bars.{suffix}"
    few = tuple(replace(ranking, rows=ranking.rows[:4]) for ranking in found.rankings)
    odd = replace(found, robot="$x_{", rankings=few)  # no formula
    odd.plot(str(path))
    begin = path.read_bytes()[:8]
    assert begin == b"\x89PNG\r\n\x1a\n" if suffix == "png" else b"<?xml" in begin


def test_bars_say_what_colours_and_numbers_mean(found):
    """Beside the panels, which the legend does not hide."""
    pytest.importorskip("matplotlib")
    figure = found.plot()
    (legend,) = figure.legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts[0] == "chosen: the cheapest" and "exact" in texts
    assert texts[-2:] == ["pale: a call", "dark: a state in a batch"]
    figure.canvas.draw()
    for axes in figure.axes:
        assert "operations" in axes.get_xlabel() or "time [ns]" in axes.get_xlabel()
        assert not legend.get_window_extent().overlaps(axes.patch.get_window_extent())


def test_progress_is_told_step_by_step(interpreted):
    steps = []
    robot = armdyn.load("two_link")
    told = lambda *step: steps.append(step)  # noqa: E731
    armdyn.compare(robot, ["bias"], ["lin1991", "kic"], **LEAST, progress=told)
    assert [done for _, done, _ in steps] == list(range(4)) and {total for *_, total in steps} == {
        4
    }
