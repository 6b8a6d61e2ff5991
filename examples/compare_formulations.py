"""Compare formulations of the mass matrix on your arm: ``compare_formulations.py [ARM [PLOT]]``.

The command ``armdyn compare ARM`` does the same for all methods.
"""

import sys

import armdyn

METHODS = ("lagrange", "newton-euler", "lin1991", "lin-fang-2-minimal", "gdahj", "crba")

arm, *plot = sys.argv[1:] or ["puma560"]
found = armdyn.compare(armdyn.load(arm), ["mass_matrix"], METHODS, seconds=0.2)
print(found)

(ranking,) = found.rankings
quickest = min(ranking.rows, key=lambda row: row.call_ns)
print(f"\nleast time a call: {quickest.method}, {quickest.call_ns:.0f} ns")
if plot:
    found.plot(plot[0])  # .png or .svg
