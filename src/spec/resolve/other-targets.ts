// Checks the targets that are not selected: their settings, variables, fields, and types, before expressions are evaluated.

import { isTemplate } from "../../expressions/template.ts";
import { type PlanningRegistry, secretField } from "../../resource/kind.ts";
import { Evaluator } from "../evaluate/evaluator.ts";
import { checkSyntax } from "../evaluate/expander.ts";
import { STRICT } from "../model/limits.ts";
import {
  isNull,
  type MapNode,
  mapAt,
  member,
  nodeAt,
  type SpecNode,
  scalarAt,
  scalarText,
  withItems,
  withMembers,
} from "../model/tree.ts";
import { type Owner, reportErrors } from "../schema/error-messages.ts";
import { schemaOfKind } from "../schema/json-schema.ts";
import { validatorFor } from "../schema/quick-check.ts";
import { schemaOfPolicy } from "../schema/sections.ts";
import type { SchemaError } from "../schema/validate.ts";
import { type CheckParts, checkValues } from "../variables/parameters.ts";
import { applyTarget, selectTarget, withoutSettings } from "../variables/targets.ts";
import { variablesOf } from "../variables/variables.ts";
import { flattenResources } from "./flatten.ts";

interface Checking extends CheckParts {
  readonly registry: PlanningRegistry;
}

const NOT_GIVEN = { vars: [], varFiles: [], env: {} };

/** `root`: the spec with its section `targets`. */
export async function checkOtherTargets(
  root: MapNode,
  selected: string | undefined,
  checking: Checking,
): Promise<void> {
  const { findings } = checking;
  const section = member(root, "targets");
  if (section?.kind !== "map") return;
  const evaluator = new Evaluator({ ...checking, steps: STRICT.expressions });
  for (const [name, { value }] of section.members) {
    if (name === selected || value.kind !== "map") continue;
    selectTarget(section, name, findings);
    const { root: written, variables } = applyTarget(root, name, findings);
    await checkValues(
      variablesOf(written, { target: variables, targets: undefined }, NOT_GIVEN, findings).values,
      checking,
    );
    const sections = withoutSettings(value);
    // Rules have a syntax of their own.
    checkSyntax(withMembers(sections, { rules: undefined }), evaluator, findings);
    await checkSections(sections, checking);
  }
}

async function checkSections(target: MapNode, checking: Checking): Promise<void> {
  const { registry, findings } = checking;
  const literal = literalIn(target);
  if (literal?.kind !== "map") return;
  const resources = flattenResources([{ root: literal, origin: undefined }], registry, findings);
  const judged = resources
    .filter(({ provider }) => secretField(provider) === undefined)
    .map(({ address, provider, fields: node }) => ({
      owner: { name: address, kind: provider } as Owner,
      schema: schemaOfKind(provider),
      node,
    }));
  const policy = member(literal, "policy");
  const schema = schemaOfPolicy(registry);
  const all =
    policy === undefined ? judged : [...judged, { owner: { name: "policy" }, schema, node: policy }];
  const validator = await validatorFor(registry, all);
  for (const { owner, schema, node } of all) {
    const errors = validator(schema, node).filter(isOfForm);
    reportErrors(
      errors.filter((error) => !isOmitted(error, node)),
      owner,
      node,
      findings,
    );
  }
}

/** What the fields that the target does not set cannot change. */
function isOfForm({ keyword }: SchemaError): boolean {
  return ["type", "additionalProperties", "unevaluatedProperties"].includes(keyword);
}

function isOmitted({ path }: SchemaError, node: SpecNode): boolean {
  const at = nodeAt(node, path);
  return at !== undefined && isNull(at);
}

/** The node without empty values, which remove, and without expressions, whose values are not known; undefined if nothing is left. In a list, null keeps their places. */
function literalIn(node: SpecNode): SpecNode | undefined {
  if (node.kind === "scalar") return isNull(node) || isTemplate(scalarText(node) ?? "") ? undefined : node;
  if (node.kind === "list") return withItems(node, (item) => literalIn(item) ?? scalarAt(item, null));
  const members = [...node.members].flatMap(([name, { key, value }]) => {
    const literal = isTemplate(name) ? undefined : literalIn(value);
    return literal === undefined ? [] : [[name, { key, value: literal }] as const];
  });
  return mapAt(node, new Map(members));
}
