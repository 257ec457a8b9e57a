// Where a run keeps its state, and opens it: `.workspace/<target>` beside the spec unless --state says otherwise.

import { dirname, join, resolve } from "node:path";
import { error, Failure } from "../core/diagnostic.ts";
import { openFileStore } from "../state/file/file-store.ts";
import { isDeadHere, nodeClock, nodeFiles, nodeRandom, thisProcess } from "../state/file/node-ports.ts";
import type { StateStore } from "../state/store.ts";
import { fromEnv } from "./config.ts";
import type { Context } from "./context.ts";
import { type SpecOptions, specFile, targetOf } from "./spec.ts";

export type StateOptions = Pick<SpecOptions, "file" | "target"> & { readonly state: string | undefined };

/** The folder of everything that a spec's runs keep. */
function ownFolder(context: Context, options: Pick<SpecOptions, "file">): string {
  return join(dirname(specFile(context, options)), ".workspace");
}

export function embeddedFolder(context: Context, options: Pick<SpecOptions, "file">): string {
  return join(ownFolder(context, options), "embedded");
}

export function stateFolder(context: Context, options: StateOptions): string {
  const said = options.state ?? fromEnv(context, "WORKSPACE_STATE");
  if (said === undefined) return join(ownFolder(context, options), targetFolder(targetOf(context, options)));
  if (/^[a-z][a-z0-9+.-]+:/i.test(said))
    throw new Failure(
      error("CLI_USAGE", `--state ${said} is not a folder`, { hint: "states are kept in folders" }),
    );
  return resolve(context.cwd, said);
}

/** A folder name that no target can use to lead elsewhere, nor to the embedded workspace's data. */
function targetFolder(target: string | undefined): string {
  if (target === undefined) return "default";
  const name = encodeURIComponent(target).replaceAll(".", "%2E");
  return name === "embedded" || name === "default" ? `target-${name}` : name;
}

export function openState(context: Context, options: StateOptions): StateStore {
  const keyText = fromEnv(context, "WORKSPACE_STATE_KEY");
  return openFileStore({
    folder: stateFolder(context, options),
    fs: nodeFiles,
    clock: nodeClock,
    random: nodeRandom,
    owner: thisProcess(),
    isDead: isDeadHere,
    ...(keyText === undefined ? {} : { keyText }),
  });
}
