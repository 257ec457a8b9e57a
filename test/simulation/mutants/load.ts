// Seeds one bug while the program is loaded: the source of one module is changed, and all others are not.

import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { mutants } from "./mutants.ts";

const name = process.env.WORKSPACE_MUTANT ?? "";
const mutant = mutants.find((one) => one.name === name);
if (mutant === undefined) throw new Error(`there is no mutant ${name}`);

const target = new URL(`../../../${mutant.file}`, import.meta.url).href;
let met = false;

registerHooks({
  load(url, context, next) {
    if (url !== target) return next(url, context);
    met = true;
    const source = readFileSync(fileURLToPath(url), "utf8");
    if (source.split(mutant.find).length !== 2)
      throw new Error(`mutant ${name}: ${mutant.file} does not hold its text exactly once; adapt the mutant`);
    const changed = source.replace(mutant.find, () => mutant.put);
    return { format: "module-typescript", source: changed, shortCircuit: true };
  },
});

process.on("exit", (code) => {
  if (met || code !== 1) return;
  process.stderr.write(`mutant ${name}: ${mutant.file} was never loaded\n`);
  process.exitCode = 3;
});
