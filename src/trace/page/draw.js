// SPDX-License-Identifier: BSD-3-Clause
// Drawing. A row with few states in sight is drawn state by state, nested ones lower and on top. A
// row with many is drawn pixel column by pixel column: each column is filled in proportion to the
// time of each kind in it, exactly, from the prefix sums. So the cost of a frame depends on the size
// of the window and not on the number of events, and nothing is hidden by what was drawn last.
"use strict";

const GUTTER_MIN = 70, GUTTER_MAX = 220, AXIS = 26, GROUP = 20, GAP = 4;
const RECTS = 9000;  // states drawn one by one per frame, at most
const ARROWS = 2500; // messages drawn per frame, at most
const LABEL = '11.5px system-ui, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';
const FONT = '12px system-ui, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif';

class Painter {
  constructor(trace, canvas, overview) {
    this.trace = trace;
    this.canvas = canvas;
    this.overview = overview;
    this.ctx = canvas.getContext("2d", { alpha: false });
    this.view = { from: 0, to: Math.max(1, trace.span), scroll: 0 };
    this.showArrows = false;
    this.selected = null; // {row, state}
    this.range = null;    // [x, x] while shift-dragging
    this.order = trace.kinds.map((kind) => kind.index).sort((a, b) => this.rank(a) - this.rank(b) || a - b);
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
      line: css("--line"), track: css("--track"), accent: css("--accent") };
    this.rgb = this.trace.kinds.map((kind) => this.shade(kind));
    this.css = this.rgb.map(([r, g, b]) => `rgb(${r} ${g} ${b})`);
    this.text = this.rgb.map(([r, g, b]) => r * .3 + g * .59 + b * .11 > 140 ? "#14202b" : "#ffffff");
    const track = parseInt(this.theme.track.slice(1), 16), dim = this.dark ? [46, 57, 69] : [217, 222, 228];
    const pack = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;
    this.trackPixel = pack([track >> 16, track >> 8 & 255, track & 255]);
    this.pixel = Uint32Array.from([...this.rgb, dim].map(pack));
    this.dim = `rgb(${dim.join(" ")})`;
  }

  // On dark ground colours are lifted a little, and idleness steps back.
  shade(kind) {
    const rgb = [kind.colour >> 16, kind.colour >> 8 & 255, kind.colour & 255];
    if (!this.dark) return rgb;
    const [goal, part] = kind.role === ROLE.IDLE ? [[40, 50, 61], .82] : [[255, 255, 255], .1];
    return rgb.map((v, i) => Math.round(v + (goal[i] - v) * part));
  }

  resize() {
    const ratio = this.ratio = window.devicePixelRatio || 1;
    this.width = this.canvas.parentElement.clientWidth - 28;
    this.ctx.font = FONT;
    const widest = Math.max(...this.trace.rows.map((row) => this.ctx.measureText(row.name).width), 0);
    this.gutter = Math.min(GUTTER_MAX, Math.max(GUTTER_MIN, Math.ceil(widest) + 18));
    this.layout();
    for (const [canvas, height] of [[this.canvas, this.height], [this.overview, 54]]) {
      canvas.width = Math.round(this.width * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.height = `${height}px`;
    }
    this.profile = null;
  }

  // Where each line is: groups with a heading when there are several, rows, then counters.
  layout() {
    const { rows, series } = this.trace, groups = new Set(rows.map((row) => row.group)).size > 1;
    const most = Math.max(260, window.innerHeight - 330), lines = rows.length + 1.4 * series.length;
    const line = Math.max(14, Math.min(30, Math.floor(most / Math.max(1, lines)) - GAP));
    let y = 4;
    this.lines = [];
    rows.forEach((row, i) => {
      if (groups && (i === 0 || row.group !== rows[i - 1].group)) {
        this.lines.push({ group: row.group || "rows", y, h: GROUP - GAP });
        y += GROUP;
      }
      this.lines.push(row.line = { row, y, h: line });
      y += line + GAP;
    });
    for (const one of series) {
      this.lines.push({ series: one, y, h: Math.round(line * 1.4) });
      y += Math.round(line * 1.4) + GAP;
    }
    this.content = y;
    this.height = AXIS + Math.min(y, Math.max(most, 200));
    this.scrollMax = Math.max(0, y + AXIS - this.height);
    this.view.scroll = Math.min(this.view.scroll, this.scrollMax);
  }

  get plot() { return this.width - this.gutter; }
  x(time) { return this.gutter + (time - this.view.from) / (this.view.to - this.view.from) * this.plot; }
  time(x) { return this.view.from + (x - this.gutter) / this.plot * (this.view.to - this.view.from); }
  lineAt(y) {
    const at = y - AXIS + this.view.scroll;
    return y < AXIS ? undefined : this.lines.find((line) => at >= line.y && at < line.y + line.h + GAP);
  }
  top(line) { return AXIS + line.y - this.view.scroll; }

  paint() {
    const { ctx, ratio } = this;
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    ctx.globalAlpha = 1;
    ctx.fillStyle = this.theme.card;
    ctx.fillRect(0, 0, this.width, this.height);
    const visible = this.lines.filter((line) => this.top(line) + line.h > AXIS && this.top(line) < this.height);
    const rows = visible.filter((line) => line.row);
    this.paintGrid();
    for (const line of rows) this.paintRow(line.row, this.top(line), line.h, Math.min(this.plot / 2, RECTS / rows.length));
    for (const line of visible) if (line.series) this.paintSeries(line.series, this.top(line), line.h);
    this.paintMarks();
    this.paintLinks();
    this.paintSelection();
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
    const texts = row.id[i] >= 0 ? [`${label} ${row.id[i]}`, label] : [label];
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
      const line = trace.rows[mark.row].line, x = this.x(mark.time), y = this.top(line);
      ctx.fillRect(x - .5, y - 1, 1, line.h + 2);
      ctx.beginPath();
      ctx.moveTo(x - 4, y - 2);
      ctx.lineTo(x + 4, y - 2);
      ctx.lineTo(x, y + 4);
      ctx.fill();
    }
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

  paintSelection() {
    if (!this.selected) return;
    const { ctx } = this, row = this.trace.rows[this.selected.row];
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
    for (const line of visible) {
      const y = this.top(line) + line.h / 2 + .5;
      ctx.textAlign = line.group ? "left" : "right";
      ctx.fillStyle = line.row ? theme.ink : theme.soft;
      if (line.group) {
        ctx.fillStyle = theme.card;
        ctx.fillRect(0, this.top(line), this.gutter, line.h + GAP);
        ctx.fillStyle = theme.soft;
        ctx.fillText(line.group, 2, y + 1);
      } else ctx.fillText(this.shorten(this.nameOf(line)), this.gutter - 10, y);
    }
    ctx.restore();
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

  // Moments of the axis: 1, 2 or 5 times a power of ten, about every 110 pixels.
  ticks() {
    const { view } = this, rough = (view.to - view.from) / Math.max(2, this.plot / 110);
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
    const [a, b] = this.range, { ctx } = this;
    ctx.fillStyle = this.theme.accent;
    ctx.globalAlpha = .2;
    ctx.fillRect(Math.min(a, b), 0, Math.abs(b - a), this.height);
    ctx.globalAlpha = 1;
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
    let before = new Float64Array(n), now = new Float64Array(n);
    for (const row of this.trace.rows) {
      let hint = timeBefore(row, row.shown, 0, before);
      for (let column = 0; column < w; column++) {
        hint = timeBefore(row, row.shown, (column + 1) * scale, now, hint);
        for (let k = 0; k < n; k++) total[column * n + k] += now[k] - before[k];
        [before, now] = [now, before];
      }
    }
    return this.profileImage(total, w, rows, rows / (scale * Math.max(1, this.trace.rows.length)));
  }

  profileImage(total, w, rows, height) {
    const image = new ImageData(w, rows), words = new Uint32Array(image.data.buffer).fill(this.trackPixel);
    const n = this.trace.kinds.length + 1, kinds = [...this.order.filter((k) => !this.trace.kinds[k].hidden), n - 1];
    for (let column = 0; column < w; column++) {
      let filled = 0, bottom = rows;
      for (const k of kinds) {
        filled += total[column * n + k];
        const top = Math.max(0, rows - Math.round(filled * height));
        for (let y = bottom - 1; y >= top; y--) words[y * w + column] = this.pixel[k];
        bottom = Math.min(bottom, top);
      }
    }
    return image;
  }
}
