// Decodes stored JSON to records, intents, sweeps, entries, and past runs.

import { type Address, parseAddress, type RemoteId, remoteId } from "../../core/address.ts";
import { type Json, type JsonObject, sharedIfSame } from "../../core/json.ts";
import type { PastChange, PastRun } from "../../core/past-run.ts";
import type {
  Acknowledgement,
  Intent,
  JournalEntry,
  OpenIntent,
  RemovedObject,
  ReportedDrift,
  StateRecord,
  Sweep,
} from "../model/record.ts";

/** `before`: another record. Neighbors often have the same parent and values, and sharing them halves the memory. */
export function decodeRecord(from: Shape, before?: StateRecord): StateRecord {
  const address = from.address("address");
  const id = from.id("id");
  const name = from.text("name");
  const common = {
    address,
    id: id === name ? (name as RemoteId) : id,
    name,
    applied: sharedIfSame(before?.applied, from.values("applied")),
    depends_on: sharedIfSame(before?.depends_on, from.addresses("depends_on")),
    ...(from.has("deposed") ? { deposed: from.ids("deposed") } : {}),
    ...(from.has("prevent_destroy") && from.flag("prevent_destroy")
      ? { prevent_destroy: true as const }
      : {}),
    ...(from.has("owns") ? { owns: from.texts("owns") } : {}),
    ...(from.has("former") ? { former: from.addresses("former") } : {}),
  };
  const status = from.text("status");
  if (status === "ready") return { ...common, status, seen: from.values("seen") };
  if (status === "creating") return { ...common, status, token: from.text("token") };
  if (status === "deleting") return { ...common, status };
  throw new InvalidShape(`a record has the unknown status "${status}"`);
}

function decodeIntent(from: Shape): Intent {
  const action = from.text("action");
  if (action !== "create" && action !== "update" && action !== "delete")
    throw new InvalidShape(`an intent has the unknown action "${action}"`);
  return {
    address: from.address("address"),
    operation: from.text("operation"),
    action,
    name: from.text("name"),
    ...(from.has("id") ? { id: from.id("id") } : {}),
    token: from.text("token"),
    existed: from.flag("existed"),
    wanted: from.values("wanted"),
    depends_on: from.addresses("depends_on"),
    ...(from.has("replaces") ? { replaces: from.id("replaces") } : {}),
  };
}

export function decodeOpen(from: Shape): OpenIntent {
  return {
    ...decodeIntent(from),
    seq: from.number("seq"),
    at: from.number("at"),
    ...(from.has("sent") ? { sent: from.number("sent") } : {}),
    ...(from.has("succeeded") ? { succeeded: from.number("succeeded") } : {}),
    ...(from.has("refused") ? { refused: from.number("refused") } : {}),
    ...(from.has("made") ? { made: from.id("made") } : {}),
  };
}

export function decodeSweep(from: Shape): Sweep {
  return {
    token: from.text("token"),
    address: from.address("address"),
    until: from.number("until"),
    ...(from.has("intent") ? { intent: decodeOpen(from.object("intent")) } : {}),
  };
}

export function decodeReported(from: Shape): ReportedDrift {
  return { address: from.address("address"), differences: from.texts("differences") };
}

export function decodeAcknowledgement(from: Shape): Acknowledgement {
  return {
    address: from.address("address"),
    ...(from.has("field") ? { field: from.text("field") } : {}),
    differences: from.texts("differences"),
    until: from.number("until"),
    reason: from.text("reason"),
    by: from.text("by"),
    at: from.number("at"),
  };
}

function decodeGone(from: Shape): RemovedObject {
  return { address: from.address("address"), ...(from.has("id") ? { id: from.id("id") } : {}) };
}

export function decodeEntry(from: Shape): JournalEntry {
  const type = from.text("type") as JournalEntry["type"];
  switch (type) {
    case "intent":
      return { type, intent: decodeIntent(from.object("intent")) };
    case "request":
      return { type, intent: from.number("intent"), operation: from.text("operation") };
    case "answer":
      return {
        type,
        intent: from.number("intent"),
        result: from.text("result") === "succeeded" ? "succeeded" : "refused",
      };
    case "created":
      return { type, intent: from.number("intent"), id: from.id("id") };
    case "done":
      return {
        type,
        intent: from.number("intent"),
        ...(from.has("record") ? { record: decodeRecord(from.object("record")) } : {}),
        ...(from.has("gone") ? { gone: decodeGone(from.object("gone")) } : {}),
      };
    case "closed":
      return { type, intent: from.number("intent") };
    case "record":
      return { type, record: decodeRecord(from.object("record")) };
    case "gone":
      return { type, gone: decodeGone(from.object("gone")) };
    case "moved":
      return { type, from: from.address("from"), to: from.address("to") };
    case "sweep":
      return { type, sweep: decodeSweep(from.object("sweep")) };
    case "swept":
      return { type, token: from.text("token") };
    case "host":
      return { type, host: from.text("host") };
    case "caller":
      return { type, name: from.text("name"), credential: from.text("credential") };
    case "nonce":
      return { type, nonce: from.text("nonce") };
    case "reported":
      return { type, reported: from.objects("reported").map(decodeReported) };
    case "acknowledged":
      return { type, acknowledgement: decodeAcknowledgement(from.object("acknowledgement")) };
    case "unacknowledged":
      return {
        type,
        address: from.address("address"),
        ...(from.has("field") ? { field: from.text("field") } : {}),
      };
    case "run":
      return { type, run: decodeRun(from.object("run")) };
    default: {
      throw new InvalidShape(`an entry has the unknown type "${String(type satisfies never)}"`);
    }
  }
}

export function decodeRun(from: Shape): PastRun {
  const applied = from.object("applied");
  return {
    id: from.text("id"),
    command: from.oneOf("command", ["apply", "destroy"]),
    actor: from.text("actor"),
    ...(from.has("target") ? { target: from.text("target") } : {}),
    ...(from.has("commit") ? { commit: from.text("commit") } : {}),
    ...(from.has("run_url") ? { run_url: from.text("run_url") } : {}),
    started_at: from.number("started_at"),
    ...(from.has("ended_at") ? { ended_at: from.number("ended_at") } : {}),
    ...(from.has("caller") ? { caller: from.text("caller") } : {}),
    plan: from.text("plan"),
    outcome: from.oneOf("outcome", ["applied", "failed", "interrupted", "unfinished"]),
    applied: Object.fromEntries(Object.keys(applied.value).map((action) => [action, applied.number(action)])),
    left: from.number("left"),
    changed: from.addresses("changed"),
    ...(from.has("more") ? { more: from.number("more") } : {}),
    ...(from.has("details") ? { details: from.objects("details").map(decodePastChange) } : {}),
  };
}

function decodePastChange(from: Shape): PastChange {
  return {
    address: from.address("address"),
    action: from.text("action"),
    ...(from.value.deposed === true ? { deposed: true } : {}),
    fields: from.objects("fields").map((field) => {
      const { before, after } = field.value;
      return { path: field.text("path"), before, after };
    }),
  };
}

/** Thrown if stored data has a form that the program does not write. */
export class InvalidShape extends Error {}

/** An object whose members are read by type. `where` names it in messages. */
export class Shape {
  readonly value: JsonObject;
  readonly #where: string;

  constructor(value: JsonObject, where: string) {
    this.value = value;
    this.#where = where;
  }

  #member(key: string): Json | undefined {
    return Object.hasOwn(this.value, key) ? this.value[key] : undefined;
  }

  #wrong(key: string, what: string): InvalidShape {
    return new InvalidShape(`${this.#where}.${key} is not ${what}`);
  }

  has(key: string): boolean {
    return this.#member(key) !== undefined;
  }

  text(key: string): string {
    const value = this.#member(key);
    if (typeof value !== "string") throw this.#wrong(key, "a string");
    return value;
  }

  number(key: string): number {
    const value = this.#member(key);
    if (typeof value !== "number" || !Number.isSafeInteger(value)) throw this.#wrong(key, "an integer");
    return value;
  }

  oneOf<const T extends string>(key: string, words: readonly T[]): T {
    const value = words.find((word) => word === this.#member(key));
    if (value === undefined) throw this.#wrong(key, `one of ${words.join(", ")}`);
    return value;
  }

  flag(key: string): boolean {
    const value = this.#member(key);
    if (typeof value !== "boolean") throw this.#wrong(key, "true or false");
    return value;
  }

  object(key: string): Shape {
    return shapeOf(this.#member(key), `${this.#where}.${key}`);
  }

  values(key: string): JsonObject {
    return this.object(key).value;
  }

  #items(key: string): readonly Json[] {
    const value = this.#member(key);
    if (!Array.isArray(value)) throw this.#wrong(key, "a list");
    return value;
  }

  texts(key: string): readonly string[] {
    const items = this.#items(key);
    if (!items.every((item) => typeof item === "string")) throw this.#wrong(key, "a list of strings");
    return items;
  }

  objects(key: string): readonly Shape[] {
    return this.#items(key).map((item, at) => shapeOf(item, `${this.#where}.${key}[${at}]`));
  }

  address(key: string): Address {
    return this.#address(key, this.text(key));
  }

  addresses(key: string): readonly Address[] {
    return this.texts(key).map((name) => this.#address(key, name));
  }

  #address(key: string, name: string): Address {
    const address = parseAddress(name);
    if (address === undefined) throw this.#wrong(key, "an address");
    return address;
  }

  id(key: string): RemoteId {
    return remoteId(this.text(key));
  }

  ids(key: string): readonly RemoteId[] {
    return this.texts(key).map(remoteId);
  }
}

export function shapeOf(value: Json | undefined, where: string): Shape {
  if (value === null || typeof value !== "object" || Array.isArray(value))
    throw new InvalidShape(`${where} is not an object`);
  return new Shape(value as JsonObject, where);
}
