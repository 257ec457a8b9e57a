// States that a team shares: in a PostgreSQL database, or in the workspace itself. Nothing of either is loaded before it is used.

import { isConflict, isMissing } from "../../api/contract/refusals.ts";
import type { ProcessContext } from "../../config/environment.ts";
import { authoritiesOf } from "../../config/network.ts";
import { error, Failure } from "../../core/diagnostic.ts";
import { isPostgresUrl, parsePostgresUrl } from "../../state/backends/postgres/url.ts";
import type { StateStore } from "../../state/model/store.ts";
import { lazyStore } from "../../state/store/lazy-store.ts";
import type { StoreOptions } from "../../state/store/state-store.ts";
import { settingsForTarget, targetOf } from "../target/target.ts";
import { IN_WORKSPACE, isInWorkspace, type StateOptions } from "./state-location.ts";

/** Few concurrent requests for a state, so that an apply never waits for them. */
const PARALLELISM = 8;

/** Undefined if `said` is a folder. Throws CLI_USAGE; no message repeats a possible password. */
export function sharedState(
  context: ProcessContext,
  options: StateOptions,
  said: string,
  common: StoreOptions,
  embeddedFolder: string,
): StateStore | undefined {
  if (isPostgresUrl(said)) return inPostgres(context, options, said, common);
  if (isInWorkspace(said)) return inWorkspace(context, options, said, common, embeddedFolder);
  if (/^[a-z][a-z0-9+.-]+:/i.test(said))
    throw new Failure(
      error("CLI_USAGE", "--state is not a supported state location", {
        hint: "use a folder, postgres://user@host/database, or workspace:/folder",
      }),
    );
  return undefined;
}

function inPostgres(
  context: ProcessContext,
  options: StateOptions,
  said: string,
  common: StoreOptions,
): StateStore {
  const url = parsePostgresUrl(said, targetOf(context, options) ?? "default", context.env);
  return lazyStore(url.shown, async () => {
    const authorities = authoritiesOf(context, options.caFile);
    const { openPostgresStore } = await import("../../state/backends/postgres/pg-database.ts");
    return openPostgresStore({ ...common, url, ...(authorities === undefined ? {} : { authorities }) });
  });
}

function inWorkspace(
  context: ProcessContext,
  options: StateOptions,
  said: string,
  common: StoreOptions,
  embeddedFolder: string,
): StateStore {
  const folder = said.slice(IN_WORKSPACE.length);
  if (!/^(\/[^/]+)+$/.test(folder) || folder.split("/").some((name) => name === "." || name === ".."))
    throw new Failure(
      error("CLI_USAGE", `--state ${said} is not a folder in the workspace's file system`, {
        hint: "write it as workspace:/folder/of/the/state",
      }),
    );
  return lazyStore(said, async () => {
    const settings = settingsForTarget(context, {
      ...options,
      host: options.host,
      profile: options.profile,
      parallelism: PARALLELISM,
      caFile: options.caFile,
      dialect: options.dialect,
      cloud: options.cloud,
      untrusted: options.untrusted === true,
    });
    const { connect } = await import("./connect.ts");
    const { openWorkspaceStore } = await import("../../state/backends/workspace-file/workspace-backend.ts");
    // Apart from the run's own client: the end of a run is still written after a signal stopped that one.
    const connection = await connect({ settings, embeddedFolder, abandoned: context.abandoned });
    const tell = { isMissing, isConflict };
    const close = () => connection.close();
    return openWorkspaceStore({ ...common, api: connection.writer, tell, folder, close });
  });
}
