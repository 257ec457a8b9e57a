// How much of a comment is open: the estimate of its height, and steps of detail, of which the first that fits is shown.
// `shorten-markdown.ts` then keeps the whole report, also its closed blocks, within the largest size of a comment.

/** What a step of detail leaves open; the closed blocks have everything. */
export interface Room {
  /** Changes, or groups of equal ones, with their differences. */
  readonly changes: number;
  /** Lines of the differences of such a change; without any, its side effects and cost are not shown either. */
  readonly lines: number;
  /** Names in a line about so few changes that it also has their differences. */
  readonly few: number;
  /** Names in a line about more changes. */
  readonly names: number;
  /** Lines of a section about changes without a block of their own. More kinds share a line for each action. */
  readonly kinds: number;
  readonly rights: number;
  readonly errors: number;
  readonly warnings: number;
  /** Of a name or a sentence. */
  readonly characters: number;
}

/** Of a report that is not limited to two screens. */
export const SPACIOUS: Room = {
  changes: 10,
  lines: 6,
  few: 10,
  names: 4,
  kinds: 20,
  rights: 10,
  errors: 5,
  warnings: 3,
  characters: 600,
};

/** From much detail to little. */
const ROOMS: readonly Room[] = [
  SPACIOUS,
  { ...SPACIOUS, lines: 3, rights: 5, errors: 3 },
  { ...SPACIOUS, changes: 8, lines: 2, rights: 5, errors: 3, characters: 300 },
  { ...SPACIOUS, changes: 6, lines: 1, few: 5, rights: 4, errors: 3, characters: 200 },
  { ...SPACIOUS, changes: 4, lines: 0, few: 0, names: 3, rights: 4, errors: 3, characters: 160 },
  { ...SPACIOUS, changes: 2, lines: 0, few: 0, names: 2, rights: 3, errors: 2, characters: 120 },
  { ...SPACIOUS, changes: 0, lines: 0, few: 0, names: 2, rights: 3, errors: 2, characters: 90 },
  { ...SPACIOUS, changes: 0, lines: 0, few: 0, names: 1, kinds: 12, rights: 3, errors: 2, characters: 60 },
  { ...SPACIOUS, changes: 0, lines: 0, few: 0, names: 1, kinds: 5, rights: 3, errors: 2, characters: 60 },
  {
    ...SPACIOUS,
    changes: 0,
    lines: 0,
    few: 0,
    names: 1,
    kinds: 3,
    rights: 2,
    errors: 1,
    warnings: 1,
    characters: 60,
  },
];

/** Two screens of 800 pixels, less the sentence about omitted parts, the link to the page, and what an estimate may miss. */
const MOST_PIXELS = 1_460;

/** The text of the first step that leaves a comment of two screens, or of the last one. `closed`: blocks below it. */
export function firstThatFits<T>(
  render: (room: Room) => T,
  openText: (report: T) => string,
  closed: number,
): T {
  const most = MOST_PIXELS - closed * CLOSED;
  for (const room of ROOMS) {
    const report = render(room);
    if (room === ROOMS.at(-1) || pixelsOf(openText(report)) <= most) return report;
  }
  throw new Error("unreachable: the last step is always returned");
}

// A comment of GitHub: 858 pixels wide inside, 14-pixel text, 16 pixels between blocks.
const WIDTH = 858;
const LINE = 21;
const GAP = 16;
const CLOSED = LINE + GAP;
const INDENT = 28;
const CODE_LINE = 17.3;
const CODE_CHARACTER = 7.2;
const CODE_FRAME = 9;
const CHARACTER = 6.9;
const HEADINGS: Readonly<Record<number, readonly [size: number, frame: number]>> = {
  2: [1.5, 6],
  3: [1.25, 8],
};

/** The estimated height of the Markdown of a report with its `details` closed, in pixels. */
export function pixelsOf(markdown: string): number {
  let [height, depth, fence, wasItem] = [2 * GAP, 0, "", false];
  for (const line of markdown.split("\n")) {
    const text = line.trim();
    if (fence !== "") {
      if (depth === 0) height += text === fence ? 2 * GAP : CODE_LINE;
      if (text === fence) fence = "";
      continue;
    }
    fence = /^`{3,}/.exec(text)?.[0] ?? "";
    if (text.startsWith("<details>")) {
      if (depth === 0) height += CLOSED;
      depth += 1;
    }
    if (text === "</details>") depth -= 1;
    else if (
      depth === 0 &&
      fence === "" &&
      text !== "" &&
      !text.startsWith("<!--") &&
      !text.startsWith("<d")
    ) {
      const isItem = /^- /.test(text);
      height += blockPixels(line, text) + (isItem ? 4 : GAP) + (isItem && !wasItem ? GAP : 0);
      wasItem = isItem;
    }
  }
  return height;
}

/** Without the space below it. */
function blockPixels(line: string, text: string): number {
  const [, marks = ""] = /^(#{2,3}) /.exec(text) ?? [];
  const [size, frame] = HEADINGS[marks.length] ?? [1, 0];
  const indent = text.startsWith("- ") ? INDENT * (1 + (line.length - line.trimStart().length) / 2) : INDENT;
  return Math.ceil((widthOf(text) * size) / (WIDTH - indent)) * LINE * (size === 1 ? 1 : size * 0.84) + frame;
}

/** Of text in which an entity is one character, and a tag or the target of a link none. */
function widthOf(markdown: string): number {
  const text = markdown
    .replace(/\]\([^)]*\)/g, "")
    .replace(/<\/?span>/g, "")
    .replace(/&[#\w]+;/g, "x");
  return text.split(/(`+[^`]*`+)/).reduce((sum, part, at) => {
    const width = [...part].reduce((all, character) => all + (character < "\u0500" ? 1 : 2), 0);
    return sum + width * (at % 2 === 1 ? CODE_CHARACTER : CHARACTER) + (at % 2 === 1 ? CODE_FRAME : 0);
  }, 0);
}
