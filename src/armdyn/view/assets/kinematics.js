// Where the arm's frames stand: E_i in the base frame, from the modified DH table.

/** The frames E_0, E_1, ..., E_n of an arm, twelve numbers each: rotation by rows, then origin. */
export class Kinematics {
  constructor(arm) {
    this.n = arm.joints.length;
    this.rows = arm.joints.map((joint) => ({
      ...joint,
      cos: Math.cos(joint.beta),
      sin: Math.sin(joint.beta),
    }));
    this.frames = new Float64Array(12 * (this.n + 1));
    const T = arm.base; // a homogeneous matrix, row after row
    this.frames.set([T[0], T[1], T[2], T[4], T[5], T[6], T[8], T[9], T[10], T[3], T[7], T[11]]);
  }

  /** Moves all frames to the positions q, and returns them. */
  at(q) {
    const E = this.frames;
    this.rows.forEach((row, i) => {
      const turn = row.kind === "R" ? row.theta + q[i] : row.theta;
      const d = row.kind === "R" ? row.d : row.d + q[i];
      const [c, s, cb, sb] = [Math.cos(turn), Math.sin(turn), row.cos, row.sin];
      const [from, to] = [12 * i, 12 * (i + 1)];
      for (let k = 0; k < 3; k++) {
        const [x, y, z] = [E[from + 3 * k], E[from + 3 * k + 1], E[from + 3 * k + 2]];
        E[to + 3 * k] = x * c + y * cb * s + z * sb * s;
        E[to + 3 * k + 1] = -x * s + y * cb * c + z * sb * c;
        E[to + 3 * k + 2] = -y * sb + z * cb;
        E[to + 9 + k] = E[from + 9 + k] + x * row.b + d * E[to + 3 * k + 2];
      }
    });
    return E;
  }

  /** A point of link i (counted from 0), given in E_i, in the base frame. */
  toBase(i, p) {
    const E = this.frames.subarray(12 * (i + 1));
    return [0, 1, 2].map(
      (k) => E[9 + k] + E[3 * k] * p[0] + E[3 * k + 1] * p[1] + E[3 * k + 2] * p[2],
    );
  }

  /** A point of the base frame, in E_i of link i. */
  toLink(i, p) {
    const E = this.frames.subarray(12 * (i + 1));
    const [x, y, z] = [p[0] - E[9], p[1] - E[10], p[2] - E[11]];
    return [0, 1, 2].map((k) => E[k] * x + E[3 + k] * y + E[6 + k] * z);
  }

  /** The velocity of a point p (base frame) of link i for each joint's speed: 3 rows of n. */
  jacobian(i, p, J = new Float64Array(3 * this.n)) {
    J.fill(0);
    for (let j = 0; j <= i; j++) {
      const E = this.frames.subarray(12 * (j + 1));
      const z = [E[2], E[5], E[8]];
      if (this.rows[j].kind === "P") {
        for (let k = 0; k < 3; k++) J[k * this.n + j] = z[k];
        continue;
      }
      const r = [p[0] - E[9], p[1] - E[10], p[2] - E[11]];
      J[j] = z[1] * r[2] - z[2] * r[1];
      J[this.n + j] = z[2] * r[0] - z[0] * r[2];
      J[2 * this.n + j] = z[0] * r[1] - z[1] * r[0];
    }
    return J;
  }
}

/** The step dq that moves a point by about e: damped least squares, J^T (J J^T + w^2)^-1 e. */
export function dampedStep(J, n, e, w) {
  const A = new Float64Array(9);
  for (let r = 0; r < 3; r++) {
    for (let s = 0; s < 3; s++) {
      for (let j = 0; j < n; j++) A[3 * r + s] += J[r * n + j] * J[s * n + j];
    }
    A[4 * r] += w * w;
  }
  const x = solve(A, Float64Array.from(e), 3);
  return Float64Array.from({ length: n }, (_, j) => J[j] * x[0] + J[n + j] * x[1] + J[2 * n + j] * x[2]);
}

/** Solves M x = b in place for a symmetric positive definite M (L D L^T); x stands in b. */
export function solve(M, b, n) {
  for (let j = 0; j < n; j++) {
    for (let k = 0; k < j; k++) {
      const l = M[j * n + k] * M[k * n + k];
      for (let i = j; i < n; i++) M[i * n + j] -= l * M[i * n + k];
    }
    for (let i = j + 1; i < n; i++) M[i * n + j] /= M[j * n + j];
  }
  for (let i = 0; i < n; i++) for (let k = 0; k < i; k++) b[i] -= M[i * n + k] * b[k];
  for (let i = n - 1; i >= 0; i--) {
    b[i] /= M[i * n + i];
    for (let k = i + 1; k < n; k++) b[i] -= M[k * n + i] * b[k];
  }
  return b;
}
