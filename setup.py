"""Builds the C call path, where there is a compiler; all else is said in pyproject.toml."""

import numpy
from setuptools import Extension, setup

HEADERS = ("_call", "_exchange", "_march", "_pool", "_rows")
NAMES = (*HEADERS, "_shapes")
call_path = Extension(
    "armdyn.engine._call",
    [f"src/armdyn/engine/{name}.c" for name in NAMES],
    depends=[f"src/armdyn/engine/{name}.h" for name in HEADERS],
    include_dirs=[numpy.get_include()],
    define_macros=[("NPY_TARGET_VERSION", "NPY_1_25_API_VERSION")],  # that of NumPy 1.26
    optional=True,
)
setup(ext_modules=[call_path])
