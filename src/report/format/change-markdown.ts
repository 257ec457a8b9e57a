// Changes as items of a list in Markdown, with their differences: alone, equal ones together, or those of a kind in a line.

import { count, firstFew, grouped, shortened } from "../../core/sentences.ts";
import { UNDECLARED } from "../../planner/model/change.ts";
import { type Room, SPACIOUS } from "../text/comment-room.ts";
import { markdownBlock, markdownCode, markdownSentence, markdownText } from "../text/printable.ts";
import type { Block } from "../text/shorten-markdown.ts";
import { type ChangeGroup, groupTitle, isAccessChange, kindCounts } from "../view/change-groups.ts";
import type { ChangeView } from "../view/change-view.ts";
import { type FieldLine, fieldNote } from "../view/field-lines.ts";

/** The first addresses, in code, with the former ones. */
export function names(changes: readonly ChangeView[], most: number, text?: number): string {
  return firstFew(changes, most, (change) => {
    const { formerAddress } = change;
    return `${titleCode(change, text)}${formerAddress === undefined ? "" : ` (moved from ${codeOf(formerAddress, text)})`}`;
  });
}

export const codeOf = (address: string, most = Number.POSITIVE_INFINITY): string =>
  markdownCode(shortened(address, most));

/** The address; of a move, both. */
function titleCode({ action, address, source }: ChangeView, most?: number): string {
  const code = codeOf(address, most);
  return action === "move" ? `${codeOf(source.movedFrom ?? "", most)} to ${code}` : code;
}

/** An open line of equal changes: their difference, and the first by name. */
export function equalBlock(group: ChangeGroup, room: Room): Block {
  const [view] = group;
  const diff = diffOf(view, false);
  const most = group.length <= room.few ? group.length : room.names;
  const named = names(group, most, room.characters);
  const sentences = room.lines === 0 ? [] : sentencesOf(view);
  const head = groupHead(group);
  if (isBeside(diff, room)) {
    const difference = diff.length === 0 ? ":" : `: ${diff.map(markdownCode).join(", ")} of`;
    return block("change", head, [`${head}${difference} ${named}`, ...sentences]);
  }
  if (room.lines === 0)
    return block("change", head, [`${head}: ${tally(group, room.characters)} (${named})`]);
  return block("change", `${head}: ${named}`, [
    `${head}: ${named}`,
    ...sentences,
    ...fence(firstLines(view, room)),
  ]);
}

/** Equal changes with all their names, and their differences once. */
export function groupBlock(group: ChangeGroup): Block {
  const [view, ...others] = group;
  if (others.length === 0) return changeBlock(view);
  const head = groupHead(group);
  const lines = [`${head}: ${names(group, group.length)}`, ...sentencesOf(view), ...fence(diffOf(view))];
  return block("change", `${head}: ${names(group, SPACIOUS.names)}`, lines);
}

/** The differences for which there is room. Of more, those of security are the first, and the last line counts the rest. */
function firstLines(view: ChangeView, { lines: most }: Room, isInBlock = true): readonly string[] {
  const whole = diffOf(view, isInBlock);
  if (whole.length <= most) return whole;
  const { content, action, destroys, severity } = view;
  const fields = securityFirst(view.fields);
  return shortenedLines(diffOf({ fields, content, action, destroys, severity }, isInBlock), most);
}

/** The first lines of a block, and how many more there are. */
export function shortenedLines(lines: readonly string[], most: number): readonly string[] {
  const rest = lines.length - most;
  return rest <= 0 ? lines : [...lines.slice(0, most), `  … ${count(rest, "more line")}`];
}

function securityFirst(fields: readonly FieldLine[]): readonly FieldLine[] {
  let isSecurity = false;
  const ranked = fields.map((line) => {
    if (line.label !== "") isSecurity = line.severity === "security";
    return { line, rank: isSecurity ? 0 : 1 };
  });
  return ranked.toSorted((a, b) => a.rank - b.rank).map(({ line }) => line);
}

const isBeside = (diff: readonly string[], { characters }: Room): boolean =>
  diff.length <= MOST_BESIDE && diff.join("").length <= Math.min(LONGEST_BESIDE, characters);

/** Changes of one kind and action without a block of their own, in one line. Of a few whose access changes, each has its difference there; of more, each difference is counted, so that no right is only in a closed block. */
export function kindLine(own: ChangeGroup, room: Room): string {
  const [{ verb }] = own;
  const head = `- **${verb}** ${markdownText(kindCounts(own))}`;
  const isAccess = own.every((change) => !change.destroys && isAccessChange(change));
  if (!isAccess) return `${head}: ${names(own, room.names, room.characters)}`;
  const differing = own.filter(({ fields }) => fields.length > 0);
  if (own.length > room.few && differing.length > 0)
    return `${head}: ${tally(own, room.characters)} (${names(own, room.names, room.characters)})`;
  const parts = own.map((change) => {
    const lines = firstLines(change, room, false).map((line) =>
      markdownCode(shortened(line.trim(), room.characters)),
    );
    return lines.length === 0
      ? names([change], 1, room.characters)
      : `${names([change], 1, room.characters)} (${lines.join(", ")})`;
  });
  return `${head}: ${parts.join(", ")}`;
}

/** So many differences of the changes of a kind are counted. */
const MOST_COUNTED = 3;

/** `access.ops: (none) → CAN_MANAGE` in 12, `entitlements` in 3: the differences of security, or all if there are none. */
export function tally(own: readonly Pick<ChangeView, "fields">[], text: number): string {
  const all = own.flatMap(({ fields }, at) => {
    let label = "";
    let severity: FieldLine["severity"];
    return fields.map((line) => {
      if (line.label !== "") ({ label, severity } = line);
      return { at, label, severity, line: withoutSeverity({ ...line, label }) };
    });
  });
  const rights = all.filter(({ severity }) => severity === "security");
  const byLabel = [...Map.groupBy(rights.length > 0 ? rights : all, ({ label }) => label).values()];
  return firstFew(
    byLabel.toSorted((a, b) => b.length - a.length),
    MOST_COUNTED,
    (differences) => {
      const texts = new Set(differences.flatMap(({ line }) => fieldDiff(false, false)(line)));
      const shown = texts.size === 1 ? [...texts] : differences.slice(0, 1).map(({ label }) => label);
      const changes = new Set(differences.map(({ at }) => at)).size;
      const times = own.length === 1 ? "" : ` in ${grouped(changes)}`;
      return `${shown.map((difference) => markdownCode(shortened(difference, text))).join("")}${times}`;
    },
  );
}

function groupHead(group: ChangeGroup): string {
  const [{ verb, severityRemarks, sharedRemarks }] = group;
  const remarkTexts = [...severityRemarks, ...sharedRemarks];
  const remarks = remarkTexts.length === 0 ? "" : ` (${markdownText(remarkTexts.join("; "))})`;
  return `- **${verb}** ${markdownText(groupTitle(group))}${remarks}`;
}

/** So many lines of differences are next to the address. */
export const MOST_BESIDE = 2;

/** Longer ones are in a block, which scrolls. */
export const LONGEST_BESIDE = 140;

/** A change with its differences: whole, or what of it there is room for. A few short differences are then next to the address. */
export function changeBlock(view: ChangeView, room?: Room): Block {
  const remarkTexts = [...view.severityRemarks, ...view.remarks];
  const remarks =
    remarkTexts.length === 0
      ? ""
      : ` (${markdownText(shortened(remarkTexts.join("; "), room?.characters ?? Number.POSITIVE_INFINITY))})`;
  const head = `- **${view.verb}** ${titleCode(view, room?.characters)}${remarks}`;
  const diff = diffOf(view);
  if (room === undefined) return block("change", head, [head, ...sentencesOf(view), ...fence(diff)]);
  const sentences = room.lines === 0 ? [] : sentencesOf(view);
  const beside = view.content.length > 0 ? [] : diffOf(view, false);
  if (beside.length > 0 && isBeside(beside, room))
    return block("change", head, [`${head}: ${beside.map(markdownCode).join(", ")}`, ...sentences]);
  if (room.lines > 0) return block("change", head, [head, ...sentences, ...fence(firstLines(view, room))]);
  const counted = diff.length === 0 ? "" : `: ${tally([view], room.characters)}`;
  return block("change", head, [`${head}${counted}`]);
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

type ShownDifferences = Pick<ChangeView, "fields" | "content" | "action" | "destroys" | "severity">;

/** The heading of the changes of access says `security` for all their fields. */
export function diffOf(
  { fields, content, action, destroys, severity }: ShownDifferences,
  isInBlock?: boolean,
): readonly string[] {
  const isAccess = !destroys && severity === "security";
  const shown = isAccess ? fields.map(withoutSeverity) : fields;
  return [...shown.flatMap(fieldDiff(action === "create", isInBlock)), ...content];
}

export function withoutSeverity({ severity: _, ...line }: FieldLine): FieldLine {
  return line;
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
