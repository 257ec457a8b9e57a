// The version of the program, and the commit that a build was made from.

import manifest from "../../package.json" with { type: "json" };

export const VERSION: string = manifest.version;

export interface Build {
  /** The first characters of a commit, with `-dirty` if files were changed. */
  readonly commit?: string | undefined;
  /** Time of the commit in ISO 8601. */
  readonly date?: string | undefined;
}

/** `npm run build` replaces this name by a value. */
declare const WORKSPACE_BUILD: Build | undefined;

/** Undefined in a clone, which runs its sources. */
export const BUILD: Build | undefined = typeof WORKSPACE_BUILD === "undefined" ? undefined : WORKSPACE_BUILD;

/** What results, workers, and jobs of a fleet name: two builds of one version differ. */
export const PROGRAM = BUILD?.commit === undefined ? VERSION : `${VERSION}+${BUILD.commit}`;
