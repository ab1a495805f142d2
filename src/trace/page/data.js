// SPDX-License-Identifier: BSD-3-Clause
// The trace as the page holds it: decoded from the embedded bytes, then indexed so that "how long
// was this row in each kind between two moments" costs the same for a hundred and a million states.
// Times are nanoseconds since the beginning of the trace.
"use strict";

const ROLE = { OTHER: 0, COMPUTE: 1, PROGRESS: 2, WAIT: 3, IDLE: 4 };
const SHIFT = 4, BLOCK = 1 << SHIFT; // segments between two entries of the prefix sums

function bytesOfBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

class Cursor {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
    this.text = new TextDecoder();
  }
  u() {
    let value = 0, scale = 1, byte;
    do {
      byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte > 127);
    return value;
  }
  z() {
    const value = this.u();
    return value % 2 ? -(value + 1) / 2 : value / 2;
  }
  double() {
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset + this.at, 8);
    this.at += 8;
    return view.getFloat64(0, true);
  }
  string() {
    const n = this.u();
    return this.text.decode(this.bytes.subarray(this.at, this.at += n));
  }
  list(read) {
    return Array.from({ length: this.u() }, (_, i) => read(i));
  }
}

function decode(bytes) {
  const c = new Cursor(bytes);
  const trace = {
    title: c.string(), damage: c.string(), isVirtual: c.u() === 1, wall: c.u(), origin: c.z(), span: c.u(),
    rows: c.list((index) => ({ index, name: c.string(), group: c.string() })),
    kinds: c.list((index) => ({ index, name: c.string(), role: c.u(), colour: c.u(), time: 0, hidden: false })),
    labels: c.list(() => c.string()),
    counters: c.list(() => ({ name: c.string(), unit: c.string() })),
  };
  for (const row of trace.rows) decodeStates(c, row);
  trace.links = decodeLinks(c);
  trace.series = takeCores(trace, decodeSeries(c));
  trace.marks = c.list(() => ({ time: c.u(), row: c.u(), label: c.u(), id: c.z() }));
  trace.states = trace.rows.reduce((sum, row) => sum + row.count, 0);
  trace.why = c.u() ? decodeWhy(c, trace) : null;
  return trace;
}

// Why ranks wait. Kinds of waits follow those of the trace.
function decodeWhy(c, trace) {
  const first = trace.kinds.length;
  const kinds = c.list((index) => ({ index: first + index, name: c.string(), role: c.u(), colour: c.u(), time: 0, hidden: false }));
  trace.kinds.push(...kinds);
  return { first, kinds, places: c.list(() => ({ function: c.string(), place: c.string() })), rowOf: c.list(() => c.u() - 1),
    calls: decodeColumns(c, ["rank", "-start", "+end", "place"], "start"),
    waits: decodeColumns(c, ["rank", "-start", "+end", "kind", "who", "place", "root", "rootPlace", "<rootEnd", "rootTime"], "end"),
    messages: decodeLinks(c) };
}

// Records, one array for each field. A "-" field is counted from field `last` of the record before,
// "+" from the start of its own, "<" back from the end of it.
function decodeColumns(c, fields, last) {
  const n = c.u(), names = fields.map((field) => field.replace(/^[-+<]/, "")), out = { count: n };
  for (const name of names) out[name] = new Float64Array(n);
  for (let i = 0; i < n; i++)
    fields.forEach((field, k) => {
      const before = i ? out[last][i - 1] : 0;
      out[names[k]][i] = field[0] === "-" ? before + c.z() : field[0] === "+" ? out.start[i] + c.u()
        : field[0] === "<" ? out.end[i] - c.z() : c.u();
    });
  return out;
}

function decodeStates(c, row) {
  const n = row.count = c.u();
  row.start = new Float64Array(n);
  row.end = new Float64Array(n);
  row.kind = new Uint16Array(n);
  row.label = new Uint32Array(n);
  row.id = new Float64Array(n);
  row.open = new Set();
  for (let i = 0, time = 0; i < n; i++) {
    time += c.u();
    row.start[i] = time;
    row.end[i] = time + c.u();
    const kind = c.u();
    row.kind[i] = kind >> 1;
    if (kind & 1) row.open.add(i);
    row.label[i] = c.u();
    row.id[i] = c.z();
  }
}

function decodeLinks(c) {
  const n = c.u();
  const links = { count: n, start: new Float64Array(n), end: new Float64Array(n), from: new Uint32Array(n),
    to: new Uint32Array(n), bytes: new Float64Array(n), label: new Uint32Array(n), longest: 0 };
  for (let i = 0, time = 0; i < n; i++) {
    time += c.u();
    links.start[i] = time;
    links.end[i] = time + c.z();
    links.from[i] = c.u();
    links.to[i] = c.u();
    links.bytes[i] = c.u();
    links.label[i] = c.u();
    links.longest = Math.max(links.longest, links.end[i] - time);
  }
  return links;
}

function decodeSeries(c) {
  return c.list(() => {
    const series = { counter: c.u(), row: c.u() }, n = c.u();
    series.time = new Float64Array(n);
    series.value = new Float64Array(n);
    for (let i = 0, time = 0; i < n; i++) {
      series.time[i] = time += c.u();
      series.value[i] = c.double();
    }
    series.least = series.value.reduce((a, b) => Math.min(a, b), 0);
    series.most = series.value.reduce((a, b) => Math.max(a, b), 0);
    return series;
  });
}

// The cores of rows that were recorded by rank are no curves.
function takeCores(trace, series) {
  const isCore = (one) => trace.counters[one.counter].name === "core";
  for (const one of series.filter(isCore)) trace.rows[one.row].core = one.value[0];
  return series.filter((one) => !isCore(one));
}

// The number of entries of a sorted array that are <= value.
function upperBound(array, value, high = array.length) {
  let low = 0;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (array[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Parents, and the row cut into segments in which the innermost state is the same.
function flatten(row) {
  const n = row.count, start = new Float64Array(2 * n), end = new Float64Array(2 * n), state = new Uint32Array(2 * n);
  const stack = [];
  let at = 0, count = 0;
  row.parent = new Int32Array(n).fill(-1);
  row.depth = new Uint16Array(n);
  const close = (until) => {
    while (stack.length) {
      const top = stack[stack.length - 1], stop = Math.min(row.end[top], until);
      if (stop > at) {
        start[count] = at;
        end[count] = stop;
        state[count++] = top;
        at = stop;
      }
      if (row.end[top] > until) break;
      stack.pop();
    }
  };
  for (let i = 0; i < n; i++) {
    close(row.start[i]);
    at = row.start[i];
    if (stack.length) row.parent[i] = stack[stack.length - 1];
    row.depth[i] = stack.length;
    stack.push(i);
  }
  close(Infinity);
  row.segments = { count, start: start.slice(0, count), end: end.slice(0, count), state: state.slice(0, count) };
}

// Sums of time per kind before every BLOCK-th segment. There is one kind more than the trace has:
// the last stands for states that a search did not find.
function sumSegments(row, kind, kinds) {
  const s = row.segments, prefix = new Float64Array(((s.count >> SHIFT) + 1) * kinds), sum = new Float64Array(kinds);
  for (let i = 0; i < s.count; i++) {
    if (i % BLOCK === 0) prefix.set(sum, (i >> SHIFT) * kinds);
    sum[kind[i]] += s.end[i] - s.start[i];
  }
  if (s.count % BLOCK === 0) prefix.set(sum, (s.count >> SHIFT) * kinds);
  return { kind, kinds, prefix };
}

// Time per kind from the beginning to `time`, into out. `hint` is what an earlier call, for an
// earlier time, returned.
function timeBefore(row, sums, time, out, hint) {
  const s = row.segments, { kind, kinds, prefix } = sums;
  let n = hint;
  if (n === undefined || (n + BLOCK < s.count && s.start[n + BLOCK] < time)) n = upperBound(s.start, time);
  while (n < s.count && s.start[n] < time) n++;
  const block = n >> SHIFT;
  for (let k = 0; k < kinds; k++) out[k] = prefix[block * kinds + k];
  for (let i = block * BLOCK; i < n; i++) out[kind[i]] += Math.min(s.end[i], time) - s.start[i];
  if (n === block * BLOCK && n > 0) out[kind[n - 1]] -= Math.max(0, s.end[n - 1] - time);
  return n;
}

// Time per kind between two moments, as drawn now when `sums` is row.shown.
function timeBetween(row, sums, from, to) {
  const before = new Float64Array(sums.kinds), out = new Float64Array(sums.kinds);
  timeBefore(row, sums, from, before);
  timeBefore(row, sums, to, out);
  return out.map((time, k) => Math.max(0, time - before[k]));
}

// Flights of a row: the times with a message from or to it in flight, disjoint, with sums of their
// lengths and of the computing in them.
function indexFlights(trace) {
  const lists = trace.rows.map(() => []), l = trace.links;
  const add = (list, start, end) => {
    const n = list.length;
    if (n && start <= list[n - 1]) list[n - 1] = Math.max(list[n - 1], end);
    else list.push(start, end);
  };
  for (let i = 0; i < l.count; i++) {
    if (l.end[i] <= l.start[i]) continue;
    add(lists[l.from[i]], l.start[i], l.end[i]);
    if (l.to[i] !== l.from[i]) add(lists[l.to[i]], l.start[i], l.end[i]);
  }
  trace.rows.forEach((row, r) => {
    const n = lists[r].length / 2, f = row.flights = { start: new Float64Array(n), length: new Float64Array(n + 1),
      end: new Float64Array(n), hidden: new Float64Array(n + 1) };
    for (let i = 0; i < n; i++) {
      f.start[i] = lists[r][2 * i];
      f.end[i] = lists[r][2 * i + 1];
      f.length[i + 1] = f.length[i] + f.end[i] - f.start[i];
      f.hidden[i + 1] = f.hidden[i] + computing(trace, row, f.start[i], f.end[i]);
    }
  });
}

function computing(trace, row, from, to) {
  const time = timeBetween(row, row.sums, from, to);
  return trace.kinds.reduce((sum, kind) => sum + (kind.role === ROLE.COMPUTE ? time[kind.index] : 0), 0);
}

// {flight, hidden} of a row between two moments.
function overlap(trace, row, from, to) {
  const f = row.flights;
  const until = (time) => {
    const n = upperBound(f.start, time);
    if (n === 0) return { flight: 0, hidden: 0 };
    const extra = f.end[n - 1] - time;
    return { flight: f.length[n] - Math.max(0, extra),
      hidden: f.hidden[n] - (extra > 0 ? computing(trace, row, time, f.end[n - 1]) : 0) };
  };
  const a = until(from), b = until(to);
  return { flight: b.flight - a.flight, hidden: b.hidden - a.hidden };
}

// What drawing and tables need of the rows in use, which may be indexed already.
function indexTrace(trace) {
  for (const kind of trace.kinds) kind.time = 0;
  for (const row of trace.rows) {
    if (!row.sums) {
      flatten(row);
      row.sums = row.shown = sumSegments(row, Uint16Array.from(row.segments.state, (i) => row.kind[i]), trace.kinds.length + 1);
    }
    const time = timeBetween(row, row.sums, 0, trace.span);
    for (const kind of trace.kinds) kind.time += time[kind.index];
  }
  if (trace.rows.length && !trace.rows[0].flights) indexFlights(trace);
}

// The innermost state of a row at a moment, or -1.
function stateAt(row, time) {
  let i = upperBound(row.start, time) - 1;
  while (i >= 0 && row.end[i] < time) i = row.parent[i];
  return i;
}

// Mark what a search finds: others become the pseudo-kind behind the last. Returns the hits.
function search(trace, text) {
  const needle = text.trim().toLowerCase(), dim = trace.kinds.length;
  const id = /^#-?\d+$/.test(needle) ? Number(needle.slice(1)) : null;
  const byLabel = trace.labels.map((label) => label.toLowerCase().includes(needle));
  const byKind = trace.kinds.map((kind) => kind.name.toLowerCase().includes(needle));
  const byPlace = (trace.why?.places ?? []).map((one) => one.place.toLowerCase().includes(needle));
  let hits = 0;
  for (const row of trace.rows) {
    row.found = null;
    if (needle) {
      row.found = new Uint8Array(row.count);
      for (let i = 0; i < row.count; i++)
        hits += row.found[i] = id !== null ? row.id[i] === id : byLabel[row.label[i]] || byKind[row.kind[i]] || (row.place !== undefined && byPlace[row.place[i]]);
    }
    row.shown = !needle ? row.sums
      : sumSegments(row, Uint16Array.from(row.segments.state, (i) => row.found[i] ? row.kind[i] : dim), dim + 1);
  }
  return hits;
}

// Words for people.
function formatTime(ns, digits = 4) {
  const size = Math.abs(ns);
  const [unit, name] = size >= 1e9 ? [1e9, "s"] : size >= 1e6 ? [1e6, "ms"] : size >= 1e3 ? [1e3, "µs"] : [1, "ns"];
  return `${Number((ns / unit).toPrecision(digits))} ${name}`;
}
function formatSize(bytes) {
  let i = 0;
  for (; bytes >= 1024 && i < 5; i++) bytes /= 1024;
  return `${Number(bytes.toPrecision(3))} ${["B", "KiB", "MiB", "GiB", "TiB", "PiB"][i]}`;
}
function formatCount(n, word) {
  return `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;
}
