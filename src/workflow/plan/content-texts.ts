// The contents that a plan shows as lines, before and after its changes, with limits on size and concurrency.

import type { Reader } from "../../api/contract/reader.ts";
import type { Address } from "../../core/address.ts";
import { Semaphore } from "../../engine/concurrency.ts";
import type { Update } from "../../planner/model/change.ts";
import type { ContentTexts, MissingFacts } from "../../planner/model/input.ts";
import { registry } from "../../providers/index.ts";
import type { Provider } from "../../resource/kind.ts";
import type { Live, LiveObject } from "../../resource/live.ts";
import type { Spec } from "../../spec/model/spec.ts";

/** Larger contents are shown by size and digest. */
const MOST_BYTES = 256 * 1024;

interface ContentsInput {
  readonly changes: MissingFacts["contents"];
  readonly spec: Spec;
  readonly live: Live;
  readonly reader: Reader;
  readonly parallelism: number;
}

/** A content of a new object that is larger, or that comes after so many bytes of others, is shown by its digest. */
const LARGEST_NEW_TEXT = 64 * 1024;
const MOST_NEW_TEXT = 1024 * 1024;

/** The new contents of changes, and the live ones of updates, with limits on size and concurrency. */
export async function contentTexts(input: ContentsInput): Promise<ReadonlyMap<Address, ContentTexts>> {
  const slots = new Semaphore(input.parallelism);
  const updates = input.changes.filter((change) => change.action === "update");
  const reads = updates.map(async (change) => {
    const both = await slots.inside(() => textsOf(input, change));
    return both === undefined ? [] : [[change.address, both] as const];
  });
  await Promise.allSettled(reads);
  return new Map([...newTexts(input), ...(await Promise.all(reads)).flat()]);
}

function* newTexts({ changes, spec }: ContentsInput): Generator<readonly [Address, ContentTexts]> {
  let left = MOST_NEW_TEXT;
  for (const change of changes) {
    const payload = spec.resources.get(change.address)?.payload;
    if (change.action !== "create" || payload === undefined || payload.secret !== undefined) continue;
    const bytes = payload.bytes();
    if (bytes.length > LARGEST_NEW_TEXT) continue;
    if (bytes.length > left) return;
    const after = registry.get(change.kind).planning.content?.text?.(bytes, change.after);
    if (after === undefined) continue;
    left -= bytes.length;
    yield [change.address, { before: "", after }];
  }
}

async function textsOf(input: ContentsInput, change: Update): Promise<ContentTexts | undefined> {
  const provider = registry.get(change.kind);
  const payload = input.spec.resources.get(change.address)?.payload;
  const liveKind = input.live.get(change.kind);
  const live =
    liveKind?.readable === true
      ? liveKind.objects.find((liveObject) => liveObject.id === change.id)
      : undefined;
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
