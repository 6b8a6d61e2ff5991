// The card of formulations: which computes what, its operations, and the time it takes here.
import { byId, element } from "./plots.js";
import { FROM_PARTS, stopwatch } from "./dynamics.js";

const TITLES = {
  mass_matrix: "Mass matrix M(q)",
  bias: "Bias b(q, qd)",
  forward_dynamics: "Forward dynamics",
};

/** A table a quantity; the method that is chosen there computes from then on. */
export class FormulationCard {
  constructor(arm, dynamics, onChange) {
    this.dynamics = dynamics;
    this.onChange = onChange;
    this.rows = [];
    for (const [quantity, methods] of Object.entries(arm.methods)) {
      const here = methods.filter((method) => method.here);
      const parts = { name: FROM_PARTS, operations: null, chosen: false, here: true };
      this.addTable(quantity, quantity === "forward_dynamics" ? [...here, parts] : here, methods);
    }
    this.button = byId("measure");
    this.button.addEventListener("click", () => this.measure());
  }

  addTable(quantity, methods, all) {
    const body = element("tbody");
    const most = Math.max(...methods.map((method) => method.operations ?? 0));
    methods.forEach((method, k) => {
      const id = `${quantity}${k}`;
      const radio = element("input", { type: "radio", name: quantity, id, checked: method.chosen });
      radio.addEventListener("change", () => {
        this.dynamics.chosen[quantity] = method.name;
        this.onChange();
      });
      const count = element("span", {}, method.operations === null ? "" : String(method.operations));
      const bar = element("span", { className: "count" }, count);
      bar.style.setProperty("--part", `${(100 * (method.operations ?? 0)) / most}%`);
      const time = element("td", { className: "time" }, "\u2013");
      const name = element("label", { htmlFor: id }, radio, method.name);
      body.append(element("tr", {}, element("td", {}, name), element("td", {}, bar), time));
      this.rows.push({ quantity, method: method.name, time });
    });
    const head = ["", "operations", "time"].map((text) => element("th", { scope: "col" }, text));
    head[0].textContent = "method";
    const table = element("table", { className: "methods" }, element("thead", {}, element("tr", {}, ...head)), body);
    const left = all.length - all.filter((method) => method.here).length;
    const title = element("summary", {}, TITLES[quantity], element("span", { className: "faint" }, ` ${all.length} formulations`));
    const details = element("details", { open: quantity === "mass_matrix" }, title, table);
    if (left) details.append(element("p", { className: "faint" }, `${left} longer ones are not on this page.`));
    byId("formulations").append(details);
  }

  /** Times all methods in this browser, in turns; the page stays alive between. */
  async measure() {
    this.button.disabled = true;
    const functions = this.rows.map(({ quantity, method }) => this.dynamics.once(quantity, method));
    for (const least of stopwatch(functions)) {
      this.rows.forEach(({ time }, k) => (time.textContent = duration(least[k])));
      await new Promise((done) => setTimeout(done, 0));
    }
    this.button.disabled = false;
  }
}

function duration(seconds) {
  if (seconds === Infinity) return "\u2026";
  return seconds < 1e-6 ? `${(1e9 * seconds).toFixed(0)} ns` : `${(1e6 * seconds).toFixed(2)} \u00b5s`;
}
