// Both sides of contents that a plan changes, as text, so that the plan can show what changes line by line.

import type { Reader } from "../../api/contract/reader.ts";
import type { Address } from "../../core/address.ts";
import { Semaphore } from "../../engine/concurrency.ts";
import type { Update } from "../../planner/model/change.ts";
import type { ContentTexts } from "../../planner/model/facts.ts";
import type { Live, LiveObject } from "../../resource/live.ts";
import type { Provider } from "../../resource/provider.ts";
import type { Registry } from "../../resource/registry.ts";
import type { Spec } from "../../spec/model/spec.ts";

/** Larger contents are shown by size and digest. */
const MOST_BYTES = 256 * 1024;

export interface ContentsInput {
  readonly updates: readonly Update[];
  readonly spec: Spec;
  readonly live: Live;
  readonly registry: Registry;
  readonly reader: Reader;
  readonly parallelism: number;
}

/** Reads the live contents of updated resources, with limits on size and concurrency. */
export async function contentsOf(input: ContentsInput): Promise<ReadonlyMap<Address, ContentTexts>> {
  const slots = new Semaphore(input.parallelism);
  const texts = new Map<Address, ContentTexts>();
  await Promise.all(
    input.updates.map(async (change) => {
      const both = await slots.inside(() => textsOf(input, change));
      if (both !== undefined) texts.set(change.address, both);
    }),
  );
  return texts;
}

async function textsOf(input: ContentsInput, change: Update): Promise<ContentTexts | undefined> {
  const provider = input.registry.get(change.kind);
  const payload = input.spec.resources.get(change.address)?.payload;
  const found = input.live.get(change.kind);
  const live = found?.readable === true ? found.objects.find((one) => one.id === change.id) : undefined;
  if (payload === undefined || live === undefined || payload.secret !== undefined) return undefined;
  const bytes = payload.bytes();
  const after =
    bytes.length > MOST_BYTES ? undefined : provider.planning.content?.text?.(bytes, change.after);
  const before = after === undefined ? undefined : await liveText(input.reader, provider, live);
  return before === undefined || after === undefined ? undefined : { before, after };
}

async function liveText(reader: Reader, provider: Provider, live: LiveObject): Promise<string | undefined> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of provider.operations.readContent?.(reader, live) ?? []) {
    size += piece.length;
    if (size > MOST_BYTES) return undefined;
    pieces.push(piece);
  }
  return provider.planning.content?.text?.(Buffer.concat(pieces), live.values);
}
