// Changes and drift as items of a list in Markdown, with their differences: alone, or equal ones together.

import { count, firstFew } from "../../core/sentences.ts";
import { UNDECLARED } from "../../planner/model/change.ts";
import { markdownBlock, markdownCode, markdownSentence, markdownText } from "../text/printable.ts";
import type { Block } from "../text/shorten-markdown.ts";
import type { ChangeView } from "../view/change-view.ts";
import { authorText, type DriftItem, notedOnce } from "../view/drift-view.ts";
import { type FieldLine, fieldNote } from "../view/field-lines.ts";
import { type ChangeGroup, type DriftGroup, foldDrift, groupTitle, kindCounts } from "../view/fold.ts";

/** So many changes are open in a comment, which has at most two screens; the others are in closed blocks and on the page. */
export const MOST_OPEN = 10;

/** A line names so many objects or side effects. */
export const NAMED_IN_LINE = 3;

/** A line of many changes names so many of them. */
export const MOST_BELOW = 4;

/** An open change shows so many lines of its differences. */
export const MOST_LINES = 6;

export function names(changes: readonly ChangeView[], most: number): string {
  return firstFew(changes, most, (change) => {
    const { formerAddress } = change;
    const moved = formerAddress === undefined ? "" : ` (moved from ${markdownCode(formerAddress)})`;
    return `${titleCode(change)}${moved}`;
  });
}

/** An open line of equal changes: their difference, and the first by name. */
export function equalBlock(group: ChangeGroup): Block {
  const diff = diffOf(group[0], false);
  const most = group.length <= MOST_OPEN ? MOST_OPEN : MOST_BELOW;
  if (diff.length === 0 || diff.length > MOST_BESIDE) return groupBlock(group, most);
  const head = groupHead(group);
  const line = `${head}: ${diff.map(markdownCode).join(", ")} of ${names(group, most)}`;
  return block("change", head, [line, ...sentencesOf(group[0])]);
}

/** Equal changes have their differences once. `most`: so many are named. */
export function groupBlock(group: ChangeGroup, most = group.length): Block {
  const [view, ...others] = group;
  if (others.length === 0) return changeBlock(view);
  const title = groupHead(group);
  const lines = [`${title}: ${names(group, most)}`, ...sentencesOf(view), ...fence(diffOf(view))];
  return block("change", `${title}: ${names(group, NAMED_IN_LINE)}`, lines);
}

function groupHead(group: ChangeGroup): string {
  const [{ verb, severityRemarks, sharedRemarks }] = group;
  const remarkTexts = [...severityRemarks, ...sharedRemarks];
  const remarks = remarkTexts.length === 0 ? "" : ` (${markdownText(remarkTexts.join("; "))})`;
  return `- **${verb}** ${markdownText(groupTitle(group))}${remarks}`;
}

/** The address; of a move, both. */
export function titleCode({ action, address, source }: ChangeView): string {
  const code = markdownCode(address);
  return action === "move" ? `${markdownCode(source.movedFrom ?? "")} to ${code}` : code;
}

/** So many lines of differences are next to the address. */
const MOST_BESIDE = 2;

/** Longer ones are in a block, which scrolls. */
const LONGEST_BESIDE = 140;

/** The line of one field of drift also has who acknowledged it, and why. */
const LONGEST_DRIFT = 400;

/** `most`: lines of differences to show. A few short ones are then next to the address. */
export function changeBlock(view: ChangeView, most = Number.POSITIVE_INFINITY): Block {
  const remarkTexts = [...view.severityRemarks, ...view.remarks];
  const remarks = remarkTexts.length === 0 ? "" : ` (${markdownText(remarkTexts.join("; "))})`;
  const head = `- **${view.verb}** ${titleCode(view)}${remarks}`;
  const diff = diffOf(view);
  const isBrief = most < Number.POSITIVE_INFINITY && view.content.length === 0;
  const beside = isBrief && diff.length > 0 && diff.length <= MOST_BESIDE ? diffOf(view, false) : [];
  if (beside.length > 0 && beside.join("").length <= LONGEST_BESIDE) {
    const line = `${head}: ${beside.map(markdownCode).join(", ")}`;
    return block("change", head, [line, ...sentencesOf(view)]);
  }
  const shown =
    diff.length <= most ? diff : [...diff.slice(0, most), `  … ${count(diff.length - most, "more line")}`];
  return block("change", head, [head, ...sentencesOf(view), ...fence(shown)]);
}

function sentencesOf({ consequences, otherReasons, cost }: ChangeView): readonly string[] {
  // Most deletions have this reason: a reader assumes it.
  const reasons = otherReasons.filter((reason) => reason !== UNDECLARED);
  return [
    ...(cost === "" ? [] : [`  - cost: ${markdownText(cost)}`]),
    ...consequences.map((sentence) => `  - ⚠ ${markdownSentence(sentence)}`),
    ...reasons.map((reason) => `  - because ${markdownSentence(reason)}`),
  ];
}

/** The heading of the changes of access says `security` for all their fields. */
export function diffOf(
  { fields, content, action, destroys, severity }: ChangeView,
  isInBlock?: boolean,
): readonly string[] {
  const isAccess = !destroys && severity === "security";
  const shown = isAccess ? fields.map(withoutSeverity) : fields;
  return [...shown.flatMap(fieldDiff(action === "create", isInBlock)), ...content];
}

function withoutSeverity({ severity: _, ...line }: FieldLine): FieldLine {
  return line;
}

/** If the service does not record who changed several objects, a note says it for all. */
export function driftBlocks(drift: readonly DriftItem[]): readonly Block[] {
  const { items, note } = notedOnce(drift);
  const blocks = foldDrift(items).map(driftBlock);
  return note === "" ? blocks : [{ what: "note about drift", text: `_${note}_\n\n` }, ...blocks];
}

/** The recorded value is on the left, the live one on the right. Equal drift is there once, and a short difference next to the address. */
function driftBlock(group: DriftGroup): Block {
  const [{ address, what, fields, content, remarks: all, author, source }] = group;
  const isSame = group.every((item) => item.author === author);
  const by = isSame ? author : authorText(source.origin && { ...source.origin, at: undefined }, true);
  const remarkTexts = [...all, ...(by === "" ? [] : [by])].map(markdownText);
  const remarks = remarkTexts.length === 0 ? "" : ` (${remarkTexts.join("; ")})`;
  const title = group.length === 1 ? markdownCode(address) : markdownText(kindCounts(group));
  const head = `- **${what}** ${title}${remarks}`;
  const members =
    group.length === 1 ? "" : ` of ${firstFew(group, MOST_OPEN, (item) => markdownCode(item.address))}`;
  const beside = content.length > 0 ? [] : fields.map(withoutSeverity).flatMap(fieldDiff(false, false));
  const longest = beside.length === 1 ? LONGEST_DRIFT : LONGEST_BESIDE;
  if (beside.length > 0 && beside.length <= MOST_BESIDE && beside.join("").length <= longest)
    return block("drifted resource", head, [`${head}: ${beside.map(markdownCode).join(", ")}${members}`]);
  const lines = fence([...fields.flatMap(fieldDiff(false)), ...content]);
  return block("drifted resource", head, [`${head}${members}`, ...lines]);
}

/** `head`: what is left of it if there is little room. */
export function block(what: string, head: string, lines: readonly string[]): Block {
  const text = `${lines.join("\n")}\n`;
  return lines.length === 1 ? { what, text } : { what, text, brief: `${head}\n` };
}

/** A block of differences inside an item of a list. */
export function fence(lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ["", ...markdownBlock("diff", lines).map((line) => `  ${line}`), ""];
}

/** A longer pair of values takes two lines. */
const LONGEST_PAIR = 100;

/** Added lines have `+`, removed lines `-`, and changed lines `!`: these signs have colors in a `diff` block. Outside one, a changed line has no sign. */
export function fieldDiff(isNew: boolean, isInBlock = true): (line: FieldLine) => readonly string[] {
  const [changed, plain] = isInBlock ? ["! ", "  "] : ["", ""];
  return (line) => {
    const { label, sign, was, text } = line;
    const name = label === "" ? "" : `${label}: `;
    const note = fieldNote(line);
    const end = note === "" ? "" : `  # ${note}`;
    if (sign !== undefined) return [`${sign} ${name}${text}${end}`];
    if (was === undefined) return [`${isNew ? "+ " : plain}${name}${text}${end}`];
    if (was.length + text.length <= LONGEST_PAIR) return [`${changed}${name}${was} → ${text}${end}`];
    return [`- ${name}${was}`, `+ ${name}${text}${end}`];
  };
}
