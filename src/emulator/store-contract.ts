// Reads schemas/openapi.yaml from where the program lies: once per process, and out of a copy as JSON where there is one.

import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { JsonObject } from "../core/json.ts";
import { type Contract, readContract } from "./contract.ts";

const FILE = new URL("../../schemas/openapi.yaml", import.meta.url);
let read: Contract | undefined;

/**
 * The contract. Parsing the YAML takes a hundred times as long as parsing JSON, so a folder may keep a copy,
 * which counts only for a file of the same size and time.
 */
export function contractFile(copyIn?: string): Contract {
  read ??= readContract(copyIn === undefined ? fromYaml() : throughCopy(copyIn));
  return read;
}

function fromYaml(): JsonObject {
  return parse(readFileSync(FILE, "utf8")) as JsonObject;
}

function throughCopy(folder: string): JsonObject {
  const { size, mtimeMs } = statSync(FILE);
  const stamp = `${size} ${mtimeMs}`;
  const path = join(folder, "openapi.json");
  const copy = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as JsonObject) : {};
  const { openapi } = copy;
  if (copy.stamp === stamp && openapi !== undefined) return openapi as JsonObject;
  const made = fromYaml();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.${process.pid}`, JSON.stringify({ stamp, openapi: made }));
  renameSync(`${path}.${process.pid}`, path);
  return made;
}
