"""Kernels on NVIDIA's GPUs, whosever arrays they work on."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from armdyn.engine.calls import CarefulPath


def kernel(path: CarefulPath) -> Any:
    """What launches a function on a GPU; made at first need."""
    found = path.others.get("cuda")
    if found is None:
        gpu: Any = import_module("armdyn.engine.gpu")
        found = path.others.setdefault("cuda", gpu.Kernel(path.compile, path.takes, path.shapes))
    return found
