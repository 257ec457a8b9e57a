// Small kinds of tests as one flat definition.

import type { Kind, Provider } from "../src/resource/kind.ts";
import type { ProviderOperations } from "../src/resource/operations.ts";
import type { PlanningRules } from "../src/resource/planning.ts";

export type FlatKind = Kind & PlanningRules & ProviderOperations;

export function providerOf(flat: FlatKind): Provider {
  const { validate, normalize, dependencies, namedInKey, omittedByExport, steps, neededFacts, ...others } =
    flat;
  const { consequences, objections, keptWhileUsedBy, isImplicit, content, ...more } = others;
  const { list, readDetails, readContent, read, create, update, delete: remove, rename, ...kind } = more;
  const rules = { validate, normalize, dependencies, namedInKey, omittedByExport, steps, neededFacts };
  return {
    ...kind,
    planning: given({ ...rules, consequences, objections, keptWhileUsedBy, isImplicit, content }),
    operations: given({ list, readDetails, readContent, read, create, update, delete: remove, rename }),
  };
}

type Given<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Without members that are undefined. */
function given<T extends object>(members: T): Given<T> {
  return Object.fromEntries(Object.entries(members).filter(([, one]) => one !== undefined)) as Given<T>;
}
