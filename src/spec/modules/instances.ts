// The modules that a spec or a module uses: their instances, created on demand and within limits.

import { listed } from "../../core/sentences.ts";
import { didYouMean } from "../../core/suggest.ts";
import type { Keys } from "../../expressions/values.ts";
import type { ResolvedValue, ScopeQuery } from "../evaluate/evaluator.ts";
import { checkSyntax } from "../evaluate/syntax-check.ts";
import type { Span } from "../model/source.ts";
import type { SpecPart } from "../model/spec.ts";
import { member, type SpecNode } from "../model/tree.ts";
import type { ModuleDefinition } from "./definition.ts";
import type { InstanceOfModule, ModuleLoading, ModuleUse, ModuleUser } from "./loading.ts";
import { entriesOfForEach, isIncluded, PART_OF_ADDRESS } from "./repetition.ts";
import type { ModuleOutputs } from "./scope.ts";

const FIELDS = ["source", "with", "for_each", "when", "description"];

interface UsedModule extends ModuleUse {
  /** By key; one with an empty key without `for_each`. */
  instances?: ReadonlyMap<string, InstanceOfModule>;
  /** The keys of instances whose `when` is false. */
  readonly leftOut: Set<string>;
  readonly isRepeated: boolean;
}

export class ModuleSet implements ModuleOutputs {
  readonly #loading: ModuleLoading;
  readonly #user: ModuleUser;
  readonly #section: SpecNode | undefined;
  #modules: ReadonlyMap<string, UsedModule | undefined> | undefined;

  constructor(section: SpecNode | undefined, user: ModuleUser, loading: ModuleLoading) {
    this.#section = section;
    this.#user = user;
    this.#loading = loading;
  }

  /** The parts that all instances declare, with the modules inside them. */
  *parts(): Iterable<SpecPart> {
    for (const used of this.#all().values())
      for (const instance of used === undefined ? [] : this.#instances(used).values())
        if (!this.#loading.isFull) yield* instance.parts();
  }

  /** `modules.team/ads.pool_id`. */
  output({ path, at, quiet }: ScopeQuery): ResolvedValue | undefined {
    const [name = "", output, ...rest] = path;
    const { findings, suggest } = this.#loading;
    const [module = "", key] = String(name).split("/");
    const all = this.#all();
    if (!all.has(module)) {
      const hint = didYouMean(
        suggest(module, all.keys()),
        all.size === 0 ? undefined : `the modules are ${listed([...all.keys()])}`,
      );
      findings.error("SPEC_MODULE", `unknown module ${JSON.stringify(module)}`, at, hint);
      return undefined;
    }
    const used = all.get(module);
    // The problem of the module was reported.
    if (used === undefined) return undefined;
    const instance = this.#instances(used).get(key ?? "");
    if (instance === undefined || output === undefined) {
      if (quiet && output !== undefined) return undefined;
      findings.error("SPEC_MODULE", noInstance(used, key, output), at, {
        hint: used.isRepeated
          ? `write \${modules.${module}/KEY.OUTPUT}`
          : `write \${modules.${module}.OUTPUT}`,
      });
      return undefined;
    }
    const node = instance.output(String(output), at);
    return node === undefined ? undefined : { node, rest };
  }

  names([module, key, ...output]: readonly string[]): Keys | undefined {
    if (output.length > 0) return undefined;
    const all = this.#all();
    if (module === undefined) return all;
    const used = all.get(module);
    if (used === undefined) return undefined;
    const instances = this.#instances(used);
    if (key === undefined && used.isRepeated) return instances;
    if (key !== undefined && !used.isRepeated) return undefined;
    return instances.get(key ?? "")?.outputs;
  }

  #all(): ReadonlyMap<string, UsedModule | undefined> {
    if (this.#modules !== undefined) return this.#modules;
    const modules = new Map<string, UsedModule | undefined>();
    this.#modules = modules;
    const { findings } = this.#loading;
    findings.within(this.#user.origin, () => {
      for (const [name, { key, value }] of findings.names("modules", this.#section))
        modules.set(name, this.#used(name, key, value));
    });
    return modules;
  }

  #used(name: string, at: Span, node: SpecNode): UsedModule | undefined {
    const { findings, definitions } = this.#loading;
    if (!PART_OF_ADDRESS.test(name)) {
      findings.error("SPEC_MODULE", `${JSON.stringify(name)} cannot name a module`, at, {
        hint: "it is part of addresses, so it contains letters, digits, dashes, and underscores only",
      });
      return undefined;
    }
    if (node.kind !== "map") {
      findings.wrongType(`modules.${name}`, "a map with source", node);
      return undefined;
    }
    findings.onlyFields(`modules.${name}`, node, FIELDS, (field) =>
      didYouMean(this.#loading.suggest(field, FIELDS, "words"), `known fields: ${listed(FIELDS)}`),
    );
    const definition = definitions.at(member(node, "source"), name, at, this.#user.origin);
    if (definition === undefined || !this.#mayNest(definition, at)) return undefined;
    const isRepeated = member(node, "for_each") !== undefined;
    return { name, at, node, definition, user: this.#user, isRepeated, leftOut: new Set() };
  }

  #mayNest({ path }: ModuleDefinition, at: Span): boolean {
    const { findings, limits } = this.#loading;
    const { within } = this.#user;
    if (within.includes(path)) {
      const cycle = [...within.slice(within.indexOf(path)), path].join(" -> ");
      findings.error("SPEC_MODULE", `a module uses itself: ${cycle}`, at);
      return false;
    }
    if (within.length <= limits.depth) return true;
    findings.error("SPEC_TOO_LARGE", `modules nest more than ${limits.depth} deep`, at);
    return false;
  }

  #instances(used: UsedModule): ReadonlyMap<string, InstanceOfModule> {
    if (used.instances !== undefined) return used.instances;
    // An instance whose key needs an output of the module itself finds none.
    used.instances = new Map();
    const instances = new Map<string, InstanceOfModule>();
    const { findings } = this.#loading;
    findings.within(this.#user.origin, () => {
      const subject = `modules.${used.name}`;
      const { node } = used;
      const { scope } = this.#user;
      const entries = used.isRepeated
        ? entriesOfForEach({ subject, node, expander: this.#user.expander(scope), findings }, true)
        : [undefined];
      for (const each of entries) {
        const expander = this.#user.expander(each === undefined ? scope : scope.withEach(each));
        const instance = each === undefined ? subject : `${subject}/${each.key}`;
        if (!isIncluded({ subject: instance, node, expander, findings })) {
          used.leftOut.add(each?.key ?? "");
          continue;
        }
        if (!this.#loading.admit(used.definition, used.at)) break;
        instances.set(each?.key ?? "", this.#loading.instantiate(used, each));
      }
    });
    used.instances = instances;
    if (instances.size === 0) this.#checkUnused(used);
    return instances;
  }

  #checkUnused({ node, definition }: UsedModule): void {
    const { findings, expanding } = this.#loading;
    findings.within(this.#user.origin, () =>
      checkSyntax(member(node, "with"), expanding.evaluator, findings),
    );
    for (const part of [definition.locals, definition.modules, definition.sections])
      checkSyntax(part, expanding.evaluator, findings);
    for (const { value } of definition.outputs.values()) checkSyntax(value, expanding.evaluator, findings);
  }
}

function noInstance(
  { name, isRepeated, leftOut }: UsedModule,
  key: string | undefined,
  output: unknown,
): string {
  if (output === undefined) return `modules.${name} needs the name of an output`;
  if (leftOut.has(key ?? ""))
    return `modules.${name}${key === undefined ? "" : `/${key}`} is left out by its when`;
  if (!isRepeated) return `modules.${name} has no for_each, so it has no instance ${JSON.stringify(key)}`;
  return key === undefined
    ? `modules.${name} has for_each, so an output needs an instance`
    : `modules.${name} has no instance ${JSON.stringify(key)}`;
}
