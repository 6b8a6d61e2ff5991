"""Kang: influence coefficients, the properties of [P*], augmented bodies."""

import numpy as np

from tests.papers.samples import draw


def test_p6():
    """(P6): [P2*]_ijk = 0 for j >= k."""
    for s in draw(("RRR",)):
        assert abs(s.M[0, 1] - s.M[1, 0]) < 1e-10
