// Every rule of the contract, section by section: what docs/internals/contract.md lists and the names of tests refer to.

import { clusters } from "./clusters.ts";
import { events } from "./events.ts";
import { files } from "./files.ts";
import { identity } from "./identity.ts";
import { jobs } from "./jobs.ts";
import { pools } from "./pools.ts";
import type { Section } from "./section.ts";

export const sections: readonly Section[] = [
  ...identity,
  ...files,
  ...pools,
  ...clusters,
  ...events,
  ...jobs,
].sort((a, b) => (a.id < b.id ? -1 : 1));
