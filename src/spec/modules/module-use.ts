// Types: the user of a module, and what an instance provides to it.

import type { InstanceOrigin, SpecPart } from "../model/origin.ts";
import type { Span } from "../model/source.ts";
import type { MapNode, SpecNode } from "../model/tree.ts";
import type { Expander } from "../variables/interpolate.ts";
import type { ModuleDefinition } from "./definition.ts";
import type { SpecScope } from "./scope.ts";

/** The user of a module: the spec itself, or an instance of a module. */
export interface ModuleUser {
  readonly scope: SpecScope;
  readonly origin: InstanceOrigin | undefined;
  /** The files of the modules around, outermost first. */
  readonly within: readonly string[];
  expander(scope: SpecScope): Expander;
}

export interface ModuleUse {
  readonly name: string;
  readonly at: Span;
  readonly node: MapNode;
  readonly definition: ModuleDefinition;
  readonly user: ModuleUser;
}

export interface InstanceOfModule {
  /** The parts of the instance and of the modules in it. */
  parts(): Iterable<SpecPart>;
  /** Undefined after reporting why the output has no value. */
  output(name: string, at: Span): SpecNode | undefined;
}
