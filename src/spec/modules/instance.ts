// One instance of a module: inputs, locals, outputs, and resources, each evaluated once, on demand.

import { listed } from "../../core/sentences.ts";
import { didYouMean } from "../../core/suggest.ts";
import type { Keys } from "../../expressions/values.ts";
import { Expander } from "../evaluate/expander.ts";
import type { Span } from "../model/source.ts";
import type { InstanceOrigin, SpecPart } from "../model/spec.ts";
import { isNull, type MapMember, type MapNode, member, type SpecNode } from "../model/tree.ts";
import { sensitiveValue } from "../variables/parameters.ts";
import { expandSections } from "./expand-resources.ts";
import { ModuleSet } from "./instances.ts";
import type { InstanceOfModule, ModuleLoading, ModuleUse, ModuleUser } from "./loading.ts";
import { type EachValue, LazyCells, Locals, SpecScope } from "./scope.ts";

export class ModuleInstance implements InstanceOfModule {
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
      inputs: {
        names: definition.inputs,
        find: (input, where, quiet) => this.#input(input, where, quiet),
      },
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
      root: findings.within(this.#origin, () => this.#sections()),
      origin: this.#origin,
      values: [...locals, ...outputs],
    };
    yield* this.#modules.parts();
  }

  #sections(): MapNode {
    const { registry, leftOut, findings } = this.#loading;
    return expandSections(this.#use.definition.sections, {
      registry,
      leftOut,
      findings,
      evaluator: this.#loading.expanding.evaluator,
      scope: this.#self.scope,
      expander: this.#self.expander,
      prefix: this.#origin.prefix,
      admit: (copied, at) => this.#loading.admitCopy(copied, at),
    });
  }

  get outputs(): Keys {
    return this.#use.definition.outputs;
  }

  output(name: string, at: Span): SpecNode | undefined {
    const { definition } = this.#use;
    const { findings, suggest } = this.#loading;
    const declared = definition.outputs.get(name);
    if (declared === undefined) {
      const outputs = [...definition.outputs.keys()];
      findings.error("SPEC_MODULE", `${this.#subject} has no output ${JSON.stringify(name)}`, at, {
        ...didYouMean(
          suggest(name, outputs, "words"),
          outputs.length === 0 ? undefined : `known outputs: ${listed(outputs)}`,
        ),
      });
      return undefined;
    }
    return this.#cell(name, at, () =>
      findings.within(this.#origin, () => this.#expander.node(declared.value)),
    );
  }

  #input(name: string, at: Span, quiet: boolean): SpecNode | undefined {
    const { definition, user } = this.#use;
    const { findings, suggest, sensitive, inputs } = this.#loading;
    const declaration = definition.inputs.get(name);
    if (declaration === undefined) {
      const names = [...definition.inputs.keys()];
      findings.error("SPEC_INPUT", `the module has no input ${JSON.stringify(name)}`, at, {
        ...didYouMean(suggest(name, names, "words"), `declare it: inputs: { ${name}: { type: string } }`),
      });
      return undefined;
    }
    const node = this.#cell(`input.${name}`, at, () => {
      const written = this.#members().get(name)?.value;
      const isDefault = written === undefined || isNull(written);
      const value = isDefault
        ? declaration.fallback
        : findings.within(user.origin, () => this.#ofUser.node(written));
      if (value === undefined) return this.#missing(name, declaration.schema.description);
      const input = declaration.sensitive ? sensitiveValue(value, declaration, sensitive) : value;
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
      const hint = didYouMean(this.#loading.suggest(name, inputs.keys(), "words"), fallback);
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
