// Creates, updates, and removes clusters, each step once the state of the cluster allows it (contract B 3.2), and the tag that
// identifies a cluster by its token (design 6).

import type { WriteOperation } from "../../api/contract/operations.ts";
import type { RemoteId } from "../../core/address.ts";
import { error, Failure } from "../../core/diagnostic.ts";
import { isObject, type JsonObject, objectIn } from "../../core/json.ts";
import { isMissing, Refused } from "../../core/request-failure.ts";
import type { Values } from "../../resource/field-schema.ts";
import type { DeleteTask, OperationWriter, Task, UpdateTask } from "../../resource/operations.ts";
import type { Step } from "../../resource/planning.ts";
import { preservedIn, withPreserved } from "../kit/preserved-fields.ts";
import { createdId, readIfPresent, responseText } from "../kit/responses.ts";
import { withoutInherited } from "./fields.ts";
import { INSTALL, installLibraries, UNINSTALL, uninstallLibraries } from "./libraries.ts";
import { withoutKeptPolicyValues } from "./policies.ts";

const MINUTE = 60_000;
const SETTLES = 20 * MINUTE;
const STARTS = 30 * MINUTE;
const TRIES = 3;

/** The values that the service accepts; pins, libraries, and the desired state need separate calls. */
function attributes(values: Values, token: string | undefined): JsonObject {
  const { pinned: _, run_state: __, libraries: ___, ...rest } = withoutInherited(values);
  return withToken(rest, token);
}

export async function createCluster(api: OperationWriter, task: Task): Promise<RemoteId> {
  const cluster = attributes(task.values, task.token);
  const answer = await sendCluster(api, "clusters/create", cluster, (whole) => ({ ...whole }));
  const id = createdId(answer, "cluster_id");
  const { pinned, run_state: wanted, libraries } = task.values;
  if (pinned === true || wanted !== undefined || libraries !== undefined) await api.created(id);
  if (pinned === true) await api.write("clusters/pin", { cluster_id: id });
  await installLibraries(api, id, task.values);
  if (wanted === "RUNNING") await untilRunning(api, id);
  if (wanted === "TERMINATED") await api.write("clusters/delete", { cluster_id: id });
  return id;
}

/** One step of an update. `next` decides whether a cluster that is stopping must have stopped. */
export async function takeStep(
  api: OperationWriter,
  task: UpdateTask,
  step: Step,
  next: string | undefined,
): Promise<void> {
  const cluster_id = task.id;
  switch (step.operation) {
    case "edit":
      return edit(api, task, step);
    case "resize":
      return resize(api, task, step);
    case UNINSTALL:
      return uninstallLibraries(api, task);
    case INSTALL:
      return installLibraries(api, task.id, task.values, task.before);
    case "pin":
    case "unpin":
      await api.write(`clusters/${step.operation}`, { cluster_id });
      return;
    case "start":
      return start(api, task.id);
    case "terminate":
      await api.write("clusters/delete", { cluster_id });
      if (next === "edit") await untilSettled(api, task.id);
      return;
    default:
      throw new Error(`clusters have no step ${step.operation}: the provider of clusters makes the plan`);
  }
}

/** Replaces all attributes. The state may change between the read and the edit, so there are several attempts. */
async function edit(api: OperationWriter, task: UpdateTask, step: Step): Promise<void> {
  const token = typeof task.live.facts.token === "string" ? task.live.facts.token : undefined;
  const kept = withPreserved(task.values, task.before, preservedIn(step.detail));
  const values = await withoutKeptPolicyValues(api, kept, task.values);
  const cluster = attributes(values, token);
  for (let tries = 1; ; tries++) {
    await untilSettled(api, task.id);
    try {
      await sendCluster(api, "clusters/edit", cluster, (whole) => ({ cluster_id: task.id, ...whole }));
      break;
    } catch (refusal) {
      if (!isWrongState(refusal) || tries === TRIES) throw refusal;
    }
  }
  if (task.values.run_state === "RUNNING" && task.before.run_state === "RUNNING")
    await untilRunning(api, task.id);
}

/** Changes the size of a running cluster; one that has stopped meanwhile is edited instead. An edit would restart one that runs. */
async function resize(api: OperationWriter, task: UpdateTask, step: Step): Promise<void> {
  const { num_workers, autoscale } = task.values;
  const size: JsonObject = autoscale === undefined ? { num_workers: num_workers ?? 0 } : { autoscale };
  for (let tries = 1; (await untilSettled(api, task.id)) === "RUNNING"; tries++) {
    try {
      await api.write("clusters/resize", { cluster_id: task.id, ...size });
      return;
    } catch (refusal) {
      if (!isWrongState(refusal) || tries === TRIES) throw refusal;
    }
  }
  return edit(api, task, step);
}

/** Starting what runs already has no effect, or is refused for its state (contract B 3.2; facts 4.7): both are fine. */
async function start(api: OperationWriter, id: RemoteId): Promise<void> {
  if ((await untilSettled(api, id)) === "RUNNING") return;
  try {
    await api.write("clusters/start", { cluster_id: id });
  } catch (refusal) {
    if (!isWrongState(refusal)) throw refusal;
  }
  await untilRunning(api, id);
}

/** A pinned cluster refuses permanent deletion, and single reads do not show pins (facts 4.7). */
export async function removeCluster(api: OperationWriter, task: DeleteTask): Promise<void> {
  const cluster_id = task.id;
  try {
    if (task.live?.values.pinned === true) await api.write("clusters/unpin", { cluster_id });
    await removeUnpinned(api, cluster_id);
  } catch (refusal) {
    if (!isMissing(refusal)) throw refusal;
  }
}

async function removeUnpinned(api: OperationWriter, cluster_id: RemoteId): Promise<void> {
  try {
    await api.write("clusters/permanent-delete", { cluster_id });
  } catch (refusal) {
    if (!(refusal instanceof Refused) || refusal.status !== 400 || isMissing(refusal)) throw refusal;
    await api.write("clusters/unpin", { cluster_id });
    await api.write("clusters/permanent-delete", { cluster_id });
  }
}

const isWrongState = (refusal: unknown): boolean =>
  refusal instanceof Refused && refusal.code === "INVALID_STATE" && !isMissing(refusal);

async function look(api: OperationWriter, id: RemoteId): Promise<JsonObject> {
  const answer = await readIfPresent(() => api.read("clusters/get", { cluster_id: id }));
  if (answer === undefined) throw new Failure(error("APPLY_FAILED", `the cluster ${id} no longer exists`));
  return answer;
}

function untilSettled(api: OperationWriter, id: RemoteId): Promise<string> {
  const settled = async () => {
    const state = responseText(await look(api, id), "state");
    return state === "RUNNING" || state === "TERMINATED" || state === "ERROR" ? state : undefined;
  };
  return api.until("the cluster to be RUNNING or TERMINATED", settled, SETTLES);
}

/** Waits for RUNNING. A cluster that terminates instead fails the change and is not deleted. */
async function untilRunning(api: OperationWriter, id: RemoteId): Promise<void> {
  const running = async () => {
    const answer = await look(api, id);
    const state = responseText(answer, "state") ?? "";
    if (state === "RUNNING") return true;
    if (!ENDED.includes(state)) return undefined;
    const why = responseText(answer, "state_message");
    throw new Failure(
      error("APPLY_FAILED", `cluster ${id} terminated before it reached RUNNING`, {
        hint: "check the cluster events, fix the cause, then apply again",
        ...(why === undefined || why === "" ? {} : { cause: why }),
      }),
    );
  };
  await api.until("the cluster to be RUNNING", running, STARTS);
}

/** Sends a description of a cluster. One in a pool goes without a node type, then with that of the pool if the service requires it (contract B 2.4, facts 4.2). */
export async function sendCluster(
  api: OperationWriter,
  operation: WriteOperation,
  cluster: JsonObject | undefined,
  inside: (cluster: JsonObject | undefined) => JsonObject,
): Promise<JsonObject> {
  try {
    return await api.write(operation, inside(cluster));
  } catch (refusal) {
    const node_type_id = await nodeTypeFor(api, cluster, refusal);
    if (node_type_id === undefined) throw refusal;
    try {
      return await api.write(operation, inside({ ...cluster, node_type_id }));
    } catch (second) {
      throw second instanceof Refused ? refusal : second;
    }
  }
}

async function nodeTypeFor(
  api: OperationWriter,
  cluster: JsonObject | undefined,
  refusal: unknown,
): Promise<string | undefined> {
  const pool = cluster?.instance_pool_id;
  const mayLackIt = refusal instanceof Refused && refusal.code === "INVALID_PARAMETER_VALUE";
  if (!mayLackIt || pool === undefined || isMissing(refusal)) return undefined;
  const answer = await readIfPresent(() => api.read("instance-pools/get", { instance_pool_id: pool }));
  return answer === undefined ? undefined : responseText(answer, "node_type_id");
}

const UP: readonly string[] = ["PENDING", "RUNNING", "RESTARTING", "RESIZING"];
const DOWN: readonly string[] = ["TERMINATED", "TERMINATING"];

/** A cluster in one of these states does not start without a request. */
export const ENDED: readonly string[] = [...DOWN, "ERROR"];

export function isUp(state: string): boolean {
  return UP.includes(state);
}

export function isDown(state: string): boolean {
  return DOWN.includes(state);
}

/** Termination reasons that a user's request causes (facts 4.7). */
const ASKED = "USER_REQUEST";

/** The reason if the service terminated a cluster, such as INACTIVITY; undefined if a user did, or if it is unknown. */
export function endedByService(state: string, answer: JsonObject): string | undefined {
  if (state === "ERROR") return state;
  const code = isDown(state) ? responseText(objectIn(answer.termination_reason), "code") : undefined;
  return code === ASKED ? undefined : code;
}

const TAG = "WorkspaceToken";

/** The service allows 43 tags on a new cluster (contract B 2.4); the token's tag is one of them. */
export const MAX_OWN_TAGS = 42;

const tagsOf = (values: Values): JsonObject => (isObject(values.custom_tags) ? values.custom_tags : {});

export function tokenOf(values: Values): string | undefined {
  const token = tagsOf(values)[TAG];
  return typeof token === "string" ? token : undefined;
}

export function withoutToken(values: Values): Values {
  const { custom_tags: _, ...rest } = values;
  const { [TAG]: __, ...tags } = tagsOf(values);
  return Object.keys(tags).length === 0 ? rest : { ...rest, custom_tags: tags };
}

function withToken(values: Values, token: string | undefined): Values {
  return token === undefined ? values : { ...values, custom_tags: { ...tagsOf(values), [TAG]: token } };
}
