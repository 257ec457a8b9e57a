// Options of the fleet commands, and helpers that open the fleet file, its selection, and the results.

import { dirname, join, resolve } from "node:path";
import type { CommandContext } from "../../config/environment.ts";
import { fileFailure } from "../../config/files.ts";
import { writeWholeFile } from "../../config/write-file.ts";
import { failureOf } from "../../core/diagnostic.ts";
import { readRegularFile } from "../../core/regular-file.ts";
import { FLEET_FOLDER, type Fleet, RESULTS_NAME } from "../../fleet/model/fleet.ts";
import type { ResultStore } from "../../fleet/model/result.ts";
import { megabytes, readFleet } from "../../fleet/read-fleet.ts";
import { openResultFile } from "../../fleet/result-file.ts";
import { selectWorkspaces } from "../../fleet/selection.ts";
import { SourceText } from "../../spec/model/source.ts";
import { integerOption, type OptionSpec, textOption, textsOption, type ValuesOf } from "../command/option.ts";
import { type DatabaseUse, type FleetDatabase, openFleetDatabase } from "./fleet-database.ts";

const DEFAULT_FLEET = "fleet.yaml";

export const FLEET_OPTIONS = {
  fleet: textOption("--fleet <file>", `fleet file (default: ${DEFAULT_FLEET})`),
  select: textsOption("-l, --select <labels>", "select workspaces by label, such as env=prod; repeatable"),
} as const;

/** For the values of a run; a plan of 20,000 resources needs about half of it. */
export const MEMORY_MB = 1024;

/** `512MB`, `2GB`. */
export const MEMORY_OPTION: OptionSpec<number | undefined> = {
  flags: "--memory <size>",
  description: "memory limit of a run for values, such as 512MB; a workspace may have its own (default: 1GB)",
  parse: (texts, refuse) =>
    texts
      .map((text) => {
        const size = /^[0-9]{1,6}(?:MB|GB)$/.test(text) ? megabytes(text) : 0;
        if (size < 128 || size > 65_536) refuse(text, "write a size from 128MB to 64GB");
        return size;
      })
      .at(-1),
};

export const FLEET_RUN_OPTIONS = {
  ...FLEET_OPTIONS,
  parallelism: integerOption("--parallelism <number>", "workspaces at the same time (default: 8)", 1, 256),
  memory: MEMORY_OPTION,
  maxFailures: integerOption(
    "--max-failures <number>",
    "start no more workspaces after this many failures",
    1,
    20_000,
  ),
} as const;

export const NAMES_ARGUMENT = {
  name: "[workspaces...]",
  description: "names of workspaces (default: all that --select matches)",
} as const;

type FleetOptions = ValuesOf<typeof FLEET_OPTIONS>;

/** The fleet with the selected workspaces only. Throws Failure. */
export function openFleet(
  context: CommandContext,
  options: FleetOptions,
  names: readonly string[],
): { readonly fleet: Fleet; readonly selected: Fleet["workspaces"] } {
  const file = options.fleet ?? DEFAULT_FLEET;
  const path = resolve(context.cwd, file);
  const fleet = readFleet(new SourceText(file, textOf(path, file)), dirname(path));
  return { fleet, selected: selectWorkspaces(fleet.workspaces, names, options.select) };
}

/** Throws Failure with CLI_CONFIRMATION without --auto-approve. */
export function assertApproved({ autoApprove }: { readonly autoApprove: boolean }, what: string): void {
  if (autoApprove) return;
  throw failureOf("CLI_CONFIRMATION", `${what} requires --auto-approve, because it cannot prompt`, {
    hint: "review `workspace fleet plan`, then pass --auto-approve",
  });
}

const LARGEST_FILE = 16 << 20;

function textOf(path: string, file: string): string {
  try {
    return readRegularFile(path, LARGEST_FILE).toString("utf8");
  } catch (problem) {
    throw fileFailure(`the fleet file ${file} cannot be read`, problem, "pass --fleet FILE");
  }
}

/** The database of WORKSPACE_FLEET_DATABASE with its leases, else a file in the folder of the fleet file. */
export async function openResults(
  context: CommandContext,
  fleet: Fleet,
  use: DatabaseUse,
): Promise<{ readonly results: ResultStore } & Partial<FleetDatabase>> {
  const database = await openFleetDatabase(context, use);
  if (database !== undefined) return database;
  const results = openResultFile({
    path: join(fleet.folder, FLEET_FOLDER, RESULTS_NAME),
    replace: (path, text) => writeWholeFile(path, text, { over: true, mode: 0o600 }),
  });
  return { results };
}
