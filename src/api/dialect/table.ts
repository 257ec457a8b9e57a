// A dialect of the contract as data: paths, versions, values, and the fields that a write must not lose; and how its values are translated.

import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { Refused } from "../../core/request-failure.ts";
import type { OperationName } from "../contract/operations.ts";

/** Fields that a write of an object sets: absent there, they are removed. All other fields of the live object stay. */
export interface WrittenFields {
  readonly [field: string]: WrittenField;
}

/** `written`: the value of the write replaces the live one. */
export type WrittenField = "written" | WrittenObject | WrittenList | WrittenKeyedList;

/** Removed with all its fields if the write does not have it; one that `stays` keeps the fields that are not set. */
interface WrittenObject {
  readonly is: "object";
  readonly fields: WrittenFields;
  readonly stays: boolean;
}

interface WrittenList {
  readonly is: "list";
  readonly fields: WrittenFields;
}

/** Elements are the same if this field is: an element of the write keeps the fields of its live one that are not known. */
interface WrittenKeyedList {
  readonly is: "keyed list";
  readonly key: string;
  readonly fields: WrittenFields;
}

export const writtenFields = (...names: readonly string[]): WrittenFields =>
  Object.fromEntries(names.map((name) => [name, "written"]));
export const writtenObject = (fields: WrittenFields): WrittenObject => ({
  is: "object",
  fields,
  stays: false,
});
export const stayingObject = (fields: WrittenFields): WrittenObject => ({
  is: "object",
  fields,
  stays: true,
});
export const writtenList = (fields: WrittenFields): WrittenList => ({ is: "list", fields });

export const writtenKeyedList = (key: string, fields: WrittenFields): WrittenKeyedList => ({
  is: "keyed list",
  key,
  fields,
});

/** Other words for the values at a path; `*` means each element of a list. */
interface ValueRule {
  readonly path: readonly string[];
  /** The dialect's word, and the contract's. */
  readonly words: Readonly<Record<string, string>>;
}

type ByOperation<T> = { readonly [operation in OperationName]?: T };

export interface DialectTable {
  readonly name: "contract" | "databricks";
  /** What paths begin with in the contract, and here. */
  readonly paths: Readonly<Record<string, string>>;
  readonly answers: ByOperation<readonly ValueRule[]>;
  readonly requests: ByOperation<readonly ValueRule[]>;
  /** Whether `null` means that the field is absent. */
  readonly nullIsAbsent: boolean;
  /** Operations that act once for each `idempotency_token`, so that they can be repeated. */
  readonly tokenOperations: readonly OperationName[];
  /** Whether groups may be the account's, and hold members that are neither users nor groups. */
  readonly accounts: boolean;
  readonly replaced: {
    readonly cluster: WrittenFields;
    readonly pool: WrittenFields;
    readonly job: WrittenFields;
  };
  /** Fields of an answer that no request has. */
  readonly readOnly: { readonly cluster: readonly string[]; readonly pool: readonly string[] };
}

/** The contract itself: nothing differs, and its objects have no other fields. */
export const CONTRACT_TABLE: DialectTable = {
  name: "contract",
  paths: {},
  answers: {},
  requests: {},
  nullIsAbsent: false,
  tokenOperations: [],
  accounts: false,
  replaced: { cluster: {}, pool: {}, job: {} },
  readOnly: { cluster: [], pool: [] },
};

export function inContractWords(rules: readonly ValueRule[], answer: JsonObject): JsonObject {
  return applied(rules, answer, (words, text) => words[text]);
}

/** A request with the dialect's words. Members that are not JSON are not changed. */
export function inDialectWords<T extends object>(rules: readonly ValueRule[], request: T): T {
  return applied(
    rules,
    request,
    (words, text) => Object.entries(words).find(([, contract]) => contract === text)?.[0],
  );
}

type Word = (words: ValueRule["words"], text: string) => string | undefined;

function applied<T extends object>(rules: readonly ValueRule[], value: T, word: Word): T {
  let result = value;
  for (const { path, words } of rules) result = at(result as Json, path, (text) => word(words, text)) as T;
  return result;
}

function at(
  value: Json,
  [key, ...rest]: readonly string[],
  word: (text: string) => string | undefined,
): Json {
  if (key === undefined) return typeof value === "string" ? (word(value) ?? value) : value;
  if (key === "*") return Array.isArray(value) ? value.map((value: Json) => at(value, rest, word)) : value;
  const member = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return member === undefined ? value : { ...(value as JsonObject), [key]: at(member, rest, word) };
}

/** The value without members that are null, at any depth. Elements of lists stay. */
export function withoutNulls<T extends Json>(value: T): T {
  if (Array.isArray(value)) return value.map(withoutNulls) as unknown as T;
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)])) as unknown as T;
}

export type ApiVersion = "2.0" | "2.1" | "2.2";

type VersionRequest = (version: ApiVersion) => Promise<JsonObject>;

/** The newest version of an area that the host has, found by the first request. */
export class HostVersion {
  readonly #versions: readonly ApiVersion[];
  readonly #probe: VersionRequest;
  #version: ApiVersion | undefined;
  #discovery: Promise<unknown> | undefined;

  /** `versions`: the newest first; the last one is taken without a request. `probe`: a read for a host that no other request has found. */
  constructor(versions: readonly ApiVersion[], probe: VersionRequest) {
    this.#versions = versions;
    this.#probe = probe;
  }

  async current(): Promise<ApiVersion> {
    const last = this.#versions.at(-1);
    if (this.#version === undefined)
      await this.read(async (version) => (version === last ? {} : this.#probe(version)));
    return this.#version ?? "2.0";
  }

  /** Sends the read of the version that the host has. Requests that begin during the discovery wait for it. */
  async read(request: VersionRequest): Promise<JsonObject> {
    while (this.#version === undefined && this.#discovery !== undefined)
      await this.#discovery.catch(() => undefined);
    if (this.#version !== undefined) return request(this.#version);
    const discovery = this.#discover(request);
    this.#discovery = discovery;
    try {
      return await discovery;
    } finally {
      this.#discovery = undefined;
    }
  }

  async #discover(request: VersionRequest): Promise<JsonObject> {
    for (const version of this.#versions.slice(0, -1)) {
      try {
        const answer = await request(version);
        this.#version = version;
        return answer;
      } catch (refusal) {
        if (hasNoSuchVersion(refusal)) continue;
        if (isOfTheApi(refusal)) this.#version = version;
        throw refusal;
      }
    }
    this.#version = this.#versions.at(-1) ?? "2.0";
    return request(this.#version);
  }
}

/** The API, or a gateway in front of it, answers 404 to an unknown path. A missing object has another code. */
function hasNoSuchVersion(refusal: unknown): boolean {
  return refusal instanceof Refused && refusal.status === 404 && refusal.code !== "RESOURCE_DOES_NOT_EXIST";
}

const isOfTheApi = (refusal: unknown): boolean =>
  refusal instanceof Refused && refusal.diagnostic.code === "API_REFUSED" && refusal.status < 500;
