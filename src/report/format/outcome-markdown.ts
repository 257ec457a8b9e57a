// The outcome of an apply as Markdown for a comment: what failed or was not tried, what was applied, and the plan.

import type { Diagnostic } from "../../core/diagnostic.ts";
import { count, firstFew, grouped, shortened } from "../../core/sentences.ts";
import { firstThatFits, type Room } from "../text/comment-room.ts";
import { findingDetails, findingQuote, findingSections, nextLines } from "../text/findings-markdown.ts";
import { markdownCode, markdownSentence, markdownText, markupText } from "../text/printable.ts";
import { markdownHead, type RunInfo } from "../text/run-info.ts";
import {
  type Block,
  COMMENT_SIZE,
  collapsed,
  type FittedReport,
  fittedMarkdown,
  openTextOf,
  RANK,
  type Section,
} from "../text/shorten-markdown.ts";
import { isAccessChange, kindCounts } from "../view/change-groups.ts";
import type { ChangeView } from "../view/change-view.ts";
import { nextOfOutcome } from "../view/next-step.ts";
import { type OutcomeItem, type OutcomeView, sharedCauses } from "../view/outcome-view.ts";
import type { PlanView } from "../view/plan-view.ts";
import { changeBlock, codeOf, names } from "./change-markdown.ts";

/** A cause names so many changes. */
const MOST_NAMED = 5;

/** So many applied changes take the place of one that failed; if there are more, they are collapsed. */
const FEW = 2;

export function outcomeMarkdown(outcome: OutcomeView, info?: RunInfo, size = COMMENT_SIZE): FittedReport {
  const applied = outcome.changes.filter((item) => item.result === "applied");
  const others = outcome.changes
    .filter((item) => item.result !== "applied")
    .toSorted((a, b) => UNAPPLIED.indexOf(a.result) - UNAPPLIED.indexOf(b.result));
  const diagnostics = [...outcome.notes, ...outcome.diagnostics];
  const causes = [...sharedCauses(others)];
  const explained = causes.flatMap(([, own]) => own);
  const isExplained = new Set(explained);
  const alone = others.filter((item) => !isExplained.has(item));
  const next = nextLines(nextOfOutcome(outcome, info)).map((line) => `${line}\n`);
  const head = [markdownHead(outcome.heading, info), ...next].join("\n");
  const { sections } = firstThatFits(
    (room) => ({
      sections: [
        ...causeSections(causes, room),
        ...findingSections(diagnostics, "error", info, room),
        ...aloneSections(alone, info, room),
        ...findingSections(diagnostics, "warning", info, room),
        appliedRows(applied, outcome.plan, room),
        explainedSection(explained),
        appliedSection(applied, room),
        planSection(outcome.plan),
      ],
    }),
    ({ sections }) => openTextOf(head, sections),
    0,
  );
  return fittedMarkdown(head, sections, size);
}

/** What failed comes first. */
const UNAPPLIED: readonly OutcomeItem["result"][] = ["failed", "unknown", "blocked", "skipped"];

type Cause = readonly [cause: Diagnostic, items: readonly OutcomeItem[]];

function causeSections(causes: readonly Cause[], room: Room): readonly Section[] {
  const whole = causes.map((cause) => causeBlock(cause));
  const open = causes.slice(0, room.errors).map((cause) => causeBlock(cause, room));
  const isWhole = open.length === whole.length && open.every(({ text }, at) => text === whole[at]?.text);
  const rest = causes.slice(open.length).flatMap(([, own]) => own);
  return [
    { rank: RANK.open, open: "", blocks: [...open, ...resultBlocks(rest, room)] },
    collapsed(RANK.complete, `All causes: ${causes.length}`, isWhole ? [] : whole),
  ];
}

/** The cause of several failures, once. */
function causeBlock([cause, items]: Cause, room?: Room): Block {
  const { text } = findingQuote(cause, undefined, room?.characters);
  const most = Math.min(MOST_NAMED, room?.few ?? MOST_NAMED);
  const changes =
    most === 0
      ? ""
      : `>\n> Changes: ${firstFew(items, most, ({ address }) => codeOf(address, room?.characters))}\n`;
  return { what: "finding", text: `${text.trimEnd()}\n${changes}\n` };
}

function aloneSections(
  items: readonly OutcomeItem[],
  info: RunInfo | undefined,
  room: Room,
): readonly Section[] {
  const whole = items.map((item) => otherBlock(item, info));
  const open = items.slice(0, room.changes).map((item) => otherBlock(item, info, room));
  const isWhole = open.length === whole.length && open.every(({ text }, at) => text === whole[at]?.text);
  return [
    { rank: RANK.open, open: "", blocks: [...open, ...resultBlocks(items.slice(open.length), room)] },
    collapsed(RANK.complete, `Not applied: ${count(items.length, "change")}`, isWhole ? [] : whole),
  ];
}

/** Other changes that were not applied: a line for each result. */
function resultBlocks(items: readonly OutcomeItem[], room: Room): readonly Block[] {
  return UNAPPLIED.flatMap((result) => {
    const own = items.filter((item) => item.result === result);
    if (own.length === 0) return [];
    const which = firstFew(own, room.names, ({ address }) => codeOf(address, room.characters));
    return [
      {
        what: "change",
        text: `- **${result}** ${grouped(own.length)} more: ${markdownText(kindCounts(own))} (${which})\n`,
      },
    ];
  });
}

function explainedSection(items: readonly OutcomeItem[]): Section {
  const blocks = items.map(
    ({ result, action, address }): Block => ({
      what: "change",
      text: `- **${result}** ${action} ${markdownCode(address)}\n`,
    }),
  );
  return collapsed(RANK.complete, `Not applied for these causes: ${count(blocks.length, "change")}`, blocks);
}

/** The destroyed objects and the changes of access of an apply are in no closed block. */
function appliedRows(applied: readonly OutcomeItem[], plan: PlanView | undefined, room: Room): Section {
  const done = new Set(applied.map(({ action, address }) => `${action} ${address}`));
  const changes = (plan?.touching ?? []).filter(({ action, address }) => done.has(`${action} ${address}`));
  const row = (label: string, own: readonly ChangeView[]): readonly Block[] =>
    own.length === 0
      ? []
      : [
          {
            what: "line of the summary",
            text: `- **${label}**: ${markdownText(kindCounts(own))} (${names(own, Math.min(MOST_NAMED, room.names + 1), room.characters)})\n`,
          },
        ];
  const blocks = [
    ...row(
      "Destroyed",
      changes.filter((change) => change.destroys),
    ),
    ...row(
      "Access",
      changes.filter((change) => !change.destroys && isAccessChange(change)),
    ),
  ];
  return { rank: RANK.open, open: "", blocks };
}

function appliedSection(applied: readonly OutcomeItem[], room: Room): Section {
  const blocks = applied.map(
    ({ word, address }): Block => ({ what: "change", text: `- ${word} ${markdownCode(address)}\n` }),
  );
  const isOpen =
    blocks.length <= FEW * room.changes && applied.every(({ address }) => address.length <= room.characters);
  if (isOpen) return { rank: RANK.complete, open: "", blocks };
  return collapsed(RANK.complete, `Applied: ${count(blocks.length, "change")}`, blocks);
}

function planSection(plan: PlanView | undefined): Section {
  // Each of these changes is also in the list of results.
  const blocks = (plan?.touching ?? []).map(
    (change): Block => ({ ...changeBlock(change), what: "planned change" }),
  );
  return collapsed(RANK.closed, markupText(plan?.title ?? ""), blocks);
}

/** The line says what kept a change from being tried; a change's own failure has a code, a place, a cause, and a hint below. */
function otherBlock(
  { result, action, address, finding, tried }: OutcomeItem,
  info: RunInfo | undefined,
  { characters: most, lines }: Pick<Room, "characters" | "lines"> = {
    characters: Number.POSITIVE_INFINITY,
    lines: 1,
  },
): Block {
  const head = `- **${result}** ${action} ${codeOf(address, most)}`;
  if (finding === undefined) return { what: "change", text: `${head}\n` };
  const line = `${head}: ${markdownSentence(shortened(finding.message, most))}`;
  if (!tried || lines === 0) return { what: "change", text: `${line}\n`, brief: `${head}\n` };
  const code = `  - ${finding.severity} ${markdownCode(finding.code)}`;
  const { cause, hint } = finding;
  const brief = { cause: cause && shortened(cause, most), hint: hint && shortened(hint, most) };
  const text = [line, code, ...findingDetails({ ...finding, ...brief }, info)].join("\n");
  return { what: "change", text: `${text}\n`, brief: `${head}\n` };
}
