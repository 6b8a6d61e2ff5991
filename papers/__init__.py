"""The five papers: their readings and pages, what they print, and their inner quantities.

This folder belongs to the repository and is not installed. ``readings.toml`` lists every place
where our copy of a paper and the mathematics disagree; ``tests/papers`` proves what holds.
"""

from papers.inner import inner

__all__ = ["TITLES", "inner"]

TITLES = {  # by their keys in docs/references.bib
    "lin1991": "Lin 1991: composite bodies seen from the base",
    "lin1999": "Lin and Fang 1999: five formulations, minimal parameters",
    "kang": "Kang: influence coefficients and augmented bodies",
    "safeea2018": "Safeea, Neto and Béarée 2018: GDAHJ",
    "zomaya1988": "Zomaya and Morris 1988: the Lagrangian and its Coriolis terms",
}
