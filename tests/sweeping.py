"""What the suite tries of a long list, and what it leaves to the sweeps."""

import pytest


def few(values, *kept):
    """The values for ``parametrize``, of which only those at these places are in the suite."""
    return [
        value if k in kept else pytest.param(value, marks=pytest.mark.sweep)
        for k, value in enumerate(values)
    ]
