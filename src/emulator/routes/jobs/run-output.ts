// The output of a run: a notebook's result, with its truncations, and its page as HTML (contract B 2.3, contract B 4.2 rules 7 and 8).

import type { JsonObject } from "../../../core/json.ts";
import { exportBytes } from "../../notebook/document.ts";
import { escapedHtml } from "../../notebook/html.ts";
import { invalidValue } from "../../world/errors.ts";
import { JOBS } from "../../world/limits.ts";
import type { Call, Reply } from "../../world/operation.ts";
import type { World } from "../../world/world.ts";
import { notebookAt } from "../workspace/objects.ts";
import { describeRun } from "./describe-run.ts";
import { isActive, type Run, runOr400 } from "./run.ts";
import { taskKind } from "./task.ts";

export function getOutput(call: Call, world: World): Reply {
  const run = runOr400(world, String(call.input.run_id));
  return { json: { metadata: describeRun(world, run), ...outputOf(run) } };
}

/** The notebook's output, or why there is none. */
function outputOf(run: Run): JsonObject {
  const why = unavailable(run);
  if (why !== undefined) return { error: firstBytes(why, JOBS.output_bytes).text };
  const result = run.outcome?.result;
  if (result === undefined) return { notebook_output: {} };
  const { text, truncated } = firstBytes(result, JOBS.result_bytes);
  return { notebook_output: { result: text, truncated } };
}

function unavailable(run: Run): string | undefined {
  const kind = taskKind(run.task);
  if (kind !== "notebook_task") return `Only notebook runs have an output; this run has a ${kind}.`;
  if (isActive(run)) return `The run has not ended; it is ${run.life_cycle_state}.`;
  if (run.life_cycle_state === "TERMINATED" && run.outcome?.result_state === "SUCCESS") return undefined;
  return run.outcome?.error ?? (run.state_message || `The run ended with ${run.outcome?.result_state}.`);
}

/** The first bytes of a string in UTF-8, without an incomplete character at the end. */
function firstBytes(text: string, limit: number): { readonly text: string; readonly truncated: boolean } {
  if (text.length * 3 <= limit) return { text, truncated: false };
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(limit));
  return { text: text.slice(0, read), truncated: read < text.length };
}

export function exportRun(call: Call, world: World): Reply {
  const run = runOr400(world, String(call.input.run_id));
  const task = run.task.notebook_task as { readonly notebook_path: string } | undefined;
  if (task === undefined) {
    throw invalidValue("Only notebook runs can be exported in HTML.");
  }
  // A notebook here has no dashboards, so that only its code can be exported.
  if (call.input.views_to_export === "DASHBOARDS") return { json: {} };
  const path = task.notebook_path;
  const name = path.slice(path.lastIndexOf("/") + 1);
  return { json: { views: [{ content: pageOf(world, path, name), name, type: "NOTEBOOK" }] } };
}

/** The current notebook; a page with a note if it was deleted. */
function pageOf(world: World, path: string, name: string): string {
  const document = notebookAt(world, path);
  if (document !== undefined) return new TextDecoder().decode(exportBytes(document, "HTML", name));
  const title = escapedHtml(name);
  return `<!DOCTYPE html>\n<html><head><meta charset="utf-8"><title>${title}</title></head><body><h1>${title}</h1><p>The notebook ${escapedHtml(path)} is not in the workspace.</p></body></html>\n`;
}
