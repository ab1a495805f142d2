// SPDX-License-Identifier: BSD-3-Clause
// The tables below the timeline, of what is in sight: rows (or nodes) with their time in each kind,
// and the calls of the program with their waits. Each is sorted by any of its columns.
"use strict";

const LINES = 256; // of a table, at most
const sorting = { summary: { by: null, isDown: false }, calls: { by: "Time", isDown: true } };

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

// ---- sorting ----
// A column has a name, a value that it is sorted by, and a cell.
function sortLines(id, columns, lines) {
  const { by, isDown } = sorting[id], column = columns.find((one) => one.name === by);
  if (!column) return lines;
  const keyed = lines.map((line, i) => ({ line, i, key: column.value(line) }));
  const compare = (a, b) => typeof a === "string" ? a.localeCompare(b, "en", { numeric: true }) : a - b;
  keyed.sort((a, b) => (isDown ? -1 : 1) * compare(a.key, b.key) || a.i - b.i);
  return keyed.map((one) => one.line);
}

function heading(id, column, onSort) {
  const { by, isDown } = sorting[id], isSorted = by !== null && by === column.name;
  const button = element("button", { className: "sort", title: "Sort by this" }, ...(column.kind ? [swatch(column.kind)] : []), column.name);
  const node = element("th", column.className ? { className: column.className } : {}, column.value ? button : column.name);
  node.setAttribute("aria-sort", !isSorted ? "none" : isDown ? "descending" : "ascending");
  button.addEventListener("click", () => {
    sorting[id] = { by: column.name, isDown: isSorted ? !isDown : !column.isText };
    onSort();
    [...byId(id).querySelectorAll("th button")].find((one) => one.textContent === column.name)?.focus();
  });
  return node;
}

function fillTable(id, columns, lines, total, onSort) {
  const row = (line) => element("tr", {}, ...columns.map((column) => {
    const cell = column.cell(line);
    return element("td", column.className ? { className: column.className } : {}, ...(Array.isArray(cell) ? cell : [cell]));
  }));
  byId(id).replaceChildren(element("thead", {}, element("tr", {}, ...columns.map((column) => heading(id, column, onSort)))),
    element("tbody", {}, ...lines.slice(0, LINES).map(row)), ...(total ? [element("tfoot", {}, row(total))] : []));
}

// ---- rows ----
// Time per kind, idle and overlap of some rows in the window.
function summarize(rows, from, to) {
  const sum = { time: new Float64Array(trace.kinds.length + 1), idle: 0, flight: 0, hidden: 0, caused: 0, whole: rows.length * (to - from) };
  for (const row of rows) {
    const time = timeBetween(row, row.sums, from, to), parts = overlap(trace, row, from, to);
    let busy = 0;
    for (const kind of trace.kinds) {
      sum.time[kind.index] += time[kind.index];
      if (kind.role !== ROLE.IDLE) busy += time[kind.index];
    }
    sum.idle += Math.max(0, to - from - busy);
    sum.flight += parts.flight;
    sum.hidden += parts.hidden;
  }
  return sum;
}

// Waiting in the window, by the rank that causes most of it.
function causedBy(from, to) {
  const w = trace.why.waits, caused = new Float64Array(trace.why.rowOf.length);
  for (let i = 0; i < w.count; i++) {
    const time = Math.min(w.end[i], to) - Math.max(w.start[i], from);
    if (time > 0) caused[w.root[i]] += time;
  }
  return caused;
}

const share = (time, whole) => time > 0 ? [formatTime(time), element("small", { textContent: percent(time, whole) })] : "–";

function summaryColumns() {
  const kinds = usedKinds.filter((kind) => kind.role !== ROLE.IDLE);
  const stack = (line) => element("div", { className: "stack" }, ...kinds.map((kind) => {
    const part = element("i");
    part.style.cssText = `width:${100 * line.time[kind.index] / line.whole}%;background:${painter.css[kind.index]}`;
    return part;
  }));
  return [
    { name: mode === "node" ? "Node" : "Row", value: (line) => line.name, isText: true, cell: (line) => line.name },
    ...kinds.map((kind) => ({ name: kind.name, kind, value: (line) => line.time[kind.index] / line.whole,
      cell: (line) => share(line.time[kind.index], line.whole) })),
    { name: "Idle", value: (line) => line.idle / line.whole, cell: (line) => share(line.idle, line.whole) },
    ...(isByRank() ? [{ name: "Causes", value: (line) => line.caused, cell: (line) => formatTime(line.caused) }] : []),
    { name: "Overlap", value: (line) => line.hidden / (line.flight || 1), cell: (line) => percent(line.hidden, line.flight) },
    { name: "", cell: stack, className: "bar" },
  ];
}

function summaryLines(from, to) {
  byId("causes").hidden = !isByRank();
  const caused = isByRank() ? causedBy(from, to) : null;
  const units = mode === "node" ? groupsOf(trace.rows) : trace.rows.map((row) => ({ name: row.name, rows: [row] }));
  return units.map((unit) => {
    const line = Object.assign(summarize(unit.rows, from, to), unit);
    if (caused) for (const row of unit.rows) line.caused += caused[row.index];
    return line;
  });
}

function fillSummary() {
  const { from, to } = painter.view, whole = to - from, columns = summaryColumns(), lines = summaryLines(from, to);
  const total = { name: `All ${lines.length} ${mode === "node" ? "nodes" : "rows"}${lines.length > LINES ? ` (${LINES} shown)` : ""}`,
    time: new Float64Array(trace.kinds.length + 1), idle: 0, flight: 0, hidden: 0, caused: 0, whole: 0 };
  for (const line of lines) {
    line.time.forEach((time, k) => { total.time[k] += time; });
    for (const key of ["idle", "flight", "hidden", "caused", "whole"]) total[key] += line[key];
  }
  const sorted = sortLines("summary", columns, lines);
  fillTable("summary", columns, sorted, total, () => {
    fillSummary();
    orderRows();
  });
  byId("window").textContent = whole >= trace.span ? "of the whole trace"
    : `from ${formatTime(from, 6)} to ${formatTime(to, 6)} (${formatTime(whole)})`;
  return sorted;
}

// The timeline follows the order of the table.
function orderRows() {
  const { from, to } = painter.view;
  painter.setRows(sortLines("summary", summaryColumns(), summaryLines(from, to)).flatMap((line) => line.rows));
  painter.fitCanvas();
  repaint();
}

// ---- calls ----
function callLines(from, to) {
  const { why } = trace, lines = why.places.map((one, place) => ({ ...one, place, calls: 0, time: 0, wait: new Float64Array(why.kinds.length), roots: new Map() }));
  for (const row of trace.sets.rank.rows) {
    let i = upperBound(row.start, from - .5); // with calls that begin and end at `from`
    while (i > 0 && row.end[i - 1] > from) i--;
    for (; i < row.count && row.start[i] < to; i++) {
      const line = lines[row.place[i]], time = Math.min(row.end[i], to) - Math.max(row.start[i], from), wait = row.wait[i];
      if (row.place[i] === 0 || time < 0) continue;
      if (wait < 0) {
        line.time += time;
        line.calls += row.start[i] >= from;
      } else {
        line.wait[why.waits.kind[wait]] += time;
        line.roots.set(why.waits.root[wait], (line.roots.get(why.waits.root[wait]) ?? 0) + time);
      }
    }
  }
  return lines.filter((line) => line.calls > 0 || line.time > 0);
}

function rootOf(line) {
  let root = -1, most = 0;
  for (const [rank, time] of line.roots) if (time > most) [root, most] = [rank, time];
  return root;
}

function placeButton(line) {
  if (!line.place) return "–";
  const button = element("button", { className: "link", textContent: line.place, title: "Find its states in the timeline" });
  button.addEventListener("click", () => {
    byId("search").value = line.place;
    findStates();
    window.scrollTo({ top: 0 });
  });
  return button;
}

function fillCalls() {
  if (!trace.why) return;
  const { from, to } = painter.view, lines = callLines(from, to), whole = (to - from) * trace.why.rowOf.length;
  const used = trace.why.kinds.filter((_, k) => lines.some((line) => line.wait[k] > 0));
  const shown = lines.map((line) => ({ ...line, place: trace.why.places[line.place].place, root: rootOf(line) }));
  const columns = [
    { name: "Call", value: (line) => line.function, isText: true, cell: (line) => line.function },
    { name: "Line", value: (line) => line.place, isText: true, cell: placeButton, className: "left" },
    { name: "Calls", value: (line) => line.calls, cell: (line) => line.calls.toLocaleString("en") },
    { name: "Time", value: (line) => line.time, cell: (line) => share(line.time, whole) },
    ...used.map((kind) => ({ name: kind.name, kind, value: (line) => line.wait[kind.index - trace.why.first],
      cell: (line) => share(line.wait[kind.index - trace.why.first], line.time) })),
    { name: "Because of", value: (line) => line.root, cell: (line) => line.root < 0 ? "–" : `rank ${line.root}` },
  ];
  fillTable("calls", columns, sortLines("calls", columns, shown), null, fillCalls);
}

function fillTables() {
  fillSummary();
  fillCalls();
}
