// Memberships that follow from a sensitive value, such as that of `admins` from a role: they are as the last applied spec declares them.

import type { Json } from "../../core/json.ts";
import { hasDigest } from "../../core/sensitive-values.ts";
import type { FieldSchema, Values } from "../../resource/field-schema.ts";
import type { PlannedKind, PlanningRegistry } from "../../resource/kind.ts";
import type { Live, LiveObject } from "../../resource/live.ts";
import { isSameName } from "../../resource/names.ts";
import type { ImpliedMembership } from "../../resource/planning.ts";
import { mapValues } from "../../resource/walk.ts";

/** `live`: with a token in place of each sensitive value. `applied`: what the last applied spec declared for an object. */
export function hidingMemberships(
  registry: PlanningRegistry,
  live: Live,
): (kind: string, object: LiveObject, applied: Values) => LiveObject {
  const hidden = hiddenMemberships(registry, live);
  return (kind, object, applied) => {
    const provider = registry.get(kind);
    const others = hidden.flatMap((membership) => otherSide(registry, provider, object, membership));
    if (others.length === 0) return object;
    return { ...object, values: withoutOthers(registry, provider, object, others, applied) };
  };
}

function hiddenMemberships(registry: PlanningRegistry, live: Live): readonly ImpliedMembership[] {
  return [...live].flatMap(([kind, list]) => {
    const implied = registry.get(kind).planning.impliedMembership;
    if (implied === undefined || !list.readable) return [];
    return list.objects.flatMap(({ name, values }) => {
      const membership = implied(name);
      return hasDigest(values[membership.field]) ? [membership] : [];
    });
  });
}

type Named = ImpliedMembership["member"];

/** The group for its member, and the member for its group. */
function otherSide(
  registry: PlanningRegistry,
  { kind }: PlannedKind,
  { name }: LiveObject,
  { group, member }: ImpliedMembership,
): readonly Named[] {
  const is = (named: Named): boolean => kind === named.kind && isSame(registry, named, name);
  return [...(is(group) ? [member] : []), ...(is(member) ? [group] : [])];
}

const isSame = (registry: PlanningRegistry, { kind, name }: Named, other: Json): boolean =>
  typeof other === "string" && isSameName(registry.get(kind), name, other);

/** Lists of names contain the others only if the last applied spec has them. */
function withoutOthers(
  registry: PlanningRegistry,
  { fields }: PlannedKind,
  { values }: LiveObject,
  others: readonly Named[],
  applied: Values,
): Values {
  const isHidden = ({ names }: FieldSchema, item: Json): boolean =>
    others.some((other) => other.kind === names && isSame(registry, other, item));
  const declared = new Set<string>();
  mapValues(fields, applied, (schema, value, inside) => {
    if (isHidden(schema, value)) declared.add(String(value));
    return inside();
  });
  return mapValues(fields, values, (schema, value, inside) =>
    isHidden(schema, value) && !declared.has(String(value)) ? undefined : inside(),
  );
}
