// Charts as SVG, drawn again when their width changes; charts over time carry a cursor.
const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#8a8f98", "#999933"];
const BANDS = { drawn: "#56B4E9", returned: "#009E73", potential: "#E69F00", kinetic: "#E69F00", capacitor: "#E69F00", copper: "#D55E00", resistor: "#8a8f98", friction: "#CC79A7", gear: "#999933", iron: "#6f8fb5", amplifier: "#44AA99", "supply loss": "#b8a98c" };
const make = (name, attributes = {}, ...children) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
};
const html = (name, attributes = {}, ...children) => {
  const node = Object.assign(document.createElement(name), attributes);
  node.append(...children);
  return node;
};
const tidy = x => x === null || x === undefined || !isFinite(x) ? "–" : Math.abs(x) >= 1e5 || (x !== 0 && Math.abs(x) < 1e-3) ? x.toExponential(1) : String(+x.toPrecision(3));

let clips = 0;

function ticks(low, high, most) {
  const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 2.5, 5, 10].map(k => k * power).find(x => x >= rough);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(+(k * step).toPrecision(12));
  return found;
}
function extent(values) {
  const finite = values.filter(x => x !== null && isFinite(x)), low = Math.min(...finite), high = Math.max(...finite);
  return finite.length ? [low, high] : [0, 1];
}
// The value range of a chart: the data, and limits that the data come near to.
function range(chart) {
  let [low, high] = extent(chart.series.flatMap(s => s.y));
  if (chart.zero) { low = Math.min(low, 0); high = Math.max(high, 0); }
  for (const limit of chart.limits) {
    if (limit >= 0 && high > 0.45 * limit) high = Math.max(high, limit);
    if (limit <= 0 && low < 0.45 * limit) low = Math.min(low, limit);
  }
  // what hardly moves is drawn as what it is
  const least = Math.max(1e-4, 0.02 * Math.max(0, ...chart.limits.map(Math.abs)));
  if (high - low < least) { const middle = (low + high) / 2; low = middle - least / 2; high = middle + least / 2; }
  const pad = 0.06 * (high - low);
  return [low - pad, high + pad];
}
// A chart that fills its figure's width: draw(width, height) gives the content.
function responsive(figure, height, draw) {
  const svg = make("svg", { role: "img" });
  figure.append(svg);
  let width = 0;
  const again = () => {
    const now = Math.round(figure.clientWidth);
    if (!now || now === width) return;
    width = now;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`); svg.style.height = height + "px";
    svg.replaceChildren(...draw(width, height, svg));
  };
  new ResizeObserver(again).observe(figure); again();
  return svg;
}
// numbers beside an axis: as many decimals as tell neighbours apart
function plain(marks) {
  const step = marks.length > 1 ? marks[1] - marks[0] : 1, most = Math.max(...marks.map(Math.abs), 0);
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9) + (Math.round(step / 10 ** Math.floor(Math.log10(step) + 1e-9) * 10) % 10 ? 1 : 0));
  return most >= 1e5 || digits > 4 ? tidy : x => x.toFixed(digits);
}
function frame(width, height, [x0, x1], [y0, y1], format) {
  const left = 42, right = width - 6, top = 8, bottom = height - 22, parts = [];
  const X = x => left + (x - x0) / (x1 - x0) * (right - left), Y = y => bottom - (y - y0) / (y1 - y0) * (bottom - top);
  const up = ticks(y0, y1, Math.max(3, (bottom - top) / 32)), across = ticks(x0, x1, Math.max(3, (right - left) / 58));
  const label = format || plain(up), below = plain(across);
  for (const y of up) {
    parts.push(make("line", { class: "gridline", x1: left, x2: right, y1: Y(y), y2: Y(y) }), make("text", { x: left - 6, y: Y(y) + 4, "text-anchor": "end" }, label(y)));
  }
  for (const x of across) parts.push(make("text", { x: Math.min(X(x), right - 8), y: bottom + 15, "text-anchor": "middle" }, below(x)));
  if (y0 < 0 && y1 > 0) parts.push(make("line", { class: "zero", x1: left, x2: right, y1: Y(0), y2: Y(0) }));
  return { left, right, top, bottom, X, Y, parts };
}
function path(xs, ys, X, Y) {
  let text = "", pen = "M";
  for (let k = 0; k < xs.length; k++) {
    if (ys[k] === null || xs[k] === null) { pen = "M"; continue; }
    text += `${pen}${X(xs[k]).toFixed(1)} ${Y(ys[k]).toFixed(1)}`; pen = "L";
  }
  return text;
}
function valueAt(series, time) {
  const { x, y } = series;
  let k = x.findIndex(t => t > time);
  if (k < 0) return y[y.length - 1];
  if (k === 0) return y[0];
  const u = (time - x[k - 1]) / (x[k] - x[k - 1]);
  return y[k - 1] === null || y[k] === null ? null : (1 - u) * y[k - 1] + u * y[k];
}

// A chart over time. clock: {longest, seek, watch}.
function timeChart(chart, clock, height) {
  const reading = html("output"), name = html("span", {}, html("b", { textContent: chart.title }), ` ${chart.unit}`);
  const figure = html("figure", { className: "timed" }, html("figcaption", {}, name, reading));
  let cursor = null, area = null;
  const svg = responsive(figure, height, (width, tall) => {
    const a = area = frame(width, tall, [0, clock.longest], range(chart)), [low, high] = range(chart);
    for (const limit of chart.limits) {
      if (limit < low || limit > high) continue;
      const y = a.Y(limit), up = limit > (low + high) / 2;
      a.parts.push(make("rect", { class: "beyond", x: a.left, width: a.right - a.left, y: up ? a.top : y, height: Math.max(0, up ? y - a.top : a.bottom - y) }),
        make("line", { class: "limit", x1: a.left, x2: a.right, y1: y, y2: y }));
    }
    chart.series.forEach((s, k) => {
      const line = make("path", { class: `line ${chart.many ? "" : s.name}`, d: path(s.x, s.y, a.X, a.Y) });
      if (chart.many) line.style.stroke = COLOURS[k % COLOURS.length];
      a.parts.push(line);
    });
    cursor = make("line", { class: "cursor", y1: a.top, y2: a.bottom });
    place(clock.now);
    return [...a.parts, cursor];
  });
  function place(time) {
    if (!cursor) return;
    const x = area.X(Math.min(time, clock.longest));
    cursor.setAttribute("x1", x); cursor.setAttribute("x2", x);
    reading.textContent = chart.many ? "" : tidy(valueAt(chart.series[chart.series.length - 1], time));
  }
  const seek = e => {
    const box = svg.getBoundingClientRect(), x = (e.clientX - box.left) * (parseFloat(svg.getAttribute("viewBox").split(" ")[2]) / box.width);
    clock.seek(Math.max(0, Math.min(1, (x - area.left) / (area.right - area.left))) * clock.longest);
  };
  svg.addEventListener("pointerdown", e => { svg.setPointerCapture(e.pointerId); seek(e); });
  svg.addEventListener("pointermove", e => { if (e.buttons) seek(e); });
  clock.watch(place);
  if (chart.many) figure.append(keys(chart.series.map((s, k) => [s.name, COLOURS[k % COLOURS.length]])));
  else if (chart.limits.length) name.append(` · limit ${limits(chart.limits)}`);
  return figure;
}
const limits = ([low, high]) => high === undefined ? tidy(low) : low === -high ? `±${tidy(high)}` : `${tidy(low)} … ${tidy(high)}`;
function keys(pairs) {
  const row = html("div", { className: "keys" });
  for (const [name, colour] of pairs) { const swatch = html("span", { className: "swatch" }); swatch.style.background = colour; row.append(swatch, name); }
  return row;
}

// Current against velocity with the region that the limits leave.
function regionChart(graf, clock) {
  const figure = html("figure", {}, html("figcaption", {}, html("span", {}, html("b", { textContent: graf.name }), ` A against ${graf.unit}`)));
  let dot = null, area = null;
  responsive(figure, 190, (width, height) => {
    const { x, low, high } = graf.region, pad = ([a, b]) => [a - 0.05 * (b - a || 1), b + 0.05 * (b - a || 1)];
    // the region, or a window on it where the motion uses but a small part
    const window = (all, own) => { const [l, h] = extent(all), most = 2.6 * Math.max(...own.map(Math.abs), 0.02 * (h - l)); return pad([Math.max(l, -most), Math.min(h, most)]); };
    const a = area = frame(width, height, window([...x, ...graf.v], graf.v), window([...low, ...high, ...graf.i], graf.i));
    const name = `clip${clips++}`, clip = make("clipPath", { id: name }, make("rect", { x: a.left, y: a.top, width: a.right - a.left, height: a.bottom - a.top }));
    a.parts.push(make("defs", {}, clip));
    const there = x.map((_, k) => k).filter(k => low[k] !== null && high[k] !== null);
    const above = there.map(k => [x[k], high[k]]), below = there.map(k => [x[k], low[k]]).reverse();
    const drawn = points => path(points.map(p => p[0]), points.map(p => p[1]), a.X, a.Y);
    // where only a part of the region is shown, its sides are no limits
    const edges = graf.region.whole ? drawn([...above, ...below]) + "Z" : drawn(above) + drawn(below);
    if (there.length) a.parts.push(make("path", { class: "region", "clip-path": `url(#${name})`, d: drawn([...above, ...below]) + "Z" }),
      make("path", { class: "edge", "clip-path": `url(#${name})`, d: edges }));
    a.parts.push(make("path", { class: "line plan", d: path(graf.v, graf.i, a.X, a.Y) }));
    dot = make("circle", { class: "dot", r: 4.5 });
    place(clock.now);
    return [...a.parts, dot];
  });
  function place(time) {
    if (!dot) return;
    dot.setAttribute("cx", area.X(valueAt({ x: graf.t, y: graf.v }, time))); dot.setAttribute("cy", area.Y(valueAt({ x: graf.t, y: graf.i }, time)));
  }
  clock.watch(place);
  return figure;
}

// Energy in on the left, out on the right, as bands; `total` is the height's scale, the same for both motions.
function flowChart(name, flows, total) {
  const figure = html("figure", {}, html("figcaption", {}, html("span", {}, html("b", { textContent: name }), ` ${tidy(flows.net)} J net from the supply`)));
  responsive(figure, 250, (width, height) => {
    const parts = [], gap = 9, tall = height - 20 - gap * Math.max(flows.in.length - 1, flows.out.length - 1, 0);
    const inner = [width * 0.44, width * 0.56], side = Math.min(width * 0.3, 128);
    for (const [bands, outer, inside, anchor] of [[flows.in, side, inner[0], "end"], [flows.out, width - side, inner[1], "start"]]) {
      const sum = bands.reduce((s, b) => s + b[1], 0), scale = tall / total;
      let tip = (height - sum * scale - gap * (bands.length - 1)) / 2, stack = (height - sum * scale) / 2;
      bands.forEach(([what, joules]) => {
        const h = joules * scale, bend = (outer + inside) / 2, colour = BANDS[what] || "#8a8f98";
        parts.push(make("path", { d: `M${outer} ${tip}C${bend} ${tip} ${bend} ${stack} ${inside} ${stack}V${stack + h}C${bend} ${stack + h} ${bend} ${tip + h} ${outer} ${tip + h}Z`, fill: colour, opacity: 0.72 }));
        parts.push(make("text", { class: "flowtext", x: outer + (anchor === "end" ? -7 : 7), y: tip + h / 2 + 4, "text-anchor": anchor }, `${what} ${tidy(joules)} J`));
        tip += Math.max(h + gap, 15); stack += h;
      });
      parts.push(make("rect", { x: inner[0], width: inner[1] - inner[0], y: (height - sum * scale) / 2, height: sum * scale, fill: "var(--line)" }));
    }
    return parts;
  });
  return figure;
}

// The record of the search: on a scale of powers of ten, or plain.
function recordChart(title, numbers, columns, powers) {
  const y = v => powers ? Math.log10(Math.max(v ?? 1e-16, 1e-16)) : v;
  const chart = { series: columns.map(([, values]) => ({ y: values.map(y) })), limits: [] };
  const figure = html("figure", {}, html("figcaption", {}, html("b", { textContent: title })));
  responsive(figure, 200, (width, height) => {
    const a = frame(width, height, [0, Math.max(1, numbers.length - 1)], range(chart), powers ? v => Number.isInteger(v) ? `1e${v}` : "" : null);
    chart.series.forEach((s, k) => {
      const line = make("path", { class: "line", d: path(numbers.map((_, i) => i), s.y, a.X, a.Y) });
      line.style.stroke = COLOURS[k % COLOURS.length]; a.parts.push(line);
    });
    return a.parts;
  });
  figure.append(keys(columns.map(([name], k) => [name, COLOURS[k % COLOURS.length]])));
  return figure;
}
