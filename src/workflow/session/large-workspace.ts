// Settings of V8 with which a large workspace needs less memory. Small ones go without: they cost an apply 14% of its time (decision 0033).

import { setFlagsFromString } from "node:v8";
import { fileStatsOf } from "../../config/files.ts";
import type { Spec } from "../../spec/model/spec.ts";

/** The file of the spec, or else all its resources, that call for less memory. */
const LARGE = { bytes: 2 * 1024 * 1024, resources: 20_000 };

/** V8 collects garbage when the heap is so many percent larger than what lives. At its end an apply needs more memory than a plan. */
const GROWTH = { plan: 120, apply: 50 };

/** Called before the first large value is read, the state: V8 keeps the young space that it has until then. */
export function prepareForLargeFile(spec: string): void {
  if ((fileStatsOf(spec)?.size ?? 0) >= LARGE.bytes) preferLessMemory(GROWTH.plan);
}

/** Called when the spec was read: its resources can come from many small files. */
export function prepareForLargePlan(spec: Pick<Spec, "resources">): void {
  if (isLarge(spec)) preferLessMemory(GROWTH.plan);
}

/** Called before a plan is executed. */
export function prepareForLargeApply(spec: Pick<Spec, "resources">): void {
  if (isLarge(spec)) preferLessMemory(GROWTH.apply);
}

function isLarge({ resources }: Pick<Spec, "resources">): boolean {
  return resources.size >= LARGE.resources;
}

/** Most of a large plan lives as long as the run, so a growing young space only keeps it twice. */
function preferLessMemory(growth: number): void {
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString(`--heap-growing-percent=${growth}`);
}
