// The keys of the page, its theme, and where the focus goes: to what the arrow keys move.
import { byId } from "./dom.js";

const THEMES = ["auto", "light", "dark"];
const STOPS = "[aria-current], [role=listbox], input[type=search], a, button";

function themeNow() {
  try {
    return localStorage.getItem("theme") ?? "auto";
  } catch {
    return "auto"; // a browser may keep nothing
  }
}

/** @param {string} theme */
function showTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = `Theme: ${theme}`;
}

function nextTheme() {
  const next = THEMES[(THEMES.indexOf(byId("theme").textContent.slice(7)) + 1) % THEMES.length] ?? "auto";
  showTheme(next);
  try {
    localStorage.setItem("theme", next);
  } catch {} // then it lasts until the page closes
}

/** Moves the focus into a view, to what the arrow keys move. @param {HTMLElement} view */
export function focusIn(view) {
  const stop = [...view.querySelectorAll(STOPS)].find((one) => one.checkVisibility());
  const listbox = view.querySelector("[role=listbox]");
  const target = /** @type {HTMLElement | undefined} */ (listbox ?? view.querySelector("[aria-current]") ?? stop);
  target?.focus({ preventScroll: true });
}

const help = byId("keys");
byId("theme").onclick = nextTheme;
byId("help").onclick = () => help.showModal();
help.querySelector("button").onclick = () => help.close();
document.addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof Element && event.target.closest("input, textarea, select");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || help.open) return;
  if (event.key === "?") help.showModal();
  if (event.key !== "/") return;
  const search = [byId("search"), byId("text")].find((one) => one.checkVisibility());
  if (!search) return;
  event.preventDefault();
  search.focus();
});
showTheme(themeNow());
