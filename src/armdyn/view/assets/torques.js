// The cards of torques, a bar a joint, and of the mass matrix, a cell an element.
import { byId, element, short } from "./plots.js";

/** Bars from zero to each joint's torque; where there is an effort limit, it is the bar's end. */
export class TorqueCard {
  constructor(arm) {
    this.largest = 1e-9;
    this.rows = arm.joints.map((joint) => {
      const bar = element("span", { className: "bar" });
      const value = element("output");
      const limit = joint.effort ? ` / ${short(joint.effort)}` : "";
      const unit = joint.kind === "R" ? "N m" : "N";
      const name = element("span", { className: "name", title: joint.name }, joint.label);
      const gauge = element("span", { className: joint.effort ? "gauge limited" : "gauge" }, bar);
      const said = element("span", { className: "value" }, value, element("span", { className: "faint" }, `${limit} ${unit}`));
      byId("bars").append(element("div", { className: "torque" }, name, gauge, said));
      return { bar, value, gauge, effort: joint.effort };
    });
  }

  /** Shows torques, and what they are. */
  show(tau, title) {
    byId("torque-title").textContent = title;
    const free = tau.filter((_, i) => !this.rows[i].effort).map(Math.abs);
    this.largest = Math.max(this.largest, ...free);
    this.rows.forEach(({ bar, value, gauge, effort }, i) => {
      const part = tau[i] / (effort || 1.1 * this.largest);
      const length = Math.min(1, Math.abs(part)) * 50;
      bar.style.left = `${part < 0 ? 50 - length : 50}%`;
      bar.style.width = `${length}%`;
      gauge.classList.toggle("beyond", Boolean(effort) && Math.abs(part) > 1);
      value.textContent = Math.abs(tau[i]) < 5e-4 ? "0" : tau[i].toFixed(Math.abs(tau[i]) < 10 ? 2 : 1);
    });
  }
}

/** M as a heat map: warm where positive, cool where negative, by the square root of its size. */
export class MatrixCard {
  constructor(arm) {
    this.n = arm.joints.length;
    const table = byId("matrix");
    table.classList.toggle("wordless", this.n > 9);
    this.cells = [];
    for (let i = 0; i < this.n; i++) {
      const row = table.insertRow();
      for (let j = 0; j < this.n; j++) this.cells.push(row.insertCell());
    }
  }

  show(M) {
    const largest = M.reduce((most, x) => Math.max(most, Math.abs(x)), 1e-12);
    this.cells.forEach((cell, k) => {
      const share = Math.sqrt(Math.abs(M[k]) / largest);
      const colour = M[k] < 0 ? "var(--cool)" : "var(--warm)";
      cell.style.background = `color-mix(in srgb, ${colour} ${Math.round(88 * share)}%, transparent)`;
      cell.textContent = this.n > 9 ? "" : brief(M[k], largest);
      cell.title = `M[${Math.floor(k / this.n) + 1}, ${(k % this.n) + 1}] = ${short(M[k], 5)}`;
    });
  }
}

function brief(x, largest) {
  const size = Math.abs(x);
  if (size < 5e-4 * largest) return "0";
  if (size < 1e-3) return x.toExponential(0);
  return x.toFixed(size >= 10 ? 1 : size >= 0.1 ? 2 : 3);
}
