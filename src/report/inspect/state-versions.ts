// Earlier versions of a state: the list, and what a restored version no longer records.

import { type Address, kindOf } from "../../core/address.ts";
import type { Diagnostic } from "../../core/diagnostic.ts";
import type { PastRun } from "../../core/past-run.ts";
import { count } from "../../core/sentences.ts";
import { printable } from "../text/printable.ts";
import { pastRunAuthor, pastRunTime } from "./history-text.ts";

export interface StateVersion {
  readonly serial: number;
  /** Undefined if it cannot be read. */
  readonly state?: RecordedState;
  readonly diagnostics: readonly Diagnostic[];
}

export interface RecordedState {
  readonly lineage: string;
  readonly host: string;
  readonly records: ReadonlyMap<Address, unknown>;
  readonly history?: readonly PastRun[];
}

export function stateVersionsText(versions: readonly StateVersion[]): string {
  if (versions.length === 0) return "No earlier version is kept.\n";
  return versions
    .map(({ serial, state, diagnostics }) => {
      const text = state === undefined ? `cannot be read: ${reason(diagnostics)}` : stateLine(state);
      return `${String(serial).padStart(6)}  ${printable(text)}\n`;
    })
    .join("");
}

export function stateVersionsJson(versions: readonly StateVersion[]): readonly Record<string, unknown>[] {
  return versions.map(({ serial, state, diagnostics }) => {
    if (state === undefined) return { serial, problem: reason(diagnostics) };
    const run = state.history?.at(-1);
    const last = run === undefined ? {} : { last_apply: pastRunTime(run), by: pastRunAuthor(run) };
    return { serial, lineage: state.lineage, host: state.host, resources: state.records.size, ...last };
  });
}

const reason = (diagnostics: readonly Diagnostic[]): string => diagnostics[0]?.message ?? "it does not exist";

/** The number of resources by kind, and the last run that changed the workspace from this state. */
function stateLine({ records, history = [] }: RecordedState): string {
  const kinds = Map.groupBy(records.keys(), kindOf);
  const parts = [...kinds].map(([kind, addresses]) => `${kind} ${addresses.length}`).sort();
  const counted = [count(records.size, "resource"), ...(parts.length === 0 ? [] : [parts.join(", ")])];
  const run = history.at(-1);
  const last = run === undefined ? "" : `; last ${run.command} ${pastRunTime(run)} by ${pastRunAuthor(run)}`;
  return `${counted.join(": ")}${last}`;
}

const SHOWN = 20;

/** Lists the addresses that only the replaced state records, because the next plan may create them again. */
export function restoredText(restored: RecordedState, replaced: RecordedState | undefined): string {
  if (replaced === undefined)
    return "The previous state could not be read, so resources recorded only there are unknown.\n";
  const lost = [...replaced.records.keys()].filter((address) => !restored.records.has(address)).sort();
  if (lost.length === 0) return "";
  const more = lost.length > SHOWN ? `, and ${lost.length - SHOWN} more` : "";
  return `No longer recorded: ${lost.slice(0, SHOWN).map(printable).join(", ")}${more}\n`;
}
