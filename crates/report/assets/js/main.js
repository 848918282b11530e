// Which view is shown.

// `uses`: the filters that change what a view shows; `one`: whether it shows one algorithm where
// none was chosen.
const CASE_FILTERS = ["record", "library", "algorithm", "direction", "model", "tier", "threads", "footprint", "place"];
const OF_SURVEYS = {
  speed: { name: "Speed", draw: speedView, uses: [...CASE_FILTERS, "size", "unit"], one: true },
  heat: { name: "Heat map", draw: heatView, uses: [...CASE_FILTERS, "size", "of"] },
  tiers: { name: "Tiers", draw: ladderView, uses: [...CASE_FILTERS.filter((f) => f !== "tier"), "size", "unit"], one: true },
  costs: { name: "Costs", draw: costsView, uses: CASE_FILTERS },
  instructions: { name: "Instructions", draw: instructionsView, uses: ["record", "library", "algorithm", "direction", "model", "tier", "share"], one: true },
  secrets: { name: "Secrets", draw: secretsView, uses: ["record", "library", "algorithm", "tier"] },
  samples: { name: "Samples", draw: samplesView, uses: [] },
  problems: { name: "Not measured", draw: problemsView, uses: ["record", "library", "algorithm"] },
  machine: { name: "Machine", draw: machineView, uses: ["record"] },
};
const OF_SHEETS = {
  stores: { name: "Page stores", draw: storesView, uses: [], kind: "pages" },
  tls: { name: "TLS", draw: tlsView, uses: [], kind: "tls" },
  advice: { name: "Advice", draw: adviceView, uses: [], kind: "advice" },
};

// Views without anything to show are none.
const VIEWS = {
  ...(head.records.length > 0 ? OF_SURVEYS : {}),
  ...Object.fromEntries(Object.entries(OF_SHEETS).filter(([, view]) => head.sheets.some((s) => s.kind === view.kind))),
};
if (!VIEWS[DEFAULTS.view]) DEFAULTS.view = Object.keys(VIEWS)[0];

const viewName = () => (VIEWS[get("view")] ? get("view") : DEFAULTS.view);
const uses = (filter) => VIEWS[viewName()].uses.includes(filter);
const viewAlgorithms = () => (VIEWS[viewName()].one ? oneAlgorithm(viewName() === "tiers" ? ["tier"] : []) : null);

// What needs the new elements' sizes, done once they stand in the page.
let afterPaint = [];
let turn = 0;
let drawnOnce = false;

async function show() {
  const mine = ++turn;
  applyTheme();
  updateNavigation();
  updateControls();
  afterPaint = [];
  const parts = await VIEWS[viewName()].draw();
  // Something else was chosen while samples were unpacked.
  if (mine !== turn) return;
  chart?.destroy();
  chart = null;
  $("main").replaceChildren(...parts.flat(Infinity).filter(Boolean));
  afterPaint.forEach((draw) => draw());
  if (!drawnOnce) performance.mark("first-view");
  drawnOnce = true;
  performance.mark("view");
}

const links = {};

function buildNavigation() {
  $("views").append(el("ul", null, Object.entries(VIEWS).map(([id, view]) => {
    links[id] = el("a", {}, view.name, id === "problems" ? problemCount() : null);
    return el("li", null, links[id]);
  })));
}

function problemCount() {
  const n = head.records.reduce((sum, r) => sum + r.states[2] + r.states[3], 0);
  return n > 0 ? el("span", { class: "count-badge", title: "refused or failed" }, String(n)) : null;
}

function updateNavigation() {
  for (const [id, link] of Object.entries(links)) {
    link.setAttribute("href", linkTo({ view: id, ...(id === "samples" ? {} : { case: null }) }));
    if (id === viewName()) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${VIEWS[viewName()].name} · ciphermark: ${[...head.records, ...head.sheets].map((r) => r.label).join(", ")}`;
}

async function start() {
  readFragment();
  applyTheme();
  try {
    await load();
  } catch (error) {
    $("wait").textContent = `The results in this file cannot be unpacked (${error.message}). A current browser is needed, and the whole file.`;
    return;
  }
  buildNavigation();
  buildControls();
  // The link that jumps over the controls moves focus and leaves the fragment alone.
  $("skip").addEventListener("click", (e) => { e.preventDefault(); $("main").focus(); });
  addEventListener("hashchange", () => { readFragment(); show(); });
  addEventListener("popstate", () => { readFragment(); show(); });
  onColorsChanged(show);
  await show();
}

start();
