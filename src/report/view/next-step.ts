// The next step of the reader of a page or a comment. Commands are in backticks, with the spec and the target of the run.

import { shellWord } from "../../core/sentences.ts";
import { printable } from "../text/printable.ts";
import type { RunInfo } from "../text/run-info.ts";
import type { DriftItem, DriftView } from "./drift-view.ts";
import type { OutcomeView } from "./outcome-view.ts";
import type { PlanView } from "./plan-view.ts";

/**
 * Undefined if nothing is to apply, if a finding says what blocks the plan, and for a restricted plan. A plan that only deletes may be one
 * of `plan --destroy`, which another command applies.
 */
export function nextOfPlan(plan: PlanView, info: RunInfo | undefined): string | undefined {
  const { refusal, touching, modes, summary, resourcesToRecord } = plan;
  const isDone = touching.length === 0 && resourcesToRecord === 0;
  const onlyDeletes = summary.noop === 0 && touching.every(({ action }) => action === "delete");
  if (refusal !== undefined || isDone || onlyDeletes || modes.length > 0) return undefined;
  const same = info?.partial === undefined ? "" : ` with the same ${info.partial}`;
  const apply = `\`${command("apply", info)}\`${same}`;
  return info?.runUrl === undefined
    ? `to ${touching.length === 0 ? "record the drift" : "make these changes"}, run ${apply}`
    : `review and approve; the job of the pipeline that applies, or ${apply}, then ${touching.length === 0 ? "records the drift" : "makes these changes"}`;
}

/** Undefined if every change is applied. */
export function nextOfOutcome(
  { unapplied, interrupted }: OutcomeView,
  info: RunInfo | undefined,
): string | undefined {
  const { failed, unknown, blocked, skipped } = unapplied;
  if (failed + unknown + blocked + skipped === 0) return undefined;
  const again = againText(info);
  if (failed > 0) return `fix the causes, then ${again}; it makes the changes that are missing`;
  if (unknown > 0) return `${again}; it first checks which changes were applied`;
  return interrupted ? `${again}; it makes the changes that are missing` : again;
}

function againText(info: RunInfo | undefined): string {
  if (info?.runUrl !== undefined) return "run the pipeline again";
  return info?.savedPlan === true ? "make a new plan and apply it" : "run the same command again";
}

/** Undefined without drift that a step can end. */
export function nextOfDrift({ drift }: DriftView, info: RunInfo | undefined): string | undefined {
  const open = drift.filter((item) => item.open !== undefined);
  const inSpec = drift.filter(({ isInSpec }) => isInSpec);
  const step = (name: string, rest = "") => `\`${command(name, info)}${rest}\``;
  const kept = open.filter(({ isKept }) => isKept === true);
  // An apply of everything would also end the rest, which may be acknowledged.
  const only = inSpec.length === drift.length ? "" : onlyText(inSpec);
  const parts = [
    ...(kept.length === open.length
      ? []
      : [`to undo drift, run ${step("apply")}`, `to keep a change, ${step("drift accept", " ADDRESS")}`]),
    ...(kept.length === 0 ? [] : [keptText(kept)]),
    ...(open.length === 0
      ? []
      : [`to keep it for a time, ${step("drift acknowledge", " ADDRESS --until DATE --reason TEXT")}`]),
    ...(inSpec.length === 0 ? [] : [`${inSpecText(inSpec)}, run ${step("apply", only)}`]),
  ];
  return parts.length === 0 ? undefined : parts.join("; ");
}

/** A command names so many addresses. */
const MOST_ONLY = 3;

function onlyText(items: readonly Pick<DriftItem, "address">[]): string {
  if (items.length > MOST_ONLY) return " --only ADDRESS";
  return items.map(({ address }) => printable(` --only ${quoted(address)}`)).join("");
}

function inSpecText([first, ...more]: readonly Pick<DriftItem, "address">[]): string {
  if (more.length > 0) return `the spec already has ${more.length + 1} of these resources: to record them`;
  return `the spec already has ${nameIn(first)}: to record it`;
}

const nameIn = (item: Pick<DriftItem, "address"> | undefined): string =>
  printable(item?.address ?? "").replaceAll("`", "'");

function keptText([first, ...more]: readonly Pick<DriftItem, "address">[]): string {
  const [what, it] =
    more.length === 0 ? [nameIn(first), "it"] : [`the ${more.length + 1} secrets that appeared`, "them"];
  return `declare ${what}, or delete ${it} in the workspace: no plan does`;
}

/** No option names it. */
const DEFAULT_FILE = "workspace.yaml";

function command(subcommand: string, info: RunInfo | undefined): string {
  const { spec = DEFAULT_FILE, target } = info ?? {};
  // Where the spec is on this machine means nothing to a reader of a comment.
  const name = spec.split(/[\\/]/).at(-1) ?? spec;
  const file = name === DEFAULT_FILE ? [] : ["--file", quoted(name)];
  const part = target === undefined ? [] : ["--target", quoted(target)];
  return printable(["workspace", subcommand, ...file, ...part].join(" "));
}

/** Without backticks, which end a command in a sentence. A shell that does not know this form executes nothing of it either. */
function quoted(word: string): string {
  if (!word.includes("`")) return shellWord(word);
  return `$'${word.replace(/[\\'`]/g, (character) => `\\x${character.charCodeAt(0).toString(16)}`)}'`;
}
