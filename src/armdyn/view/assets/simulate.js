// The arm in time: the laws that make its torques, and the steps that move it.
import { solve } from "./kinematics.js";

export const STEP = 1e-3; // [s]
const PACE = 6; // [rad/s], of the motion that PD control makes
const PULL = 30; // [rad/s], of the spring that pulls a link
const STOP = 150; // [rad/s], of the springs at the joints' limits

/** The torque laws by name: what each adds to tau, from the state. */
export const LAWS = {
  fall: () => {},
  hold: (sim) => sim.add(sim.dynamics.gravity(sim.at.q)),
  // M (w^2 (target - q) - 2 w qd) + b: each joint moves as if it were alone, damped critically.
  pd: (sim) => {
    const { q, qd } = sim.at;
    for (let i = 0; i < sim.n; i++) {
      sim.wanted[i] = PACE * PACE * (sim.target[i] - q[i]) - 2 * PACE * qd[i];
    }
    sim.add(sim.dynamics.inertiaTimes(q, sim.wanted));
    sim.add(sim.dynamics.bias(q, qd));
  },
};

/** An arm that moves under a law, damping, stops, and a hand that pulls one of its links. */
export class Simulation {
  constructor(dynamics, kinematics, arm) {
    this.n = dynamics.n;
    this.dynamics = dynamics;
    this.kinematics = kinematics;
    this.arm = arm;
    this.law = "fall";
    this.damping = 0; // [1/s]: the torque -damping M qd
    this.stops = true; // whether joints rebound from their limits
    this.hand = null;
    const make = () => new Float64Array(this.n);
    [this.q, this.qd, this.tau, this.motors] = [make(), make(), make(), make()]; // of tau, what motors make
    [this.target, this.wanted] = [make(), make()];
    this.stage = { q: make(), qd: make() };
    this.at = this; // the state that the law sees
    this.slopes = Array.from({ length: 4 }, () => ({ qd: make(), qdd: make() }));
    this.t = 0;
    this.restart();
  }

  /** Move each joint into its limits, by whole turns if these suffice; whether one moved. */
  settle() {
    const inside = this.q.map((x, i) => within(this.arm.joints[i], x));
    const moved = inside.some((x, i) => x !== this.q[i]);
    this.q.set(inside);
    return moved;
  }

  /** Rest where it stands, at time 0. */
  restart() {
    this.qd.fill(0);
    this.t = 0;
    this.torque(this.q, this.qd);
    this.start = this.total();
    this.work = 0;
  }

  /** Kinetic and potential energy [J]. */
  total() {
    const { kinetic, potential } = this.dynamics.energy(this.q, this.qd);
    return kinetic + potential;
  }

  add(torque) {
    for (let i = 0; i < this.n; i++) this.tau[i] += torque[i];
  }

  /** What the law, the damping and the hand make of a state, in ``tau``. */
  torque(q, qd) {
    this.at = { q, qd };
    this.tau.fill(0);
    if (!this.dynamics.able) return this.tau;
    LAWS[this.law](this);
    this.motors.set(this.tau);
    if (this.damping > 0 && this.law !== "pd") {
      const lost = this.dynamics.inertiaTimes(q, qd);
      for (let i = 0; i < this.n; i++) this.tau[i] -= this.damping * lost[i];
    }
    if (this.stops) this.stop(q, qd);
    if (this.hand) this.pull(q, qd);
    return this.tau;
  }

  /** Push back joints that are beyond their limits: a damped spring, by what the joint moves. */
  stop(q, qd) {
    this.arm.joints.forEach(({ lower, upper }, i) => {
      const beyond = Math.max(0, q[i] - (upper ?? Infinity)) + Math.min(0, q[i] - (lower ?? -Infinity));
      if (beyond === 0) return;
      const unit = this.wanted.fill(0);
      unit[i] = 1;
      const ease = solve(this.dynamics.massMatrix(q, this.dynamics.scratch), unit, this.n)[i]; // of M^-1
      this.tau[i] -= (STOP * STOP * beyond + 0.6 * STOP * qd[i]) / ease;
    });
  }

  /** Grab link i at a point of the base frame; the hand is as stiff as the link there is heavy. */
  grab(i, point) {
    this.kinematics.at(this.q);
    const J = this.kinematics.jacobian(i, point);
    let mobility = 0; // the trace of J M^-1 J^T
    for (let k = 0; k < 3; k++) {
      const row = J.slice(k * this.n, (k + 1) * this.n);
      const x = solve(this.dynamics.massMatrix(this.q), row.slice(), this.n);
      for (let j = 0; j < this.n; j++) mobility += row[j] * x[j];
    }
    const mass = mobility > 1e-9 ? 3 / mobility : 0;
    this.hand = { link: i, place: this.kinematics.toLink(i, point), goal: [...point], mass, force: [0, 0, 0] };
  }

  /** Add the torque of the hand: a damped spring from the link's point to the hand's place. */
  pull(q, qd) {
    const { link, place, goal, mass } = this.hand;
    this.kinematics.at(q);
    const p = this.kinematics.toBase(link, place);
    const J = this.kinematics.jacobian(link, p);
    const most = 5 * this.arm.mass * 9.81; // a strong hand, and no stronger
    for (let k = 0; k < 3; k++) {
      let v = 0;
      for (let j = 0; j < this.n; j++) v += J[k * this.n + j] * qd[j];
      const f = mass * (PULL * PULL * (goal[k] - p[k]) - PULL * v);
      this.hand.force[k] = Math.max(-most, Math.min(most, f));
      for (let j = 0; j < this.n; j++) this.tau[j] += J[k * this.n + j] * this.hand.force[k];
    }
  }

  /** One step of the classical Runge-Kutta method; the torque follows the state within it. */
  step(h = STEP) {
    const { q, qd, slopes, stage, n } = this;
    const parts = [0, h / 2, h / 2, h];
    for (let s = 0; s < 4; s++) {
      for (let i = 0; i < n; i++) {
        stage.q[i] = q[i] + (s ? parts[s] * slopes[s - 1].qd[i] : 0);
        stage.qd[i] = qd[i] + (s ? parts[s] * slopes[s - 1].qdd[i] : 0);
      }
      slopes[s].qd.set(stage.qd);
      const tau = this.torque(stage.q, stage.qd);
      this.dynamics.acceleration(stage.q, stage.qd, tau, slopes[s].qdd);
      if (s === 0 || s === 3) this.work += (h / 2) * power(tau, stage.qd);
    }
    const [a, b, c, d] = slopes;
    for (let i = 0; i < n; i++) {
      q[i] += (h / 6) * (a.qd[i] + 2 * b.qd[i] + 2 * c.qd[i] + d.qd[i]);
      qd[i] += (h / 6) * (a.qdd[i] + 2 * b.qdd[i] + 2 * c.qdd[i] + d.qdd[i]);
    }
    this.t += h;
  }

  /** Steps until a time has passed [s], for at most a budget of computing time [s]; what passed. */
  advance(seconds, budget = 0.03) {
    const begin = performance.now();
    let passed = 0;
    while (passed + STEP / 2 < seconds && performance.now() - begin < 1000 * budget) {
      this.step();
      passed += STEP;
    }
    this.torque(this.q, this.qd);
    return passed;
  }

  /** Whether every number is still one. */
  get sound() {
    return this.q.every(Number.isFinite) && this.qd.every(Number.isFinite);
  }
}

/** A position within a joint's limits: x, less whole turns if it is outside, else the nearest limit. */
export function within({ kind, lower, upper }, x) {
  const [low, high] = [lower ?? -Infinity, upper ?? Infinity];
  const endless = lower === null && upper === null;
  if (kind === "R" && (endless || x < low || x > high)) {
    const middle = Number.isFinite(low + high) ? (low + high) / 2 : 0;
    x -= 2 * Math.PI * Math.round((x - middle) / (2 * Math.PI));
  }
  return Math.min(high, Math.max(low, x));
}

function power(tau, qd) {
  let sum = 0;
  for (let i = 0; i < tau.length; i++) sum += tau[i] * qd[i];
  return sum;
}
