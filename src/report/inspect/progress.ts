// Progress on stderr: a board of tasks on a terminal, plain lines elsewhere.

import { kindOf } from "../../core/address.ts";
import { duration } from "../../core/duration.ts";
import { count } from "../../core/sentences.ts";
import { type ApplyEvent, type ChangeStatus, type ReadEvent, wasStopped } from "../../planner/model/plan.ts";
import { printable } from "../text/printable.ts";
import type { Colors, Paint } from "../text/terminal.ts";
import { DONE, IN_PROGRESS_VERBS } from "../text/vocabulary.ts";

export interface Progress {
  read(event: ReadEvent): void;
  apply(event: ApplyEvent): void;
  /** Ends the display; later events print nothing. */
  stop(): Promise<void>;
}

export interface ProgressParts {
  readonly write: (text: string) => void;
  readonly colors: Colors;
}

/** A line for each change that ends, and one when all is read. */
export function plainProgress({ write, colors }: ProgressParts): Progress {
  const tally = new ProgressCounts();
  let objects = 0;
  let unread = 0;
  let stopped = false;
  const line = (text: string) => {
    if (!stopped) write(`${text}\n`);
  };
  return {
    read(event) {
      objects += event.objects ?? 0;
      if (event.objects === undefined) unread += 1;
      if (event.done < event.total || unread === event.total) return;
      const but = unread === 0 ? "" : `; ${count(unread, "kind")} could not be read`;
      line(colors.dim(`Read ${count(objects, "object")} of ${count(event.total - unread, "kind")}${but}.`));
    },
    apply(event) {
      tally.count(event);
      if (event.type === "apply_waiting")
        line(colors.dim(`waiting: ${printable(event.address)}: ${printable(event.what)}`));
      if (!("outcome" in event)) return;
      const { outcome } = event;
      // Reported once, by the code that stopped the run.
      if (wasStopped(outcome)) return;
      const word = outcome.result === "applied" ? DONE[outcome.action] : outcome.result;
      const why = outcome.diagnostic === undefined ? "" : `: ${printable(outcome.diagnostic.message)}`;
      const place = `[${tally.done}/${tally.total}]`;
      line(
        `${colors.dim(place)} ${paintOf(outcome.result, colors)(word)} ${printable(outcome.address)}${why}`,
      );
    },
    stop() {
      stopped = true;
      return Promise.resolve();
    },
  };
}

function paintOf(result: ChangeStatus, colors: Colors): Paint {
  if (result === "applied") return colors.green;
  return result === "skipped" ? colors.yellow : colors.red;
}

export interface KindTally {
  readonly kind: string;
  total: number;
  done: number;
  failed: number;
  blocked: number;
  skipped: number;
  /** The current work as sentences, by address. */
  readonly current: Map<string, string>;
}

export class ProgressCounts {
  readonly #kinds = new Map<string, KindTally>();
  total = 0;
  done = 0;

  count(event: ApplyEvent): void {
    switch (event.type) {
      case "apply_begin":
        for (const [kind, total] of Object.entries(event.totals)) {
          this.#of(kind).total = total;
          this.total += total;
        }
        return;
      case "apply_start":
        this.#begin(event, `${IN_PROGRESS_VERBS[event.action]} ${printable(event.address)}`);
        return;
      case "apply_waiting":
        this.#begin(event, `${printable(event.address)}: ${printable(event.what)}`);
        return;
      case "apply_complete":
      case "apply_skipped":
      case "apply_errored": {
        const own = this.#of(kindOf(event.outcome.address));
        own.current.delete(event.outcome.address);
        own.done += 1;
        this.done += 1;
        const { result } = event.outcome;
        if (result === "blocked" || result === "skipped") own[result] += 1;
        else if (result !== "applied") own.failed += 1;
        return;
      }
    }
    event satisfies never;
  }

  #begin({ kind, address }: { readonly kind: string; readonly address: string }, work: string): void {
    this.#of(kind).current.set(address, work);
  }

  kinds(): readonly KindTally[] {
    return [...this.#kinds.values()];
  }

  #of(kind: string): KindTally {
    const none = { total: 0, done: 0, failed: 0, blocked: 0, skipped: 0 };
    const kindTally = this.#kinds.get(kind) ?? { kind, ...none, current: new Map<string, string>() };
    this.#kinds.set(kind, kindTally);
    return kindTally;
  }
}

/** `pools 3/10, 2 failed, 12 s left`. */
export function tallyText(own: KindTally, elapsedMs: number): string {
  const others = (["failed", "blocked", "skipped"] as const)
    .filter((result) => own[result] > 0)
    .map((result) => `, ${own[result]} ${result}`);
  const left = own.done > 0 && own.done < own.total ? (elapsedMs / own.done) * (own.total - own.done) : 0;
  const time = left >= 1000 ? `, ${duration(left)} left` : "";
  return `${own.kind} ${own.done}/${own.total}${others.join("")}${time}`;
}
