// Light and dark: as the system asks, or as chosen.

const THEMES = { auto: "As the system", light: "Light", dark: "Dark" };

function applyTheme() {
  const chosen = get("theme");
  const root = document.documentElement;
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  else delete root.dataset.theme;
}

// A colour of the style sheets, for what is drawn on a canvas.
function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// Series colours are told apart by the colour-blind too; beyond these lines are thin and grey.
const SERIES_COLORS = 8;
const DASHES = [[], [], [], [], [7, 3], [7, 3], [2, 3], [2, 3]];

function onColorsChanged(draw) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}
