// Cluster policies in the Databricks dialect: rules for the fields of clusters, as a map in a spec and as JSON text in requests.

import { remoteId } from "../../core/address.ts";
import { defined, isObject, type Json, type JsonObject, objectIn } from "../../core/json.ts";
import { listed } from "../../core/sentences.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { PlannedChange, PlannedWorkspace, Problem } from "../../resource/planning.ts";
import {
  choiceField,
  defineProvider,
  flagField,
  groupField,
  integerField,
  listField,
  mapField,
  numberField,
  required,
  scalarField,
  textField,
} from "../kit/field-builders.ts";
import { library, libraryFiles, libraryProblems } from "../kit/library-fields.ts";
import { effectOn, problem, removesObject } from "../kit/problems.ts";
import {
  clustersOn,
  createdId,
  dependentsOfId,
  ignoreMissing,
  jobsOn,
  keyIn,
  liveIfPresent,
  namesOf,
  objectsIn,
  responseText,
} from "../kit/responses.ts";
import { normalizeLive } from "../kit/spec-form.ts";
import { withUnknownFields } from "../kit/unknown-fields.ts";

const TYPES = ["fixed", "forbidden", "allowlist", "blocklist", "regex", "range", "unlimited"];

const rule = groupField(
  {
    type: required(choiceField(TYPES, { description: "What the rule does." })),
    value: scalarField({ description: "The value that a fixed rule sets." }),
    hidden: flagField({ description: "Whether the user interface hides the field." }),
    values: listField(scalarField({ description: "One value." }), {
      description: "The values of an allowlist or blocklist.",
    }),
    defaultValue: scalarField({ description: "The value of a cluster that sets none." }),
    isOptional: flagField({ description: "Whether a cluster may leave the field out." }),
    pattern: textField({ description: "The regular expression of a regex rule." }),
    minValue: numberField({ description: "The least value of a range." }),
    maxValue: numberField({ description: "The greatest value of a range." }),
  },
  { description: "The rule for one field." },
);

const rules = (description: string) =>
  mapField(rule, {
    keys: { minLength: 1 },
    description,
    examples: [{ spark_version: { type: "fixed", value: "15.4.x-scala2.12" } }],
  });

const fields = {
  name: textField({ severity: "other", minLength: 1, maxLength: 100, description: "Unique name." }),
  description: textField({ severity: "other", description: "Text for people." }),
  definition: rules("A rule for each field of a cluster, by its path. Set either this or policy_family_id."),
  policy_family_id: textField({ minLength: 1, description: "Family whose definition the policy inherits." }),
  policy_family_definition_overrides: rules("Rules that replace those of the family."),
  max_clusters_per_user: integerField({
    minimum: 1,
    description: "Clusters that a user may have. Unlimited if absent.",
  }),
  libraries: listField(library, {
    list: "set",
    maxItems: 500,
    default: [],
    description: "Libraries that each cluster with the policy gets when it starts.",
  }),
};

const TEXTS = ["definition", "policy_family_definition_overrides"] as const;

const READ_ONLY = new Set([
  "policy_id",
  "created_at_timestamp",
  "creator_user_name",
  "is_default",
  "policy_family_version",
]);

/** The text of an object; a policy with another text has no resource. */
function parsed(text: Json | undefined): JsonObject | undefined {
  try {
    const value: Json = JSON.parse(String(text));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function policyInSpecForm(answer: JsonObject): LiveObject {
  const { name, description, policy_family_id, max_clusters_per_user } = answer;
  const { libraries } = normalizeLive({ libraries: fields.libraries }, answer);
  const values: { [field: string]: Json } = defined({ name: keyIn(answer, "name"), libraries });
  if (typeof description === "string" && description !== "") values.description = description;
  if (max_clusters_per_user !== undefined) values.max_clusters_per_user = Number(max_clusters_per_user);
  if (policy_family_id !== undefined) values.policy_family_id = policy_family_id;
  for (const field of TEXTS) {
    // The service answers the merged rules of a family, too.
    if (field === "definition" && policy_family_id !== undefined) continue;
    const rulesOfField = answer[field] === undefined ? undefined : parsed(answer[field]);
    if (rulesOfField !== undefined) values[field] = rulesOfField;
  }
  const creator = responseText(answer, "creator_user_name");
  const facts: JsonObject = defined({ creator_user_name: creator });
  const live = { id: remoteId(keyIn(answer, "policy_id")), name: String(name), values, facts };
  return withUnknownFields(live, fields, answer, READ_ONLY);
}

/** The body of a request, which replaces the whole policy. */
function body(values: Values): JsonObject {
  const texts = TEXTS.flatMap((field) =>
    values[field] === undefined ? [] : [[field, JSON.stringify(values[field])] as const],
  );
  return { ...values, ...Object.fromEntries(texts) };
}

function check(values: Values): readonly Problem[] {
  const { definition, policy_family_id: family, policy_family_definition_overrides: overrides } = values;
  if ((definition === undefined) === (family === undefined))
    return [problem("SPEC_COMBINATION", [], "a policy needs either a definition or a policy_family_id")];
  if (overrides !== undefined && family === undefined)
    return [
      problem(
        "SPEC_COMBINATION",
        ["policy_family_definition_overrides"],
        "overrides need a policy_family_id",
      ),
    ];
  return [];
}

/** The rules with a fixed value, by the path of the field. */
function fixedValues(values: Values | undefined): ReadonlyMap<string, Json | undefined> {
  const rules = TEXTS.flatMap((field) => Object.entries(objectIn(values?.[field])));
  return new Map(
    rules.flatMap(([path, rule]) => (objectIn(rule).type === "fixed" ? [[path, objectIn(rule).value]] : [])),
  );
}

/** An edit reaches clusters when they are edited. */
function keepingValues({ live, after }: PlannedChange, workspace: PlannedWorkspace): readonly string[] {
  const before = fixedValues(live?.values);
  const changed = [...fixedValues(after)].filter(([path, value]) => before.get(path) !== value);
  if (changed.length === 0) return [];
  const clusters = workspace.live("clusters").filter(({ values }) => values.policy_id === live?.id);
  const fields = listed(
    changed.map(([path]) => path),
    "and",
    5,
  );
  return effectOn(
    `clusters with this policy keep the former value of ${fields} until they are edited`,
    namesOf(clusters),
  );
}

function consequences(change: PlannedChange, workspace: PlannedWorkspace): readonly string[] {
  const { live } = change;
  if (live === undefined) return [];
  if (!removesObject(change)) return keepingValues(change, workspace);
  return [
    ...effectOn(
      "clusters with this policy keep running and cannot be edited",
      namesOf(clustersOn(live.id, workspace)),
    ),
    ...effectOn("jobs cannot create their clusters with this policy", namesOf(jobsOn(live.id, workspace))),
  ];
}

export const clusterPolicies = defineProvider({
  kind: "cluster_policies",
  dialect: "databricks",
  singular: "cluster policy",
  description: "Cluster policies: limits and fixed values for the clusters of users and jobs.",
  fields,
  severity: "security",
  nameField: "name",
  unique: true,
  idAttribute: "policy_id",
  creationRecovery: "client-named",
  replaceStrategy: "create-first",
  usedBy: ["clusters", "jobs"],

  planning: {
    validate: (values) => [...check(values), ...libraryProblems(values.libraries)],
    dependencies: (_name, values) => libraryFiles(values.libraries),
    consequences,
    harms: (change, workspace) =>
      change.live !== undefined && removesObject(change)
        ? dependentsOfId(change.live.id, workspace).map((user) => `${user} loses its policy`)
        : [],
  },

  operations: {
    list: async (api) =>
      objectsIn(await api.read("policies/clusters/list"), "policies").map(policyInSpecForm),
    read: (api, id) =>
      liveIfPresent(() => api.read("policies/clusters/get", { policy_id: id }), policyInSpecForm),
    create: async (api, { name, values }) =>
      createdId(await api.write("policies/clusters/create", { name, ...body(values) }), "policy_id"),
    async update(api, { id, values }) {
      await api.write("policies/clusters/edit", { ...body(values), policy_id: id });
    },
    delete: (api, { id }) => ignoreMissing(() => api.write("policies/clusters/delete", { policy_id: id })),
  },
});
