// What shows the value of a place in a form. A control that does not say the value that it was made for cannot show it,
// and a field for JSON takes its place.
import { make, put } from "./dom.js";
import { FIELDS, ofJson } from "./fields.js";
import { ofFile } from "./files.js";
import { write } from "./json.js";
import { ofMembers } from "./members.js";
import { MOST_PARTS, nodeAt } from "./nodes.js";
import { ofDuration, ofTime } from "./times.js";

/** @import { Control, Form, FormNode, Maker } from "./form.js" */

const MOST_DEPTH = 10;

/** The only kind of values, which may be one besides null; else all. @param {Form} form @param {FormNode} node */
function narrowed(form, node, withNull = false) {
  const kinds = (node.kinds ?? []).map(({ at }) => nodeAt(form, at));
  const [kind, ...others] = kinds.filter((one) => withNull || one?.type !== "null");
  return others.length ? node : (kind ?? node);
}

/**
 * The control of a place. Without a value it begins with the default, or with what is needed.
 * @param {Form} form @param {number | null | undefined} number @param {unknown} value @returns {Control}
 */
export function control(form, number, value, isNeeded = true) {
  form.counts.left -= 20; // about as many elements as it has
  const place = form.depth < MOST_DEPTH && form.counts.left > 0 ? nodeAt(form, number) : null;
  const preset = isNeeded || place?.default !== null ? place?.default : undefined;
  const given = value === undefined ? preset : value;
  const kind = place && narrowed(form, place, isNeeded || given === null);
  for (const type of kind ? [kind.control, kind.type ?? ""] : []) {
    const made = kind && Object.hasOwn(MAKERS, type) && MAKERS[type]?.(form, kind, given, isNeeded);
    if (made && (given === undefined || write(made.read()) === write(given))) return made;
  }
  form.counts.misfits++;
  return ofJson(given);
}

/** A choice of the kind, and the control of the chosen one. @type {Maker} */
function ofUnion(form, { kinds = [] }, value) {
  const place = make("div");
  /** @type {Control} */
  let inner;
  /** @param {number | null | undefined} kind @param {unknown} given */
  const draw = (kind, given) => {
    const { misfits } = form.counts;
    inner = control(form, kind, given);
    (inner.field ?? inner.node).ariaLabel = "Value";
    put(place, inner.node);
    const fits = form.counts.misfits === misfits;
    form.counts.misfits = misfits;
    return fits;
  };
  const chosen = kinds.findIndex(({ at }) => draw(at, value));
  const options = kinds.map(({ name }, index) => make("option", { selected: index === chosen }, name));
  const choice = make("select", { "aria-label": "Kind" }, ...options);
  choice.addEventListener("input", () => {
    form.counts.left = MOST_PARTS;
    draw(kinds[choice.selectedIndex]?.at, undefined);
  });
  const node = make("div", { class: "kinds", role: "group" }, choice, place);
  return chosen < 0 ? null : { node, read: () => inner.read() };
}

/** What shows the values of a type. @type {Record<string, Maker>} */
const MAKERS = {
  ...FIELDS,
  object: ofMembers,
  array: ofMembers,
  union: ofUnion,
  time: ofTime,
  duration: ofDuration,
  file: ofFile,
};
