// The moving robot: a small WebGL picture of solids on links, with a ghost, shadows, a floor and the path of the hand.
const Vec = {
  add: (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]],
  sub: (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]],
  dot: (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2],
  cross: (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]],
  unit: a => { const n = Math.hypot(...a) || 1; return a.map(x => x / n); },
};
// 4 × 4 matrices by columns
const Mat = {
  identity: () => [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1],
  times(a, b) {
    const c = new Array(16);
    for (let j = 0; j < 4; j++) for (let i = 0; i < 4; i++)
      c[4 * j + i] = a[i] * b[4 * j] + a[4 + i] * b[4 * j + 1] + a[8 + i] * b[4 * j + 2] + a[12 + i] * b[4 * j + 3];
    return c;
  },
  perspective(angle, aspect, near, far) {
    const f = 1 / Math.tan(angle / 2);
    return [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, 2 * far * near / (near - far), 0];
  },
  look(eye, at) {
    const z = Vec.unit(Vec.sub(eye, at)), x = Vec.unit(Vec.cross([0, 0, 1], z)), y = Vec.cross(z, x);
    return [x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -Vec.dot(x, eye), -Vec.dot(y, eye), -Vec.dot(z, eye), 1];
  },
  pose(p, q) {
    const [x, y, z, w] = q;
    return [1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w), 0, 2 * (x * y - z * w), 1 - 2 * (x * x + z * z), 2 * (y * z + x * w), 0,
      2 * (x * z + y * w), 2 * (y * z - x * w), 1 - 2 * (x * x + y * y), 0, p[0], p[1], p[2], 1];
  },
};

// Triangles: position, normal, colour for each vertex.
class Solid {
  constructor() { this.data = []; }
  vertex(p, n, c) { this.data.push(p[0], p[1], p[2], n[0], n[1], n[2], c[0], c[1], c[2]); }
  quad(a, b, c, d, na, nb, nc, nd, colour) {
    this.vertex(a, na, colour); this.vertex(b, nb, colour); this.vertex(c, nc, colour);
    this.vertex(a, na, colour); this.vertex(c, nc, colour); this.vertex(d, nd, colour);
  }
  // A profile [[along, radius], …] turned about the line from a towards u.
  lathe(a, u, profile, colour, sides = 40, round = false) {
    const x = Vec.unit(Math.abs(u[2]) < 0.9 ? Vec.cross(u, [0, 0, 1]) : Vec.cross(u, [1, 0, 0])), y = Vec.cross(u, x);
    const ring = k => { const s = 2 * Math.PI * k / sides; return Vec.add(x.map(c => c * Math.cos(s)), y, Math.sin(s)); };
    for (let i = 1; i < profile.length; i++) {
      const [s0, r0] = profile[i - 1], [s1, r1] = profile[i];
      const slope = (dr, ds, s, r) => d => round ? Vec.unit(Vec.add(d.map(c => c * r), u, s - round)) : Vec.unit(Vec.add(d.map(c => c * ds), u, -dr));
      const n0 = slope(r1 - r0, s1 - s0, s0, r0), n1 = slope(r1 - r0, s1 - s0, s1, r1);
      for (let k = 0; k < sides; k++) {
        const d = ring(k), e = ring(k + 1), at = (s, r, w) => Vec.add(Vec.add(a, u, s), w, r);
        this.quad(at(s0, r0, d), at(s0, r0, e), at(s1, r1, e), at(s1, r1, d), n0(d), n0(e), n1(e), n1(d), colour);
      }
    }
  }
  tube(a, b, r, colour, sides) {
    const way = Vec.sub(b, a), L = Math.hypot(...way), c = Math.min(0.16 * r, 0.3 * L);
    if (L > 1e-9) this.lathe(a, Vec.unit(way), [[0, 0], [0, r - c], [c, r], [L - c, r], [L, r - c], [L, 0]], colour, sides);
  }
  // a piece of wire without ends
  wire(a, b, r, colour) {
    const way = Vec.sub(b, a), L = Math.hypot(...way);
    if (L > 1e-9) this.lathe(a, Vec.unit(way), [[-0.5 * r, r], [L + 0.5 * r, r]], colour, 8);
  }
  sphere(at, r, colour) {
    const profile = [];
    for (let k = 0; k <= 14; k++) profile.push([r - r * Math.cos(Math.PI * k / 14), r * Math.sin(Math.PI * k / 14)]);
    this.lathe(Vec.add(at, [0, 0, 1], -r), [0, 0, 1], profile, colour, 28, r);
  }
  box(at, R, size, colour) {
    const column = k => [R[k], R[3 + k], R[6 + k]], half = size.map(s => s / 2);
    for (let k = 0; k < 3; k++) for (const sign of [1, -1]) {
      const n = column(k).map(c => c * sign), u = column((k + 1) % 3), v = column((k + 2) % 3), m = Vec.add(at, n, half[k]);
      const corner = (i, j) => Vec.add(Vec.add(m, u, i * half[(k + 1) % 3]), v, j * half[(k + 2) % 3]);
      this.quad(corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1), n, n, n, n, colour);
    }
  }
  mesh(points, faces, colour) {
    for (const [i, j, k] of faces) {
      const [a, b, c] = [points[i], points[j], points[k]], n = Vec.unit(Vec.cross(Vec.sub(b, a), Vec.sub(c, a)));
      for (const p of [a, b, c]) this.vertex(p, n, colour);
    }
  }
}

const VERTEX = `attribute vec3 place, normal, colour; uniform mat4 eye, model; uniform vec3 sun; uniform float flatten, ground;
varying vec3 n, c, w;
void main() {
  vec4 world = model * vec4(place, 1.0);
  if (flatten > 0.5) world.xyz = vec3(world.xy - sun.xy * (world.z - ground) / sun.z, ground);
  n = mat3(model) * normal; c = colour; w = world.xyz; gl_Position = eye * world;
}`;
const FRAGMENT = `precision highp float; uniform vec3 sun, from, tint; uniform float mixing, alpha, lit, fade; uniform vec3 centre;
varying vec3 n, c, w;
void main() {
  vec3 colour = mix(c, tint, mixing);
  float a = alpha;
  if (lit > 0.5) {
    vec3 m = normalize(n), v = normalize(from - w);
    if (dot(m, v) < 0.0) m = -m;
    float key = max(dot(m, sun), 0.0), sky = 0.5 + 0.5 * m.z, side = max(dot(m, normalize(vec3(-sun.y, sun.x, 0.3))), 0.0);
    float shine = pow(max(dot(m, normalize(sun + v)), 0.0), 40.0);
    colour = colour * (0.20 + 0.38 * sky + 0.46 * key + 0.14 * side) + 0.12 * shine + 0.05 * pow(1.0 - max(dot(m, v), 0.0), 3.0);
  }
  if (fade > 0.0) a *= clamp(1.0 - length(w.xy - centre.xy) / fade, 0.0, 1.0);
  gl_FragColor = vec4(colour, a);
}`;

class Scene {
  constructor(canvas, data) {
    this.canvas = canvas; this.data = data; this.tracks = data.tracks; this.ghost = true; this.trace = true; this.now = 0;
    this.gl = canvas.getContext("webgl", { antialias: true, stencil: true, alpha: true });
    if (!this.gl) { this.missing = true; return; }
    this.program = this.compile();
    this.palette(); this.bounds(); this.build(); this.home(); this.steer();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.palette(); this.build(); this.draw(this.now); });
    new ResizeObserver(() => this.draw(this.now)).observe(canvas);
  }
  compile() {
    const gl = this.gl, program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source); gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    gl.useProgram(program);
    this.at = {};
    for (const name of ["eye", "model", "sun", "flatten", "ground", "from", "tint", "mixing", "alpha", "lit", "fade", "centre"])
      this.at[name] = gl.getUniformLocation(program, name);
    return program;
  }
  palette() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    this.paints = dark
      ? { limb: [.80, .83, .87], joint: [.25, .53, .88], base: [.42, .47, .53], tool: [.93, .60, .20], ghost: [.55, .62, .70], plan: [.95, .62, .18], grid: [.42, .48, .55], shadow: [0, 0, 0] }
      : { limb: [.93, .94, .96], joint: [.10, .42, .80], base: [.38, .42, .48], tool: [.90, .52, .10], ghost: [.48, .54, .60], plan: [.88, .49, .04], grid: [.62, .67, .72], shadow: [.10, .14, .20] };
  }
  bounds() {
    const all = Object.values(this.tracks), low = [1e9, 1e9, 1e9], high = [-1e9, -1e9, -1e9];
    for (const track of all) for (const frame of track.p) for (let k = 0; k < frame.length; k++) {
      low[k % 3] = Math.min(low[k % 3], frame[k]); high[k % 3] = Math.max(high[k % 3], frame[k]);
    }
    const base = this.tracks.plan.p[0].slice(0, 3);
    // the plan's floor; without one a grid at the base's height, for the eye only: nothing casts a shadow on it
    this.ground = this.data.floor ?? base[2];
    this.middle = low.map((x, i) => (x + high[i]) / 2);
    this.radius = Math.max(0.55 * Math.hypot(...high.map((x, i) => x - low[i])), 0.25 * this.data.size);
    this.longest = Math.max(...all.map(track => track.duration));
  }
  buffer(solid) {
    const gl = this.gl, id = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, id); gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(solid.data), gl.STATIC_DRAW);
    return { id, count: solid.data.length / 9 };
  }
  build() {
    this.links = this.data.solids.map(parts => {
      const solid = new Solid();
      for (const part of parts) {
        const colour = typeof part.paint === "string" ? this.paints[part.paint] : part.paint;
        if (part.kind === "tube") solid.tube(part.a, part.b, part.r, colour);
        if (part.kind === "sphere") solid.sphere(part.at, part.r, colour);
        if (part.kind === "box") solid.box(part.at, part.R, part.size, colour);
        if (part.kind === "mesh") solid.mesh(part.points, part.faces, colour);
      }
      return this.buffer(solid);
    });
    this.trails = {};
    for (const [name, track] of Object.entries(this.tracks)) {
      const solid = new Solid(), thin = (name === "plan" ? 0.0042 : 0.0026) * this.data.size, colour = this.paints[name === "plan" ? "plan" : "ghost"];
      for (const tip of this.data.tips) {
        const point = f => track.p[f].slice(3 * tip, 3 * tip + 3);
        for (let f = 1; f < track.p.length; f++) solid.wire(point(f - 1), point(f), thin, colour);
        if (name === "plan") for (const f of [0, track.p.length - 1]) solid.sphere(point(f), 3 * thin, colour);
      }
      this.trails[name] = this.buffer(solid);
    }
    const floor = new Solid(), step = this.step(), reach = 12 * step, up = [0, 0, 1], grid = this.paints.grid;
    const x0 = Math.round(this.middle[0] / step) * step, y0 = Math.round(this.middle[1] / step) * step;
    // in short pieces: a line that ends behind the eye is not drawn by every machine
    for (let k = -12; k <= 12; k++) for (let i = -12; i < 12; i++) for (const j of [i, i + 1]) {
      floor.vertex([x0 + k * step, y0 + j * step, this.ground], up, grid);
    }
    for (let k = -12; k <= 12; k++) for (let i = -12; i < 12; i++) for (const j of [i, i + 1]) {
      floor.vertex([x0 + j * step, y0 + k * step, this.ground], up, grid);
    }
    this.floor = this.buffer(floor); this.fade = reach;
  }
  // the grid's spacing: 1, 2 or 5 times a power of ten, about a sixth of the scene
  step() {
    const rough = this.radius / 4, power = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 5, 10].map(k => k * power).find(x => x >= rough);
  }
  home() { this.turn = this.front(); this.tilt = 0.36; this.far = 2.65 * this.radius; this.target = [...this.middle]; }
  // across the way of the hand, from the side on which it works, a little from the corner
  front() {
    const tip = this.data.tips[0], base = this.tracks.plan.p[0], way = this.tracks.plan.p.map(f => [f[3 * tip] - base[0], f[3 * tip + 1] - base[1]]);
    const mean = [0, 1].map(i => way.reduce((s, p) => s + p[i], 0) / way.length);
    const second = (i, j) => way.reduce((s, p) => s + (p[i] - mean[i]) * (p[j] - mean[j]), 0);
    const along = 0.5 * Math.atan2(2 * second(0, 1), second(0, 0) - second(1, 1)), across = along + Math.PI / 2;
    const side = Math.cos(across) * mean[0] + Math.sin(across) * mean[1] < 0 ? Math.PI : 0;
    return across + side - 0.45;
  }
  steer() {
    const held = new Map(), canvas = this.canvas;
    canvas.addEventListener("pointerdown", e => { held.set(e.pointerId, [e.clientX, e.clientY]); canvas.setPointerCapture(e.pointerId); });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, e => held.delete(e.pointerId));
    canvas.addEventListener("pointermove", e => {
      const old = held.get(e.pointerId);
      if (!old) return;
      const [dx, dy] = [e.clientX - old[0], e.clientY - old[1]];
      if (held.size === 2) {
        const other = [...held.entries()].find(([id]) => id !== e.pointerId)[1];
        const gap = p => Math.hypot(p[0] - other[0], p[1] - other[1]);
        this.zoom(gap(old) / Math.max(gap([e.clientX, e.clientY]), 1));
      } else if (e.shiftKey || e.buttons === 2) this.pan(dx, dy);
      else { this.turn -= dx / 180; this.tilt = Math.max(-0.2, Math.min(1.55, this.tilt + dy / 180)); }
      held.set(e.pointerId, [e.clientX, e.clientY]); this.draw(this.now);
    });
    canvas.addEventListener("contextmenu", e => e.preventDefault());
    canvas.addEventListener("wheel", e => { e.preventDefault(); this.zoom(Math.exp(e.deltaY / 700)); this.draw(this.now); }, { passive: false });
    canvas.addEventListener("dblclick", () => { this.home(); this.draw(this.now); });
  }
  zoom(factor) { this.far = Math.max(0.6 * this.radius, Math.min(14 * this.radius, this.far * factor)); }
  pan(dx, dy) {
    const s = this.far / this.canvas.clientHeight, side = [-Math.sin(this.turn), Math.cos(this.turn), 0];
    this.target = Vec.add(Vec.add(this.target, side, -dx * s), [0, 0, 1], dy * s);
  }
  // poses of all links of a track at a time, between its frames
  poses(track, time) {
    const last = track.p.length - 1, s = Math.max(0, Math.min(1, time / track.duration)) * last, f = Math.min(last - 1, Math.floor(s)), u = s - f;
    return this.links.map((_, k) => {
      const p0 = track.p[f], p1 = track.p[f + 1], r0 = track.r[f], r1 = track.r[f + 1];
      let same = 0;
      for (let i = 0; i < 4; i++) same += r0[4 * k + i] * r1[4 * k + i];
      const q = [0, 1, 2, 3].map(i => (1 - u) * r0[4 * k + i] + u * r1[4 * k + i] * (same < 0 ? -1 : 1)), n = Math.hypot(...q);
      return Mat.pose([0, 1, 2].map(i => (1 - u) * p0[3 * k + i] + u * p1[3 * k + i]), q.map(x => x / n));
    });
  }
  put(thing, model, mode) {
    const gl = this.gl;
    if (!thing.count) return;
    gl.bindBuffer(gl.ARRAY_BUFFER, thing.id);
    ["place", "normal", "colour"].forEach((name, k) => {
      const at = gl.getAttribLocation(this.program, name);
      gl.enableVertexAttribArray(at); gl.vertexAttribPointer(at, 3, gl.FLOAT, false, 36, 12 * k);
    });
    gl.uniformMatrix4fv(this.at.model, false, model); gl.drawArrays(mode ?? gl.TRIANGLES, 0, thing.count);
  }
  set(values) { for (const [name, x] of Object.entries(values)) Array.isArray(x) ? this.gl.uniform3fv(this.at[name], x) : this.gl.uniform1f(this.at[name], x); }
  draw(time) {
    this.now = time;
    if (this.missing) return;
    const gl = this.gl, canvas = this.canvas, scale = Math.min(devicePixelRatio || 1, 2);
    const width = Math.max(1, Math.round(canvas.clientWidth * scale)), height = Math.max(1, Math.round(canvas.clientHeight * scale));
    if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
    gl.viewport(0, 0, width, height); gl.clearColor(0, 0, 0, 0); gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST); gl.depthFunc(gl.LEQUAL); gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    const far = this.far * Math.max(1, 0.95 * height / width);
    const eye = Vec.add(this.target, [Math.cos(this.tilt) * Math.cos(this.turn), Math.cos(this.tilt) * Math.sin(this.turn), Math.sin(this.tilt)], far);
    gl.uniformMatrix4fv(this.at.eye, false, Mat.times(Mat.perspective(0.66, width / height, 0.05 * far, 8 * far), Mat.look(eye, this.target)));
    const sun = Vec.unit([0.45 * Math.cos(this.turn + 0.7), 0.45 * Math.sin(this.turn + 0.7), 1]), one = Mat.identity();
    this.set({ sun, from: eye, ground: this.ground, centre: this.middle, tint: this.paints.grid, mixing: 0, alpha: 0.5, lit: 0, fade: this.fade, flatten: 0 });
    gl.depthMask(false); this.put(this.floor, one, gl.LINES);
    const plan = this.poses(this.tracks.plan, time), base = this.tracks.base && this.ghost ? this.poses(this.tracks.base, time) : null;
    // the shadow once for each spot of the floor
    gl.enable(gl.STENCIL_TEST); gl.stencilFunc(gl.EQUAL, 0, 255); gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
    this.set({ flatten: 1, tint: this.paints.shadow, mixing: 1, alpha: 0.22, fade: 1.6 * this.fade });
    if (this.data.floor !== null) this.links.forEach((link, k) => this.put(link, plan[k]));
    gl.disable(gl.STENCIL_TEST); gl.depthMask(true);
    this.set({ flatten: 0, mixing: 0, alpha: 1, lit: 1, fade: 0 });
    this.links.forEach((link, k) => this.put(link, plan[k]));
    if (this.trace) { this.put(this.trails.plan, one); if (base) this.put(this.trails.base, one); }
    if (base) {
      // a little behind the plan where both are the same; depth first, so that only the ghost's outside shows
      gl.enable(gl.POLYGON_OFFSET_FILL); gl.polygonOffset(1, 400);
      gl.colorMask(false, false, false, false); this.links.forEach((link, k) => this.put(link, base[k])); gl.colorMask(true, true, true, true);
      this.set({ tint: this.paints.ghost, mixing: 0.85, alpha: 0.42 });
      this.links.forEach((link, k) => this.put(link, base[k]));
      gl.disable(gl.POLYGON_OFFSET_FILL);
    }
  }
}
