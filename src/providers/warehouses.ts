// SQL warehouses in the Databricks dialect. A request replaces all settings; a warehouse starts when it is created.

import { remoteId } from "../core/address.ts";
import { type Json, type JsonObject, objectIn } from "../core/json.ts";
import type { Values } from "../resource/field-schema.ts";
import type { LiveObject } from "../resource/live.ts";
import type { FieldDiff, PlannedChange, PlannedWorkspace, Step } from "../resource/planning.ts";
import {
  choiceField,
  defineProvider,
  flagField,
  groupField,
  integerField,
  mapField,
  required,
  textField,
} from "./kit/field-builders.ts";
import { preservedIn, preservedPaths, withPreserved } from "./kit/preserved-fields.ts";
import { effectOn, problem, removesObject } from "./kit/problems.ts";
import {
  createdId,
  ignoreMissing,
  jobsOn,
  keyIn,
  liveIfPresent,
  namesOf,
  objectsIn,
  responseText,
} from "./kit/responses.ts";
import { normalizeLive } from "./kit/spec-form.ts";
import { withUnknownFields } from "./kit/unknown-fields.ts";

const SIZES = [
  "2X-Small",
  "X-Small",
  "Small",
  "Medium",
  "Large",
  "X-Large",
  "2X-Large",
  "3X-Large",
  "4X-Large",
  "5X-Large",
];
const RUN_STATES = ["RUNNING", "STOPPED"];

const fields = {
  name: textField({ severity: "other", minLength: 1, maxLength: 99, description: "Unique name." }),
  cluster_size: required(
    choiceField(SIZES, { severity: "cost", description: "Size of each cluster of the warehouse." }),
  ),
  min_num_clusters: integerField({
    severity: "cost",
    minimum: 1,
    maximum: 30,
    default: 1,
    description: "Clusters that always run.",
  }),
  max_num_clusters: integerField({
    severity: "cost",
    minimum: 1,
    maximum: 40,
    default: 1,
    description: "Most clusters at the same time.",
  }),
  auto_stop_mins: integerField({
    severity: "cost",
    minimum: 0,
    default: 120,
    description: "Minutes without a query after which the warehouse stops; 0 is never.",
  }),
  warehouse_type: choiceField(["CLASSIC", "PRO"], {
    serverDefault: true,
    description: "Type of the warehouse; serverless needs PRO.",
  }),
  enable_serverless_compute: flagField({
    serverDefault: true,
    description: "Whether the service provides the machines. Its default depends on the workspace.",
  }),
  enable_photon: flagField({ default: true, description: "Whether queries run on Photon." }),
  spot_instance_policy: choiceField(["COST_OPTIMIZED", "RELIABILITY_OPTIMIZED"], {
    serverDefault: true,
    description: "Whether machines may be spot machines.",
  }),
  channel: groupField(
    {
      name: textField({
        serverDefault: true,
        minLength: 1,
        description: "CHANNEL_NAME_CURRENT or CHANNEL_NAME_PREVIEW.",
      }),
      dbsql_version: textField({
        serverDefault: true,
        minLength: 1,
        description: "Version, for CHANNEL_NAME_CUSTOM.",
      }),
    },
    { serverDefault: true, description: "Release of the service that the warehouse runs." },
  ),
  custom_tags: mapField(textField({ maxLength: 256, description: "Value of the tag." }), {
    severity: "other",
    maxProperties: 44,
    keys: { minLength: 1 },
    description: "Tags of the machines and of the bill.",
  }),
  run_state: choiceField(RUN_STATES, {
    severity: "cost",
    whenAbsent: "unmanaged",
    separateRequest: true,
    atRest: "STOPPED",
    shownBy: ["state"],
    description:
      "State to keep the warehouse in. If absent, users and auto_stop_mins start and stop it freely.",
  }),
};

const READ_ONLY = new Set([
  "id",
  "state",
  "num_clusters",
  "num_active_sessions",
  "health",
  "jdbc_url",
  "odbc_params",
  "creator_name",
  "creator_id",
]);
const UP = new Set(["RUNNING", "STARTING"]);
const START_MS = 30 * 60_000;

function toLive(answer: JsonObject): LiveObject | undefined {
  const state = responseText(answer, "state") ?? "";
  if (state === "DELETED" || state === "DELETING") return undefined;
  const { tags, ...settings } = answer;
  const custom_tags = objectIn(tags).custom_tags ?? [];
  const run_state = UP.has(state) ? "RUNNING" : "STOPPED";
  const name = keyIn(answer, "name");
  const values = normalizeLive(fields, { ...settings, custom_tags, run_state });
  const live = { id: remoteId(keyIn(answer, "id")), name, values, facts: { state } };
  return withUnknownFields(live, fields, settings, READ_ONLY);
}

/** All settings: the service gives a default to each one that is absent. */
function body(name: string, { custom_tags: tags, run_state: _, ...settings }: Values): JsonObject {
  const custom_tags: Json = Object.entries(objectIn(tags)).map(([key, value]) => ({ key, value }));
  return { name, ...settings, tags: { custom_tags } };
}

function steps(diffs: readonly FieldDiff[], live: LiveObject, after: Values): readonly Step[] {
  const edits = diffs.some(({ path }) => path[0] !== "run_state");
  const moves = diffs.some(({ path }) => path[0] === "run_state");
  const keep = {
    keep: preservedPaths(fields, live.values, after, diffs).filter(([name]) => name !== "run_state"),
  };
  return [
    ...(edits ? [{ operation: "edit", detail: keep }] : []),
    ...(moves ? [{ operation: after.run_state === "RUNNING" ? "start" : "stop" }] : []),
  ];
}

/** What becomes of the queries that run now. */
function interruption(change: PlannedChange): readonly string[] {
  const { action, live, diffs } = change;
  if (action === "create" || !UP.has(String(live?.facts.state))) return [];
  if (action !== "update") return ["the warehouse is running, and its queries stop"];
  if (change.steps.some(({ operation }) => operation === "stop"))
    return ["the warehouse stops, and its queries with it"];
  const isResized = diffs.some(({ path }) => path[0] === "cluster_size" || path[0] === "warehouse_type");
  return isResized ? ["the warehouse is running, and may restart its clusters"] : [];
}

function losingJobs(change: PlannedChange, workspace: PlannedWorkspace): readonly string[] {
  if (change.live === undefined || !removesObject(change)) return [];
  return namesOf(jobsOn(change.live.id, workspace));
}

export const warehouses = defineProvider({
  kind: "warehouses",
  dialect: "databricks",
  singular: "SQL warehouse",
  description: "SQL warehouses: compute for queries and dashboards. A new warehouse starts.",
  fields,
  severity: "availability",
  nameField: "name",
  unique: true,
  idAttribute: "id",
  creationRecovery: "client-named",
  replaceStrategy: "create-first",
  usedBy: ["jobs"],

  planning: {
    machines: ({
      cluster_size: name,
      min_num_clusters: least = 1,
      max_num_clusters: most = 1,
      ...values
    }) => ({
      parts: [{ item: { list: "warehouse_sizes", name }, least, most, kind: "sql" }],
      isAlwaysOn: values.auto_stop_mins === 0,
    }),
    validate({ min_num_clusters: least = 1, max_num_clusters: most = 1 }) {
      if (typeof least !== "number" || typeof most !== "number" || least <= most) return [];
      return [
        problem(
          "SPEC_COMBINATION",
          ["min_num_clusters"],
          `min_num_clusters ${least} is above max_num_clusters ${most}`,
        ),
      ];
    },
    steps,
    consequences: (change, workspace) => [
      ...interruption(change),
      ...effectOn("jobs that run on it", losingJobs(change, workspace)),
    ],
    harms: (change, workspace) => [
      ...interruption(change),
      ...losingJobs(change, workspace).map((name) => `the job ${name} loses its warehouse`),
    ],
  },

  operations: {
    async list(api) {
      return objectsIn(await api.read("sql/warehouses/list"), "warehouses").flatMap(
        (answer) => toLive(answer) ?? [],
      );
    },
    read: (api, id) => liveIfPresent(() => api.read("sql/warehouses/get", { id }), toLive),
    async create(api, { name, values }) {
      const id = createdId(await api.write("sql/warehouses/create", body(name, values)), "id");
      // A new warehouse starts, and nothing of this apply needs it to run.
      if (values.run_state !== "STOPPED") return id;
      // Recorded first: the stop is a second request about the new object.
      await api.created(id);
      await api.write("sql/warehouses/stop", { id });
      return id;
    },
    async update(api, { id, values, before, live, steps: planned }) {
      for (const { operation, detail } of planned) {
        const all = withPreserved(values, before, preservedIn(detail));
        const name = typeof all.name === "string" ? all.name : live.name;
        if (operation === "edit") await api.write("sql/warehouses/edit", { id, ...body(name, all) });
        else if (operation === "stop") await api.write("sql/warehouses/stop", { id });
        else if (operation === "start") {
          await api.write("sql/warehouses/start", { id });
          // Jobs may need it. Nothing depends on a stopped warehouse.
          await api.until(
            `SQL warehouse ${name} to run`,
            async () => hasStarted(await api.read("sql/warehouses/get", { id })),
            START_MS,
          );
        }
      }
    },
    delete: (api, { id }) => ignoreMissing(() => api.write("sql/warehouses/delete", { id })),
  },
});

const hasStarted = (answer: JsonObject): true | undefined => (answer.state === "RUNNING" ? true : undefined);
