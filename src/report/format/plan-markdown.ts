// A plan as Markdown for a comment or the summary page of a job: dangerous changes open, as far as two screens have room, and the
// rest in closed blocks.

import { count, firstFew, grouped, listed, shortened } from "../../core/sentences.ts";
import { summaryOf } from "../../planner/model/plan.ts";
import { firstThatFits, type Room, SPACIOUS } from "../text/comment-room.ts";
import { findingSections, nextLines } from "../text/findings-markdown.ts";
import {
  markdownBlock,
  markdownCode,
  markdownSentence,
  markdownText,
  markupText,
  printable,
} from "../text/printable.ts";
import { markdownMarker, type RunInfo, runMarkdown } from "../text/run-info.ts";
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
import { PLANNED_ACTIONS, plannedCounts } from "../text/vocabulary.ts";
import { type AccessLine, type AccessView, shownAccess } from "../view/access-view.ts";
import {
  type ChangeGroup,
  destroysIn,
  type Effect,
  foldChanges,
  foldEffects,
  isAccessChange,
  isCostChange,
  kindCounts,
} from "../view/change-groups.ts";
import type { ChangeView } from "../view/change-view.ts";
import { nextOfPlan } from "../view/next-step.ts";
import { kindTable, movedLines, ORIGIN_HEADS, type PlanView, resolvedSentence } from "../view/plan-view.ts";
import { block, changeBlock, diffOf, equalBlock, groupBlock, kindLine, names } from "./change-markdown.ts";
import { driftBlocks } from "./drift-markdown.ts";

/** A line of the summary names so many objects or side effects. */
const NAMED_IN_LINE = 3;

/** Lines of several sentences or names have so many times the characters of one. */
const [SENTENCES, NAMES] = [3, 2];

export function planMarkdown(plan: PlanView, info?: RunInfo, size = COMMENT_SIZE): FittedReport {
  const touching = plan.shown.changes.filter((change) => change.touches);
  const shown = touching.filter((change) => change.origin !== "pending");
  const pending = touching.filter((change) => change.origin === "pending");
  const guarded = new Set<string>(plan.guards.flatMap((guard) => guard.addresses));
  const destroys = destroysIn(shown);
  const access = shown.filter((change) => !change.destroys && isAccessChange(change));
  const rest = shown.filter((change) => !change.destroys && !isAccessChange(change));
  const isRiskyChange = (change: ChangeView) => isRisky(change, guarded);
  const lists: Lists = {
    destroys: partOf(plan, "destroys", destroys),
    access: partOf(plan, "access changes", access),
    risky: partOf(plan, "changes that need attention", rest.filter(isRiskyChange)),
    // Of all changes, as every line of the head.
    effects: foldEffects(plan.touching),
    renames: movedLines(plan).map(printable),
  };
  const closed = [
    ...byKind(
      rest.filter((change) => !isRiskyChange(change)),
      plan,
    ),
    collapsed(
      RANK.closed,
      `${ORIGIN_HEADS.pending}: ${count(pending.length, "resource")}`,
      foldChanges(pending, { expand: plan.expand }).map((group) => groupBlock(group)),
    ),
    table(plan),
    resolved(plan),
    drift(plan),
    unmanaged(plan),
  ].filter(({ blocks }) => blocks.length > 0);
  const { head, sections, incomplete } = firstThatFits(
    (room) => openPart(plan, info, lists, room),
    (open) => openTextOf(open.head, open.sections),
    // Each has a title at the height of a closed block; `completeSection` is one more.
    closed.length + 1,
  );
  return fittedMarkdown(head, [...sections, completeSection(incomplete), ...closed], size);
}

/** Changes of which a comment shows some. */
interface ChangePart {
  readonly changes: readonly ChangeView[];
  readonly groups: readonly ChangeGroup[];
  /** `destroys`. */
  readonly what: string;
}

interface Lists {
  readonly destroys: ChangePart;
  readonly access: ChangePart;
  readonly risky: ChangePart;
  readonly effects: readonly Effect[];
  readonly renames: readonly string[];
}

function partOf(plan: PlanView, what: string, changes: readonly ChangeView[]): ChangePart {
  return { what, changes, groups: foldChanges(changes, { expand: plan.expand, foldsAccess: true }) };
}

/** What open sections shortened. */
function completeSection(parts: readonly ChangePart[]): Section {
  const changes = parts.flatMap((part) => part.changes);
  const what = listed(parts.map((part) => part.what));
  return collapsed(
    RANK.complete,
    `All ${what}: ${count(changes.length, "resource")}`,
    changes.map((change) => changeBlock(change)),
  );
}

interface OpenPart {
  readonly head: string;
  readonly sections: readonly Section[];
  readonly incomplete: readonly ChangePart[];
}

/** What a reader sees at once. */
function openPart(plan: PlanView, info: RunInfo | undefined, lists: Lists, room: Room): OpenPart {
  const { destroys, access, risky } = lists;
  // Destroys and access changes have half of the open places each, or more if the other needs fewer.
  const half = Math.floor(room.changes / 2);
  const destroysOpened = opened(
    "Destroys",
    plan,
    destroys,
    Math.max(half, room.changes - access.changes.length),
    room,
  );
  const accessOpened = opened(
    "Access",
    plan,
    access,
    Math.max(half, room.changes - destroys.changes.length),
    room,
  );
  const left = Math.max(0, room.changes - destroysOpened.number - accessOpened.number);
  const riskyOpened = opened("Needs attention", plan, risky, left, room);
  const all = [...plan.guards.map(({ diagnostic }) => diagnostic), ...plan.diagnostics, ...plan.notes];
  // Changes whose blocks show their side effects; without lines, a block shows none. What destroys is never grouped, so groups are changes.
  const destroyedBelow = new Set(room.lines === 0 ? [] : destroys.changes.slice(0, destroysOpened.number));
  return {
    head: head(plan, info, glanceLines(plan, lists, destroyedBelow, info, room)),
    sections: [
      ...findingSections(all, "error", info, room),
      ...accessSections(plan, room),
      destroysOpened.section,
      accessOpened.section,
      riskyOpened.section,
      ...findingSections(all, "warning", info, room),
      ...renamed(lists.renames, room),
    ],
    incomplete: [destroysOpened, accessOpened, riskyOpened].flatMap(({ incomplete }) => incomplete),
  };
}

function renamed(lines: readonly string[], room: Room): readonly Section[] {
  if (lines.length === 0) return [];
  const title = "To keep renamed resources, add this to the spec";
  const yaml = markdownBlock("yaml", lines).join("\n");
  const blockOf = (text: string): readonly Block[] => [{ what: "likely renames", text: `${text}\n` }];
  // More entries than the room has changes would take too much of it.
  if (lines.length > room.changes) return [collapsed(RANK.open, title, blockOf(`\n${yaml}`))];
  return [{ rank: RANK.open, open: "", blocks: blockOf(`${title}:\n\n${yaml}`) }];
}

/** Replaces an object that is kept under another name, has side effects, or is what a guard objects to. */
function isRisky(change: ChangeView, guarded: ReadonlySet<string>): boolean {
  return change.action === "replace" || change.consequences.length > 0 || guarded.has(change.address);
}

function head(plan: PlanView, info: RunInfo | undefined, lines: readonly string[]): string {
  const { title, refusal, host, modes } = plan;
  const about =
    info === undefined
      ? [`Workspace ${markdownCode(host)}`, ...modes].join(" · ")
      : runMarkdown({ ...info, host, modes }).trimEnd();
  const compared = plan.split === undefined ? [] : [markdownText(plan.split.title)];
  const refused = refusal === undefined ? [] : [`> [!CAUTION]\n> **${markdownText(refusal)}**`];
  const { hidden } = plan.shown;
  return [
    markdownMarker(info?.target),
    `## ${markdownText(title)}`,
    ...compared,
    ...refused,
    about,
    ...(lines.length === 0 ? [] : [lines.join("\n")]),
    ...(hidden === undefined ? [] : [`_${markdownText(hidden)}_`]),
  ]
    .map((part) => `${part}\n`)
    .join("\n");
}

/** What the plan destroys and costs, and its side effects, without those of a single change of `destroyedBelow`. */
function glanceLines(
  plan: PlanView,
  { effects, destroys }: Lists,
  destroyedBelow: ReadonlySet<ChangeView>,
  info: RunInfo | undefined,
  { characters, names: most }: Room,
): readonly string[] {
  const { touching, costTotal, summary } = plan;
  const cost = touching.filter(isCostChange);
  const destroyed = destroysIn(touching);
  const few = Math.min(NAMED_IN_LINE, most);
  const all = effects.filter(
    ({ changes: [change, ...others] }) => others.length > 0 || !destroyedBelow.has(change),
  );
  const sentences = all
    .slice(0, few)
    .map(
      ({ subject, sentence }) =>
        `${markdownText(shortened(subject, characters))}: ${markdownSentence(shortened(sentence, characters))}`,
    );
  const more = all.length - sentences.length;
  const costParts = [
    ...(costTotal === undefined ? [] : [markdownText(shortened(costTotal, SENTENCES * characters))]),
    ...(cost.length === 0 ? [] : [`${markdownText(kindCounts(cost))}: ${names(cost, few, characters)}`]),
  ];
  // The section of what is destroyed names a small number, unless it is already pending.
  const isNamedBelow =
    destroyed.length <= NAMED_IN_LINE && destroyed.every((change) => destroys.changes.includes(change));
  return [
    ...(isNamedBelow
      ? []
      : [`- **Destroys**: ${markdownText(kindCounts(destroyed))}: ${names(destroyed, few, characters)}`]),
    ...(costParts.length === 0 ? [] : [`- **Cost**: ${costParts.join(" ")}`]),
    ...(summary.compare === 0 ? [] : [`- **Secrets not compared**: ${grouped(summary.compare)}`]),
    ...(sentences.length === 0
      ? []
      : [`- **Side effects**: ${sentences.join("; ")}${more === 0 ? "" : `; and ${grouped(more)} more`}`]),
    ...nextLines(nextOfPlan(plan, info)),
  ];
}

function table({ touching }: PlanView): Section {
  const [titles, ...rows] = kindTable(touching, { changes: 2, kinds: 2 });
  if (titles === undefined) return collapsed(RANK.closed, "", []);
  const row = (cells: readonly string[]) => `| ${cells.map(printable).join(" | ")} |`;
  const summary = summaryOf(touching);
  const used = PLANNED_ACTIONS.filter((action) => summary[action] > 0);
  const total = ["**total**", ...used.map((action) => `**${grouped(summary[action])}**`)];
  const lines = [
    "",
    row(["kind", ...titles.slice(1)]),
    row(titles.map((_, at) => (at === 0 ? "---" : "--:"))),
    ...rows.map(row),
    row(total),
    "",
  ];
  // The numbers of a long plan stay when its changes are left out.
  return collapsed(RANK.open, "By kind", [{ what: "table", text: lines.join("\n") }]);
}

/** Above the changes: what people can do matters more than how a change is written. */
function accessSections({ access }: PlanView, room: Room): readonly Section[] {
  if (access === undefined) return [];
  const { shown, others, isShortened } = shownAccess(access, room.rights);
  const all = isShortened ? access.allLines : [];
  const number = all.reduce((sum, { items }) => sum + items.length, 0);
  const notCompared = markdownText(shortened(access.notCompared.join("; "), SENTENCES * room.characters));
  const notes: readonly Block[] =
    notCompared === "" ? [] : [{ what: "note about access", text: `- not compared: ${notCompared}\n` }];
  return [
    {
      rank: RANK.open,
      open: `### ${markdownText(access.title)}`,
      blocks: [
        ...shown.map((line) => accessBlock(line, room.characters)),
        ...otherPrincipals(others, access, room),
        ...notes,
      ],
    },
    collapsed(
      RANK.complete,
      `All: ${count(number, "right")}`,
      all.map((line) => accessBlock(line)),
    ),
  ];
}

/** Who else gains or loses rights, and how many, so that each right is counted in an open line. */
function otherPrincipals(
  others: readonly AccessLine[],
  { allLines }: AccessView,
  room: Room,
): readonly Block[] {
  return [...Map.groupBy(others, ({ verb }) => verb)].map(([verb, lines]) => {
    const heads = new Set(lines.map(({ head }) => head));
    const rights = allLines.filter((line) => line.verb === verb && heads.has(line.head));
    const number = rights.reduce((sum, { items }) => sum + items.length, 0);
    const names = markdownText(shortened(firstFew([...heads], 3), NAMES * room.characters));
    return { what: "right", text: `- **${verb}** ${names}: ${count(number, "right")}\n` };
  });
}

function accessBlock({ verb, head, items }: AccessLine, characters = Number.POSITIVE_INFINITY): Block {
  const text = (part: string) => markdownText(shortened(part, NAMES * characters));
  const [only] = items;
  const start = `- **${verb}** ${text(head)}`;
  if (items.length === 1 && only !== undefined) return block("right", start, [`${start}: ${text(only)}`]);
  return block("right", `${start}: ${count(items.length, "right")}`, [
    `${start}:`,
    ...items.map((item) => `  - ${text(item)}`),
  ]);
}

interface Opened {
  readonly section: Section;
  /** How many changes, or groups of equal ones, have a block of their own. */
  readonly number: number;
  /** Empty if nothing of the changes is missing in the section. */
  readonly incomplete: readonly ChangePart[];
}

/** The first `most` changes or groups with their differences, and the others in a line for each kind and action, or for each action. */
function opened(title: string, plan: PlanView, part: ChangePart, most: number, room: Room): Opened {
  const { changes, groups } = part;
  const shown = groups.slice(0, most);
  const rest = groups.slice(shown.length);
  const blocks = shown.map((group) =>
    group.length === 1 ? changeBlock(group[0], room) : equalBlock(group, room),
  );
  const byKind = Map.groupBy(rest, ([{ verb, kind }]) => `${verb} ${kind}`);
  const lines = byKind.size > room.kinds ? Map.groupBy(rest, ([{ verb }]) => verb) : byKind;
  const isShortened =
    lines.size > 0 ||
    // A smaller room also shortens names and sentences.
    room.lines < SPACIOUS.lines ||
    shown.some((group) => group.length > 1 || diffOf(group[0]).length > room.lines);
  const caused = plan.split === undefined ? "" : ", caused by this change";
  return {
    section: {
      rank: RANK.open,
      open: `### ${title}${caused}: ${count(changes.length, "resource")}`,
      blocks: [...blocks, ...[...lines.values()].map((own) => restBlock(own, room))],
    },
    number: shown.length,
    incomplete: isShortened && changes.length > 0 ? [part] : [],
  };
}

function restBlock(groups: readonly ChangeGroup[], room: Room): Block {
  const [equal, ...others] = groups;
  if (equal !== undefined && equal.length > 1 && others.length === 0) return equalBlock(equal, room);
  return { what: "change", text: `${kindLine(groups.flat() as unknown as ChangeGroup, room)}\n` };
}

/** More kinds would make a comment long with closed blocks alone. */
const MOST_KINDS = 4;

/** Changes that need no attention, in a closed block for each kind, or in one. */
function byKind(changes: readonly ChangeView[], { expand }: PlanView): readonly Section[] {
  const kinds = [...Map.groupBy(changes, (change) => change.kind)];
  const section = (title: string, own: readonly ChangeView[]) =>
    collapsed(
      RANK.closed,
      `<b>${markupText(title)}</b>: ${plannedCounts(summaryOf(own)).join(", ")}`,
      foldChanges(own, { expand }).map((group) => groupBlock(group)),
    );
  if (kinds.length <= MOST_KINDS) return kinds.map(([kind, own]) => section(kind, own));
  return [
    section(
      `other changes of ${count(kinds.length, "kind")}`,
      kinds.flatMap(([, own]) => own),
    ),
  ];
}

function resolved({ split }: PlanView): Section {
  const blocks = (split?.resolved ?? []).map(
    (item): Block => ({ what: "resolved change", text: `- ${markdownText(resolvedSentence(item))}\n` }),
  );
  return collapsed(RANK.closed, `${ORIGIN_HEADS.resolved}: ${count(blocks.length, "resource")}`, blocks);
}

function drift(plan: PlanView): Section {
  const { drift } = plan.shown;
  const summary = `Drift since the last apply: ${count(drift.length, "resource")}`;
  return collapsed(RANK.drift, summary, driftBlocks(drift));
}

function unmanaged(plan: PlanView): Section {
  const blocks = plan.shown.unmanaged.map(
    ({ address }): Block => ({ what: "unmanaged object", text: `- ${markdownCode(address)}\n` }),
  );
  return collapsed(RANK.unmanaged, `Unmanaged: ${count(blocks.length, "object")}`, blocks);
}
