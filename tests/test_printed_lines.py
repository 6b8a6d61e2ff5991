"""Lines of the papers' algorithms, counted one by one, beside the operations printed there."""

import pytest

from armdyn.papers import lin1991_lines, lin1999_lines
from armdyn.papers.lines import PrintedLine, count_line, judge
from armdyn.spatial import Vector

PRINTED = {
    "lin1991 Fig. 3": (lin1991_lines.FIG_3, True, "A"),
    "lin1991 Fig. A1": (lin1991_lines.FIG_A1, True, "A"),
    **{
        f"lin1999 Table {number}": (lines, True, "A")
        for number, lines in lin1999_lines.LITERAL.items()
    },
    "lin1999 Table VII": (lin1999_lines.TABLE_VII, False, "M"),
}
LINES = [
    pytest.param(line, literal, doubling, id=f"{where}: {line.text}")
    for where, (lines, literal, doubling) in PRINTED.items()
    for line in lines
]
DISAGREE = {  # what the papers charge otherwise than their own lines do, or our rules
    "lin1991 Fig. 3": {"R_i"},
    "lin1991 Fig. A1": {
        "... - m-hat [s x][s x], joint i + 1 slides",
        "... + m-hat (s_x^2 + s_y^2), joint i + 1 slides",
    },
    "lin1999 Table I": {"t_{i-1,i}, joint i slides"},
    "lin1999 Table II": set(),
    "lin1999 Table III": set(),
    "lin1999 Table IV": {"u_i^<n>"},
    "lin1999 Table V": {"t_{i-1,i} = h x u_i, joint i slides"},
    "lin1999 Table VII": {
        "X, joint i + 1 slides",
        "Y = R X R^T by (41) to (54)",
        "(Y)_33, i < s - 1, joint i + 1 slides",
    },
}


@pytest.mark.parametrize("line, literal, doubling", LINES)
def test_a_line_takes_what_is_printed_beside_it_but_for_what_is_known(line, literal, doubling):
    found = judge(line, literal, doubling)
    assert {verdict.word for verdict in found.verdicts.values()} <= {"exact", "explained"}
    assert bool(line.why) == (line.difference != (0, 0))


@pytest.mark.parametrize("where", PRINTED)
def test_the_lines_that_disagree(where):
    lines, literal, doubling = PRINTED[where]
    found = {line.text for line in lines if any(judge(line, literal, doubling).difference.values())}
    assert found == DISAGREE[where]


def test_a_line_that_takes_something_else_is_not_explained_away():
    line = PrintedLine("two products", (3, 0), lambda g: Vector(g.x * g.x, g.x * g.x, 0))
    assert count_line(line, literal=True).mul == 2
    assert judge(line, True, "A").verdicts["M"].word == "unexplained"


def test_the_rules_make_the_difference():
    """Folded, most lines with constants would take less than is printed: see the rules."""
    (line,) = [x for x in lin1991_lines.FIG_3 if x.text.startswith("s^<i> =")]
    assert count_line(line, literal=True).add == 7
    assert count_line(line, literal=False).add < 7
