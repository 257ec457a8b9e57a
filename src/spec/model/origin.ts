// The origin of resources: the spec itself, or one instance of a module.

import type { Span } from "./source.ts";
import type { MapNode, SpecNode } from "./tree.ts";

export interface InstanceOrigin {
  /** What its addresses begin with after the kind: `team/ads/`. */
  readonly prefix: string;
  /** The entries of `modules` that use it, innermost first. */
  readonly uses: readonly Span[];
}

/** Sections that declare resources, with their expressions put in. */
export interface SpecPart {
  readonly root: MapNode;
  /** Undefined for the spec itself. */
  readonly origin: InstanceOrigin | undefined;
  /** The values of its locals and outputs. */
  readonly values?: readonly SpecNode[];
}
