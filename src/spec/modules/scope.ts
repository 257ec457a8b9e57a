// The values that expressions can use: variables in the main spec, inputs in a module; locals, the target, and outputs in both.

import type { PathStep, Root } from "../../expressions/template.ts";
import type { Keys } from "../../expressions/values.ts";
import type { NamedValues, ResolvedValue, ScopeQuery, ValueScope } from "../evaluate/evaluator.ts";
import type { Findings } from "../model/findings.ts";
import type { Span } from "../model/source.ts";
import { type MapMember, type SpecNode, scalarAt } from "../model/tree.ts";

export interface EachValue {
  readonly key: string;
  readonly value: SpecNode;
}

/** The parts of a scope. A path with an absent root is an error. */
interface ScopeParts {
  readonly variables?: NamedValues;
  readonly inputs?: NamedValues;
  readonly each?: EachValue;
  readonly target: string | undefined;
  readonly locals: () => Locals;
  /** The outputs of a module that the spec, or this module, uses. */
  readonly modules: () => ModuleOutputs;
  readonly findings: Findings;
}

/** The outputs of modules: below `modules.NAME`, or `modules.NAME/KEY` with for_each. */
export interface ModuleOutputs {
  output(query: ScopeQuery): ResolvedValue | undefined;
  /** What follows `modules`, a module, or an instance of it; undefined where an output ends. */
  names(path: readonly string[]): Keys | undefined;
}

const EACH = new Set(["key", "value"]);
const TARGET = new Set(["name"]);

export class SpecScope implements ValueScope {
  readonly #parts: ScopeParts;

  constructor(parts: ScopeParts) {
    this.#parts = parts;
  }

  withEach(each: EachValue): SpecScope {
    return new SpecScope({ ...this.#parts, each });
  }

  find(query: ScopeQuery): ResolvedValue | undefined {
    const { root, path, at, quiet } = query;
    const [first = "", ...rest] = path;
    const name = String(first);
    const { variables, inputs } = this.#parts;
    switch (root) {
      case "var":
        if (variables === undefined)
          return this.#refused(
            "a module cannot use variables",
            at,
            "declare an input and set it under `with`",
          );
        return resolved(variables.find(name, at, quiet), rest);
      case "input":
        if (inputs === undefined) return this.#refused("only a module has inputs", at, "write ${var.name}");
        return resolved(inputs.find(name, at, quiet), rest);
      case "local":
        return resolved(this.#parts.locals().find(name, at), rest);
      case "each":
        return resolved(this.#each(name, at), rest);
      case "target":
        return resolved(this.#target(name, at, quiet), rest);
      case "modules":
        return this.#parts.modules().output(query);
      default:
        return root satisfies never;
    }
  }

  names(root: Root, path: readonly string[]): Keys | undefined {
    const { variables, inputs, each } = this.#parts;
    if (root === "modules") return this.#parts.modules().names(path);
    if (path.length > 0) return undefined;
    switch (root) {
      case "var":
        return variables?.names;
      case "input":
        return inputs?.names;
      case "local":
        return this.#parts.locals().names;
      case "each":
        return each === undefined ? undefined : EACH;
      case "target":
        return TARGET;
      default:
        return root satisfies never;
    }
  }

  #each(name: string, at: Span): SpecNode | undefined {
    const { each } = this.#parts;
    if (each === undefined)
      return this.#refused(
        "each exists only where for_each is: in a resource, or in the `with` of a module",
        at,
      );
    if (name === "key") return scalarAt(at, each.key);
    if (name === "value") return each.value;
    return this.#refused(`each has no ${JSON.stringify(name)}`, at, "write ${each.key} or ${each.value}");
  }

  #target(name: string, at: Span, quiet: boolean): SpecNode | undefined {
    if (name !== "name")
      return this.#refused(`target has no ${JSON.stringify(name)}`, at, "write ${target.name}");
    const { target } = this.#parts;
    if (target !== undefined) return scalarAt(at, target);
    if (quiet) return undefined;
    const hint = 'pass --target, or write ${target.?name.orValue("…")}';
    return this.#refused("no target is selected, so target.name has no value", at, hint);
  }

  #refused(message: string, at: Span, hint?: string): undefined {
    this.#parts.findings.error("SPEC_EXPRESSION", message, at, { hint });
    return undefined;
  }
}

function resolved(node: SpecNode | undefined, rest: readonly PathStep[]): ResolvedValue | undefined {
  return node === undefined ? undefined : { node, rest };
}

const NAME = /^[A-Za-z_][\w-]*$/;

/** Values by name, each evaluated once, when it is needed. */
export class LazyCells {
  readonly #open: string[];
  readonly #prefix: string;
  readonly #cells = new Map<string, SpecNode | undefined>();

  /** `open`: the paths of the values that are being evaluated. `prefix`: what comes before a name in them: `modules.team.`. */
  constructor(open: string[], prefix: string) {
    this.#open = open;
    this.#prefix = prefix;
  }

  /** Undefined if the value is missing, which was reported. */
  get(
    name: string,
    evaluate: () => SpecNode | undefined,
    onCycle: (cycle: string) => void,
  ): SpecNode | undefined {
    if (this.#cells.has(name)) return this.#cells.get(name);
    const path = `${this.#prefix}${name}`;
    const first = this.#open.indexOf(path);
    if (first >= 0) {
      onCycle([...this.#open.slice(first), path].join(" -> "));
      return undefined;
    }
    this.#open.push(path);
    try {
      const value = evaluate();
      this.#cells.set(name, value);
      return value;
    } finally {
      this.#open.pop();
    }
  }
}

interface LocalsOptions {
  readonly findings: Findings;
  readonly open: string[];
}

export class Locals {
  readonly #members: ReadonlyMap<string, MapMember>;
  readonly #evaluate: (node: SpecNode) => SpecNode;
  readonly #reporting: LocalsOptions;
  readonly #cells: LazyCells;

  /** `prefix`: for messages, `modules.team.` in a module. */
  constructor(
    section: SpecNode | undefined,
    evaluate: (node: SpecNode) => SpecNode,
    reporting: LocalsOptions,
    prefix: string,
  ) {
    this.#evaluate = evaluate;
    this.#reporting = reporting;
    this.#cells = new LazyCells(reporting.open, `${prefix}local.`);
    this.#members = membersOf(section, reporting.findings);
  }

  get names(): Keys {
    return this.#members;
  }

  find(name: string, at: Span): SpecNode | undefined {
    const { findings } = this.#reporting;
    const local = this.#members.get(name);
    if (local === undefined) {
      const hint = findings.didYouMean(name, this.#members.keys(), `define it: locals: { ${name}: … }`);
      findings.error("SPEC_VARIABLE", `unknown local ${JSON.stringify(name)}`, at, hint);
      return undefined;
    }
    return this.#cells.get(
      name,
      () => this.#evaluate(local.value),
      (cycle) => findings.error("SPEC_VARIABLE", `locals form a cycle: ${cycle}`, local.key),
    );
  }

  /** Also evaluates unused locals, so that their problems are reported. */
  all(): readonly SpecNode[] {
    return [...this.#members].flatMap(([name, { key }]) => this.find(name, key) ?? []);
  }
}

function membersOf(section: SpecNode | undefined, findings: Findings): ReadonlyMap<string, MapMember> {
  const members = findings.names("locals", section);
  for (const [name, { key }] of members)
    if (!NAME.test(name))
      findings.error("SPEC_VARIABLE", `${JSON.stringify(name)} cannot name a local`, key, {
        hint: "a name starts with a letter and holds letters, digits, dashes and underscores",
      });
  return members;
}
