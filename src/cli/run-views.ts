// The views of a notebook run, as HTML files or on stdout.

import { extname, resolve } from "node:path";
import { error, Failure } from "../core/diagnostic.ts";
import type { JsonObject } from "../core/json.ts";
import { printable, printableLines } from "../report/printable.ts";
import type { Context } from "./context.ts";
import { making } from "./files.ts";
import { writeWholeFile } from "./whole-file.ts";

export interface View {
  readonly name: string;
  readonly content: string;
}

export function viewsOf({ views }: JsonObject): readonly View[] {
  if (!Array.isArray(views)) return [];
  return (views as readonly JsonObject[]).map(({ name, content }) => ({
    name: typeof name === "string" ? name : "",
    content: typeof content === "string" ? content : "",
  }));
}

export interface Writing {
  readonly run: number | bigint;
  readonly out: string | undefined;
  readonly force: boolean;
}

/** Throws Failure with CLI_USAGE, CLI_FILE or CLI_NO_OBJECT. */
export function writeViews(context: Context, views: readonly View[], { run, out, force }: Writing): void {
  const [first, ...more] = views;
  if (first === undefined)
    throw new Failure(error("CLI_NO_OBJECT", `run ${run} has no such views`, { hint: "try --views ALL" }));
  if (out === undefined) {
    if (more.length > 0)
      throw new Failure(
        error("CLI_USAGE", `run ${run} has ${views.length} views, too many for one output`, {
          hint: "write them into files with --out FILE",
        }),
      );
    const { stdout } = context;
    stdout.write(stdout.isTerminal ? `${printableLines(first.content).join("\n")}\n` : first.content);
    return;
  }
  for (const [at, view] of views.entries()) {
    const path = at === 0 ? out : numbered(out, at + 1);
    write(resolve(context.cwd, path), path, view.content, force);
    context.stdout.write(`Wrote ${path}${view.name === "" ? "" : ` (${printable(view.name)})`}.\n`);
  }
}

/** `night-2.html` for `night.html`. */
function numbered(path: string, number: number): string {
  const extension = extname(path);
  return `${path.slice(0, path.length - extension.length)}-${number}${extension}`;
}

function write(path: string, shown: string, content: string, force: boolean): void {
  making(shown, "name another file, or write over it with --force", () =>
    writeWholeFile(path, content, { over: force }),
  );
}
