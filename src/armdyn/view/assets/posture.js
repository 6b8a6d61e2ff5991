// The posture in which an arm is first seen.
import { bounds } from "./joints.js";

const TRIES = 600;

/** A posture that shows the arm well: the best of many that are spread evenly near zero. */
export function homePosture({ arm, dynamics, kinematics }) {
  let [best, most] = [null, -Infinity];
  for (let k = 0; k < TRIES; k++) {
    const q = Float64Array.from(arm.joints, (joint, i) => {
      const [lower, upper] = bounds(joint, arm.reach);
      const middle = Math.min(upper, Math.max(lower, 0));
      const span = joint.kind === "R" ? 1.3 : Math.min((upper - lower) / 2, 0.3 * arm.reach);
      return Math.min(upper, Math.max(lower, middle + span * spread(k, i)));
    });
    const bent = q.reduce((sum, x, i) => sum + (arm.joints[i].kind === "R" ? x * x : 0), 0);
    const free = Math.log(Math.max(freedom(dynamics.jacobian(q), q.length, arm.reach), 1e-12));
    const score = free - 0.35 * bent - 8 * low(kinematics.at(q), arm);
    if (score > most) [best, most] = [q, score];
  }
  return best;
}

/** The k-th of numbers that fill -1 to 1 evenly, others for each joint. */
function spread(k, i) {
  return ((k * (0.6180339887 + 0.1234567 * i + 0.7548776662 * i * i)) % 1) * 2 - 1;
}

/** The determinant of J J^T, how freely the tip moves; of its best plane for a planar arm. */
function freedom(J, n, reach) {
  const A = [0, 1, 2].map((r) => [0, 1, 2].map((s) => rowProduct(J, n, r, s)));
  const minor = (r, s) => A[r][r] * A[s][s] - A[r][s] ** 2;
  if (A.some((row, r) => row[r] < 1e-12)) {
    return Math.max(minor(0, 1), minor(1, 2), minor(0, 2)) / reach ** 4;
  }
  const cross = A[0][1] * A[2][2] - A[1][2] * A[0][2];
  const last = A[0][1] * A[1][2] - A[1][1] * A[0][2];
  return (A[0][0] * minor(1, 2) - A[0][1] * cross + A[0][2] * last) / reach ** 6;
}

function rowProduct(J, n, r, s) {
  let sum = 0;
  for (let j = 0; j < n; j++) sum += J[r * n + j] * J[s * n + j];
  return sum;
}

/** How far a point of the base frame is above the floor [m]; without gravity there is none, and all are on it. */
export function height(point, { gravity }) {
  const g = Math.hypot(...gravity) || 1;
  return -(point[0] * gravity[0] + point[1] * gravity[1] + point[2] * gravity[2]) / g;
}

/** The same point, or the one on the floor above it. */
export function aboveFloor(point, arm) {
  const h = Math.min(0, height(point, arm));
  const g = Math.hypot(...arm.gravity) || 1;
  return point.map((x, k) => x + (h * arm.gravity[k]) / g);
}

/** How far the arm's lowest joint, or its tip, is below the floor [m]. */
export function depth(q, { arm, kinematics }) {
  kinematics.at(q);
  const points = arm.links.flatMap(({ path }, i) => path.map((p) => kinematics.toBase(i, p)));
  return Math.max(0, ...points.map((p) => -height(p, arm)));
}

/** By how much joints are near the floor or under it, in arm's lengths. */
function low(E, arm) {
  let under = 0;
  for (let i = 2; i <= arm.joints.length; i++) {
    under += Math.max(0, 0.15 * arm.reach - height(E.subarray(12 * i + 9), arm)) / arm.reach;
  }
  return under;
}
