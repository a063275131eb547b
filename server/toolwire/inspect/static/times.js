// Pickers of dates, times and durations. The text of a value stays as it is until a user changes it.
import { hint, make } from "./dom.js";
import { worded } from "./json.js";

/** @import { Maker } from "./form.js" */

const ZONE = /(?:[zZ]|[+-]\d\d:\d\d)$/;
const DURATION = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;
const UNITS = /** @type {[string, string, number][]} */ ([
  ["days", "D", 86_400],
  ["hours", "H", 3600],
  ["minutes", "M", 60],
  ["seconds", "S", 1],
]);

/** The offset of this place, as +02:00. */
function localZone() {
  const minutes = -new Date().getTimezoneOffset();
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${minutes < 0 ? "-" : "+"}${String(hours).padStart(2, "0")}:${String(rest).padStart(2, "0")}`;
}

/** @param {string} given @param {FormNode["zone"]} rule @import { FormNode } from "./form.js" */
function zonesOf(given, rule) {
  const zones = new Map([["Z", "UTC"]]);
  if (rule === "optional") zones.set("", "no time zone");
  zones.set(localZone(), `here, ${localZone()}`);
  if (given && !zones.has(given)) zones.set(given, given);
  const options = [...zones].map(([value, text]) => make("option", { value, selected: value === given }, text));
  return make("select", { "aria-label": "Time zone" }, ...options);
}

/** @type {Maker} */
export function ofTime(_form, { format, zone = "needed" }, value) {
  const type = format === "date-time" ? "datetime-local" : format;
  const hasZone = type !== "date" && zone !== "none";
  const text = worded(value);
  const given = hasZone ? (ZONE.exec(text)?.[0] ?? "") : "";
  const clock = text.slice(0, text.length - given.length).replace(/[t ]/, "T");
  const step = /\.\d/.test(clock) ? "any" : 1;
  const field = make("input", { type, required: true, step: type !== "date" && step, value: clock });
  if (clock && !field.value) return null;
  const fresh = zone === "optional" ? "" : "Z";
  const zones = hasZone && zonesOf(text ? given : fresh, zone);
  const node = zones ? make("div", { class: "parts" }, field, zones) : field;
  let read = () => (text ? value : undefined);
  node.addEventListener("input", () => {
    const seconds = field.value.replace(/(?<=^|T)\d\d:\d\d$/, "$&:00");
    read = () => (field.value ? seconds + (zones ? zones.value : "") : undefined);
  });
  return { node, field, read: () => read() };
}

/** @type {Maker} */
export function ofDuration(_form, _node, value) {
  const found = DURATION.exec(worded(value) || "P");
  if (!found) return null;
  const total = UNITS.reduce((sum, [, , size], index) => sum + Number(found[index + 1] ?? 0) * size, 0);
  let left = total;
  const inputs = UNITS.map(([name, , size]) => {
    const count = size === 1 ? left : Math.floor(left / size);
    left -= count * size;
    const isZero = size === 1 && value !== undefined && total === 0;
    const shown = count || isZero ? count : "";
    return make("input", { type: "number", min: 0, step: size === 1 ? "any" : 1, "aria-label": name, value: shown });
  });
  const check = () => inputs[0]?.setCustomValidity(written() || value ? "" : "Say how long.");
  const written = () => {
    const parts = inputs.map((input, index) => (input.value ? `${input.value}${UNITS[index]?.[1]}` : ""));
    const [days, ...clock] = parts;
    return parts.some(Boolean) ? `P${days}${clock.some(Boolean) ? `T${clock.join("")}` : ""}` : undefined;
  };
  const units = inputs.map((input, index) => make("label", { class: "unit" }, input, hint(UNITS[index]?.[0])));
  const node = make("div", { class: "parts", role: "group" }, ...units);
  let read = () => value;
  node.addEventListener("input", () => {
    read = written;
    check();
  });
  check();
  return { node, read: () => read() };
}
