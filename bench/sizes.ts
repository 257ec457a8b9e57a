// How large the measured workspaces are.

import { leastContentReads } from "./contents.ts";

export interface Sizes {
  readonly users: number;
  readonly groups: number;
  /** Users in groups, spread evenly. */
  readonly memberships: number;
  readonly scopes: number;
  readonly secrets: number;
  readonly acls: number;
  readonly pools: number;
  readonly clusters: number;
  readonly jobs: number;
  readonly directories: number;
  readonly notebooks: number;
  readonly files: number;
}

export const EMPTY: Sizes = {
  users: 0,
  groups: 0,
  memberships: 0,
  scopes: 0,
  secrets: 0,
  acls: 0,
  pools: 0,
  clusters: 0,
  jobs: 0,
  directories: 0,
  notebooks: 0,
  files: 0,
};

/** 840 resources in the mix of the main workspace. */
export const SMALL: Sizes = {
  ...EMPTY,
  users: 200,
  groups: 20,
  memberships: 400,
  scopes: 16,
  secrets: 160,
  acls: 48,
  pools: 4,
  clusters: 20,
  jobs: 372,
};

/** To try the command. */
export const TINY: Sizes = {
  ...EMPTY,
  users: 6,
  groups: 2,
  memberships: 4,
  scopes: 2,
  secrets: 6,
  acls: 2,
  pools: 1,
  clusters: 2,
  jobs: 4,
};

const NO_CONTENTS = { directories: 0, notebooks: 0, files: 0 };

/** A company's workspace: 2,170 resources. */
export const MAIN: Sizes = {
  users: 500,
  groups: 50,
  memberships: 2_000,
  scopes: 40,
  secrets: 400,
  acls: 120,
  pools: 10,
  clusters: 50,
  jobs: 1_000,
  ...NO_CONTENTS,
};

/** The same with folders, notebooks and files. */
export const WITH_CONTENTS: Sizes = { ...MAIN, directories: 40, notebooks: 300, files: 50 };

/** The same mix at 250, 1,000 and 4,000 resources; the largest stays within the contract's limits of 100 scopes and 1,000 jobs. */
export const SERIES: readonly Sizes[] = [1, 4, 16].map((factor) => ({
  users: 106 * factor,
  groups: 12 * factor,
  memberships: 240 * factor,
  scopes: 5 * factor,
  secrets: 50 * factor,
  acls: 12 * factor,
  pools: 2 * factor,
  clusters: 13 * factor,
  jobs: 50 * factor,
  ...NO_CONTENTS,
}));

export function resourcesOf(sizes: Sizes): number {
  const { memberships, ...kinds } = sizes;
  return Object.values(kinds).reduce((sum, count) => sum + count, 0);
}

/** One list for each kind, and two for each scope: nothing that the contract offers tells the same with less. */
export function leastReads(sizes: Sizes): number {
  const lists = ["users", "groups", "scopes", "pools", "clusters", "jobs"];
  return lists.length + 2 * sizes.scopes + leastContentReads(sizes);
}
