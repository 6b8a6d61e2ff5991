"""The engine: which method is chosen, what is compiled, and what comes from the disk."""

import gc
import logging
import sys
import threading
import time

import numpy as np
import pytest

import armdyn
from armdyn import Chain, Robot, engine
from armdyn.algorithms import lin1991, newton_euler
from armdyn.algorithms.catalogue import methods
from armdyn.engine import calls as calls_path
from armdyn.engine import jit, llvm_thread
from armdyn.errors import MethodError, ModelError, TraceError
from armdyn.program.tape import record
from armdyn.quantities import QUANTITIES, choice, tasks
from armdyn.quantities.tasks import Task, cheapest, formula, program_cost
from armdyn.robot import options
from tests.arms import with_rotors
from tests.interpreting import interpret
from tests.sweeping import few


@pytest.mark.parametrize("name", armdyn.robots())
def test_the_cheapest_of_all_exact_methods_is_chosen(name):
    """Though most are not tried: none that was left out costs less, but for more sines."""
    chain = armdyn.load(name).chain
    for quantity in ("mass_matrix", "bias", "gravity", "inverse_dynamics", "forward_dynamics"):
        able = [m.name for m in methods(quantity) if m.exact and m.name != "newton-euler-angles"]
        costs = {method: program_cost(chain, quantity, method) for method in able}
        assert cheapest(chain, quantity) == min(costs, key=lambda method: costs[method])


def test_methods_lists_what_the_choice_was_made_from():
    rows = armdyn.load("puma560").methods("bias")
    (chosen,) = [row for row in rows if row.chosen]
    others = [row for row in rows if row.exact and row.name != "newton-euler-angles"]
    assert chosen.exact and chosen.operations == min(row.operations for row in others)
    (approximate,) = [row for row in rows if not row.exact]
    assert approximate.name == "zomaya-morris" and not approximate.chosen


@pytest.mark.parametrize("name", few(["stanford", "puma560"], 0))
def test_every_method_can_be_asked_for_by_name(name):
    arm = armdyn.load(name)
    state = np.random.default_rng(5).uniform(-1, 1, (3, 4, arm.n))
    for quantity in ("mass_matrix", "bias", "gravity", "inverse_dynamics", "forward_dynamics"):
        arguments = state[: len(QUANTITIES[quantity].arguments)]
        expected = getattr(arm, quantity)(*arguments)
        for method in methods(quantity):
            if method.exact and not method.refuses(arm.chain.on(float)):
                found = getattr(arm, quantity)(*arguments, method=method.name)
                scale = np.abs(expected).max()
                np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * scale)


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_compiled_functions_equal_the_formula_in_floats(quantity):
    """On an arm with rotors, prismatic joints and friction."""
    chain = with_rotors(Chain.random(6, "RPRRRR", seed=6))
    arm = Robot(chain)
    state = np.random.default_rng(7).uniform(-2, 2, (3, 6))[: len(QUANTITIES[quantity].arguments)]
    task = Task(quantity).settled(chain)
    expected = formula(chain, float, task)(*(row.tolist() for row in state))
    found = getattr(arm, quantity)(*state)
    several = isinstance(found, tuple)
    for a, b in zip(
        found if several else [found], expected if several else [expected], strict=True
    ):
        b = np.array(b, float)
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * max(1, np.abs(b).max()))


def test_several_quantities_in_one_function():
    arm = armdyn.load("stanford")
    both = arm.function("forward_dynamics", "mass_matrix", "energy")
    q, qd, tau = np.random.default_rng(8).uniform(-1, 1, (3, 5, arm.n))
    qdd, M, kinetic, potential = both(q, qd, tau)
    np.testing.assert_allclose(qdd, arm.forward_dynamics(q, qd, tau), rtol=1e-11)
    np.testing.assert_allclose(M, arm.mass_matrix(q), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kinetic, arm.energy(q, qd)[0], rtol=1e-12)
    np.testing.assert_allclose(potential, arm.energy(q, qd)[1], rtol=1e-12)
    out = tuple(np.empty_like(x) for x in (qdd, M, kinetic, potential))
    assert all(a is b for a, b in zip(both(q, qd, tau, out=out), out, strict=True))
    with pytest.raises(
        armdyn.MethodError,
        match="no quantity 'mass'; did you mean 'mass_matrix'\\? known: mass_matrix",
    ):
        arm.function("mass")
    with pytest.raises(armdyn.MethodError, match="no quantity \\['bias'\\]; known: mass_matrix"):
        arm.function(["bias"])
    with pytest.raises(armdyn.MethodError, match="method and frame are names, not .*'lin1991'"):
        arm.bias(q, qd, method=["lin1991"])
    with pytest.raises(armdyn.MethodError, match="no method '' for bias"):
        arm.bias(q, qd, method="")
    with pytest.raises(armdyn.MethodError, match="at least one"):
        arm.function()


def test_the_same_bits_on_any_number_of_threads():
    arm = armdyn.load("puma560")
    q = np.random.default_rng(9).uniform(-3, 3, (20_001, arm.n))
    one = arm.mass_matrix(q, threads=1)
    for threads in (2, 3, None):
        np.testing.assert_array_equal(arm.mass_matrix(q, threads=threads), one)
    np.testing.assert_array_equal(arm.mass_matrix(q[20_000]), one[20_000])


def test_friction_is_compiled_too():
    chain = with_rotors(Chain.random(3, seed=2))
    arm = Robot(chain)
    q, qd, qdd = np.random.default_rng(3).uniform(-1, 1, (3, 8, 3))
    tau = arm.inverse_dynamics(q, qd, qdd, friction=True)
    np.testing.assert_allclose(arm.forward_dynamics(q, qd, tau, friction=True), qdd, atol=1e-10)


def test_options_are_heard_each_time_they_are_given(monkeypatch):
    """From the second time on the quantity's function answers them by itself."""
    arm = armdyn.load("panda")
    q, qd, qdd = np.random.default_rng(3).normal(size=(3, 7))
    calls = {
        "tip": lambda arm: arm.pose(q),
        "hand": lambda arm: arm.pose(q, "panda_hand", out=np.empty((4, 4))),
        "hand J": lambda arm: arm.jacobian(q, frame="panda_hand", threads=1),
        "dry": lambda arm: arm.inverse_dynamics(q, qd, qdd, method="newton-euler"),
        "friction": lambda arm: arm.inverse_dynamics(q, qd, qdd, friction=True),
        "gdahj": lambda arm: arm.mass_matrix(q, method="gdahj"),
    }
    others = {
        "tip": lambda arm: arm.pose(q, frame=None),
        "tip J": lambda arm: arm.jacobian(q, None),
        "both": lambda arm: arm.inverse_dynamics(q, qd, qdd, friction=True, method="newton-euler"),
        "neither": lambda arm: arm.inverse_dynamics(q, qd, qdd, friction=False),
    }
    right = {name: call(armdyn.load("panda")) for name, call in (calls | others).items()}
    assert not np.array_equal(right["tip"], right["hand"])
    assert not np.array_equal(right["tip J"], right["hand J"])
    assert not np.array_equal(right["dry"], right["both"])
    for _ in range(3):
        for name, call in (others | calls).items():
            np.testing.assert_array_equal(call(arm), right[name], err_msg=name)
        with pytest.raises(TypeError, match="positional"):
            arm.mass_matrix(q, "gdahj")  # as ever: not without its keyword
        for method in ("panda_hand", True, ""):
            with pytest.raises(MethodError):
                arm.mass_matrix(q, method=method)
        with pytest.raises(ModelError, match="gdahj"):
            arm.pose(q, "gdahj")
    if calls_path.EXTENSION:
        monkeypatch.setitem(vars(arm), "_do", None)
        for name, call in calls.items():
            np.testing.assert_array_equal(call(arm), right[name], err_msg=name)


def test_a_name_of_another_type_is_not_remembered():
    """Python would run its __eq__ while the extension looks it up."""

    class Name(str):
        __hash__ = str.__hash__

        def __eq__(self, other):
            raise AssertionError("compared")

    arm, q = armdyn.load("panda"), np.zeros(7)
    hand = arm.pose(q, "panda_hand")
    other = armdyn.load("panda")
    np.testing.assert_array_equal(other.pose(q, Name("panda_hand")), hand)
    np.testing.assert_array_equal(other.pose(q, "panda_hand"), hand)


def test_a_subclass_may_have_its_own_functions():
    class Doubled(Robot):
        def mass_matrix(self, q, **options):
            return 2 * super().mass_matrix(q, **options)

    chain, q = armdyn.load("two_link").chain, np.ones(2)
    M = Robot(chain).mass_matrix(q)
    arm = Doubled(chain)
    for _ in range(3):
        np.testing.assert_array_equal(arm.mass_matrix(q), 2 * M)
    np.testing.assert_allclose(arm.mass_matrix(q, method="crba"), 2 * M, rtol=1e-14)
    assert super(Doubled, arm).mass_matrix is super(Doubled, arm).mass_matrix


# The disk cache ----------------------------------------------------------------------------------


@pytest.fixture
def private_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ARMDYN_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def entries(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_hit_needs_no_tracing(private_cache, monkeypatch):
    chain = Chain.random(3, seed=21)
    q = np.array([0.1, 0.2, 0.3])
    first = Robot(chain).mass_matrix(q)
    assert entries(private_cache)

    def refuse(*args):
        raise AssertionError("traced although the code was on disk")

    made = engine.Compilation(chain, [Task("mass_matrix")])
    made("single", "float64")
    assert made.tasks[0].method == cheapest(chain, "mass_matrix")
    monkeypatch.setattr(engine, "program", refuse)
    monkeypatch.setattr(tasks, "record", refuse)
    np.testing.assert_array_equal(Robot(chain).mass_matrix(q), first)
    with pytest.raises(AssertionError, match="traced"):
        Robot(Chain.random(3, seed=22)).mass_matrix(q)


def counted(monkeypatch, name):
    """The calls of a function of ``tasks`` from now on."""
    made, function = [], getattr(tasks, name)
    monkeypatch.setattr(tasks, name, lambda *given: made.append(given) or function(*given))
    return made


@pytest.mark.parametrize("quantity", ["mass_matrix", "inverse_dynamics"])
def test_the_winners_program_is_traced_once(quantity, private_cache, monkeypatch):
    """All that are tried are traced, to see what they cost; the cheapest is not traced again."""
    chain = Chain.random(5, seed=77)
    traced, dropped = counted(monkeypatch, "record"), counted(monkeypatch, "drop_unused")
    cheapest(chain, quantity)
    tried = len(traced)
    assert tried > 1 and not dropped, "what a candidate does not need is left out of its cost"
    made = engine.Compilation(chain, [Task(quantity)]).program
    assert len(traced) == tried and len(dropped) == 1 and made.name == quantity


ARM = Chain.random(5, seed=78)


@pytest.fixture
def chosen(private_cache):
    """The method of the bias that was chosen, and is on disk; in memory it is forgotten."""
    tasks.forget_costs()
    name = cheapest(ARM, "bias")
    tasks.forget_costs()
    yield name
    tasks.forget_costs()


def test_a_choice_is_kept_on_disk(chosen, monkeypatch):
    """So another kernel of an arm that is known records its own program, and no candidates."""
    traced = counted(monkeypatch, "record")
    assert cheapest(ARM, "bias") == chosen and not traced
    made = engine.Compilation(ARM, [Task("bias")])
    assert made.program.instructions and made.choices == [chosen] and len(traced) == 1


@pytest.mark.parametrize(
    "found", [b"", b"\xff", b"nonsense", b"zomaya-morris", b"newton-euler-angles"]
)
def test_a_choice_that_cannot_be_is_made_anew(chosen, monkeypatch, found):
    """Also one that is no exact method, or none that is chosen by itself."""
    monkeypatch.setattr(engine.cache, "get", lambda key: found)
    traced = counted(monkeypatch, "record")
    assert cheapest(ARM, "bias") == chosen and len(traced) > 1


def test_a_damaged_choice_is_made_anew(chosen, private_cache, monkeypatch):
    (path,) = entries(private_cache)
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    traced = counted(monkeypatch, "record")
    assert cheapest(ARM, "bias") == chosen and len(traced) > 1
    tasks.forget_costs()
    traced.clear()
    assert cheapest(ARM, "bias") == chosen and not traced, "it is on disk again"


def test_choices_of_other_arms_and_questions_are_not_taken(chosen, monkeypatch):
    traced = counted(monkeypatch, "record")
    asked = [(Chain.random(5, seed=79), "bias"), (ARM, "gravity"), (ARM, "bias", ("payload",))]
    for number, question in enumerate(asked):
        traced.clear()
        cheapest(*question)
        assert traced, number


def test_choices_among_registered_methods_are_not_kept(private_cache, own_catalogue, monkeypatch):
    """What a user brings is not in armdyn's text, by which a choice is found again."""
    monkeypatch.setattr(choice, "remembered", engine.chosen_before)
    kept = "newton-euler"
    own_catalogue["gravity"] = tuple(m for m in own_catalogue["gravity"] if m.name == kept)
    assert cheapest(ARM, "gravity") == kept and len(entries(private_cache)) == 1
    armdyn.register("gravity", "mine", lin1991.gravity)
    assert cheapest(ARM, "gravity") == "mine" and len(entries(private_cache)) == 1


# Garbage collection ------------------------------------------------------------------------------


class Watched(engine.Code):
    """Code that notes when garbage is collected while it is made."""

    def __init__(self, program):
        super().__init__()
        self.made, self.thresholds = program, []

    def question(self):
        return (str(self.made),)

    def trace(self):
        self.thresholds.append(gc.get_threshold())
        if self.made is None:
            raise TraceError("no program")
        return self.made


@pytest.fixture
def thresholds(monkeypatch):
    """Of collection, as a user has set them; no cache."""
    monkeypatch.setenv("ARMDYN_CACHE_DIR", "")
    usual = gc.get_threshold()
    gc.set_threshold(701, 11, 12)
    yield 701, 11, 12
    gc.set_threshold(*usual)


def test_garbage_is_collected_rarely_while_code_is_made(thresholds):
    code = Watched(record(lambda x: x[0] + 1, {"x": 1}))
    code("single", "float64")
    assert code.thresholds == [(engine.RARELY, 11, 12)] and gc.get_threshold() == thresholds
    broken = Watched(None)
    with pytest.raises(TraceError, match="no program"):
        broken("single", "float64")
    assert len(broken.thresholds) == 1 and gc.get_threshold() == thresholds


def test_collection_that_is_off_stays_off(thresholds):
    gc.set_threshold(0)
    code = Watched(record(lambda x: x[0] + 1, {"x": 1}))
    code("single", "float64")
    assert code.thresholds[0][0] == gc.get_threshold()[0] == 0


def test_two_threads_that_compile_leave_collection_as_it_was(thresholds):
    """The second begins while the first is at it, and ends later."""
    inside, begun = threading.Event(), threading.Event()

    class Slow(Watched):
        def trace(self):
            inside.set()
            assert begun.wait(20)
            time.sleep(0.05)
            return super().trace()

    program = record(lambda x: x[0] + 1, {"x": 1})
    slow, other = Slow(program), Watched(program)
    first = threading.Thread(target=slow, args=("single", "float64"))
    second = threading.Thread(target=lambda: begun.set() or other("single", "float64"))
    first.start()
    assert inside.wait(20)
    second.start()
    first.join(20)
    second.join(20)
    assert slow.thresholds == other.thresholds == [(engine.RARELY, 11, 12)]
    assert gc.get_threshold() == thresholds


# -------------------------------------------------------------------------------------------------


def test_damaged_entries_are_made_again(private_cache):
    chain = Chain.random(3, seed=23)
    q = np.array([0.1, 0.2, 0.3])
    first = Robot(chain).mass_matrix(q)
    for path in entries(private_cache):
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    np.testing.assert_array_equal(Robot(chain).mass_matrix(q), first)


def test_no_cache_where_none_is_wanted(monkeypatch):
    monkeypatch.setenv("ARMDYN_CACHE_DIR", "")
    assert armdyn.info()["cache"] is None
    assert Robot(Chain.random(2, seed=24)).gravity(np.zeros(2)).shape == (2,)


# Manners -----------------------------------------------------------------------------------------


def test_an_approximation_warns_once(caplog, monkeypatch):
    monkeypatch.setattr(options, "_warned", set())
    arm = armdyn.load("two_link")
    with caplog.at_level(logging.WARNING, "armdyn"):
        for _ in range(3):
            arm.bias(np.zeros(2), np.zeros(2), method="zomaya-morris")
        Robot(arm.chain).bias(np.zeros(2), np.zeros(2), method="zomaya-morris")
    assert caplog.text.count("is an approximation") == 1


def test_without_llvmlite_an_error_says_what_to_install(monkeypatch):
    """What needs no compiling still works."""
    llvm_thread.binding.cache_clear()
    jit.machine.cache_clear()
    monkeypatch.setitem(sys.modules, "llvmlite.binding", None)
    chain = Chain.random(3, seed=25)
    with pytest.raises(armdyn.ArmdynError, match="llvmlite, which cannot .*pip install llvmlite"):
        Robot(chain).bias(np.zeros(3), np.zeros(3))
    found = armdyn.info()
    assert found["back_end"].startswith("none: armdyn compiles by llvmlite")
    assert found["llvmlite"] is None and found["numpy"] == np.__version__
    assert armdyn.count(Robot(chain), "bias", "newton-euler").mul > 0
    monkeypatch.undo()
    assert armdyn.info()["back_end"] == "llvm"
    assert Robot(chain).bias(np.zeros(3), np.zeros(3)).shape == (3,)


def test_interpreted_kernels_give_the_same(monkeypatch):
    chain = Chain.random(3, seed=25)
    q, qd = np.random.default_rng(1).uniform(-1, 1, (2, 3, 3))
    fast = Robot(chain).bias(q, qd)
    interpret(monkeypatch)
    slow = Robot(chain)
    np.testing.assert_allclose(slow.bias(q, qd), fast, rtol=1e-12)
    np.testing.assert_allclose(slow.bias(q[0], qd[0]), fast[0], rtol=1e-12)
    np.testing.assert_allclose(slow.bias(q.astype("f"), qd.astype("f")), fast, rtol=1e-4)


def test_info_names_versions_and_paths():
    found = armdyn.info()
    assert found["armdyn"] == armdyn.__version__ and found["numpy"] == np.__version__
    assert found["back_end"] == "llvm" and found["vector_bytes"] in (16, 32, 64)


def test_first_calls_from_many_threads_compile_once():
    arm = Robot(Chain.random(3, seed=26))
    q = np.linspace(-1, 1, 3)
    found, gate = [], threading.Barrier(6)

    def work():
        gate.wait()
        found.append(arm.mass_matrix(q))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    truth = newton_euler.mass_matrix(arm.chain.on(float), q.tolist())
    for M in found:
        np.testing.assert_allclose(M, truth, rtol=0, atol=1e-13)
        np.testing.assert_array_equal(M, found[0])
