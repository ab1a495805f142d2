// SPDX-License-Identifier: BSD-3-Clause
// The page: its parts, and what mouse and keyboard do to them.
"use strict";

const byId = (id) => document.getElementById(id);
const trace = decode(bytesOfBase64(byId("data").textContent));
indexTrace(trace);
const usedKinds = trace.kinds.filter((kind) => kind.time > 0);
const still = matchMedia("(prefers-reduced-motion: reduce)");
const darkMedia = matchMedia("(prefers-color-scheme: dark)");
const frames = []; // how long the last frames took to draw, ms
let painter, isDirty = false, moving = null, summaryTimer = 0;

function element(name, properties, ...children) {
  const node = Object.assign(document.createElement(name), properties);
  node.append(...children);
  return node;
}
function swatch(kind) {
  const node = element("i");
  node.style.background = painter.css[kind.index];
  return node;
}
function percent(part, whole) {
  return whole > 0 ? `${(100 * part / whole).toFixed(1)} %` : "–";
}

// ---- what is in sight ----
function repaint() {
  if (isDirty) return;
  isDirty = true;
  requestAnimationFrame(() => {
    isDirty = false;
    const before = performance.now();
    painter.paint();
    frames.push(performance.now() - before);
    if (frames.length > 240) frames.shift();
  });
}

function look(from, to) {
  const span = Math.max(1, trace.span), width = Math.min(span, Math.max(20, to - from));
  const start = Math.min(Math.max(0, (from + to - width) / 2), span - width);
  painter.view.from = start;
  painter.view.to = start + width;
  repaint();
  clearTimeout(summaryTimer);
  summaryTimer = setTimeout(fillSummary, 120);
}

let glide = 0;
function glideTo(from, to) {
  const { from: a, to: b } = painter.view, began = performance.now();
  cancelAnimationFrame(glide);
  if (still.matches) {
    look(from, to);
    return;
  }
  const step = () => {
    const part = Math.min(1, (performance.now() - began) / 160), ease = 1 - (1 - part) ** 3;
    look(a + (from - a) * ease, b + (to - b) * ease);
    if (part < 1) glide = requestAnimationFrame(step);
  };
  step();
}

function zoom(factor, x = painter.gutter + painter.plot / 2, smooth = false) {
  const { from, to } = painter.view, at = painter.time(x);
  (smooth ? glideTo : look)(at - (at - from) * factor, at + (to - at) * factor);
}
function pan(share, smooth = false) {
  const { from, to } = painter.view, by = Math.max(-from, Math.min(trace.span - to, (to - from) * share));
  (smooth ? glideTo : look)(from + by, to + by);
}
function showAll() { glideTo(0, trace.span); }
function scroll(by) {
  painter.view.scroll = Math.max(0, Math.min(painter.scrollMax, painter.view.scroll + by));
  repaint();
}
function toggleArrows() {
  painter.showArrows = !painter.showArrows;
  for (const id of ["arrows", "legend-arrows"]) byId(id)?.setAttribute("aria-pressed", painter.showArrows);
  repaint();
}

// ---- parts of the page ----
function fillHeader() {
  const l = trace.links;
  document.title = byId("title").textContent = trace.title;
  const bytes = l.bytes.reduce((sum, n) => sum + n, 0), facts = [formatCount(trace.rows.length, "row"),
    formatCount(trace.states, "state"), formatCount(l.count, "message") + (bytes > 0 ? ` (${formatSize(bytes)})` : ""),
    `${formatTime(trace.span)} of ${trace.isVirtual ? "virtual" : "real"} time`];
  if (trace.wall > 0) facts.push(new Date(trace.wall / 1000).toLocaleString());
  byId("facts").textContent = facts.join(" · ");
  byId("damage").hidden = !trace.damage;
  byId("damage").textContent = trace.damage;
  byId("arrows").disabled = l.count === 0;
}

function fillLegend() {
  const whole = trace.span * trace.rows.length;
  byId("legend").replaceChildren(...usedKinds.map((kind) => {
    const node = element("button", { className: "kind", title: "Hide or show" }, swatch(kind), element("b", { textContent: kind.name }),
      element("span", { textContent: percent(kind.time, whole) }));
    node.setAttribute("aria-pressed", !kind.hidden);
    node.addEventListener("click", () => {
      kind.hidden = !kind.hidden;
      node.setAttribute("aria-pressed", !kind.hidden);
      painter.profile = null;
      repaint();
    });
    return node;
  }));
  if (trace.links.count === 0) return;
  const arrows = element("button", { id: "legend-arrows", className: "kind", title: "Hide or show (M)" },
    element("span", { textContent: "\u2192" }), element("b", { textContent: "message" }),
    element("span", { textContent: trace.links.count.toLocaleString() }));
  arrows.setAttribute("aria-pressed", painter.showArrows);
  arrows.addEventListener("click", toggleArrows);
  byId("legend").append(arrows);
}

// Time per kind, idle and overlap of one row in the window.
function summarize(row, from, to) {
  const time = timeBetween(row, row.sums, from, to);
  const busy = trace.kinds.reduce((sum, kind) => sum + (kind.role === ROLE.IDLE ? 0 : time[kind.index]), 0);
  return { time, idle: Math.max(0, to - from - busy), ...overlap(trace, row, from, to) };
}

function summaryLine(name, sum, whole, columns) {
  const cells = columns.map((kind) => element("td", {}, formatTime(sum.time[kind.index]),
    element("small", { textContent: percent(sum.time[kind.index], whole) })));
  const stack = element("div", { className: "stack" }, ...columns.map((kind) => {
    const part = element("i");
    part.style.cssText = `width:${100 * sum.time[kind.index] / whole}%;background:${painter.css[kind.index]}`;
    return part;
  }));
  return element("tr", {}, element("td", { textContent: name }), ...cells,
    element("td", {}, formatTime(sum.idle), element("small", { textContent: percent(sum.idle, whole) })),
    element("td", { textContent: percent(sum.hidden, sum.flight) }), element("td", { className: "bar" }, stack));
}

function fillSummary() {
  const { from, to } = painter.view, whole = to - from, most = 256;
  const columns = usedKinds.filter((kind) => kind.role !== ROLE.IDLE);
  const total = { time: new Float64Array(trace.kinds.length + 1), idle: 0, flight: 0, hidden: 0 };
  const lines = [];
  for (const row of trace.rows) {
    const sum = summarize(row, from, to);
    sum.time.forEach((time, k) => { total.time[k] += time; });
    for (const key of ["idle", "flight", "hidden"]) total[key] += sum[key];
    if (lines.length < most) lines.push(summaryLine(row.name, sum, whole, columns));
  }
  const head = element("tr", {}, element("th", { textContent: "Row" }),
    ...columns.map((kind) => element("th", {}, swatch(kind), kind.name)),
    ...["Idle", "Overlap", ""].map((textContent) => element("th", { textContent })));
  const name = trace.rows.length > most ? `All ${trace.rows.length} rows (${most} shown)` : "All rows";
  byId("summary").replaceChildren(element("thead", {}, head), element("tbody", {}, ...lines),
    element("tfoot", {}, summaryLine(name, total, whole * trace.rows.length, columns)));
  byId("window").textContent = whole >= trace.span ? "of the whole trace"
    : `from ${formatTime(from, 6)} to ${formatTime(to, 6)} (${formatTime(whole)})`;
}

// ---- tooltips ----
function tipFor(x, y) {
  const line = painter.lineAt(y), time = painter.time(x);
  if (!line || x < painter.gutter) return null;
  if (line.series) return tipOfSeries(line.series, time);
  if (!line.row) return null;
  const near = 4 * (painter.view.to - painter.view.from) / painter.plot;
  const mark = trace.marks.find((one) => one.row === line.row.index && Math.abs(one.time - time) < near);
  if (mark) return tipOfMark(mark);
  const state = stateAt(line.row, time);
  if (line.row.isDense) return tipOfColumn(line.row, time) ?? (state >= 0 ? tipOfState(line.row, state) : null);
  return state >= 0 && !trace.kinds[line.row.kind[state]].hidden ? tipOfState(line.row, state) : null;
}

function tip(kind, heading, pairs) {
  const list = element("dl");
  for (const [key, value] of pairs) list.append(element("dt", { textContent: key }), element("dd", { textContent: value }));
  return [element("h3", {}, ...(kind ? [swatch(kind)] : []), heading), list];
}

function tipOfState(row, i) {
  const kind = trace.kinds[row.kind[i]], label = trace.labels[row.label[i]], pairs = [];
  if (label) pairs.push(["kind", kind.name]);
  if (row.id[i] !== -1) pairs.push(["rank or task", row.id[i]]);
  pairs.push(["row", row.name], ["start", formatTime(row.start[i], 7)],
    ["length", formatTime(row.end[i] - row.start[i]) + (row.open.has(i) ? " (never ended)" : "")]);
  for (let p = row.parent[i]; p >= 0; p = row.parent[p])
    pairs.push(["inside", trace.labels[row.label[p]] || trace.kinds[row.kind[p]].name]);
  return tip(kind, label || kind.name, pairs);
}

function tipOfColumn(row, time) {
  const width = (painter.view.to - painter.view.from) / painter.plot, from = time - width, to = time + width;
  const count = upperBound(row.start, to) - upperBound(row.start, from);
  if (count < 2) return null;
  const sums = timeBetween(row, row.sums, from, to), pairs = [["row", row.name], ["around", formatTime(time, 6)]];
  for (const kind of usedKinds) if (sums[kind.index] > 0) pairs.push([kind.name, percent(sums[kind.index], 2 * width)]);
  return tip(null, `${formatCount(count, "state")} in ${formatTime(2 * width, 3)}`, pairs);
}

function tipOfSeries(series, time) {
  const i = upperBound(series.time, time) - 1, counter = trace.counters[series.counter];
  if (i < 0) return null;
  return tip(null, counter.name, [["value", `${Number(series.value[i].toPrecision(6))} ${counter.unit}`],
    ["row", trace.rows[series.row].name], ["since", formatTime(series.time[i], 7)]]);
}

function tipOfMark(mark) {
  const pairs = [["row", trace.rows[mark.row].name], ["time", formatTime(mark.time, 7)]];
  if (mark.id !== -1) pairs.push(["rank or task", mark.id]);
  return tip(null, trace.labels[mark.label] || "mark", pairs);
}

function showTip(event) {
  const box = byId("timeline").getBoundingClientRect(), node = byId("tip");
  const content = moving ? null : tipFor(event.clientX - box.left, event.clientY - box.top);
  node.hidden = !content;
  if (!content) return;
  node.replaceChildren(...content);
  const { width, height } = node.getBoundingClientRect();
  const x = event.clientX + 16 + width > innerWidth ? event.clientX - width - 12 : event.clientX + 16;
  const y = event.clientY + 18 + height > innerHeight ? event.clientY - height - 12 : event.clientY + 18;
  node.style.transform = `translate(${Math.max(4, x)}px, ${Math.max(4, y)}px)`;
}

// ---- mouse and keyboard ----
function select(x, y) {
  const line = painter.lineAt(y), state = line?.row && x >= painter.gutter ? stateAt(line.row, painter.time(x)) : -1;
  painter.selected = state >= 0 ? { row: line.row.index, state } : null;
  repaint();
}

function onWheel(event) {
  event.preventDefault();
  const box = byId("timeline").getBoundingClientRect(), x = event.clientX - box.left, unit = event.deltaMode ? 16 : 1;
  if (x < painter.gutter) scroll(event.deltaY * unit);
  else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
    pan((event.deltaX || event.deltaY) * unit / painter.plot);
  else zoom(Math.exp(event.deltaY * unit * (event.ctrlKey ? .01 : .002)), x);
  showTip(event);
}

function onDown(event) {
  if (event.button !== 0) return;
  const canvas = byId("timeline");
  canvas.setPointerCapture(event.pointerId);
  moving = { x: event.offsetX, y: event.offsetY, atX: event.offsetX, atY: event.offsetY, far: 0, range: event.shiftKey };
  canvas.classList.add(event.shiftKey ? "range" : "moving");
}

function onMove(event) {
  if (!moving) {
    showTip(event);
    return;
  }
  moving.far = Math.max(moving.far, Math.hypot(event.offsetX - moving.x, event.offsetY - moving.y));
  if (moving.range) {
    painter.range = [moving.x, event.offsetX];
    repaint();
  } else if (moving.far > 3) {
    pan((moving.atX - event.offsetX) / painter.plot);
    scroll(moving.atY - event.offsetY);
    moving.atX = event.offsetX;
    moving.atY = event.offsetY;
  }
  byId("tip").hidden = true;
}

function onUp(event) {
  byId("timeline").classList.remove("moving", "range");
  if (!moving) return;
  if (moving.far <= 3) select(event.offsetX, event.offsetY);
  else if (moving.range) {
    const [a, b] = [moving.x, event.offsetX].sort((p, q) => p - q);
    glideTo(painter.time(a), painter.time(b));
  }
  painter.range = moving = null;
  repaint();
}

function onDoubleClick(event) {
  select(event.offsetX, event.offsetY);
  if (!painter.selected) return;
  const row = trace.rows[painter.selected.row], i = painter.selected.state, room = (row.end[i] - row.start[i]) / 8 || 10;
  glideTo(row.start[i] - room, row.end[i] + room);
}

const keys = {
  ArrowLeft: () => pan(-.15, true), ArrowRight: () => pan(.15, true), ArrowUp: () => scroll(-60), ArrowDown: () => scroll(60),
  "+": () => zoom(.6, undefined, true), "=": () => zoom(.6, undefined, true), "-": () => zoom(1 / .6, undefined, true),
  0: showAll, Home: showAll, m: toggleArrows, t: toggleTheme, "/": () => byId("search").focus(),
  Escape: () => { painter.selected = null; repaint(); },
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === byId("search")) {
    if (event.key === "Escape") {
      byId("search").value = "";
      find();
      byId("timeline").focus();
    }
    return;
  }
  const action = keys[event.key] ?? keys[event.key.toLowerCase()];
  const vertical = event.key === "ArrowUp" || event.key === "ArrowDown";
  if (!action || (vertical && painter.scrollMax === 0)) return;
  event.preventDefault();
  action();
}

function onOverview(event) {
  if (!(event.buttons & 1)) return;
  const box = byId("overview").getBoundingClientRect(), { from, to } = painter.view;
  const at = (event.clientX - box.left - painter.gutter) / painter.plot * trace.span, half = (to - from) / 2;
  const middle = Math.min(Math.max(at, half), trace.span - half);
  look(middle - half, middle + half);
}

function find() {
  const text = byId("search").value, hits = search(trace, text);
  byId("hits").textContent = text.trim() ? `${hits.toLocaleString("en")} found` : "";
  painter.profile = null;
  repaint();
}

// ---- theme ----
function setTheme(isDark) {
  document.documentElement.classList.toggle("dark", isDark);
  if (!painter) return;
  painter.readTheme();
  painter.profile = null;
  fillLegend();
  fillSummary();
  repaint();
}
function toggleTheme() { setTheme(!painter.dark); }

function start() {
  setTheme(darkMedia.matches);
  painter = new Painter(trace, byId("timeline"), byId("overview"));
  fillHeader();
  fillLegend();
  fillSummary();
  const canvas = byId("timeline");
  canvas.addEventListener("wheel", onWheel, { passive: false });
  canvas.addEventListener("pointerdown", onDown);
  canvas.addEventListener("pointermove", onMove);
  canvas.addEventListener("pointerup", onUp);
  canvas.addEventListener("pointercancel", onUp);
  canvas.addEventListener("pointerleave", () => { byId("tip").hidden = true; });
  canvas.addEventListener("dblclick", onDoubleClick);
  for (const name of ["pointerdown", "pointermove"]) byId("overview").addEventListener(name, onOverview);
  byId("arrows").addEventListener("click", toggleArrows);
  byId("theme").addEventListener("click", toggleTheme);
  byId("in").addEventListener("click", () => zoom(.5, undefined, true));
  byId("out").addEventListener("click", () => zoom(2, undefined, true));
  byId("all").addEventListener("click", showAll);
  byId("search").addEventListener("input", find);
  addEventListener("keydown", onKey);
  addEventListener("resize", () => { painter.resize(); repaint(); });
  darkMedia.addEventListener("change", (event) => setTheme(event.matches));
  repaint();
}

start();

// For scripts and tests: what the page shows, in numbers.
window.xylem = {
  trace, frames, look,
  inspect: () => ({
    rows: trace.rows.map((row) => row.name), kinds: usedKinds.map((kind) => kind.name), states: trace.states,
    links: trace.links.count, from: painter.view.from, to: painter.view.to, span: trace.span, dark: painter.dark,
    gutter: painter.gutter, height: painter.height, arrows: painter.arrows,
    rowTop: trace.rows.map((row) => painter.top(row.line) + row.line.h / 2),
    summary: trace.rows.map((row) => {
      const sum = summarize(row, painter.view.from, painter.view.to);
      return { ...sum, time: Object.fromEntries(usedKinds.map((kind) => [kind.name, sum.time[kind.index]])) };
    }),
  }),
};
