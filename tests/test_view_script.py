"""The numbers of the page's script, without a browser: run by Node.js."""

import json

import armdyn
from armdyn.view import assembly
from armdyn.view.drawing import drawing
from armdyn.view.programs import programs
from tests.test_javascript import needs_node, node

pytestmark = needs_node
PARTS = ("kinematics", "dynamics", "simulate", "plots", "joints", "posture")


def run(script, robot="panda"):
    """What a script returns that has the page's own parts, and an arm."""
    chain = armdyn.load(robot).chain
    written = programs(chain)
    texts = (assembly.IMPORT.sub("", assembly._asset(f"{name}.js")) for name in PARTS)
    arm = drawing(chain) | {"methods": written.methods}
    return node(f"""
      {written.script.replace("const armdynPrograms", "globalThis.armdynPrograms")}
      {"".join(texts).replace("export ", "")}
      const arm = {json.dumps(arm)};
      const kinematics = new Kinematics(arm);
      const dynamics = new Dynamics(arm, armdynPrograms);
      const sim = new Simulation(dynamics, kinematics, arm);
      const parts = {{ arm, dynamics, kinematics }};
      console.log(JSON.stringify((() => {{ {script} }})()));
    """)


def test_a_joint_goes_into_its_limits_by_whole_turns_if_these_suffice():
    script = """
      const joint = (kind, lower, upper) => ({ kind, lower, upper });
      const turn = 2 * Math.PI;
      return [
        [within(joint("R", -2.9, 2.9), 1.5), 1.5],
        [within(joint("R", -2.9, 2.9), -33), -33 + 5 * turn],
        [within(joint("R", -2.9, 2.9), 3.0), 2.9],
        [within(joint("R", 3, 9), 0), turn],
        [within(joint("R", null, null), 7), 7 - turn],
        [within(joint("R", -1, null), 50), 50],
        [within(joint("P", -0.5, 0.5), 3), 0.5],
        [within(joint("P", null, null), 30), 30],
      ];
    """
    for found, expected in run(script):
        assert abs(found - expected) < 1e-12


def test_stops_make_no_energy_after_a_fall_beyond_them():
    """Free fall without stops for 2.5 s, then Hold: at rest within the limits, and it stays so."""
    script = """
      sim.stops = false;
      sim.q.set(homePosture(parts));
      sim.restart();
      for (let k = 0; k < 2500; k++) sim.step();
      const outside = arm.joints.some((x, i) => sim.q[i] < x.lower || sim.q[i] > x.upper);
      Object.assign(sim, { law: "hold", damping: 1, stops: true });
      sim.settle();
      sim.restart();
      let most = -Infinity;
      for (let k = 0; k < 500; k++) {
        sim.step();
        most = Math.max(most, sim.total() - sim.start);
      }
      return [outside, most, sim.settle()];
    """
    outside, most, moved = run(script)
    assert outside and most < 1e-6 and not moved


def test_what_is_below_the_floor_is_found_and_lifted():
    script = """
      const home = homePosture(parts);
      const fallen = home.slice();
      fallen[1] = 1.2; // the upper arm points down
      const lifted = [aboveFloor([1, 2, -3], arm), aboveFloor([1, 2, 3], arm)];
      return [depth(home, parts), depth(fallen, parts), dynamics.pose(fallen)[11], ...lifted];
    """
    home, fallen, tip, lifted, same = run(script, "ur5")
    assert home == 0 and fallen >= -tip > 0.1
    assert lifted == [1, 2, 0] and same == [1, 2, 3]


def test_methods_are_timed_in_turns_once_all_are_warm():
    """All take 1 us, or 10 us in the clock's first 100 ms: until then, the compiler is at work."""
    script = """
      let time = 0;
      Object.defineProperty(globalThis, "performance", { value: { now: () => time } });
      const f = () => (time += time < 100 ? 0.01 : 0.001);
      return [...stopwatch(Array.from({ length: 20 }, () => f))].at(-1);
    """
    assert all(abs(seconds - 1e-6) < 1e-10 for seconds in run(script, "two_link"))


def test_labels_leave_out_the_words_that_all_names_share():
    script = """
      return [
        labels(["shoulder_pan_joint", "elbow_joint", "wrist_1_joint"]),
        labels(["panda_joint1", "panda_joint2"]),
        labels(["a_b_c", "a_c"]),
        labels(["joint", "arm_joint"]),
        labels(["alone_joint"]),
        labels(["x", "x"]),
      ];
    """
    assert run(script, "two_link") == [
        ["shoulder_pan", "elbow", "wrist_1"],
        ["joint1", "joint2"],
        ["b_c", "c"],
        ["joint", "arm_joint"],
        ["alone_joint"],
        ["x", "x"],
    ]
