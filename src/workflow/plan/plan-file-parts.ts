// The parts of a plan file that differ from the plan: encryption, secrets, and field locations.

import { fromEnv } from "../../config/environment.ts";
import type { Address } from "../../core/address.ts";
import { Failure, failureOf } from "../../core/diagnostic.ts";
import { defined } from "../../core/json.ts";
import { type Path, toPointer } from "../../core/pointer.ts";
import type { Compare, Noop, Update } from "../../planner/model/change.ts";
import type { Plan } from "../../planner/model/plan.ts";
import type { SavedPlaces } from "../../planner/plan-file.ts";
import { registry } from "../../providers/index.ts";
import { secretField } from "../../resource/content.ts";
import type { Spec } from "../../spec/model/spec.ts";
import { nodeRandom } from "../../state/backends/file/node-ports.ts";
import { Cipher } from "../../state/format/encryption.ts";
import type { WorkflowContext } from "../invocation/workflow-context.ts";
import type { placesIn } from "./located.ts";

/** A plan that is not encrypted still has a signature with the state's key, so it may be read. */
function planCipher(context: WorkflowContext): Cipher {
  const keyText = fromEnv(context, "WORKSPACE_STATE_KEY");
  return new Cipher({ random: nodeRandom, opensPlain: true, ...defined({ keyText }) });
}

export function closedPlan(context: WorkflowContext, text: string): string {
  const cipher = planCipher(context);
  return cipher.encrypts ? `${cipher.encrypt("plan", "", text)}\n` : text;
}

export function openedPlan(context: WorkflowContext, bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder().decode(planCipher(context).decrypt("plan", "", bytes, file));
  } catch (failure) {
    const [problem] = failure instanceof Failure ? failure.diagnostics : [];
    if (problem?.code !== "STATE_CORRUPT") throw failure;
    throw failureOf("PLAN_FILE", "the plan file was modified", {
      hint: "to create a new one, run `workspace plan --out FILE`",
      cause: problem.message,
    });
  }
}

type Places = ReturnType<typeof placesIn>;

export function savedPlaces(plan: Plan, places: Places): SavedPlaces {
  const saved: { [address: string]: SavedPlaces[string] } = {};
  for (const one of [...plan.drift, ...plan.changes]) {
    const at = places(one.address);
    if (at === undefined || ("action" in one && one.action === "noop")) continue;
    const fields = { ...saved[one.address]?.fields };
    for (const path of pathsOf(one)) {
      const place = places(one.address, path);
      if (place !== undefined) fields[toPointer(path)] = place;
    }
    saved[one.address] = { at, fields };
  }
  return saved;
}

function pathsOf(one: Plan["changes"][number] | Plan["drift"][number]): readonly Path[] {
  if ("action" in one && one.action === "create") return Object.keys(one.after).map((name) => [name]);
  return "diffs" in one ? one.diffs.map(({ path }) => path) : [];
}

export function placesFrom(saved: SavedPlaces | undefined): Places {
  return (address: Address, path?: Path) => {
    if (saved === undefined || !Object.hasOwn(saved, address)) return undefined;
    const found = saved[address];
    if (found === undefined || path === undefined) return found?.at;
    const pointer = toPointer(path);
    return Object.hasOwn(found.fields, pointer) ? found.fields[pointer] : found.at;
  };
}

/** The plan with the values of secrets that were not set when it was made: what it writes without one is written, and what it compares is decided. */
export function withSecrets(plan: Plan, { resources }: Spec): Plan {
  const changes = plan.changes.map((change) => {
    const field = secretField(registry.get(change.kind));
    const digest = resources.get(change.address)?.payload?.digest;
    if (field === undefined || digest === undefined) return change;
    if (change.action === "compare") return compared(change, field, digest);
    const lacksValue =
      (change.action === "create" || change.action === "update") && change.payload === undefined;
    return lacksValue ? { ...change, payload: digest, after: { ...change.after, [field]: digest } } : change;
  });
  return { ...plan, changes };
}

function compared(change: Compare, field: string, digest: string): Update | Noop {
  const { fingerprint, steps, source: _source, ...rest } = change;
  const before = change.after[field];
  if (before === digest) return { ...rest, action: "noop", payload: digest, compared: true };
  const after = { ...change.after, [field]: digest };
  const diff = { path: [field], before, after: digest, cause: "spec", replaces: false } as const;
  return { ...rest, action: "update", payload: digest, after, fingerprint, steps, diffs: [diff] };
}
