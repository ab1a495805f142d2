// SPDX-License-Identifier: BSD-3-Clause
// Rows: as they were recorded (cores, mostly), or one for each rank with its computation, its calls
// and, inside these, its waits; in groups (nodes), which fold.
"use strict";

const CALL_COLOUR = 0x9467bd;

// Rows of both sorts; "rank" only where the analysis is there.
function makeSets(trace) {
  const rank = trace.why && { rows: makeRankRows(trace), links: trace.why.messages };
  if (rank) mergeCores(trace);
  return { core: { rows: trace.rows, links: trace.links }, ...(rank && { rank }) };
}

// Rows that were recorded by rank, of ranks that share cores: one row for each core.
function mergeCores(trace) {
  const cores = [...new Set(trace.rows.map((row) => row.core))].sort((a, b) => a - b);
  if (cores.length === trace.rows.length || cores.includes(undefined)) return;
  const at = new Map(cores.map((core, i) => [core, i])), to = trace.rows.map((row) => at.get(row.core));
  const wait = trace.kinds.find((kind) => kind.role === ROLE.WAIT)?.index ?? 0;
  trace.rows = cores.map((core, index) => mergeRows(trace, { index, name: `core ${core}` }, trace.rows.filter((row) => row.core === core), wait));
  trace.links = { ...trace.links, from: trace.links.from.map((row) => to[row]), to: trace.links.to.map((row) => to[row]) };
  trace.why.rowOf = trace.why.rowOf.map((row) => row < 0 ? row : to[row]);
  for (const mark of trace.marks) mark.row = to[mark.row];
}

// What the ranks compute, one after the other; between that all of them wait.
function mergeRows(trace, into, rows, wait) {
  const states = [];
  for (const row of rows)
    for (let i = 0; i < row.count; i++)
      if (trace.kinds[row.kind[i]].role === ROLE.COMPUTE)
        states.push({ start: row.start[i], end: row.end[i], kind: row.kind[i], label: row.label[i], id: row.id[i] });
  states.sort((a, b) => a.start - b.start);
  const all = [];
  let last = 0;
  for (const state of states) {
    if (state.start > last) all.push({ start: last, end: state.start, kind: wait, label: 0, id: -1 });
    all.push({ ...state, start: Math.max(last, state.start) });
    last = Math.max(last, state.end);
  }
  const column = (Type, name) => Type.from(all, (state) => state[name]);
  return { ...into, group: rows[0].group, count: all.length, start: column(Float64Array, "start"), end: column(Float64Array, "end"),
    kind: column(Uint16Array, "kind"), label: column(Uint32Array, "label"), id: column(Float64Array, "id"), open: new Set() };
}

function useSet(trace, name) {
  trace.rows = trace.sets[name].rows;
  trace.links = trace.sets[name].links;
  indexTrace(trace);
}

function callKind(trace) {
  const known = trace.kinds.find((kind) => kind.name === "MPI");
  if (known) return known.index;
  trace.kinds.push({ index: trace.kinds.length, name: "MPI", role: ROLE.PROGRESS, colour: CALL_COLOUR, time: 0, hidden: false });
  return trace.kinds.length - 1;
}

// Computation of each rank: pairs of row and state, in the order of time.
function computingOf(trace, ranks) {
  const lists = Array.from({ length: ranks }, () => []);
  for (const row of trace.rows)
    for (let i = 0; i < row.count; i++) {
      const rank = row.id[i];
      if (rank >= 0 && rank < ranks && trace.why.rowOf[rank] === row.index && trace.kinds[row.kind[i]].role === ROLE.COMPUTE)
        lists[rank].push(i);
    }
  return lists;
}

// The first record of each rank, and behind the last the count.
function firstOf(records, ranks) {
  const first = new Uint32Array(ranks + 1);
  for (let i = 0; i < records.count; i++) first[records.rank[i] + 1]++;
  for (let r = 0; r < ranks; r++) first[r + 1] += first[r];
  return first;
}

function makeRankRows(trace) {
  const { why } = trace, ranks = why.rowOf.length, computing = computingOf(trace, ranks), call = callKind(trace);
  const labels = new Map(trace.labels.map((label, i) => [label, i]));
  const labelOf = why.places.map(({ function: name }) => {
    if (!labels.has(name)) labels.set(name, trace.labels.push(name) - 1);
    return labels.get(name);
  });
  const calls = firstOf(why.calls, ranks), waits = firstOf(why.waits, ranks);
  return why.rowOf.map((base, index) => {
    const most = 2 * computing[index].length + calls[index + 1] - calls[index] + waits[index + 1] - waits[index];
    const row = new RankRow(index, trace.rows[base]?.group ?? "", most);
    row.fill(trace.rows[base], computing[index], why, calls, waits, call, labelOf);
    return row;
  });
}

class RankRow {
  constructor(index, group, most) {
    Object.assign(this, { index, name: `rank ${index}`, group, count: 0, open: new Set() });
    this.start = new Float64Array(most);
    this.end = new Float64Array(most);
    this.kind = new Uint16Array(most);
    this.label = new Uint32Array(most);
    this.place = new Uint32Array(most);
    this.wait = new Int32Array(most).fill(-1); // of why.waits
  }

  add(start, end, kind, label, place = 0, wait = -1) {
    const i = this.count++;
    this.start[i] = start;
    this.end[i] = end;
    this.kind[i] = kind;
    this.label[i] = label;
    this.place[i] = place;
    this.wait[i] = wait;
  }

  // Calls, with what is computed between them; a state that reaches into a call is cut there.
  fill(base, computing, why, calls, waits, callKind, labelOf) {
    let at = 0, next = 0, wait = waits[this.index];
    const compute = (until) => {
      for (; next < computing.length && base.start[computing[next]] < until; next++) {
        const i = computing[next], start = Math.max(at, base.start[i]), end = Math.min(base.end[i], until);
        if (end > start) this.add(start, at = end, base.kind[i], base.label[i]);
        if (base.end[i] > until) break;
      }
    };
    for (let i = calls[this.index]; i < calls[this.index + 1]; i++) {
      const start = Math.max(at, why.calls.start[i]), end = Math.max(start, why.calls.end[i]), place = why.calls.place[i];
      compute(start);
      this.add(start, end, callKind, labelOf[place], place);
      for (; wait < waits[this.index + 1] && why.waits.end[wait] <= end; wait++)
        if (why.waits.start[wait] >= start)
          this.add(why.waits.start[wait], why.waits.end[wait], why.first + why.waits.kind[wait], 0, place, wait);
      at = end;
    }
    compute(Infinity);
    for (const name of ["start", "end", "kind", "label", "place", "wait"]) this[name] = this[name].slice(0, this.count);
    this.id = new Float64Array(this.count).fill(-1);
  }
}

// Groups of the rows in the order in which they come, each with its rows.
function groupsOf(rows) {
  const groups = new Map();
  for (const row of rows) {
    if (!groups.has(row.group)) groups.set(row.group, { name: row.group || "rows", rows: [] });
    groups.get(row.group).rows.push(row);
  }
  return [...groups.values()];
}

// Add the time of each kind in each of `w` columns to out[column * lanes + kind], in columns.
function accumulate(row, from, scale, w, lanes, out) {
  const s = row.segments, { kind } = row.shown, to = from + w * scale;
  const first = Math.max(0, upperBound(s.start, from) - 1), last = upperBound(s.start, to);
  if (last - first > 6 * w) {
    accumulateMany(row, from, scale, w, lanes, out);
    return;
  }
  for (let i = first; i < last; i++) {
    const a = Math.max(0, (s.start[i] - from) / scale), b = Math.min(w, (s.end[i] - from) / scale), k = kind[i];
    if (b <= a) continue;
    let column = Math.floor(a);
    if (b <= column + 1) {
      out[column * lanes + k] += b - a;
      continue;
    }
    out[column * lanes + k] += column + 1 - a;
    for (column++; column + 1 <= b; column++) out[column * lanes + k] += 1;
    if (b > column) out[column * lanes + k] += b - column;
  }
}

function accumulateMany(row, from, scale, w, lanes, out) {
  let before = new Float64Array(lanes), now = new Float64Array(lanes);
  let hint = timeBefore(row, row.shown, from, before);
  for (let column = 0; column < w; column++) {
    hint = timeBefore(row, row.shown, from + (column + 1) * scale, now, hint);
    for (let k = 0; k < lanes; k++) out[column * lanes + k] += (now[k] - before[k]) / scale;
    [before, now] = [now, before];
  }
}

// The wait of a rank at a moment, as an index into why.waits; -1: none.
function waitAt(trace, rank, time) {
  const row = trace.sets.rank?.rows[rank], state = row ? stateAt(row, time) : -1;
  return state >= 0 ? row.wait[state] : -1;
}

// "MPI_Recv at ring.c:25"
function placeName(trace, place) {
  const one = trace.why.places[place];
  if (!one || !one.function) return "";
  return one.place ? `${one.function} at ${one.place}` : one.function;
}
