// What the arm stands on and is seen from: light, floor, camera, and the canvas it is drawn on.
import * as THREE from "./three.js";

const FRONT = [1.5, -2.0, 0.95]; // from where the arm is seen at first
const STACKED = "(max-width: 900px)"; // where controls stand below the arm, as in page.css
const PASSED = 0xd06a1f; // the floor's colour while the arm is below it
const LOOKS = {
  light: { back: 0xf3f2ee, grid: 0xc9c7c0, sky: 0xffffff, ground: 0xcfcac0, shadow: 0.2, sun: 2.0 },
  dark: { back: 0x15181c, grid: 0x343a42, sky: 0xbfd4e6, ground: 0x30353c, shadow: 0.45, sun: 1.7 },
};

/** The scene on a canvas; draws when something has changed. */
export class Stage {
  constructor(canvas, reach) {
    this.canvas = canvas;
    this.reach = reach;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.renderer.toneMapping = THREE.ACESFilmicToneMapping;
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(32, 1, reach / 100, reach * 60);
    this.camera.up.set(0, 0, 1);
    this.controls = new THREE.OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener("change", () => (this.changed = true));
    this.controls.minDistance = reach / 6;
    this.controls.maxDistance = reach * 15;
    this.addLight();
    this.addFloor();
    this.caster = new THREE.Raycaster();
    this.changed = true;
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
    canvas.addEventListener("keydown", (event) => this.turnByKey(event));
    if (parent !== self) this.zoomInFocus();
    this.lookFront(new THREE.Vector3(0, 0, 0.3 * reach), 0.7 * reach);
    this.resize();
  }

  addLight() {
    this.sky = new THREE.HemisphereLight(0xffffff, 0x888888, 2.1);
    this.sun = new THREE.DirectionalLight(0xffffff, 2);
    this.sun.position.set(1.1, -0.9, 2.2).multiplyScalar(this.reach);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.radius = 4;
    this.sun.shadow.normalBias = 0.01 * this.reach;
    const span = 1.3 * this.reach;
    Object.assign(this.sun.shadow.camera, { left: -span, right: span, top: span, bottom: -span });
    Object.assign(this.sun.shadow.camera, { near: 0.1 * this.reach, far: 6 * this.reach });
    this.scene.add(this.sky, this.sun);
  }

  addFloor() {
    const cell = niceStep(this.reach / 4);
    const cells = 2 * Math.ceil((2 * this.reach) / cell);
    this.grid = new THREE.GridHelper(cells * cell, cells, 0xffffff, 0xffffff);
    this.grid.rotation.x = Math.PI / 2;
    this.grid.material.transparent = true;
    this.grid.material.depthWrite = false;
    this.grid.material.opacity = 0.7;
    const floor = new THREE.Mesh(
      new THREE.CircleGeometry(4 * this.reach, 64),
      new THREE.ShadowMaterial({ opacity: 0.2 }),
    );
    floor.receiveShadow = true;
    floor.position.z = -0.002 * this.reach;
    this.floor = floor;
    this.scene.add(this.grid, floor);
  }

  /** Colours of the light or the dark theme. */
  dress(theme) {
    const look = LOOKS[theme];
    this.look = look;
    this.scene.background = new THREE.Color(look.back);
    this.scene.fog = new THREE.Fog(look.back, 3.5 * this.reach, 9 * this.reach);
    this.grid.material.color = new THREE.Color(look.grid);
    this.grid.material.vertexColors = false;
    this.grid.material.needsUpdate = true;
    this.sky.color.set(look.sky);
    this.sky.groundColor.set(look.ground);
    this.sun.intensity = look.sun;
    this.floor.material.opacity = look.shadow;
    this.changed = true;
  }

  /** Shows whether the arm is below the floor, which does not stop it. */
  showPassed(passed) {
    this.grid.material.color.set(passed ? PASSED : this.look.grid);
    this.changed = true;
  }

  /** Looks at a ball that holds the arm, from the front, right and above. */
  lookFront(centre = this.centre, radius = this.radius) {
    Object.assign(this, { centre, radius });
    this.lookAt(centre, radius, new THREE.Vector3(...FRONT));
  }

  /** Looks at a ball from where the camera is, or from another side. */
  lookAt(centre, radius, from = this.camera.position.clone().sub(this.controls.target)) {
    this.controls.target.copy(centre);
    this.camera.position.copy(centre).addScaledVector(from.normalize(), (1.5 * radius) / Math.tan(0.28));
    this.controls.update();
    this.changed = true;
  }

  /** In a frame, the wheel scrolls the page around it until the canvas is clicked. */
  zoomInFocus() {
    this.controls.enableZoom = false;
    this.canvas.addEventListener("focus", () => (this.controls.enableZoom = true));
    this.canvas.addEventListener("blur", () => (this.controls.enableZoom = false));
  }

  /** Arrow keys turn the view, plus and minus move it nearer and away. */
  turnByKey(event) {
    const turns = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const zooms = { "+": 0.9, "=": 0.9, "-": 1 / 0.9 };
    const offset = this.camera.position.clone().sub(this.controls.target);
    if (event.key in turns) {
      const [round, down] = turns[event.key];
      const flat = Math.hypot(offset.x, offset.y);
      const polar = Math.min(Math.PI - 0.05, Math.max(0.05, Math.atan2(flat, offset.z) + 0.08 * down));
      const azimuth = Math.atan2(offset.y, offset.x) + 0.1 * round;
      const length = offset.length();
      offset.set(Math.cos(azimuth), Math.sin(azimuth), 0).multiplyScalar(length * Math.sin(polar));
      offset.z = length * Math.cos(polar);
    } else if (event.key in zooms) {
      offset.multiplyScalar(zooms[event.key]);
    } else {
      return;
    }
    event.preventDefault();
    this.camera.position.copy(this.controls.target).add(offset);
    this.controls.update();
    this.changed = true;
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    if (width === 0 || height === 0) return;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    // What stands in view does so on a narrow screen too.
    this.camera.fov = width < height ? (360 / Math.PI) * Math.atan(Math.tan(0.28) * (height / width)) : 32;
    const covered = matchMedia(STACKED).matches ? 0 : 0.05; // half of what controls take of the foot
    this.camera.setViewOffset(width, height, 0, covered * height, width, height);
    this.changed = true;
  }

  /** The first of some things under a pointer event, and where it is hit; null if there is none. */
  pick(event, things) {
    this.aim(event);
    return this.caster.intersectObjects(things, false)[0] ?? null;
  }

  /** Aims the caster at a pointer event. */
  aim(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * 2 - 1;
    const y = 1 - ((event.clientY - box.top) / box.height) * 2;
    this.caster.setFromCamera(new THREE.Vector2(x, y), this.camera);
    return this.caster.ray;
  }

  draw() {
    if (!this.changed) return;
    this.changed = false;
    this.renderer.render(this.scene, this.camera);
  }
}

/** The largest of 1, 2 and 5 times a power of ten that is not above a number. */
export function niceStep(size) {
  const power = 10 ** Math.floor(Math.log10(size));
  return [5, 2, 1].find((step) => step * power <= size * 1.0001) * power;
}
