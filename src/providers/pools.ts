// Instance pools (contract B 2.1 and contract B 4.1).

import { remoteId } from "../core/address.ts";
import { canonicalJson } from "../core/canonical.ts";
import { defined, isObject, type Json, type JsonObject } from "../core/json.ts";
import type { LiveObject } from "../resource/live.ts";
import type { PlannedWorkspace } from "../resource/planning.ts";
import { defineProvider } from "./kit/field-builders.ts";
import { preservedIn, preservedPaths, removesObject, withPreserved } from "./kit/preserved-fields.ts";
import { effectOn, losesId, problem } from "./kit/problems.ts";
import {
  ignoreMissing,
  keyIn,
  liveIfPresent,
  namesOf,
  needsCompute,
  objectsIn,
  responseText,
} from "./kit/responses.ts";
import { normalizeDesired, normalizeLive } from "./kit/spec-form.ts";
import { fieldsNotCopied, fieldsNotSet, withUnknownFields } from "./kit/unknown-fields.ts";
import { poolFields as fields } from "./pool-fields.ts";

const EDITABLE = ["min_idle_instances", "max_capacity", "idle_instance_autotermination_minutes"] as const;

const SERVER_DEFAULTS = { idle_instance_autotermination_minutes: 60, enable_elastic_disk: true };

/** Defaults of a new pool; on clouds other than Azure, the service also chooses a zone. */
const USUAL = {
  ...SERVER_DEFAULTS,
  azure_attributes: { availability: "ON_DEMAND_AZURE", spot_bid_max_price: -1 },
};

/** Members of an answer that no request sets. */
const READ_ONLY = new Set(["instance_pool_id", "default_tags", "state", "stats", "status"]);

function toSpec(answer: JsonObject): LiveObject | undefined {
  const id = keyIn(answer, "instance_pool_id");
  if (answer.state === "DELETED") return undefined;
  const values = normalizeLive(fields, answer);
  const facts = defined({ state: answer.state, stats: answer.stats });
  const name = responseText(answer, "instance_pool_name") ?? "";
  return withUnknownFields({ id: remoteId(id), name, values, facts }, fields, answer, READ_ONLY);
}

/** An edit has four fields and the node type (contract B 4.1 rule 2), and tags only if they change. */
function edit(id: string, live: JsonObject, after: JsonObject): { [field: string]: Json } {
  const body: { [field: string]: Json } = {
    instance_pool_id: id,
    instance_pool_name: after.instance_pool_name ?? "",
    node_type_id: live.node_type_id ?? after.node_type_id ?? "",
  };
  for (const field of EDITABLE) if (after[field] !== undefined) body[field] = after[field];
  const { custom_tags: tagged = {} } = after;
  if (canonicalJson(tagged) !== canonicalJson(live.custom_tags ?? {})) body.custom_tags = tagged;
  return body;
}

function usersOf(
  live: LiveObject | undefined,
  workspace: PlannedWorkspace,
): { clusters: readonly LiveObject[]; jobs: readonly LiveObject[] } {
  const id = live?.id;
  const holds = (values: Json | undefined): boolean =>
    id !== undefined && isObject(values) && String(values.instance_pool_id) === id;
  return {
    clusters: workspace.live("clusters").filter((one) => holds(workspace.valuesAfter("clusters", one))),
    jobs: workspace
      .live("jobs")
      .filter(
        (one) =>
          (id !== undefined && needsCompute(one, id)) ||
          holds(workspace.valuesAfter("jobs", one)?.new_cluster),
      ),
  };
}

const holders = (live: LiveObject | undefined, workspace: PlannedWorkspace): readonly string[] => {
  const { clusters, jobs } = usersOf(live, workspace);
  return [...clusters.map(({ name }) => `cluster ${name}`), ...jobs.map(({ name }) => `job ${name}`)];
};

export const pools = defineProvider({
  kind: "pools",
  singular: "instance pool",
  description: "Instance pools: idle machines that let clusters start faster.",
  fields,
  severity: "availability",
  nameField: "instance_pool_name",
  unique: true,
  idAttribute: "instance_pool_id",
  recovery: "client-named",
  replaceStrategy: "rename-aside",
  usedBy: ["clusters", "jobs"],

  planning: {
    validate(values) {
      const { min_idle_instances: least, max_capacity: most } = values;
      if (typeof least !== "number" || typeof most !== "number" || least <= most) return [];
      const message = `min_idle_instances (${least}) is more than max_capacity (${most})`;
      return [problem("SPEC_COMBINATION", ["min_idle_instances"], message)];
    },
    normalize: (values) => normalizeDesired(fields, values),
    serverDefaults: () => SERVER_DEFAULTS,
    steps: (diffs, live, after) => [
      { operation: "edit", detail: { keep: preservedPaths(fields, live.values, after, diffs) } },
    ],
    usersOf: holders,
    consequences(change, workspace) {
      if (!removesObject(change)) return [];
      const { clusters, jobs } = usersOf(change.live, workspace);
      const running = clusters.filter((one) => one.values.run_state === "RUNNING");
      const stopped = clusters.filter((one) => one.values.run_state !== "RUNNING");
      const until = "until they leave the pool";
      if (change.action === "replace")
        return [
          ...losesId(change, "pool"),
          ...effectOn(
            "the old pool is kept under another name while it is in use",
            holders(change.live, workspace),
          ),
          ...fieldsNotSet(change, fields, "pool", { usual: USUAL }),
          ...fieldsNotCopied(change, "pool"),
        ];
      return [
        ...effectOn(`running clusters cannot grow ${until}`, namesOf(running)),
        ...effectOn(`stopped clusters cannot start ${until}`, namesOf(stopped)),
        ...effectOn("jobs cannot create their clusters in it", namesOf(jobs)),
      ];
    },
  },

  operations: {
    list: async (api) =>
      objectsIn(await api.read("instance-pools/list"), "instance_pools").flatMap(
        (answer) => toSpec(answer) ?? [],
      ),
    read: (api, id) => liveIfPresent(() => api.read("instance-pools/get", { instance_pool_id: id }), toSpec),
    async create(api, task) {
      const answer = await api.write("instance-pools/create", { ...task.values });
      return remoteId(responseText(answer, "instance_pool_id") ?? "");
    },
    async update(api, task) {
      const after = withPreserved(task.values, task.before, preservedIn(task.steps[0]?.detail));
      await api.write("instance-pools/edit", edit(task.id, task.before, after));
    },
    delete: (api, task) =>
      ignoreMissing(() => api.write("instance-pools/delete", { instance_pool_id: task.id })),
    async rename(api, { id, live, name }) {
      await api.write(
        "instance-pools/edit",
        edit(id, live.values, { ...live.values, instance_pool_name: name }),
      );
    },
  },
});
