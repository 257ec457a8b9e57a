// States that a team shares: in a PostgreSQL database, or in the workspace itself. Nothing of either is loaded before it is used.

import { isConflict, isMissing } from "../api/missing.ts";
import { error, Failure } from "../core/diagnostic.ts";
import type { StoreOptions } from "../state/kept-store.ts";
import { lazyStore } from "../state/lazy-store.ts";
import { isPostgresUrl, parsePostgresUrl } from "../state/postgres/url.ts";
import type { StateStore } from "../state/store.ts";
import { settingsOf } from "./config.ts";
import type { Context } from "./context.ts";
import { targetOf } from "./spec.ts";
import type { StateOptions } from "./state-place.ts";

const WORKSPACE = "workspace:";
/** So few requests are under way for a state at once that an apply never waits behind them. */
const PARALLELISM = 8;

/** Undefined where `said` names a folder. Throws CLI_USAGE; no message repeats what may hold a password. */
export function sharedState(
  context: Context,
  options: StateOptions,
  said: string,
  common: StoreOptions,
  embeddedFolder: string,
): StateStore | undefined {
  if (isPostgresUrl(said)) return inPostgres(context, options, said, common);
  if (said.startsWith(WORKSPACE)) return inWorkspace(context, options, said, common, embeddedFolder);
  if (/^[a-z][a-z0-9+.-]+:/i.test(said))
    throw new Failure(
      error("CLI_USAGE", "--state names no place that states are kept in", {
        hint: "name a folder, postgres://user@host/database, or workspace:/folder",
      }),
    );
  return undefined;
}

function inPostgres(context: Context, options: StateOptions, said: string, common: StoreOptions): StateStore {
  const url = parsePostgresUrl(said, targetOf(context, options) ?? "default", context.env);
  return lazyStore(url.shown, async () => {
    const { openPostgresStore } = await import("../state/postgres/postgres-store.ts");
    return openPostgresStore({ ...common, url });
  });
}

function inWorkspace(
  context: Context,
  options: StateOptions,
  said: string,
  common: StoreOptions,
  embeddedFolder: string,
): StateStore {
  const folder = said.slice(WORKSPACE.length);
  if (!/^(\/[^/]+)+$/.test(folder) || folder.split("/").some((name) => name === "." || name === ".."))
    throw new Failure(
      error("CLI_USAGE", `--state ${said} names no folder of the workspace's file system`, {
        hint: "write it as workspace:/folder/of/the/state",
      }),
    );
  return lazyStore(said, async () => {
    const settings = settingsOf(context, {
      host: options.host,
      profile: options.profile,
      parallelism: PARALLELISM,
    });
    const { connect } = await import("./connection.ts");
    const { openWorkspaceStore } = await import("../state/workspace-file/workspace-store.ts");
    // Apart from the run's own client: the end of a run is still written after a signal stopped that one.
    const connection = await connect({ settings, embeddedFolder });
    const tell = { isMissing, isConflict };
    const close = () => connection.close();
    return openWorkspaceStore({ ...common, api: connection.writer, tell, folder, close });
  });
}
