// What is asked of the server for a tool, a resource, a template of URIs, or a prompt.
import { member, worded } from "./json.js";

/**
 * @import { PromptArgument } from "toolwire"
 * @import { FormNodes } from "./form.js"
 * @typedef {{ verb: string, path: string, form: FormNodes, body?: object, ref?: string,
 *   uriOf?: (values: unknown) => string }} Request What is asked of the server; it proposes values for a reference.
 */

const VARIABLES = /\{([+#./;?&]?)([^{}]*)\}/g;
const namesIn = (/** @type {string} */ inside) => inside.split(",").map((name) => name.replace(/\*$|:\d+$/, ""));

/** A URI template with values in it (RFC 6570). @param {string} template @param {unknown} values */
const expanded = (template, values) =>
  template.replace(VARIABLES, (_all, operator, inside) => {
    const encode = /[+#]/.test(operator) ? encodeURI : encodeURIComponent;
    const parts = namesIn(inside).flatMap((name) => {
      const text = worded(member(values, name)).toWellFormed();
      return text ? [(/[;?&]/.test(operator) ? `${name}=` : "") + encode(text)] : [];
    });
    const separator = operator.replace("?", "&").replace(/[+#]/, "") || ",";
    return parts.length ? operator.replace("+", "") + parts.join(separator) : "";
  });

/** A form of texts. @param {PromptArgument[]} texts @returns {FormNodes} */
function formOf(texts) {
  const properties = Object.fromEntries(texts.map((one, index) => [one.name, index + 1]));
  const required = texts.filter((one) => one.required).map((one) => one.name);
  const fields = texts.map(({ title, description }) => {
    const said = { title: title ? worded(title) : "", description: description ? worded(description) : "" };
    return { ...said, control: "string", minLength: 1, hint: "string · minLength 1" };
  });
  return [{ control: "object", properties, required, isClosed: true }, ...fields];
}

/** @param {{ uri?: string, uriTemplate: string }} one A resource, or a template. @returns {Request} */
function reading({ uri, uriTemplate: ref = uri ?? "" }) {
  const variables = uri === undefined ? [...ref.matchAll(VARIABLES)] : [];
  const texts = variables.flatMap(([, operator = "", inside = ""]) =>
    namesIn(inside).map((name) => ({ name, required: !/[?&]/.test(operator) })),
  );
  return { verb: "Read", path: "read", form: formOf(texts), ref, uriOf: (values) => uri ?? expanded(ref, values) };
}

/** What is asked of the server, by the kind of an item. @type {Record<string, (one: any, form?: any) => Request>} */
export const KINDS = {
  tool: ({ name: tool }, form) => ({ verb: "Call", path: "call", form, body: { tool } }),
  resource: reading,
  template: reading,
  prompt({ name, arguments: texts = [] }) {
    return { verb: "Get", path: "prompt", form: formOf(texts), ref: name, body: { name } };
  },
};
