// Drift as Markdown: the report of `drift` as a comment of two screens, and the items of a list, which the comment of a plan has, too.

import { count, firstFew, shortened } from "../../core/sentences.ts";
import { firstThatFits, type Room } from "../text/comment-room.ts";
import { findingSections, nextLines } from "../text/findings-markdown.ts";
import { markdownCode, markdownText } from "../text/printable.ts";
import { markdownHead, type RunInfo } from "../text/run-info.ts";
import {
  type Block,
  COMMENT_SIZE,
  collapsed,
  type FittedReport,
  fittedMarkdown,
  openTextOf,
  RANK,
} from "../text/shorten-markdown.ts";
import { type DriftGroup, foldDrift, kindCounts } from "../view/change-groups.ts";
import { authorText, type DriftItem, type DriftView, notedOnce } from "../view/drift-view.ts";
import { nextOfDrift } from "../view/next-step.ts";
import {
  block,
  codeOf,
  fence,
  fieldDiff,
  LONGEST_BESIDE,
  MOST_BESIDE,
  shortenedLines,
  tally,
  withoutSeverity,
} from "./change-markdown.ts";

export function driftMarkdown(view: DriftView, info?: RunInfo, size = COMMENT_SIZE): FittedReport {
  const { title, drift, shown, hidden, diagnostics, managed } = view;
  const verdict = drift.length === 0 && managed > 0 && view.ignoredFields === 0 ? "No drift" : title;
  const lines = [
    ...(hidden === undefined ? [] : [`_${markdownText(hidden)}_`]),
    ...nextLines(nextOfDrift(view, info)),
  ];
  const head = [markdownHead(verdict, info), ...lines.map((line) => `${line}\n`)].join("\n");
  const { items, note } = notedOnce(shown);
  const groups = foldDrift(items);
  const whole = groups.map((group) => driftBlock(group));
  const { sections } = firstThatFits(
    (room) => {
      const errors = findingSections(diagnostics, "error", info, room);
      const warnings = findingSections(diagnostics, "warning", info, room);
      const open = groups.slice(0, room.changes).map((group) => driftBlock(group, room));
      const rest = groups.slice(open.length);
      const blocks = [...noteBlocks(note), ...open, ...kindBlocks(rest, room)];
      const isWhole = rest.length === 0 && open.every(({ text }, at) => text === whole[at]?.text);
      return {
        sections: [
          ...errors,
          ...warnings,
          { rank: RANK.open, open: "", blocks },
          collapsed(RANK.complete, `All drift: ${count(items.length, "resource")}`, isWhole ? [] : whole),
        ],
      };
    },
    ({ sections }) => openTextOf(head, sections),
    0,
  );
  return fittedMarkdown(head, sections, size);
}

/** If the service does not record who changed several objects, a note says it for all. */
export function driftBlocks(drift: readonly DriftItem[]): readonly Block[] {
  const { items, note } = notedOnce(drift);
  return [...noteBlocks(note), ...foldDrift(items).map((group) => driftBlock(group))];
}

const noteBlocks = (note: string): readonly Block[] =>
  note === "" ? [] : [{ what: "note about drift", text: `_${note}_\n\n` }];

/** Other drift: a line for each kind, and for what is changed, deleted, and new. */
function kindBlocks(groups: readonly DriftGroup[], room: Room): readonly Block[] {
  const alike = Map.groupBy(groups.flat(), ({ what, kind }) => `${what} ${kind}`);
  return [...alike.values()].map((own): Block => {
    const differences = own.some(({ fields }) => fields.length > 0) ? `: ${tally(own, room.characters)}` : "";
    const text = `- **${own[0]?.what}** ${markdownText(kindCounts(own))}${differences} (${named(own, room.names, room.characters)})\n`;
    return { what: "drifted resource", text };
  });
}

const named = (items: readonly DriftItem[], most: number, text?: number): string =>
  firstFew(items, most, ({ address }) => codeOf(address, text));

/** The line of one field of drift also has who acknowledged it, and why. */
const LONGEST_LINE = 400;

/** The recorded value is on the left, the live one on the right. Equal drift is there once, and a short difference next to the address. */
function driftBlock(group: DriftGroup, room?: Room): Block {
  const [{ address, what, fields, content, remarks: all, author, source }] = group;
  const isSame = group.every((item) => item.author === author);
  const by = isSame ? author : authorText(source.origin && { ...source.origin, at: undefined }, true);
  const { characters = Number.POSITIVE_INFINITY, lines: most = Number.POSITIVE_INFINITY } = room ?? {};
  const remarkTexts = [...all, ...(by === "" ? [] : [by])].map((remark) =>
    markdownText(shortened(remark, characters)),
  );
  const remarks = remarkTexts.length === 0 ? "" : ` (${remarkTexts.join("; ")})`;
  const isSingle = group.length === 1;
  const title = isSingle ? codeOf(address, characters) : markdownText(kindCounts(group));
  const head = `- **${what}** ${title}${remarks}`;
  const members = named(group, room?.few ?? group.length, characters);
  const beside = content.length > 0 ? [] : fields.map(withoutSeverity).flatMap(fieldDiff(false, false));
  const longest = Math.min(beside.length === 1 ? LONGEST_LINE : LONGEST_BESIDE, characters);
  if (beside.length > 0 && beside.length <= MOST_BESIDE && beside.join("").length <= longest) {
    const line = `${head}: ${beside.map(markdownCode).join(", ")}${isSingle ? "" : ` of ${members}`}`;
    return block("drifted resource", head, [line]);
  }
  const line = isSingle ? head : `${head}: ${members}`;
  const lines = [...fields.flatMap(fieldDiff(false)), ...content];
  if (most === 0)
    return block("drifted resource", head, [
      fields.length === 0 ? line : `${line} ${tally([group[0]], characters)}`,
    ]);
  return block("drifted resource", head, [line, ...fence(shortenedLines(lines, most))]);
}
