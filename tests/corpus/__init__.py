"""A sweep over robot files from public packages: outcome, agreement and time of each.

    python -m tests.corpus                    # fails where a file does not do as the table says
    python -m tests.corpus --update           # writes the table, expected.csv
    python -m tests.corpus pybullet brax      # some packages only
    python -m tests.corpus --more             # packages too large for each run, too
    python -m tests.corpus --summary out.md   # writes the counts to a file

The files come from packages of the index that pip uses; ``packages.py`` lists them. Each distinct
file is loaded in a separate process, within ten seconds. If a refusal gives advice, the advice is
followed. Each robot is compared with Pinocchio or MuJoCo at random states.
"""
