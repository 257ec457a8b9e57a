// The law of replacement: an immutable field is an error or a replacement, as the policy says, and a name changes in place or replaces, for
// every kind of the registry in every dialect and cloud.

import { describe, expect, onTestFinished, test } from "vitest";
import type { HttpRequest, HttpResponse } from "../../src/api/http/transport.ts";
import { canonicalJson } from "../../src/core/digest.ts";
import { toDottedPath } from "../../src/core/pointer.ts";
import { registry } from "../../src/providers/index.ts";
import { CONTRACT_FIELDS, registryIn } from "../../src/resource/dialect-view.ts";
import type { FieldDialect } from "../../src/resource/field-schema.ts";
import type { Provider } from "../../src/resource/kind.ts";
import { apiError } from "../api/answers.ts";
import { doing, results, type Send, Site } from "../engine/site.ts";

const DIALECTS: Readonly<Record<string, FieldDialect>> = {
  contract: CONTRACT_FIELDS,
  azure: { dialect: "databricks", cloud: "azure" },
  aws: { dialect: "databricks", cloud: "aws" },
  gcp: { dialect: "databricks", cloud: "gcp" },
};

/** A field of the object that has the key `it`, with two values, and what else the specs declare. */
interface Pair {
  readonly values: readonly [before: string, after: string];
  /** Other fields of the object. */
  readonly fields?: string;
  /** Other fields in the dialect of Databricks alone. */
  readonly databricks?: string;
  /** The key of the object in the spec, where it is its name. */
  readonly key?: string;
  readonly others?: string;
  /** The only cloud of the values. */
  readonly cloud?: "azure";
}

const CLUSTER = "spark_version: 6.4.x-scala2.11, num_workers: 1";
const PEOPLE = "users: { ada@example.com: {} }\ngroups: { data: {} }\n";

/** A pool with an access list, and a cluster that names it. */
const pool = (values: Pair["values"], fields = "node_type_id: Standard_DS3_v2"): Pair => ({
  values,
  fields,
  databricks: "access: { data: CAN_ATTACH_TO }",
  others: `groups: { data: {} }\nclusters: { etl: { ${CLUSTER}, instance_pool_id: "\${pools.it.instance_pool_id}" } }\n`,
});

const vault = (name: string) => `{ resource_id: /vaults/${name}, dns_name: "https://${name}.example.com/" }`;
const SCOPE = 'acls: { data: READ }, secrets: { token: { env: "TOKEN" } }';
const scope = (values: Pair["values"], fields = ""): Pair => ({ values, fields, others: PEOPLE });
/** The value of a field that a spec leaves out. */
const NONE = "none";
const arn = (name: string) => `"arn:aws:iam::123456789012:instance-profile/${name}"`;
const JOB = `new_cluster: { ${CLUSTER}, node_type_id: Standard_DS3_v2 }, notebook_task: { notebook_path: /n }`;

const PAIRS: Readonly<Record<string, Pair>> = {
  "users.userName": {
    values: ["ada@example.com", "bo@example.com"],
    others: "groups: { data: { members: { users: [ada@example.com] } } }\n",
  },
  "groups.displayName": { values: ["data", "analysts"], others: "users: { ada@example.com: {} }\n" },
  "service_principals.displayName": { values: ["deployer", "robot"] },
  "service_principals.applicationId": {
    values: ["11111111-2222-3333-4444-555555555555", "22222222-2222-3333-4444-555555555555"],
    fields: "entitlements: [allow-cluster-create]",
  },
  "scopes.initial_manage_principal": scope([NONE, "users"], SCOPE),
  "scopes.backend_type": {
    ...scope(["PLATFORM", `CLOUD_KEYVAULT, keyvault_metadata: ${vault("one")}`]),
    cloud: "azure",
  },
  "scopes.keyvault_metadata": scope([vault("one"), vault("two")], "backend_type: CLOUD_KEYVAULT"),
  "pools.instance_pool_name": pool(["warm", "hot"]),
  "pools.node_type_id": pool(["Standard_DS3_v2", "Standard_DS4_v2"], ""),
  "pools.enable_elastic_disk": pool(["true", "false"]),
  "pools.disk_spec": pool(["{ disk_count: 1, disk_size: 10 }", "{ disk_count: 1, disk_size: 20 }"]),
  "pools.preloaded_spark_versions": pool(["[6.4.x-scala2.11]", "[]"]),
  "pools.custom_tags": pool(["{ team: data }", "{ team: ops }"]),
  "pools.azure_attributes": pool(["{ availability: ON_DEMAND_AZURE }", "{ availability: SPOT_AZURE }"]),
  "pools.aws_attributes": pool(["{ availability: ON_DEMAND }", "{ availability: SPOT }"]),
  "pools.gcp_attributes": pool(["{ local_ssd_count: 1 }", "{ local_ssd_count: 2 }"]),
  "clusters.cluster_name": { values: ["etl", "ops"], fields: `${CLUSTER}, node_type_id: Standard_DS3_v2` },
  "jobs.name": { values: ["nightly", "daily"], fields: JOB },
  "cluster_policies.name": { values: ["small", "large"], fields: "definition: {}" },
  "warehouses.name": { values: ["queries", "reports"], fields: "cluster_size: Small" },
  "git_credentials.git_provider": { values: ["gitHub", "gitLab"], fields: "git_username: ada" },
  "global_init_scripts.name": { values: ["proxy", "certificates"], fields: "script: echo" },
  "ip_access_lists.label": {
    values: ["office", "vpn"],
    fields: "list_type: BLOCK, ip_addresses: [192.0.2.0/24]",
  },
  "instance_profiles.instance_profile_arn": { values: [arn("one"), arn("two")] },
  "instance_profiles.is_meta_instance_profile": {
    values: ["false", "true"],
    fields: `instance_profile_arn: ${arn("one")}`,
  },
  "notification_destinations.display_name": {
    values: ["on-call", "team"],
    fields: "destination_type: EMAIL, addresses: [ada@example.com]",
  },
  "notification_destinations.destination_type": {
    values: ["EMAIL, addresses: [ada@example.com]", 'PAGERDUTY, integration_key: "${var.key}"'],
    others: `variables: { key: { type: string, sensitive: true, default: canary-key } }
jobs: { j: { ${JOB}, webhook_notifications: { on_failure: [{ id: "\${notification_destinations.it.id}" }] } } }\n`,
  },
  "repos.url": {
    key: "/Repos/data/etl",
    values: ["https://github.com/example/one", "https://github.com/example/two"],
    fields: "provider: gitHub, access: { data: CAN_RUN }",
    others: "groups: { data: {} }\n",
  },
  "repos.provider": {
    key: "/Repos/data/etl",
    values: ["gitHub", "gitLab"],
    fields: "url: https://example.com/one",
  },
  "repos.sparse_checkout": {
    key: "/Repos/data/etl",
    values: [NONE, "{ patterns: [src] }"],
    fields: "url: https://example.com/one, provider: gitHub",
  },
};

/** The fields that the law is about: those that replace an object, and names. */
const fieldsOf = ({ nameField, fields }: Provider): readonly string[] =>
  Object.keys(fields).filter((name) => name === nameField || fields[name]?.onChange === "replace");

const specOf = (
  { kind, nameField }: Provider,
  field: string,
  pair: Pair,
  value: string,
  { dialect }: FieldDialect,
): string => {
  const isDatabricks = dialect === "databricks";
  const fields = [
    ...(value === NONE ? [] : [`${field}: ${value}`]),
    ...[pair.fields, isDatabricks ? pair.databricks : undefined].filter(
      (text) => text !== undefined && text !== "",
    ),
  ];
  const { others = "", key = "it" } = pair;
  return `${field === nameField ? others.replaceAll(pair.values[0], value) : others}${kind}: { ${key}: { ${fields.join(", ")} } }\n`;
};

const policy = (onChange: string): string =>
  `policy: { max_deletes: 100%, on_immutable_change: ${onChange} }\n`;

async function start(dialect: FieldDialect): Promise<Site> {
  const site = await Site.start(dialect.dialect === "contract" ? undefined : dialect.cloud);
  onTestFinished(() => site.close());
  site.env = { TOKEN: "canary-token" };
  return site;
}

async function apply(site: Site, yaml: string): Promise<void> {
  const { outcome } = await site.drive(site.process().apply(await site.spec(yaml)));
  expect(outcome.diagnostics).toEqual([]);
  expect(results(outcome).filter((result) => !result.startsWith("applied "))).toEqual([]);
}

/** The live objects by kind and name, with the values of the kind. */
async function world(site: Site, spec: string, kind: string): Promise<string> {
  const { live } = await site.drive(site.process().look(await site.spec(spec), await site.state()));
  return canonicalJson(
    [...live].map(([of, found]) => [
      of,
      found.readable
        ? found.objects.map(({ name, values }) => (of === kind ? [name, values] : [name])).sort()
        : "unreadable",
    ]) as never,
  );
}

/** Whether a field is to be tried in a dialect: on other clouds than Azure, only what no other has. */
const isTriedIn = ({ cloud, dialect }: FieldDialect, provider: Provider, field: string): boolean =>
  dialect === "contract" || cloud === "azure" || (provider.cloud ?? provider.fields[field]?.cloud) === cloud;

for (const [where, dialect] of Object.entries(DIALECTS)) {
  const cases = registryIn(registry, dialect).kinds.flatMap((provider) =>
    fieldsOf(provider)
      .filter((field) => isTriedIn(dialect, provider, field))
      .map((field) => [`${provider.kind}.${field}`, provider, field] as const)
      .filter(([name]) => (PAIRS[name]?.cloud ?? dialect.cloud) === dialect.cloud),
  );

  describe.each(cases)(`${where}: %s`, (name, provider, field) => {
    const pair = PAIRS[name] as Pair;
    const [first, second] = (pair?.values ?? []).map((value) =>
      specOf(provider, field, pair, value, dialect),
    ) as [string, string];
    const address = `${provider.kind}.${pair?.key ?? "it"}`;
    const replaces = provider.fields[field]?.onChange === "replace";

    test.runIf(replaces)("is an error that names the field, and nothing is written", async () => {
      const site = await start(dialect);
      await apply(site, policy("error") + first);
      const before = site.writes.length;
      const spec = await site.spec(policy("error") + second);
      const plan = await site.drive(site.process().plan(spec));
      expect(plan.diagnostics.map(({ code, address: at }) => [code, at])).toContainEqual([
        "PLAN_IMMUTABLE",
        address,
      ]);
      const [error] = plan.diagnostics.filter(({ code }) => code === "PLAN_IMMUTABLE");
      expect(error?.message).toContain(field);
      await expect(site.drive(site.process().apply(spec))).rejects.toThrow();
      expect(site.writes.slice(before)).toEqual([]);
    });

    test("has the new value after one apply, in the object that is recorded, and nothing is left", async () => {
      const site = await start(dialect);
      await apply(site, policy("replace") + first);
      const id = (await site.state()).records.get(address as never)?.id;
      const plan = await site.drive(site.process().plan(await site.spec(policy("replace") + second)));
      const change = plan.changes.find((one) => one.address === address);
      expect(change?.action).toBe(replaces ? "replace" : "update");
      if (change?.action === "replace")
        expect(change.because.map(({ path }) => toDottedPath(path).split(".")[0])).toContain(field);
      await apply(site, policy("replace") + second);
      await site.world.advance(600_000);
      const after = await site.drive(site.process().plan(await site.spec(policy("replace") + second)));
      expect([doing(after), after.drift]).toEqual([[], []]);
      const state = await site.state();
      const record = state.records.get(address as never);
      expect([record?.status, record?.deposed ?? []]).toEqual(["ready", []]);
      const hasNewId = replaces && (record?.id !== record?.name || field === provider.nameField);
      expect(record?.id === id).toBe(!hasNewId);
      const fresh = await start(dialect);
      await apply(fresh, policy("replace") + second);
      await fresh.world.advance(600_000);
      const spec = policy("replace") + second;
      expect(await world(site, spec, provider.kind)).toBe(await world(fresh, spec, provider.kind));
    });

    test.runIf(replaces)(
      "leaves sound plans when the old object cannot be deleted, and it is deleted later",
      async () => {
        const site = await start(dialect);
        await apply(site, policy("replace") + first);
        const refusing = async (request: HttpRequest, send: Send): Promise<HttpResponse> =>
          request.method === "DELETE" || /delete/.test(request.path)
            ? apiError(400, "INVALID_STATE", "in use")
            : send(request);
        const spec = await site.spec(policy("replace") + second);
        await site.drive(site.process({ transport: refusing }).apply(spec));
        for (const next of [second, first]) {
          const plan = await site.drive(site.process().plan(await site.spec(policy("replace") + next)));
          expect(plan.diagnostics.filter(({ code }) => code === "PLAN_UNSOUND")).toEqual([]);
        }
        await apply(site, policy("replace") + second);
        await site.world.advance(600_000);
        expect(doing(await site.drive(site.process().plan(spec)))).toEqual([]);
        const record = (await site.state()).records.get(address as never);
        expect([record?.status, record?.deposed ?? []]).toEqual(["ready", []]);
      },
    );
  });

  test(`${where}: every field that replaces an object, and every name, has a case`, () => {
    expect(cases.map(([name]) => name).filter((name) => PAIRS[name] === undefined)).toEqual([]);
  });
}
