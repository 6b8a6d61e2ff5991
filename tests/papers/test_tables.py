"""Cells that the papers print, by the papers' rules and by running our methods."""

from armdyn import Chain, count
from armdyn.counting import Count


def counted(joints, quantity, method, kind, *stages):
    """M/A of a method for joints of these kinds, or of some of its stages."""
    chain = Chain.random(len(joints), joints)
    found = sum((count(chain, quantity, method, kind, s) for s in stages or [None]), Count())
    return f"{found.mul}/{found.add}" + (f"+{found.double}D" if found.double else "")


def test_seventeen_cells():
    """M/A as printed, by the paper's rule, and by our program, counted literally.

    By the paper's rule the printed lines are added up, where the paper prints them.
    """
    cells = {  # method, stage, joints: printed, by the paper's rule, by our program
        "lin1991 RRRRRR": "524/380 524/380 524/380",  # Lin 1991, Table I
        "lin1991 RRR": "125/101 125/101 125/101",
        "renaud RRRRR": "382/291 382/291 382/282+9D",
        "lin1991+bias RRRRRR": "1010/710 1010/710 983/707+1D",
        "lin-fang-1 matrix RRRRRR": "262/160 262/160 262/160",  # Lin and Fang 1999, Table VI
        "lin-fang-2 matrix RRRRRR": "265/190 265/190 275/190",
        "lin-fang-3 matrix RRRRRRRRRRR": "1215/780 1215/780 1215/780",
        "lin-fang-4 matrix RRRR": "158/104 162/104 136/86",
        "lin-fang-5 matrix RRRRRR": "266/182 266/182 268/182",
        "lin-fang-1 matrix RRPRRRRR": "496/304 496/304 492/300",
        "lin-fang-2 matrix RRPRRRRR": "472/326 469/323 479/323",
        "lin-fang-3 matrix RRPRRRRRR": "686/432 686/432 687/432",
        "lin-fang-1-minimal RRRRRR": "407/301 407/301 401/303+10D",  # Table VIII
        "gdahj dynamics RRRRRRRRRR": "1177/1187 1177/1187 1177/1187",  # Safeea 2018, Table I
        "crba RRRRRRRRRR": "1188/927 1188/927 1188/891+18D",
        "kic-augmented RRRRRR": "930/755 930/755 598/511",  # Kang, steps 1 to 4
        "kic-augmented+christoffel RRRRRR": "1647/1715 1647/1621 1218/1121",  # steps 1 to 7
    }
    added = 0
    for what, numbers in cells.items():
        (name, *stages, joints), (printed, by_paper, literal) = what.split(), numbers.split()
        method, _, also = name.partition("+")
        quantity = ("mass_matrix", also) if also else "mass_matrix"
        assert counted(joints, quantity, method, "paper", *stages) == by_paper
        steps = [f"step {k}" for k in range(1, 8)] if also == "christoffel" else stages
        ours = also if also == "christoffel" else quantity
        assert counted(joints, ours, method, "literal", *steps) == literal
        added += printed == by_paper
    assert added == 14
