"""NumPy's .npz files, which may be damaged, or lie about their size."""

from __future__ import annotations

import math
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np
from numpy.lib import format as npy

PACKED = 1100  # times its size in the file: deflate packs no array smaller
HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


@contextmanager
def arrays(path: str | os.PathLike[str]) -> Iterator[Mapping[str, np.ndarray]]:
    """The arrays of a file by their names, each read when it is taken.

    Raises:
        ValueError: if the file is damaged, or an array is larger than the file can hold.
        OSError: if the file cannot be read.
    """
    try:
        with open(path, "rb") as stream, zipfile.ZipFile(stream) as archive:
            most = PACKED * os.path.getsize(path)
            for member in archive.infolist():
                _check_size(archive, member, min(member.file_size, most))
            stream.seek(0)
            with np.load(stream, allow_pickle=False) as file:
                yield file
    except (EOFError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"damaged: {error}") from None  # RuntimeError: encrypted, unknown packing


def _check_size(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> None:
    """Refuse an array of more bytes than there can be, before NumPy takes memory for it."""
    with archive.open(member) as data:
        try:
            shape, _, dtype = HEADERS[npy.read_magic(data)](data)
        except Exception as error:  # NumPy parses a header as Python, damaged or not
            raise ValueError(f"damaged header of {member.filename}: {error}") from None
    if math.prod(shape) * dtype.itemsize > most:
        raise ValueError(f"array {member.filename} of shape {shape} is larger than the file")
