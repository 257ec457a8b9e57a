// A spec with its expressions evaluated: the main part, and one part for each instance of a module. Instances are created on demand and within limits; inputs, locals, outputs, and resources are each evaluated once.

import type { Address } from "../../core/address.ts";
import { listed } from "../../core/sentences.ts";
import type { Keys } from "../../expressions/values.ts";
import type { Evaluator, ResolvedValue, ScopeQuery } from "../evaluate/evaluator.ts";
import { checkSyntax, Expander } from "../evaluate/expander.ts";
import { ExpansionBudget } from "../model/limits.ts";
import type { Span } from "../model/source.ts";
import type { InstanceOrigin, SpecPart } from "../model/spec.ts";
import {
  isNull,
  type MapMember,
  type MapNode,
  member,
  memberEntries,
  type SpecNode,
  scalarText,
  withMembers,
} from "../model/tree.ts";
import { checkValues, hideWritten, type LinearPatterns, sensitiveValue } from "../variables/parameters.ts";
import type { Variables } from "../variables/variables.ts";
import { entriesOfForEach, expandSections, isIncluded, PART_OF_ADDRESS } from "./for-each-and-when.ts";
import { type ModuleDefinition, ModuleLoading, type ModuleOptions, type ModuleUser } from "./loading.ts";
import { type EachValue, LazyCells, Locals, type ModuleOutputs, SpecScope } from "./scope.ts";

interface ModuleUse {
  readonly name: string;
  readonly at: Span;
  readonly node: MapNode;
  readonly definition: ModuleDefinition;
  readonly user: ModuleUser;
}

const FIELDS = ["source", "with", "for_each", "when", "description"];

interface UsedModule extends ModuleUse {
  /** By key; one with an empty key without `for_each`. */
  instances?: ReadonlyMap<string, ModuleInstance>;
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
    const { findings } = this.#loading;
    const [module = "", key] = String(name).split("/");
    const all = this.#all();
    if (!all.has(module)) {
      const modules = all.size === 0 ? undefined : `the modules are ${listed([...all.keys()])}`;
      const hint = findings.didYouMean(module, all.keys(), modules, "names");
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

  /** Hides values of sensitive inputs in another section of modules: of another target, or one that a target changes. */
  hideWrittenIn(section: SpecNode | undefined): void {
    for (const [name, { value }] of memberEntries(section)) {
      const used = this.#all().get(name);
      const source = member(value, "source");
      const isSame = source === undefined || scalarText(source) === scalarText(member(used?.node, "source"));
      this.#hideWritten(value, isSame ? used?.definition : undefined);
    }
  }

  /** Frames show the lines around any error, also where no instance takes a value. */
  #hideWritten(use: SpecNode, definition: ModuleDefinition | undefined): void {
    for (const [name, { value }] of memberEntries(member(use, "with"))) {
      const declaration = definition?.inputs.get(name);
      if (definition === undefined || declaration?.sensitive === true)
        hideWritten(value, declaration, this.#loading.findings.sensitive);
    }
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
      findings.didYouMean(field, FIELDS, `known fields: ${listed(FIELDS)}`),
    );
    const definition = definitions.at(member(node, "source"), name, at, this.#user.origin);
    this.#hideWritten(node, definition);
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

  #instances(used: UsedModule): ReadonlyMap<string, ModuleInstance> {
    if (used.instances !== undefined) return used.instances;
    // An instance whose key needs an output of the module itself finds none.
    used.instances = new Map();
    const instances = new Map<string, ModuleInstance>();
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
        instances.set(each?.key ?? "", new ModuleInstance(used, each, this.#loading));
      }
    });
    used.instances = instances;
    if (instances.size === 0) this.#checkUnused(used);
    return instances;
  }

  #checkUnused({ node, definition }: UsedModule): void {
    const { findings, expanding } = this.#loading;
    for (const [, { value }] of memberEntries(definition.modules)) this.#hideWritten(value, undefined);
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

class ModuleInstance {
  readonly #use: ModuleUse;
  readonly #loading: ModuleLoading;
  readonly #origin: InstanceOrigin;
  readonly #subject: string;
  readonly #ofUser: Expander;
  readonly #expander: Expander;
  readonly #self: ModuleUser;
  readonly #locals: Locals;
  readonly #modules: ModuleSet;
  /** Inputs, as `input.NAME`, and outputs. */
  readonly #cells: LazyCells;
  #inputNodes: ReadonlyMap<string, MapMember> | undefined;

  constructor(use: ModuleUse, each: EachValue | undefined, loading: ModuleLoading) {
    const { name, at, definition, user } = use;
    this.#use = use;
    this.#loading = loading;
    const path = `${user.origin?.prefix ?? ""}${name}${each === undefined ? "" : `/${each.key}`}`;
    this.#subject = `modules.${path}`;
    this.#cells = new LazyCells(loading.open, `${this.#subject}.`);
    this.#origin = { prefix: `${path}/`, uses: [at, ...(user.origin?.uses ?? [])] };
    this.#ofUser = user.expander(each === undefined ? user.scope : user.scope.withEach(each));
    const scope = new SpecScope({
      inputs: { names: definition.inputs, find: (input, where, quiet) => this.#input(input, where, quiet) },
      target: loading.target,
      locals: () => this.#locals,
      modules: () => this.#modules,
      findings: loading.findings,
    });
    const expander = (of: SpecScope): Expander =>
      new Expander({
        ...loading.expanding,
        scope: of,
        bind: (text, where) => {
          loading.checkScope(text, where, definition.modules, definition.sections);
          return loading.bound(text, this.#origin.prefix);
        },
      });
    const self: ModuleUser = {
      scope,
      origin: this.#origin,
      within: [...user.within, definition.path],
      expander,
    };
    this.#self = self;
    this.#expander = expander(scope);
    const evaluate = (node: SpecNode): SpecNode =>
      loading.findings.within(this.#origin, () => this.#expander.node(node));
    this.#locals = new Locals(definition.locals, evaluate, loading, `${this.#subject}.`);
    this.#modules = new ModuleSet(definition.modules, self, loading);
  }

  /** The parts of the instance and of the modules in it. Evaluates all values, to report every problem. */
  *parts(): Iterable<SpecPart> {
    const { definition, at, user } = this.#use;
    const { findings } = this.#loading;
    findings.within(user.origin, () => this.#checkGiven());
    for (const name of definition.inputs.keys()) this.#input(name, at, false);
    const locals = findings.within(this.#origin, () => this.#locals.all());
    const outputs = [...definition.outputs].flatMap(([name, { key }]) => this.output(name, key) ?? []);
    yield {
      root: findings.within(this.#origin, () =>
        expandSections(definition.sections, this.#self, this.#loading),
      ),
      origin: this.#origin,
      values: [...locals, ...outputs],
    };
    yield* this.#modules.parts();
  }

  get outputs(): Keys {
    return this.#use.definition.outputs;
  }

  output(name: string, at: Span): SpecNode | undefined {
    const { definition } = this.#use;
    const { findings } = this.#loading;
    const declared = definition.outputs.get(name);
    if (declared === undefined) {
      const outputs = [...definition.outputs.keys()];
      const choices = outputs.length === 0 ? undefined : `known outputs: ${listed(outputs)}`;
      const message = `${this.#subject} has no output ${JSON.stringify(name)}`;
      findings.error("SPEC_MODULE", message, at, findings.didYouMean(name, outputs, choices));
      return undefined;
    }
    return this.#cell(name, at, () =>
      findings.within(this.#origin, () => this.#expander.node(declared.value)),
    );
  }

  #input(name: string, at: Span, quiet: boolean): SpecNode | undefined {
    const { definition, user } = this.#use;
    const { findings, inputs } = this.#loading;
    const declaration = definition.inputs.get(name);
    if (declaration === undefined) {
      const declare = `declare it: inputs: { ${name}: { type: string } }`;
      const hint = findings.didYouMean(name, definition.inputs.keys(), declare);
      findings.error("SPEC_INPUT", `the module has no input ${JSON.stringify(name)}`, at, hint);
      return undefined;
    }
    const node = this.#cell(`input.${name}`, at, () => {
      const written = this.#members().get(name)?.value;
      const isDefault = written === undefined || isNull(written);
      const value = isDefault
        ? declaration.fallback
        : findings.within(user.origin, () => this.#ofUser.node(written));
      if (value === undefined) return this.#missing(name, declaration.schema.description);
      const input = declaration.sensitive ? sensitiveValue(value, declaration, findings.sensitive) : value;
      const subject = `${this.#subject}: ${name}`;
      inputs.push({ declaration, value: input, isDefault, subject, code: "SPEC_INPUT", origin: user.origin });
      return input;
    });
    return node !== undefined && quiet && isNull(node) ? undefined : node;
  }

  #missing(name: string, description: unknown): undefined {
    this.#loading.findings.within(this.#use.user.origin, () => {
      const hint = typeof description === "string" ? { hint: description } : {};
      const message = `${this.#subject} needs the input ${JSON.stringify(name)}`;
      this.#loading.findings.error("SPEC_INPUT", message, this.#use.at, hint);
    });
    return undefined;
  }

  /** The members of `with`; a whole map may come from an expression. */
  #members(): ReadonlyMap<string, MapMember> {
    if (this.#inputNodes !== undefined) return this.#inputNodes;
    this.#inputNodes = new Map();
    const { node, user } = this.#use;
    const { findings } = this.#loading;
    const section = member(node, "with");
    if (section === undefined || isNull(section)) return this.#inputNodes;
    const value =
      section.kind === "map" ? section : findings.within(user.origin, () => this.#ofUser.node(section));
    if (value.kind === "map") this.#inputNodes = value.members;
    else if (value.kind === "list" || !String(value.value).includes("${"))
      findings.within(user.origin, () =>
        findings.wrongType(`${this.#subject}: with`, "a map of inputs", value),
      );
    return this.#inputNodes;
  }

  #checkGiven(): void {
    const { inputs } = this.#use.definition;
    const fallback =
      inputs.size === 0 ? "the module has no inputs" : `known inputs: ${listed([...inputs.keys()])}`;
    for (const [name, { key }] of this.#members()) {
      if (inputs.has(name)) continue;
      const hint = this.#loading.findings.didYouMean(name, inputs.keys(), fallback);
      const message = `${this.#subject} has no input ${JSON.stringify(name)}`;
      this.#loading.findings.error("SPEC_INPUT", message, key, hint);
    }
  }

  #cell(name: string, at: Span, evaluate: () => SpecNode | undefined): SpecNode | undefined {
    return this.#cells.get(name, evaluate, (cycle) =>
      this.#loading.findings.error("SPEC_MODULE", `inputs and outputs form a cycle: ${cycle}`, at),
    );
  }
}

interface ExpandingOptions extends ModuleOptions {
  readonly variables: Variables;
  readonly main: string;
  readonly patterns: LinearPatterns;
  /** The sections of modules as written: without a target, and of every target. */
  readonly writtenModules: readonly (SpecNode | undefined)[];
}

export interface ExpandedSpec {
  /** The main part, with sections such as `policy`. */
  readonly root: MapNode;
  readonly parts: readonly SpecPart[];
  /** The resources whose `when` is false. */
  readonly leftOut: ReadonlySet<Address>;
  /** Evaluate further expressions as those of the main spec. */
  readonly evaluator: Evaluator;
  readonly scope: SpecScope;
  readonly expander: Expander;
}

/** Undefined if the modules are too large for anything else to be judged. */
export async function expandSpec(
  root: MapNode,
  options: ExpandingOptions,
): Promise<ExpandedSpec | undefined> {
  const { main, target, findings } = options;
  const loading = new ModuleLoading(options);
  const { evaluator } = loading.expanding;
  const budget = new ExpansionBudget();
  const used = member(root, "modules");
  const checked = (text: string, at: Span): string => {
    loading.checkScope(text, at, used, root);
    return text;
  };
  const bind = used === undefined ? undefined : checked;
  const expander = (of: SpecScope): Expander =>
    new Expander({ scope: of, evaluator, budget, findings, bind });
  const scope: SpecScope = new SpecScope({
    variables: options.variables,
    target,
    locals: () => locals,
    modules: () => modules,
    findings,
  });
  const expanding = expander(scope);
  const evaluate = (node: SpecNode): SpecNode => findings.within(undefined, () => expanding.node(node));
  const locals = new Locals(member(root, "locals"), evaluate, loading, "");
  const user: ModuleUser = { scope, origin: undefined, within: [main], expander };
  const modules = new ModuleSet(used, user, loading);
  for (const section of options.writtenModules) modules.hideWrittenIn(section);
  const values = locals.all();
  const sections = expandSections(withMembers(root, NOT_EXPANDED), user, loading);
  const parts = [{ root: sections, origin: undefined, values }, ...modules.parts()];
  if (loading.isFull) return undefined;
  await checkValues([...options.variables.values, ...loading.inputs], options);
  return { root: sections, parts, leftOut: loading.leftOut, evaluator, scope, expander: expanding };
}

/** Sections that other code reads. */
const NOT_EXPANDED = {
  variables: undefined,
  include: undefined,
  locals: undefined,
  modules: undefined,
  rules: undefined,
};
