// Random YAML in an unusual layout: valid, with odd indentation, comments, empty lines, and every style of scalar.

const WORDS = [
  "a",
  "team",
  "x-1",
  "two words",
  "true",
  "12",
  "~",
  "${var.env}",
  "a#b",
  "c:d",
  "$${x}",
  "ä",
  "-x",
];

/** The same number gives the same text. */
export function untidyYaml(seed: number): string {
  const writer = new UntidyWriter(seed);
  return writer.document();
}

class UntidyWriter {
  #state: number;
  #keys = 0;
  #anchors = 0;
  readonly #known: string[] = [];

  constructor(seed: number) {
    this.#state = seed;
  }

  document(): string {
    const start = this.#one(["", "", "---\n", "# head\n\n\n", "\n\n"]);
    return `${start}${this.#map(0, 0)}${this.#one(["", "\n\n", "# end", "# end\n"])}`;
  }

  #below(most: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * most);
  }

  #one<T>(choices: readonly T[]): T {
    return choices[this.#below(choices.length)] as T;
  }

  #many<T>(make: () => T): readonly T[] {
    return Array.from({ length: 1 + this.#below(3) }, make);
  }

  #end(): string {
    return this.#one(["", "", "", " ", "  # note", " # it's: {odd", "\t"]);
  }

  /** Empty lines and comments between two entries. */
  #between(column: number): string {
    const pad = " ".repeat(column + this.#one([0, 0, 1, 3]));
    return this.#one(["", "", "", "\n", "\n\n  \n", `${pad}# about the next\n`, `\n${pad}#tight\n\n`]);
  }

  #map(column: number, depth: number): string {
    return this.#many(() => this.#entry(column, depth)).join("");
  }

  #entry(column: number, depth: number): string {
    const pad = " ".repeat(column);
    return `${this.#between(column)}${pad}${this.#pair(column, depth)}`;
  }

  #pair(column: number, depth: number): string {
    const name = `k${++this.#keys}`;
    const key = this.#one([name, `"${name}"`, `'${name} b'`, `${name} c`]);
    return `${key}${this.#one(["", "", "", " "])}:${this.#value(column, depth, true)}`;
  }

  /** What follows a colon or a dash, to the end of its last line. */
  #value(column: number, depth: number, ofMap: boolean): string {
    const space = this.#one([" ", " ", "   "]);
    const style = this.#below(depth > 3 ? 6 : 9);
    const deeper = column + 1 + this.#below(4);
    if (style === 0) return `${this.#end()}\n`;
    if (style === 1) return `${space}${this.#flow(column + 1, 0)}${this.#end()}\n`;
    if (style === 2) return `${space}${this.#block(deeper)}`;
    if (style === 3) return `${space}${this.#lines(deeper)}${this.#end()}\n`;
    if (style === 4 && this.#known.length > 0) return `${space}*${this.#one(this.#known)}${this.#end()}\n`;
    if (style < 6) return `${space}${this.#scalar()}${this.#end()}\n`;
    const anchor = this.#one(["", "", ` &n${++this.#anchors}`]);
    const inner =
      style === 6
        ? this.#list(ofMap ? column + this.#below(4) : deeper, depth + 1)
        : this.#map(deeper, depth + 1);
    if (anchor !== "") this.#known.push(anchor.slice(2));
    return `${anchor}${this.#end()}\n${inner}`;
  }

  #list(column: number, depth: number): string {
    return this.#many(() => this.#item(column, depth)).join("");
  }

  #item(column: number, depth: number): string {
    const before = `${this.#between(column)}${" ".repeat(column)}-`;
    if (this.#below(3) > 0 || depth > 3) return `${before}${this.#value(column, depth, false)}`;
    const gap = 1 + this.#below(3);
    const inner = column + 1 + gap;
    const first =
      this.#below(2) === 0 ? `-${this.#value(inner, depth + 1, false)}` : this.#pair(inner, depth + 1);
    const more = first.startsWith("-")
      ? this.#one(["", `${" ".repeat(inner)}- x\n`])
      : this.#one(["", this.#entry(inner, depth + 1)]);
    return `${before}${" ".repeat(gap)}${first}${more}`;
  }

  #scalar(): string {
    const word = this.#one(WORDS);
    return this.#one([word, word, `"${word} \\" \\u0041"`, `'${word}'' x'`]);
  }

  /** A scalar of two lines. */
  #lines(column: number): string {
    const pad = " ".repeat(column);
    return this.#one([
      `one\n${pad}two`,
      `"one \\\n${pad} \\ two"`,
      `"one  \n\n${pad}two\\  "`,
      `'one\n${pad}  two'`,
      `one\n\n\n${pad}two`,
    ]);
  }

  #block(column: number): string {
    const header = `${this.#one(["|", ">"])}${this.#one(["", "-", "+"])}${this.#one(["", "", "  # note"])}`;
    const pad = " ".repeat(column);
    const more = this.#one(["", `${pad}  more  \n`, `\n\n${pad}# no comment\n`, `${pad}\t\n`]);
    return `${header}\n${this.#one(["", "\n", `${pad}\n`])}${pad}text: x\n${more}${this.#one(["", "\n\n", `${pad}  \n`])}`;
  }

  #flow(column: number, depth: number): string {
    const open = this.#one([
      "",
      "",
      " ",
      `\n${" ".repeat(column + this.#below(3))}`,
      ` # in\n${" ".repeat(column)}`,
    ]);
    const comma = this.#one([
      ",",
      ", ",
      " , ",
      `,\n${" ".repeat(column)}`,
      `, # c\n\n\n${" ".repeat(column)}`,
    ]);
    const items = this.#many(() =>
      this.#below(3) === 0 && depth < 2 ? this.#flow(column, depth + 1) : this.#word(),
    );
    if (this.#below(2) === 0) return `[${open}${items.join(comma)}${open}]`;
    return `{${open}${items.map((item) => `f${++this.#keys}${this.#one([": ", " : "])}${item}`).join(comma)}${open}}`;
  }

  #word(): string {
    return this.#one(["a", "two words", "'it''s'", '"x, y"', "1", "null", '"${var.env}"', "a#b"]);
  }
}
