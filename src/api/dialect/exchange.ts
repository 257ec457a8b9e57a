// Translates requests and answers between the contract and a dialect.

import { canonicalJson } from "../../core/digest.ts";
import {
  defined,
  isObject,
  type Json,
  type JsonObject,
  listIn,
  objectIn,
  omit,
  ownMember,
  pick,
} from "../../core/json.ts";
import { type Path, setMember, toDottedPath } from "../../core/pointer.ts";
import { refusedWith } from "../../core/request-failure.ts";
import { OPERATIONS, type OperationFacts, type OperationName } from "../contract/operations.ts";
import { allPages, type ReadPage } from "../contract/pages.ts";
import type { WriteInput } from "../contract/reader.ts";
import type { Send } from "../retry/send.ts";
import { type Handlers, type JobRequest, jobHandlers, runHandlers } from "./jobs.ts";
import {
  type ApiVersion,
  type DialectTable,
  HostVersion,
  inContractWords,
  inDialectWords,
  type WrittenField,
  type WrittenFields,
  withoutNulls,
} from "./table.ts";

const CLUSTERS_PAGE = 100;

type Exchange = (operation: OperationName, input: WriteInput, permit?: () => void) => Promise<JsonObject>;

interface Exchanges {
  /** Requests and answers in the contract's form. */
  readonly translated: Exchange;
  /** Requests and answers in the dialect's form; only the paths are the dialect's. */
  readonly direct: Exchange;
}

/** Sends in a dialect. For the contract, `send` translates nothing. */
export function speaking(table: DialectTable, send: Send, random: () => number): Exchanges {
  if (table.name === "contract") {
    const translated: Exchange = async (operation, input, permit) =>
      assertContractAnswer(operation, await send(operation, input, permit));
    return { translated, direct: send };
  }
  const { exchange, direct } = new DialectTranslator(table, send, random);
  return { translated: exchange, direct };
}

class DialectTranslator {
  readonly #table: DialectTable;
  readonly #send: Send;
  readonly #random: () => number;
  readonly #handlers: Handlers;
  readonly #facts = new Map<string, OperationFacts>();

  constructor(table: DialectTable, send: Send, random: () => number) {
    this.#random = random;
    this.#table = table;
    this.#send = send;
    const request: JobRequest = (version, operation, input, permit) =>
      this.#plain(operation, input, permit, version);
    const version = new HostVersion(["2.2", "2.1", "2.0"], (newer) =>
      request(newer, "jobs/list", { limit: 1 }),
    );
    const carry = (live: JsonObject, settings: JsonObject): JsonObject =>
      this.#carried("jobs/reset", table.replaced.job, jobForPool(live, settings), settings);
    const clusters = new HostVersion(["2.1", "2.0"], (newer) =>
      request(newer, "clusters/list", { page_size: 1 }),
    );
    this.#handlers = {
      ...jobHandlers(request, version, carry),
      ...runHandlers(request, version),
      "clusters/list": (input) => listClusters(input, request, clusters),
      "clusters/edit": (input, permit) => this.#editCluster(input, permit),
      "instance-pools/edit": (input, permit) => this.#editPool(input, permit),
    };
  }

  readonly direct: Exchange = (operation, input, permit) =>
    this.#send(operation, this.#withIdempotencyToken(operation, input), permit, this.#factsOf(operation));

  readonly exchange: Exchange = async (operation, input, permit) => {
    const handler = this.#handlers[operation];
    if (handler === undefined) return this.#plain(operation, input, permit);
    return handler(input as JsonObject, permit);
  };

  async #editCluster(input: JsonObject, permit?: () => void): Promise<JsonObject> {
    const { cluster_id = "" } = input;
    const answer = await this.#plain("clusters/get", { cluster_id });
    const { readOnly, replaced } = this.#table;
    // An edit repeats the fields of `spec`, and of the computed ones only those that this program does not know.
    const shown = isObject(answer.spec)
      ? { ...omit(answer, Object.keys(replaced.cluster)), ...answer.spec }
      : clusterForPool(answer, answer);
    const live = omit(clusterForPool(shown, input), readOnly.cluster);
    const body = this.#carried("clusters/edit", replaced.cluster, live, input);
    return this.#plain("clusters/edit", body, permit);
  }

  async #editPool(input: JsonObject, permit?: () => void): Promise<JsonObject> {
    const { instance_pool_id = "" } = input;
    const answer = await this.#plain("instance-pools/get", { instance_pool_id });
    const live = omit(answer, this.#table.readOnly.pool);
    const body = this.#carried("instance-pools/edit", this.#table.replaced.pool, live, input);
    return this.#plain("instance-pools/edit", body, permit);
  }

  #carried(
    operation: OperationName,
    fields: WrittenFields,
    live: JsonObject,
    written: JsonObject,
  ): JsonObject {
    try {
      return withCarried(fields, live, written);
    } catch (problem) {
      if (!(problem instanceof FieldNotRepeatable)) throw problem;
      const message = `${operation} was not sent: it would lose the field ${problem.field}`;
      throw refusedWith(0, "API_REFUSED", message, {
        hint: "this program does not know the field and cannot repeat it; make this change with the vendor's own tools",
      });
    }
  }

  async #plain(
    operation: OperationName,
    input: WriteInput,
    permit?: () => void,
    version?: ApiVersion,
  ): Promise<JsonObject> {
    const { requests, answers, nullIsAbsent, accounts } = this.#table;
    const request = this.#withIdempotencyToken(operation, inDialectWords(requests[operation] ?? [], input));
    const raw = await this.#send(operation, request, permit, this.#factsOf(operation, version));
    const answer = inContractWords(answers[operation] ?? [], nullIsAbsent ? withoutNulls(raw) : raw);
    return accounts ? workspaceGroup(operation, answer) : answer;
  }

  /** Every attempt of the request carries the same token, and only the first one acts. */
  #withIdempotencyToken(operation: OperationName, input: WriteInput): WriteInput {
    if (!this.#table.tokenOperations.includes(operation) || input.idempotency_token !== undefined)
      return input;
    const part = (): string => Math.floor(this.#random() * 2 ** 32).toString(16);
    return { ...input, idempotency_token: `workspace-${part()}-${part()}-${part()}` };
  }

  #factsOf(operation: OperationName, version: ApiVersion = "2.0"): OperationFacts {
    const key = `${version} ${operation}`;
    const cachedFacts = this.#facts.get(key);
    if (cachedFacts !== undefined) return cachedFacts;
    const facts: OperationFacts = OPERATIONS[operation];
    const [from, to] = Object.entries(this.#table.paths).find(([start]) => facts.path.startsWith(start)) ?? [
      "",
      "",
    ];
    const path = (to + facts.path.slice(from.length)).replace("/api/2.0/", `/api/${version}/`);
    const repeat = this.#table.tokenOperations.includes(operation) ? { repeat: "safe" as const } : {};
    const here: OperationFacts = { ...facts, ...repeat, path };
    this.#facts.set(key, here);
    return here;
  }
}

/** Version 2.0 answers with one list, version 2.1 with pages. */
function listClusters(input: JsonObject, request: JobRequest, version: HostVersion): Promise<JsonObject> {
  const page: ReadPage = (at) =>
    request("2.1", "clusters/list", { ...input, page_size: CLUSTERS_PAGE, ...at });
  const list = { operation: "clusters/list", member: "clusters", last: "no token", page } as const;
  return version.read(async (apiVersion) =>
    apiVersion === "2.0"
      ? request("2.0", "clusters/list", input)
      : { clusters: await allPages(list, "cluster_id") },
  );
}

/** Blocks that the host shows of a member of a pool, although the pool decides them, except for these fields. */
const OF_MEMBER = {
  azure_attributes: [],
  aws_attributes: ["instance_profile_arn"],
  gcp_attributes: ["google_service_account"],
} as const;

/** `cluster` without what the pool of `member` decides, if that is in one. */
function clusterForPool(cluster: JsonObject, member: JsonObject): JsonObject {
  if ((member.instance_pool_id ?? "") === "") return cluster;
  const blocks = Object.entries(OF_MEMBER).map(
    ([name, own]) => [name, pick(objectIn(cluster[name]), own)] as const,
  );
  const nonEmptyBlocks = blocks.filter(([, block]) => Object.keys(block).length > 0);
  return { ...omit(cluster, Object.keys(OF_MEMBER)), ...Object.fromEntries(nonEmptyBlocks) };
}

/** A live job without what the pools of its new clusters decide; tasks and shared clusters are those of the same key. */
function jobForPool(live: JsonObject, written: JsonObject): JsonObject {
  const inPool = (before: JsonObject, after: JsonObject): JsonObject =>
    isObject(before.new_cluster)
      ? { ...before, new_cluster: clusterForPool(before.new_cluster, objectIn(after.new_cluster)) }
      : before;
  const elements = (list: string, key: string) =>
    listIn(live[list]).map((before) => {
      const named = listIn(written[list]).find((after) => objectIn(after)[key] === objectIn(before)[key]);
      return inPool(objectIn(before), objectIn(named));
    });
  return {
    ...inPool(live, written),
    ...defined({
      tasks: live.tasks === undefined ? undefined : elements("tasks", "task_key"),
      job_clusters: live.job_clusters === undefined ? undefined : elements("job_clusters", "job_cluster_key"),
    }),
  };
}

/** An answer about groups without members that this program does not manage, so that no patch removes them. */
function workspaceGroup(operation: OperationName, answer: JsonObject): JsonObject {
  if (operation === "scim/groups/get") return withoutPrincipals(answer);
  if (operation !== "scim/groups/list" || !Array.isArray(answer.Resources)) return answer;
  return {
    ...answer,
    Resources: answer.Resources.map((group: Json) => (isObject(group) ? withoutPrincipals(group) : group)),
  };
}

function withoutPrincipals(group: JsonObject): JsonObject {
  const { members } = group;
  const ofAccount = objectIn(group.meta).resourceType === "Group";
  return {
    ...group,
    ...(Array.isArray(members)
      ? { members: members.filter((value: Json) => !isPrincipal(objectIn(value))) }
      : {}),
    ...(ofAccount ? { unmanageable: "it belongs to the account" } : {}),
  };
}

const isPrincipal = ({ $ref: reference }: JsonObject): boolean =>
  typeof reference === "string" && reference.includes("ServicePrincipals/");

/** Whether an object has what no object of the contract has. A vendor's name alone shows nothing: the contract leaves it open. */
type Sign = (object: JsonObject) => boolean;

const isJob: Sign = ({ settings }) => /^(SINGLE|MULTI)_TASK$/.test(String(objectIn(settings).format));
const isCluster: Sign = ({ default_tags, azure_attributes, aws_attributes, gcp_attributes }) =>
  objectIn(default_tags).Vendor === "Databricks" &&
  [azure_attributes, aws_attributes, gcp_attributes].some((block) => block !== undefined);
const isPool: Sign = ({ default_tags }) => objectIn(default_tags).DatabricksInstancePoolId !== undefined;
const isGroup: Sign = ({ meta }) => objectIn(meta).resourceType === "WorkspaceGroup";
const someIn =
  (list: string, is: Sign): Sign =>
  (answer) =>
    listIn(answer[list]).some((value) => is(objectIn(value)));

const SIGNS: { readonly [operation in OperationName]?: Sign } = {
  "jobs/get": isJob,
  "jobs/list": someIn("jobs", isJob),
  "clusters/get": isCluster,
  "clusters/list": someIn("clusters", isCluster),
  "instance-pools/get": isPool,
  "instance-pools/list": someIn("instance_pools", isPool),
  "scim/groups/get": isGroup,
  "scim/groups/list": someIn("Resources", isGroup),
};

/** Returns the answer. Throws Refused if it is one of the Databricks dialect. */
function assertContractAnswer(operation: OperationName, answer: JsonObject): JsonObject {
  if (SIGNS[operation]?.(answer) !== true) return answer;
  const message = `${operation} was answered in the Databricks dialect, but the dialect of the host is contract`;
  throw refusedWith(200, "API_PROTOCOL", message, {
    hint: "set dialect and cloud in the profile (in a fleet, the `profile` of the workspace), or pass --dialect databricks and --cloud; in the contract dialect, updates would lose fields",
  });
}

/** Thrown where a field of the live object would be lost. */
export class FieldNotRepeatable extends Error {
  readonly field: string;
  constructor(path: Path) {
    super(toDottedPath(path));
    this.field = toDottedPath(path);
  }
}

/** `written` with the fields of `live` that it does not set. Throws FieldNotRepeatable. */
export function withCarried(
  fields: WrittenFields,
  live: JsonObject,
  written: JsonObject,
  path: Path = [],
): JsonObject {
  const carried: { [field: string]: Json } = { ...written };
  for (const [name, value] of Object.entries(live)) {
    const result = carriedValue(ownMember(fields, name), value, ownMember(written, name), [...path, name]);
    if (result !== undefined) setMember(carried, name, result);
  }
  return carried;
}

function carriedValue(
  field: WrittenField | undefined,
  live: Json,
  written: Json | undefined,
  path: Path,
): Json | undefined {
  if (field === undefined) return written ?? live;
  if (field === "written") return written;
  if (field.is === "list") return carriedList(field.fields, live, written, path);
  if (field.is === "keyed list") return carriedByKey(field, live, written, path);
  if (!isObject(live)) return written;
  if (isObject(written)) return withCarried(field.fields, live, written, path);
  if (!field.stays) return isBare(field.fields, live) ? live : written;
  const rest = withCarried(field.fields, live, {}, path);
  return isEmptyValue(rest) ? written : rest;
}

/** Nothing in it is written by us, so its absence in a write says nothing about it. */
const isBare = (fields: WrittenFields, live: JsonObject): boolean =>
  Object.keys(live).length > 0 && isEmptyValue(writtenPart(fields, live));

function carriedByKey(
  { key: name, fields }: Extract<WrittenField, { readonly is: "keyed list" }>,
  live: Json,
  written: Json | undefined,
  path: Path,
): Json | undefined {
  if (!Array.isArray(written)) return written;
  return written.map((element: Json, at) => {
    const before = listIn(live).find((other) => objectIn(other)[name] === objectIn(element)[name]);
    return isObject(element) && isObject(before)
      ? withCarried(fields, before, element, [...path, at])
      : element;
  });
}

/** The live list if the write does not change it; else the written elements with the unknown fields of their live ones. */
function carriedList(
  fields: WrittenFields,
  live: Json,
  written: Json | undefined,
  path: Path,
): Json | undefined {
  if (!Array.isArray(live)) return written;
  const before = live as readonly Json[];
  const after: readonly Json[] = Array.isArray(written) ? written : [];
  const keysBefore = before.map((value) => key(isObject(value) ? writtenPart(fields, value) : value));
  if (canonicalJson(keysBefore.filter((text) => text !== EMPTY)) === canonicalJson(after.map(key)))
    return live;
  const unknown = keysBefore.indexOf(EMPTY);
  if (unknown >= 0) throw new FieldNotRepeatable([...path, unknown, ...firstKey(before[unknown])]);
  const merged = after.map((value) => {
    const match = before[keysBefore.indexOf(key(value))];
    return isObject(value) && isObject(match) ? withCarried(fields, match, value, path) : value;
  });
  return written === undefined ? undefined : merged;
}

const key = (value: Json): string => canonicalJson(tidy(value));
const EMPTY = key({});

const firstKey = (value: Json | undefined): Path => (isObject(value) ? Object.keys(value).slice(0, 1) : []);

function writtenPart(fields: WrittenFields, live: JsonObject): JsonObject {
  const part: { [field: string]: Json } = {};
  for (const [name, value] of Object.entries(live)) {
    const field = ownMember(fields, name);
    if (field === undefined) continue;
    part[name] =
      typeof field === "object" && field.is === "object" && isObject(value)
        ? writtenPart(field.fields, value)
        : value;
  }
  return part;
}

/** Without empty values, which mean the same as absent ones. */
function tidy(value: Json): Json {
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, member]): [string, Json] => [name, tidy(member)]);
  return Object.fromEntries(members.filter(([, member]) => !isEmptyValue(member)));
}

function isEmptyValue(value: Json): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.values(value).every(isEmptyValue);
}
