// A scenario file: files, commands, and their exact output in one file, parsed into steps and written back with the
// actual output.

/** The output of a command. Lines of stdout are indented by four spaces, those of stderr begin with `  ! `. */
export interface Output {
  readonly stdout: string;
  readonly stderr: string;
  readonly exit: number;
}

export type Step =
  /** A comment or an empty line, kept unchanged. */
  | { readonly type: "text"; readonly line: string }
  /** `file PATH`, then its content indented by two spaces. */
  | {
      readonly type: "file";
      readonly line: string;
      readonly path: string;
      readonly content: readonly string[];
    }
  /** `$ COMMAND`, then its output. */
  | {
      readonly type: "command";
      readonly line: string;
      readonly words: readonly string[];
      readonly expected: readonly string[];
    }
  /** Any other word at the start of a line: `example`, `env`, `api`, `control`, `signal`, `edit`, `fill`, `input`, `repeat`, `remove`. */
  | { readonly type: "order"; readonly line: string; readonly verb: string; readonly rest: string };

export function parseScenario(text: string): readonly Step[] {
  const lines = text.replace(/\n$/, "").split("\n");
  const steps: Step[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? "";
    at += 1;
    const block: string[] = [];
    if (line.startsWith("$ ") || line.startsWith("file ")) {
      while (at < lines.length && isInside(lines, at)) block.push(lines[at++] ?? "");
    }
    steps.push(stepOf(line, block));
  }
  return steps;
}

/** Indented lines belong to the step above; so do empty ones between them. */
function isInside(lines: readonly string[], at: number): boolean {
  const line = lines[at] ?? "";
  if (line.startsWith("  ") || line.startsWith("= exit ")) return true;
  return (
    line === "" &&
    lines
      .slice(at)
      .find((next) => next !== "")
      ?.startsWith("  ") === true
  );
}

function stepOf(line: string, block: readonly string[]): Step {
  if (line === "" || line.startsWith("#")) return { type: "text", line };
  if (line.startsWith("$ ")) return { type: "command", line, words: wordsOf(line.slice(2)), expected: block };
  const [verb = "", ...rest] = line.split(" ");
  if (verb === "file") return { type: "file", line, path: rest.join(" "), content: block };
  return { type: "order", line, verb, rest: rest.join(" ") };
}

/** Words as a shell splits them: single and double quotes keep spaces. */
export function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"]+)+/g)].map(([word]) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, "$1$2"),
  );
}

/** The lines below a command with its output. */
export function outputLines({ stdout, stderr, exit }: Output): readonly string[] {
  return [
    ...indented(stdout, "    "),
    ...indented(stderr, "  ! "),
    ...(exit === 0 ? [] : [`= exit ${exit}`]),
  ];
}

function indented(text: string, by: string): readonly string[] {
  if (text === "") return [];
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => (line === "" ? (by.trim() === "" ? "    ." : "  !") : `${by}${line}`));
}
