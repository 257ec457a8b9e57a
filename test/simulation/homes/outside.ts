// Where the states of real processes lie, one form each: what their environment says of it, and what is kept there, seen from outside.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Form } from "../world/forms.ts";
import { inPostgres } from "./in-postgres.ts";
import { STATES_FOLDER } from "./in-workspace.ts";

export interface Outside {
  readonly env: Readonly<Record<string, string>>;
  /** Everything that is kept of the state but who holds its lock, by name. */
  texts(): Promise<ReadonlyMap<string, string>>;
}

/** The emulator's snapshot, as far as it tells of files. */
export interface Snapshot {
  readonly tables: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly blobs: Readonly<Record<string, string>>;
}

const KEY_TEXT = "5e".repeat(32);

/** An empty place. `folder`: of the processes; `snapshot`: of the service that they talk to. */
export function outside(form: Form, folder: string, snapshot: () => Promise<Snapshot>): Outside {
  const inFolder = async () => textsIn(join(folder, ".workspace", "default"));
  switch (form) {
    case "file":
      return { env: {}, texts: inFolder };
    case "sealed":
      return { env: { WORKSPACE_STATE_KEY: KEY_TEXT }, texts: inFolder };
    case "workspace":
      return {
        env: { WORKSPACE_STATE: `workspace:${STATES_FOLDER}/team` },
        texts: async () => textsOf(await snapshot()),
      };
    case "postgres": {
      const home = inPostgres();
      return { env: { WORKSPACE_STATE: home.url }, texts: () => home.texts() };
    }
  }
}

const isLock = (name: string): boolean => /^lock\b/.test(name);

function textsIn(folder: string): ReadonlyMap<string, string> {
  const entries = existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile())
    : [];
  return new Map(
    entries
      .filter(({ name }) => !isLock(name))
      .map(({ parentPath, name }) => join(parentPath, name))
      .sort()
      .map((path) => [path, readFileSync(path, "utf8")]),
  );
}

/** Every file of the workspace: no spec of a simulation puts a secret into one. */
function textsOf({ tables, blobs }: Snapshot): ReadonlyMap<string, string> {
  const files = Object.entries(tables.files ?? {}) as [string, { name?: string; blob?: string }][];
  return new Map(
    files.flatMap(([id, { name = "", blob = "" }]) => {
      const content = blobs[blob];
      if (content === undefined || isLock(name)) return [];
      return [[`file ${name} (${id})`, Buffer.from(content, "base64").toString("latin1")] as const];
    }),
  );
}
