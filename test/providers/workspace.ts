// The clients of the tests of kinds: the real client over HTTP. Behind nock, the emulator or a table of answers.

import { createClient } from "../../src/api/client.ts";
import { OPERATIONS, type OperationName } from "../../src/api/contract/operations.ts";
import type { WriteInput } from "../../src/api/contract/reader.ts";
import type { HttpResponse, Transport } from "../../src/api/http/transport.ts";
import { addressOf, type RemoteId, remoteId } from "../../src/core/address.ts";
import { parseJson, stringifyJson } from "../../src/core/exact-json.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { diffResource } from "../../src/planner/diff/diff.ts";
import type { Values } from "../../src/resource/field-schema.ts";
import type { Provider } from "../../src/resource/kind.ts";
import type { LiveObject } from "../../src/resource/live.ts";
import type { OperationWriter, Payload } from "../../src/resource/operations.ts";
import type { FieldDiff, PlannedChange, PlannedWorkspace } from "../../src/resource/planning.ts";
import { apiError, raw } from "../api/answers.ts";
import { ADMIN_TOKEN, startWorld, type TestWorld } from "../emulator/harness.ts";
import { type ArrivedRequest, nockedTransport } from "../nocked.ts";

const TOKEN = "t0k3n";

export interface Sent {
  readonly operation: string;
  readonly input: WriteInput;
}

export interface Workspace {
  readonly world: TestWorld;
  readonly api: OperationWriter;
  /** The sent writes, in order. */
  readonly sent: Sent[];
  readonly created: string[];
  /** Every HTTP request, as `METHOD path body`. */
  readonly requests: string[];
}

/** The emulator in this process; waiting advances its clock. */
export async function startWorkspace(): Promise<Workspace> {
  const world = await startWorld();
  const requests: string[] = [];
  const transport = nockedTransport((request) => {
    const body = new TextDecoder().decode(request.body);
    requests.push([request.method, request.path, ...(body === "" ? [] : [body])].join(" "));
    return world.app(request);
  });
  const clock = () => world.clock.now();
  return { world, requests, ...recorded(transport, clock, () => world.advance(100)) };
}

type Answer = JsonObject | HttpResponse | ((input: JsonObject) => JsonObject | HttpResponse);

/** Answers requests from a table of operations; a list of answers is used in order, and its last one repeats. */
export function scripted(answers: Partial<Record<OperationName, Answer | readonly Answer[]>>): {
  readonly api: OperationWriter;
  readonly sent: Sent[];
  readonly reads: Sent[];
  readonly created: string[];
} {
  const used = new Map<OperationName, number>();
  const transport = nockedTransport((request) => {
    const { operation, input } = arrived(request);
    const given = answers[operation];
    if (given === undefined) throw new Error(`unexpected ${operation}`);
    const all = [given].flat() as readonly Answer[];
    const at = used.get(operation) ?? 0;
    used.set(operation, at + 1);
    const chosen = all[Math.min(at, all.length - 1)] ?? {};
    const answer = typeof chosen === "function" ? chosen(input) : chosen;
    return isResponse(answer) ? answer : raw(200, stringifyJson(answer), JSON_HEADERS);
  });
  return recorded(
    transport,
    () => 0,
    async () => undefined,
  );
}

const JSON_HEADERS = { "content-type": "application/json" };

const isResponse = (answer: JsonObject | HttpResponse): answer is HttpResponse =>
  "status" in answer && "headers" in answer;

/** The operation of an HTTP request, with its path, query, and body as one input. */
function arrived({ method, path, body }: ArrivedRequest): {
  readonly operation: OperationName;
  readonly input: JsonObject;
} {
  const url = new URL(path, "http://workspace.test");
  for (const [name, facts] of Object.entries(OPERATIONS)) {
    const id = new RegExp(`^${facts.path.replace("{id}", "(?<id>[^/]+)")}$`).exec(url.pathname);
    if (facts.method !== method || id === null) continue;
    const text = new TextDecoder().decode(body);
    const sent = text === "" ? {} : (parseJson(text) as JsonObject);
    const input = { ...id.groups, ...Object.fromEntries(url.searchParams), ...sent };
    return { operation: name as OperationName, input };
  }
  throw new Error(`no operation is ${method} ${path}`);
}

/** A writer that records operations. `wait` passes between two reads of an object that is not ready. */
function recorded(transport: Transport, clock: () => number, wait: () => Promise<unknown>) {
  const { writer } = createClient({
    transport,
    host: "http://workspace.test",
    token: ADMIN_TOKEN,
    clock,
    sleep: async () => {},
    random: () => 0.5,
  });
  const sent: Sent[] = [];
  const reads: Sent[] = [];
  const created: string[] = [];
  const api: OperationWriter = {
    read: (operation, input = {}) => {
      reads.push({ operation, input });
      return writer.read(operation, input);
    },
    write: (operation, input) => {
      sent.push({ operation, input });
      return writer.write(operation, input);
    },
    created: async (id) => {
      created.push(id);
    },
    until: async (what, look) => {
      for (let looks = 0; looks < 100; looks++) {
        const seen = await look();
        if (seen !== undefined) return seen;
        await wait();
      }
      throw new Error(`timed out waiting for ${what}`);
    },
  };
  return { api, sent, reads, created };
}

export const refused = (status: number, code: string, message = "no"): HttpResponse =>
  apiError(status, code, message);

export const create = (
  provider: Provider,
  api: OperationWriter,
  name: string,
  values: Values,
  payload?: Payload,
): Promise<RemoteId> =>
  provider.operations.create(api, {
    address: addressOf(provider.kind, name),
    name,
    values: desiredOf(provider, name, values),
    token: TOKEN,
    ...(payload === undefined ? {} : { payload }),
  });

/** The values as planning has them: the natural name filled in, and in the kind's own form. */
export function desiredOf(provider: Provider, name: string, values: Values): Values {
  const field = provider.nameField;
  const named = field === undefined || values[field] !== undefined ? values : { ...values, [field]: name };
  return provider.planning.normalize?.(named) ?? named;
}

export async function listed(provider: Provider, api: OperationWriter, parents: readonly string[] = []) {
  return provider.operations.list(api, { parents, names: new Set() });
}

export async function only(
  provider: Provider,
  api: OperationWriter,
  id: RemoteId,
  parents: readonly string[] = [],
) {
  const found = (await listed(provider, api, parents)).find((live) => live.id === id);
  if (found === undefined) throw new Error(`${provider.kind} ${id} is not listed`);
  return found;
}

/** What planning would find to change. */
export function diffs(provider: Provider, live: LiveObject, name: string, values: Values): FieldDiff[] {
  const before = provider.planning.normalize?.(live.values) ?? live.values;
  return diffResource(
    provider.fields,
    desiredOf(provider, name, values),
    { ...live, values: before },
    undefined,
  );
}

/** The same where the object was recorded with these values, and what the service had decided then. */
export function diffsAfter(
  provider: Provider,
  live: LiveObject,
  name: string,
  values: Values,
  recorded: { readonly applied: Values; readonly seen?: Values },
): FieldDiff[] {
  const before = provider.planning.normalize?.(live.values) ?? live.values;
  const applied = desiredOf(provider, name, recorded.applied);
  return diffResource(
    provider.fields,
    desiredOf(provider, name, values),
    { ...live, values: before },
    {
      applied,
      seen: recorded.seen ?? {},
    },
  );
}

export async function update(
  provider: Provider,
  api: OperationWriter,
  live: LiveObject,
  name: string,
  values: Values,
  found: readonly FieldDiff[] = diffs(provider, live, name, values),
): Promise<readonly string[]> {
  const after = desiredOf(provider, name, values);
  const steps = provider.planning.steps?.(found, live, after) ?? [{ operation: "update" }];
  await provider.operations.update(api, {
    address: addressOf(provider.kind, name),
    id: live.id,
    name,
    values: after,
    before: provider.planning.normalize?.(live.values) ?? live.values,
    live,
    token: TOKEN,
    steps,
  });
  return steps.map((step) => step.operation);
}

export const remove = (provider: Provider, api: OperationWriter, live: LiveObject): Promise<void> =>
  provider.operations.delete(api, {
    address: addressOf(provider.kind, live.name),
    id: live.id,
    name: live.name,
    live,
  });

export function liveObject(name: string, values: Values, facts: JsonObject = {}, id = name): LiveObject {
  return { id: remoteId(id), name, values, facts };
}

interface World {
  readonly live?: Readonly<Record<string, readonly LiveObject[]>>;
  readonly caller?: string;
  readonly activeRuns?: readonly JsonObject[];
  readonly goes?: readonly string[];
  readonly declared?: readonly string[];
}

export function lookAt(world: World): PlannedWorkspace {
  return {
    live: (kind) => world.live?.[kind] ?? [],
    caller: world.caller,
    activeRuns: world.activeRuns,
    isForgotten: () => false,
    isRemoved: (kind, name) => world.goes?.includes(`${kind}.${name}`) === true,
    valuesAfter: (kind, live) =>
      world.goes?.includes(`${kind}.${live.name}`) === true ? undefined : live.values,
    created: () => [],
    declared: (kind, name) => world.declared?.includes(`${kind}.${name}`) === true,
    isSensitive: () => false,
  };
}

export function planned(
  provider: Provider,
  action: PlannedChange["action"],
  live: LiveObject | undefined,
  values?: Values,
): PlannedChange {
  const name = live?.name ?? "new";
  const after = values === undefined ? undefined : desiredOf(provider, name, values);
  const found = live === undefined || values === undefined ? [] : diffs(provider, live, name, values);
  const steps =
    action === "update" && live !== undefined && after !== undefined
      ? (provider.planning.steps?.(found, live, after) ?? [])
      : [];
  return { action, address: addressOf(provider.kind, name), name, live, after, diffs: found, steps };
}
