// Seeded bugs of states that are not files.

import type { Mutant } from "./mutants.ts";

const PLACE = "src/state/backends/workspace-file/workspace-backend.ts";
const STATEMENTS = "src/state/backends/postgres/postgres-backend.ts";

export const sharedMutants: readonly Mutant[] = [
  {
    name: "workspace-lock-overwritten",
    bug: "a lock in the workspace overwrites an existing one",
    file: "src/state/backends/workspace-file/files.ts",
    find: `await this.#inBlocks(path, bytes, false);`,
    put: `await this.#inBlocks(path, bytes, true);`,
    suite: "shared",
  },
  {
    name: "workspace-journal-overwritten",
    bug: "a journal in the workspace continues in the same file",
    file: PLACE,
    find: `        segments += 1;`,
    put: ``,
    suite: "shared",
  },
  {
    name: "sql-state-not-compared",
    bug: "a state is written to the database without a check of the lock and of the stored state",
    file: STATEMENTS,
    find: `set serial = $3 where name = $1 and fence = $2 and serial = $4 returning name),`,
    put: `set serial = $3 where name = $1 and $2::bigint is not null and $4::bigint is not null returning name),`,
    suite: "shared",
    needs: "postgres",
  },
  {
    name: "journal-begun-again",
    bug: "a statement that begins a journal empties it if it arrives a second time",
    file: STATEMENTS,
    find: `set journal = $4::bigint + 1, lines = 1
        where name = $1 and fence = $2 and journal = $4::bigint returning name, journal),`,
    put: `set journal = journal + 1, lines = 1
        where name = $1 and fence = $2 and $4::bigint is not null returning name, journal),`,
    suite: "shared",
    needs: "postgres",
  },
];
