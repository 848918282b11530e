// Tables that sort by any column.

const MOST_ROWS = 100;

// `columns`: { title, hint, cell(row) → text, node or cell element, sort(row) → value, number, start }.
// `start`: the direction that a first click sorts in, 1 ascending, −1 descending.
function table({ caption, columns, rows, sorted = null, className = "" }) {
  let by = sorted;
  let most = MOST_ROWS;
  const body = el("tbody");
  const heads = columns.map((column) => {
    const attributes = { scope: "col", class: column.number ? "num" : null, title: column.hint };
    if (!column.sort) return el("th", attributes, column.title);
    const sort = () => {
      const again = by?.column === column;
      by = { column, way: again ? -by.way : (column.start ?? 1) };
      draw();
    };
    return el("th", attributes, el("button", { type: "button", class: "sort", onclick: sort }, column.title));
  });
  const more = el("button", { type: "button", class: "more", onclick: () => { most = Infinity; draw(); } });
  function draw() {
    const ordered = by ? [...rows].sort((a, b) => by.way * order(by.column.sort(a), by.column.sort(b), by.way)) : rows;
    heads.forEach((th, i) => {
      if (by?.column === columns[i]) th.setAttribute("aria-sort", by.way > 0 ? "ascending" : "descending");
      else th.removeAttribute("aria-sort");
    });
    body.replaceChildren(...ordered.slice(0, most).map((row) => el("tr", { class: row.className }, columns.map((c, i) => cell(c, row, i)))));
    more.hidden = rows.length <= most;
    more.textContent = more.hidden ? "" : `${most} of ${rows.length} rows: show all`;
  }
  draw();
  return el("div", { class: "table-box" },
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
      el("table", { class: className }, el("caption", null, caption), el("thead", null, el("tr", null, heads)), body)),
    more);
}

// What has no value comes last whichever way the rest runs.
function order(a, b, way) {
  const none = (v) => v === null || v === undefined || Number.isNaN(v);
  if (none(a) || none(b)) return (none(a) - none(b)) * way;
  return typeof a === "string" ? byName(a, b) : a - b;
}

function cell(column, row, place) {
  const content = column.cell(row);
  if (content instanceof HTMLTableCellElement) return content;
  const attributes = { class: column.number ? "num" : null };
  return place === 0 ? el("th", { ...attributes, scope: "row" }, content) : el("td", attributes, content);
}

// A bar whose length is a fraction of its cell; the number beside it says the same.
function bar(fraction, className = "") {
  return el("span", { class: `bar ${className}`, "aria-hidden": "true" },
    el("span", { vars: { "--part": Math.max(0, Math.min(1, fraction || 0)) } }));
}

function swatch(number) {
  return el("span", { class: `swatch s${number}`, "aria-hidden": "true" });
}

const STATE_WORDS = { unsupported: "not offered", refused: "refused", failed: "failed", "left-out": "left out" };

function stateCell(i) {
  const state = data.columns.state[i];
  return el("td", { class: `num state ${state}`, title: reasonOf(i) }, STATE_WORDS[state] ?? state);
}
