"""Damaged .npz files: their readers raise an error of armdyn's own, or read the same numbers."""

import io
import zipfile

import numpy as np
import pytest

import armdyn
from armdyn import ArmdynError
from armdyn.identification import Log
from armdyn.identification.moments import Moments, moments
from armdyn.simulation.results import Result

ARM = armdyn.load("scara")
Q = np.random.default_rng(1).normal(size=(60, ARM.n))
LOG = Log(np.arange(60.0), Q, Q, Q, Q)


def log_file(path):
    np.savez_compressed(path, t=LOG.t, q=Q, tau=Q)


READERS = {
    "log": (Log.read, log_file),
    "moments": (Moments.load, moments(ARM, LOG).save),
    "result": (Result.load, armdyn.simulate(ARM, Q[0], t=0.1, dt=0.01).save),
}


@pytest.fixture(params=READERS)
def read_damaged(request, tmp_path):
    """A function of bytes that reads them, and the bytes of a whole file."""
    read, write = READERS[request.param]
    path = tmp_path / "some.npz"
    write(path)
    whole = path.read_bytes()

    def read_bytes(data):
        path.write_bytes(data)
        return read(path)

    return read_bytes, whole


def test_flipped_bits_and_lost_ends(read_damaged):
    read, whole = read_damaged
    rng, refused = np.random.default_rng(2), 0
    for _ in range(300):
        data = bytearray(whole)
        for place in rng.integers(len(data), size=rng.integers(1, 4)):
            data[place] ^= 1 << rng.integers(8)
        if rng.random() < 0.3:
            del data[rng.integers(len(data)) :]
        try:
            read(bytes(data))
        except ArmdynError as error:
            assert "some.npz" in str(error)
            refused += 1
    assert refused > 200


def repacked(whole, change, packing=zipfile.ZIP_DEFLATED):
    """The file with one array's bytes changed."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(whole)) as old, zipfile.ZipFile(made, "w", packing) as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, change(data) if name in ("q.npy", "gram0.npy") else data)
    return made.getvalue()


def with_shape(shape):
    """An array's header alone, which says that it has that shape."""
    header = io.BytesIO()
    about = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, about)
    return header.getvalue()


LIES = {
    "10^12 rows": (lambda data: with_shape((10**12, 4)), "larger than the file"),
    "more rows than a number": (lambda data: with_shape((10**30, 4)), "larger than the file"),
    "unknown version": (lambda data: data[:6] + b"\x09\x00" + data[8:], "header"),
    "no header": (lambda data: b"", "header"),
    "no dictionary": (lambda data: data[:10] + b"[" + data[11:], "header"),
    "half of its numbers": (lambda data: data[: len(data) // 2], "."),
}


@pytest.mark.parametrize("lie", LIES)
def test_arrays_that_lie(read_damaged, lie):
    read, whole = read_damaged
    change, said = LIES[lie]
    with pytest.raises(ArmdynError, match=rf"some.npz.*{said}"):
        read(repacked(whole, change))


def test_a_zip_file_that_lies_of_an_array_as_well(read_damaged):
    """The size in the zip file's directory is set to 8 TB, as in the array's header."""
    read, whole = read_damaged
    data = bytearray(repacked(whole, lambda data: with_shape((10**8, 4))))
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        size = next(i.file_size for i in file.infolist() if i.filename in ("q.npy", "gram0.npy"))
    for name in b"q.npy", b"gram0.npy":
        at = data.rfind(name)  # in the directory, which stands last
        if at >= 0:
            assert int.from_bytes(data[at - 22 : at - 18], "little") == size
            data[at - 22 : at - 18] = (2**32 - 2).to_bytes(4, "little")
    with pytest.raises(ArmdynError, match=r"some.npz.*larger than the file"):
        read(bytes(data))


def test_unknown_packing(read_damaged):
    read, whole = read_damaged
    data = bytearray(whole)
    for start, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        at = data.find(start)
        data[at + place] = 97
    with pytest.raises(ArmdynError, match=r"some.npz.*compression"):
        read(bytes(data))


def test_what_is_no_npz(read_damaged):
    read, _ = read_damaged
    one = io.BytesIO()
    np.save(one, Q)
    for data in b"", b"PK", one.getvalue(), b"t,q1,tau1\n0,0,0\n":
        with pytest.raises(ArmdynError, match=r"some.npz"):
            read(data)
