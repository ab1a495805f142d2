// SPDX-License-Identifier: BSD-3-Clause
// Drawing. A row with few states in sight is drawn state by state, nested ones lower and on top. A
// row with many is drawn pixel column by pixel column: each column is filled in proportion to the
// time of each kind in it, exactly, from the prefix sums. So the cost of a frame depends on the size
// of the window and not on the number of events, and nothing is hidden by what was drawn last. Rows
// of a few pixels are a heat map: the colours of a column are mixed in proportion to their time.
"use strict";

const NAMED = 12; // pixels between rows from which each has its name
const HEAT = 6;   // and from which it has a line of its own
const GUTTER_MIN = 70, GUTTER_MAX = 220, AXIS = 26, GROUP = 20, GAP = 4;
const RECTS = 9000;  // states drawn one by one per frame, at most
const ARROWS = 2500; // messages drawn per frame, at most
const FRAME = 12;      // ms that the rows should take to draw while they move
const SAMPLE = 256;    // rows of folded groups that are added up while they move
const LABEL = '11.5px system-ui, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';
const FONT = '12px system-ui, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';

class Painter {
  constructor(trace, canvas, overview) {
    this.trace = trace;
    this.canvas = canvas;
    this.overview = overview;
    this.ctx = canvas.getContext("2d", { alpha: false });
    this.view = { from: 0, to: Math.max(1, trace.span), scroll: 0 };
    this.folded = new Set(); // names of groups
    this.pitch = null;       // between rows, as chosen; null: what fits
    this.cause = -1;         // of why.waits: whose culprit is shown
    this.isQuick = false;    // a frame of many, with wider columns if it would take too long:
    this.cells = 260000;     // of a heat map, in such a frame
    this.showArrows = false;
    this.selected = null; // {row, state}
    this.range = null;    // [x, x, y, y] while shift-dragging
    this.order = trace.kinds.map((kind) => kind.index).sort((a, b) => this.rank(a) - this.rank(b) || a - b);
    this.setRows();
    this.readTheme();
    this.resize();
  }

  // From the bottom of a column up: work first, idleness last.
  rank(k) {
    return [1, 0, 2, 3, 4][this.trace.kinds[k].role];
  }

  readTheme() {
    const style = getComputedStyle(document.documentElement);
    const css = (name) => style.getPropertyValue(name).trim();
    this.dark = document.documentElement.classList.contains("dark");
    this.theme = { card: css("--card"), ink: css("--ink"), soft: css("--soft"), faint: css("--faint"),
      line: css("--line"), track: css("--track"), accent: css("--accent"), cause: css("--cause") };
    this.rgb = this.trace.kinds.map((kind) => this.shade(kind));
    this.css = this.rgb.map(([r, g, b]) => `rgb(${r} ${g} ${b})`);
    this.text = this.rgb.map(([r, g, b]) => r * .3 + g * .59 + b * .11 > 140 ? "#14202b" : "#ffffff");
    const track = parseInt(this.theme.track.slice(1), 16), dim = this.dark ? [46, 57, 69] : [217, 222, 228];
    const pack = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;
    this.trackRgb = [track >> 16, track >> 8 & 255, track & 255];
    this.mix = [...this.rgb, dim];
    this.trackPixel = pack([track >> 16, track >> 8 & 255, track & 255]);
    this.pixel = Uint32Array.from([...this.rgb, dim].map(pack));
    this.dim = `rgb(${dim.join(" ")})`;
  }

  // On dark ground colours are lifted a little, and idleness steps back.
  shade(kind) {
    const rgb = [kind.colour >> 16, kind.colour >> 8 & 255, kind.colour & 255];
    if (!this.dark) return rgb;
    const [goal, part] = kind.role === ROLE.IDLE ? [[40, 50, 61], .82] : [[255, 255, 255], kind.index >= (this.trace.why?.first ?? Infinity) ? .25 : .1];
    return rgb.map((v, i) => Math.round(v + (goal[i] - v) * part));
  }

  resize() {
    const ratio = this.ratio = window.devicePixelRatio || 1;
    this.width = this.canvas.parentElement.clientWidth - 28;
    this.ctx.font = FONT;
    const names = [...this.trace.rows.map((row) => row.name), ...(this.isGrouped ? this.groups.map((group) => `▾ ${group.name}`) : [])];
    const longest = names.reduce((a, b) => b.length > a.length ? b : a, ""), widest = this.ctx.measureText(longest).width;
    this.gutter = Math.min(GUTTER_MAX, Math.max(GUTTER_MIN, Math.ceil(widest) + 18));
    if (this.width < 480) this.gutter = Math.min(this.gutter, 96);
    this.fitCanvas();
  }

  fitCanvas() {
    const { ratio } = this;
    this.layout();
    for (const [canvas, height] of [[this.canvas, this.height], [this.overview, 54]]) {
      const w = Math.round(this.width * ratio), h = Math.round(height * ratio);
      if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
      canvas.style.height = `${height}px`;
    }
    this.profile = null;
  }

  // Where each line is: groups with a heading when there are several, rows, then counters. Rows share
  // the window unless the reader has chosen their height; low ones have no gaps and no headings, and
  // those lower than a pixel share one.
  layout() {
    const { series } = this.trace, groups = this.groups, top = this.canvas.getBoundingClientRect().top + window.scrollY;
    const most = Math.max(260, window.innerHeight - top - AXIS - 56);
    const heads = this.isGrouped ? groups.filter((group) => !this.isFolded(group)).length : 0;
    const units = groups.reduce((sum, group) => sum + (this.isFolded(group) ? 1 : group.rows.length), 0);
    const withHeads = (most - 8 - heads * GROUP) / Math.max(1, units + 1.4 * series.length);
    const tight = Math.max(100, most - 8 - 21 * series.length) / Math.max(1, units);
    this.fitPitch = Math.min(30 + GAP, withHeads >= NAMED ? withHeads : tight);
    const pitch = Math.max(this.fitPitch, Math.min(30 + GAP, this.pitch ?? 0)), gap = pitch >= 18 ? GAP : pitch >= 6 ? 1 : 0;
    const head = this.isGrouped && pitch >= NAMED ? GROUP : 0, exact = pitch >= NAMED ? Math.floor(pitch) : pitch;
    let y = 4;
    const add = (line, h = exact - gap) => {
      this.lines.push(Object.assign(line, { y, h }));
      y += h + gap;
    };
    this.lines = [];
    for (const group of groups) {
      const top = y;
      if (this.isFolded(group)) {
        const line = { group, isFolded: true };
        add(line);
        for (const row of group.rows) row.line = line;
        continue;
      }
      if (head) add({ group }, head - gap);
      for (const row of group.rows) add(row.line = { row });
      group.span = [top, y];
    }
    for (const one of series) add({ series: one }, pitch >= NAMED ? Math.round(exact * 1.4) - gap : 20);
    Object.assign(this, { used: pitch, gap, head, content: y, height: AXIS + Math.min(y + 2, most) });
    this.scrollMax = Math.max(0, y + AXIS - this.height);
    this.view.scroll = Math.min(this.view.scroll, this.scrollMax);
  }

  isFolded(group) { return this.isGrouped && this.folded.has(group.name); }

  // The rows are others, or in another order.
  setRows(order = null) {
    const rows = order ? order : this.trace.rows;
    this.groups = groupsOf(rows);
    this.isGrouped = this.groups.length > 1 && this.groups.length < rows.length;
    this.selected = null;
    this.profile = null;
  }

  // Keep what is at `y` where it is.
  zoomRows(factor, y = AXIS + (this.height - AXIS) / 2) {
    const at = (y - AXIS + this.view.scroll) / this.content;
    this.pitch = Math.max(this.fitPitch, Math.min(30 + GAP, this.used * factor));
    this.fitCanvas();
    this.view.scroll = Math.max(0, Math.min(this.scrollMax, at * this.content - (y - AXIS)));
  }

  // Show the rows between two heights.
  zoomRowsTo(top, bottom) {
    const at = (top - AXIS + this.view.scroll) / this.content;
    this.zoomRows((this.height - AXIS) / Math.max(1, bottom - top));
    this.view.scroll = Math.max(0, Math.min(this.scrollMax, at * this.content));
  }

  // The group whose name is at this height beside the rows.
  groupAt(y) {
    const line = this.lineAt(y), at = y - AXIS + this.view.scroll;
    if (!this.isGrouped || !line) return undefined;
    if (line.group) return line.group;
    return this.head ? undefined : this.groups.find((group) => !this.isFolded(group) && at >= group.span[0] && at < group.span[1]);
  }

  showRow(row) {
    const y = row.line.y, room = this.height - AXIS;
    if (y < this.view.scroll || y + row.line.h > this.view.scroll + room)
      this.view.scroll = Math.max(0, Math.min(this.scrollMax, y - room / 2));
  }

  get plot() { return this.width - this.gutter; }
  x(time) { return this.gutter + (time - this.view.from) / (this.view.to - this.view.from) * this.plot; }
  time(x) { return this.view.from + (x - this.gutter) / this.plot * (this.view.to - this.view.from); }
  lineAt(y) {
    const at = y - AXIS + this.view.scroll;
    return y < AXIS ? undefined : this.lines.find((line) => at >= line.y && at < line.y + line.h + this.gap);
  }
  top(line) { return AXIS + line.y - this.view.scroll; }

  paint() {
    const { ctx, ratio } = this;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.globalAlpha = 1;
    ctx.fillStyle = this.theme.card;
    ctx.fillRect(0, 0, this.width, this.height);
    const visible = this.lines.filter((line) => this.top(line) + line.h > AXIS && this.top(line) < this.height);
    const rows = visible.filter((line) => line.row || line.isFolded);
    this.paintGrid();
    this.isCoarse = false;
    const before = performance.now();
    if (rows.length && rows[0].h < HEAT) this.paintHeat(rows);
    else
      for (const line of rows)
        if (line.isFolded) this.paintGroup(line);
        else this.paintRow(line.row, this.top(line), line.h, Math.min(this.plot / 2, RECTS / rows.length));
    if (this.isQuick && this.isCoarse)
      this.cells = Math.min(1e6, Math.max(4e4, this.cells * Math.min(1.3, Math.max(.5, FRAME / (performance.now() - before)))));
    for (const line of visible) if (line.series) this.paintSeries(line.series, this.top(line), line.h);
    this.paintMarks();
    this.paintLinks();
    this.paintSelection();
    if (this.cause >= 0) this.paintCause(this.trace.why.waits, this.cause);
    this.paintGutter(visible);
    this.paintAxis();
    this.paintRange();
    this.paintOverview();
  }

  // The states of a row in sight: the first index, the last, and those around the first.
  statesInSight(row) {
    const first = upperBound(row.start, this.view.from), last = upperBound(row.start, this.view.to);
    const around = [];
    for (let i = first - 1; i >= 0; i = row.parent[i]) if (row.end[i] > this.view.from) around.unshift(i);
    return { first, last, around };
  }

  paintRow(row, y, h, budget) {
    const { first, last, around } = this.statesInSight(row);
    row.isDense = last - first > budget;
    if (row.isDense) {
      this.paintDense(row, y, h);
      return;
    }
    this.ctx.fillStyle = this.theme.track;
    this.ctx.fillRect(this.gutter, y, this.plot, h);
    for (const i of around) this.paintState(row, i, y, h);
    for (let i = first; i < last; i++) this.paintState(row, i, y, h);
    this.ctx.globalAlpha = 1;
  }

  stateBox(row, i, y, h) {
    const left = Math.max(this.gutter - 6, this.x(row.start[i])), right = Math.min(this.width + 6, this.x(row.end[i]));
    const inset = Math.min(row.depth[i], 3) * Math.min(5, h / 5);
    return [left, y + inset, Math.max(right - left, .6), h - inset];
  }

  paintState(row, i, y, h) {
    const kind = row.kind[i], { ctx } = this;
    if (this.trace.kinds[kind].hidden) return;
    const [left, top, width, height] = this.stateBox(row, i, y, h);
    const isFound = !row.found || row.found[i];
    ctx.fillStyle = isFound ? this.css[kind] : this.dim;
    if (width > 6) {
      ctx.beginPath();
      ctx.roundRect(left, top, width - 1, height, Math.min(3, width / 4));
      ctx.fill();
    } else ctx.fillRect(left, top, width, height);
    if (width > 34 && height > 10) this.paintLabel(row, i, left, top, width, height, isFound ? this.text[kind] : this.theme.soft);
  }

  // In the first stretch of the state, before, between or behind the states in it, that is wide
  // enough.
  paintLabel(row, i, left, top, width, height, colour) {
    const { ctx } = this, label = this.trace.labels[row.label[i]] || this.trace.kinds[row.kind[i]].name;
    const isOwn = row.name === `rank ${row.id[i]}`; // the row says it already
    const texts = row.id[i] >= 0 && !isOwn ? [`${label} ${row.id[i]}`, label] : [label];
    let from = Math.max(left, this.gutter) + 5;
    for (let child = i + 1, tries = 0; tries < 3; tries++) {
      while (child < row.count && row.depth[child] > row.depth[i] + 1) child++;
      const isLast = child >= row.count || row.parent[child] !== i;
      const room = Math.min(isLast ? left + width : this.x(row.start[child]), this.width) - from - 4;
      const text = texts.find((one) => this.fit(one, room));
      if (text) {
        ctx.fillStyle = colour;
        ctx.font = LABEL;
        ctx.textBaseline = "middle";
        ctx.textAlign = "left";
        ctx.fillText(text, from, top + height / 2 + .5);
        return;
      }
      if (isLast) return;
      from = Math.max(from, this.x(row.end[child++]) + 4);
    }
  }

  // The text if it fits, else nothing: half a word is useless. Widths are cached.
  fit(text, room) {
    this.widths ??= new Map();
    let width = this.widths.get(text);
    if (width === undefined) {
      this.ctx.font = FONT;
      this.widths.set(text, width = this.ctx.measureText(text).width);
      if (this.widths.size > 20000) this.widths.clear();
    }
    return width <= room ? text : "";
  }

  paintDense(row, y, h) {
    const { ratio } = this, x0 = Math.round(this.gutter * ratio), w = this.canvas.width - x0;
    const y0 = Math.round(y * ratio), rows = Math.round(h * ratio);
    if (!this.image || this.image.width !== w || this.image.height !== rows) {
      this.image = new ImageData(w, rows);
      this.words = new Uint32Array(this.image.data.buffer);
    }
    this.fillColumns(row, w, rows);
    this.ctx.putImageData(this.image, x0, y0);
  }

  fillColumns(row, w, rows) {
    const { words, pixel, trackPixel, order, view } = this, sums = row.shown, dim = this.trace.kinds.length;
    const scale = (view.to - view.from) / w, height = rows / scale;
    const kinds = [...order.filter((k) => !this.trace.kinds[k].hidden), dim];
    let before = new Float64Array(sums.kinds), now = new Float64Array(sums.kinds);
    let hint = timeBefore(row, sums, view.from, before);
    for (let column = 0; column < w; column++) {
      hint = timeBefore(row, sums, view.from + (column + 1) * scale, now, hint);
      let filled = 0, bottom = rows;
      for (const k of kinds) {
        filled += now[k] - before[k];
        const top = Math.max(0, rows - Math.round(filled * height));
        for (let p = column + (bottom - 1) * w, stop = column + top * w; p >= stop; p -= w) words[p] = pixel[k];
        bottom = Math.min(bottom, top);
      }
      for (let p = column + (bottom - 1) * w; p >= 0; p -= w) words[p] = trackPixel;
      [before, now] = [now, before];
    }
  }

  // How many pixels a column is wide when so many rows are added up.
  cellOf(rows) {
    const w = this.canvas.width - Math.round(this.gutter * this.ratio);
    const cell = this.isQuick ? Math.min(16, Math.max(1, Math.ceil(w * rows / this.cells))) : 1;
    this.isCoarse ||= cell > 1;
    return { cell, columns: Math.ceil(w / cell), w, scale: cell * (this.view.to - this.view.from) / w };
  }

  // The rows of a folded group; while they move, some of them.
  rowsOf(group) {
    const step = this.isQuick ? Math.max(1, Math.floor(this.trace.rows.length / SAMPLE)) : 1;
    if (step === 1) return group.rows;
    this.isCoarse = true;
    return group.rows.filter((_, i) => i % step === 0);
  }

  // All rows of a folded group as one.
  paintGroup(line) {
    const rows = this.rowsOf(line.group), { cell, columns, w, scale } = this.cellOf(Math.min(SAMPLE, this.trace.rows.length));
    const lanes = this.trace.kinds.length + 1, total = new Float64Array(columns * lanes), h = Math.max(1, Math.round(line.h * this.ratio));
    for (const row of rows) accumulate(row, this.view.from, scale, columns, lanes, total);
    const image = this.profileImage(total, columns, h, h / rows.length, cell, w);
    this.ctx.putImageData(image, Math.round(this.gutter * this.ratio), Math.round(this.top(line) * this.ratio));
  }

  // Rows (and folded groups) of less than HEAT pixels, one below the other.
  paintHeat(lines) {
    const { ratio } = this;
    const { cell, columns, w, scale } = this.cellOf(Math.min(lines.length, this.canvas.height)), lanes = this.trace.kinds.length + 1;
    const high = this.canvas.height - Math.round(AXIS * ratio), total = new Float64Array(columns * lanes);
    if (!this.heat || this.heat.width !== w || this.heat.height !== high) this.heat = new ImageData(w, Math.max(1, high));
    const words = new Uint32Array(this.heat.data.buffer).fill(this.cardPixel());
    const kind = this.mix.map((_, k) => k).filter((k) => k === lanes - 1 || (this.trace.kinds[k].time > 0 && !this.trace.kinds[k].hidden));
    const channel = (c) => Float64Array.from(kind, (k) => this.mix[k][c]);
    this.mixed = { kind: Uint16Array.from(kind), red: channel(0), green: channel(1), blue: channel(2) };
    let from = null, to = 0, count = 0;
    const flush = () => {
      if (count) this.mixLine(total, count, columns, cell, words, w, Math.max(0, from), Math.min(high, to));
      total.fill(0);
      count = 0;
    };
    for (const line of lines) {
      const top = Math.round((this.top(line) - AXIS) * ratio), end = Math.max(top + 1, Math.round((this.top(line) - AXIS + line.h) * ratio));
      if (top !== from) flush();
      if (line.row) line.row.isDense = true;
      if (this.isQuick && top === from && count > 0) { // while it moves, one row speaks for its pixel
        this.isCoarse = true;
        continue;
      }
      for (const row of line.row ? [line.row] : this.rowsOf(line.group)) {
        accumulate(row, this.view.from, scale, columns, lanes, total);
        count++;
      }
      from = top;
      to = end;
    }
    flush();
    this.ctx.putImageData(this.heat, Math.round(this.gutter * ratio), Math.round(AXIS * ratio));
  }

  cardPixel() {
    const card = parseInt(this.theme.card.slice(1), 16);
    return (255 << 24 | (card & 255) << 16 | (card & 0xff00) | card >> 16) >>> 0;
  }

  // One line of the heat map, of `count` rows, into the lines of pixels from `top` to `end`.
  mixLine(total, count, columns, cell, words, w, top, end) {
    const { trackRgb } = this, lanes = this.trace.kinds.length + 1, { kind, red, green, blue } = this.mixed, n = kind.length;
    for (let column = 0; column < columns; column++) {
      let r = 0, g = 0, b = 0, rest = count;
      for (let i = 0, base = column * lanes; i < n; i++) {
        const part = total[base + kind[i]];
        r += part * red[i];
        g += part * green[i];
        b += part * blue[i];
        rest -= part;
      }
      r /= count;
      g /= count;
      b /= count;
      rest = Math.max(0, rest / count);
      const word = (255 << 24 | (b + rest * trackRgb[2]) << 16 | ((g + rest * trackRgb[1]) & 255) << 8 | ((r + rest * trackRgb[0]) & 255)) >>> 0;
      for (let x = column * cell, stop = Math.min(w, x + cell); x < stop; x++)
        for (let y = top; y < end; y++) words[y * w + x] = word;
    }
  }

  paintSeries(series, y, h) {
    const { ctx, view } = this, range = series.most - series.least || 1;
    const at = (value) => y + h - (value - series.least) / range * (h - 3) - 1;
    ctx.fillStyle = this.theme.track;
    ctx.fillRect(this.gutter, y, this.plot, h);
    const first = Math.max(0, upperBound(series.time, view.from) - 1), last = upperBound(series.time, view.to);
    const step = Math.max(1, Math.floor((last - first) / (4 * this.plot)));
    ctx.beginPath();
    ctx.moveTo(Math.max(this.gutter, this.x(series.time[first] ?? 0)), at(0));
    let level = at(0);
    for (let i = first; i < last; i += step) {
      const x = Math.max(this.gutter, this.x(series.time[i]));
      ctx.lineTo(x, level);
      ctx.lineTo(x, level = at(series.value[i]));
    }
    ctx.lineTo(this.width, level);
    ctx.strokeStyle = this.theme.accent;
    ctx.lineWidth = 1.2;
    ctx.stroke();
    ctx.lineTo(this.width, at(0));
    ctx.globalAlpha = .18;
    ctx.fillStyle = this.theme.accent;
    ctx.fill();
    ctx.globalAlpha = 1;
  }

  paintMarks() {
    const { ctx, trace } = this;
    ctx.fillStyle = this.theme.ink;
    for (const mark of trace.marks) {
      if (mark.time < this.view.from || mark.time > this.view.to) continue;
      const line = this.rowOfMark(mark)?.line;
      if (!line) continue;
      const x = this.x(mark.time), y = this.top(line);
      ctx.fillRect(x - .5, y - 1, 1, line.h + 2);
      ctx.beginPath();
      ctx.moveTo(x - 4, y - 2);
      ctx.lineTo(x + 4, y - 2);
      ctx.lineTo(x, y + 4);
      ctx.fill();
    }
  }

  // A mark is of a recorded row, and may name a rank.
  rowOfMark(mark) {
    const { rows, sets } = this.trace;
    return rows === sets.core.rows ? rows[mark.row] : rows[mark.id];
  }

  // Is message i shown? All of them on demand; those of the selected state in any case.
  linksInSight() {
    const l = this.trace.links, { from, to } = this.view, found = [];
    const s = this.selected, row = s && this.trace.rows[s.row];
    for (let i = upperBound(l.start, from - l.longest - 1); i < l.count && l.start[i] <= to; i++) {
      if (l.end[i] < from) continue;
      const ofSelected = s && ((l.from[i] === s.row && l.start[i] >= row.start[s.state] && l.start[i] <= row.end[s.state]) ||
        (l.to[i] === s.row && l.end[i] >= row.start[s.state] && l.end[i] <= row.end[s.state]));
      if (this.showArrows || ofSelected) found.push(i);
    }
    return found;
  }

  paintLinks() {
    this.arrows = { inSight: 0, drawn: 0 };
    if (!this.showArrows && !this.selected) return;
    const { ctx } = this, found = this.linksInSight(), step = Math.ceil(found.length / ARROWS) || 1;
    this.arrows = { inSight: found.length, drawn: Math.ceil(found.length / step) };
    ctx.save();
    ctx.beginPath();
    ctx.rect(this.gutter, AXIS, this.plot, this.height - AXIS);
    ctx.clip();
    ctx.lineWidth = found.length > 600 ? .6 : 1.3;
    const halo = found.length <= 250;
    for (let i = 0; i < found.length; i += step) this.paintArrow(found[i], halo, found.length <= 800);
    ctx.restore();
  }

  paintArrow(i, halo, head) {
    const { ctx, trace } = this, l = trace.links;
    const a = trace.rows[l.from[i]].line, b = trace.rows[l.to[i]].line, down = Math.sign(b.y - a.y);
    const x0 = this.x(l.start[i]), x1 = this.x(l.end[i]);
    const y0 = this.top(a) + a.h / 2 + down * a.h * .28, y1 = this.top(b) + b.h / 2 - down * b.h * .28;
    const bend = Math.min(60, Math.max(5, Math.abs(x1 - x0) * .5));
    const curve = () => {
      ctx.beginPath();
      ctx.moveTo(x0, y0);
      ctx.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
      ctx.stroke();
    };
    if (halo) {
      ctx.strokeStyle = this.theme.card;
      ctx.lineWidth = 3.4;
      curve();
      ctx.lineWidth = 1.3;
    }
    ctx.strokeStyle = ctx.fillStyle = this.theme.ink;
    ctx.globalAlpha = halo ? .95 : .55;
    curve();
    if (head) {
      ctx.beginPath();
      ctx.moveTo(x1, y1);
      ctx.lineTo(x1 - 7, y1 - 3.2);
      ctx.lineTo(x1 - 7, y1 + 3.2);
      ctx.fill();
      ctx.beginPath();
      ctx.arc(x0, y0, 2, 0, 7);
      ctx.fill();
    }
    ctx.globalAlpha = 1;
  }

  // From a wait to the rank that ended it, and on to the one that caused it.
  paintCause(waits, i) {
    const { ctx } = this, rows = this.trace.rows, isRanks = rows === this.trace.sets.rank?.rows;
    const rowOf = (rank) => isRanks ? rows[rank] : rows[this.trace.why.rowOf[rank]];
    const point = (rank, time) => {
      const line = rowOf(rank)?.line;
      return line && { rank, x: this.x(time), y: this.top(line) + line.h / 2 };
    };
    const wait = point(waits.rank[i], waits.end[i]), who = point(waits.who[i], waits.end[i]);
    const root = waits.root[i] !== waits.who[i] ? point(waits.root[i], waits.rootEnd[i]) : null;
    if (!wait || !who) return;
    ctx.save();
    ctx.beginPath();
    ctx.rect(this.gutter, AXIS, this.plot, this.height - AXIS);
    ctx.clip();
    const h = rowOf(waits.rank[i]).line.h, left = Math.max(this.gutter - 4, this.x(waits.start[i]));
    ctx.strokeStyle = this.theme.ink;
    ctx.lineWidth = 2;
    ctx.strokeRect(left, wait.y - h / 2, Math.max(2, Math.min(this.width + 4, wait.x) - left), Math.max(3, h));
    this.paintPointer(wait, who, false, root === null);
    if (root) this.paintPointer(who, root, true, true);
    ctx.restore();
  }

  paintPointer(a, b, isDashed, isLast) {
    const { ctx } = this, bend = Math.min(46, 12 + Math.abs(b.y - a.y) / 4), turn = Math.sign(b.y - a.y) || 1;
    const draw = (colour, width) => {
      ctx.strokeStyle = colour;
      ctx.lineWidth = width;
      ctx.setLineDash(isDashed ? [6, 4] : []);
      ctx.beginPath();
      ctx.moveTo(a.x, a.y);
      ctx.bezierCurveTo(a.x + bend, a.y + turn * bend / 2, b.x + bend, b.y - turn * bend / 2, b.x, b.y);
      ctx.stroke();
      ctx.setLineDash([]);
    };
    draw(this.theme.card, 5);
    draw(this.theme.cause, 2.2);
    ctx.fillStyle = this.theme.cause;
    ctx.beginPath();
    ctx.moveTo(b.x, b.y);
    ctx.lineTo(b.x + 9, b.y - turn * 7);
    ctx.lineTo(b.x + 10, b.y + turn * 1);
    ctx.fill();
    if (isLast) this.paintTag(`rank ${b.rank}`, b.x, b.y);
  }

  paintTag(text, x, y) {
    const { ctx } = this;
    ctx.font = FONT;
    const w = ctx.measureText(text).width + 12, left = Math.max(this.gutter + 2, x - w - 4);
    const top = Math.max(AXIS + 1, Math.min(this.height - 20, y - 9));
    ctx.fillStyle = this.theme.cause;
    ctx.beginPath();
    ctx.roundRect(left, top, w, 18, 5);
    ctx.fill();
    ctx.fillStyle = this.theme.card;
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    ctx.fillText(text, left + 6, top + 9.5);
  }

  paintSelection() {
    if (!this.selected || this.cause >= 0) return;
    const { ctx } = this, row = this.trace.rows[this.selected.row];
    if (row.line.isFolded) return;
    const [x, y, w, h] = this.stateBox(row, this.selected.state, this.top(row.line), row.line.h);
    ctx.strokeStyle = this.theme.ink;
    ctx.lineWidth = 2;
    ctx.strokeRect(x, y, Math.max(2, w - 1), h);
  }

  paintGutter(visible) {
    const { ctx, theme } = this;
    ctx.fillStyle = theme.card;
    ctx.fillRect(0, AXIS, this.gutter - 1, this.height);
    ctx.font = FONT;
    ctx.textBaseline = "middle";
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, AXIS, this.width, this.height);
    ctx.clip();
    if (this.isGrouped && !this.head) this.paintSpans();
    let last = -Infinity;
    for (const line of visible) {
      const y = this.top(line) + line.h / 2 + .5;
      if (line.row && !this.head && this.isGrouped) continue;
      if (y - last < NAMED) continue; // names that would touch
      last = y;
      ctx.textAlign = line.group ? "left" : "right";
      ctx.fillStyle = line.row ? theme.ink : theme.soft;
      if (line.group) ctx.fillText(this.shorten(`${line.isFolded ? "▸" : "▾"} ${line.group.name}`), 2, y + 1);
      else ctx.fillText(this.shorten(this.nameOf(line)), this.gutter - 10, y);
    }
    ctx.restore();
  }

  // Names of groups beside rows that have no room for headings.
  paintSpans() {
    const { ctx, theme } = this;
    let last = -Infinity;
    ctx.textAlign = "left";
    for (const group of this.groups) {
      if (this.isFolded(group)) continue;
      const top = AXIS + group.span[0] - this.view.scroll, end = AXIS + group.span[1] - this.view.scroll;
      if (end < AXIS || top > this.height) continue;
      ctx.fillStyle = theme.line;
      if (end - top >= 4) ctx.fillRect(0, Math.round(top), this.gutter - 4, 1);
      const y = (Math.max(top, AXIS) + Math.min(end, this.height)) / 2;
      if (y - last < NAMED + 2) continue;
      last = y;
      ctx.fillStyle = theme.soft;
      ctx.fillText(this.shorten(`▾ ${group.name}`), 2, y + 1);
    }
  }

  nameOf(line) {
    return line.row ? line.row.name : this.trace.counters[line.series.counter].name;
  }

  shorten(text) {
    if (this.fit(text, this.gutter - 12)) return text;
    let n = text.length;
    while (n > 1 && !this.fit(`${text.slice(0, n)}…`, this.gutter - 12)) n--;
    return `${text.slice(0, n)}…`;
  }

  // Moments of the axis: 1, 2 or 5 times a power of ten, about every 110 pixels, and at least two.
  ticks() {
    const { view } = this, rough = (view.to - view.from) / Math.max(3, this.plot / 110);
    const power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].find((n) => n * power >= rough) * power;
    const first = Math.ceil(view.from / step);
    return { step, times: Array.from({ length: Math.floor(view.to / step) - first + 1 }, (_, i) => (first + i) * step) };
  }

  paintGrid() {
    this.ctx.fillStyle = this.theme.line;
    for (const time of this.ticks().times) this.ctx.fillRect(this.x(time), AXIS, 1, this.height - AXIS);
  }

  paintAxis() {
    const { ctx, theme, view } = this, { step, times } = this.ticks();
    const digits = Math.min(15, Math.max(4, Math.ceil(Math.log10(view.to / step)) + 2));
    ctx.fillStyle = theme.card;
    ctx.fillRect(0, 0, this.width, AXIS);
    ctx.font = FONT;
    ctx.textBaseline = "middle";
    ctx.textAlign = "center";
    for (const time of times) {
      const x = this.x(time);
      ctx.fillStyle = theme.line;
      ctx.fillRect(x, AXIS - 6, 1, 6);
      ctx.fillStyle = theme.soft;
      if (x > this.gutter + 4 && x < this.width - 24) ctx.fillText(formatTime(time, digits), x, 9);
    }
    ctx.fillStyle = theme.line;
    ctx.fillRect(this.gutter, AXIS - 1, this.plot, 1);
    if (this.scrollMax > 0) this.paintScrollbar();
  }

  paintScrollbar() {
    const { ctx } = this, room = this.height - AXIS, size = Math.max(24, room * room / this.content);
    ctx.fillStyle = this.theme.faint;
    ctx.globalAlpha = .6;
    ctx.fillRect(this.width - 5, AXIS + this.view.scroll / this.scrollMax * (room - size), 4, size);
    ctx.globalAlpha = 1;
  }

  paintRange() {
    if (!this.range) return;
    const [a, b, c, d] = this.range, { ctx } = this, isBox = this.isBox();
    ctx.fillStyle = this.theme.accent;
    ctx.globalAlpha = .25;
    ctx.fillRect(Math.min(a, b), isBox ? Math.min(c, d) : 0, Math.abs(b - a), isBox ? Math.abs(d - c) : this.height);
    ctx.globalAlpha = 1;
  }

  // Of low rows, a range is one of rows, too.
  isBox() {
    return this.used < NAMED && Math.abs(this.range[3] - this.range[2]) > 10;
  }

  // The share of all rows in each kind, over the whole trace: drawn once, then copied.
  paintOverview() {
    this.profile ??= this.makeProfile();
    const ctx = this.overview.getContext("2d"), { ratio } = this, span = Math.max(1, this.trace.span);
    const h = 54, left = this.gutter + this.view.from / span * this.plot, right = this.gutter + this.view.to / span * this.plot;
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.fillStyle = this.theme.card;
    ctx.fillRect(0, 0, this.overview.width, this.overview.height);
    ctx.putImageData(this.profile, Math.round(this.gutter * ratio), 0);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.fillStyle = this.theme.soft;
    ctx.font = FONT;
    ctx.textAlign = "right";
    ctx.textBaseline = "middle";
    ctx.fillText("all rows", this.gutter - 10, h / 2);
    ctx.fillStyle = this.theme.card;
    ctx.globalAlpha = .72;
    ctx.fillRect(this.gutter, 0, Math.max(0, left - this.gutter), h);
    ctx.fillRect(right, 0, Math.max(0, this.width - right), h);
    ctx.globalAlpha = 1;
    ctx.strokeStyle = this.theme.accent;
    ctx.lineWidth = 2;
    ctx.strokeRect(Math.max(this.gutter + 1, left), 1, Math.max(3, Math.min(this.width - 1, right) - Math.max(this.gutter + 1, left)), h - 2);
  }

  makeProfile() {
    const w = Math.max(1, this.overview.width - Math.round(this.gutter * this.ratio)), rows = this.overview.height;
    const n = this.trace.kinds.length + 1, total = new Float64Array(w * n), scale = this.trace.span / w || 1;
    for (const row of this.trace.rows) accumulate(row, 0, scale, w, n, total);
    return this.profileImage(total, w, rows, rows / Math.max(1, this.trace.rows.length));
  }

  // Columns of `cell` pixels, filled in proportion to the time of each kind.
  profileImage(total, columns, rows, height, cell = 1, w = columns) {
    const image = new ImageData(w, rows), words = new Uint32Array(image.data.buffer).fill(this.trackPixel);
    const n = this.trace.kinds.length + 1, kinds = [...this.order.filter((k) => !this.trace.kinds[k].hidden), n - 1];
    for (let column = 0; column < columns; column++) {
      let filled = 0, bottom = rows;
      for (const k of kinds) {
        filled += total[column * n + k];
        const top = Math.max(0, rows - Math.round(filled * height));
        for (let y = bottom - 1; y >= top; y--)
          for (let x = column * cell, stop = Math.min(w, x + cell); x < stop; x++) words[y * w + x] = this.pixel[k];
        bottom = Math.min(bottom, top);
      }
    }
    return image;
  }
}
