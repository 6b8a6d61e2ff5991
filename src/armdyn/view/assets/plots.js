// Lines over time on a canvas, and the elements that pages are made of.
import { niceStep } from "./stage.js";

const SERIES = 8; // colours; a ninth line has the first one's, dashed

/** The element of that id. */
export const byId = (id) => document.getElementById(id);

/** An element with properties and children; text is never read as HTML. */
export function element(tag, { attributes = {}, ...properties } = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Names without the words that all of them begin with, or end with. */
export function labels(names) {
  const turned = (texts) => texts.map((text) => [...text].reverse().join(""));
  return turned(withoutStart(turned(withoutStart(names))));
}

/** Names without the letters that all of them begin with, up to the last break between words. */
function withoutStart(names) {
  const [first, ...others] = names;
  let shared = others.length ? first.length : 0;
  for (const name of others) while (!name.startsWith(first.slice(0, shared))) shared -= 1;
  while (shared > 0 && !"_-./ ".includes(first[shared - 1])) shared -= 1;
  return names.some((name) => name.length === shared) ? names : names.map((name) => name.slice(shared));
}

/** A number in few letters. */
export function short(x, digits = 3) {
  if (!Number.isFinite(x)) return String(x);
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e5 || size < 1e-4) return x.toExponential(1);
  return String(Number(x.toPrecision(digits)));
}

/** Rows of numbers over time, the latest ones. */
export class History {
  constructor(width, most = 2400) {
    Object.assign(this, { width, most });
    this.clear();
  }

  clear() {
    this.t = [];
    this.rows = [];
  }

  add(t, row) {
    this.t.push(t);
    this.rows.push(Float64Array.from(row));
    if (this.t.length > 1.25 * this.most) {
      this.t = this.t.slice(-this.most);
      this.rows = this.rows.slice(-this.most);
    }
  }
}

/** A figure with a title, a legend and lines. */
export class Plot {
  constructor(place, title, unit, names, whole = names) {
    this.names = names;
    this.canvas = element("canvas", { attributes: { role: "img", "aria-label": `${title} over time` } });
    const keys = names.map((name, k) =>
      element("li", { className: `s${k % SERIES}`, title: whole[k] }, element("span", { className: "key" }), name),
    );
    const caption = element("figcaption", {}, element("b", {}, title), ` [${unit}]`);
    place.append(element("figure", { className: "plot" }, caption, this.canvas, element("ul", {}, ...keys)));
  }

  /** Draws a history's last seconds, or all of it with a cursor at a time. */
  draw(history, { window = Infinity, cursor = null } = {}) {
    const { canvas } = this;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (width === 0) return;
    const ratio = devicePixelRatio;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const style = getComputedStyle(canvas);
    pen.font = `11px ${style.fontFamily}`;
    const box = { left: 46, right: width - 8, top: 8, bottom: height - 18 };
    const { t, rows } = history;
    const end = t.length ? Math.max(t[t.length - 1], Number.isFinite(window) ? window : 1e-3) : 1;
    const begin = Number.isFinite(window) ? end - window : (t[0] ?? 0);
    const first = Math.max(0, t.findIndex((x) => x >= begin) - 1);
    const [low, high] = range(rows, first);
    const x = (time) => box.left + ((time - begin) / (end - begin)) * (box.right - box.left);
    const y = (value) => box.bottom - ((value - low) / (high - low)) * (box.bottom - box.top);
    drawAxes(pen, style, box, { begin, end, low, high, x, y });
    if (t.length > 1) this.drawLines(pen, style, box, t, rows, first, x, y);
    if (cursor !== null) {
      pen.strokeStyle = style.getPropertyValue("--ink");
      pen.setLineDash([]);
      line(pen, x(cursor), box.top, x(cursor), box.bottom);
    }
  }

  drawLines(pen, style, box, t, rows, first, x, y) {
    pen.save();
    pen.beginPath();
    pen.rect(box.left, box.top, box.right - box.left, box.bottom - box.top);
    pen.clip();
    pen.lineWidth = 1.5;
    pen.lineJoin = "round";
    const stride = Math.max(1, Math.floor((t.length - first) / (2 * (box.right - box.left))));
    this.names.forEach((_, k) => {
      pen.strokeStyle = style.getPropertyValue(`--s${k % SERIES}`);
      pen.setLineDash(k < SERIES ? [] : [4, 3]);
      pen.beginPath();
      for (let i = first; i < t.length; i += stride) pen.lineTo(x(t[i]), y(rows[i][k]));
      pen.stroke();
    });
    pen.restore();
  }
}

function range(rows, first) {
  let [low, high] = [Infinity, -Infinity];
  for (let i = first; i < rows.length; i++) {
    for (const value of rows[i]) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  if (!(high >= low)) return [-1, 1];
  const margin = 0.08 * (high - low) || 0.5 * Math.abs(high) || 1;
  return [low - margin, high + margin];
}

function drawAxes(pen, style, box, { begin, end, low, high, x, y }) {
  pen.fillStyle = style.getPropertyValue("--faint");
  pen.strokeStyle = style.getPropertyValue("--rule");
  pen.lineWidth = 1;
  pen.textAlign = "right";
  pen.textBaseline = "middle";
  for (const value of ticks(low, high, 4)) {
    line(pen, box.left, y(value), box.right, y(value));
    pen.fillText(short(value), box.left - 6, y(value));
  }
  pen.textAlign = "center";
  pen.textBaseline = "top";
  for (const time of ticks(Math.max(begin, 0), end, 5)) {
    if (x(time) < box.right - 22) pen.fillText(short(time), x(time), box.bottom + 5);
  }
  pen.textAlign = "right";
  pen.fillText("s", box.right, box.bottom + 5);
}

function ticks(low, high, count) {
  const step = niceStep((high - low) / count);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high && found.length < 20; k++) found.push(k * step);
  return found;
}

function line(pen, ...[x0, y0, x1, y1]) {
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
}
