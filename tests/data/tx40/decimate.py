"""Makes tx40.npz of the published record: ``python decimate.py PUBLISHED.npz``.

Motor positions [rad] and torques [N m] of a Staubli TX40, 45 000 rows at 5 kHz, are low-passed at
400 Hz (Butterworth of fourth order, forwards and backwards), every fifth row is kept (1 kHz), and
numbers are rounded to float32.
"""

import sys
from pathlib import Path

import numpy as np
from scipy.signal import butter, sosfiltfilt

EVERY = 5

with np.load(sys.argv[1]) as file:
    given = {name: file[name] for name in ("q_motor", "tau_motor", "dt")}
sections = butter(4, 400.0, fs=1 / float(given["dt"]), output="sos")
np.savez_compressed(
    Path(__file__).parent / "tx40.npz",
    dt=EVERY * given["dt"],
    **{
        name: sosfiltfilt(sections, given[name], axis=0)[::EVERY].astype(np.float32)
        for name in ("q_motor", "tau_motor")
    },
)
