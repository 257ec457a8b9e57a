// The lines of changes, of drift, and of their fields for a terminal, in plans and in other answers.
// The strings of fields and changes in a view are printable already; others are made printable here.

import { firstFew } from "../../core/sentences.ts";
import { printable } from "../text/printable.ts";
import { type Colors, diffPaint, type Paint, textTable } from "../text/terminal.ts";
import {
  type ChangeGroup,
  type DriftGroup,
  foldDrift,
  groupNames,
  groupTitle,
  kindCounts,
} from "../view/change-groups.ts";
import type { ChangeView } from "../view/change-view.ts";
import { areUnrecorded, authorText, type DriftItem, notedOnce, UNRECORDED_NOTE } from "../view/drift-view.ts";
import { type FieldLine, fieldNote } from "../view/field-lines.ts";
import { shortPair } from "../view/word-differences.ts";

export function changeBlocks(groups: readonly ChangeGroup[], colors: Colors): readonly string[] {
  const isNotedBelow = areUnrecorded(groups.map(([{ driftOrigin }]) => driftOrigin));
  const lines = spacedLines(
    groups.map((group) => ({ kind: group[0].kind, lines: groupLines(group, colors, { isNotedBelow }) })),
  );
  if (isNotedBelow) lines.push("", colors.dim(UNRECORDED_NOTE));
  if (groups.some(({ length }) => length > 1))
    lines.push("", colors.dim("Equal changes are shown once; `--expand` shows each of them."));
  return lines;
}

/** The lines of changes or drift. An empty line separates kinds, and what has more than one line. */
function spacedLines(
  blocks: readonly { readonly kind: string; readonly lines: readonly string[] }[],
): string[] {
  return blocks.flatMap(({ kind, lines }, at) => {
    const before = blocks[at - 1];
    const isApart =
      before !== undefined && (before.kind !== kind || before.lines.length > 1 || lines.length > 1);
    return isApart ? ["", ...lines] : lines;
  });
}

/** So many of the equal changes are named; of changes of access more, by their addresses. */
const MOST_NAMED = 5;
const MOST_OF_ACCESS = 20;

interface ChangeLineOptions {
  /** Whether contents are not shortened. */
  readonly isWhole?: boolean;
  /** Whether a line below says that the service does not record who made the changes. */
  readonly isNotedBelow?: boolean;
}

export function changeLines(
  view: ChangeView,
  colors: Colors,
  options?: ChangeLineOptions,
): readonly string[] {
  return groupLines([view], colors, options);
}

function groupLines(
  group: ChangeGroup,
  colors: Colors,
  { isWhole = false, isNotedBelow = false }: ChangeLineOptions = {},
): readonly string[] {
  const [view, ...others] = group;
  const paint = paintOf(view.action, colors);
  const members =
    view.severity === "security"
      ? firstFew(group, MOST_OF_ACCESS, memberText)
      : groupNames(group, MOST_NAMED);
  // Members of a group share the remarks about what changes, and each has others about its object.
  const remarks = others.length === 0 ? view.remarks : [members, ...view.sharedRemarks];
  const notes = [...view.severityRemarks, ...remarks];
  const noteText = notes.length === 0 ? "" : colors.dim(`  (${notes.join("; ")})`);
  const author = authorText(view.driftOrigin, isNotedBelow);
  // An alarm colors the background, too, which the padding does not have.
  const verb = view.action === "delete" ? `${colors.alarm(view.verb)}  ` : view.verb.padEnd(8);
  return [
    `  ${paint(view.sign)} ${paint(verb)} ${colors.bold(groupTitle(group))}${noteText}`,
    ...fieldBlock(view.fields, colors),
    ...contentBlock(isWhole ? view.wholeContent : view.content, colors),
    ...(author === "" ? [] : [colors.dim(`      drift: ${author}`)]),
    ...costLines(group, colors),
    ...view.otherReasons.map((reason) => colors.dim(`      because ${reason}`)),
    ...view.consequences.map((sentence) => `      ${colors.yellow("!")} ${sentence}`),
  ];
}

/** A member of equal changes of access, with what only it has: its former address, or its name. */
function memberText({ title, remarks, sharedRemarks }: ChangeView): string {
  const ownRemarks = remarks.filter((text) => !sharedRemarks.includes(text));
  return ownRemarks.length === 0 ? title : `${title} (${ownRemarks.join("; ")})`;
}

/** Equal changes can differ in cost, if their pools do. */
function costLines([view, ...others]: ChangeGroup, colors: Colors): readonly string[] {
  if (view.cost === "" || others.some(({ cost }) => cost !== view.cost)) return [];
  return [`      ${colors.cyan("cost:")} ${others.length === 0 ? "" : "each "}${view.cost}`];
}

function paintOf(action: ChangeView["action"], colors: Colors): Paint {
  switch (action) {
    case "create":
      return colors.green;
    case "update":
      return colors.yellow;
    case "replace":
      return colors.magenta;
    case "delete":
      return colors.red;
    case "adopt":
    case "import":
    case "move":
    case "forget":
      return colors.cyan;
    case "compare":
      return colors.yellow;
    case "noop":
    case "report":
      return colors.dim;
  }
  return action satisfies never;
}

const DRIFT_SIGNS = { changed: "~", deleted: "-", appeared: "+" } as const;

export function driftLines(drift: readonly DriftItem[], colors: Colors): readonly string[] {
  const { items, note } = notedOnce(drift);
  const groups = foldDrift(items);
  const lines = spacedLines(
    groups.map((group) => ({ kind: group[0].kind, lines: driftGroupLines(group, colors) })),
  );
  if (note !== "") lines.push("", colors.dim(note));
  if (groups.some(({ length }) => length > 1))
    lines.push("", colors.dim("Equal drift is shown once; `-o json` lists each resource."));
  return lines;
}

function driftGroupLines(group: DriftGroup, colors: Colors): readonly string[] {
  const [item] = group;
  const isAlone = group.length === 1;
  const names = firstFew(group, item.severity === "security" ? MOST_OF_ACCESS : MOST_NAMED, ({ address }) =>
    printable(address),
  );
  const title = isAlone ? printable(item.address) : kindCounts(group);
  const remarks = [...item.remarks, ...(isAlone ? [] : [names])];
  const remarkText = remarks.length === 0 ? "" : `  (${remarks.join("; ")})`;
  const author = isAlone ? item.author : groupAuthor(group);
  return [
    `  ${colors.yellow(DRIFT_SIGNS[item.what])} ${colors.yellow(item.what.padEnd(8))} ${colors.bold(title)}${colors.dim(remarkText)}`,
    ...(author === "" ? [] : [colors.dim(`      ${author}`)]),
    ...fieldBlock(item.fields, colors),
    ...contentBlock(item.content, colors),
  ];
}

/** The latest of the changes, which one person made. */
function groupAuthor(group: DriftGroup): string {
  const [latest] = group.toSorted((a, b) => (b.source.origin?.at ?? 0) - (a.source.origin?.at ?? 0));
  const author = latest?.author ?? "";
  return group.some((item) => item.author !== author) ? `${author} (the latest)` : author;
}

/** Labels longer than this push only their own line to the right. */
const LABEL_WIDTH = 44;

export function fieldBlock(lines: readonly FieldLine[], colors: Colors): readonly string[] {
  const rows = lines.map((line) => {
    const note = fieldNote(line);
    const end = note === "" ? "" : `  ${colors.magenta(`# ${note}`)}`;
    return [line.label, `${fieldValue(line, colors)}${end}`];
  });
  return textTable(rows, { indent: "      ", widest: LABEL_WIDTH });
}

function fieldValue(line: FieldLine, colors: Colors): string {
  if (line.sign === "+") return colors.green(`+ ${line.text}`);
  if (line.sign === "-") return colors.red(`- ${line.text}`);
  if (line.was === undefined) return line.text;
  const [was, now] = line.isExcerpt ? [line.was, line.text] : shortPair(line.was, line.text);
  return `${colors.red(was)} ${colors.dim("→")} ${colors.green(now)}`;
}

function contentBlock(lines: readonly string[], colors: Colors): readonly string[] {
  return lines.map((line) => `        ${diffPaint(line, colors, colors.dim)(line)}`);
}
