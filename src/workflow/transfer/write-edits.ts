// Writes edited files of a spec, all of them or none, and the `moved` entries that a plan suggests.

import { join, relative, sep } from "node:path";
import { assertNoLinkBelow, writeFilesTogether } from "../../config/write-file.ts";
import { type Diagnostic, error, Failure, failureOf, hasErrors } from "../../core/diagnostic.ts";
import type { Json } from "../../core/json.ts";
import { makeFolder } from "../../core/regular-file.ts";
import { escaped } from "../../expressions/template.ts";
import type { LikelyRename } from "../../planner/model/plan.ts";
import { type FileEdit, SpecEdits } from "../../spec/edit/spec-edits.ts";
import { openSpecFolder } from "../../spec/files/spec-folder.ts";
import { type LoadedSpec, loadSpec } from "../../spec/load-spec.ts";
import { LIMITS } from "../../spec/model/limits.ts";
import { specInput } from "../session/read-spec.ts";
import type { Session } from "../session/session.ts";

type Tree = NonNullable<ReturnType<typeof openSpecFolder>>["tree"];

/** The spec of a session, to edit its files. */
export interface EditableSpec {
  readonly tree: Tree;
  readonly main: string;
  /** The targets that are not selected. */
  readonly otherTargets: readonly string[];
  /** The bytes of a file of the spec's folder; undefined if it does not exist. */
  read(path: string): Uint8Array | undefined;
  /** The spec with edited files; secrets are not read. `target`: another one than the selected. */
  load(edited: ReadonlyMap<string, Uint8Array>, target?: string): Promise<LoadedSpec>;
}

export function openToEdit({ invocation, spec }: Session): EditableSpec {
  const input = specInput(invocation);
  const opened = openSpecFolder(invocation.file, input);
  if (opened === undefined) throw failureOf("SPEC_NOT_FOUND", `${invocation.file} does not exist`);
  const { tree } = opened;
  return {
    ...opened,
    otherTargets: invocation.target().names.filter((name) => name !== spec.target?.name),
    read(path) {
      const file = tree.read(path, LIMITS.contentBytes);
      return file.ok ? Buffer.from(file.value) : undefined;
    },
    load: (edited, target = input.target) =>
      loadSpec({ ...input, target, edited, secrets: "skip", keyed: () => "" }),
  };
}

/** Throws Failure with CLI_FILE; then no file has changed. */
export function writeEdits(tree: Tree, edits: readonly FileEdit[]): void {
  const files = edits.map(({ path, before, after }) => ({
    path: join(tree.folder, path),
    before: before.length === 0 && !tree.size(path).ok ? undefined : before,
    after,
  }));
  for (const { path, before } of files) {
    if (before !== undefined) continue;
    assertNoLinkBelow(tree.folder, path);
    makeFolder(join(path, ".."));
  }
  writeFilesTogether(files.map((file) => ({ ...file, path: realPathOf(tree, file.path) })));
}

/** A file may be a link inside the folder; the file that it leads to is written. */
function realPathOf(tree: Tree, path: string): string {
  const real = tree.realPath(relative(tree.folder, path).split(sep).join("/"));
  return real.ok && real.value !== undefined ? real.value : path;
}

interface WrittenMoves {
  readonly edit: FileEdit;
  /** The name of the file for people. */
  readonly file: string;
}

/** Adds the entries to the main file of the spec. Throws Failure before it writes if the edited spec is not valid for a target. */
export async function writeMoved(session: Session, renames: readonly LikelyRename[]): Promise<WrittenMoves> {
  const { tree, main, otherTargets, read, load } = openToEdit(session);
  const unknown = renames.find(({ to }) => !session.spec.resources.has(to));
  // An address with a masked value is not the one of the spec.
  if (unknown !== undefined) throw notWritten(`an address contains a sensitive value: ${unknown.to}`);
  const edits = new SpecEdits(read);
  const at = { file: main, path: ["moved"] };
  const before = edits.valueAt(at) ?? [];
  if (!Array.isArray(before)) throw notWritten(`moved in ${tree.shown(main)} is not a list`);
  const entries = renames.map(({ from, to }): Json => ({ from: escaped(from), to: escaped(to) }));
  edits.set(at, [...(before as readonly Json[]), ...entries]);
  const [edit] = edits.files();
  if (edit === undefined) throw notWritten("the entries exist already");
  const edited = new Map([[edit.path, Uint8Array.from(edit.after)]]);
  const own = await load(edited);
  if (own.spec === undefined || hasErrors(own.diagnostics))
    throw notWritten("the spec would not be valid with them", own.diagnostics);
  for (const target of otherTargets) {
    const [old, now] = [await load(new Map(), target), await load(edited, target)];
    if (!hasErrors(old.diagnostics) && hasErrors(now.diagnostics))
      throw notWritten(`the target ${target} would not be valid with them`, now.diagnostics);
  }
  writeEdits(tree, [edit]);
  return { edit, file: tree.shown(main) };
}

function notWritten(why: string, causes: readonly Diagnostic[] = []): Failure {
  return new Failure(
    error("CLI_FILE", `the moved entries are not written: ${why}`),
    ...causes.filter(({ severity }) => severity === "error"),
  );
}
