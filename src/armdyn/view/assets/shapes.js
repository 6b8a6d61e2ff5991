// Solid things in three dimensions: what links, joints, frames and masses are drawn with.
import * as THREE from "./three.js";

const Z = new THREE.Vector3(0, 0, 1);

/** A mesh that throws shadows and catches them. */
export function solid(geometry, material) {
  const mesh = new THREE.Mesh(geometry, material);
  mesh.castShadow = true;
  mesh.receiveShadow = true;
  return mesh;
}

/** A capsule between two points; none where they coincide. */
export function capsule(from, to, radius, material) {
  const [a, b] = [new THREE.Vector3(...from), new THREE.Vector3(...to)];
  const along = b.clone().sub(a);
  const mesh = solid(new THREE.CapsuleGeometry(radius, along.length(), 8, 24), material);
  mesh.geometry.rotateX(Math.PI / 2); // along z
  mesh.quaternion.setFromUnitVectors(Z, along.lengthSq() > 0 ? along.normalize() : Z);
  mesh.position.copy(a).add(b).multiplyScalar(0.5);
  return mesh;
}

/** A cylinder along z about a point of that axis. */
export function drum(z, radius, length, material) {
  const mesh = solid(new THREE.CylinderGeometry(radius, radius, length, 40), material);
  mesh.geometry.rotateX(Math.PI / 2);
  mesh.position.z = z;
  return mesh;
}

/** Three arrows: x red, y green, z blue. */
export function triad(size) {
  const group = new THREE.Group();
  const turns = [[0, 0, -Math.PI / 2], [0, 0, 0], [Math.PI / 2, 0, 0]]; // from y to the axis
  [0xd6493f, 0x3f9a4a, 0x3a6fd8].forEach((colour, k) => {
    const material = new THREE.MeshBasicMaterial({ color: colour });
    const shaft = new THREE.CylinderGeometry(size * 0.025, size * 0.025, size * 0.8, 12);
    const head = new THREE.ConeGeometry(size * 0.07, size * 0.2, 16);
    shaft.translate(0, size * 0.4, 0);
    head.translate(0, size * 0.9, 0);
    for (const geometry of [shaft, head]) {
      const mesh = new THREE.Mesh(geometry, material);
      mesh.rotation.set(...turns[k]);
      group.add(mesh);
    }
  });
  return group;
}

/** A dashed line along z. */
export function axisLine(z, length, material) {
  const geometry = new THREE.BufferGeometry().setFromPoints([
    new THREE.Vector3(0, 0, z - length / 2),
    new THREE.Vector3(0, 0, z + length / 2),
  ]);
  const line = new THREE.Line(geometry, material);
  line.computeLineDistances();
  return line;
}

/** The ellipsoid of a body, about its centre of mass. */
export function ellipsoid(body, material) {
  const mesh = new THREE.Mesh(new THREE.SphereGeometry(1, 32, 24), material);
  const [a, b, c] = body.ellipsoid.radii.map((radius) => Math.max(radius, 1e-4));
  const R = body.ellipsoid.axes;
  mesh.matrixAutoUpdate = false;
  mesh.matrix.set(
    R[0] * a, R[1] * b, R[2] * c, body.com[0],
    R[3] * a, R[4] * b, R[5] * c, body.com[1],
    R[6] * a, R[7] * b, R[8] * c, body.com[2],
    0, 0, 0, 1,
  );
  return mesh;
}

/** A shape of the arm's description, in the frame of its link. */
export function described(shape, material) {
  const mesh = solid(geometryOf(shape), material);
  mesh.matrixAutoUpdate = false;
  mesh.matrix.set(...shape.place);
  return mesh;
}

function geometryOf(shape) {
  const [a, b, c] = shape.size ?? [];
  switch (shape.kind) {
    case "box":
      return new THREE.BoxGeometry(a, b, c);
    case "sphere":
      return new THREE.SphereGeometry(a, 32, 24);
    case "cylinder":
      return new THREE.CylinderGeometry(a, a, b, 40).rotateX(Math.PI / 2);
    case "capsule":
      return new THREE.CapsuleGeometry(a, b, 8, 24).rotateX(Math.PI / 2);
  }
  const steps = unpack(shape.points, Uint16Array);
  const points = Float32Array.from(steps, (x, k) => shape.low[k % 3] + x * shape.step[k % 3]);
  const places = unpack(shape.triangles, shape.wide ? Uint32Array : Uint16Array);
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(points, 3));
  geometry.setIndex(new THREE.BufferAttribute(places, 1));
  return geometry;
}

/** The numbers that stand in a base64 text. */
export function unpack(text, Kind) {
  return new Kind(Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer);
}
