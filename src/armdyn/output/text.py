"""Text that others wrote, such as names of links and files, as we show it."""

from __future__ import annotations

LONGEST = 80  # characters


def one_line(text: str, longest: int = LONGEST) -> str:
    """Text on one line, its middle left out if it is long; what does not print, as its code."""
    words = " ".join(text.split())
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in words)
    if len(shown) <= longest:
        return shown
    end = (longest - 5) // 3
    return f"{shown[: longest - 5 - end]} ... {shown[-end:]}"
