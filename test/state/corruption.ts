// Damage to a stored state of every store: the list of damages, and whether each was reported, repaired, or silently
// ignored.

import { Failure } from "../../src/core/diagnostic.ts";
import { stringifyJson } from "../../src/core/exact-json.ts";
import type { State } from "../../src/state/model/record.ts";
import { intent, pastRun } from "./build.ts";
import { publish, record } from "./contract.ts";
import type { Part, Shared } from "./sharing.ts";

const HEX = "a".repeat(64);

/** One damage: a name, and the parts after it. Omitted parts are deleted. */
export interface Damage {
  readonly name: string;
  readonly parts: readonly Part[];
}

export class Corruption {
  readonly shared: Shared;
  readonly #key: { readonly keyText?: string };
  #whole: readonly Part[] = [];
  #older: readonly Part[] = [];
  #stranger: readonly Part[] = [];
  #essence = "";

  constructor(shared: Shared, sealed: boolean) {
    this.shared = shared;
    this.#key = sealed ? { keyText: HEX } : {};
  }

  /** A state of two versions with a later journal, and the parts of another state. */
  async prepare(open: () => Promise<Shared>): Promise<void> {
    const stranger = await open();
    await this.#write(stranger, "strange");
    this.#stranger = await stranger.parts();
    await stranger.close();
    await publish(this.shared.store(this.#key), "a");
    this.#older = await this.shared.parts();
    await this.#write(this.shared, "b");
    this.#whole = await this.shared.parts();
    this.#essence = essence((await this.shared.store(this.#key).read()).state);
  }

  async #write(shared: Shared, name: string): Promise<void> {
    await publish(shared.store(this.#key), name);
    const lease = await shared.store(this.#key).lock({ timeoutMs: 0 });
    await lease.append(record(`${name}-more`));
    await lease.append({ type: "intent", intent: intent(`pools.${name}-open`) });
    await lease.append({ type: "run", run: pastRun(`${name}-run`) });
    await lease.append(record(`${name}-last`));
    await lease.release();
  }

  /** Every byte cut and flipped, every part gone, all of them gone, every part empty, swapped, repeated, of another state, of an older one, of a newer version. */
  *damages(stride = 1): Generator<Damage> {
    const parts = this.#whole;
    const but = (at: number, bytes: Uint8Array | undefined): readonly Part[] =>
      parts.flatMap((part, index) => (index !== at ? part : bytes === undefined ? [] : { ...part, bytes }));
    yield { name: "drop everything", parts: [] };
    for (const [at, { name, bytes }] of parts.entries()) {
      yield { name: `drop ${name}`, parts: but(at, undefined) };
      for (let offset = at % stride; offset < bytes.length; offset += stride) {
        yield { name: `cut ${name} ${offset}`, parts: but(at, bytes.slice(0, offset)) };
        for (const bit of [1, 32]) {
          const flipped = bytes.slice();
          flipped[offset] = (flipped[offset] ?? 0) ^ bit;
          yield { name: `flip${bit} ${name} ${offset}`, parts: but(at, flipped) };
        }
      }
      for (const [other, { name: otherName, bytes: otherBytes }] of parts.entries())
        if (other !== at) yield { name: `copy ${otherName} to ${name}`, parts: but(at, otherBytes) };
      for (const strange of this.#stranger)
        yield { name: `strange ${strange.name} as ${name}`, parts: but(at, strange.bytes) };
      for (const old of this.#older)
        yield { name: `older ${old.name} as ${name}`, parts: but(at, old.bytes) };
      yield* this.#lines(at, but);
      const newer = replaced(bytes, '"format_version":4', '"format_version":5');
      if (newer !== undefined) yield { name: `newer ${name}`, parts: but(at, newer) };
    }
    for (let at = 0; at + 1 < parts.length; at++) {
      const [a, b] = [parts[at], parts[at + 1]];
      if (a === undefined || b === undefined) continue;
      const swapped = parts.map((part) =>
        part === a ? { ...a, bytes: b.bytes } : part === b ? { ...b, bytes: a.bytes } : part,
      );
      yield { name: `swap ${a.name} ${b.name}`, parts: swapped };
    }
  }

  *#lines(at: number, but: (at: number, bytes: Uint8Array) => readonly Part[]): Generator<Damage> {
    const { name = "", bytes } = this.#whole[at] ?? {};
    const lines = new TextDecoder().decode(bytes).split(/(?<=\n)/);
    if (lines.length < 3) return;
    const named = (how: string, kept: readonly string[]): Damage => ({
      name: `${how} ${name}`,
      parts: but(at, new TextEncoder().encode(kept.join(""))),
    });
    for (let line = 0; line < lines.length; line++) {
      const text = lines[line] ?? "";
      yield named(`line-drop${line}`, lines.toSpliced(line, 1));
      yield named(`line-repeat${line}`, lines.toSpliced(line, 0, text));
      if (line > 0)
        yield named(`line-swap${line}`, lines.toSpliced(line - 1, 2, text, lines[line - 1] ?? ""));
    }
  }

  /** Whether the read state equals the written one. */
  async isWhole(): Promise<boolean> {
    const { state, diagnostics } = await this.shared.store(this.#key).read();
    return essence(state) === this.#essence && diagnostics.length === 0;
  }

  /** Undefined where the damage was harmless, or told with its place. The parts are whole again afterwards. */
  async verdict({ parts }: Damage): Promise<string | undefined> {
    const touched = await this.#put(parts);
    try {
      const { state, diagnostics } = await this.shared.store(this.#key).read();
      if (essence(state) === this.#essence) return undefined;
      return diagnostics.length > 0
        ? undefined
        : `silently ${[...state.records.keys()]}, ${state.open.length} open`;
    } catch (failure) {
      if (!(failure instanceof Failure)) return String(failure);
      const [first] = failure.diagnostics;
      const told =
        first !== undefined &&
        TOLD.test(first.code) &&
        (first.code !== "STATE_CORRUPT" || / byte \d+/.test(first.message));
      return told ? undefined : `${first?.code} ${first?.message}`;
    } finally {
      for (const name of touched)
        await this.shared.damage(name, this.#whole.find((part) => part.name === name)?.bytes);
    }
  }

  async #put(parts: readonly Part[]): Promise<readonly string[]> {
    const touched: string[] = [];
    for (const { name, bytes } of this.#whole) {
      const now = parts.find((part) => part.name === name)?.bytes;
      if (now === bytes) continue;
      touched.push(name);
      await this.shared.damage(name, now);
    }
    return touched;
  }
}

const TOLD = /^STATE_(CORRUPT|FORMAT|LINEAGE|KEY)$/;

function essence(state: State): string {
  const { lineage, serial, host, records, open, sweeps, nonces, reported, acknowledged, history } = state;
  const known = [reported ?? [], acknowledged ?? [], history ?? []];
  return stringifyJson([lineage, serial, host, [...records.values()], open, sweeps, nonces, known]);
}

function replaced(bytes: Uint8Array, from: string, to: string): Uint8Array | undefined {
  const text = new TextDecoder().decode(bytes);
  return text.includes(from) ? new TextEncoder().encode(text.replace(from, to)) : undefined;
}
