// Shortens a Markdown report to the size of a comment or a summary: the least important parts are left out first.

import { count, listed } from "../../core/sentences.ts";

/** A part that is shown completely, by its first line, or not. */
export interface Block {
  readonly what: string;
  readonly text: string;
  /** The same in one line; absent if the text has no details. */
  readonly brief?: string;
}

export interface Section {
  /** 0 is the most important. Lines of all blocks of one rank come before the details of any of them. */
  readonly rank: number;
  readonly open: string;
  readonly close?: string;
  readonly blocks: readonly Block[];
}

/** The order in which sections keep their place in a report that is too long. `complete`: what an open section shortened. */
export const RANK = {
  errors: 0,
  open: 1,
  warnings: 2,
  complete: 2,
  closed: 3,
  drift: 4,
  unmanaged: 5,
} as const;

export interface MarkdownSize {
  readonly limit: number;
  readonly unit: "characters" | "bytes";
}

/** Comments may have 65,536 characters; the rest is for what the poster of a comment adds. */
export const COMMENT_SIZE: MarkdownSize = { limit: 64_500, unit: "characters" };
/** The summary of a job may have 1 MiB, which other commands of its step share. */
export const SUMMARY_SIZE: MarkdownSize = { limit: 1_000_000, unit: "bytes" };

/** A Markdown text that fits. `cut`: something was left out, and the run has to show it elsewhere, as the text says. */
export interface FittedReport {
  readonly text: string;
  readonly cut: boolean;
  /** The same text in pieces, for a large document. */
  readonly pieces?: () => Iterable<string>;
}

/** Space for the sentences about omitted parts. */
const RESERVE = 600;

/** `head` is always there. */
export function fittedMarkdown(head: string, sections: readonly Section[], size: MarkdownSize): FittedReport {
  const filled = sections.filter(({ blocks }) => blocks.length > 0);
  const whole = joined([
    head,
    ...filled.map((section) => sectionText(section, section.blocks.map(fullText))),
  ]);
  if (sizeOf(whole, size) <= size.limit) return { text: whole, cut: false };
  const chosen = chosenTexts(filled, size, size.limit - RESERVE - sizeOf(head, size));
  const shown = filled.flatMap((section) => {
    const texts = section.blocks.flatMap((block) => chosen.get(block) ?? []);
    // A heading without content would use space that is not counted.
    return texts.length === 0 ? [] : [sectionText(section, texts)];
  });
  return { text: joined([head, missing(filled, chosen), ...shown]), cut: true };
}

/** The visible text while all blocks are closed. */
export function openTextOf(head: string, sections: readonly Section[]): string {
  return joined([
    head,
    ...sections
      .filter(({ blocks }) => blocks.length > 0)
      .map((section) =>
        sectionText(section, section.close === undefined ? section.blocks.map(fullText) : []),
      ),
  ]);
}

/** The most important first: the line of each block, then its details, as long as there is room. */
function chosenTexts(
  sections: readonly Section[],
  size: MarkdownSize,
  room: number,
): ReadonlyMap<Block, string> {
  const chosen = new Map<Block, string>();
  const opened = new Set<Section>();
  let left = room;
  const take = (section: Section, block: Block, text: string): void => {
    const frame = opened.has(section) ? 0 : sizeOf(sectionText(section, []), size) + 2;
    const cost = sizeOf(text, size) + 1 - sizeOf(chosen.get(block) ?? "", size) + frame;
    if (cost > left) return;
    left -= cost;
    opened.add(section);
    chosen.set(block, text);
  };
  for (const rank of [...new Set(sections.map((section) => section.rank))].sort((a, b) => a - b)) {
    const own = sections.filter((section) => section.rank === rank);
    for (const level of [briefText, fullText])
      for (const section of own)
        for (const block of section.blocks) {
          const text = level(block);
          if (chosen.get(block) !== text) take(section, block, text);
        }
  }
  return chosen;
}

const fullText = ({ text }: Block): string => text;
const briefText = ({ text, brief }: Block): string => brief ?? text;

function sectionText({ open, close }: Section, texts: readonly string[]): string {
  return joined([open, texts.join(""), close ?? ""]);
}

/** Parts that begin and end with a line of their own, a blank line between them. */
function joined(parts: readonly string[]): string {
  return parts
    .filter((part) => part !== "")
    .map((part) => `${part.trimEnd()}\n`)
    .join("\n");
}

function sizeOf(text: string, { unit }: MarkdownSize): number {
  return unit === "bytes" ? Buffer.byteLength(text) : text.length;
}

/** If something was omitted, the command writes the text format to standard error, unless standard output has it. */
const ELSEWHERE = "The log of this run has the whole report, and `-o json` each finding.";

function missing(sections: readonly Section[], chosen: ReadonlyMap<Block, string>): string {
  const blocks = sections.flatMap((section) => section.blocks);
  const dropped = counted(blocks.filter((block) => !chosen.has(block)));
  const short = counted(blocks.filter((block) => chosen.has(block) && chosen.get(block) !== block.text));
  const sentences = [
    ...(dropped === "" ? [] : [`${dropped} left out`]),
    ...(short === "" ? [] : [`${short} shown without details`]),
  ];
  return `**Shortened to fit**: ${sentences.join("; ")}. ${ELSEWHERE}\n`;
}

function counted(blocks: readonly Block[]): string {
  const groups = Map.groupBy(blocks, (block) => block.what);
  return listed([...groups].map(([what, all]) => count(all.length, what)));
}

export function collapsed(rank: number, summary: string, blocks: readonly Block[]): Section {
  return { rank, open: `<details><summary>${summary}</summary>`, close: "</details>", blocks };
}
