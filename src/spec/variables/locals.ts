// `locals`: named values, each evaluated once, on demand.

import { didYouMean } from "../../core/suggest.ts";
import type { Findings, Reporting } from "../model/findings.ts";
import type { Span } from "../model/source.ts";
import type { MapMember, SpecNode } from "../model/tree.ts";

const NAME = /^[A-Za-z_][\w-]*$/;

export class Locals {
  readonly #members: ReadonlyMap<string, MapMember>;
  readonly #evaluate: (node: SpecNode) => SpecNode;
  readonly #reporting: Reporting;
  readonly #values = new Map<string, SpecNode>();
  /** Those that are being evaluated, in the order in which they need one another. */
  readonly #open: string[] = [];

  constructor(section: SpecNode | undefined, evaluate: (node: SpecNode) => SpecNode, reporting: Reporting) {
    this.#evaluate = evaluate;
    this.#reporting = reporting;
    this.#members = membersOf(section, reporting.findings);
  }

  find(name: string, at: Span): SpecNode | undefined {
    const known = this.#values.get(name);
    if (known !== undefined) return known;
    const { suggest, findings } = this.#reporting;
    const one = this.#members.get(name);
    if (one === undefined) {
      const hint = didYouMean(suggest(name, this.#members.keys()), `define it: locals: { ${name}: … }`);
      findings.error("SPEC_VARIABLE", `unknown local ${JSON.stringify(name)}`, at, hint);
      return undefined;
    }
    if (this.#open.includes(name)) {
      const cycle = [...this.#open.slice(this.#open.indexOf(name)), name].join(" -> ");
      findings.error("SPEC_VARIABLE", `locals form a cycle: ${cycle}`, one.key);
      return undefined;
    }
    this.#open.push(name);
    const value = this.#evaluate(one.value);
    this.#open.pop();
    this.#values.set(name, value);
    return value;
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
