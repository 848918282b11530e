// Filters: real inputs, built once, brought up to date after each change so that focus stays.

const controls = [];

function oneOf(key, title, list, present, name = (v) => v) {
  const select = el("select", { id: `f-${key}`, onchange: () => choose({ [key]: select.value }) });
  const box = el("label", { class: "field", for: `f-${key}` }, el("span", null, title), select);
  let shown = "";
  controls.push(() => {
    const values = list();
    const wanted = values.join("\n");
    if (shown !== wanted) {
      shown = wanted;
      select.replaceChildren(...values.map((v) => el("option", { value: v }, name(v))));
    }
    select.value = present();
    box.hidden = values.length < 2 || !uses(key);
  });
  return box;
}

function radios(key, title, values) {
  const inputs = Object.entries(values).map(([value, name]) => {
    const input = el("input", { type: "radio", name: key, value, onchange: () => choose({ [key]: value }) });
    return [value, input, el("label", { title: name.title }, input, el("span", null, name.name ?? name))];
  });
  const box = el("fieldset", { class: "radios" }, el("legend", null, title), inputs.map(([, , l]) => l));
  controls.push(() => {
    inputs.forEach(([value, input]) => { input.checked = get(key) === value; });
    box.hidden = !uses(key);
  });
  return box;
}

// A list of boxes to tick behind a button that says what is ticked.
function manyOf(key, title) {
  const summary = el("summary", { id: `f-${key}` });
  const search = el("input", { type: "search", placeholder: "part of a name", "aria-label": `${title}: search`, autocomplete: "off" });
  const list = el("div", { class: "ticks", role: "group", "aria-label": title });
  const button = (text, wanted) => el("button", { type: "button", onclick: () => choose({ [key]: wanted() }) }, text);
  const visible = () => ticks.filter((t) => !t.row.hidden).map((t) => t.value);
  const buttons = el("div", { class: "row" },
    button("All", () => null), button("None", () => []), button("Only what is listed", visible));
  const box = el("details", { class: "pick" }, summary, el("div", { class: "panel" }, search, buttons, list));
  let ticks = [];
  let shown = null;
  const hide = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    ticks.forEach((t) => { t.row.hidden = !words.every((w) => t.value.toLowerCase().includes(w)); });
  };
  const change = () => choose({ [key]: ticks.filter((t) => t.input.checked).map((t) => t.value) });
  search.addEventListener("input", hide);
  search.addEventListener("keydown", (e) => {
    if (e.key !== "Enter") return;
    e.preventDefault();
    choose({ [key]: visible() });
  });
  controls.push(() => {
    const values = valuesOf(key);
    if (shown === null) {
      shown = values;
      ticks = values.map((value) => {
        const input = el("input", { type: "checkbox", onchange: change });
        return { value, input, row: el("label", null, input, named(value)) };
      });
      list.replaceChildren(...ticks.map((t) => t.row));
    }
    const chosen = chosenOf(key) ?? (key === "algorithm" ? viewAlgorithms() : null);
    ticks.forEach((t) => { t.input.checked = !chosen || chosen.has(t.value); });
    const words = !chosen || chosen.size === values.length ? `all ${values.length}`
      : chosen.size === 1 ? [...chosen][0] : `${chosen.size} of ${values.length}`;
    summary.replaceChildren(el("span", null, title), " ", el("b", null, named(words)));
    box.hidden = values.length < 2 || !uses(key);
  });
  closing(box, summary);
  return box;
}

// Panels close by Escape and by a click elsewhere, as menus do.
function closing(box, summary) {
  box.addEventListener("keydown", (e) => {
    if (e.key !== "Escape" || !box.open) return;
    box.open = false;
    summary.focus();
  });
  document.addEventListener("pointerdown", (e) => {
    if (box.open && !box.contains(e.target)) box.open = false;
  });
}

function buildControls() {
  $("filters").addEventListener("submit", (e) => e.preventDefault());
  const sizes = () => data.sizes.map(String);
  const tiers = () => [...options("tier"), ...(get("view") === "speed" ? [ALL] : [])];
  $("filters").append(
    manyOf("record", "Records"),
    manyOf("algorithm", "Algorithms"),
    manyOf("library", "Libraries"),
    oneOf("direction", "Direction", () => options("direction"), () => single("direction")),
    oneOf("model", "Model", () => options("model"), () => single("model")),
    oneOf("tier", "Tier", tiers, () => single("tier")),
    oneOf("threads", "Threads", () => options("threads"), () => single("threads")),
    oneOf("footprint", "Footprint", () => options("footprint"), () => single("footprint")),
    oneOf("place", "Buffers", () => options("place"), () => single("place")),
    oneOf("size", "Size", sizes, () => String(comparedSize(select(data.series, { free: ["algorithm", "library"] }))), (v) => bytesName(Number(v))),
    radios("unit", "Unit", UNITS),
    radios("of", "Fraction", { limit: "of the limit", best: "of the best" }),
    radios("share", "Instructions", { byte: "of each byte", message: "of a message" }),
    el("button", { type: "button", class: "reset", onclick: () => choose({ ...Object.fromEntries([...LISTS, ...WORDS].map((k) => [k, null])), view: get("view"), theme: get("theme") }) }, "Reset"),
  );
  const theme = el("select", { id: "f-theme", onchange: () => choose({ theme: theme.value }) },
    Object.entries(THEMES).map(([v, name]) => el("option", { value: v }, name)));
  controls.push(() => { theme.value = get("theme"); });
  $("tools").append(
    el("label", { class: "field", for: "f-theme" }, el("span", null, "Colours"), theme),
    el("button", { type: "button", onclick: () => print() }, "Print"),
  );
}

function updateControls() {
  controls.forEach((update) => update());
  $("filters").hidden = [...$("filters").children].every((c) => c.hidden || c.matches(".reset"));
}
