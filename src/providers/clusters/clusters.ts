// Clusters (contract B 2.4, contract B 3.2 and contract B 4.3). A tag with a token identifies a cluster after an interrupted creation.

import type { Reader } from "../../api/contract/reader.ts";
import { type RemoteId, remoteId } from "../../core/address.ts";
import { defined, type JsonObject, objectIn } from "../../core/json.ts";
import { count } from "../../core/sentences.ts";
import { clusterParts } from "../../resource/compute.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { FieldDiff, PlannedChange, PlannedWorkspace, Step } from "../../resource/planning.ts";
import { isRunOn } from "../../resource/service-status.ts";
import { choiceField, defineProvider, flagField, textField } from "../kit/field-builders.ts";
import { libraryFiles, libraryProblems } from "../kit/library-fields.ts";
import { withUnlisted } from "../kit/names.ts";
import { preservedPaths } from "../kit/preserved-fields.ts";
import { effectOn, losesId, removesObject } from "../kit/problems.ts";
import { jobsOn, keyIn, liveIfPresent, namesOf, objectsIn, responseText } from "../kit/responses.ts";
import { normalizeDesired, normalizeLive } from "../kit/spec-form.ts";
import { withUnknownFields } from "../kit/unknown-fields.ts";
import {
  AUTO_MODE,
  clusterFields,
  clusterFiles,
  clusterInSpecForm,
  placeInCluster,
  withoutInherited,
} from "./fields.ts";
import {
  clusterLibraries,
  libraryConsequences,
  libraryStates,
  librarySteps,
  withLibraries,
} from "./libraries.ts";
import {
  createCluster,
  endedByService,
  isDown,
  isUp,
  MAX_OWN_TAGS,
  removeCluster,
  takeStep,
  tokenOf,
  withoutToken,
} from "./operations.ts";
import { librariesOfPolicy, policyKinds, policyObjections, withoutPolicyValues } from "./policies.ts";
import { clusterProblems, singleNodeProblems } from "./validate.ts";

const fields = {
  cluster_name: textField({
    severity: "other",
    maxLength: 1000,
    description: "Display name; need not be unique.",
  }),
  ...clusterFields({ mostTags: MAX_OWN_TAGS }),
  pinned: flagField({
    severity: "availability",
    default: false,
    description: "Keeps the cluster listed, and its configuration for more than 30 days after it terminates.",
  }),
  run_state: choiceField(["RUNNING", "TERMINATED"], {
    severity: "availability",
    whenAbsent: "unmanaged",
    changedByService: "ended_by_service",
    atRest: "TERMINATED",
    shownBy: ["state", "ended_by_service"],
    description: "State to keep the cluster in. If absent, users start and stop it freely.",
  }),
  libraries: clusterLibraries,
};

const SIZE = new Set(["num_workers", "autoscale"]);
const OURS = new Set(["pinned", "run_state", "libraries"]);

/** Members of an answer that no request sets. */
const READ_ONLY = new Set([
  "cluster_id",
  "creator_user_name",
  "cluster_source",
  "instance_source",
  "driver_instance_source",
  "driver",
  "executors",
  "driver_healthy",
  "spark_context_id",
  "effective_spark_version",
  "jdbc_port",
  "state",
  "state_message",
  "start_time",
  "terminated_time",
  "last_state_loss_time",
  "last_activity_time",
  "last_restarted_time",
  "cluster_memory_mb",
  "cluster_cores",
  "default_tags",
  "cluster_log_status",
  "termination_reason",
  "disk_spec",
  "init_scripts_safe_mode",
  "pinned_by_user_name",
  "spec",
]);

/** A cluster that is starting needs no start. */
function runState(state: string): string {
  if (isUp(state)) return "RUNNING";
  return isDown(state) ? "TERMINATED" : state;
}

/** People and this program make clusters over the API or the pages; jobs, pipelines and warehouses make their own. */
const isMadeByService = ({ cluster_source: source }: JsonObject): boolean =>
  source !== undefined && source !== "UI" && source !== "API";

function toLive(answer: JsonObject): LiveObject | undefined {
  const id = keyIn(answer, "cluster_id");
  if (isMadeByService(answer)) return undefined;
  const state = responseText(answer, "state") ?? "UNKNOWN";
  const pinned = responseText(answer, "pinned_by_user_name") !== undefined;
  // An answer shows the mode that the service chose, and what was asked for only in `spec`.
  const mode = objectIn(answer.spec).data_security_mode === AUTO_MODE ? AUTO_MODE : answer.data_security_mode;
  const shown = { ...answer, pinned, run_state: runState(state), data_security_mode: mode ?? null };
  const read = clusterInSpecForm(normalizeLive(fields, shown));
  const token = tokenOf(read);
  const ended = endedByService(state, answer);
  const creator = responseText(answer, "creator_user_name");
  const live = {
    id: remoteId(id),
    name: responseText(answer, "cluster_name") ?? "",
    values: withoutToken(read),
    facts: {
      state,
      ...defined({ creator_user_name: creator, token, ended_by_service: ended }),
    },
  };
  const { enable_local_disk_encryption: encrypts, ...others } = answer;
  // The service returns false for a cluster that does not set it.
  return withUnknownFields(live, fields, encrypts === false ? others : answer, READ_ONLY);
}

/** Whether the event log says that the cluster is pinned: for services whose answers do not show pins. */
async function withPin(api: Reader, live: LiveObject): Promise<LiveObject> {
  const answer = await api.read("clusters/events", {
    cluster_id: live.id,
    event_types: ["PINNED", "UNPINNED"],
    order: "DESC",
    limit: 1,
  });
  const [last] = objectsIn(answer, "events");
  return last?.type === "PINNED" ? { ...live, values: { ...live.values, pinned: true } } : live;
}

const byId = (api: Reader, id: RemoteId): Promise<LiveObject | undefined> =>
  liveIfPresent(() => api.read("clusters/get", { cluster_id: id }), toLive);

const changesSize = (diffs: readonly FieldDiff[]): boolean =>
  diffs.some((diff) => SIZE.has(String(diff.path[0])));
const changesMore = (diffs: readonly FieldDiff[]): boolean =>
  diffs.some((diff) => !SIZE.has(String(diff.path[0])) && !OURS.has(String(diff.path[0])));

/** Stops come before edits, so that nothing restarts unnecessarily; starts come last. */
function steps(diffs: readonly FieldDiff[], live: LiveObject, after: JsonObject): readonly Step[] {
  const moved = (field: string): boolean => diffs.some((diff) => diff.path[0] === field);
  const stops = moved("run_state") && after.run_state === "TERMINATED";
  const resizable = !stops && (live.facts.state === "RUNNING" || live.facts.state === "RESIZING");
  const size = changesSize(diffs);
  const keep = { detail: { keep: preservedPaths(fields, live.values, after, diffs) } };
  const edits = changesMore(diffs) || (size && !resizable);
  const { first, last } = moved("libraries") ? librarySteps(live.values, after) : { first: [], last: [] };
  return [
    ...first.map((operation) => ({ operation })),
    ...(stops ? [{ operation: "terminate" }] : []),
    ...(edits ? [{ operation: "edit", ...keep }] : size ? [{ operation: "resize", ...keep }] : []),
    ...(moved("pinned") ? [{ operation: after.pinned === true ? "pin" : "unpin" }] : []),
    ...(moved("run_state") && !stops ? [{ operation: "start" }] : []),
    ...last.map((operation) => ({ operation })),
  ];
}

const takes = (change: PlannedChange, operation: string): boolean =>
  change.steps.some((step) => step.operation === operation);

/** Whether running work on the cluster is interrupted. */
function interrupts(change: PlannedChange): boolean {
  const { state } = change.live?.facts ?? {};
  if (state === undefined || isDown(String(state))) return false;
  return change.action !== "update" || takes(change, "terminate") || takes(change, "edit");
}

function runsOn(workspace: PlannedWorkspace, live: LiveObject): readonly JsonObject[] {
  return (workspace.activeRuns ?? []).filter((run) => isRunOn(run, live.id));
}

function whatBecomesOf(change: PlannedChange): string {
  if (change.action !== "update") return "is permanently deleted";
  return takes(change, "terminate") ? "is terminated" : "restarts to apply the changes";
}

/** A replacement moves the jobs of the plan to the new cluster, and no others. */
const losingJobs = (change: PlannedChange, workspace: PlannedWorkspace): readonly string[] =>
  change.live !== undefined && removesObject(change) ? namesOf(jobsOn(change.live.id, workspace)) : [];

function consequences(change: PlannedChange, workspace: PlannedWorkspace): readonly string[] {
  const { live } = change;
  if (live === undefined || change.action === "create") return [];
  const sentences: string[] = [];
  if (interrupts(change)) {
    sentences.push(`the cluster is running and ${whatBecomesOf(change)}`);
    const runs = runsOn(workspace, live).length;
    if (runs > 0) sentences.push(`${count(runs, "active run")} on it ${runs === 1 ? "stops" : "stop"}`);
  }
  if (change.action === "update" && live.facts.state !== undefined)
    sentences.push(
      ...libraryConsequences(live, change.after, {
        isUp: isUp(String(live.facts.state)),
        restarts: interrupts(change),
      }),
    );
  return [
    ...sentences,
    ...losesId(change, "cluster"),
    ...effectOn("jobs that run on it", losingJobs(change, workspace)),
  ];
}

export const clusters = defineProvider({
  kind: "clusters",
  singular: "cluster",
  description: "Clusters for users and jobs. Deletion is permanent.",
  fields,
  severity: "availability",
  nameField: "cluster_name",
  unique: false,
  idAttribute: "cluster_id",
  creationRecovery: "tagged",
  replaceStrategy: "create-first",
  usedBy: ["jobs"],

  planning: {
    machines: (values) => ({
      parts: clusterParts(values, "all_purpose"),
      isAlwaysOn: values.autotermination_minutes === 0,
    }),
    validate: (values) => [...clusterProblems(values), ...libraryProblems(values.libraries)],
    validateIn: { databricks: (values) => singleNodeProblems(values) },
    dependencies: (_name, values) => [...clusterFiles(values), ...libraryFiles(values.libraries)],
    normalize: (values) => withoutInherited(normalizeDesired(fields, values)),
    placeOf: (path) => ({ place: placeInCluster(path) }),
    omittedByExport: () => ({ enable_elastic_disk: false }),
    steps,
    neededFacts: (change) => (interrupts(change) ? ["activeRuns"] : []),
    consequences,
    harms(change, workspace) {
      if (change.live === undefined) return [];
      return [
        ...(interrupts(change) ? [`the cluster is running and ${whatBecomesOf(change)}`] : []),
        ...losingJobs(change, workspace).map((name) => `the job ${name} loses its cluster`),
      ];
    },
    liveProblems: libraryStates,
    kindsReadForObjections: policyKinds,
    objections: policyObjections,
  },

  operations: {
    async list(api, scope) {
      const answers = objectsIn(await api.read("clusters/list"), "clusters");
      const inList = answers.flatMap((answer) => toLive(answer) ?? []);
      // The list contains only the latest terminated clusters (contract B 4.3 rule 3).
      return withUnlisted(inList, scope, (id) => byId(api, id));
    },
    async readDetails(api, listed, desired, context) {
      const isAuto = desired?.data_security_mode === AUTO_MODE;
      const shown = isAuto ? ((await byId(api, listed.id)) ?? listed) : listed;
      const live = await withoutPolicyValues(api, shown, desired, context);
      const pinned =
        desired?.pinned === true && live.values.pinned !== true ? await withPin(api, live) : live;
      if (desired?.libraries === undefined) return pinned;
      return withLibraries(api, pinned, desired, await librariesOfPolicy(api, pinned, context));
    },
    async read(api, id) {
      const live = await byId(api, id);
      return live === undefined || live.values.pinned === true ? live : withPin(api, live);
    },
    create: createCluster,
    async update(api, task) {
      for (const [at, step] of task.steps.entries())
        await takeStep(api, task, step, task.steps[at + 1]?.operation);
    },
    delete: removeCluster,
  },
});
