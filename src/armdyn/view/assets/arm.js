// The arm as a scene: a group a link, which moves to E_i, and layers that can be shown or hidden.
import * as THREE from "./three.js";
import { axisLine, capsule, described, drum, ellipsoid, solid, triad } from "./shapes.js";

export const LAYERS = {
  shapes: "Shapes",
  frames: "Frames",
  axes: "Joint axes",
  centres: "Centres of mass",
  inertia: "Inertia",
};

const APART = 1e-3; // [m]: the ghost of a link nearer than this is not drawn
const HOUSINGS = { light: 0x47515c, dark: 0x8b96a3 };

/** Draws an arm; ``root`` stands in the base frame, turned so that things fall downwards. */
export class ArmScene {
  constructor(arm, kinematics) {
    this.arm = arm;
    this.kinematics = kinematics;
    this.thickness = 0.032 * arm.reach;
    this.root = new THREE.Group();
    this.links = arm.links.map(() => linkGroup(this.root));
    this.layers = Object.fromEntries(Object.keys(LAYERS).map((name) => [name, []]));
    this.layers.capsules = [];
    this.materials = materials();
    this.rods = []; // of joints that slide without limits: as long as they are out
    this.drawCapsules();
    this.drawShapes();
    this.drawMarks();
    this.drawTip();
    this.ghost = this.drawGhost();
    this.turnUpright(arm.gravity);
    for (const name of ["frames", "axes", "centres", "inertia"]) this.show(name, false);
    this.show("shapes", arm.shapes.length > 0);
  }

  /** What carries link i; -1 is the base. */
  carrier(i) {
    return i < 0 ? this.root : this.links[i];
  }

  /** Moves the arm to the positions q. */
  move(q, ghost = null) {
    this.place(this.links, q);
    this.ghost.root.visible = ghost !== null;
    if (ghost) this.placeGhost(ghost);
    for (const { rod, i, node } of this.rods) {
      rod.scale.z = Math.max(Math.abs(q[i]), 1e-6);
      rod.position.z = node - q[i] / 2;
    }
  }

  /** Moves the ghost; a link of it that stands where the arm's does is not drawn over that. */
  placeGhost(q) {
    const { links } = this.ghost;
    this.place(links, q);
    const seen = (x, group) => new THREE.Vector3(...x).applyMatrix4(group.matrix);
    links.forEach((group, i) => {
      const far = this.arm.links[i].path.map((x) => seen(x, group).distanceTo(seen(x, this.links[i])));
      group.visible = Math.max(0, ...far) > APART;
    });
  }

  place(groups, q) {
    const E = this.kinematics.at(q);
    groups.forEach((group, i) => {
      const [r, o] = [12 * (i + 1), 12 * (i + 1) + 9];
      group.matrix.set(
        E[r], E[r + 1], E[r + 2], E[o],
        E[r + 3], E[r + 4], E[r + 5], E[o + 1],
        E[r + 6], E[r + 7], E[r + 8], E[o + 2],
        0, 0, 0, 1,
      );
      group.matrixWorldNeedsUpdate = true;
    });
  }

  /** Shows a layer or hides it; without the shapes, all links are capsules. */
  show(name, visible) {
    for (const thing of this.layers[name]) thing.visible = visible;
    if (name !== "shapes") return;
    const drawn = new Set(this.arm.shapes.map((shape) => shape.link));
    for (const thing of this.layers.capsules) {
      const { link } = thing.userData;
      thing.visible = !visible || !drawn.has(link) || this.arm.bare.includes(link);
    }
  }

  /** The colour of base and joints, which shows on the theme's ground. */
  dress(theme) {
    this.materials.joint.color.set(HOUSINGS[theme]);
  }

  /** The middle of the arm as it stands, upright, and how far it reaches from there. */
  extent() {
    this.root.updateMatrixWorld(true);
    const points = [this.root, ...this.links, this.tip].map((x) => new THREE.Vector3().setFromMatrixPosition(x.matrixWorld));
    const low = points.reduce((a, p) => a.min(p), points[0].clone());
    const high = points.reduce((a, p) => a.max(p), points[0].clone());
    const centre = low.add(high).multiplyScalar(0.5);
    return [centre, Math.max(...points.map((p) => p.distanceTo(centre)), 0.3 * this.arm.reach)];
  }

  get pickable() {
    return [...this.layers.capsules, ...this.layers.shapes].filter((thing) => thing.visible);
  }

  add(layer, i, thing) {
    thing.userData.link = i;
    this.carrier(i).add(thing);
    this.layers[layer].push(thing);
  }

  radius(i) {
    return this.thickness * (1 - (0.35 * i) / Math.max(this.links.length - 1, 1));
  }

  drawCapsules() {
    const { arm, materials: m } = this;
    const foot = this.thickness * 1.9;
    const plate = drum(0, foot, foot * 0.22, m.joint);
    plate.position.set(0, 0, 0.11 * foot);
    this.add("capsules", -1, plate);
    const [, first = [0, 0, 0]] = arm.pedestal; // it rises out of the plate, not through it
    const part = Math.min(1, (1.1 * this.thickness) / (Math.hypot(...first) || 1));
    this.drawPath(-1, [first.map((x) => part * x), ...arm.pedestal.slice(1)], 1.1 * this.thickness, m.joint);
    arm.links.forEach((link, i) => {
      const [joint, r] = [arm.joints[i], this.radius(i)];
      this.drawPath(i, link.path, r, m.link);
      if (joint.kind === "R") {
        const wide = this.radius(Math.max(i - 1, 0)); // it shows on the link before
        this.add("capsules", i, drum(joint.node, 1.28 * wide, 2.7 * wide, m.joint));
        this.add("capsules", i, drum(joint.node, 1.34 * wide, 0.35 * wide, m.ring));
      } else {
        const [low, high] = joint.rod ?? [0, 1];
        const rod = capsule([0, 0, low], [0, 0, high], 0.6 * r, m.ring);
        this.add("capsules", i, rod);
        if (!joint.rod) this.rods.push({ rod, i, node: joint.node });
        const box = solid(new THREE.BoxGeometry(2.2 * r, 2.2 * r, 2.2 * r), m.joint);
        box.position.z = joint.node;
        this.add("capsules", i, box);
      }
    });
  }

  drawPath(i, path, radius, material) {
    for (let k = 1; k < path.length; k++) {
      this.add("capsules", i, capsule(path[k - 1], path[k], radius, material));
    }
  }

  drawShapes() {
    for (const shape of this.arm.shapes) {
      const material = shape.colour ? this.materials.coloured(shape.colour) : this.materials.link;
      const rough = shape.kind === "mesh" ? this.materials.faceted(material) : material;
      this.add("shapes", shape.link, described(shape, rough));
    }
  }

  drawMarks() {
    const { arm, materials: m } = this;
    const size = 0.16 * arm.reach;
    this.add("frames", -1, triad(size));
    arm.links.forEach((link, i) => {
      this.add("frames", i, triad(size * 0.75));
      this.add("axes", i, axisLine(arm.joints[i].node, 0.42 * arm.reach, m.axis));
      if (link.mass <= 0) return;
      const share = Math.cbrt(link.mass / arm.mass);
      const ball = new THREE.Mesh(new THREE.SphereGeometry(0.9 * this.thickness * share, 24, 16), m.centre);
      ball.position.set(...link.com);
      ball.renderOrder = 2;
      this.add("centres", i, ball);
      this.add("inertia", i, ellipsoid(link, m.inertia));
    });
  }

  drawTip() {
    this.tip = new THREE.Group();
    this.tip.matrixAutoUpdate = false;
    this.tip.matrix.set(...this.arm.tip);
    const last = this.links.length - 1;
    this.links[last].add(this.tip);
    this.handle = new THREE.Mesh(
      new THREE.SphereGeometry(0.62 * this.thickness, 32, 24),
      this.materials.handle,
    );
    this.handle.userData = { link: last, tip: true };
    this.handle.renderOrder = 3; // seen through the link it may stand in
    this.tip.add(this.handle);
    const marks = triad(0.12 * this.arm.reach);
    this.layers.frames.push(marks);
    this.tip.add(marks);
  }

  /** The arm where it is told to go: capsules that are seen through. */
  drawGhost() {
    const root = new THREE.Group();
    const links = this.arm.links.map((link, i) => {
      const group = linkGroup(root);
      for (let k = 1; k < link.path.length; k++) {
        const part = capsule(link.path[k - 1], link.path[k], this.radius(i), this.materials.ghost);
        part.castShadow = false;
        group.add(part);
      }
      return group;
    });
    root.visible = false;
    this.root.add(root);
    return { root, links };
  }

  /** Turns the base so that gravity points down the screen; without any, z stays up. */
  turnUpright(gravity) {
    const up = new THREE.Vector3(...gravity).negate();
    if (up.lengthSq() === 0) return;
    this.root.quaternion.setFromUnitVectors(up.normalize(), new THREE.Vector3(0, 0, 1));
    this.root.updateMatrixWorld(true);
  }
}

function linkGroup(root) {
  const group = new THREE.Group();
  group.matrixAutoUpdate = false;
  root.add(group);
  return group;
}

function materials() {
  const plain = (color, more = {}) =>
    new THREE.MeshStandardMaterial({ color, roughness: 0.55, metalness: 0.05, ...more });
  const clear = { transparent: true, depthWrite: false };
  return {
    link: plain(0xe8e6e1),
    joint: plain(HOUSINGS.light, { roughness: 0.45, metalness: 0.2 }),
    ring: plain(0x1f8a9e, { roughness: 0.4 }),
    handle: plain(0xf08a3c, { emissive: 0xa04a10, emissiveIntensity: 0.7, depthTest: false, transparent: true }),
    ghost: plain(0x1f8a9e, { ...clear, opacity: 0.22 }),
    axis: new THREE.LineDashedMaterial({ color: 0x3a6fd8, dashSize: 0.02, gapSize: 0.012 }),
    centre: new THREE.MeshBasicMaterial({ color: 0xd6493f, depthTest: false, transparent: true, opacity: 0.9 }),
    inertia: plain(0x9a78e0, { ...clear, opacity: 0.3, emissive: 0x5a3fa0, emissiveIntensity: 0.6 }),
    coloured: ([r, g, b, opacity]) =>
      plain(new THREE.Color().setRGB(r, g, b, "srgb"), { opacity, transparent: opacity < 1 }),
    faceted: (material) => Object.assign(material.clone(), { flatShading: true, side: THREE.DoubleSide }),
  };
}
