// The page: one clock for the moving robot and all charts.
const data = JSON.parse(document.getElementById("data").textContent);
const find = id => document.getElementById(id);
const scene = new Scene(find("view"), data.scene);
if (scene.missing) { find("view").hidden = true; find("noview").hidden = false; }
const clock = {
  now: 0, longest: Math.max(...Object.values(data.scene.tracks).map(track => track.duration)), watchers: [],
  watch(f) { this.watchers.push(f); },
  show(time) {
    this.now = Math.max(0, Math.min(this.longest, time));
    find("time").value = this.now / this.longest; find("clock").textContent = this.now.toFixed(2) + " s";
    scene.draw(this.now); this.watchers.forEach(f => f(this.now));
  },
  seek(time) { run(false); this.show(time); },
};

// charts and tables
const fill = (id, ...nodes) => find(id).append(...nodes.filter(Boolean));
find("planname").textContent = data.names.plan;
if (data.names.base) find("basename").textContent = data.names.base; else find("ghostkey").hidden = true;
const totals = Object.values(data.energy.flows).map(f => Math.max(f.in.reduce((s, b) => s + b[1], 0), f.out.reduce((s, b) => s + b[1], 0), 1e-12));
for (const [name, flows] of Object.entries(data.energy.flows)) fill("flows", flowChart(data.names[name], flows, Math.max(...totals)));
for (const chart of data.power) fill("power", timeChart(chart, clock, 230));
const axes = new Map(data.axes.map(axis => [axis.name, axis.charts]));
for (const joint of data.joints) {
  const own = axes.get(joint.name) || [];
  axes.delete(joint.name);
  const grid = html("div", { className: "grid" }, ...[...joint.charts, ...own].map(chart => timeChart(chart, clock, 150)));
  fill("joints", html("div", { className: "joint" }, html("h3", { textContent: joint.name }), grid));
}
for (const [name, charts] of axes) if (charts.length)
  fill("joints", html("div", { className: "joint" }, html("h3", { textContent: name }), html("div", { className: "grid" }, ...charts.map(c => timeChart(c, clock, 150)))));
for (const graf of data.graf) fill("graf", regionChart(graf, clock));

const rows = data.margins.map(m => {
  const used = 1 - (m.left ?? -1), bar = html("i");
  bar.style.width = Math.max(0, Math.min(100, 100 * used)) + "%";
  const cells = [m.joint, m.limit, m.value, m.bound, null, tidy(m.t) + " s"].map((text, k) =>
    k === 4 ? html("td", {}, html("span", { className: "used" }, bar), (100 * used).toFixed(1) + " %") : html("td", { textContent: text }));
  return html("tr", { className: m.left < -1e-3 ? "over" : m.left < 0.02 ? "tight" : "" }, ...cells);
});
const body = find("margins").tBodies[0], FIRST = 10;
body.append(...rows.slice(0, FIRST));
if (rows.length > FIRST) {
  const more = html("button", { className: "more", textContent: `show all ${rows.length} limits` });
  more.onclick = () => { body.append(...rows.slice(FIRST)); more.remove(); };
  find("margins").parentNode.after(more);
}
if (!rows.length) find("margins").replaceWith("The robot has no limits.");

const record = data.iterations;
if (record.number.length > 1) {
  fill("iterations", recordChart("cost", record.number, [["cost", record.cost]], false));
  fill("iterations", recordChart("what is left to do", record.number, [["violation", record.violation], ["stationarity", record.stationarity], ["barrier", record.barrier]], true));
}

// time
let running = false, last = null;
const PAUSE = 0.7;
function run(on) {
  running = on; last = null; find("play").textContent = on ? "❚❚" : "▶";
  if (on) requestAnimationFrame(tick);
}
let ahead = 0;
function tick(stamp) {
  if (!running) return;
  if (last !== null) ahead += (stamp - last) / 1000 * find("speed").value;
  last = stamp;
  if (ahead > clock.longest + PAUSE * find("speed").value) ahead = 0;
  clock.show(ahead); requestAnimationFrame(tick);
}
find("play").onclick = () => { ahead = clock.now >= clock.longest ? 0 : clock.now; run(!running); };
find("time").oninput = e => { clock.seek(e.target.value * clock.longest); ahead = clock.now; };
find("ghost").onchange = e => { scene.ghost = e.target.checked; scene.draw(clock.now); };
find("trace").onchange = e => { scene.trace = e.target.checked; scene.draw(clock.now); };
find("home").onclick = () => { scene.home(); scene.draw(clock.now); };
document.addEventListener("keydown", e => {
  if (e.code === "Space" && !["BUTTON", "INPUT", "SELECT", "SUMMARY"].includes(e.target.tagName)) { e.preventDefault(); find("play").click(); }
});
clock.show(0);
run(!matchMedia("(prefers-reduced-motion: reduce)").matches);
