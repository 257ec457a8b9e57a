// Takes the modules of Node without the wrapper that an import makes: for `node:fs` alone, that wrapper evaluates all streams. The
// larger ones are taken when their first function is used. Without this, `validate` takes a tenth longer.

import { builtinModules } from "node:module";
import type { Plugin } from "rolldown";

const PREFIX = "\0builtin:";
/** `module`: the runtime of the bundle imports it. `test`: few runs need it. */
const AS_THEY_ARE = new Set(["module", "test"]);
/** Node has not loaded these when a program starts. */
const LARGE = new Set([
  "child_process",
  "crypto",
  "fs/promises",
  "net",
  "readline",
  "readline/promises",
  "tls",
  "v8",
]);
/** Never used: undici takes it, with all of TLS, for connections that the program does not allow. */
const UNUSED = new Set(["http2"]);

export const lazyBuiltins: Plugin = {
  name: "lazy-builtins",
  resolveId: {
    order: "pre",
    filter: { id: /^(?:node:)?[a-z][a-z_0-9/]*$/ },
    handler: (id, _importer, { kind }) => {
      const name = id.replace(/^node:/, "");
      // Node lists the newer ones, such as `node:sqlite`, with their prefix only.
      const isBuiltin = builtinModules.includes(name) || builtinModules.includes(`node:${name}`);
      if (AS_THEY_ARE.has(name) || !isBuiltin) return null;
      return { id: `${PREFIX}${name}.${kind === "require-call" ? "cjs" : "mjs"}`, moduleSideEffects: false };
    },
  },
  load: {
    filter: { id: /^\0builtin:/ },
    handler: (id) => ({ code: codeFor(id.slice(PREFIX.length, -4), id.endsWith(".cjs")), moduleType: "js" }),
  },
};

function codeFor(name: string, required: boolean): string {
  const take = `process.getBuiltinModule("node:${name}")`;
  // As undici has it on a Node without this module.
  if (UNUSED.has(name)) return "module.exports = { constants: {} };";
  if (required) return `module.exports = ${take};`;
  const builtin = process.getBuiltinModule(`node:${name}`) as unknown as Record<string, unknown>;
  const members = Object.keys(builtin).filter((key) => /^[A-Za-z_$][\w$]*$/.test(key) && key !== "default");
  const exports = members.map((key) =>
    LARGE.has(name) && /^[a-z]/.test(key) && typeof builtin[key] === "function"
      ? `export const ${key} = (...values) => take().${key}(...values);`
      : `export const ${key} = /* @__PURE__ */ member("${key}");`,
  );
  return [
    `let module; const take = () => (module ??= ${take});`,
    "const member = (name) => take()[name];",
    ...exports,
    LARGE.has(name)
      ? `export default { ${members.map((key) => `get ${key}() { return take().${key}; }`).join(", ")} };`
      : "export default /* @__PURE__ */ take();",
  ].join("\n");
}
