// Scales and axes for the charts that are drawn as SVG.

// From values to pixels, logarithmically; `from` and `to` are rounded outwards to a half decade.
function logScale(values, from, to) {
  const logs = values.filter((v) => v > 0 && Number.isFinite(v)).map(Math.log10);
  const low = Math.floor((Math.min(...logs) - 0.02) * 4) / 4;
  const high = Math.max(low + 0.25, Math.ceil((Math.max(...logs) + 0.02) * 4) / 4);
  const scale = (v) => from + ((Math.log10(v) - low) / (high - low)) * (to - from);
  scale.ticks = logTicks(low, high);
  scale.ends = [10 ** low, 10 ** high];
  return scale;
}

function logTicks(low, high) {
  const steps = high - low > 3 ? [1] : high - low > 1.2 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 8];
  const ticks = [];
  for (let d = Math.floor(low); d <= high; d++) {
    for (const step of steps) {
      const log = d + Math.log10(step);
      if (log >= low - 1e-9 && log <= high + 1e-9) ticks.push(step * 10 ** d);
    }
  }
  return ticks;
}

function linearScale(low, high, from, to) {
  const span = high - low || 1;
  const scale = (v) => from + ((v - low) / span) * (to - from);
  const rough = span / 6;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * unit).find((s) => s >= rough);
  scale.ticks = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-6; v += step) scale.ticks.push(+v.toPrecision(12));
  return scale;
}

const tickName = (v) => (v >= 1e6 ? `${+(v / 1e6).toPrecision(3)}M` : v >= 1e4 ? `${+(v / 1e3).toPrecision(3)}k` : String(+v.toPrecision(6)));

function xAxis(scale, y, top, title, right) {
  return svg("g", { class: "axis" },
    scale.ticks.map((v) => [
      svg("line", { class: "grid", x1: scale(v), x2: scale(v), y1: top, y2: y }),
      svg("text", { x: scale(v), y: y + 16, "text-anchor": "middle" }, tickName(v)),
    ]),
    svg("text", { class: "axis-title", x: right, y: y + 34, "text-anchor": "end" }, title));
}

function yAxis(scale, x, right, title) {
  return svg("g", { class: "axis" },
    scale.ticks.map((v) => [
      svg("line", { class: "grid", x1: x, x2: right, y1: scale(v), y2: scale(v) }),
      svg("text", { x: x - 8, y: scale(v) + 4, "text-anchor": "end" }, tickName(v)),
    ]),
    svg("text", { class: "axis-title", x: x - 44, y: 14 }, title));
}
