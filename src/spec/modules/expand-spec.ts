// A spec with its expressions evaluated: the main part, and one part for each instance of a module.

import type { Address } from "../../core/address.ts";
import type { Evaluator } from "../evaluate/evaluator.ts";
import { Expander } from "../evaluate/expander.ts";
import { ExpansionBudget } from "../model/limits.ts";
import type { Span } from "../model/source.ts";
import type { SpecPart } from "../model/spec.ts";
import { type MapNode, member, type SpecNode, withMembers } from "../model/tree.ts";
import { checkValues, type LinearPatterns } from "../variables/parameters.ts";
import type { Variables } from "../variables/variables.ts";
import { expandSections } from "./expand-resources.ts";
import { ModuleSet } from "./instances.ts";
import { ModuleLoading, type ModuleOptions, type ModuleUser } from "./loading.ts";
import { Locals, SpecScope } from "./scope.ts";

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
