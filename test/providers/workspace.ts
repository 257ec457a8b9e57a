// The clients of the tests of kinds: the emulator behind the real client, or a script that records requests.

import { createClient } from "../../src/api/client.ts";
import type { ReadOperation, WriteInput, WriteOperation } from "../../src/api/contract/reader.ts";
import { addressOf, type RemoteId, remoteId } from "../../src/core/address.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { Refused } from "../../src/core/request-failure.ts";
import { diffResource } from "../../src/planner/diff/diff.ts";
import type { Values } from "../../src/resource/field-schema.ts";
import type { LiveObject } from "../../src/resource/live.ts";
import type { OperationWriter, Payload } from "../../src/resource/operations.ts";
import type { FieldDiff, PlannedChange, PlannedWorkspace } from "../../src/resource/planning.ts";
import type { Provider } from "../../src/resource/provider.ts";
import { ADMIN_TOKEN, startWorld, type TestWorld } from "../emulator/harness.ts";

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
}

/** The emulator in this process; waiting advances its clock. */
export async function startWorkspace(): Promise<Workspace> {
  const world = await startWorld();
  const { writer } = createClient({
    transport: ({ method, path, headers, body }) =>
      world.app({ method, path, headers, ...(body === undefined ? {} : { body }) }),
    host: "http://workspace.test",
    token: ADMIN_TOKEN,
    clock: () => world.clock.now(),
    sleep: async () => {},
    random: () => 0.5,
  });
  const sent: Sent[] = [];
  const created: string[] = [];
  const api: OperationWriter = {
    read: (operation, input) => writer.read(operation, input),
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
        await world.advance(100);
      }
      throw new Error(`waited in vain for ${what}`);
    },
  };
  return { world, api, sent, created };
}

type Answer = JsonObject | Refused | ((input: WriteInput) => JsonObject | Refused);

/** Answers from a table of operations; a list of answers is used up in order, its last one stays. */
export function scripted(
  answers: Partial<Record<ReadOperation | WriteOperation, Answer | readonly Answer[]>>,
): {
  readonly api: OperationWriter;
  readonly sent: Sent[];
  readonly reads: Sent[];
  readonly created: string[];
} {
  const sent: Sent[] = [];
  const reads: Sent[] = [];
  const created: string[] = [];
  const used = new Map<string, number>();
  const answer = async (
    operation: ReadOperation | WriteOperation,
    input: WriteInput,
  ): Promise<JsonObject> => {
    const given = answers[operation];
    if (given === undefined) throw new Error(`nobody expects ${operation}`);
    const list = Array.isArray(given) ? given : [given];
    const at = used.get(operation) ?? 0;
    used.set(operation, at + 1);
    const chosen = list[Math.min(at, list.length - 1)];
    const made = typeof chosen === "function" ? chosen(input) : chosen;
    if (made instanceof Refused) throw made;
    return made;
  };
  const api: OperationWriter = {
    read: (operation, input = {}) => {
      reads.push({ operation, input });
      return answer(operation, input);
    },
    write: (operation, input) => {
      sent.push({ operation, input });
      return answer(operation, input);
    },
    created: async (id) => {
      created.push(id);
    },
    until: async (what, look) => {
      for (let looks = 0; looks < 10; looks++) {
        const seen = await look();
        if (seen !== undefined) return seen;
      }
      throw new Error(`waited in vain for ${what}`);
    },
  };
  return { api, sent, reads, created };
}

export const refused = (status: number, code: string, message = "no"): Refused =>
  new Refused(status, code, { severity: "error", code: "API_REFUSED", message });

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
    isRemoved: (kind, name) => world.goes?.includes(`${kind}.${name}`) === true,
    valuesAfter: (kind, live) =>
      world.goes?.includes(`${kind}.${live.name}`) === true ? undefined : live.values,
    declared: (kind, name) => world.declared?.includes(`${kind}.${name}`) === true,
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
