// The nodes of a form, as form_nodes.py writes them.

/** @import { Form, FormNode } from "./form.js" */

export const MOST_PARTS = 20_000; // what is made at once: elements, and steps to resolve schemas

/** @param {Form} form @param {number | null | undefined} number @returns {FormNode | null} */
export function nodeAt({ nodes }, number) {
  const node = typeof number === "number" ? nodes[number] : { control: "any" };
  if (!node) return null;
  return node.of === undefined ? node : { .../** @type {FormNode} */ (nodes[node.of]), ...node };
}
