// The page: what stands where, what moves the arm, and what happens at each frame.
import { Kinematics } from "./kinematics.js";
import { Dynamics } from "./dynamics.js";
import { Simulation, within } from "./simulate.js";
import { ArmScene, LAYERS } from "./arm.js";
import { Stage } from "./stage.js";
import { History, Plot, byId, element, labels, short } from "./plots.js";
import { JointCard } from "./joints.js";
import { aboveFloor, depth, homePosture } from "./posture.js";
import { MatrixCard, TorqueCard } from "./torques.js";
import { FormulationCard } from "./formulations.js";
import { Playback } from "./playback.js";
import { Hand, reach } from "./hand.js";

const MODES = {
  run: ["Run", "The motion that was simulated: move the time line, or press play."],
  pose: ["Pose", "Drag the orange tip or any link; drag elsewhere to turn the view."],
  fall: ["Free fall", "No motor torque. Grab a link and pull."],
  hold: ["Hold", "Motors carry the weight, no more: push the arm where you like."],
  pd: ["Go to target", "Drag the tip, or a slider, to set the target; grab a link to disturb."],
};
const SUNK = 0.01; // of the arm's length: nearer to the floor is not below it
const WINDOW = 8; // seconds that plots show of a live motion

const arm = JSON.parse(byId("arm-data").textContent);
const kinematics = new Kinematics(arm);
const dynamics = new Dynamics(arm, armdynPrograms);
const sim = new Simulation(dynamics, kinematics, arm);
const parts = { arm, dynamics, kinematics };
const run = arm.motion ? new Playback(arm.motion, sim.n) : null;
const scene = new ArmScene(arm, kinematics);
const whole = arm.joints.map((joint) => joint.name);
const names = labels(whole);
arm.joints.forEach((joint, i) => (joint.label = names[i]));
const units = new Set(arm.joints.map((joint) => joint.kind));
const unit = (turning, sliding) => [units.has("R") && turning, units.has("P") && sliding].filter(Boolean).join(" or ");
const histories = { energy: new History(3), torque: new History(sim.n), position: new History(sim.n) };
const home = homePosture(parts);
const stands = !sunk(home); // an arm that hangs has no floor to stay above
const page = { mode: null, playing: false, speed: 1, stale: true, began: null, pace: 1 };

// The arm's posture -------------------------------------------------------------------------------

/** Puts the arm somewhere, at rest; in the mode with a target, sets that. */
function pose(q) {
  if (page.mode === "pd") {
    sim.target.set(q);
  } else {
    sim.q.set(q);
    restart();
  }
  page.stale = true;
}

function restart() {
  sim.restart();
  for (const history of Object.values(histories)) history.clear();
  remember();
  page.began = sim.q.slice();
}

/** Whether a posture leads below the floor, through which the arm moves freely. */
function sunk(q) {
  return depth(q, parts) > SUNK * arm.reach;
}

/** Adds the present to the plots. */
function remember() {
  const { kinetic, potential } = dynamics.energy(sim.q, sim.qd);
  histories.energy.add(sim.t, [kinetic, potential, kinetic + potential]);
  histories.torque.add(sim.t, sim.motors);
  histories.position.add(sim.t, sim.q);
}

// What moves it -----------------------------------------------------------------------------------

function setMode(mode) {
  page.mode = mode;
  byId(`mode-${mode}`).checked = true;
  byId("hint").textContent = MODES[mode][1];
  byId("timeline").hidden = mode !== "run";
  byId("damped").hidden = !(mode === "fall" || mode === "hold");
  byId("reset").hidden = mode === "pose";
  byId("plots").classList.toggle("still", mode === "pose");
  byId("play").disabled = mode === "pose";
  sim.law = mode in { fall: 0, hold: 0, pd: 0 } ? mode : "hold";
  sim.hand = null;
  byId("limits").hidden = byId("damped").hidden || !arm.joints.some((joint) => (joint.lower ?? joint.upper) !== null);
  sim.damping = mode === "hold" ? 1 : 0;
  sim.stops = mode === "fall" || mode === "hold";
  byId("damping").value = sim.damping;
  byId("stops").checked = sim.stops;
  if (mode === "run") {
    seek(run.now);
  } else {
    sim.settle(); // a stop would throw back a joint that is beyond it
    restart();
  }
  if (mode === "pd") sim.target.set(stands && sunk(sim.q) ? home : sim.q);
  play(mode === "fall" || mode === "hold" || mode === "pd");
  page.stale = true;
}

function play(playing) {
  page.playing = playing;
  if (playing && page.mode === "run" && run.now >= run.end) run.seek(0);
  byId("play").textContent = playing ? "\u275a\u275a" : "\u25b6";
  byId("play").setAttribute("aria-label", playing ? "Pause" : "Play");
}

function seek(time) {
  const row = run.seek(time);
  sim.q.set(row.q);
  sim.qd.set(row.qd);
  sim.motors.set(row.tau);
  byId("timeline").value = run.now;
  page.stale = true;
}

function advance(seconds) {
  if (page.mode === "run") {
    seek(run.now + page.speed * seconds);
    if (run.now >= run.end) play(false);
    return;
  }
  const passed = sim.advance(page.speed * seconds + (page.owed ?? 0));
  page.owed = Math.min(0.02, page.speed * seconds + (page.owed ?? 0) - passed);
  page.pace = 0.9 * page.pace + (0.1 * passed) / (page.speed * seconds || passed || 1);
  if (!sim.sound) {
    sim.q.set(page.began);
    restart();
    play(false);
    byId("hint").textContent = "The motion broke off: the numbers grew beyond all bounds.";
  }
  remember();
  page.stale = true;
}

// The pointer -------------------------------------------------------------------------------------

const handlers = {
  take({ link, tip, point }) {
    if (page.mode === "run") return null;
    if (page.mode === "pose" || (page.mode === "pd" && tip)) {
      kinematics.at(sim.q);
      const T = dynamics.pose(sim.q);
      const offset = tip ? [T[3], T[7], T[11]].map((x, k) => x - point[k]) : [0, 0, 0];
      return { link, tip, offset, place: kinematics.toLink(link, point) };
    }
    sim.grab(link, point);
    if (!page.playing) play(true);
    return { link, pulls: true };
  },
  move(grip, goal) {
    if (grip.pulls) {
      sim.hand.goal = goal;
      return;
    }
    const q = (page.mode === "pd" ? sim.target : sim.q).slice();
    pose(reach(q, reachable(goal.map((x, k) => x + grip.offset[k])), grip, parts));
  },
  release() {
    sim.hand = null;
    page.stale = true;
  },
};

/** Where a target's point may be: not below the floor. */
function reachable(goal) {
  return page.mode === "pd" && stands ? aboveFloor(goal, arm) : goal;
}

function moveTip(k, value) {
  if (!Number.isFinite(value)) return;
  const q = (page.mode === "pd" ? sim.target : sim.q).slice();
  const T = dynamics.pose(q);
  const goal = [T[3], T[7], T[11]];
  goal[k] = value;
  for (let round = 0; round < 8; round++) reach(q, reachable(goal), { tip: true }, parts);
  pose(q);
}

// What is seen ------------------------------------------------------------------------------------

function tryStage() {
  try {
    return new Stage(byId("scene"), arm.reach);
  } catch {
    byId("hint").textContent = "This browser has no WebGL: the arm is not drawn, all else works.";
    return null;
  }
}

const stage = tryStage();
const hand = stage && new Hand(stage, scene, handlers);
const cards = {
  joints: new JointCard(
    arm,
    (i, value) => {
      const q = (page.mode === "pd" ? sim.target : sim.q).slice();
      q[i] = value;
      if (page.mode === "run") setMode("pose");
      pose(q);
    },
    moveTip,
  ),
  torques: new TorqueCard(arm),
  matrix: new MatrixCard(arm),
  formulations: new FormulationCard(arm, dynamics, () => (page.stale = true)),
};
const plots = {
  energy: new Plot(byId("plots"), "Energy", "J", ["kinetic", "potential", "total"]),
  torque: new Plot(byId("plots"), "Torque", unit("N m", "N"), names, whole),
  position: new Plot(byId("plots"), "Position", unit("rad", "m"), names, whole),
};

function showScene() {
  scene.move(sim.q, page.mode === "pd" ? sim.target : null);
  if (hand) {
    const held = sim.hand;
    kinematics.at(sim.q);
    hand.showString(held && kinematics.toBase(held.link, held.place), held && held.goal);
  }
  if (stage) stage.changed = true;
}

function showNumbers() {
  const T = dynamics.pose(sim.q);
  cards.joints.show(sim.q, [T[3], T[7], T[11]], page.mode === "pd" ? sim.target : null);
  const passed = stands && (sunk(sim.q) || (page.mode === "pd" && sunk(sim.target)));
  byId("passed").hidden = !passed;
  if (stage) stage.showPassed(passed);
  if (dynamics.able) showDynamics();
  showClock();
}

function showDynamics() {
  const posed = page.mode === "pose";
  cards.torques.show(posed ? dynamics.gravity(sim.q) : sim.motors, posed ? "Gravity torque" : "Motor torque");
  cards.matrix.show(dynamics.massMatrix(sim.q));
  const recorded = page.mode === "run";
  for (const [name, plot] of Object.entries(plots)) {
    plot.draw(recorded ? run.histories[name] : histories[name], recorded ? { cursor: run.now } : { window: WINDOW });
  }
}

function showClock() {
  const moving = page.mode !== "pose" && page.mode !== "run";
  byId("clock").textContent = page.mode === "pose" ? "" : `${(page.mode === "run" ? run.now : sim.t).toFixed(2)} s`;
  const slow = moving && page.playing && page.pace < 0.9 ? ` Runs at ${short(page.pace * page.speed, 2)} of real time.` : "";
  const free = page.mode === "fall" && sim.work === 0; // neither hand nor stop has pushed
  const drift = free ? `In steps of 1 ms, the energy is off by ${(sim.total() - sim.start).toExponential(1)} J.` : "";
  const still = page.mode === "pose" ? "Energy, torques and positions over time: choose what moves the arm." : "";
  byId("summary").textContent = page.mode === "run" ? run.summary : still + drift + slow;
}

let [before, painted] = [null, 0];

function frame(now) {
  requestAnimationFrame(frame);
  const seconds = before === null ? 0 : Math.min(0.1, (now - before) / 1000);
  before = now;
  if (page.playing) advance(seconds);
  if (page.stale) {
    showScene();
    if (!page.playing || now - painted > 80) {
      showNumbers();
      [page.stale, painted] = [false, now];
    }
  }
  if (stage) stage.draw();
}

// Putting it together -----------------------------------------------------------------------------

function dress(theme) {
  document.documentElement.dataset.theme = theme;
  scene.dress(theme);
  if (stage) stage.dress(theme);
  page.stale = true;
}

function addModes() {
  for (const [mode, [title, hint]] of Object.entries(MODES)) {
    if (mode === "run" ? !run : mode !== "pose" && !dynamics.able) continue;
    const radio = element("input", { type: "radio", name: "mode", id: `mode-${mode}`, value: mode });
    radio.addEventListener("change", () => setMode(mode));
    byId("modes").append(element("label", { title: hint }, radio, title));
  }
}

function addLayers() {
  for (const [name, title] of Object.entries(LAYERS)) {
    if (name === "shapes" && arm.shapes.length === 0) continue;
    const button = element("button", { type: "button" }, title);
    const set = (on) => {
      button.setAttribute("aria-pressed", on);
      scene.show(name, on);
      if (stage) stage.changed = true;
    };
    button.addEventListener("click", () => set(button.getAttribute("aria-pressed") !== "true"));
    byId("layers").append(button);
    set(name === "shapes");
  }
}

function listen() {
  byId("play").addEventListener("click", () => play(!page.playing));
  byId("reset").addEventListener("click", () => {
    if (page.mode === "run") return seek(0);
    sim.q.set(page.began);
    restart();
    page.stale = true;
  });
  byId("damping").addEventListener("input", (event) => (sim.damping = Number(event.target.value)));
  byId("stops").addEventListener("change", (event) => {
    sim.stops = event.target.checked;
    if (sim.stops && sim.settle()) restart();
    page.stale = true;
  });
  byId("speed").addEventListener("change", (event) => (page.speed = Number(event.target.value)));
  byId("timeline").addEventListener("input", (event) => seek(Number(event.target.value)));
  byId("zero").addEventListener("click", () => pose(sim.q.map((_, i) => within(arm.joints[i], 0))));
  byId("home").addEventListener("click", () => pose(home));
  byId("front").addEventListener("click", () => stage && stage.lookFront());
  byId("fit").addEventListener("click", () => stage && stage.lookAt(...scene.extent()));
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", () => dress(dark.matches ? "dark" : "light"));
  byId("theme").addEventListener("click", () => dress(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  dress(dark.matches ? "dark" : "light");
  addEventListener("resize", () => (page.stale = true));
  addEventListener("keydown", (event) => {
    if (event.key !== " " || event.target.closest("button, input, select, summary")) return;
    event.preventDefault();
    if (page.mode !== "pose") play(!page.playing);
  });
}

function start() {
  byId("name").textContent = arm.name;
  const kinds = `${sim.n} joint${sim.n === 1 ? "" : "s"}`;
  const drawn = arm.shapes.length ? "" : " \u00b7 drawn\u00a0from\u00a0its\u00a0DH\u00a0table";
  byId("about").textContent = `${kinds} \u00b7 ${dynamics.able ? `${short(arm.mass)} kg` : "no masses, so no dynamics"}${drawn}`;
  for (const id of ["torques", "matrices", "plots", "formulations"]) byId(id).hidden = !dynamics.able;
  addModes();
  addLayers();
  listen();
  if (run) Object.assign(byId("timeline"), { min: run.t[0], max: run.end });
  const list = byId("notes").querySelector("ul");
  list.append(...arm.notes.map((note) => element("li", {}, note)));
  byId("notes").hidden = arm.notes.length === 0;
  sim.q.set(home);
  scene.move(run ? run.seek(0).q : sim.q);
  if (stage) {
    stage.scene.add(scene.root);
    stage.lookFront(...scene.extent());
  }
  setMode(run ? "run" : "pose");
  requestAnimationFrame(frame);
}

start();
globalThis.armdyn = { arm, kinematics, dynamics, sim, scene, stage, run, page, setMode, play, pose, reach, cards };
