// A law of sensitive places: where a kind moves a value, the value stays sensitive, whatever its type is: numbers, booleans, and short strings have no other mark.

import { describe, expect, test } from "vitest";
import { SINGLE_TASK_FIELDS } from "../../src/api/dialect/jobs.ts";
import { addressOf } from "../../src/core/address.ts";
import { isObject, type Json, type JsonObject, objectIn, omit, pick } from "../../src/core/json.ts";
import { type Path, toDottedPath, valueAt, withValueAt } from "../../src/core/pointer.ts";
import { hasDigest } from "../../src/core/sensitive/digests.ts";
import { SENSITIVE_TEXT } from "../../src/core/sensitive/texts.ts";
import { declaredForm } from "../../src/planner/diff/normalize.ts";
import { registry } from "../../src/providers/index.ts";
import { mapsToLists } from "../../src/providers/jobs/job-forms.ts";
import { CONTRACT_FIELDS, registryIn } from "../../src/resource/dialect-view.ts";
import type { FieldSchema, FieldTable, Values } from "../../src/resource/field-schema.ts";
import type { PlannedKind } from "../../src/resource/kind.ts";
import { sensitiveValuesOf } from "../../src/workflow/session/open-state.ts";
import { sampleFrom } from "../sample-size.ts";

const CLOUDS = ["azure", "aws", "gcp"] as const;
const DIALECTS = [
  ["contract", registryIn(registry, CONTRACT_FIELDS)],
  ...CLOUDS.map((cloud) => [cloud, registryIn(registry, { dialect: "databricks", cloud })] as const),
] as const;

/** One of two values that a field can have. */
function scalarOf({ type, enum: choices }: FieldSchema, second: boolean): Json {
  if (choices !== undefined) return choices[second ? choices.length - 1 : 0] ?? null;
  if (type === "boolean") return !second;
  if (type === "integer" || type === "number") return second ? 44 : 43;
  return second ? "cow" : "pin";
}

function filled(schema: FieldSchema): Json {
  const { properties, items, additionalProperties: inner } = schema;
  if (properties !== undefined) return filledFields(properties);
  if (typeof inner === "object") return { k: filled(inner) };
  return items === undefined ? scalarOf(schema, false) : [filled(items)];
}

const filledFields = (fields: FieldTable): JsonObject =>
  Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, filled(schema)]));

interface Leaf {
  readonly path: Path;
  readonly schema: FieldSchema;
}

function leavesIn(value: Json, schema: FieldSchema, path: Path): readonly Leaf[] {
  const { properties = {}, items = {}, additionalProperties: inner } = schema;
  if (Array.isArray(value)) return value.flatMap((item: Json, at) => leavesIn(item, items, [...path, at]));
  if (!isObject(value)) return [{ path, schema }];
  return Object.entries(value).flatMap(([key, member]) =>
    leavesIn(member, properties[key] ?? (typeof inner === "object" ? inner : {}), [...path, key]),
  );
}

const scalarPaths = (value: Json): readonly Path[] => leavesIn(value, {}, []).map(({ path }) => path);

/** The values of a kind with all fields, and for a job each of its forms. */
function formsOf({ kind, fields }: PlannedKind): readonly (readonly [title: string, values: Values])[] {
  const all = filledFields(fields);
  if (kind !== "jobs") return [["all fields", all]];
  const ofTask = (task: string) =>
    Object.entries(all).filter(
      ([name]) => SINGLE_TASK_FIELDS.has(name) && (!name.endsWith("_task") || name === task),
    );
  const ofJob = Object.entries(all).filter(([name]) => !SINGLE_TASK_FIELDS.has(name) && !SHARED.has(name));
  const tasks = Object.keys(all).filter((name) => name.endsWith("_task"));
  const single = tasks.flatMap((task): readonly (readonly [string, Values])[] => [
    [task, Object.fromEntries([...ofJob, ...ofTask(task)])],
    ...(all.tasks === undefined
      ? []
      : [
          [
            `tasks with one ${task}`,
            Object.fromEntries([...ofJob, ["tasks", { t: Object.fromEntries(ofTask(task)) }]]),
          ] as const,
        ]),
  ]);
  const several = Object.fromEntries(Object.entries(all).filter(([name]) => !SINGLE_TASK_FIELDS.has(name)));
  return all.tasks === undefined ? single : [...single, ["all fields of tasks", several]];
}

/** What a job with a single task cannot have. */
const SHARED = new Set(["tasks", "task_key", "job_clusters", "environments", "git_source"]);

const NAME = "n";

const KEY = new Uint8Array(32);

/** The job with a second task. */
function inTasks(values: Values): Values {
  if (values.tasks !== undefined) return values;
  return {
    ...omit(values, [...SINGLE_TASK_FIELDS]),
    tasks: { x: pick(values, [...SINGLE_TASK_FIELDS]), y: {} },
  };
}

/** The job with its first task alone. */
function inOneTask({ tasks, ...values }: Values): Values {
  const [first] = Object.values(objectIn(tasks));
  return tasks === undefined ? values : { ...values, ...pick(objectIn(first), [...SINGLE_TASK_FIELDS]) };
}

const inRun = (values: Values): Values => ({
  tasks: [{ task_key: "t", cluster_spec: values, task: values }],
  metadata: {
    job_clusters: mapsToLists(inTasks(values)).job_clusters ?? [],
    tasks: mapsToLists(inTasks(values)).tasks ?? [],
  },
});

/** The paths at which two values have different numbers, strings, or booleans. */
const differing = (a: Json, b: Json): readonly Path[] =>
  scalarPaths(a).filter((path) => {
    const [one, other] = [valueAt(a, path), valueAt(b, path)];
    return other !== undefined && typeof other !== "object" && one !== other;
  });

describe.each(
  sampleFrom(
    DIALECTS.flatMap(([dialect, { kinds }]) =>
      kinds
        // The clusters of a job have the fields of clusters.
        .filter(({ kind }) => kind !== "jobs" || dialect === "contract" || dialect === "azure")
        .map((kind) => [dialect, kind.kind, kind] as const),
    ),
  ),
)("%s: a sensitive value in a field of %s", (_dialect, _kind, provider) => {
  test.each(formsOf(provider))(
    "is hidden where it is compared, recorded, and answered: %s",
    (_, values) => {
      const address = addressOf(provider.kind, NAME);
      const missing: string[] = [];
      let tried = 0;
      const leaves = leavesIn(values, { properties: provider.fields }, []);
      for (const { path, schema } of leaves) {
        const [before, after] = [false, true].map((second) =>
          withValueAt(values, path, scalarOf(schema, second)),
        ) as [Values, Values];
        const [form, other] = [before, after].map((each) => declaredForm(provider, NAME, each)) as [
          Values,
          Values,
        ];
        const declared = sensitiveValuesOf({ key: KEY, lineage: "l" });
        declared.declare(address, before, [path], () => form);
        const stored = declared.conceal(address, form, "stored");
        const recorded = sensitiveValuesOf({ key: KEY, lineage: "l" });
        recorded.record(address, stored);
        const check = (what: string, [a, b]: readonly [Json, Json], hidden: Json): void => {
          for (const place of differing(a, b)) {
            tried += 1;
            const value = valueAt(hidden, place);
            if (value !== SENSITIVE_TEXT && !hasDigest(value))
              missing.push(`${toDottedPath(path)}: ${what} ${toDottedPath(place)}`);
          }
        };
        check("stored", [form, other], stored);
        check("shown", [form, other], declared.conceal(address, form, "shown"));
        check("recorded", [form, other], recorded.conceal(address, form, "shown"));
        for (const change of provider.kind === "jobs" ? [inTasks, inOneTask] : []) {
          const moved = [change(form), change(other)] as const;
          check("live", moved, recorded.conceal(address, moved[0], "shown"));
          check("declared elsewhere", moved, declared.conceal(address, moved[0], "stored"));
        }
        if (provider.kind !== "jobs" && provider.kind !== "clusters") continue;
        for (const change of [(all: Values) => all, mapsToLists, inRun]) {
          const answers = [change(form), change(other)] as const;
          check("answered", answers, recorded.maskedAnswer(address, answers[0]));
        }
      }
      expect(missing).toEqual([]);
      expect(tried > 0).toBe(leaves.length > 0);
    },
    120_000,
  );
});
