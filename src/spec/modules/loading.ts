// Shared state of all modules while a spec is read: definitions, limits, the evaluator, and the inputs to check.

import type { Address } from "../../core/address.ts";
import type { SensitiveTexts } from "../../core/sensitive-texts.ts";
import type { Suggest } from "../../core/suggest.ts";
import type { Keys } from "../../expressions/values.ts";
import type { PlanningRegistry } from "../../resource/kind.ts";
import type { Evaluator } from "../evaluate/evaluator.ts";
import type { Expander, ExpanderOptions } from "../evaluate/expander.ts";
import type { Findings, Reporting } from "../model/findings.ts";
import { ExpansionBudget, type ModuleLimits } from "../model/limits.ts";
import type { Span } from "../model/source.ts";
import type { InstanceOrigin, SpecPart } from "../model/spec.ts";
import { type MapNode, member, type SpecNode } from "../model/tree.ts";
import type { ParameterValue } from "../variables/check-values.ts";
import { type ModuleDefinition, type ModuleDefinitions, sizeOfTree } from "./definition.ts";
import { type EachValue, OpenValues, type SpecScope } from "./scope.ts";

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
  readonly outputs: Keys;
  /** Undefined after reporting why the output has no value. */
  output(name: string, at: Span): SpecNode | undefined;
}

export interface LoadingOptions extends Reporting {
  readonly definitions: ModuleDefinitions;
  readonly limits: ModuleLimits;
  readonly target: string | undefined;
  readonly registry: PlanningRegistry;
  readonly evaluator: Evaluator;
  readonly sensitive: SensitiveTexts;
  /** Makes an instance; `each` is absent without `for_each`. */
  readonly instantiate: (
    loading: ModuleLoading,
    use: ModuleUse,
    each: EachValue | undefined,
  ) => InstanceOfModule;
}

/** `pools.team/ads/shared.instance_pool_id`. */
const INSIDE = /^([\w-]+)\.([^/.]+)\/(.+)$/;

/** The values of a resource in addition to its fields. */
const COPY_COST = 10;

export class ModuleLoading {
  readonly definitions: ModuleDefinitions;
  readonly limits: ModuleLimits;
  readonly target: string | undefined;
  readonly suggest: Suggest;
  readonly findings: Findings;
  readonly sensitive: SensitiveTexts;
  readonly expanding: Omit<ExpanderOptions, "scope" | "bind">;
  readonly open = new OpenValues();
  /** The resources whose `when` is false. */
  readonly leftOut = new Set<Address>();
  /** Every input of every instance that was evaluated. */
  readonly inputs: ParameterValue[] = [];
  readonly registry: PlanningRegistry;
  readonly #instantiate: LoadingOptions["instantiate"];
  #instances = 0;
  #isFull = false;

  constructor(options: LoadingOptions) {
    const { definitions, limits, target, registry, evaluator, suggest, findings, sensitive } = options;
    this.definitions = definitions;
    this.limits = limits;
    this.target = target;
    this.suggest = suggest;
    this.findings = findings;
    this.sensitive = sensitive;
    this.registry = registry;
    this.#instantiate = options.instantiate;
    this.expanding = { evaluator, budget: new ExpansionBudget(limits.nodes), findings };
  }

  /** Whether the limits leave room for another instance; reported once if not. */
  admit({ size }: ModuleDefinition, at: Span): boolean {
    if (this.#isFull) return false;
    const { instances, nodes } = this.limits;
    this.#instances += 1;
    const hasRoom = this.expanding.budget.take(size, 0);
    if (this.#instances <= instances && hasRoom) return true;
    this.#isFull = true;
    const most = hasRoom ? `more than ${instances} instances` : `more than ${nodes} values`;
    this.findings.error("SPEC_TOO_LARGE", `the modules of the spec make ${most}`, at);
    return false;
  }

  /** Whether the limits leave room for a copy of a resource; reported once if not. */
  admitCopy(copied: SpecNode, at: Span): boolean {
    if (this.#isFull) return false;
    if (this.expanding.budget.take(COPY_COST + sizeOfTree(copied), 0)) return true;
    this.#isFull = true;
    const message = `for_each makes more than ${this.limits.nodes} values`;
    this.findings.error("SPEC_TOO_LARGE", message, at);
    return false;
  }

  instantiate(use: ModuleUse, each: EachValue | undefined): InstanceOfModule {
    return this.#instantiate(this, use, each);
  }

  /** Whether a limit was exceeded. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Reports a reference into a module: its user sees its outputs only. `section`: the modules of the user. */
  checkScope(expression: string, at: Span, section: SpecNode | undefined, sections: SpecNode): void {
    const [, kind = "", key = "", inside = ""] = INSIDE.exec(expression) ?? [];
    const name = inside.split("/")[0] ?? "";
    if (section?.kind !== "map" || !section.members.has(key)) return;
    if (this.registry.find(kind)?.nameField === undefined) return;
    const own = member(sections, kind);
    const path = `${key}/${inside}`;
    if (own?.kind === "map" && own.members.has(path.slice(0, path.lastIndexOf(".")))) return;
    const used = section.members.get(key)?.value;
    const isRepeated = used !== undefined && member(used, "for_each") !== undefined;
    const module = `modules.${key}${isRepeated ? `/${name}` : ""}`;
    this.findings.error(
      "SPEC_MODULE",
      `\${${expression}} refers to a resource inside ${module}, and only its outputs can be used`,
      at,
      { hint: `declare an output in the module, and write \${${module}.OUTPUT}` },
    );
  }

  /** A reference in a module, as a reference of the spec: kinds whose key is the name keep their addresses. */
  bound(expression: string, prefix: string): string {
    const dot = expression.indexOf(".");
    const kind = expression.slice(0, dot);
    return this.registry.find(kind)?.nameField === undefined
      ? expression
      : `${kind}.${prefix}${expression.slice(dot + 1)}`;
  }
}
