// Making elements. Text from records goes in as text nodes and attribute values only: nothing here
// or elsewhere in these scripts reads HTML.

const $ = (id) => document.getElementById(id);

const SVG = "http://www.w3.org/2000/svg";

function fill(node, props, children) {
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key === "vars") for (const [name, v] of Object.entries(value)) node.style.setProperty(name, v);
    else if (key === "checked" || key === "selected" || key === "value") node[key] = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return node;
}

// An element with attributes, listeners (`onclick`), custom properties (`vars`) and children.
function el(name, props, ...children) {
  return fill(document.createElement(name), props, children);
}

function svg(name, props, ...children) {
  return fill(document.createElementNS(SVG, name), props, children);
}

// A name from a record: whatever direction its letters run in, the text around it stays.
function named(text) {
  return el("bdi", null, text);
}

// What a screen reader says; what eyes see changes with it.
let lastSaid = "";
function say(text) {
  if (text === lastSaid) return;
  lastSaid = text;
  $("said").textContent = text;
}

function empty(title, ...more) {
  return el("div", { class: "empty" }, el("p", { class: "empty-title" }, title), more.map((m) => el("p", null, m)));
}

function plural(n, one, many) {
  return `${n} ${n === 1 ? one : (many ?? `${one}s`)}`;
}
