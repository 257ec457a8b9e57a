// Clusters and what happened to them, as text: one line for a cluster, one for an event.

import { type Json, type JsonObject, objectIn } from "../../core/json.ts";
import { count } from "../../core/sentences.ts";
import { whyText } from "../../resource/service-status.ts";
import type { Colors } from "../text/color.ts";
import { tableText } from "../text/layout.ts";
import { printable } from "../text/printable.ts";
import { timeText } from "../text/vocabulary.ts";

/** `RUNNING, 2 workers`, `TERMINATED: Inactivity`. */
export function clusterText(cluster: JsonObject): string {
  const state = typeof cluster.state === "string" ? cluster.state : "UNKNOWN";
  if (state === "RUNNING" || state === "RESIZING") return printable(`${state}, ${sizeText(cluster)}`);
  const why = whyText(cluster);
  return printable(why === "" ? state : `${state}: ${why}`);
}

/** `2 workers`, `1 to 8 workers`. */
export function sizeText({ num_workers: workers, autoscale }: JsonObject): string {
  const { min_workers: min, max_workers: max } = objectIn(autoscale);
  if (min !== undefined && max !== undefined) return `${String(min)} to ${String(max)} workers`;
  return typeof workers === "number" ? count(workers, "worker") : "size unknown";
}

export function eventsText(events: readonly JsonObject[], colors: Colors): string {
  if (events.length === 0) return "No events.\n";
  const rows = events.map((one) => [
    timeText(one.timestamp),
    printable(String(one.type ?? "")),
    printable(detailsText(objectIn(one.details))),
  ]);
  return tableText(["time", "event", "details"], rows, colors);
}

/** What people look for in an event: who, how large, why. */
function detailsText(details: JsonObject): string {
  const { user, cause, reason, attributes } = details;
  const words = [
    typeof user === "string" && user !== "" ? `by ${user}` : "",
    sizesText(details) || workersText(details),
    typeof cause === "string" ? cause : "",
    reasonText(objectIn(reason)),
    changedText(objectIn(details.previous_attributes), objectIn(attributes)),
  ];
  return words.filter((word) => word !== "").join("; ");
}

function workersText({ current_num_workers: now, target_num_workers: target }: JsonObject): string {
  if (typeof now !== "number") return typeof target === "number" ? `to ${count(target, "worker")}` : "";
  return typeof target === "number" && target !== now
    ? `${now} of ${count(target, "worker")}`
    : count(now, "worker");
}

function sizesText({ previous_cluster_size: before, cluster_size: after }: JsonObject): string {
  if (before === undefined || after === undefined) return "";
  const [from, to] = [sizeText(objectIn(before)), sizeText(objectIn(after))];
  return from === to ? "" : `from ${from} to ${to}`;
}

function reasonText({ code, parameters }: JsonObject): string {
  if (typeof code !== "string") return "";
  const more = Object.entries(objectIn(parameters)).map(([name, value]) => `${name} ${scalarText(value)}`);
  return more.length === 0 ? code : `${code} (${more.join(", ")})`;
}

/** The attributes that an edit changed, by name. */
function changedText(before: JsonObject, after: JsonObject): string {
  if (Object.keys(before).length === 0) return "";
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  return names.length === 0 ? "" : `changed ${names.sort().join(", ")}`;
}

function scalarText(value: Json): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
