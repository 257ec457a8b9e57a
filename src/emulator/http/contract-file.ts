// Reads the API descriptions from the program's folder, once per process, from a JSON copy if there is one.

import { hash } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { makeFolder } from "../../core/regular-file.ts";
import { type Contract, readContract } from "./contract.ts";

const read = new Map<string, Contract>();

/** The contract. A folder may keep it as JSON, which is parsed a hundred times faster than YAML. */
export function contractFile(copyIn?: string): Contract {
  return described("openapi", copyIn);
}

export function dialectFile(cloud: string, copyIn?: string): Contract {
  return described("openapi-databricks", copyIn, cloud);
}

// The names are written out, because the one-file program has the text in place of each call.
const TEXTS = {
  openapi: () => readFileSync(new URL("../../../schemas/openapi.yaml", import.meta.url), "utf8"),
  "openapi-databricks": () =>
    readFileSync(new URL("../../../schemas/openapi-databricks.yaml", import.meta.url), "utf8"),
} as const;

function described(name: keyof typeof TEXTS, copyIn: string | undefined, cloud?: string): Contract {
  const key = `${name} ${cloud ?? ""}`;
  const known = read.get(key);
  if (known !== undefined) return known;
  const text = TEXTS[name]();
  const openapi = copyIn === undefined ? parseContract(text) : throughCopy(name, copyIn, text);
  const contract = readContract(openapi, cloud);
  read.set(key, contract);
  return contract;
}

const parseContract = (text: string): JsonObject => parse(text) as JsonObject;

function throughCopy(name: string, folder: string, text: string): JsonObject {
  const stamp = hash("sha256", text);
  const path = join(folder, `${name}.json`);
  const copy = readCopy(path);
  if (copy?.stamp === stamp && isObject(copy.openapi)) return copy.openapi;
  const made = parseContract(text);
  makeFolder(folder, 0o700);
  writeFileSync(`${path}.${process.pid}`, JSON.stringify({ stamp, openapi: made }));
  renameSync(`${path}.${process.pid}`, path);
  return made;
}

/** Undefined for a copy that is missing or damaged, which is made again. */
function readCopy(path: string): JsonObject | undefined {
  try {
    const copy: Json = JSON.parse(readFileSync(path, "utf8"));
    return isObject(copy) ? copy : undefined;
  } catch {
    return undefined;
  }
}
