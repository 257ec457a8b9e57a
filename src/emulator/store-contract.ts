// Reads schemas/openapi.yaml from where the program lies; once per process.

import { readFileSync } from "node:fs";
import { parse } from "yaml";
import type { JsonObject } from "../core/json.ts";
import { type Contract, readContract } from "./contract.ts";

const FILE = new URL("../../schemas/openapi.yaml", import.meta.url);
let read: Contract | undefined;

export function contractFile(): Contract {
  read ??= readContract(parse(readFileSync(FILE, "utf8")) as JsonObject);
  return read;
}
