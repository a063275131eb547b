// Copies what the package ships of the contract: the published schemas, their types, the cases; and the license.
import { cpSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const shipped = { v1: "schemas", cases: "cases" };

for (const [folder, name] of Object.entries(shipped)) {
  rmSync(here(name), { recursive: true, force: true });
  const filter = (path) => !/\.pyc?$|__pycache__/.test(path);
  cpSync(here(`../../schemas/toolwire_schemas/${folder}`), here(name), { recursive: true, filter });
}
cpSync(here("../../LICENSE"), here("LICENSE"));
