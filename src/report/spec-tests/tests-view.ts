// The results of spec tests as every format shows them, and the difference of an expectation line by line.

import { structuredPatch } from "diff/lib/patch/create.js";
import { stringify } from "yaml";
import type { Diagnostic, Location } from "../../core/diagnostic.ts";
import type { Json } from "../../core/json.ts";
import { count } from "../../core/sentences.ts";
import { printableLines } from "../text/printable.ts";

export interface ShownProblem {
  readonly step?: { readonly number: number; readonly name: string };
  readonly at: Location;
  readonly differs?: {
    readonly what: string;
    readonly expected: Json | undefined;
    readonly actual: Json;
  };
  readonly diagnostics: readonly Diagnostic[];
}

export interface ShownTest {
  readonly file: string;
  readonly name: string;
  readonly at: Location;
  readonly status: "passed" | "failed" | "updated";
  readonly durationMs: number;
  readonly problems: readonly ShownProblem[];
}

export interface TestsView {
  readonly results: readonly ShownTest[];
  /** The errors of test files that could not be read. */
  readonly diagnostics: readonly Diagnostic[];
}

/** `step 2 (plan): actions are not as expected`. */
export function problemSentence({ step, differs, diagnostics }: ShownProblem): string {
  const where = step === undefined ? "" : `step ${step.number} (${step.name}): `;
  if (differs !== undefined)
    return `${where}${differs.expected === undefined ? "unexpected " : ""}${differs.what}${
      differs.expected === undefined ? "" : " are not as expected"
    }`
      .replace("summary are", "summary is")
      .replace(/(live|drift) are/, "$1 objects are");
  return `${where}${diagnostics[0]?.message ?? "the step did not complete"}`;
}

/** Lines around a difference. */
const CONTEXT = 3;
const MOST_LINES = 200;

/** `- ` expected, `+ ` found; printable. */
export function differenceLines({ differs }: Pick<ShownProblem, "differs">): readonly string[] {
  if (differs === undefined) return [];
  const { expected, actual } = differs;
  const before = expected === undefined ? "" : yamlLines(expected);
  const { hunks } = structuredPatch("", "", before, yamlLines(actual), "", "", { context: CONTEXT });
  const lines = hunks.flatMap((hunk, at) => [...(at === 0 ? [] : ["  …"]), ...hunk.lines.map(signed)]);
  const shown = lines.filter((line) => !line.startsWith("\\"));
  if (shown.length <= MOST_LINES) return shown;
  return [...shown.slice(0, MOST_LINES), `  … (${count(shown.length - MOST_LINES, "more line")})`];
}

function signed(line: string): string {
  const [text = ""] = printableLines(line.slice(1));
  return line.startsWith("\\") ? line : `${line.slice(0, 1)} ${text}`;
}

function yamlLines(value: Json): string {
  return stringify(value, { lineWidth: 0 });
}

/** `3 tests in 2 files: 2 passed, 1 failed.` */
export function testsSentence({ results, diagnostics }: TestsView): string {
  const files = new Set(results.map(({ file }) => file)).size;
  const number = (status: ShownTest["status"]) => results.filter((one) => one.status === status).length;
  const parts = (["passed", "updated", "failed"] as const).flatMap((status) =>
    number(status) > 0 ? [`${number(status)} ${status}`] : [],
  );
  const unread = new Set(diagnostics.map(({ at }) => at?.file)).size;
  const invalid = unread === 0 ? "" : ` ${count(unread, "test file")} could not be read.`;
  const counts = parts.length === 0 ? "" : `: ${parts.join(", ")}`;
  return `${count(results.length, "test")} in ${count(files, "file")}${counts}.${invalid}`;
}
