// Who uses an object by its ID: named when a plan removes the object, and counted as harmed.

import { describe, expect, test } from "vitest";
import { usedIds } from "../../../src/api/contract/used-ids.ts";
import { registry } from "../../../src/providers/index.ts";
import type { FieldSchema } from "../../../src/resource/field-schema.ts";
import { liveObject, lookAt, planned } from "../workspace.ts";

const ARN = "arn:aws:iam::123456789012:instance-profile/etl";

interface Removed {
  readonly kind: string;
  readonly id: string;
  /** What a cluster has of it. */
  readonly cluster?: object;
  /** What a task has of it. */
  readonly task: object;
  readonly says: readonly string[];
  readonly harms: readonly string[];
}

const REMOVED: readonly Removed[] = [
  {
    kind: "cluster_policies",
    id: "policy-1",
    cluster: { policy_id: "policy-1" },
    task: { new_cluster: { policy_id: "policy-1" } },
    says: [
      "clusters with this policy keep running and cannot be edited: shared",
      "jobs cannot create their clusters with this policy: own cluster, of a task and of others",
    ],
    harms: [
      ...["cluster shared", "job own cluster", "job of a task", "job of others"].map(
        (user) => `${user} loses its policy`,
      ),
    ],
  },
  {
    kind: "instance_profiles",
    id: ARN,
    cluster: { aws_attributes: { instance_profile_arn: ARN } },
    task: { new_cluster: { aws_attributes: { instance_profile_arn: ARN } } },
    says: [
      "clusters with this profile can no longer start: shared",
      "jobs cannot create their clusters with this profile: own cluster, of a task and of others",
    ],
    harms: [
      ...["cluster shared", "job own cluster", "job of a task", "job of others"].map(
        (user) => `${user} loses its instance profile`,
      ),
    ],
  },
  {
    kind: "jobs",
    id: "12",
    task: { run_job_task: { job_id: "12" } },
    says: ["jobs that run it: own cluster, of a task and of others"],
    harms: ["own cluster", "of a task", "of others"].map((job) => `the job ${job} loses a job that it runs`),
  },
  {
    kind: "clusters",
    id: "c-1",
    task: { existing_cluster_id: "c-1" },
    says: ["jobs that run on it: own cluster, of a task and of others"],
    harms: ["own cluster", "of a task", "of others"].map((job) => `the job ${job} loses its cluster`),
  },
];

describe.each(REMOVED)("the removal of an object of $kind", ({ kind, id, cluster, task, says, harms }) => {
  const provider = registry.get(kind);
  const removed = liveObject(kind === "instance_profiles" ? ARN : "it", {}, {}, id);
  const jobs = [
    liveObject("own cluster", task as never),
    liveObject("of a task", { tasks: { t: task } } as never),
    liveObject("of others", {}, { used_ids: ["other", id] }),
    liveObject("elsewhere", { tasks: { t: { existing_cluster_id: "c-2" } } }, { used_ids: ["other"] }),
    liveObject("deleted", task as never),
  ];
  const clusters = [liveObject("shared", (cluster ?? {}) as never), liveObject("plain", {})];
  const workspace = lookAt({ live: { jobs, clusters }, goes: ["jobs.deleted"], activeRuns: [] });

  test("names its clusters and jobs, except deleted ones", () => {
    const sentences = provider.planning.consequences?.(planned(provider, "delete", removed), workspace);
    expect(sentences).toEqual(expect.arrayContaining([...says]));
    expect(sentences?.join("\n")).not.toMatch(/elsewhere|deleted|plain/);
  });

  test("harms each of them", () => {
    expect(provider.planning.harms?.(planned(provider, "delete", removed), workspace)).toEqual(harms);
  });
});

test.each(["clusters", "jobs"])("a replacement of %s names the jobs that keep the old ID", (kind) => {
  const provider = registry.get(kind);
  const user = liveObject("outside", {
    tasks: { t: { existing_cluster_id: "1", run_job_task: { job_id: "1" } } },
  });
  const change = planned(provider, "replace", liveObject("it", {}, {}, "1"), {});
  const workspace = lookAt({ live: { jobs: [user] }, activeRuns: [] });
  expect(provider.planning.consequences?.(change, workspace)).toContain(
    kind === "jobs" ? "jobs that run it: outside" : "jobs that run on it: outside",
  );
});

/** Fields that refer to objects of a kind, with their names. */
function referring(name: string, field: FieldSchema): readonly (readonly [string, string])[] {
  const inner = [
    ...Object.entries(field.properties ?? {}),
    ...[field.items, field.additionalProperties].flatMap((part) =>
      typeof part === "object" ? [[name, part] as const] : [],
    ),
  ].flatMap(([member, part]) => referring(member, part));
  return field.refersTo === undefined ? inner : [[name, field.refersTo], ...inner];
}

test("the fields of clusters and jobs that refer to an object by its ID are known, except those of notification destinations", () => {
  const fields = ["clusters", "jobs"].flatMap((kind) =>
    Object.entries(registry.get(kind).fields).flatMap(([name, field]) => referring(name, field)),
  );
  const unknown = fields.filter(([name]) => usedIds({ [name]: "1" }).length === 0);
  expect(fields.length).toBeGreaterThan(10);
  expect(new Set(unknown.map(([, kind]) => kind))).toEqual(new Set(["notification_destinations"]));
  for (const [, kind] of fields)
    if (kind !== "notification_destinations" && kind !== "jobs")
      expect(registry.get(kind).usedBy, kind).toContain("jobs");
});
