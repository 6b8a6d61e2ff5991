// The card of the joints: a slider a joint, and where the tip is.
import { byId, element, short } from "./plots.js";

const DEGREES = 180 / Math.PI;

/** Sliders that set positions, and show them. */
export class JointCard {
  constructor(arm, onChange, onTip) {
    this.arm = arm;
    this.degrees = false;
    this.onChange = onChange;
    this.rows = arm.joints.map((joint, i) => this.row(joint, i));
    byId("sliders").append(...this.rows.map((row) => row.whole));
    for (const id of ["radians", "degrees"]) byId(id).addEventListener("click", () => this.setUnit(id === "degrees"));
    byId("unit").hidden = !arm.joints.some((joint) => joint.kind === "R");
    this.tip = ["x", "y", "z"].map((axis, k) => {
      const input = element("input", {
        type: "number", step: "0.01", attributes: { "aria-label": `${axis} of the tip in metres` },
      });
      input.addEventListener("change", () => onTip(k, Number(input.value)));
      byId("tip").append(element("label", {}, axis, input));
      return input;
    });
    byId("tip").append(element("span", { className: "faint" }, "m"));
    this.setUnit(false);
  }

  row(joint, i) {
    const [lower, upper] = bounds(joint, this.arm.reach);
    const unlimited = joint.lower === null || joint.upper === null;
    const slider = element("input", { type: "range", min: lower, max: upper, step: "any", id: `joint${i}` });
    const number = element("input", {
      type: "number", step: "any", attributes: { "aria-label": `position of joint ${joint.name}` },
    });
    slider.addEventListener("input", () => this.onChange(i, Number(slider.value)));
    number.addEventListener("change", () => {
      const value = Number(number.value) / this.factor(joint);
      if (Number.isFinite(value)) this.onChange(i, Math.min(upper, Math.max(lower, value)));
    });
    const name = element("label", { htmlFor: slider.id, title: joint.name }, joint.label);
    const said = unlimited ? "no limit" : "";
    const unit = element("span", { className: "faint unit" });
    const mark = element("span", { className: "mark", hidden: true });
    const track = element("span", { className: "track" }, slider, mark);
    const whole = element("div", { className: "joint", title: said }, name, track, number, unit);
    return { whole, slider, number, unit, mark, joint, lower, upper };
  }

  factor(joint) {
    return this.degrees && joint.kind === "R" ? DEGREES : 1;
  }

  setUnit(degrees) {
    this.degrees = degrees;
    byId("radians").setAttribute("aria-pressed", !degrees);
    byId("degrees").setAttribute("aria-pressed", degrees);
    for (const { unit, joint } of this.rows) {
      unit.textContent = joint.kind === "P" ? "m" : degrees ? "\u00b0" : "rad";
    }
    if (this.shown) this.show(...this.shown);
  }

  /** Shows positions; where they are told to go, sliders stand there and marks at the positions. */
  show(q, tip, target = null) {
    this.shown = [q, tip, target];
    this.rows.forEach((row, i) => {
      const value = target ? target[i] : q[i];
      row.slider.value = value;
      row.slider.setAttribute("aria-valuetext", `${short(value * this.factor(row.joint))} ${row.unit.textContent}`);
      if (row.number !== document.activeElement) {
        row.number.value = (value * this.factor(row.joint)).toFixed(this.factor(row.joint) > 1 ? 1 : 3);
      }
      const part = (q[i] - row.lower) / (row.upper - row.lower);
      row.mark.hidden = !target;
      // The middle of a slider's thumb stays half a thumb, 8 pixels, within its track.
      row.mark.style.left = `calc(8px + (100% - 16px) * ${Math.min(1, Math.max(0, part))})`;
      row.whole.classList.toggle("beyond", q[i] < row.lower - 1e-9 || q[i] > row.upper + 1e-9);
    });
    this.tip.forEach((input, k) => {
      if (input !== document.activeElement) input.value = tip[k].toFixed(3);
    });
  }
}

/** From where to where a slider goes: the joint's limits, else half a turn or the arm's length. */
export function bounds(joint, reach) {
  const far = joint.kind === "R" ? Math.PI : reach;
  const lower = joint.lower ?? Math.min(-far, joint.upper ?? 0);
  const upper = joint.upper ?? Math.max(far, joint.lower ?? 0);
  return [lower, upper > lower ? upper : lower + 1e-6];
}
