// Plan files under WORKSPACE_STATE_KEY: written encrypted, and opened again.

import { fromEnv } from "../../config/settings.ts";
import { error, Failure } from "../../core/diagnostic.ts";
import { nodeRandom } from "../../state/backends/file/node-ports.ts";
import { createSealer, type Sealer } from "../../state/format/encryption.ts";
import type { WorkflowContext } from "../session/workflow-context.ts";

/** A plan that is not encrypted still has a signature with the state's key, so it may be read. */
function planSealer(context: WorkflowContext): Sealer {
  const keyText = fromEnv(context, "WORKSPACE_STATE_KEY");
  return createSealer({
    random: nodeRandom,
    opensPlain: true,
    ...(keyText === undefined ? {} : { keyText }),
  });
}

/** `text` as it goes into the file. */
export function closedPlan(context: WorkflowContext, text: string): string {
  const sealer = planSealer(context);
  return sealer.seals ? `${sealer.seal("plan", "", text)}\n` : text;
}

export function openedPlan(context: WorkflowContext, bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder().decode(planSealer(context).open("plan", "", bytes, file));
  } catch (failure) {
    if (failure instanceof Failure && failure.diagnostics[0]?.code === "STATE_CORRUPT")
      throw changed(failure);
    throw failure;
  }
}

function changed(failure: Failure): Failure {
  return new Failure(
    error("PLAN_FILE", "the plan file was modified", {
      hint: "to create a new one, run `workspace plan --out FILE`",
      cause: failure.diagnostics[0]?.message ?? "",
    }),
  );
}
