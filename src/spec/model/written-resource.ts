// One resource with its fields as written in the spec.

import type { Address } from "../../core/address.ts";
import type { PlannedKind } from "../../resource/provider.ts";
import type { InstanceOrigin } from "./origin.ts";
import type { Span } from "./source.ts";
import type { MapNode, SpecNode } from "./tree.ts";

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
