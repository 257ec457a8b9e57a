// Reads all objects of some kinds, managed or not, as the basis of an export.

import type { Reader } from "../../api/contract/reader.ts";
import { transitiveClosure } from "../../planner/model/order.ts";
import type { ReadEvent } from "../../planner/model/plan.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { Live, LiveKind, LiveObject } from "../../resource/live.ts";
import type { Provider } from "../../resource/provider.ts";
import type { Registry } from "../../resource/registry.ts";
import { Semaphore } from "../concurrency.ts";
import { failureDiagnostic } from "../failures.ts";
import { withNames } from "./observe.ts";
import { requiredKinds } from "./scope.ts";

export interface ListKindsInput {
  readonly registry: Registry;
  readonly reader: Reader;
  readonly kinds: ReadonlySet<string>;
  readonly parallelism: number;
  /** False if lists contain enough. */
  readonly closer?: false;
  readonly onRead?: (event: ReadEvent) => void;
}

/** A kind or parent that could not be read is included with the reason. */
export async function listKinds(input: ListKindsInput): Promise<Live> {
  const slots = new Semaphore(input.parallelism);
  const needed = transitiveClosure(input.kinds, (kind) => requiredKinds(input.registry.get(kind)));
  const kinds = input.registry.kinds.filter((provider) => needed.has(provider.kind));
  const reading = new Map<string, Promise<LiveKind>>();
  // In the registry's order, parents come before their members.
  for (const provider of kinds) {
    const parents = provider.nested === undefined ? undefined : reading.get(provider.nested.kind);
    reading.set(provider.kind, readKind(input, slots, provider, parents));
  }
  let done = 0;
  const found = await Promise.all(
    [...reading].map(async ([kind, read]) => {
      const live = await read;
      done += 1;
      const objects = live.readable ? { objects: live.objects.length } : {};
      input.onRead?.({ type: "read", kind, ...objects, done, total: kinds.length });
      return [kind, live] as const;
    }),
  );
  return withNames(input.registry, new Map(found));
}

async function readKind(
  input: ListKindsInput,
  slots: Semaphore,
  provider: Provider,
  parents: Promise<LiveKind> | undefined,
): Promise<LiveKind> {
  const above = await parents;
  if (above?.readable === false) return above;
  const scopes = above === undefined ? [[]] : above.objects.map(({ name }) => [name]);
  const objects: LiveObject[] = [];
  const unreadableParents = new Map();
  const lists = await Promise.all(scopes.map((names) => listed(input, slots, provider, names)));
  for (const [at, list] of lists.entries()) {
    const [parent] = scopes[at] ?? [];
    if ("objects" in list) objects.push(...list.objects);
    else if (parent === undefined) return { readable: false, diagnostic: list.diagnostic };
    else unreadableParents.set(parent, list.diagnostic);
  }
  return { readable: true, objects, unreadableParents };
}

async function listed(
  input: ListKindsInput,
  slots: Semaphore,
  provider: Provider,
  parents: readonly string[],
) {
  try {
    const objects = await slots.inside(() =>
      provider.operations.list(input.reader, { parents, names: new Set() }),
    );
    const { readContent, readDetails } = provider.operations;
    // Contents are read when they are written to files, not here.
    if (readDetails === undefined || readContent !== undefined || input.closer === false) return { objects };
    const wanted = unlikeDefaults(provider);
    return {
      objects: await Promise.all(
        objects.map((object) => slots.inside(() => readDetails(input.reader, object, wanted))),
      ),
    };
  } catch (failure) {
    return { diagnostic: failureDiagnostic(failure) };
  }
}

/** Sets every flag to the opposite of its default, so that kinds that read details only on demand read everything. */
function unlikeDefaults(provider: Provider): Values {
  return Object.fromEntries(
    Object.entries(provider.fields)
      .filter(([, field]) => typeof field.default === "boolean")
      .map(([name, field]) => [name, field.default === false]),
  );
}
