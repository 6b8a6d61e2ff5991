"""The page in a real browser: it computes what Python computes, and what moves there moves."""

import io
import re
from dataclasses import replace
from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pytest

import armdyn
from armdyn.chain.pose import Pose
from armdyn.program.interpreter import evaluate
from armdyn.quantities import find
from armdyn.quantities.tasks import Task, cheapest, program
from armdyn.view import programs
from armdyn.view.programs import ALONE, CHOICE
from tests import browser as chromium
from tests.browser import Browser
from tests.interpreting import LEAST

pytestmark = [
    pytest.mark.skipif(
        chromium.DRIVER is None or chromium.BROWSER is None, reason=chromium.MISSING
    ),
    pytest.mark.sweep,
]
STATES = 100
SAME = 1e-13  # of the largest number
HOSTILE = "</script><img src=x onerror=document.title='broken'>{{page}}&lt;\"'`$&\u2028\u0000x"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def show(browser, tmp_path):
    """Opens the page of an arm, or of a result; it must leave no error behind."""

    def opened(viewed, **size):
        path = tmp_path / "page.html"
        viewed.view().save(path)
        assert path.stat().st_size < 1_200_000
        browser.open(path, **size)
        browser.run("return armdyn.page.mode")
        return browser

    yield opened
    assert browser.errors() == []


def python(robot, quantity, method, *arguments):
    """The interpreter's numbers, (states, numbers of the results), by a method."""
    traced = program(robot.chain, [Task(quantity, method).settled(robot.chain)])
    given = {name: list(x.T) for name, x in zip(traced.inputs, arguments, strict=True)}
    found = evaluate(traced, given)
    results = found if isinstance(found, tuple) else (found,)
    return np.concatenate([np.array(x).reshape(-1, STATES).T for x in results], axis=1)


ASK = """
const [quantity, states] = arguments;
const own = armdyn.dynamics.programs[quantity];
const methods = typeof own === "function" ? [[null, own]] : Object.entries(own);
const numbers = (results) => [results].flat().flatMap((y) => [...y]);
return methods.map(([name, f]) => [name, states.map((x) => numbers(f(...x)))]);
"""


@pytest.mark.parametrize("name", armdyn.robots())
def test_every_formulation_on_the_page_gives_pythons_numbers(show, name):
    robot = armdyn.load(name)
    q, qd, tau = np.random.default_rng(robot.n).uniform(-3, 3, (3, STATES, robot.n))
    page = show(robot)
    tried = {}
    for quantity in (*CHOICE, *ALONE):
        given = (q, qd, tau)[: len(find(quantity).arguments)]
        for method, rows in page.run(ASK, quantity, np.stack(given, axis=1).tolist()):
            expected = python(robot, quantity, method, *given)
            error = np.abs(np.array(rows) - expected).max(axis=1)
            assert (error <= SAME * np.abs(expected).max(axis=1)).all(), (quantity, method)
            tried.setdefault(quantity, []).append(method)
    assert cheapest(robot.chain, "forward_dynamics") in tried["forward_dynamics"]
    assert len(tried["mass_matrix"]) > 8 and len(tried["bias"]) > 3


@pytest.mark.parametrize("name", armdyn.robots())
def test_the_drawn_frames_are_the_arms(show, name):
    """The page's own kinematics, which moves the picture, and its Jacobians of any point."""
    robot = armdyn.load(name)
    q = np.random.default_rng(1).uniform(-2, 2, robot.n)
    ask = "const E = armdyn.kinematics.at(arguments[0]); return [...E];"
    frames = np.array(show(robot).run(ask, q.tolist())).reshape(-1, 12)
    E = robot.chain.base.matrix
    for i, joint in enumerate(robot.chain.joints):
        turn, slide = (q[i], 0.0) if joint.kind == "R" else (0.0, q[i])
        E = E @ Pose.mdh(joint.b, joint.beta, joint.theta + turn, joint.d + slide).matrix
        np.testing.assert_allclose(frames[i + 1, :9].reshape(3, 3), E[:3, :3], atol=1e-14)
        np.testing.assert_allclose(frames[i + 1, 9:], E[:3, 3], atol=1e-14)


# Motion -------------------------------------------------------------------------------------------

FALL = """
const [q, seconds] = arguments;
const { sim } = armdyn;
armdyn.setMode("fall");
armdyn.play(false);
sim.stops = false;
sim.q.set(q);
sim.restart();
const kinetic = [];
for (let k = 0; k < 1000 * seconds; k++) {
  sim.step();
  kinetic.push(armdyn.dynamics.energy(sim.q, sim.qd).kinetic);
}
return [sim.total() - sim.start, Math.max(...kinetic), sim.work, sim.t];
"""


@pytest.mark.parametrize("name", ["two_link", "puma560", "panda"])
def test_a_falling_arm_keeps_its_energy(show, name):
    """Within a second, by 1000 steps of 1 ms, to a millionth of its greatest kinetic energy."""
    robot = armdyn.load(name)
    drift, kinetic, work, t = show(robot).run(FALL, np.full(robot.n, 0.3).tolist(), 1)
    assert kinetic > 1 and work == 0 and t == pytest.approx(1)
    assert abs(drift) < 1e-6 * kinetic


def test_a_fall_is_that_of_python(show):
    robot = armdyn.load("two_link")
    page = show(robot)
    page.run(FALL, [0.3, 0.4], 1)
    found = page.run("return [...armdyn.sim.q]")
    result = armdyn.simulate(robot, [0.3, 0.4], [0, 0], None, 1.0, 1e-3, "rk4")
    np.testing.assert_allclose(found, result.q[-1], rtol=0, atol=1e-12)


def test_the_page_steps_a_thousand_times_a_second_of_its_time(show):
    page = show(armdyn.load("panda"))
    passed = page.run(
        "armdyn.setMode('hold'); armdyn.play(false); return armdyn.sim.advance(0.25, 60)"
    )
    assert passed == pytest.approx(0.25)
    assert page.run("return armdyn.sim.t") == pytest.approx(0.25)


LAW = """
const [law, target, seconds] = arguments;
const { sim } = armdyn;
armdyn.setMode(law);
armdyn.play(false);
if (target) sim.target.set(target);
for (let k = 0; k < 1000 * seconds; k++) sim.step();
return [[...sim.q], [...sim.qd]];
"""


def test_an_arm_goes_to_its_target(show):
    robot = armdyn.load("panda")
    target = [0.5, 0.2, -0.3, -1.5, 0.2, 1.4, 0.1]
    q, qd = show(robot).run(LAW, "pd", target, 4)
    np.testing.assert_allclose(q, target, atol=1e-8)
    np.testing.assert_allclose(qd, 0, atol=1e-7)


def test_an_arm_that_is_held_stays(show):
    page = show(armdyn.load("puma560"))
    before = page.run("return [...armdyn.sim.q]")
    q, _ = page.run(LAW, "hold", None, 1)
    np.testing.assert_allclose(q, before, atol=1e-10)


def test_a_link_follows_the_hand_that_pulls_it(show):
    robot = armdyn.load("puma560")
    page = show(robot)
    script = """
      armdyn.setMode("hold");
      armdyn.play(false);
      const { sim, kinematics } = armdyn;
      sim.damping = 3;
      kinematics.at(sim.q);
      const start = kinematics.toBase(2, [0, 0.1, 0]);
      sim.grab(2, start);
      sim.hand.goal = start.map((x, k) => x + [0.05, 0.05, 0.05][k]);
      const goal = [...sim.hand.goal];
      for (let k = 0; k < 4000; k++) sim.step();
      return [start, goal, kinematics.toBase(2, sim.hand.place)];
    """
    start, goal, end = map(np.array, page.run(script))
    assert np.linalg.norm(end - goal) < 0.02 * np.linalg.norm(start - goal)


def test_joints_rebound_from_their_limits(show):
    """A fall with stops gains no energy, and goes no further than springs of 150 rad/s let it."""
    page = show(armdyn.load("panda"))
    script = """
      const { sim, arm } = armdyn;
      armdyn.setMode("fall");
      armdyn.play(false);
      let [beyond, energy, speed] = [0, -Infinity, 0];
      for (let k = 0; k < 3000; k++) {
        sim.step();
        energy = Math.max(energy, sim.total() - sim.start);
        arm.joints.forEach((joint, i) => {
          beyond = Math.max(beyond, sim.q[i] - joint.upper, joint.lower - sim.q[i]);
          speed = Math.max(speed, Math.abs(sim.qd[i]));
        });
      }
      return [beyond, energy, speed, [...sim.motors]];
    """
    beyond, energy, speed, motors = page.run(script)
    assert 0 < beyond < speed / 150 and energy < 1e-3 and motors == [0] * 7


@pytest.mark.parametrize(
    ("mode", "stops"),
    [*product(["hold", "fall", "pd", "pose"], [True, False]), ("stops", False)],
)
def test_a_change_of_mode_makes_no_energy(show, mode, stops):
    """After a fall, through the joints' limits or between them, the arm rests within them."""
    script = """
      const [mode, stops] = arguments;
      const { sim, arm } = armdyn;
      armdyn.setMode("fall");
      armdyn.play(false);
      if (!stops) document.getElementById("stops").click();
      const initial = sim.start;
      for (let k = 0; k < 2500; k++) sim.step();
      if (mode === "stops") document.getElementById("stops").click();
      else armdyn.setMode(mode);
      armdyn.play(false);
      const outside = arm.joints.some((x, i) => sim.q[i] < x.lower || sim.q[i] > x.upper);
      const before = sim.total();
      if (mode === "pd") return [outside, before - initial, 0]; // its motors may lift the arm
      let most = -Infinity;
      for (let k = 0; k < 500; k++) {
        sim.step();
        most = Math.max(most, sim.total() - before);
      }
      return [outside, before - initial, most];
    """
    outside, jump, most = show(armdyn.load("panda")).run(script, mode, stops)
    assert not outside and jump <= 1e-3 and most <= 1e-3


def test_a_target_stays_above_the_floor(show):
    """The one that a mode begins with, and one that the tip is sent to."""
    page = show(armdyn.load("ur5"))
    script = """
      const { sim, dynamics } = armdyn;
      const lift = armdyn.arm.joints.findIndex((joint) => joint.name === "shoulder_lift_joint");
      const q = sim.q.slice();
      q[lift] = 1.2;
      armdyn.pose(q);
      const height = () => dynamics.pose(sim.target)[11];
      const below = dynamics.pose(sim.q)[11];
      await_paint(() => {
        const said = !document.getElementById("passed").hidden;
        armdyn.setMode("pd");
        armdyn.play(false);
        const begun = height();
        const z = document.querySelectorAll("#tip input")[2];
        z.value = -0.3;
        z.dispatchEvent(new Event("change"));
        done([below, said, begun, height()]);
      });
    """
    wait = "const await_paint = (f) => setTimeout(f, 300);\n"
    below, said, begun, sent = page.run_async(wait + script)
    assert below < -0.1 and said and begun > 0.05 and sent > -1e-3


def test_forward_dynamics_from_parts_is_that_of_its_program(show):
    page = show(armdyn.load("ur5"))
    script = """
      const { dynamics } = armdyn;
      const [q, qd, tau] = arguments;
      const whole = [...dynamics.acceleration(q, qd, tau)];
      document.querySelectorAll("input[name=forward_dynamics]").forEach((x) => x.click());
      return [whole, [...dynamics.acceleration(q, qd, tau)], dynamics.chosen.forward_dynamics];
    """
    whole, parts, chosen = page.run(script, *np.random.default_rng(0).normal(size=(3, 6)).tolist())
    assert chosen == "from M and b"
    np.testing.assert_allclose(parts, whole, rtol=1e-9)


# What people do -----------------------------------------------------------------------------------


def picture(page):
    """The pixels of the stage once it is drawn."""
    page.run_async("requestAnimationFrame(() => requestAnimationFrame(() => done(true)))")
    image = plt.imread(io.BytesIO(page.screenshot()))
    return image[100:620, :800, :3]


def changed(before, after):
    """The share of the pixels that differ."""
    return float((np.abs(before - after).max(axis=2) > 0.05).mean())


def test_a_slider_moves_the_arm(show):
    page = show(armdyn.load("panda"))
    before = picture(page)
    assert changed(before, picture(page)) == 0
    slide = """
      const slider = document.getElementById(`joint${arguments[0]}`);
      slider.value = arguments[1];
      slider.dispatchEvent(new Event("input", { bubbles: true }));
      return armdyn.sim.q[arguments[0]];
    """
    for joint, value in ((1, -0.5), (0, 1.5), (3, -2.5)):
        assert page.run(slide, joint, value) == pytest.approx(value)
        after = picture(page)
        assert changed(before, after) > 0.01
        before = after


def place(page, script):
    """Where on the window a point of the scene is [pixel]."""
    return page.run(f"""
      const point = {script};
      armdyn.stage.scene.updateMatrixWorld(true);
      const box = armdyn.stage.canvas.getBoundingClientRect();
      const seen = point.project(armdyn.stage.camera);
      return [box.left + (1 + seen.x) / 2 * box.width, box.top + (1 - seen.y) / 2 * box.height];
    """)


TIP = "new THREE.Vector3().setFromMatrixPosition(armdyn.scene.tip.matrixWorld)"


def test_the_tip_follows_the_pointer(show):
    page = show(armdyn.load("panda"))
    picture(page)
    x, y = place(page, TIP)
    page.drag((x, y), (x - 30, y + 20), (x - 60, y + 40))
    picture(page)
    found = place(page, TIP)
    np.testing.assert_allclose(found, (x - 60, y + 40), atol=6)


def test_a_link_is_grabbed_and_pulled(show):
    page = show(armdyn.load("panda"))
    picture(page)
    page.run("armdyn.setMode('hold'); armdyn.play(false)")
    before = np.array(page.run("return [...armdyn.sim.q]"))
    x, y = place(page, "armdyn.scene.links[3].localToWorld(new THREE.Vector3())")
    page.drag((x, y), (x + 40, y - 20), (x + 90, y - 40))
    after = np.array(page.run("armdyn.play(false); return [...armdyn.sim.q]"))
    assert page.run("return armdyn.sim.t") > 0  # grabbing sets it in motion
    assert np.abs(after - before).max() > 1e-3
    assert page.run("return armdyn.sim.hand") is None


KEYS = """
const [id, key] = arguments;
const target = document.getElementById(id);
target.focus();
target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
"""


def test_keys_turn_the_view_and_play(show):
    page = show(armdyn.load("scara"))
    before = picture(page)
    page.run(KEYS, "scene", "ArrowLeft")
    turned = picture(page)
    assert changed(before, turned) > 0.01
    page.run(KEYS, "scene", "ArrowRight")
    assert changed(before, picture(page)) < 0.001
    page.run("armdyn.setMode('hold')")
    page.run(KEYS, "scene", " ")
    assert page.run("return armdyn.page.playing") is False
    page.run(KEYS, "scene", " ")
    assert page.run("return armdyn.page.playing") is True


def test_the_tip_goes_where_it_is_told(show):
    page = show(armdyn.load("puma560"))
    script = """
      const input = document.querySelector("#tip input");
      armdyn.pose([0.3, 0.5, -1.2, 0.1, 0.2, 0.3]); // away from all limits
      input.value = armdyn.dynamics.pose(armdyn.sim.q)[3];
      input.value = Number(input.value) - 0.05;
      input.dispatchEvent(new Event("change"));
      return [Number(input.value), armdyn.dynamics.pose(armdyn.sim.q)[3]];
    """
    picture(page)
    wanted, found = page.run(script)
    assert found == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("name", ["panda", "puma560", "scara"])
def test_a_reach_stays_within_limits_and_gets_there(show, name):
    """To where the arm can be: the tip of a posture within all limits, from another one."""
    robot = armdyn.load(name)
    lower, upper = np.clip(robot.position_limits.T, -2, 2)
    rng = np.random.default_rng(0)
    script = """
      const [q, goal] = arguments;
      const { arm, dynamics, kinematics } = armdyn;
      const parts = { arm, dynamics, kinematics };
      for (let k = 0; k < 20; k++) armdyn.reach(q, goal, { tip: true }, parts);
      const T = dynamics.pose(q);
      return [q, [T[3], T[7], T[11]]];
    """
    page = show(robot)
    far = []
    for _ in range(20):
        start, end = rng.uniform(
            lower + 0.1 * (upper - lower), upper - 0.1 * (upper - lower), (2, robot.n)
        )
        goal = robot.pose(end)[:3, 3]
        q, tip = page.run(script, start.tolist(), goal.tolist())
        assert (q >= robot.position_limits[:, 0]).all() and (q <= robot.position_limits[:, 1]).all()
        far.append(np.linalg.norm(tip - goal))
    assert np.median(far) < 1e-6  # a few may end where limits hold them


def test_a_layer_is_shown_and_hidden(show):
    page = show(armdyn.load("ur5"))
    before = picture(page)
    click = "document.querySelectorAll('#layers button').forEach((x) => x.click());"
    page.run(click)
    assert changed(before, picture(page)) > 0.005
    page.run(click)
    assert changed(before, picture(page)) == 0


def test_a_reached_target_is_not_drawn_over_the_arm(show):
    script = """
      const { sim, scene } = armdyn;
      armdyn.setMode("pd");
      const drawn = () => (scene.move(sim.q, sim.target), scene.ghost.links.map((x) => x.visible));
      const there = drawn();
      sim.target[3] -= 0.2;
      return [there, drawn(), scene.ghost.root.visible];
    """
    there, away, visible = show(armdyn.load("panda")).run(script)
    assert not any(there) and visible
    assert away[:3] == [False] * 3 and away[3]  # what does not move stays hidden


def test_the_view_is_fitted_to_the_arm(show):
    page = show(armdyn.load("scara"))
    picture(page)
    move = "armdyn.stage.controls.target.x += 9; armdyn.stage.camera.position.x += 9;"
    page.run(f"{move} armdyn.stage.controls.update()")
    away = page.run("return armdyn.stage.camera.position.clone().sub(armdyn.stage.controls.target)")
    page.run("document.getElementById('fit').click()")
    after = page.run(
        "return armdyn.stage.camera.position.clone().sub(armdyn.stage.controls.target)"
    )
    side = [np.array([v[k] for k in "xyz"]) for v in (away, after)]
    np.testing.assert_allclose(*(v / np.linalg.norm(v) for v in side), atol=1e-9)
    x, y = place(page, TIP)
    assert 0 < x < 880 and 0 < y < 700


def test_units_are_switched(show):
    page = show(armdyn.load("panda"))
    read = (
        "return [...document.querySelectorAll('#sliders input[type=number]')].map((x) => +x.value)"
    )
    picture(page)
    radians = page.run(read)
    page.run("document.getElementById('degrees').click()")
    np.testing.assert_allclose(page.run(read), np.degrees(radians), atol=0.1)
    states = "return ['radians', 'degrees'].map((id) => document.getElementById(id).ariaPressed)"
    assert page.run(states) == ["false", "true"]


@pytest.mark.parametrize(("width", "height"), [(738, 640), (390, 844)])
def test_on_narrow_screens_controls_stand_below_the_arm(show, width, height):
    page = show(armdyn.load("ur5"))
    page.resize(width, height)
    try:
        picture(page)
        ask = """
          return ["scene", "tools", "transport"].map((id) => {
            const { top, bottom } = document.getElementById(id).getBoundingClientRect();
            return [top, bottom];
          });
        """
        scene, *controls = page.run(ask)
        assert scene[1] - scene[0] >= 260
        for top, bottom in controls:
            assert scene[1] <= top and bottom <= height
    finally:
        page.post("/goog/cdp/execute", cmd="Emulation.clearDeviceMetricsOverride", params={})


def test_names_are_whole_where_there_is_space(show):
    page = show(armdyn.load("ur5"))
    script = """
      return [...document.querySelectorAll("#sliders label, #bars .name")].map(
        (x) => [x.textContent, x.title, x.scrollWidth <= x.clientWidth]);
    """
    picture(page)
    for shown, title, whole in page.run(script):
        assert f"{shown}_joint" == title and whole


def test_light_and_dark(show):
    page = show(armdyn.load("scara"))
    light = picture(page)
    page.run("document.getElementById('theme').click()")
    assert picture(page).mean() < 0.4 < 0.7 < light.mean()


@pytest.mark.parametrize(("width", "height"), [(360, 740), (800, 600), (1280, 800), (2200, 1200)])
def test_nothing_is_wider_than_the_screen(show, width, height):
    page = show(armdyn.load("panda"), width=1280, height=800)
    page.resize(width, height)
    try:
        picture(page)
        assert page.run("return document.documentElement.scrollWidth") <= width
        assert page.run("return armdyn.stage.canvas.clientWidth") >= 0.3 * width
    finally:
        page.post("/goog/cdp/execute", cmd="Emulation.clearDeviceMetricsOverride", params={})


def test_every_control_has_a_name_and_can_be_reached_by_keys(show):
    page = show(armdyn.load("scara"))
    script = """
      return [...document.querySelectorAll("button, input, select, canvas[tabindex]")].filter(
        (x) => x.tabIndex < 0 || !(x.labels?.length || x.textContent.trim() || x.ariaLabel),
      ).map((x) => x.outerHTML);
    """
    assert page.run(script) == []


def test_the_formulations_are_timed_here(show):
    page = show(armdyn.load("two_link"))
    page.run_async("armdyn.cards.formulations.measure().then(done)")
    times = page.run("return [...document.querySelectorAll('.time')].map((x) => x.textContent)")
    cells = [text for text in times if text != "time"]
    assert cells and all(re.fullmatch(r"[\d.]+ (ns|\u00b5s)", text) for text in cells)


def test_a_run_is_played(show):
    robot = armdyn.load("two_link")
    result = armdyn.simulate(robot, [0.3, 0.4], [0, 0], None, 1.0, 1e-3, "rk4")
    page = show(result)
    assert page.run("return armdyn.page.mode") == "run"
    for row in (0, 400, 1000):
        script = """
          const line = document.getElementById("timeline");
          line.value = arguments[0];
          line.dispatchEvent(new Event("input"));
          return [...armdyn.sim.q];
        """
        found = page.run(script, result.t[row])
        np.testing.assert_allclose(found, result.q[row], atol=1e-3)
    page.run("armdyn.play(true)")
    page.run_async(
        "const wait = () => armdyn.page.playing ? setTimeout(wait, 50) : done(1); wait();"
    )
    np.testing.assert_allclose(page.run("return [...armdyn.sim.q]"), result.q[-1], atol=1e-6)


def test_an_arm_without_dynamics_is_posed(show, monkeypatch):
    monkeypatch.setattr(programs, "quantities_of", lambda chain: ["pose", "jacobian"])
    page = show(armdyn.load("two_link"))
    before = picture(page)
    modes = "return [...document.querySelectorAll('#modes input')].map((x) => x.value)"
    assert page.run(modes) == ["pose"]
    assert page.run("return document.getElementById('torques').hidden") is True
    x, y = place(page, TIP)
    page.drag((x, y), (x - 40, y + 30))
    assert changed(before, picture(page)) > 0.005


def test_a_comparison_is_sorted_and_fits_a_phone(browser, tmp_path, interpreted):
    path = tmp_path / "report.html"
    armdyn.compare("two_link", ["mass_matrix"], **LEAST).write_html(path)
    browser.open(path)
    script = """
      const all = (what) => [...document.querySelectorAll(what)];
      const heading = all("thead button").find((x) => x.textContent === "a call");
      const column = heading.parentElement.cellIndex;
      const bar = (row) => row.querySelector("rect").getAttribute("width");
      const time = (row) => row.cells[column].dataset.value;
      const read = () => all("tbody tr").map((x) => [time(x), bar(x)].map(Number));
      heading.click();
      const rising = read();
      heading.click();
      return [rising, read(), heading.parentElement.ariaSort, all("thead .bar")[0].textContent];
    """
    rising, falling, state, title = browser.run(script)
    assert state == "descending" and title == "a call"
    times = [time for time, _ in rising]
    assert times == sorted(times) and times[::-1] == [time for time, _ in falling]
    assert [width for _, width in rising] == pytest.approx([100 * x / max(times) for x in times])
    for width in (390, 738, 1280):
        browser.resize(width, 844)
        assert browser.run("return document.documentElement.scrollWidth") <= width
        article = "const x = document.querySelector('article');"
        assert browser.run(f"{article} return x.scrollWidth <= x.clientWidth")
    browser.dark(True)
    browser.open(path)
    try:
        assert browser.run("return document.documentElement.dataset.theme") == "dark"
    finally:
        browser.dark(False)
        browser.post("/goog/cdp/execute", cmd="Emulation.clearDeviceMetricsOverride", params={})
    assert browser.errors() == []


# What is hostile ----------------------------------------------------------------------------------


def test_hostile_names_break_nothing(show):
    chain = armdyn.load("two_link").chain
    joints = [replace(joint, name=f"{HOSTILE}{i}") for i, joint in enumerate(chain.joints)]
    links = [replace(link, name=f"{HOSTILE}{i}") for i, link in enumerate(chain.links)]
    hostile = replace(chain, name=HOSTILE, joints=tuple(joints), links=tuple(links), frames=())
    page = show(armdyn.Robot(hostile))
    assert page.run("return armdyn.arm.name") == HOSTILE
    assert page.run("return armdyn.arm.joints[1].name") == f"{HOSTILE}1"
    assert page.run("return document.querySelectorAll('img').length") == 0
    assert page.run("return document.getElementById('name').textContent") == HOSTILE
    assert "broken" not in page.run("return document.title").replace("document.title='broken'", "")


def test_the_policy_stops_scripts_that_are_not_the_pages(browser, tmp_path):
    path = tmp_path / "page.html"
    text = armdyn.load("two_link").view().text
    path.write_text(text.replace("<body>", "<body><script>globalThis.strange = 1</script>"))
    browser.open(path)
    assert browser.run("return globalThis.strange ?? 0") == 0
    assert browser.run("return armdyn.arm.name") == "two_link"
    assert any("Content Security Policy" in error for error in browser.errors())


def test_the_page_of_a_notebook_works(browser, tmp_path):
    path = tmp_path / "notebook.html"
    path.write_text(armdyn.load("two_link").view()._repr_html_(), encoding="utf-8")
    browser.open(path)
    browser.post("/frame", id=0)
    assert browser.run("return armdyn.arm.name") == "two_link"
    zoom = "return armdyn.stage.controls.enableZoom"
    assert browser.run(zoom) is False  # the wheel scrolls the notebook,
    browser.run("document.getElementById('scene').focus()")
    assert browser.run(zoom) is True  # until the arm is clicked
    assert browser.errors() == []
