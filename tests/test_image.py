"""Flat images: what LLVM's linker makes of an object, and nothing of an object that is strange."""

import ctypes
import gc
import os
import random
import struct
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import armdyn
from armdyn import Chain, Robot, engine
from armdyn.engine import Compilation, image, jit, processor
from armdyn.program import drivers
from armdyn.quantities.tasks import Task, quantities_of
from tests.test_llvm import CALLS

pytestmark = pytest.mark.skipif(not image.LOADABLE, reason="no images here")

ARMS = [armdyn.load("panda").chain, armdyn.load("scara").chain, Chain.random(2, "RP", seed=1)]


def object_code(program, kind, dtype):
    lanes = jit.machine().lanes(dtype)
    return jit.assemble(getattr(drivers, kind)(program, dtype, lanes), kind)


def results(program, kind, dtype, loaded):
    """What a loaded kernel makes of some states, one by one or together."""
    count = 11 if kind == "batch" else 1
    inputs = [
        np.random.default_rng(k).uniform(-3, 3, (count, width)).astype(dtype)
        for k, width in enumerate(program.inputs.values())
    ]
    outputs = [np.full((count, *shape), 99, dtype) for shape in program.shapes]
    tables = [
        (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))
        for arrays in (inputs, outputs)
    ]
    CALLS[kind](loaded.address)(*tables, *([count] if kind == "batch" else []))
    return [output.tobytes() for output in outputs]


def linked_by_llvm(program, kind, dtype, code):
    return results(program, kind, dtype, jit.LoadedCode(code, kind))


@pytest.fixture(scope="module")
def by_llvm():
    """The results of object code by LLVM's linker, which gives up where memory is far apart.

    As in this process, once other tests have loaded large libraries. So another one runs it.
    """
    with ProcessPoolExecutor(1, get_context("spawn")) as process:
        yield lambda *given: process.submit(linked_by_llvm, *given).result()


@pytest.fixture(scope="module")
def small():
    """The program and the object code of a kernel that has constants and calls memcpy."""
    program = engine.Compilation(Chain.random(2, seed=3), [Task("bias")]).program
    return program, object_code(program, "batch", "float64")


# Images -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "chain, quantity",
    [
        pytest.param(
            chain, name, marks=pytest.mark.sweep if chain.n == 7 and name != "pose" else ()
        )
        for chain in ARMS
        for name in quantities_of(chain)
    ],
)
def test_every_kernel_has_an_image_that_answers_as_by_llvms_linker(chain, quantity, by_llvm):
    program = engine.Compilation(chain, [Task(quantity)]).program
    for kind in ("single", "batch"):
        for dtype in ("float64", "float32"):
            code = object_code(program, kind, dtype)
            flat = image.flatten(code, kind)
            assert flat is not None
            ours = results(program, kind, dtype, jit.LoadedCode(flat, kind))
            assert ours == by_llvm(program, kind, dtype, code)


def test_an_image_calls_the_functions_of_c(monkeypatch, by_llvm):
    """With memory from the heap: malloc, free, memcpy and memset."""
    monkeypatch.setattr(drivers, "STACK", 0)
    program = engine.Compilation(Chain.random(3, seed=3), [Task("mass_matrix")]).program
    code = object_code(program, "batch", "float64")
    flat = image.flatten(code, "batch")
    head = flat.partition(b"\n")[0]
    assert all(name in head.split() for name in (b"malloc", b"free", b"memset"))
    ours = results(program, "batch", "float64", jit.LoadedCode(flat, "batch"))
    assert ours == by_llvm(program, "batch", "float64", code)


def test_compiled_code_is_an_image(small):
    program, _ = small
    assert jit.compile(program, "single", "float64").startswith(image.MARK)


def test_an_object_that_has_no_image_goes_to_llvms_linker(small, monkeypatch, by_llvm):
    program, code = small
    flat = jit.LoadedCode(image.flatten(code, "batch"), "batch")
    monkeypatch.setattr(image, "LOADABLE", False)
    monkeypatch.setattr(processor, "storing", processor.storing.__wrapped__)  # keep no answer
    whole = jit.compile(program, "batch", "float64")
    assert not whole.startswith(image.MARK)
    expected = results(program, "batch", "float64", flat)
    assert by_llvm(program, "batch", "float64", whole) == expected


# Objects that are not understood ------------------------------------------------------------------

STRANGE = {
    "another function": "declare double @sin(double)\n"
    "define double @f(double %x) {\n%y = call double @sin(double %x)\nret double %y\n}",
    "a variable": "@x = global i64 1\ndefine void @f() {\nstore i64 2, ptr @x\nret void\n}",
    "memory that is zero": "@x = internal global [9 x i64] zeroinitializer\n"
    "define ptr @f() {\nret ptr @x\n}",
    "a pointer among constants": "@x = internal constant i64 1\n@p = constant ptr @x\n"
    "define ptr @f() {\n%y = load ptr, ptr @p\nret ptr %y\n}",
    "a thread's own": "@x = thread_local global i64 1\ndefine ptr @f() {\nret ptr @x\n}",
    "two sections of code": 'define void @g() section ".other" {\nret void\n}\n'
    "define void @f() {\nret void\n}",
    "no such function": "define void @g() {\nret void\n}",
}


@pytest.mark.parametrize("text", STRANGE.values(), ids=STRANGE)
def test_what_kernels_do_not_have_makes_no_image(text):
    assert image.flatten(jit.assemble(text), "f") is None


def test_a_small_function_makes_one():
    """So that those above fail for what they say."""
    flat = image.flatten(jit.assemble("define i32 @f() {\nret i32 7\n}"), "f")
    assert ctypes.CFUNCTYPE(ctypes.c_int)(image.LoadedImage(flat).address)() == 7


@pytest.mark.parametrize(
    ("place", "value"),
    [(0, b"\x7fELG"), (4, b"\x01"), (5, b"\x02"), (16, b"\x03\x00"), (18, b"\xb7\x00")],
    ids=["magic", "32 bits", "big-endian", "shared library", "aarch64"],
)
def test_another_kind_of_file_makes_no_image(small, place, value):
    code = bytearray(small[1])
    code[place : place + len(value)] = value
    assert image.flatten(bytes(code), "batch") is None


def test_an_unknown_reference_makes_no_image(small):
    """R_X86_64_64 (1) and R_X86_64_GOTPCREL (9) in the place of each R_X86_64_PC32 (2)."""
    code = small[1]
    sections = image._sections(code)
    (table,) = (s for s in sections if s.type == image.RELA and sections[s.info].flags & image.EXEC)
    for k in range(table.size // image.REFERENCE.size):
        for kind in (1, 9, 42):
            changed = bytearray(code)
            struct.pack_into("<I", changed, table.offset + k * image.REFERENCE.size + 8, kind)
            assert image.flatten(bytes(changed), "batch") is None


def test_a_part_of_an_object_makes_no_image(small):
    """The headers of sections stand at its end."""
    code = small[1]
    for size in range(0, len(code), 97):
        assert image.flatten(code[:size], "batch") is None


def test_a_damaged_object_is_no_disaster(small):
    """Whatever is damaged, the answer is None or an image, entered somewhere in its code."""
    code, pick = small[1], random.Random(0)
    for _ in range(3000):
        changed = bytearray(code)
        for _ in range(pick.randint(1, 4)):
            changed[pick.randrange(len(code))] = pick.randrange(256)
        flat = image.flatten(bytes(changed), "batch")
        if flat is not None:
            head, _, body = flat.partition(b"\n")
            begin, entry = map(int, head.split()[1:3])
            assert begin % image.PAGE == 0 and begin <= entry <= len(body)


# Loading ------------------------------------------------------------------------------------------


def mapping(address):
    """The permissions of the memory at an address, as the system says; None where there is none."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        first, last = (int(x, 16) for x in line.split()[0].split("-"))
        if first <= address < last:
            return line.split()[1]
    return None


def test_code_is_never_writable_and_constants_never_executable(small):
    loaded = image.LoadedImage(image.flatten(small[1], "batch"))
    base = ctypes.addressof(ctypes.c_char.from_buffer(loaded._memory))
    assert mapping(base) == "r--p"
    assert mapping(loaded.address) == "r-xp"


def test_code_that_is_gone_gives_its_memory_back(small):
    flat = image.flatten(small[1], "batch")

    def pages():
        gc.collect()
        return int(Path("/proc/self/statm").read_text().split()[0])  # mapped, in use or not

    image.LoadedImage(flat)
    before = pages()
    for _ in range(1000):
        image.LoadedImage(flat)
    assert pages() - before < 100


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_has_the_code_of_its_parent(small):
    program, code = small
    loaded = image.LoadedImage(image.flatten(code, "batch"))
    expected = results(program, "batch", "float64", loaded)
    child = os.fork()
    if child == 0:
        same = results(program, "batch", "float64", loaded) == expected
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_no_executable_memory_is_an_error(small, monkeypatch):
    monkeypatch.setattr(image._process(), "mprotect", lambda *_: -1)
    with pytest.raises(armdyn.ArmdynError, match="no executable memory"):
        jit.LoadedCode(image.flatten(small[1], "batch"), "batch")


# The processor ------------------------------------------------------------------------------------

BITS = {  # Intel, "Software Developer's Manual", CPUID: (leaf, sub-leaf, register), bit
    "fma": ((1, 0, processor.ECX), 12),
    "avx": ((1, 0, processor.ECX), 28),
    "sse2": ((1, 0, processor.EDX), 26),
    "avx2": ((7, 0, processor.EBX), 5),
    "bmi2": ((7, 0, processor.EBX), 8),
    "avx512f": ((7, 0, processor.EBX), 16),
    "avx512vl": ((7, 0, processor.EBX), 31),
    "lahf_lm": ((0x80000001, 0, processor.ECX), 0),
}


@pytest.mark.parametrize("flag", BITS)
def test_the_processor_is_asked_itself(flag):
    """The system read the same bits when it started."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    flags = next(line for line in lines if line.startswith("flags")).split()
    names = [(leaf, inner, r) for leaf, inner, several in processor.FEATURES for r in several]
    answers = dict(zip(names, processor.features()[4:-1], strict=True))
    where, bit = BITS[flag]
    assert bool(answers[where] >> bit & 1) == (flag in flags)


def test_every_core_and_process_gives_the_same_answer():
    code = "from armdyn.engine import processor; print(processor.features())"
    expected = processor.features()
    cores = os.sched_getaffinity(0)
    try:
        for core in sorted(cores)[:8]:
            os.sched_setaffinity(0, {core})
            assert processor.features() == expected
    finally:
        os.sched_setaffinity(0, cores)
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == str(expected)


def test_each_feature_and_llvmlite_make_another_key(monkeypatch):
    """So that code made for AVX-512 is not found by a processor without it."""
    found = {engine.fingerprint.__wrapped__()}
    plain = processor.features()
    for k in range(len(plain)):
        monkeypatch.setattr(
            processor, "features", lambda k=k: [*plain[:k], plain[k] ^ 1, *plain[k + 1 :]]
        )
        processor.description.cache_clear()
        found.add(engine.fingerprint.__wrapped__())
    monkeypatch.undo()
    monkeypatch.setattr(processor, "llvmlite", lambda: "another")
    processor.description.cache_clear()
    found.add(engine.fingerprint.__wrapped__())
    monkeypatch.undo()
    processor.description.cache_clear()
    assert len(found) == len(plain) + 2


def test_llvmlite_is_told_without_importing_it():
    import llvmlite

    assert repr(llvmlite.__version__) in processor.llvmlite().replace('"', "'")


def test_without_a_description_llvm_describes_the_machine(monkeypatch):
    monkeypatch.setattr(processor, "description", lambda: None)
    assert set(map(str, jit.machine())) <= set(engine.fingerprint.__wrapped__())


# All together -------------------------------------------------------------------------------------


def test_code_of_another_processor_is_left_alone(tmp_path, monkeypatch):
    """It is compiled again for this one, and the other's stays for the other."""
    monkeypatch.setenv("ARMDYN_CACHE_DIR", str(tmp_path / "cache"))
    chain, q = Chain.random(2, seed=61), np.array([0.1, 0.2])
    truth = Robot(chain).gravity(q, method="newton-euler")
    (entry,) = (tmp_path / "cache").glob("*.armdyn")
    before = entry.read_bytes()
    plain = processor.features()
    monkeypatch.setattr(processor, "features", lambda: [*plain[:-1], plain[-1] ^ 4])
    processor.description.cache_clear()
    engine.fingerprint.cache_clear()
    made = []
    monkeypatch.setattr(jit, "compile", lambda *x, make=jit.compile: made.append(x) or make(*x))
    np.testing.assert_array_equal(Robot(chain).gravity(q, method="newton-euler"), truth)
    assert len(made) == 1 and entry.read_bytes() == before
    monkeypatch.undo()
    processor.description.cache_clear()
    engine.fingerprint.cache_clear()


@pytest.mark.parametrize(
    "signature, family", [(0x00B00F21, processor.ZEN5), (0x00A10F11, 0x19), (0x000806F8, 6)]
)
def test_the_family_of_a_processor(signature, family):
    """Of a Zen 5, a Zen 4 and a Sapphire Rapids, by what they say of themselves."""
    assert processor.family(signature) == family


def test_a_zen_5_is_known_as_llvm_knows_it():
    assert (processor.storing() == "plain") == (jit.machine().name == "znver5")


@pytest.mark.parametrize("kind", ["batch", "stream"])
@pytest.mark.parametrize("storing", ["staged", "asked for", "plain"])
def test_kernels_store_as_the_processor_likes_it(kind, storing, monkeypatch):
    made = []
    monkeypatch.setattr(processor, "storing", lambda: storing)
    monkeypatch.setattr(jit, "machine_code", lambda text, kind: made.append(text))
    jit.compile(
        Compilation(armdyn.load("panda").chain, [Task("jacobian")]).program, kind, "float64"
    )
    (text,) = made
    assert f"define void @{kind}(" in text
    assert ("i32 1, i32 3, i32 1" in text) == (storing == "asked for")  # lines to store in


@pytest.mark.parametrize(
    "maker, signature, storing",
    [
        (b"AuthenticAMD", 0x00B00F21, "plain"),  # Zen 5
        (b"AuthenticAMD", 0x00A10F11, "staged"),  # Zen 4
        (b"GenuineIntel", 0x000806F8, "asked for"),
        (b"CentaurHauls", 0x00B00F21, "staged"),
    ],
)
def test_makers_store_in_their_ways(maker, signature, storing, monkeypatch):
    name = int.from_bytes(maker[:4], "little")
    leaves = {0: [0x20, name, 0, 0], 1: [signature, 0, 0, 0]}
    monkeypatch.setattr(processor, "_Instruction", lambda _: leaves.__getitem__)
    assert processor.storing.__wrapped__() == storing
