// Resources with their fields as written in the spec, and their origin: the spec itself, or one instance of a module.

import type { Address } from "../../core/address.ts";
import type { PlannedKind } from "../../resource/provider.ts";
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

export interface WrittenResource {
  readonly address: Address;
  readonly provider: PlannedKind;
  readonly key: string;
  readonly name: string;
  /** The location of its key. */
  readonly at: Span;
  /** Its fields; the natural name among them, lifecycle and nested kinds not. */
  readonly fields: MapNode;
  readonly lifecycle: SpecNode | undefined;
  readonly parent: Address | undefined;
  /** The instance of a module that declares it. */
  readonly origin: InstanceOrigin | undefined;
  readonly owns: readonly string[];
}

/** The declared resources of a spec, with unresolved references. */
export interface DeclaredSpec {
  /** The sections of the main spec. */
  readonly root: MapNode;
  /** The section of rules, in which nothing is expanded. */
  readonly rules: SpecNode | undefined;
  readonly resources: readonly WrittenResource[];
}
