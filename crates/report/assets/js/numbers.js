// Numbers with the digits that their interval supports, and no more: the same rule as the tables
// that the program prints.

const FEWEST_DIGITS = 3;
const MOST_DIGITS = 4;

const decade = (value) => Math.floor(Math.log10(value));

// `relative`: half the interval's width as a fraction of the value; NaN where there is none.
function supported(value, relative) {
  if (!Number.isFinite(value)) return "?";
  if (value <= 0) return value === 0 ? "0" : `−${supported(-value, relative)}`;
  const half = value * relative;
  const leading = decade(value);
  const coarsest = leading + 1 - FEWEST_DIGITS;
  const finest = Math.min(leading + 1 - MOST_DIGITS, 0);
  const uncertain = half > 0 ? decade(half) : half === 0 ? finest : coarsest;
  const last = Math.min(Math.max(uncertain, finest), Math.max(coarsest, finest));
  if (last > 0) {
    const unit = 10 ** last;
    return String(Math.round(value / unit) * unit);
  }
  return value.toFixed(-last);
}

// A number without an interval: three digits.
const figure = (value) => supported(value, NaN);

function percent(fraction) {
  const value = fraction * 100;
  if (!Number.isFinite(value)) return "?";
  if (value >= 9.95) return value.toFixed(0);
  if (value >= 0.05) return value.toFixed(1);
  return value > 0 ? "<0.1" : "0";
}

function sizeName(bytes) {
  if (bytes >= 1048576 && bytes % 1048576 === 0) return `${bytes / 1048576}M`;
  if (bytes >= 1024 && bytes % 1024 === 0) return `${bytes / 1024}K`;
  return String(bytes);
}

function bytesName(bytes) {
  for (const [unit, name] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [1024, "KiB"]]) {
    if (bytes >= unit) return `${+(bytes / unit).toFixed(1)} ${name}`;
  }
  return `${bytes} B`;
}

// Units in which speed is shown. `of` takes a case's number; `low` and `high` are the ends of its
// interval in the same unit.
const UNITS = {
  mb: {
    name: "MB/s", title: "10⁶ bytes of plaintext a second", up: true,
    of: (i) => megabytes(i, data.columns.ns[i]),
    low: (i) => megabytes(i, data.columns.ns_high[i]),
    high: (i) => megabytes(i, data.columns.ns_low[i]),
  },
  cpb: {
    name: "cycles/byte", title: "core cycles per byte of plaintext", up: false,
    of: (i) => data.columns.cycles[i] / data.columns.size[i],
    low: (i) => data.columns.cycles_low[i] / data.columns.size[i],
    high: (i) => data.columns.cycles_high[i] / data.columns.size[i],
  },
  ns: {
    name: "ns/op", title: "nanoseconds per operation", up: false,
    of: (i) => data.columns.ns[i],
    low: (i) => data.columns.ns_low[i],
    high: (i) => data.columns.ns_high[i],
  },
};

// Several threads together have a speed that is not one operation's size by its time.
function megabytes(i, ns) {
  const together = data.columns.mb_per_s[i];
  const alone = (data.columns.size[i] * 1e3) / ns;
  if (Number.isNaN(together)) return alone;
  return (together * data.columns.ns[i]) / ns;
}

function relativeWidth(unit, i) {
  // Nobody knows how uncertain an imported figure is.
  if (isImported(i)) return NaN;
  return Math.abs(unit.high(i) - unit.low(i)) / 2 / unit.of(i);
}

// `1234` of a case in a unit, and `1234 ±5 MB/s (1229 to 1239)`.
const inUnit = (unit, i) => supported(unit.of(i), relativeWidth(unit, i));

function interval(unit, i) {
  if (isImported(i)) return `not measured here, unverified: ${data.texts[data.columns.imported[i]]}${isDoubted(i) ? `; not to be believed: ${reasonOf(i)}` : ""}`;
  const relative = relativeWidth(unit, i);
  const end = (value) => supported(value, relative);
  return `${end(unit.low(i))} to ${end(unit.high(i))} ${unit.name}, ±${percent(relative)} %`;
}
