// A motion that was simulated elsewhere, played along its time line.
import { unpack } from "./shapes.js";
import { History } from "./plots.js";

/** The rows of a motion; between them it is linear. */
export class Playback {
  constructor(motion, n) {
    this.n = n;
    this.held = motion.held;
    this.summary = motion.summary;
    for (const name of ["t", "q", "qd", "tau", "kinetic", "potential"]) {
      this[name] = unpack(motion[name], Float32Array);
    }
    this.now = this.t[0];
    this.row = { q: new Float64Array(n), qd: new Float64Array(n), tau: new Float64Array(n) };
    this.histories = this.history();
  }

  get end() {
    return this.t[this.t.length - 1];
  }

  /** All rows as the plots draw them. */
  history() {
    const rows = this.t.length;
    const made = { energy: new History(3, rows), torque: new History(this.n, rows), position: new History(this.n, rows) };
    this.t.forEach((t, k) => {
      const [kinetic, potential] = [this.kinetic[k], this.potential[k]];
      made.energy.add(t, [kinetic, potential, kinetic + potential]);
      made.torque.add(t, this.tau.subarray(k * this.n, (k + 1) * this.n));
      made.position.add(t, this.q.subarray(k * this.n, (k + 1) * this.n));
    });
    return made;
  }

  /** Goes to a time; the positions, speeds and torques there. */
  seek(time) {
    const { t, n, row } = this;
    this.now = Math.min(this.end, Math.max(t[0], time));
    let k = lastBefore(t, this.now);
    const next = Math.min(k + 1, t.length - 1);
    const part = next > k ? (this.now - t[k]) / (t[next] - t[k]) : 0;
    for (const name of ["q", "qd", "tau"]) {
      const share = name === "tau" && this.held ? 0 : part; // a held torque jumps
      for (let i = 0; i < n; i++) {
        row[name][i] = (1 - share) * this[name][k * n + i] + share * this[name][next * n + i];
      }
    }
    return row;
  }
}

function lastBefore(t, time) {
  let [low, high] = [0, t.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (t[middle] <= time) low = middle;
    else high = middle - 1;
  }
  return low;
}
