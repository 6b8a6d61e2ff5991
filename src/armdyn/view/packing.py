"""Arrays as text: what the page unpacks without reading a number."""

from __future__ import annotations

import base64

import numpy as np


def packed(array: np.ndarray, dtype: str) -> str:
    """The bytes of an array, as numbers of that type, in base64."""
    return base64.b64encode(np.ascontiguousarray(array, dtype).tobytes()).decode("ascii")
