// What is chosen, and the URL's fragment that says it. Names, not numbers: a link fits any page
// that knows the names, and says what it shows.

// Lists are null where nothing was chosen: each view then shows what suits it.
const LISTS = ["record", "library", "algorithm"];
const WORDS = ["view", "direction", "model", "tier", "threads", "footprint", "place", "size", "unit", "of", "share", "theme", "case"];

const DEFAULTS = { view: "speed", unit: "mb", of: "limit", share: "byte", theme: "auto" };

let state = {};

// Commas divide a list; '@', '+' and '/' stay legible.
const encode = (text) => encodeURIComponent(text).replaceAll("%40", "@").replaceAll("%2B", "+").replaceAll("%2F", "/");

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function fromFragment(fragment) {
  const found = {};
  for (const part of fragment.replace(/^#/, "").split("&")) {
    const cut = part.indexOf("=");
    if (cut < 0) continue;
    const [key, value] = [part.slice(0, cut), part.slice(cut + 1)];
    if (LISTS.includes(key)) found[key] = value === "" ? [] : value.split(",").map(decode);
    else if (WORDS.includes(key)) found[key] = decode(value);
  }
  return found;
}

function toFragment(chosen) {
  const parts = [];
  for (const key of WORDS) {
    if (chosen[key] !== undefined && chosen[key] !== null && chosen[key] !== DEFAULTS[key]) parts.push(`${key}=${encode(chosen[key])}`);
  }
  for (const key of LISTS) {
    if (chosen[key]) parts.push(`${key}=${chosen[key].map(encode).join(",")}`);
  }
  return `#${parts.join("&")}`;
}

const get = (key) => state[key] ?? DEFAULTS[key];

// The fragment of the present view with some things chosen otherwise.
const linkTo = (changes) => toFragment({ ...state, ...changes });

// A new step in the browser's history for another view, none for another filter.
function choose(changes) {
  const step = "view" in changes && changes.view !== get("view");
  state = { ...state, ...changes };
  const fragment = toFragment(state);
  if (step) history.pushState(null, "", fragment);
  else history.replaceState(null, "", fragment);
  show();
}

function readFragment() {
  state = fromFragment(location.hash);
}
