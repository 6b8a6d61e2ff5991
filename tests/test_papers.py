"""The papers' tables beside our counts: the verdicts, and how they are shown."""

import contextlib
import dataclasses
import json
import re
import sys
from decimal import Decimal, localcontext
from pathlib import Path

import mpmath
import pytest

from armdyn import Chain
from armdyn.algorithms import catalogue, lagrange, zomaya_morris
from armdyn.cli import main
from armdyn.cli.tables import made
from armdyn.counting import count
from armdyn.counting.polynomial import Polynomial
from armdyn.loaders import load
from armdyn.papers import (
    PAPERS,
    experiment,
    kang,
    lin1991,
    lin1999,
    rendering,
    safeea2018,
    zomaya1988,
)
from armdyn.papers.claims import (
    SIZES,
    Claim,
    Grid,
    Part,
    Table,
    add_up,
    fit,
    judge,
    revolute,
)
from armdyn.spatial import sincos
from docs import make_papers

ROOT = Path(__file__).parents[1]

TABLES_OF_CLAIMS = {
    "lin1991 Table I": lin1991.TABLE_I,
    "lin1991 text": lin1991.TEXT,
    "lin1991 Table II": lin1991.TABLE_II,
    **{f"lin1999 Table VI, type {kind}": claims for kind, claims in lin1999.TABLE_VI.items()},
    "lin1999 Table VII": lin1999.TABLE_VII,
    **{f"lin1999 Table VIII, type {kind}": claims for kind, claims in lin1999.TABLE_VIII.items()},
    "kang": (*kang.claims(), kang.OURS),
    "safeea2018 Table I": safeea2018.TABLE_I,
}
CLAIMS = [
    pytest.param(claim, id=f"{table}: {claim.name}")
    for table, claims in TABLES_OF_CLAIMS.items()
    for claim in claims
    if claim.published and claim.parts
]


@pytest.fixture(scope="module")
def papers():
    return made(list(PAPERS))


@pytest.fixture(scope="module")
def rows(papers):
    """(paper, the title's first words, row name) -> row."""
    return {
        (key, table.title.partition(".")[0], row.name): row
        for key, _, tables in papers
        for table in tables
        if isinstance(table, Table)
        for row in table.lines
    }


# Verdicts ----------------------------------------------------------------------------------------


def words(row):
    """The verdicts on M and A, or the only one."""
    return " ".join(verdict.word for verdict in row.verdicts.values())


@pytest.mark.parametrize(
    "paper, table, expected",
    [
        (
            "lin1991",
            "Table I",
            {
                "Walker and Orin": "not described not described",
                "Renaud": "exact exact",
                "Lin, reference 13": "not described not described",
                "Fijany and Bejczy": "not described not described",
                "Fijany and Bejczy, in E_n": "ours ours",
                "Present": "exact exact",
            },
        ),
        ("lin1991", "Text before Table I", {"Present, H and b": "presumed presumed"}),
        (
            "lin1991",
            "Table II",
            {
                "Khalil and Kleinfinger": "not described not described",
                "Balafoutis et al.": "not described not described",
                "Present": "presumed presumed",
                "Newton-Euler, minimal": "ours ours",
            },
        ),
        (
            "lin1999",
            "Table VI, type 1",
            {
                "Formulation 1": "exact exact",
                "Formulation 2": "explained exact",
                "Formulation 3": "exact exact",
                "Formulation 4": "explained explained",
                "Formulation 5": "explained exact",
            },
        ),
        (
            "lin1999",
            "Table VI, type 2",
            {
                "Formulation 1": "explained explained",
                "Formulation 2": "explained explained",
                "Formulation 3": "explained exact",
                "Formulation 4": "explained explained",
                "Formulation 5": "explained explained",
            },
        ),
        ("lin1999", "Table VII", {"Type 1": "explained exact", "Type 2": "explained exact"}),
        (
            "lin1999",
            "Table VIII, type 1",
            {
                "Formulation 1": "explained exact",
                "Formulation 2": "explained exact",
                "Kawasaki et al. I": "not described not described",
                "Kawasaki et al. II": "not described not described",
            },
        ),
        (
            "lin1999",
            "Table VIII, type 2",
            {"Formulation 1": "explained explained", "Formulation 2": "explained explained"},
        ),
        (
            "kang",
            "Section 4",
            {
                **{f"Step {step}": "not described not described" for step in (1, 2, 3, 5, 6)},
                "Step 4": "explained explained",
                "Step 7": "exact not described",
                "Steps 1 to 4": "not described not described",
                "Steps 1 to 7": "not described not described",
                "Its own sum": "exact refuted",
                "Momentum": "ours ours",
            },
        ),
        (
            "kang",
            "Section 3",
            {
                "[I*]": "exact",
                "[P1*] without zeros": "exact",
                "[P1*]": "exact",
                "[P2*] and [P3*], each": "exact",
            },
        ),
        (
            "safeea2018",
            "Table I",
            {
                "GDAHJ": "exact exact",
                "GDAHJ, D_i as one sum": "ours ours",
                "CRBA": "exact not described",
                "Hybrid": "ours ours",
                "Symbolic-numeric": "not described not described",
                "RNEA": "not described not described",
                "RNEA, a column a call": "ours ours",
            },
        ),
        (
            "safeea2018",
            "Text",
            {
                "GDAHJ, printed counts": "refuted",
                "GDAHJ, counted": "ours",
                "GDAHJ, with its kinematics": "ours",
                "Hybrid, counted": "ours",
                "Hybrid, with its kinematics": "ours",
            },
        ),
    ],
)
def test_verdicts(rows, paper, table, expected):
    found = {
        name: words(r) for (key, title, name), r in rows.items() if (key, title) == (paper, table)
    }
    assert found == expected


def test_every_difference_has_its_reason(rows):
    for r in rows.values():
        for verdict in r.verdicts.values():
            assert verdict.word != "unexplained"
            assert verdict.reason or verdict.word not in ("explained", "presumed", "refuted")


@pytest.mark.parametrize("claims", TABLES_OF_CLAIMS.values(), ids=TABLES_OF_CLAIMS)
def test_a_column_has_one_kind_of_count(claims):
    """Of Table VIII all lines are the sum of Table VI, literal, and Table VII, folded."""
    kinds = {frozenset(part.kind for part in claim.parts) for claim in claims if claim.parts}
    assert len(kinds) == 1
    assert {part.kind for claim in claims for part in claim.shared} <= {"shared"}


@pytest.mark.parametrize("claim", CLAIMS)
def test_an_explained_difference_is_the_stated_one(claim):
    """On an arm larger than those to which the polynomials are fitted."""
    n = max(SIZES) + 2
    found = add_up(claim.parts, claim.joints, n)
    for op, published, charge, difference in zip(
        "MA", claim.published, claim.charge, claim.difference, strict=True
    ):
        doublings = found["D"] if claim.doubling == op else 0
        expected = sum(Polynomial.parse(text)(n) for text in (published, difference))
        assert found[op] + doublings + Polynomial.parse(charge)(n) == expected


@pytest.mark.parametrize("parts", [(Part("renaud"),), (Part("crba"),)], ids=["renaud", "crba"])
def test_a_count_that_changes_is_not_explained_away(parts):
    claim = Claim("Renaud", lin1991.TABLE_I[1].published, parts=parts, difference=("1", "0"))
    assert judge(claim).verdicts["M"].word == "unexplained"


def test_printed_cells_are_what_the_printed_formulas_give(rows):
    """But for three."""
    wrong = {
        (key, title, name): [verdict.reason for verdict in r.misprints]
        for (key, title, name), r in rows.items()
        if r.misprints
    }
    assert wrong == {
        ("lin1999", "Table VI, type 1", "Formulation 5"): [
            "1016 M printed for n = 11 is 1026 by its formula"
        ],
        ("lin1999", "Table VIII, type 1", "Kawasaki et al. I"): [
            "194 M printed for n = 4 is 195 by its formula"
        ],
        ("kang", "Section 4", "Steps 1 to 7"): ["1715 A printed for n = 6 is 1615 by its formula"],
    }


@pytest.mark.parametrize("name", ["Renaud", "Present"])
def test_every_cell_of_table_i_comes_out(rows, name):
    cells = rows["lin1991", "Table I", name].cells
    assert list(cells) == list(range(2, 9))
    assert all(c.printed == c.formula == c.counted for ops in cells.values() for c in ops.values())


# Where no break-down is printed, the careful count that is known for each.
AT_MOST = {
    ("lin1991", "Table I", "Walker and Orin"): ("11n^2+50n-55", "8n^2+42n-46"),
    ("lin1991", "Table I", "Fijany and Bejczy"): ("4.5n^2+95.5n-180", "4n^2+65n-122"),
    ("kang", "Section 4", "Step 1"): ("39n-68", "27n-48"),
    ("kang", "Section 4", "Step 2"): ("40n-42", "42n-44"),
    ("kang", "Section 4", "Step 3"): ("3n^2-5n+2", "3n^2-5n+2"),
    ("kang", "Section 4", "Step 4"): ("3n^2+10n-12", "2.5n^2+4.5n-8"),
    ("kang", "Section 4", "Step 5"): ("6n^2-16n+12", "3n^2-10n+9"),
    ("kang", "Section 4", "Step 6"): ("2.5n^3-0.5n^2-5n+1", "5/3n^3-n^2-11/3n+1"),
    ("kang", "Section 4", "Step 7"): ("0", "1.5n^3-2n^2+0.5n"),
}


@pytest.mark.parametrize("key", AT_MOST, ids=" ".join)
def test_what_cannot_be_reproduced_takes_no_more_than_it_must(rows, key):
    for op, most in zip("MA", AT_MOST[key], strict=True):
        for n in range(3, 40):
            assert rows[key].found[op](n) <= Polynomial.parse(most)(n)


@pytest.mark.parametrize(
    "kind, formulation, mul, add",
    [
        pytest.param(1, 1, "10n^2-22n+10", "6n^2-12n+4", id="formulation 1, type 1"),
        pytest.param(1, 2, "11.5n^2-29.5n+20", "8n^2-18n+8", id="formulation 2, type 1"),
        pytest.param(2, 1, "10n^2-22n-5", "6n^2-12n-4", id="formulation 1, type 2"),
        pytest.param(2, 2, "11.5n^2-42.5n+51", "8n^2-29n+37", id="formulation 2, type 2"),
    ],
)
def test_shared_counts_of_table_vi_have_nothing_else_on_hand(rows, kind, formulation, mul, add):
    """No product of the stage that forms c-hat and J-hat passes for free."""
    line = rows["lin1999", f"Table VI, type {kind}", f"Formulation {formulation}"]
    assert line.shared == {"M": Polynomial.parse(mul), "A": Polynomial.parse(add)}


def test_shared_counts_carry_what_the_paper_charges_on_top(rows):
    """4M a joint for the entries of R_i, joint 1 too: Fig. 3."""
    line = rows["lin1991", "Text before Table I", "Present, H and b"]
    alone = fit((Part("lin1991", "shared", quantity=("mass_matrix", "bias")),))
    assert line.shared["M"] - alone["M"] == Polynomial.parse("4n")
    assert line.shared["A"] == alone["A"]
    assert all(line.shared[op](6) < line.found[op](6) for op in "MA")


def test_additions_of_kangs_third_step_suffice_for_six_joints(rows):
    """2n^2+4n are enough for all differences C*_k - O_i up to n = 8."""
    line = rows["kang", "Section 4", "Step 3"]
    assert [line.found["A"](n) <= line.published["A"](n) for n in (6, 8, 9)] == [True, True, False]


@pytest.mark.parametrize(
    "kind, published", [(1, (407, 301)), (2, (399, 295))], ids=["type 1", "type 2"]
)
def test_shared_counts_of_the_best_formulation(rows, kind, published):
    shared = rows["lin1999", f"Table VIII, type {kind}", "Formulation 1"].shared
    found = [shared[op](6) for op in "MAD"]
    assert found == ([328, 260, 4] if kind == 1 else [324, 256, 4])
    assert found[0] + found[2] < published[0] and found[1] < published[1]


def test_crossovers():
    """By the printed counts from 13 on, where the text has "more than 13"."""
    assert list(safeea2018.crossovers().values()) == [13, 13, 17, 7, 11]
    assert safeea2018.CROSSOVER == 13 + 1
    printed = [safeea2018.GDAHJ, safeea2018.CRBA]
    gdahj, crba = (
        [sum(Polynomial.parse(p)(n) for p in pair) for n in (12, 13)] for pair in printed
    )
    assert gdahj[0] > crba[0] and gdahj[1] < crba[1]


def test_torques_that_no_arm_has(rows):
    """Row I joints 2 and 3, row II joints 1 to 5; joint 6 comes out."""
    found = {r.name: words(r) for (key, _, _), r in rows.items() if key == "zomaya1988"}
    refuted = {name for name, word in found.items() if word == "refuted"}
    assert refuted == {"I.2", "I.3", *(f"II.{j}" for j in range(1, 6)), "I.6, exact"}
    assert found["I.6, reversed"] == "exact"
    assert found["II.6, simplified"] == "presumed"
    assert "with 1.10 for 1.1 none does" in zomaya1988.parabola_verdict("I", 1).reason


def test_with_gravity_up_the_slide_and_joint_5_come_near_the_print():
    """Table 1: joint 3 -57.26 in row I, joint 5 0.7186 in row II. Gravity down has other signs."""
    chain = load("stanford").chain
    slides, wrists = (
        [zomaya1988.torques(arm, term)[0, joint] for arm in (chain, zomaya1988.upside_down(chain))]
        for term, joint in ((lagrange.bias, 2), (zomaya_morris.bias, 4))
    )
    assert slides == [pytest.approx(64.18, abs=0.01), pytest.approx(-57.09, abs=0.01)]
    assert wrists == [pytest.approx(-0.5165, abs=1e-4), pytest.approx(0.7281, abs=1e-4)]
    lines = [row[2].strip() for row in zomaya1988.side_by_side().rows]
    assert lines.count("ours, gravity down") == lines.count("ours, gravity up") == 8


def test_the_present_method_gains_least_by_parallel_computation():
    """It has the longest chain of operations of all that Table I describes."""
    depths = {name: int(depth) for name, _, depth, _ in lin1991.parallel().rows}
    rivals = ("Walker and Orin", "Renaud", "Fijany and Bejczy")
    assert all(depths["Present"] > depths[name] for name in rivals)
    assert min(depths, key=depths.get).startswith("Lagrangian")


# The experiment ----------------------------------------------------------------------------------


def test_error_is_that_of_equation_32():
    assert (
        experiment.relative_error([[1.0, 2.0], [2.0, 4.0]], [[1.5, 2.0], [2.0, 5.0]]) == 1.5 / 4.5
    )


@pytest.mark.parametrize("angle", [0, 1e-9, 0.5, -3.1, 6.28, 100, -1e6])
def test_sine_and_cosine_in_fifty_digits(angle):
    with localcontext(prec=50), mpmath.workdps(60):
        found = sincos(Decimal(angle))
        for ours, truth in zip(found, (mpmath.sin(angle), mpmath.cos(angle)), strict=True):
            assert abs(mpmath.mpf(str(ours)) - truth) < 1e-45


def test_truth_of_the_experiment_is_the_mass_matrix():
    chain, q = Chain.random(6), [0.3, -1.2, 2.0, 0.7, -2.5, 1.1]
    with localcontext(prec=50):
        truth, newton_euler = (
            experiment.mass_matrix(method, chain, q, Decimal) for method in ("crba", "newton-euler")
        )
        assert experiment.relative_error(truth, newton_euler) < 1e-45


def test_errors_are_those_of_rounding():
    """As the paper finds; they grow with the number of elements."""
    for n in experiment.SIZES:
        trial = experiment.trial(n)
        assert max(*trial.errors.values(), trial.apart) < 1e-15 * n**2


@pytest.mark.parametrize("method", experiment.METHODS)
def test_operations_of_the_experiment_are_counts(method):
    """The polynomials hold for arms five times as long as those they were fitted to."""
    parts = (Part(method, stage=experiment.STAGES[method]),)
    assert experiment.operations(50)[method] == sum(add_up(parts, revolute, 50).values())


# The README ---------------------------------------------------------------------------------------

AS_COUNTED = {  # method -> what to count as its paper counts it
    "lin1991": (Part("lin1991"),),
    "lin-fang-1-minimal": lin1999.TABLE_VIII[1][0].parts,
    "gdahj": (Part("gdahj", stage="dynamics"),),
    "crba-minimal": (Part("crba-minimal"),),
}


@pytest.mark.parametrize("method", AS_COUNTED)
def test_counts_in_the_readme(method):
    """A column has one kind of count: published, as the paper counts, with equal terms shared."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (line,) = [line for line in readme.splitlines() if f"(`{method}`)" in line]
    stage = "dynamics" if method == "gdahj" else None
    kinds = (AS_COUNTED[method], (Part(method, "shared", stage),))
    counts = [[n for n in add_up(parts, revolute, 6).values() if n] for parts in kinds]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[-2:] == [" + ".join(map(str, numbers)) for numbers in counts]


def test_the_fewest_operations_known():
    """For M of six revolute joints, with equal terms shared: crba-minimal takes 575."""
    chain = Chain.random(6)
    costs = {
        method.name: count(chain, "mass_matrix", method.name, "shared").cost
        for method in catalogue.methods("mass_matrix")
    }
    assert min(costs, key=costs.get) == "crba-minimal"
    assert costs["crba-minimal"] == 319 + 252 + 4


# How it is shown ---------------------------------------------------------------------------------

MEASURED = re.compile(r"\d\.\de-\d\d")  # rounding errors differ from one libm to the next


def test_the_page_is_fresh(papers):
    """If not: python docs/make_papers.py."""
    page = ROOT / "docs" / "papers.md"
    kept = page.read_text(encoding="utf-8")
    assert MEASURED.sub("#", rendering.markdown(papers)) == MEASURED.sub("#", kept)


def test_tables_of_the_page_are_tables(papers):
    """Every row has as many cells as its heading."""
    for block in rendering.markdown(papers).split("\n\n"):
        if block.startswith("|"):
            assert len({line.count(" | ") for line in block.strip().splitlines()}) == 1


def shown(capsys, *arguments):
    status = main(("tables", *arguments))
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_terminal_of_a_hundred_columns(capsys):
    status, out, err = shown(capsys, "--paper", "kang")
    assert (status, err) == (0, "")
    assert "23/6n³+6.5n²+697/6n-138" in out and "refuted" in out
    assert max(map(len, out.splitlines())) <= 100
    assert "…" not in out


def test_json_has_all_of_it(capsys):
    _, out, _ = shown(capsys, "--paper", "lin1991", "--json")
    ((table, *_),) = [paper["tables"] for paper in json.loads(out)]
    renaud = table["rows"][1]
    assert renaud["published"] == {"M": "13.5n^2+22.5n-68", "A": "9n^2+26n-64"}
    assert renaud["counted"] == {"M": "13.5n^2+22.5n-68", "A": "9n^2+23n-58", "D": "3n-6"}
    assert renaud["difference"] == {"M": "0", "A": "0", "D": "as A"}
    assert renaud["verdict"]["A"]["word"] == "exact"
    assert renaud["cells"]["6"]["M"] == {"printed": 553, "formula": 553, "counted": 553}


def test_markdown_of_one_paper(capsys):
    _, out, _ = shown(capsys, "--paper", "zomaya1988", "--markdown")
    assert out.startswith("# The papers") and "## zomaya1988" in out and "## kang" not in out


def test_grids_are_rectangular(papers):
    for _, _, tables in papers:
        for table in tables:
            if isinstance(table, Grid):
                assert {len(line) for line in table.rows} == {len(table.headings)}


@pytest.fixture
def interrupted(monkeypatch):
    """Ctrl-C while the last table is counted."""

    def interrupt():
        raise KeyboardInterrupt

    last = PAPERS["zomaya1988"]
    cut_short = dataclasses.replace(last, tables=(*last.tables[:-1], interrupt))
    monkeypatch.setitem(PAPERS, "zomaya1988", cut_short)


def test_an_interrupted_command_prints_nothing(capsys, interrupted):
    with contextlib.suppress(KeyboardInterrupt):
        main(("tables", "--paper", "zomaya1988", "--markdown"))
    assert capsys.readouterr().out == ""


def test_an_interrupted_page_stays_as_it_was(monkeypatch, interrupted, tmp_path):
    page = tmp_path / "papers.md"
    page.write_text("as it was")
    monkeypatch.setattr(make_papers, "PAPERS", ["zomaya1988"])
    with pytest.raises(KeyboardInterrupt):
        make_papers.write(page)
    assert page.read_text() == "as it was"
    assert list(tmp_path.iterdir()) == [page]


def test_an_interrupted_picture_is_not_there(capsys, monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(experiment, "trial", interrupt)
    with contextlib.suppress(KeyboardInterrupt):
        main(("tables", "--paper", "safeea2018", "--plot", str(tmp_path / "out.png")))
    assert not list(tmp_path.iterdir())


def test_the_page_is_written_whole(monkeypatch, tmp_path):
    monkeypatch.setattr(make_papers, "PAPERS", ["zomaya1988"])
    make_papers.write(tmp_path / "papers.md")
    text = (tmp_path / "papers.md").read_text(encoding="utf-8")
    assert text == rendering.markdown(made(["zomaya1988"]))


def test_plot(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    status, _, _ = shown(capsys, "--paper", "safeea2018", "--plot", str(tmp_path / "out.png"))
    assert status == 0
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("--paper", "lin1992"), "known: lin1991, lin1999"),
        (
            ("--paper", "safea2018"),
            "no paper 'safea2018'; did you mean 'safeea2018'? known: lin1991",
        ),
        (("--plot", "out.png"), "add --paper safeea2018"),
        (("--paper", "safeea2018", "--plot", "out.xyz"), "its suffix must be one of"),
        (("--paper", "safeea2018", "--plot", "no/such/folder/out.png"), "there is no directory"),
    ],
)
def test_errors_take_one_line(capsys, monkeypatch, tmp_path, arguments, message):
    monkeypatch.chdir(tmp_path)
    status, out, err = shown(capsys, *arguments)
    assert (status, out) == (2, "")
    assert message in err and err.count("\n") == 1


def test_without_matplotlib_a_plot_says_how_to_get_it(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    status, _, err = shown(capsys, "--paper", "safeea2018", "--plot", "out.png")
    assert status == 2 and "pip install 'armdyn[plot]'" in err
