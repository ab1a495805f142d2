// SPDX-License-Identifier: BSD-3-Clause
// The page: its parts, and what mouse and keyboard do to them.
"use strict";

const byId = (id) => document.getElementById(id);
const trace = decode(bytesOfBase64(byId("data").textContent));
trace.sets = makeSets(trace);
let mode, usedKinds; // rows by "rank", "core" or "node"
const still = matchMedia("(prefers-reduced-motion: reduce)");
const darkMedia = matchMedia("(prefers-color-scheme: dark)");
const frames = []; // how long the last frames took to draw, ms
let painter, isDirty = false, moving = null, tableTimer = 0, sharpTimer = 0, lastMove = 0;

// ---- what is in sight ----
function repaint() {
  if (isDirty) return;
  isDirty = true;
  requestAnimationFrame(() => {
    isDirty = false;
    const before = performance.now();
    painter.isQuick = before - lastMove < 120;
    painter.paint();
    frames.push(performance.now() - before);
    if (frames.length > 240) frames.shift();
    if (!painter.isCoarse) return;
    clearTimeout(sharpTimer);
    sharpTimer = setTimeout(repaint, 150);
  });
}

// ---- rows ----
const isByRank = () => trace.rows === trace.sets.rank?.rows;

function setMode(wanted) {
  mode = wanted;
  useSet(trace, mode === "node" ? (trace.sets.rank ? "rank" : "core") : mode);
  usedKinds = trace.kinds.filter((kind) => kind.time > 0);
  for (const button of byId("modes").children) button.setAttribute("aria-pressed", button.id === `by-${mode}`);
  if (!painter) return;
  sorting.summary = { by: null, isDown: false };
  painter.pitch = null;
  painter.view.scroll = 0;
  painter.cause = -1;
  painter.setRows();
  painter.folded = new Set(mode === "node" ? painter.groups.map((group) => group.name) : []);
  painter.resize();
  fillLegend();
  fillTables();
  showCause(-1);
  findStates();
}

function makeModes() {
  const groups = groupsOf(trace.rows).length, isMany = groups > 1 && groups < trace.rows.length, isRanks = trace.rows.every((row) => /^rank \d/.test(row.name));
  const wanted = [...(trace.sets.rank ? [["rank", "Ranks", "Rows by rank, with calls and waits"]] : []),
    ["core", trace.sets.rank && isRanks ? "Recorded" : trace.rows.every((row) => /^core \d/.test(row.name)) ? "Cores" : "Rows", "Rows as they were recorded"],
    ...(isMany ? [["node", "Nodes", "One row for each node; click a node to unfold it"]] : [])];
  byId("modes").hidden = wanted.length < 2;
  byId("modes").replaceChildren(...wanted.map(([name, textContent, title]) => {
    const button = element("button", { id: `by-${name}`, textContent, title: `${title} (R)` });
    button.addEventListener("click", () => setMode(name));
    return button;
  }));
}

function nextMode() {
  const all = [...byId("modes").children].map((button) => button.id.slice(3));
  setMode(all[(all.indexOf(mode) + 1) % all.length]);
}

function fold(group) {
  if (!painter.folded.delete(group.name)) painter.folded.add(group.name);
  painter.fitCanvas();
  repaint();
}

function foldAll() {
  if (!painter.isGrouped) return;
  painter.folded = new Set(painter.folded.size ? [] : painter.groups.map((group) => group.name));
  painter.fitCanvas();
  repaint();
}

function zoomRows(factor, y) {
  lastMove = performance.now();
  painter.zoomRows(factor, y);
  repaint();
}

function look(from, to) {
  const span = Math.max(1, trace.span), width = Math.min(span, Math.max(20, to - from));
  const start = Math.min(Math.max(0, (from + to - width) / 2), span - width);
  painter.view.from = start;
  painter.view.to = start + width;
  lastMove = performance.now();
  repaint();
  clearTimeout(tableTimer);
  tableTimer = setTimeout(refreshTables, 150);
}

// Not while something moves: that would cost a frame.
function refreshTables() {
  if (moving) tableTimer = setTimeout(refreshTables, 150);
  else fillTables();
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
function showAll() {
  painter.pitch = null;
  painter.fitCanvas();
  glideTo(0, trace.span);
}
function scroll(by) {
  painter.view.scroll = Math.max(0, Math.min(painter.scrollMax, painter.view.scroll + by));
  lastMove = performance.now();
  repaint();
}
function toggleArrows() {
  painter.showArrows = !painter.showArrows;
  for (const id of ["arrows", "legend-arrows"]) byId(id)?.setAttribute("aria-pressed", painter.showArrows);
  repaint();
}

// ---- parts of the page ----
function fillHeader() {
  const l = trace.sets.core.links, ranks = trace.why ? [formatCount(trace.why.rowOf.length, "rank")] : [];
  document.title = byId("title").textContent = trace.title;
  const rows = trace.sets.core.rows, areAll = (name) => rows.every((row) => name.test(row.name));
  const recorded = ranks.length > 0 && areAll(/^rank \d/) ? [] : [formatCount(rows.length, areAll(/^core \d/) ? "core" : "row")];
  const bytes = l.bytes.reduce((sum, n) => sum + n, 0), facts = [...ranks, ...recorded,
    formatCount(trace.states, "state"), formatCount(l.count, "message") + (bytes > 0 ? ` (${formatSize(bytes)})` : ""),
    `${formatTime(trace.span)} of ${trace.isVirtual ? "virtual" : "real"} time`];
  if (trace.wall > 0) facts.push(new Date(trace.wall / 1000).toLocaleString());
  byId("facts").textContent = facts.join(" · ");
  byId("damage").hidden = !trace.damage;
  byId("damage").textContent = trace.damage;
  byId("arrows").disabled = l.count === 0;
  byId("calls-part").hidden = !trace.why;
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

// ---- tooltips ----
function tipFor(x, y) {
  const line = painter.lineAt(y), time = painter.time(x);
  if (!line || x < painter.gutter) return null;
  if (line.isFolded) return tipOfGroup(line.group, time);
  if (line.series) return tipOfSeries(line.series, time);
  if (!line.row) return null;
  const near = 4 * (painter.view.to - painter.view.from) / painter.plot;
  const mark = trace.marks.find((one) => painter.rowOfMark(one) === line.row && Math.abs(one.time - time) < near);
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
  pairs.push(...pairsOfCall(row, i));
  if (row.id[i] !== -1) pairs.push(["rank or task", row.id[i]]);
  pairs.push(["row", row.name], ["start", formatTime(row.start[i], 7)],
    ["length", formatTime(row.end[i] - row.start[i]) + (row.open.has(i) ? " (never ended)" : "")]);
  for (let p = row.parent[i]; p >= 0 && !row.place; p = row.parent[p])
    pairs.push(["inside", trace.labels[row.label[p]] || trace.kinds[row.kind[p]].name]);
  return tip(kind, label || kind.name, pairs);
}

// The call that a state belongs to, with its line, and for whom it waits.
function pairsOfCall(row, i, time = (row.start[i] + row.end[i]) / 2) {
  if (!trace.why) return [];
  const own = row.place ? row : trace.sets.rank.rows[row.id[i]], state = row.place ? i : own ? stateAt(own, time) : -1;
  if (state < 0 || !own.place[state]) return [];
  const { why } = trace, w = own.wait[state], { function: name, place } = why.places[own.place[state]], pairs = [["call", name]];
  if (place) pairs.push(["line", place]);
  if (w < 0) return pairs;
  pairs.push(["waits for", rankAt(why.waits.who[w], why.waits.place[w])]);
  if (why.waits.root[w] !== why.waits.who[w]) pairs.push(["because of", rankAt(why.waits.root[w], why.waits.rootPlace[w])]);
  return pairs;
}

// "rank 3, before MPI_Send at ring.c:25"
function rankAt(rank, place) {
  const name = placeName(trace, place);
  return name ? `rank ${rank}, before ${name}` : `rank ${rank}`;
}

function tipOfGroup(group, time) {
  const width = (painter.view.to - painter.view.from) / painter.plot, sum = summarize(group.rows, time - width, time + width);
  const pairs = [["around", formatTime(time, 6)]];
  for (const kind of usedKinds) if (sum.time[kind.index] > 0) pairs.push([kind.name, percent(sum.time[kind.index], sum.whole)]);
  return tip(null, `${group.name}: ${formatCount(group.rows.length, "row")}`, pairs);
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
    ["row", trace.sets.core.rows[series.row].name], ["since", formatTime(series.time[i], 7)]]);
}

function tipOfMark(mark) {
  const pairs = [["row", trace.sets.core.rows[mark.row].name], ["time", formatTime(mark.time, 7)]];
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

// ---- causes of waits ----
// Say whom a wait is for, and why; -1: none.
function showCause(i) {
  painter.cause = i;
  const node = byId("why"), w = trace.why?.waits;
  node.hidden = !trace.why;
  if (!trace.why) return;
  if (i < 0) {
    node.replaceChildren(w.count ? "Click a wait, or press W for the longest in sight, to see whom it waits for." : "No rank waits for another.");
    return;
  }
  const row = trace.sets.rank.rows[w.rank[i]], state = stateAt(row, (w.start[i] + w.end[i]) / 2), go = (rank, time) => {
    const button = element("button", { className: "link", textContent: `rank ${rank}` });
    button.addEventListener("click", () => goTo(rank, time));
    return button;
  };
  const at = (place) => placeName(trace, place) ? `, before ${placeName(trace, place)}` : "";
  const text = [go(w.rank[i], w.end[i]), ` waits ${formatTime(w.end[i] - w.start[i])} in ${placeName(trace, row.place[state])} (${trace.why.kinds[w.kind[i]].name}) for `,
    go(w.who[i], w.end[i]), at(w.place[i])];
  if (w.root[i] !== w.who[i])
    text.push("; that one waits itself: ", percent(w.rootTime[i], w.end[i] - w.start[i]), " of it because of ", go(w.root[i], w.rootEnd[i]), at(w.rootPlace[i]));
  node.replaceChildren(...text, ".");
}

function lineOf(rank) {
  return isByRank() ? trace.rows[rank] : trace.rows[trace.why.rowOf[rank]];
}

function goTo(rank, time) {
  const row = lineOf(rank), half = (painter.view.to - painter.view.from) / 2;
  if (!row) return;
  painter.showRow(row);
  if (time < painter.view.from || time > painter.view.to) glideTo(time - half, time + half);
  repaint();
}

// The longest wait in sight, then the next: the window stays unless the wait is a few pixels wide.
function nextWait() {
  if (!trace.why?.waits.count) return;
  const w = trace.why.waits, { from, to } = painter.view, length = (i) => w.end[i] - w.start[i];
  const isAfter = (i) => painter.cause < 0 || length(i) < length(painter.cause) || (length(i) === length(painter.cause) && i > painter.cause);
  let best = -1;
  for (let i = 0; i < w.count; i++)
    if (w.start[i] >= from && w.end[i] <= to && isAfter(i) && (best < 0 || length(i) > length(best))) best = i;
  painter.selected = null;
  showCause(best);
  if (best >= 0) painter.showRow(lineOf(w.rank[best]));
  repaint();
}

// ---- mouse and keyboard ----
function select(x, y) {
  const line = painter.lineAt(y), state = line?.row && x >= painter.gutter ? stateAt(line.row, painter.time(x)) : -1;
  painter.selected = state >= 0 ? { row: line.row.index, state } : null;
  showCause(state < 0 || !trace.why ? -1 : line.row.wait ? line.row.wait[state] : waitAt(trace, line.row.id[state], painter.time(x)));
  repaint();
}

function press(x, y) {
  const group = x < painter.gutter ? painter.groupAt(y) : undefined;
  if (group) fold(group);
  else select(x, y);
}

function onWheel(event) {
  event.preventDefault();
  const box = byId("timeline").getBoundingClientRect(), x = event.clientX - box.left, unit = event.deltaMode ? 16 : 1;
  if (x < painter.gutter && (event.shiftKey || painter.fitPitch >= 30)) scroll((event.deltaY || event.deltaX) * unit);
  else if (x < painter.gutter) zoomRows(Math.exp(-event.deltaY * unit * .002), event.clientY - box.top);
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
    painter.range = [moving.x, event.offsetX, moving.y, event.offsetY];
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
  if (moving.far <= 3) press(event.offsetX, event.offsetY);
  else if (moving.range) {
    const [a, b] = [moving.x, event.offsetX].sort((p, q) => p - q), [c, d] = [moving.y, event.offsetY].sort((p, q) => p - q);
    if (painter.range && painter.isBox()) painter.zoomRowsTo(c, d);
    glideTo(painter.time(a), painter.time(b));
  }
  painter.range = moving = null;
  repaint();
}

function onDoubleClick(event) {
  if (event.offsetX < painter.gutter) return;
  if (painter.used < NAMED) { // from the heat map to single rows
    zoomRows((18 + GAP) / painter.used, event.offsetY);
    return;
  }
  select(event.offsetX, event.offsetY);
  if (!painter.selected) return;
  const row = trace.rows[painter.selected.row], i = painter.selected.state, room = (row.end[i] - row.start[i]) / 8 || 10;
  glideTo(row.start[i] - room, row.end[i] + room);
}

const keys = {
  ArrowLeft: () => pan(-.15, true), ArrowRight: () => pan(.15, true), ArrowUp: () => scroll(-60), ArrowDown: () => scroll(60),
  "+": () => zoom(.6, undefined, true), "=": () => zoom(.6, undefined, true), "-": () => zoom(1 / .6, undefined, true),
  0: showAll, Home: showAll, m: toggleArrows, t: toggleTheme, "/": () => byId("search").focus(),
  w: nextWait, r: nextMode, f: foldAll, "]": () => zoomRows(1.5), "[": () => zoomRows(1 / 1.5),
  PageUp: () => scroll(40 - painter.height), PageDown: () => scroll(painter.height - 40),
  Escape: () => {
    painter.selected = null;
    showCause(-1);
    repaint();
  },
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === byId("search")) {
    if (event.key === "Escape") {
      byId("search").value = "";
      findStates();
      byId("timeline").focus();
    }
    return;
  }
  const action = keys[event.key] ?? keys[event.key.toLowerCase()];
  const vertical = /^(Arrow(Up|Down)|Page)/.test(event.key);
  if (event.target.closest?.("button, table") && /^(Arrow|Page|Home|[wrf]$)/i.test(event.key)) return;
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

function findStates() {
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
  fillTables();
  repaint();
}
function toggleTheme() { setTheme(!painter.dark); }

function start() {
  setTheme(darkMedia.matches);
  makeModes();
  setMode(trace.sets.rank ? "rank" : "core");
  painter = new Painter(trace, byId("timeline"), byId("overview"));
  fillHeader();
  fillLegend();
  showCause(-1);
  painter.resize(); // now that the parts above it have their heights
  fillTables();
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
  byId("search").addEventListener("input", findStates);
  addEventListener("keydown", onKey);
  addEventListener("resize", () => { painter.resize(); repaint(); });
  darkMedia.addEventListener("change", (event) => setTheme(event.matches));
  let wasDark = false;
  addEventListener("beforeprint", () => {
    wasDark = painter.dark;
    if (wasDark) setTheme(false);
    painter.isQuick = false;
    painter.paint();
  });
  addEventListener("afterprint", () => { if (wasDark) setTheme(true); });
  repaint();
}

start();

// For scripts and tests: what the page shows, in numbers.
window.xylem = {
  trace, frames, look, setMode, zoomRows,
  inspect: () => ({
    rows: trace.rows.map((row) => row.name), kinds: usedKinds.map((kind) => kind.name), states: trace.states,
    links: trace.links.count, from: painter.view.from, to: painter.view.to, span: trace.span, dark: painter.dark,
    gutter: painter.gutter, height: painter.height, arrows: painter.arrows, mode, cause: painter.cause,
    modes: [...byId("modes").children].map((button) => button.id.slice(3)), pitch: painter.used, scrollMax: painter.scrollMax,
    lines: painter.lines.map((line) => line.row?.name ?? line.group?.name ?? "counter"), folded: [...painter.folded],
    rowTop: trace.rows.map((row) => painter.top(row.line) + row.line.h / 2),
    calls: trace.why ? callLines(painter.view.from, painter.view.to).map((line) => ({ function: line.function,
      place: trace.why.places[line.place].place, calls: line.calls, time: line.time, root: rootOf(line),
      wait: Object.fromEntries(trace.why.kinds.map((kind, k) => [kind.name, line.wait[k]])) })) : null,
    summary: trace.rows.map((row) => {
      const sum = summarize([row], painter.view.from, painter.view.to);
      return { ...sum, time: Object.fromEntries(usedKinds.map((kind) => [kind.name, sum.time[kind.index]])) };
    }),
  }),
};
