// Locates the state of a run: `.workspace/<target>` next to the spec unless --state is set.

import { dirname, join, resolve } from "node:path";
import type { ReadLimit } from "../../api/retry/read-limit.ts";
import { fromEnv, type ProcessContext } from "../../config/environment.ts";
import type { HostOptions } from "../../config/settings.ts";
import { isPostgresUrl } from "../../state/backends/postgres/database.ts";
import type { SpecOptions } from "../session/read-spec.ts";
import { IN_WORKSPACE, specFile, stateOfTarget, type TargetOptions, targetOf } from "./target.ts";

export type StateOptions = Pick<SpecOptions, "file" | "target"> &
  Partial<Pick<HostOptions, "host" | "profile" | "caFile" | "dialect" | "cloud" | "untrusted">> & {
    readonly state: string | undefined;
    /** Of the plan for which a state in the workspace is read. */
    readonly readLimit?: ReadLimit;
  };

function ownFolder(context: ProcessContext, options: Pick<SpecOptions, "file">): string {
  return join(dirname(specFile(context, options)), ".workspace");
}

export function embeddedFolder(context: ProcessContext, options: Pick<SpecOptions, "file">): string {
  return join(ownFolder(context, options), "embedded");
}

export function stateFolder(
  context: ProcessContext,
  options: StateOptions,
  location: string | undefined,
): string {
  if (location === undefined)
    return join(ownFolder(context, options), targetFolder(targetOf(context, options)));
  return resolve(context.cwd, location);
}

/** A folder name that cannot lead to another folder or to the data of the embedded workspace. */
function targetFolder(target: string | undefined): string {
  if (target === undefined) return "default";
  const name = encodeURIComponent(target).replaceAll(".", "%2E");
  return name === "embedded" || name === "default" ? `target-${name}` : name;
}

export function explicitStateLocation(
  context: ProcessContext,
  options: Pick<StateOptions, "state"> & TargetOptions,
): string | undefined {
  return options.state ?? fromEnv(context, "WORKSPACE_STATE") ?? stateOfTarget(context, options);
}

/** The absolute folder of the state; undefined if the state is in PostgreSQL or in the workspace. */
export function stateFolderOf(context: ProcessContext, options: StateOptions): string | undefined {
  const location = explicitStateLocation(context, options);
  if (location !== undefined && (isPostgresUrl(location) || isInWorkspace(location))) return undefined;
  return stateFolder(context, options, location);
}

export function isInWorkspace(location: string): boolean {
  return location.startsWith(IN_WORKSPACE);
}
