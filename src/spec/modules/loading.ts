// Shared state of all modules while a spec is read: definitions, limits, the evaluator, and the inputs to check.

import { type Address, addressOf } from "../../core/address.ts";
import type { PlanningRegistry } from "../../resource/kind.ts";
import { Evaluator, type EvaluatorOptions } from "../evaluate/evaluator.ts";
import type { Expander, ExpanderOptions } from "../evaluate/expander.ts";
import type { SpecFileReader } from "../files/includes.ts";
import type { Findings } from "../model/findings.ts";
import { ExpansionBudget, type ModuleLimits } from "../model/limits.ts";
import type { Span } from "../model/source.ts";
import type { InstanceOrigin } from "../model/spec.ts";
import { member, type SpecNode } from "../model/tree.ts";
import type { ParameterValue } from "../variables/check-values.ts";
import { type ModuleDefinition, ModuleDefinitions, sizeOfTree } from "./definition.ts";
import type { SpecScope } from "./scope.ts";

/** The user of a module: the spec itself, or an instance of a module. */
export interface ModuleUser {
  readonly scope: SpecScope;
  readonly origin: InstanceOrigin | undefined;
  /** The files of the modules around, outermost first. */
  readonly within: readonly string[];
  expander(scope: SpecScope): Expander;
}

export interface ModuleOptions extends EvaluatorOptions {
  readonly files: SpecFileReader;
  readonly limits: ModuleLimits;
  readonly target: string | undefined;
  readonly registry: PlanningRegistry;
}

/** `pools.team/ads/shared.instance_pool_id`. */
const INSIDE = /^([\w-]+)\.([^/.]+)\/(.+)$/;

/** The values of a resource in addition to its fields. */
const COPY_COST = 10;

export class ModuleLoading {
  readonly definitions: ModuleDefinitions;
  readonly limits: ModuleLimits;
  readonly target: string | undefined;
  readonly findings: Findings;
  readonly expanding: Omit<ExpanderOptions, "scope" | "bind">;
  /** The locals, inputs, and outputs that are being evaluated, in the order in which they need one another. */
  readonly open: string[] = [];
  /** The resources whose `when` is false. */
  readonly leftOut = new Set<Address>();
  /** Every input of every instance that was evaluated. */
  readonly inputs: ParameterValue[] = [];
  readonly registry: PlanningRegistry;
  #instances = 0;
  #isFull = false;

  constructor(options: ModuleOptions) {
    const { files, limits, target, registry, findings } = options;
    this.definitions = new ModuleDefinitions(files, findings);
    this.limits = limits;
    this.target = target;
    this.findings = findings;
    this.registry = registry;
    this.expanding = {
      evaluator: new Evaluator(options),
      budget: new ExpansionBudget(limits.nodes),
      findings,
    };
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

  /** A reference in a module, as a reference of the spec. */
  bound(expression: string, prefix: string): string {
    const dot = expression.indexOf(".");
    return this.addressOf(expression.slice(0, dot), expression.slice(dot + 1), prefix);
  }

  /** The address of a resource in a module: kinds whose key is the name have no prefix. */
  addressOf(kind: string, name: string, prefix: string): Address {
    const isNamed = this.registry.find(kind)?.nameField !== undefined;
    return addressOf(kind, `${isNamed ? prefix : ""}${name}`);
  }
}
