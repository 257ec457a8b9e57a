// The log of a run, in which no string can give a command to the runner.

/**
 * `line` without a command: GitHub reads one after `::` at the start of a line, also after spaces, and after `##[`;
 * Azure Pipelines after `##vso[` and `##[`, and ignores characters without a width between them.
 */
export const withoutCommands = (line: string): string =>
  line.replace(/^([^\x21-\x7e]*):(?=[^\x21-\x7e]*:)/, "$1: ").replaceAll(/#(?=[^\x21-\x7e]*#)/g, "# ");

/** Writes to stderr. `text` can quote what a server or a repository said. */
export function log(text: string): void {
  for (const line of text.split(/[\r\n\v\f\x85\u2028\u2029]+/))
    process.stderr.write(`${withoutCommands(line)}\n`);
}
