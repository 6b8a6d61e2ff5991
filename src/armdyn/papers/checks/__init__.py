"""The checks of the papers' lists: a module a paper, a function a check.

A check takes nothing and returns :class:`armdyn.papers.evidence.Evidence`. It writes the printed
formula out in NumPy, in base axes or as printed in link frames, on the arms of
:mod:`armdyn.papers.samples`, whose truths owe nothing to the papers.
"""
