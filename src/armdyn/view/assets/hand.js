// The pointer as a hand: it drags the tip, or any link, where the arm is posed; it pulls a moving arm.
import * as THREE from "./three.js";
import { dampedStep } from "./kinematics.js";

const ROUNDS = 12; // of damped least squares a movement

/** Moves q so that a point of a link goes to a goal; the tip by armdyn's own pose and Jacobian. */
export function reach(q, goal, grip, { arm, dynamics, kinematics }) {
  for (let round = 0; round < ROUNDS; round++) {
    let [p, J] = [null, null];
    if (grip.tip) {
      const T = dynamics.pose(q);
      [p, J] = [[T[3], T[7], T[11]], dynamics.jacobian(q)];
    } else {
      kinematics.at(q);
      p = kinematics.toBase(grip.link, grip.place);
      J = kinematics.jacobian(grip.link, p);
    }
    const e = goal.map((x, k) => x - p[k]);
    const far = Math.hypot(...e);
    if (far < 1e-9 * arm.reach) break;
    const most = 0.1 * arm.reach; // a long way goes in short steps
    stepWithin(q, J, e.map((x) => (far > most ? (x * most) / far : x)), arm);
  }
  return q;
}

/** Moves q by a step of damped least squares; a joint that would leave its limits goes to them. */
function stepWithin(q, J, e, arm) {
  const n = q.length;
  const held = new Set();
  for (;;) {
    const step = dampedStep(J, n, e, 0.01 * arm.reach);
    const leaving = arm.joints.findIndex(
      ({ lower, upper }, i) =>
        !held.has(i) && (q[i] + step[i] < (lower ?? -Infinity) || q[i] + step[i] > (upper ?? Infinity)),
    );
    if (leaving < 0) {
      for (let i = 0; i < n; i++) if (!held.has(i)) q[i] += step[i];
      return;
    }
    const end = step[leaving] < 0 ? arm.joints[leaving].lower : arm.joints[leaving].upper;
    for (let k = 0; k < 3; k++) {
      e[k] -= J[k * n + leaving] * (end - q[leaving]); // the others do the rest
      J[k * n + leaving] = 0;
    }
    q[leaving] = end;
    held.add(leaving);
  }
}

/** Listens to the pointer on the stage; ``handlers`` say what a grip, a move and a release do. */
export class Hand {
  constructor(stage, scene, handlers) {
    Object.assign(this, { stage, scene, handlers, grip: null });
    this.string = new THREE.Line(
      new THREE.BufferGeometry().setFromPoints([new THREE.Vector3(), new THREE.Vector3()]),
      new THREE.LineBasicMaterial({ color: 0xe8833a }),
    );
    this.string.frustumCulled = false;
    this.string.visible = false;
    scene.root.add(this.string);
    const { canvas } = stage;
    canvas.addEventListener("pointerdown", (event) => this.take(event), { capture: true });
    canvas.addEventListener("pointermove", (event) => this.drag(event));
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => this.release());
  }

  take(event) {
    if (event.button !== 0 || this.grip) return;
    const hit = this.stage.pick(event, [this.scene.handle]) ?? this.stage.pick(event, this.scene.pickable);
    if (!hit || hit.object.userData.link < 0) return;
    const { link, tip = false } = hit.object.userData;
    const point = this.scene.root.worldToLocal(hit.point.clone()).toArray();
    const towards = this.stage.camera.getWorldDirection(new THREE.Vector3());
    this.plane = new THREE.Plane().setFromNormalAndCoplanarPoint(towards, hit.point);
    this.grip = this.handlers.take({ link, tip, point });
    this.stage.controls.enabled = !this.grip;
    if (!this.grip) return;
    this.stage.canvas.setPointerCapture(event.pointerId);
    this.stage.canvas.classList.add("holding");
  }

  drag(event) {
    if (!this.grip) {
      const over = event.buttons === 0 && this.stage.pick(event, [this.scene.handle, ...this.scene.pickable]);
      this.stage.canvas.classList.toggle("over", Boolean(over) && over.object.userData.link >= 0);
      return;
    }
    const point = this.stage.aim(event).intersectPlane(this.plane, new THREE.Vector3());
    if (point) this.handlers.move(this.grip, this.scene.root.worldToLocal(point).toArray());
  }

  release() {
    if (!this.grip) return;
    this.grip = null;
    this.stage.controls.enabled = true;
    this.stage.canvas.classList.remove("holding");
    this.handlers.release();
  }

  /** Draws the string from a link's point to the hand, both in the base frame; null draws none. */
  showString(from, to) {
    this.string.visible = from !== null;
    if (from === null) return;
    this.string.geometry.setFromPoints([new THREE.Vector3(...from), new THREE.Vector3(...to)]);
  }
}
