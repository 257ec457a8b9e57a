// A complete state as JSON for users and scripts: the format of `state pull` and `state push`. It has no digest, so
// it can be edited.

import { Failure, failureOf, thrownText } from "../../core/diagnostic.ts";
import { JsonTooDeep, parseJson, stringifyJson } from "../../core/exact-json.ts";
import type { Json } from "../../core/json.ts";
import { FORMAT_VERSION } from "../model/failures.ts";
import { type State, sortedRecords } from "../model/record.ts";
import { InvalidShape, shapeOf } from "./shape.ts";
import { stateIn, upgraded } from "./snapshot.ts";
import { lastMembers } from "./snapshot-text.ts";

export interface PortableState {
  readonly state: State;
  /** Check of the key that made its digests of secrets; empty where it holds none. */
  readonly key: string;
}

export function stateToJson({ state, key }: PortableState): string {
  const { lineage, serial, host } = state;
  const head = { format_version: FORMAT_VERSION, lineage, serial, host, key };
  const all = { ...head, ...lastMembers(state), records: sortedRecords(state) };
  return `${stringifyJson(all, 2)}\n`;
}

/** Throws STATE_CORRUPT with what is wrong, STATE_FORMAT for JSON of a newer version. */
export function stateFromJson(text: string, file: string): PortableState {
  try {
    const from = shapeOf(parsed(text), "state");
    const version = from.number("format_version");
    const data = shapeOf(upgraded(from.value, version, file), "state");
    const state = stateIn(data);
    const records = data.objects("records");
    if (records.length !== state.records.size) throw new InvalidShape("duplicate address in records");
    return { state, key: data.text("key") };
  } catch (failure) {
    if (failure instanceof Failure) throw failure;
    throw notAState(file, thrownText(failure));
  }
}

function parsed(text: string): Json {
  try {
    return parseJson(text);
  } catch (problem) {
    throw new InvalidShape(problem instanceof JsonTooDeep ? problem.message : "the text is not JSON");
  }
}

function notAState(file: string, what: string): Failure {
  return failureOf("STATE_CORRUPT", `${file} does not contain a state: ${what}`, {
    hint: "pass a file that `workspace state pull` wrote",
  });
}
