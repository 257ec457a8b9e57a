// The log of a run while it grows: the first lines, which say what ran, and the last ones, which say how it ended.

/** Characters that a result keeps of its log. */
const LONGEST_LOG = 32_768;
const HEAD = 4_096;

export class RunLogText {
  #head = "";
  #tail = "";
  #dropped = 0;

  add(text: string): void {
    const room = HEAD - this.#head.length;
    const first = this.#tail === "" && this.#dropped === 0 ? wholeLines(text, room) : "";
    this.#head += first;
    this.#tail += text.slice(first.length);
    if (this.#tail.length <= LONGEST_LOG) return;
    const cut = this.#tail.indexOf("\n", this.#tail.length - LONGEST_LOG / 2) + 1;
    this.#dropped += this.#tail.slice(0, cut).split("\n").length - 1;
    this.#tail = this.#tail.slice(cut);
  }

  get text(): string {
    const gap = this.#dropped === 0 ? "" : `… ${this.#dropped} lines left out …\n`;
    return `${this.#head}${gap}${this.#tail}`;
  }
}

function wholeLines(text: string, room: number): string {
  if (text.length <= room) return text;
  return text.slice(0, text.lastIndexOf("\n", Math.max(0, room - 1)) + 1);
}
