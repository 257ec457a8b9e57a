// Completes the schemas of outputs (schemas/*.schema.json): `$defs` of the plan's schema are copied into every other one that refers to them, so that each file is whole.

import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { isObject, type Json, type JsonObject } from "../src/core/json.ts";

const FOLDER = fileURLToPath(new URL("../schemas/", import.meta.url));

/** Made from the kinds, not written by hand. */
const OF_SPECS = ["workspace.schema.json", "test.schema.json", "prices.schema.json"];
const SHARED = "plan.schema.json";

function schemaIn(file: string): JsonObject {
  return JSON.parse(readFileSync(`${FOLDER}${file}`, "utf8"));
}

/** The text of every schema of an output except the plan's, by file name. */
export function completeOutputSchemas(): ReadonlyMap<string, string> {
  const shared = schemaIn(SHARED).$defs as JsonObject;
  const files = globSync("*.schema.json", { cwd: FOLDER }).map((path) => basename(path));
  const own = files.filter((file) => file !== SHARED && !OF_SPECS.includes(file)).sort();
  return new Map(
    own.map((file) => [file, `${JSON.stringify(withShared(schemaIn(file), shared), null, 2)}\n`]),
  );
}

function withShared({ $defs = {}, ...schema }: JsonObject, shared: JsonObject): JsonObject {
  const own = Object.fromEntries(Object.entries($defs as JsonObject).filter(([name]) => !(name in shared)));
  const needed = new Set<string>();
  const follow = (value: Json): void => {
    for (const name of referencesIn(value)) {
      const definition = shared[name];
      if (definition === undefined || needed.has(name)) continue;
      needed.add(name);
      follow(definition);
    }
  };
  follow([schema, own]);
  const copied = [...needed].sort().map((name) => [name, shared[name] ?? null] as const);
  const all = { ...own, ...Object.fromEntries(copied) };
  return Object.keys(all).length === 0 ? schema : { ...schema, $defs: all };
}

function referencesIn(value: Json): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    name === "$ref" && typeof member === "string"
      ? [member.replace("#/$defs/", "")]
      : referencesIn(member ?? null),
  );
}
