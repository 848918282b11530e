// Numbers with the digits that their interval supports, and no more: the same rule as the tables
// that the program prints.

const USUAL_DIGITS = 3;
const MOST_DIGITS = 4;

const decade = (value) => Math.floor(Math.log10(value));

// `relative`: half the interval's width as a fraction of the value; NaN where there is none.
function supported(value, relative) {
  if (!Number.isFinite(value)) return "?";
  if (value <= 0) return value === 0 ? "0" : `−${supported(-value, relative)}`;
  const half = value * relative;
  const leading = decade(value);
  const finest = Math.min(leading + 1 - MOST_DIGITS, 0);
  const known = Number.isFinite(half) && half >= 0;
  const uncertain = !known ? leading + 1 - USUAL_DIGITS : half > 0 ? decade(half) : finest;
  // However uncertain, the first digit is shown.
  const last = Math.min(Math.max(uncertain, finest), Math.max(leading, finest));
  if (last > 0) {
    const unit = 10 ** last;
    return String(Math.round(value / unit) * unit);
  }
  return value.toFixed(Math.min(-last, 100));
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

// A size as a heading has it: of a derivation what it is to cost, of an operation without bytes nothing.
function sizeWords(list, size) {
  const costs = new Set(list.map((s) => s.cost));
  const [cost] = costs;
  if (cost && costs.size === 1) return `${size} ${cost}`;
  return size === 0 ? "an operation" : bytesName(size);
}

// Units in which speed is shown. `of` takes a case's number; `low` and `high` are the ends of its
// interval in the same unit. What has no bytes has time only.
const UNITS = {
  mb: {
    name: "MB/s", title: "10⁶ bytes of plaintext a second", up: true, measured: "ns",
    of: (i) => megabytes(i, data.columns.ns[i]),
    low: (i) => megabytes(i, data.columns.ns_high[i]),
    high: (i) => megabytes(i, data.columns.ns_low[i]),
  },
  cpb: {
    name: "cycles/byte", title: "core cycles per byte of plaintext", up: false, measured: "cycles",
    of: (i) => data.columns.cycles[i] / bytesOf(i),
    low: (i) => data.columns.cycles_low[i] / bytesOf(i),
    high: (i) => data.columns.cycles_high[i] / bytesOf(i),
  },
  ns: {
    name: "ns/op", title: "nanoseconds per operation", up: false, measured: "ns",
    of: (i) => data.columns.ns[i],
    low: (i) => data.columns.ns_low[i],
    high: (i) => data.columns.ns_high[i],
  },
};

// Several threads together have a speed that is not one operation's size by its time.
function megabytes(i, ns) {
  const together = data.columns.mb_per_s[i];
  const alone = (bytesOf(i) * 1e3) / ns;
  if (Number.isNaN(together)) return alone;
  return (together * data.columns.ns[i]) / ns;
}

const bytesOf = (i) => (data.columns.has_bytes[i] ? data.columns.size[i] : NaN);

// The chosen unit, if any of these has a number in it.
function unitOf(list) {
  const unit = UNITS[get("unit")] ?? UNITS.mb;
  const has = list.some((s) => s.cases.some((i) => measured(i) && Number.isFinite(unit.of(i))));
  return has ? unit : UNITS.ns;
}

function relativeWidth(unit, i) {
  // Nobody knows how uncertain an imported figure is.
  if (isImported(i)) return NaN;
  const c = data.columns;
  return (c[`${unit.measured}_high`][i] - c[`${unit.measured}_low`][i]) / 2 / c[unit.measured][i];
}

// The sign before a figure. Where less is better, a bound is from above.
function signOf(unit, i) {
  const sign = data.columns.mark[i];
  return sign === ">" && !unit.up ? "<" : sign;
}

// `1234` of a case in a unit with its sign, and `1229 to 1239 MB/s, ±0.4 %`.
const inUnit = (unit, i) => signOf(unit, i) + supported(unit.of(i), relativeWidth(unit, i));

function interval(unit, i) {
  if (isBound(i)) return `at ${unit.up ? "least" : "most"} ${supported(unit.of(i), relativeWidth(unit, i))} ${unit.name}: only a busy core was seen`;
  if (isImported(i)) return `not measured here, unverified: ${data.texts[data.columns.imported[i]]}${isDoubted(i) ? `; not to be believed: ${reasonOf(i)}` : ""}`;
  const relative = relativeWidth(unit, i);
  const end = (value) => supported(value, relative);
  return `${end(unit.low(i))} to ${end(unit.high(i))} ${unit.name}, ±${percent(relative)} %`;
}
