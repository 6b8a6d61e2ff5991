"""A stand-in for CuPy: NumPy's memory under its name, which kernels of a stand-in driver may touch.

module = fake_cupy.install(monkeypatch, driver)  # armdyn finds it in place of CuPy
q = module.asarray(...)                          # on device 1, whose stream is 17
"""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np


class Device(int):
    """A GPU's number, as CuPy's devices are used."""

    id = property(int)

    def __enter__(self):
        return self

    def __exit__(self, *trouble):
        return None


class Cupy(np.ndarray):
    """NumPy's memory under CuPy's name; of whom somebody asks the address, kernels may touch it."""

    device = Device(1)
    driver = None

    @property
    def data(self):
        if self.driver is not None and self.size:
            self.driver.allow(self, self.device)
        return SimpleNamespace(ptr=self.ctypes.data)


def install(monkeypatch, driver=None):
    """A module that is called as CuPy is."""
    module = ModuleType("cupy")
    module.ndarray = Cupy
    module.empty = lambda shape, dtype: np.full(shape, 7.25, dtype).view(Cupy)
    module.asarray = lambda value, dtype=None: np.array(value, dtype).view(Cupy)
    module.ascontiguousarray = lambda value, dtype: np.ascontiguousarray(value, dtype).view(Cupy)
    module.broadcast_to = lambda value, shape: np.broadcast_to(value, shape, subok=True)
    module.asnumpy = lambda value: np.array(value, subok=False)
    for name in ("isfinite", "amin", "amax", "moveaxis"):
        setattr(module, name, getattr(np, name))
    stream = SimpleNamespace(ptr=17, synchronize=lambda: None)
    module.cuda = SimpleNamespace(get_current_stream=lambda: stream)
    monkeypatch.setattr(Cupy, "driver", driver)
    monkeypatch.setitem(sys.modules, "cupy", module)
    monkeypatch.delitem(sys.modules, "armdyn.arrays.cupy", raising=False)
    return module
