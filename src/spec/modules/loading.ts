// The definitions of modules, and the shared state of all modules while a spec is read: limits, the evaluator, and the inputs to check.

import { type Address, addressOf } from "../../core/address.ts";
import { listed } from "../../core/sentences.ts";
import { isTemplate } from "../../expressions/template.ts";
import type { PlanningRegistry } from "../../resource/kind.ts";
import { Evaluator, type EvaluatorOptions } from "../evaluate/evaluator.ts";
import type { Expander, ExpanderOptions } from "../evaluate/expander.ts";
import type { SpecFileReader } from "../files/includes.ts";
import { pathBeside } from "../files/spec-folder.ts";
import type { Findings } from "../model/findings.ts";
import { ExpansionBudget, type ModuleLimits } from "../model/limits.ts";
import type { Span } from "../model/source.ts";
import type { InstanceOrigin } from "../model/spec.ts";
import {
  describeNode,
  type MapMember,
  type MapNode,
  member,
  type SpecNode,
  scalarText,
  visitNodes,
  withMembers,
} from "../model/tree.ts";
import { type ParameterDeclarations, type ParameterValue, parametersIn } from "../variables/parameters.ts";
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

export const MODULE_FILE = "workspace.yaml";

const MAIN_ONLY = ["variables", "targets", "policy", "rules", "moved", "removed", "import"];

export interface ModuleDefinition {
  /** The path of its file in the spec's folder. */
  readonly path: string;
  readonly inputs: ParameterDeclarations;
  readonly outputs: ReadonlyMap<string, MapMember>;
  readonly locals: SpecNode | undefined;
  readonly modules: SpecNode | undefined;
  readonly sections: MapNode;
  readonly size: number;
}

export class ModuleDefinitions {
  readonly #files: SpecFileReader;
  readonly #findings: Findings;
  readonly #definitions = new Map<string, ModuleDefinition | undefined>();

  constructor(files: SpecFileReader, findings: Findings) {
    this.#files = files;
    this.#findings = findings;
  }

  /** The module that a `source` names; undefined after reporting why there is none. */
  at(
    source: SpecNode | undefined,
    name: string,
    key: Span,
    user: InstanceOrigin | undefined,
  ): ModuleDefinition | undefined {
    if (source === undefined) {
      this.#findings.error("SPEC_MODULE", `modules.${name} has no source`, key, {
        hint: "set source to the path of a folder that contains a workspace.yaml",
      });
      return undefined;
    }
    const path = this.#path(source, name);
    if (path === undefined) return undefined;
    if (!this.#definitions.has(path)) {
      const origin = { prefix: `${path}/`, uses: [key, ...(user?.uses ?? [])] };
      const read = (): ModuleDefinition | undefined => this.#read(path, source);
      this.#definitions.set(path, this.#findings.within(origin, read));
    }
    return this.#definitions.get(path);
  }

  #path(source: SpecNode, name: string): string | undefined {
    const text = scalarText(source);
    if (text === undefined || text === "" || isTemplate(text)) {
      const what = text === undefined ? describeNode(source) : JSON.stringify(text);
      const message = `modules.${name}: source must be the path of a folder, not ${what}`;
      const hint = "an expression cannot choose a module: files are read before expressions";
      this.#findings.error("SPEC_MODULE", message, source, { hint });
      return undefined;
    }
    const path = pathBeside(source.source.path, `${text}/${MODULE_FILE}`);
    const message = `modules.${name}: ${JSON.stringify(text)} is outside the spec's folder`;
    const hint = "a module is a folder below the folder of the main spec";
    if (path === undefined) this.#findings.error("SPEC_OUTSIDE", message, source, { hint });
    return path;
  }

  #read(path: string, source: SpecNode): ModuleDefinition | undefined {
    const root = this.#files.root(path, source);
    if (root === undefined) return undefined;
    for (const name of MAIN_ONLY) {
      const section = root.members.get(name);
      if (section !== undefined)
        this.#findings.error("SPEC_MODULE", `a module cannot contain ${name}`, section.key, {
          hint: `move ${name} to the main spec`,
        });
    }
    const others = [...OWN, ...MAIN_ONLY].map((name) => [name, undefined]);
    const sections = withMembers(root, Object.fromEntries(others));
    return {
      path,
      inputs: parametersIn(member(root, "inputs"), "inputs", this.#findings),
      outputs: outputsOf(member(root, "outputs"), this.#findings),
      locals: member(root, "locals"),
      modules: member(root, "modules"),
      sections,
      size: sizeOfTree(sections),
    };
  }
}

const OWN = ["inputs", "outputs", "locals", "modules", "include"];
const OUTPUT_FIELDS = ["value", "description"];

/** An output is a map with `value`, or the value itself, if that is not a map. */
function outputsOf(section: SpecNode | undefined, findings: Findings): ReadonlyMap<string, MapMember> {
  const outputs = new Map<string, MapMember>();
  for (const [name, mapMember] of findings.names("outputs", section)) {
    if (!/^[A-Za-z_][\w-]*$/.test(name))
      findings.error("SPEC_MODULE", `${JSON.stringify(name)} cannot name an output`, mapMember.key);
    if (mapMember.value.kind !== "map") outputs.set(name, mapMember);
    else outputs.set(name, { key: mapMember.key, value: outputValue(name, mapMember.value, findings) });
  }
  return outputs;
}

function outputValue(name: string, node: MapNode, findings: Findings): SpecNode {
  const hint = `the fields of an output are ${listed(OUTPUT_FIELDS)}; write a map under value`;
  findings.onlyFields(`outputs.${name}`, node, OUTPUT_FIELDS, () => ({ hint }));
  const value = member(node, "value");
  if (value === undefined)
    findings.error("SPEC_MISSING_FIELD", `outputs.${name} needs the field "value"`, node);
  return value ?? node;
}

export function sizeOfTree(root: SpecNode): number {
  let size = 0;
  visitNodes(root, () => {
    size += 1;
  });
  return size;
}
