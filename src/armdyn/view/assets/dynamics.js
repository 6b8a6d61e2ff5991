// The arm's dynamics by the formulations that were chosen: programs that armdyn has written.
import { solve } from "./kinematics.js";

/** Forward dynamics made of the chosen M and bias, in place of a program of its own. */
export const FROM_PARTS = "from M and b";

/** Computes all that the page shows; keeps which method computes it. */
export class Dynamics {
  constructor(arm, programs) {
    this.n = arm.joints.length;
    this.programs = programs;
    this.chosen = {};
    for (const [quantity, rows] of Object.entries(arm.methods)) {
      this.chosen[quantity] = rows.find((row) => row.chosen).name;
    }
    this.scratch = new Float64Array(this.n * this.n);
    this.product = new Float64Array(this.n);
  }

  massMatrix(q, M = new Float64Array(this.n * this.n)) {
    return this.programs.mass_matrix[this.chosen.mass_matrix](q, M);
  }

  bias(q, qd, b = new Float64Array(this.n)) {
    return this.programs.bias[this.chosen.bias](q, qd, b);
  }

  gravity(q, g = new Float64Array(this.n)) {
    return this.programs.gravity(q, g);
  }

  /** Whether the arm has dynamics: one without masses has poses alone. */
  get able() {
    return "mass_matrix" in this.programs;
  }

  /** The kinetic and the potential energy [J]. */
  energy(q, qd) {
    if (!this.able) return { kinetic: 0, potential: 0 };
    const [kinetic, potential] = this.programs.energy(q, qd);
    return { kinetic: kinetic[0], potential: potential[0] };
  }

  /** The tip in the base frame, a homogeneous matrix row after row. */
  pose(q) {
    return this.programs.pose(q);
  }

  /** The first three rows of the tip's Jacobian: the velocity of its origin. */
  jacobian(q) {
    return this.programs.jacobian(q).subarray(0, 3 * this.n);
  }

  /** The acceleration under torques tau. */
  acceleration(q, qd, tau, qdd = new Float64Array(this.n)) {
    const method = this.chosen.forward_dynamics;
    if (method !== FROM_PARTS) return this.programs.forward_dynamics[method](q, qd, tau, qdd);
    this.bias(q, qd, qdd);
    for (let i = 0; i < this.n; i++) qdd[i] = tau[i] - qdd[i];
    return solve(this.massMatrix(q, this.scratch), qdd, this.n);
  }

  /** M(q) x. */
  inertiaTimes(q, x) {
    const M = this.massMatrix(q, this.scratch);
    this.product.fill(0);
    for (let i = 0; i < this.n; i++) {
      for (let j = 0; j < this.n; j++) this.product[i] += M[i * this.n + j] * x[j];
    }
    return this.product;
  }

  /** A function without arguments that computes a quantity once, in another state each time. */
  once(quantity, method) {
    const states = Array.from({ length: 16 }, () =>
      Array.from({ length: 3 }, () => Float64Array.from({ length: this.n }, () => 2 * Math.random() - 1)),
    );
    const result = new Float64Array(quantity === "mass_matrix" ? this.n * this.n : this.n);
    const count = { mass_matrix: 1, bias: 2, forward_dynamics: 3 }[quantity];
    let k = 0;
    if (method === FROM_PARTS) {
      return () => {
        const [q, qd, tau] = states[k++ & 15];
        const kept = this.chosen.forward_dynamics;
        this.chosen.forward_dynamics = FROM_PARTS;
        this.acceleration(q, qd, tau, result);
        this.chosen.forward_dynamics = kept;
      };
    }
    const f = this.programs[quantity][method];
    return () => f(...states[k++ & 15].slice(0, count), result);
  }
}

/**
 * How long each function takes [s]: the least of some rounds, in which the functions take turns.
 * Nothing counts until all are warm. Yields before each turn, so that a page stays alive.
 */
export function* stopwatch(functions, rounds = 6, seconds = 0.005) {
  const calls = functions.map(() => 16);
  const least = functions.map(() => Infinity);
  for (let round = 0; round <= rounds; round++) {
    for (let k = 0; k < functions.length; k++) {
      yield least;
      let took = 0;
      for (;;) {
        const start = performance.now();
        for (let i = 0; i < calls[k]; i++) functions[k]();
        took = (performance.now() - start) / 1000;
        if (took >= seconds) break;
        calls[k] *= 2; // the clock ticks in tenths of a millisecond
      }
      if (round > 0) least[k] = Math.min(least[k], took / calls[k]); // the first round warms up
    }
  }
  yield least;
}
