// Conversions of Terraform states: refused input, reasons for omissions, and secrets.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { toDottedPath } from "../../../src/core/pointer.ts";
import { registry } from "../../../src/providers/index.ts";
import { yamlText } from "../../../src/report/text/yaml.ts";
import { registryIn } from "../../../src/resource/dialect-view.ts";
import { loadSpec } from "../../../src/spec/load-spec.ts";
import { cloudOf, convertTerraform } from "../../../src/workflow/convert/convert.ts";
import { TERRAFORM_LIMITS, terraformState } from "../../../src/workflow/convert/terraform-state.ts";
import { thrownMessage } from "../../failures.ts";
import { sampleFrom } from "../../sample-size.ts";

function converted(text: string, folder = tmpdir()) {
  const state = terraformState(text, "state");
  const found = convertTerraform(state, cloudOf(state.instances), { configuration: folder, spec: folder });
  return { ...found, yaml: yamlText(found.document, []) };
}

const refusal = (text: string) => thrownMessage(() => terraformState(text, "state"));

const stateWith = (resources: unknown) =>
  JSON.stringify({ version: 4, terraform_version: "1.5.7", resources });
const one = (type: string, attributes: object, more: object = {}) => ({
  mode: "managed",
  type,
  name: "x",
  instances: [{ attributes, ...more }],
});
const leftReasons = (text: string) => converted(text).log.resources.map(({ reason }) => reason);

describe("a state", () => {
  test.each([
    [
      "of another version",
      '{"version":3,"terraform_version":"0.11"}',
      /version: the version of the state is 3/,
    ],
    ["that is another document", '{"hello":1}', /neither a Terraform state nor/],
    ["that is a list", "[]", /not an object/],
    ["that is encrypted", '{"version":4,"encrypted_data":"x"}', /encrypted/],
    ["of a later format", '{"format_version":"2.0"}', /format version is "2.0"/],
    [
      "whose resources are no list",
      '{"version":4,"terraform_version":"1","resources":{}}',
      /resources: a list/,
    ],
    [
      "whose resource has no type",
      stateWith([{ mode: "managed", name: "x" }]),
      /resources\[0\]\.type: a string/,
    ],
    ["that is nested too deep", `${"[".repeat(300)}${"]".repeat(300)}`, /nested deeper than 128/],
  ])("%s is refused, with the place", (_what, text, expected) => {
    expect(refusal(text)).toMatch(expected);
  });

  test("that is not JSON is refused without a part of its text, which may be a secret", () => {
    const message = refusal('{"version": 4,\n "password": canary-of-json }');
    expect(message).toMatch(/not valid JSON: line 2, column 14/);
    expect(message).not.toContain("canary");
  });

  test("with more instances than the limit is refused", () => {
    const instances = Array.from({ length: TERRAFORM_LIMITS.instances + 1 }, () => ({}));
    expect(refusal(stateWith([{ mode: "managed", type: "t", name: "n", instances }]))).toMatch(
      /more than 100,000 resources/,
    );
  });

  test("with keys of prototypes gives no object and changes none", () => {
    const text = stateWith([
      one("constructor", {}),
      one("databricks_cluster", { id: "1", cluster_name: "c" }),
    ]).replace('"cluster_name"', '"__proto__":{"polluted":true},"constructor":{"x":1},"cluster_name"');
    const { log, yaml } = converted(text);
    expect(log.resources.map(({ reason }) => reason)).toEqual(["it belongs to another provider"]);
    expect(log.attributes.map(({ attribute }) => toDottedPath(attribute))).toEqual([
      "__proto__",
      "constructor",
    ]);
    expect(yaml).not.toContain("polluted");
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });
});

test("an object with a key that no spec can contain has a reason, and so have the entries of its list", () => {
  const named = (name: string, resource: object) => ({ ...resource, name });
  const scope = one("databricks_secret_scope", { id: "etl", name: "etl" });
  const acl = (principal: string) =>
    one("databricks_secret_acl", { id: `etl|||${principal}`, scope: "etl", principal, permission: "READ" });
  const cluster = one("databricks_cluster", {
    ...{ id: "c1", cluster_id: "c1", cluster_name: "adhoc", spark_version: "6.4.x-scala2.11" },
    ...{ num_workers: 1, node_type_id: "Standard_DS3_v2", spark_conf: { KEY: "x" } },
  });
  const resources = [scope, named("a", acl("KEY")), named("b", acl("data-eng")), named("c", cluster)];
  const { log, converted: written } = converted(stateWith(resources).replaceAll("KEY", "__proto__"));
  expect(log.resources.map(({ terraform, reason }) => `${terraform}: ${reason}`)).toEqual([
    "databricks_secret_acl.a: a spec cannot contain the key __proto__",
    "databricks_secret_acl.b: a spec with only a part of this list would delete the rest",
    "databricks_cluster.c: a spec cannot contain the key __proto__",
  ]);
  expect(written.map(({ address }) => address)).toEqual(["scopes.etl"]);
});

describe("the fixture of everything that is left out", () => {
  const text = readFileSync("test/workflow/convert/left-out.tfstate.json", "utf8");

  test("has a reason for each resource, and the place in the document", () => {
    const found = converted(text);
    expect(
      found.log.resources.map(({ terraform, reason, at }) => `${terraform} ${toDottedPath(at)}: ${reason}`),
    ).toMatchInlineSnapshot(`
      [
        "databricks_group_member.members["unknown"] resources[3].instances[2]: the state does not contain the name of the member",
        "databricks_secret_acl.other resources[8].instances[0]: the secret scope "other" is not in the state",
        "module.compute["eu"].databricks_instance_pool.shared[1] resources[9].instances[1]: it is deposed: Terraform replaced it and did not delete it yet",
        "databricks_notebook.nightly resources[13].instances[0]: its source "./nightly.py" does not exist; to convert it, run \`workspace export --only notebooks./Shared/nightly --out FOLDER\`",
        "databricks_notebook.outside resources[14].instances[0]: its source "../../etc/passwd" is outside the folder of the Terraform configuration; to convert it, run \`workspace export --only notebooks./Shared/outside --out FOLDER\`",
        "azurerm_resource_group.main resources[16].instances[0]: it belongs to another provider",
      ]
    `);
    expect(found.converted.length).toBeGreaterThan(5);
  });

  test("loses no attribute in silence", () => {
    const { log } = converted(text);
    expect(
      log.attributes.map(({ terraform, attribute }) => `${terraform} ${toDottedPath(attribute)}`),
    ).toEqual([
      "databricks_group.eng external_id",
      'module.compute["eu"].databricks_instance_pool.shared[0] preloaded_docker_image',
      "databricks_cluster.adhoc spark_env_vars.API_TOKEN",
    ]);
  });

  test("gives a spec and a report without any of its secrets", () => {
    const { yaml, log, variables } = converted(text);
    expect(text.match(/canary-\w+/g)?.length).toBe(4);
    expect(yaml + JSON.stringify(log)).not.toContain("canary");
    expect(variables).toEqual(["ETL_DB_PASSWORD"]);
  });
});

test("a state of Terraform 1.5.7 and provider 1.128.0 becomes a spec of all that a spec can have", async () => {
  const folder = mkdtempSync(join(tmpdir(), "convert-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "etl.py"), 'print("hi")\n');
  const text = readFileSync("test/workflow/convert/by-terraform.tfstate.json", "utf8");
  const { log, yaml, files } = converted(text, folder);
  await expect(yaml).toMatchFileSnapshot("by-terraform.yaml");
  expect(files.map(({ path }) => path)).toEqual([
    "notebooks/Shared/team/inline.sql",
    "notebooks/Shared/team/nb.ipynb",
    "files/libs/init.sh",
  ]);
  expect(log.resources).toEqual([]);
  expect(log.attributes).toEqual([]);
});

test("a state of 60 resources that Terraform 1.11.4 and provider 1.128.0 wrote loses only what the service does not return", async () => {
  const folder = mkdtempSync(join(tmpdir(), "convert-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "files"));
  for (const name of ["ingest.py", "countries.csv"]) writeFileSync(join(folder, "files", name), "1\n");
  writeFileSync(join(folder, "files", "explore.ipynb"), '{"cells":[],"metadata":{},"nbformat":4}');
  const text = readFileSync("test/workflow/convert/whole-workspace.tfstate.json", "utf8");
  const { log, yaml, resources } = converted(text, folder);
  await expect(yaml).toMatchFileSnapshot("whole-workspace.yaml");
  expect(resources).toBe(60);
  expect(log.resources).toEqual([]);
  expect(log.attributes.map(({ terraform, attribute }) => `${terraform} ${toDottedPath(attribute)}`)).toEqual(
    [
      "databricks_git_credential.hub personal_access_token",
      "databricks_notification_destination.hook config[0].generic_webhook[0].password",
      "databricks_notification_destination.hook config[0].generic_webhook[0].url",
      "databricks_notification_destination.hook config[0].generic_webhook[0].username",
    ],
  );
  expect(yaml + JSON.stringify(log)).not.toContain("canary");
});

test("a cluster policy whose other attributes are null is converted, and keeps zero and false in its rules", () => {
  const policy = {
    ...{ id: "P1", policy_id: "P1", name: "small", description: null, policy_family_id: null },
    definition:
      '{"num_workers":{"type":"range","minValue":0},"enable_elastic_disk":{"type":"fixed","value":false}}',
  };
  const { log, yaml } = converted(stateWith([one("databricks_cluster_policy", policy)]));
  expect(yaml).toContain("num_workers: { type: range, minValue: 0 }\n");
  expect(yaml).toContain("enable_elastic_disk: { type: fixed, value: false }\n");
  expect(log.resources).toEqual([]);
});

test("values that Terraform manages are in the spec, also those that a spec usually leaves out", () => {
  const task = {
    ...{ task_key: "load", existing_cluster_id: "c", new_cluster: [] },
    notebook_task: [{ notebook_path: "/x", warehouse_id: "" }],
  };
  const access_control = [{ user_name: "ada@example.com", permission_level: "IS_OWNER" }];
  const { log, yaml } = converted(
    stateWith([
      one("databricks_job", { id: "7", name: "etl", task: [task], queue: [{ enabled: false }] }),
      one("databricks_permissions", { id: "/jobs/7", object_type: "job", access_control }),
      one("databricks_instance_pool", {
        ...{ id: "p1", instance_pool_name: "p", node_type_id: "n", min_idle_instances: 0 },
        idle_instance_autotermination_minutes: 0,
      }),
      one("databricks_cluster", {
        ...{ id: "c1", cluster_name: "c", spark_version: "15.4.x-scala2.12", node_type_id: "n" },
        autoscale: [{ min_workers: 0, max_workers: 4 }],
      }),
      one("databricks_sql_endpoint", { id: "w1", name: "w", enable_serverless_compute: false }),
      one("databricks_secret_scope", { id: "s", name: "s", initial_manage_principal: "users" }),
      one("databricks_repo", { id: "8", path: "/Repos/x/r", url: "u", git_provider: "gitHub", tag: "v1" }),
    ]),
  );
  expect(yaml).toContain("  p: { node_type_id: n, idle_instance_autotermination_minutes: 0 }\n");
  expect(yaml).toContain("autoscale: { min_workers: 0, max_workers: 4 }");
  expect(yaml).toContain("enable_serverless_compute: false");
  expect(yaml).toContain("  s: { initial_manage_principal: users }\n");
  expect(yaml).toContain("  /Repos/x/r: { url: u, provider: gitHub, tag: v1 }\n");
  expect(yaml).toContain("    task_key: load\n");
  expect(yaml).toContain("    queue: { enabled: false }\n");
  expect(yaml).toContain("    owner: ada@example.com\n");
  expect(log.attributes).toEqual([]);
});

test("settings of the provider are not reported, and an unset field of a job's cluster is not in the spec", () => {
  const new_cluster = { spark_version: "6.4.x-scala2.11", num_workers: 1, enable_elastic_disk: false };
  const task = { task_key: "main", new_cluster: [new_cluster], spark_jar_task: [{ main_class_name: "A" }] };
  const provider_config = [{ workspace_id: "1" }];
  const { log, yaml } = converted(
    stateWith([one("databricks_job", { id: "7", name: "jar", task: [task], provider_config })]),
  );
  expect(log.attributes).toEqual([]);
  expect(yaml).toContain("num_workers: 1");
  expect(yaml).not.toContain("enable_elastic_disk");
});

test.each([
  ["UNPAUSED", { pause_status: "", task_retry_mode: "" }],
  ["UNPAUSED", {}],
  ["PAUSED", { pause_status: "PAUSED" }],
])("continuous runs are %s in the spec for %j", (status, block) => {
  const task = {
    task_key: "main",
    existing_cluster_id: "c",
    notebook_task: [{ notebook_path: "/a" }],
  };
  const { log, yaml } = converted(
    stateWith([one("databricks_job", { id: "7", name: "j", task: [task], continuous: [block] })]),
  );
  expect(yaml).toContain(`    continuous: { pause_status: ${status} }\n`);
  expect(log.attributes).toEqual([]);
});

test("libraries of a cluster, its own and those that are resources, are one list without duplicates", () => {
  const cluster = one("databricks_cluster", {
    ...{ id: "c1", cluster_id: "c1", cluster_name: "etl", spark_version: "15.4.x-scala2.12", num_workers: 1 },
    library: [{ pypi: [{ package: "six", repo: "" }], jar: "", maven: [] }],
  });
  const library = (name: string, attributes: object) => ({
    ...one("databricks_library", { id: "c1/x", cluster_id: "c1", jar: null, ...attributes }),
    name,
  });
  const { log, yaml } = converted(
    stateWith([
      cluster,
      library("again", { pypi: [{ package: "six", repo: "" }] }),
      library("maven", { maven: [{ coordinates: "g:a:1", exclusions: ["x:y"], repo: null }] }),
      library("elsewhere", { cluster_id: "c2", jar: "dbfs:/a.jar" }),
    ]),
  );
  expect(yaml).toContain(
    "    libraries:\n      - { pypi: { package: six } }\n      - { maven: { coordinates: g:a:1, exclusions: [x:y] } }\n",
  );
  expect(log.resources.map(({ terraform, reason }) => `${terraform}: ${reason}`)).toEqual([
    "databricks_library.elsewhere: its cluster is not in the state",
  ]);
  expect(log.attributes).toEqual([]);
  expect(log.notes.map(({ text }) => text)).toEqual([
    "its list of libraries is authoritative: the plan uninstalls libraries that Terraform did not manage",
  ]);
});

test("the access list of tokens, which has no other object, is an authorization", () => {
  const list = one("databricks_permissions", {
    id: "/authorization/tokens",
    object_type: "tokens",
    authorization: "tokens",
    access_control: [
      { group_name: "data", permission_level: "CAN_USE" },
      { group_name: "admins", permission_level: "CAN_MANAGE" },
    ],
  });
  const { log, yaml } = converted(stateWith([list]));
  expect(yaml).toContain("authorizations:\n  tokens: { access: { data: CAN_USE } }\n");
  expect(yaml).toContain("{ to: authorizations.tokens, id: tokens }");
  expect(log.resources).toEqual([]);
});

test("entitlements of users, groups, and service principals are those of the principal", () => {
  const principal = (type: string, attributes: object) => one(type, { id: "7", ...attributes });
  const entitlements = (name: string, attributes: object) => ({
    ...one("databricks_entitlements", { id: `x/${name}`, ...attributes }),
    name,
  });
  const { log, yaml } = converted(
    stateWith([
      principal("databricks_user", { user_name: "ada@example.com" }),
      principal("databricks_group", { display_name: "data" }),
      principal("databricks_service_principal", { display_name: "etl", application_id: "a-1" }),
      entitlements("user", { user_id: "7", workspace_access: true, workspace_consume: false }),
      entitlements("group", { group_id: "7", workspace_consume: true }),
      entitlements("program", {
        service_principal_id: "7",
        allow_cluster_create: true,
        databricks_sql_access: true,
      }),
      entitlements("nobody", { service_principal_id: "8", workspace_access: true }),
    ]),
  );
  expect(yaml).toContain("ada@example.com: { entitlements: [workspace-access] }");
  expect(yaml).toContain("data: { entitlements: [workspace-consume] }");
  expect(yaml).toContain("entitlements: [allow-cluster-create, databricks-sql-access]");
  expect(log.resources.map(({ terraform, reason }) => `${terraform}: ${reason}`)).toEqual([
    "databricks_entitlements.nobody: its user, group, or service principal is not in the state",
  ]);
});

test("an object that two addresses have is converted once", () => {
  const group = one("databricks_group", { id: "1", display_name: "a" });
  expect(leftReasons(stateWith([group, { ...group, name: "again" }]))).toEqual([
    "databricks_group.x is the same object",
  ]);
});

test("objects of one name get keys of their own, the same in any order", () => {
  const jobs = ["9", "10", "8"].map((id) =>
    one("databricks_job", {
      id,
      name: "j",
      existing_cluster_id: "c",
      notebook_task: [{ notebook_path: "/x" }],
    }),
  );
  const { yaml } = converted(stateWith(jobs));
  expect(yaml).toContain('{ to: jobs.j, id: "8" }');
  expect(yaml).toContain('{ to: jobs.j-3, id: "10" }');
  expect(converted(stateWith(jobs.reverse())).yaml).toBe(yaml);
});

test("a content outside the folder of the configuration, or in no folder, is not read", () => {
  const notebook = (source: string) =>
    one("databricks_notebook", { path: `/n${source}`, language: "SQL", format: "SOURCE", source });
  const sources = ["../x.sql", "/etc/passwd", ".git/config", "missing.sql", "a\0b"];
  for (const reason of leftReasons(stateWith(sources.map(notebook))))
    expect(reason).toMatch(/^its source .* (is outside|is private|does not exist)/);
  expect(leftReasons(stateWith(sources.map(notebook)))).toHaveLength(sources.length);
});

test("a source in the folder of the spec is used there, and one whose path is a template is copied", () => {
  const folder = mkdtempSync(join(tmpdir(), "convert-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of ["a.sql", "${var.x}.sql", "b.txt"]) writeFileSync(join(folder, name), "select 1\n");
  const notebooks = ["a.sql", "${var.x}.sql", "b.txt"].map((source) =>
    one("databricks_notebook", { path: `/${source.slice(-5)}`, language: "SQL", source: `./${source}` }),
  );
  const found = convertTerraform(terraformState(stateWith(notebooks), "state"), "azure", {
    configuration: folder,
    spec: folder,
  });
  expect(yamlText(found.document, [])).toContain("{ source: a.sql }");
  expect(found.files.map(({ path }) => path).sort()).toEqual([
    "notebooks/%7D.sql.sql",
    "notebooks/b.txt.sql",
  ]);
});

test("names that escape from paths or lines stay in the folder and in their line", () => {
  const content_base64 = Buffer.from("select 1").toString("base64");
  const notebook = (path: string) =>
    one("databricks_notebook", { path, language: "SQL", format: "SOURCE", content_base64 });
  const { files, yaml } = converted(
    stateWith(["/../../etc/x", "/a/..", "/a\nb: c", "/.git/hooks/x", "/\u001b[31mred"].map(notebook)),
  );
  for (const { path } of files) expect(path).toMatch(/^notebooks\/(?!.*(\.\.|\/\.))[\w %.[/-]+$/);
  expect(files).toHaveLength(5);
  expect(yaml).not.toContain("\u001b");
  expect(yaml).not.toMatch(/^b: c/m);
});

test("10,000 resources are converted within seconds", () => {
  const groups = Array.from({ length: 5_000 }, (_, at) =>
    one("databricks_group", { id: String(at), display_name: `group ${at}` }),
  );
  const members = groups.map((_, at) =>
    one("databricks_group_member", { group_id: "0", member_id: String(at) }),
  );
  const { log, converted: resources } = converted(stateWith([...groups, ...members]));
  expect(resources).toHaveLength(5_000);
  expect(log.resources).toEqual([]);
}, 20_000);

test("a scope whose name has a slash keeps its secrets and ACLs", () => {
  const scope = "team/etl@prod";
  const { yaml, log } = converted(
    stateWith([
      one("databricks_secret_scope", { id: scope, name: scope, initial_manage_principal: "users" }),
      one("databricks_secret", { scope, key: "pw" }),
      one("databricks_secret_acl", { scope, principal: "data", permission: "READ" }),
    ]),
  );
  expect(log.resources).toEqual([]);
  expect(yaml).toContain(
    `team/etl@prod:\n    initial_manage_principal: users\n    acls: { data: READ, users: MANAGE }\n    secrets: { pw:`,
  );
  expect(yaml).toContain("{ to: secrets.team%2Fetl@prod/pw, id: team%2Fetl@prod/pw }");
});

const step = (name: string | number) =>
  typeof name === "number"
    ? { type: "index", value: { value: name, type: "number" } }
    : { type: "get_attr", value: name };

describe("a value that Terraform marks as sensitive", () => {
  const cluster = [
    { spark_version: "x", num_workers: 1, spark_env_vars: { TOKEN: "canary-env", MODE: "a" } },
  ];
  const inCluster = ["new_cluster", 0, "spark_env_vars", "TOKEN"];
  const task = [{ task_key: "t", notebook_task: [{ notebook_path: "/x" }], new_cluster: cluster }];
  const shared = [
    { task_key: "t", notebook_task: [{ notebook_path: "/x" }], job_cluster_key: "k" },
    [{ job_cluster_key: "k", new_cluster: cluster }],
  ] as const;

  test.each([
    ["of a task", { task }, ["task", 0, ...inCluster]],
    ["of a shared cluster", { task: [shared[0]], job_cluster: shared[1] }, ["job_cluster", 0, ...inCluster]],
    ["of the job itself", { notebook_task: [{ notebook_path: "/x" }], new_cluster: cluster }, inCluster],
  ])("%s is not in the spec, in both forms of a state", (_what, attributes, path) => {
    const values = { id: "1", name: "j", ...attributes };
    const stored = one("databricks_job", values, { sensitive_attributes: [path.map(step)] });
    const marked = path.reduceRight<unknown>(
      (inner, key) => (typeof key === "number" ? [inner] : { [key]: inner }),
      true,
    );
    const shown = JSON.stringify({
      format_version: "1.0",
      values: {
        root_module: {
          resources: [
            { address: "a", mode: "managed", type: "databricks_job", values, sensitive_values: marked },
          ],
        },
      },
    });
    for (const text of [stateWith([stored]), shown]) {
      const { yaml, log } = converted(text);
      expect(yaml).toContain("MODE: a");
      expect(yaml).not.toContain("canary");
      expect(log.attributes).toHaveLength(1);
    }
  });

  const library = { pypi: [{ package: "a", repo: "https://u:canary-lib@pypi.test/simple" }] };
  test.each<readonly [string, string, object, readonly (string | number)[]]>([
    [
      "a parameter of the only task",
      "databricks_job",
      {
        id: "1",
        name: "j",
        task: [{ task_key: "t", notebook_task: [{ notebook_path: "/x", base_parameters: { t: "canary" } }] }],
      },
      ["task", 0, "notebook_task", 0, "base_parameters", "t"],
    ],
    [
      "an argument of the only task",
      "databricks_job",
      {
        id: "1",
        name: "j",
        task: [
          { task_key: "t", spark_python_task: [{ python_file: "/x", parameters: ["--token", "canary"] }] },
        ],
      },
      ["task", 0, "spark_python_task", 0, "parameters", 1],
    ],
    ["an address of a library", "databricks_library", { cluster_id: "c", ...library }, ["pypi", 0, "repo"]],
    [
      "a script",
      "databricks_global_init_script",
      { id: "s", name: "s", content_base64: Buffer.from("export A=canary\n").toString("base64") },
      ["content_base64"],
    ],
    [
      "a tag of a warehouse",
      "databricks_sql_endpoint",
      { id: "w", name: "w", cluster_size: "Small", tags: [{ custom_tags: [{ key: "k", value: "canary" }] }] },
      ["tags", 0, "custom_tags", 0, "value"],
    ],
    [
      "a setting",
      "databricks_workspace_conf",
      { id: "_", custom_config: { enableIpAccessLists: "canary" } },
      ["custom_config", "enableIpAccessLists"],
    ],
    [
      "an address of a destination",
      "databricks_notification_destination",
      { id: "n", display_name: "n", config: [{ email: [{ addresses: ["canary@example.com"] }] }] },
      ["config", 0, "email", 0, "addresses"],
    ],
  ])("%s is not in the spec, wherever the conversion puts it", (_what, type, attributes, path) => {
    const cluster = one("databricks_cluster", {
      id: "c",
      cluster_id: "c",
      cluster_name: "c",
      num_workers: 1,
    });
    const marked = one(type, attributes, { sensitive_attributes: [path.map(step)] });
    const { yaml, log } = converted(stateWith([cluster, marked]));
    expect(yaml).not.toContain("canary");
    expect(JSON.stringify(log)).not.toContain("canary");
    expect(log.attributes.map(({ reason }) => reason)).toContainEqual(
      "Terraform marks it as sensitive; set it with a sensitive variable",
    );
  });

  test.each<readonly [string, string, object, readonly (string | number)[], string]>([
    [
      "an access list",
      "databricks_permissions",
      { id: "/jobs/1", access_control: [{ user_name: "canary@example.com", permission_level: "CAN_VIEW" }] },
      ["access_control", 0, "user_name"],
      "Terraform marks a part of it as sensitive",
    ],
    [
      "an IP access list",
      "databricks_ip_access_list",
      { id: "5", label: "canary", list_type: "ALLOW", ip_addresses: ["1.2.3.4"] },
      ["label"],
      "Terraform marks its name as sensitive",
    ],
  ])("leaves %s out whose principal or name it is", (_what, type, attributes, path, reason) => {
    const run = [{ task_key: "t", notebook_task: [{ notebook_path: "/x" }] }];
    const job = one("databricks_job", { id: "1", name: "j", task: run });
    const marked = one(type, attributes, { sensitive_attributes: [path.map(step)] });
    const { yaml, log } = converted(stateWith([job, marked]));
    expect(yaml).not.toContain("canary");
    expect(log.resources.map((left) => left.reason)).toContain(reason);
  });

  test.each<readonly [string, string, object]>([
    [
      "the secret of a service principal",
      "databricks_service_principal_secret",
      { id: "1", secret: "canary-sp-secret", service_principal_id: "5" },
    ],
    [
      "the address of a destination",
      "databricks_notification_destination",
      { id: "n", display_name: "n", config: [{ slack: [{ url: "canary://hooks.test/T1" }] }] },
    ],
    [
      "the password of a destination",
      "databricks_notification_destination",
      {
        id: "n",
        display_name: "n",
        config: [{ generic_webhook: [{ url: "u", password: "canary-password" }] }],
      },
    ],
  ])("is also %s in a state that does not mark it: a copy is not in the spec", (_what, type, attributes) => {
    const text = /canary[^"]*/.exec(JSON.stringify(attributes))?.[0];
    const values = {
      id: "c",
      cluster_id: "c",
      cluster_name: "c",
      num_workers: 1,
      spark_env_vars: { COPY: text },
    };
    const { yaml, log } = converted(stateWith([one("databricks_cluster", values), one(type, attributes)]));
    expect(yaml).toContain('COPY: "${var.');
    expect(yaml).not.toContain("canary");
    expect(JSON.stringify(log)).not.toContain("canary");
  });

  test("is a reason to leave a resource out where it is a name, or all settings", () => {
    const group = one(
      "databricks_group",
      { id: "1", display_name: "canary" },
      { sensitive_attributes: [[step("display_name")]] },
    );
    const job = one(
      "databricks_job",
      { id: "1", name: "j", task },
      { sensitive_attributes: [[step("task")]] },
    );
    const { yaml, log } = converted(stateWith([group, job]));
    expect(yaml).not.toContain("canary");
    expect(log.resources.map(({ reason }) => reason)).toEqual([
      "Terraform marks its name as sensitive",
      "Terraform marks its settings as sensitive",
    ]);
  });
});

interface Leaf {
  readonly path: readonly (string | number)[];
  readonly value: unknown;
}

function leavesOf(value: unknown, path: Leaf["path"] = []): readonly Leaf[] {
  if (value === null || value === "") return [];
  if (typeof value !== "object") return [{ path, value }];
  const members = Array.isArray(value) ? value.entries() : Object.entries(value);
  return [...members].flatMap(([key, member]) => leavesOf(member, [...path, key]));
}

interface StateDocument {
  readonly resources: readonly {
    readonly mode: string;
    readonly type: string;
    readonly instances: readonly { readonly attributes: object; sensitive_attributes?: object }[];
  }[];
}

describe.each(["by-terraform", "whole-workspace"])("a mark on any value of the state %s", (name) => {
  const text = readFileSync(`test/workflow/convert/${name}.tfstate.json`, "utf8");
  const { resources }: StateDocument = JSON.parse(text);
  const all = resources.flatMap(({ mode, type, instances: [{ attributes } = { attributes: {} }] }, at) =>
    mode !== "managed"
      ? []
      : leavesOf(attributes).map((leaf) => ({ at, place: `${type} ${toDottedPath(leaf.path)}`, ...leaf })),
  );
  const places = sampleFrom([
    ...new Map(all.map((leaf) => [leaf.place.replace(/\[\d+\]/g, ""), leaf])).values(),
  ]);
  const plain = converted(text);
  const described = registryIn(registry, { dialect: "databricks", cloud: "azure" });

  test("leaves it out and reports it, and the spec is valid with the variables of the report", async () => {
    const folder = mkdtempSync(join(tmpdir(), "convert-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "workspace.yaml");
    const wrong: string[] = [];
    let references = 0;
    for (const { at, path, value, place } of places) {
      const state: StateDocument = JSON.parse(text);
      const [instance] = state.resources[at]?.instances ?? [];
      if (instance !== undefined) instance.sensitive_attributes = [path.map(step)];
      // The contents are not written: their files do not exist.
      const { yaml, log, sensitiveVariables } = converted(JSON.stringify(state), folder);
      const report = JSON.stringify([log.attributes, log.resources, log.notes, [...log.variables]]);
      if (/[\u{F0000}-\u{10FFFD}]/u.test(yaml + report)) wrong.push(`${place}: a mark is written`);
      if (yaml === plain.yaml) continue;
      const reasons = [...log.attributes, ...log.resources].map(({ reason }) => reason);
      if (!reasons.some((reason) => /sensitive|name of the member/.test(reason)))
        wrong.push(`${place}: ${String(value)} is left out without a reason`);
      references += sensitiveVariables.length;
      if (sensitiveVariables.length === 0) continue;
      writeFileSync(file, yaml);
      const env = Object.fromEntries(sensitiveVariables.map((variable) => [variable, String(value)]));
      const { diagnostics } = await loadSpec({
        ...{ file, cwd: folder, env, registry: described, secrets: "skip" as const, keyed: () => "" },
      });
      for (const { code, message } of diagnostics)
        if (code !== "SPEC_NOT_FOUND") wrong.push(`${place}: ${code} ${message}`);
    }
    expect(wrong).toEqual([]);
    expect(references).toBeGreaterThan(10);
  }, 240_000);

  test("hides each of its copies, if it is in a sensitive output instead", async () => {
    const folder = mkdtempSync(join(tmpdir(), "convert-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "workspace.yaml");
    const wrong: string[] = [];
    for (const { value, place } of places) {
      if (typeof value !== "string" || value.length < 8) continue;
      // Such as `warehouses`: a section of each spec has this name.
      if (registry.kinds.some(({ kind }) => kind === value)) continue;
      const outputs = { pw: { value, type: "string", sensitive: true } };
      const {
        yaml,
        log,
        converted: pairs,
      } = converted(JSON.stringify({ ...JSON.parse(text), outputs }), folder);
      const report = JSON.stringify([log.attributes, log.resources, log.notes, [...log.variables], pairs]);
      if (/[\u{F0000}-\u{10FFFD}]/u.test(yaml + report)) wrong.push(`${place}: a mark is written`);
      if (yaml.includes(value)) wrong.push(`${place}: ${value} is in the spec`);
      if (report.includes(JSON.stringify(value).slice(1, -1)))
        wrong.push(`${place}: ${value} is in the report`);
      writeFileSync(file, yaml);
      const env = Object.fromEntries(
        [...log.variables.keys()].map((name) => [`WORKSPACE_VAR_${name}`, value]),
      );
      const { diagnostics } = await loadSpec({
        ...{ file, cwd: folder, env, registry: described, secrets: "skip" as const, keyed: () => "" },
      });
      for (const { code, message } of diagnostics)
        if (code !== "SPEC_NOT_FOUND") wrong.push(`${place}: ${code} ${message}`);
    }
    expect(wrong).toEqual([]);
  }, 240_000);
});

const marked = (type: string, attributes: object, path: Leaf["path"]) =>
  one(type, attributes, { sensitive_attributes: [path.map(step)] });

test("marked numbers, booleans, and parts of base64 become references of their types, with a variable each", () => {
  const cluster = { id: "c1", cluster_name: "etl", spark_version: "15.4.x-scala2.12", num_workers: 7 };
  const script = { id: "s", name: "s", content_base64: Buffer.from("pin").toString("base64") };
  const { yaml, log, sensitiveVariables } = converted(
    stateWith([
      marked("databricks_cluster", { ...cluster, node_type_id: "n" }, ["num_workers"]),
      {
        ...marked(
          "databricks_instance_pool",
          { id: "p", instance_pool_name: "p", node_type_id: "n", enable_elastic_disk: true },
          ["enable_elastic_disk"],
        ),
        name: "p",
      },
      marked("databricks_global_init_script", script, ["content_base64"]),
    ]),
  );
  expect(yaml).toContain("num_workers: ${int(var.cluster_x_num_workers)}");
  expect(yaml).toContain("enable_elastic_disk: ${bool(var.instance_pool_p_enable_elastic_disk)}");
  expect(yaml).toContain('s: { script: "${var.global_init_script_x_script}" }');
  expect(yaml).toContain(
    '  cluster_x_num_workers:\n    type: string\n    sensitive: true\n    description: "databricks_cluster.x: num_workers"\n',
  );
  expect(sensitiveVariables).toEqual([
    "WORKSPACE_VAR_cluster_x_num_workers",
    "WORKSPACE_VAR_instance_pool_p_enable_elastic_disk",
    "WORKSPACE_VAR_global_init_script_x_script",
  ]);
  expect(log.attributes).toHaveLength(3);
});

test("each value of a marked map is a sensitive variable, and the report says that its keys are in the spec", () => {
  const env = { CANARY_KEY: "canary", OTHER: "canary-2", EMPTY: "" };
  const map = { id: "c", cluster_name: "c", num_workers: 1, spark_env_vars: env };
  const { yaml, log, sensitiveVariables } = converted(
    stateWith([marked("databricks_cluster", map, ["spark_env_vars"])]),
  );
  expect(yaml).toContain("CANARY_KEY: ${var.cluster_x_spark_env_vars_CANARY_KEY}");
  expect(yaml).toContain("OTHER: ${var.cluster_x_spark_env_vars_OTHER}");
  expect(yaml + JSON.stringify(log)).not.toMatch(/canary/);
  expect(sensitiveVariables).toEqual([
    "WORKSPACE_VAR_cluster_x_spark_env_vars_CANARY_KEY",
    "WORKSPACE_VAR_cluster_x_spark_env_vars_OTHER",
  ]);
  expect(log.attributes.map(({ attribute, reason }) => `${toDottedPath(attribute)}: ${reason}`)).toEqual(
    ["CANARY_KEY", "OTHER"].map(
      (key) =>
        `spark_env_vars.${key}: Terraform marks the map as sensitive; set the value with a sensitive variable, and check that the key is not sensitive`,
    ),
  );
});

test("a resource with a marked path or reference is left out", () => {
  const job = (more: object) => ({ id: "1", name: "j", ...more });
  const { yaml, log } = converted(
    stateWith([
      marked(
        "databricks_job",
        job({ existing_cluster_id: "canary", notebook_task: [{ notebook_path: "/x" }] }),
        ["existing_cluster_id"],
      ),
      {
        ...marked("databricks_job", job({ id: "2", notebook_task: [{ notebook_path: "/canary" }] }), [
          "notebook_task",
        ]),
        name: "y",
      },
    ]),
  );
  expect(yaml + JSON.stringify(log)).not.toMatch(/canary/i);
  expect(log.resources.map(({ terraform, reason }) => `${terraform}: ${reason}`)).toEqual([
    "databricks_job.x: Terraform marks existing_cluster_id as sensitive; it is a reference",
    "databricks_job.y: Terraform marks notebook_task[0].notebook_path as sensitive; it is the name or path of another object",
  ]);
});

test("a list of which one entry is marked is not in the spec, because the plan would remove that entry", () => {
  const scope = one("databricks_secret_scope", { id: "etl", name: "etl" });
  const acl = (name: string, principal: string, path: Leaf["path"][]) => ({
    ...one(
      "databricks_secret_acl",
      { id: `etl|||${principal}`, scope: "etl", principal, permission: "READ" },
      { sensitive_attributes: path.map((steps) => steps.map(step)) },
    ),
    name,
  });
  const group = one(
    "databricks_group",
    { id: "7", display_name: "data", allow_cluster_create: true, workspace_access: true },
    { sensitive_attributes: [[step("workspace_access")]] },
  );
  const user = (id: string, user_name: string) => ({
    mode: "data",
    type: "databricks_user",
    name: `u${id}`,
    instances: [
      {
        attributes: { id, user_name },
        ...(id === "2" ? { sensitive_attributes: [[step("user_name")]] } : {}),
      },
    ],
  });
  const member = (member_id: string) => ({
    ...one("databricks_group_member", { id: `7|${member_id}`, group_id: "7", member_id }),
    name: `m${member_id}`,
  });
  const { yaml, log } = converted(
    stateWith([
      ...[scope, acl("a", "canary", [["principal"]]), acl("b", "data", [])],
      ...[group, user("1", "ada@example.com"), user("2", "canary@example.com"), member("1"), member("2")],
    ]),
  );
  expect(yaml).toContain("etl: {}\n");
  expect(yaml).toContain("data: {}\n");
  expect(yaml + JSON.stringify(log)).not.toContain("canary");
  expect(log.resources.map(({ terraform, reason }) => `${terraform}: ${reason}`)).toEqual([
    "databricks_secret_acl.a: Terraform marks its name as sensitive",
    "databricks_secret_acl.b: a spec with only a part of this list would delete the rest",
    "databricks_group_member.m1: another member of its group is unknown, so the spec does not manage the members",
    "databricks_group_member.m2: the state does not contain the name of the member",
  ]);
  expect(log.attributes.map(({ attribute }) => toDottedPath(attribute))).toEqual(["workspace_access"]);
});

describe("assignments to the workspace", () => {
  const ofAccount = (principal_id: number, workspace_id: number) =>
    one("databricks_mws_permission_assignment", {
      ...{ id: `${workspace_id}|${principal_id}`, principal_id, workspace_id, permissions: ["ADMIN"] },
    });

  test("have the names of their principals, which other resources of the state know by ID", () => {
    const { log, yaml } = converted(
      stateWith([
        one("databricks_permission_assignment", {
          ...{ id: "11", principal_id: 11, group_name: "all-analysts", permissions: ["USER"] },
        }),
        one("databricks_user", { id: "12", user_name: "ada@example.com" }),
        ofAccount(12, 1),
        ofAccount(13, 1),
      ]),
    );
    expect(yaml).toContain(
      "workspace_assignments:\n  ada@example.com: { permissions: [ADMIN] }\n  all-analysts: { permissions: [USER] }\n",
    );
    expect(log.resources.map(({ reason }) => reason)).toEqual(["the state does not contain its ID and name"]);
  });

  test("to several workspaces are left out", () => {
    const user = one("databricks_user", { id: "12", user_name: "ada@example.com" });
    const { log, yaml } = converted(stateWith([user, ofAccount(12, 1), ofAccount(12, 2)]));
    expect(yaml).not.toContain("workspace_assignments");
    const reason = "the state assigns principals to several workspaces, and a spec is of one";
    expect(log.resources.map((omitted) => omitted.reason)).toEqual([reason, reason]);
  });
});

describe("a copy of a value of a secret, or of one that Terraform marks", () => {
  const scope = one("databricks_secret_scope", { id: "sc", name: "sc", backend_type: "DATABRICKS" });
  const secret = (value: string) =>
    one("databricks_secret", { id: "sc|||k", key: "k", scope: "sc", string_value: value });
  const cluster = (vars: object, more: object = {}) =>
    one(
      "databricks_cluster",
      {
        id: "1",
        cluster_id: "1",
        cluster_name: "c",
        spark_version: "x",
        num_workers: 1,
        spark_env_vars: vars,
      },
      more,
    );

  test("in another attribute becomes a sensitive variable with the whole value", () => {
    const vars = {
      PW: "CANARYxyz77",
      URL: "jdbc:x?pw=CANARYxyz77",
      B64: Buffer.from("u:CANARYxyz77").toString("base64"),
      MODE: "a",
    };
    const { yaml, log, sensitiveVariables } = converted(
      stateWith([scope, secret("CANARYxyz77"), cluster(vars)]),
    );
    expect(yaml).not.toContain("CANARY");
    expect(yaml).not.toContain(vars.B64);
    expect(yaml).toContain("MODE: a");
    expect(yaml).toContain("${var.cluster_x_spark_env_vars_URL}");
    expect(sensitiveVariables).toHaveLength(3);
    expect(log.attributes.map(({ attribute, reason }) => [attribute.at(-1), reason.split(";")[0]])).toEqual(
      ["PW", "URL", "B64"].map((name) => [
        name,
        "it contains a value that Terraform marks as sensitive, or that of a secret",
      ]),
    );
  });

  test("of another resource is not written either", () => {
    const vars = { TOKEN: "CANARYxyz77", MODE: "a" };
    const marked = cluster(vars, { sensitive_attributes: [["spark_env_vars", "TOKEN"].map(step)] });
    const pool = one("databricks_instance_pool", {
      id: "p",
      instance_pool_name: "p",
      node_type_id: "n",
      custom_tags: { copy: "pre-CANARYxyz77", mode: "a" },
    });
    const { yaml } = converted(stateWith([marked, pool]));
    expect(yaml).not.toContain("CANARY");
    expect(yaml).toContain(`copy: "\${var.instance_pool_x_custom_tags_copy}"`);
  });

  const pool = (copy: string, more: object = {}) =>
    one(
      "databricks_instance_pool",
      {
        id: "p",
        instance_pool_name: "p",
        node_type_id: "Standard_DS3_v2",
        custom_tags: { copy, mode: "a" },
      },
      more,
    );

  test.each<[string, unknown]>([
    ["string", "CANARYxyz77"],
    ["map", { user: "u", password: "CANARYxyz77" }],
    ["list", [{ inner: ["CANARYxyz77"] }]],
  ])("of a sensitive output is not written either: %s", (_type, value) => {
    const outputs = {
      pw: { value, type: "dynamic", sensitive: true },
      open: { value: "Standard_DS3_v2", type: "string" },
    };
    const resources = [pool("pre-CANARYxyz77")];
    const stored = JSON.stringify({ version: 4, terraform_version: "1.5.7", outputs, resources });
    const shown = JSON.stringify({
      format_version: "1.0",
      values: {
        outputs,
        root_module: {
          resources: [
            {
              address: "databricks_instance_pool.x",
              type: "databricks_instance_pool",
              mode: "managed",
              values: resources[0]?.instances[0]?.attributes,
            },
          ],
        },
      },
    });
    for (const text of [stored, shown]) {
      const { yaml } = converted(text);
      expect(yaml).not.toContain("CANARY");
      expect(yaml).toContain("node_type_id: Standard_DS3_v2");
      expect(yaml).toContain(`copy: "\${var.instance_pool_x_custom_tags_copy}"`);
    }
  });

  test("in a sensitive output of a whole resource hides no other attribute", () => {
    const [{ attributes } = { attributes: {} }] = pool("a").instances;
    const outputs = { all: { value: attributes, type: "dynamic", sensitive: true } };
    const text = JSON.stringify({ version: 4, terraform_version: "1.5.7", outputs, resources: [pool("a")] });
    expect(converted(text).yaml).toContain("node_type_id: Standard_DS3_v2");
  });

  test.each<[string, object]>([
    ["of which no resource has the ID", { id: "other", password: "CANARYxyz77" }],
    ["with more than the attributes of a resource", { id: "p", password: "CANARYxyz77" }],
    ["with another value", { id: "p", instance_pool_name: "CANARYxyz77" }],
    ["below the attributes of a resource", { id: "p", custom_tags: { more: "CANARYxyz77" } }],
  ])("in a sensitive output with an ID %s is not written", (_what, value) => {
    const outputs = { all: { value: { inner: [value] }, type: "dynamic", sensitive: true } };
    const resources = [pool("pre-CANARYxyz77")];
    const { yaml } = converted(
      JSON.stringify({ version: 4, terraform_version: "1.5.7", outputs, resources }),
    );
    expect(yaml).not.toContain("CANARY");
    expect(yaml).toContain("node_type_id: Standard_DS3_v2");
  });

  const withOutput = (value: string, resources: readonly object[]) =>
    converted(
      JSON.stringify({
        ...{ version: 4, terraform_version: "1.5.7", resources },
        outputs: { pw: { value, type: "string", sensitive: true } },
      }),
    );

  test.each<readonly [string, string, readonly object[], readonly string[]]>([
    [
      "an owner",
      "canary@example.com",
      [
        one("databricks_job", { id: "1", name: "j", notebook_task: [{ notebook_path: "/x" }] }),
        one("databricks_permissions", {
          id: "/jobs/1",
          access_control: [{ user_name: "canary@example.com", permission_level: "IS_OWNER" }],
        }),
      ],
      ["a part of it contains a value that Terraform marks as sensitive, or that of a secret"],
    ],
    [
      "an ID",
      "canary-0123456789",
      [
        one("databricks_cluster_policy", { id: "x", policy_id: "canary-0123456789", name: "p" }),
        one("databricks_cluster", {
          ...{ id: "c", cluster_name: "c", num_workers: 1, policy_id: "canary-0123456789" },
        }),
      ],
      [
        "its ID contains a value that Terraform marks as sensitive, or that of a secret",
        "policy_id contains a value that Terraform marks as sensitive, or that of a secret; it is a reference",
      ],
    ],
    [
      "a path",
      "/Shared/canary",
      [one("databricks_job", { id: "1", name: "j", notebook_task: [{ notebook_path: "/Shared/canary" }] })],
      [
        "notebook_task[0].notebook_path contains a value that Terraform marks as sensitive, or that of a secret; it is the name or path of another object",
      ],
    ],
    [
      "the member of a group",
      "canary@example.com",
      [
        { ...one("databricks_user", { id: "2", user_name: "canary@example.com" }), mode: "data" },
        one("databricks_group", { id: "7", display_name: "data" }),
        one("databricks_group_member", { id: "7|2", group_id: "7", member_id: "2" }),
      ],
      ["the state does not contain the name of the member"],
    ],
    [
      "the first ACL of a scope",
      "canary@example.com",
      [
        one("databricks_secret_scope", { name: "s", initial_manage_principal: "canary@example.com" }),
        one("databricks_secret_acl", { scope: "s", principal: "team", permission: "READ" }),
      ],
      ["a spec with only a part of this list would delete the rest"],
    ],
    [
      "the source of a notebook",
      "canary@example.com",
      [one("databricks_notebook", { path: "/n", language: "SQL", source: "./canary@example.com.sql" })],
      [
        "its source contains a value that Terraform marks as sensitive, or that of a secret; to convert it, run `workspace export --only notebooks./n --out FOLDER`",
      ],
    ],
  ])("as %s leaves out the resource or the list", (_what, value, resources, reasons) => {
    const { yaml, log } = withOutput(value, resources);
    expect(yaml + JSON.stringify([log.resources, log.attributes, log.notes])).not.toContain("canary");
    expect(log.resources.map(({ reason }) => reason)).toEqual(reasons);
  });

  test("in the key of a resource is in no report", () => {
    const found = converted(
      stateWith([scope, secret("CANARYxyz77"), pool("CANARYxyz77", { index_key: "CANARYxyz77" })]),
    );
    const { yaml, converted: pairs, sensitiveVariables, log } = found;
    expect(JSON.stringify([yaml, pairs, sensitiveVariables, log.attributes, log.resources])).not.toContain(
      "CANARY",
    );
    expect(pairs.map(({ terraform }) => terraform)).toContain('databricks_instance_pool.x["(sensitive)"]');
  });

  test("in a content leaves out the object", () => {
    const notebook = (text: string) =>
      one("databricks_notebook", {
        path: "/n",
        language: "SQL",
        format: "SOURCE",
        content_base64: Buffer.from(text).toString("base64"),
      });
    const state = (text: string) => stateWith([scope, secret("CANARYxyz77"), notebook(text)]);
    expect(leftReasons(state("select 'CANARYxyz77'"))).toEqual([
      expect.stringContaining("its content contains a value that Terraform marks as sensitive"),
    ]);
    expect(leftReasons(state("select 1"))).toEqual([]);
  });

  test("in a name or a key of a map leaves out the object", () => {
    const group = one("databricks_group", { id: "7", display_name: "grp CANARYxyz77" });
    const tags = { "k CANARYxyz77": "a", mode: "b" };
    const pool = one("databricks_instance_pool", {
      id: "p",
      instance_pool_name: "p",
      node_type_id: "n",
      custom_tags: tags,
    });
    const { yaml, log } = converted(stateWith([scope, secret("CANARYxyz77"), group, pool]));
    expect(yaml).not.toContain("CANARY");
    expect(JSON.stringify([log.resources, log.attributes])).not.toContain("CANARY");
    expect(log.resources.map(({ reason }) => reason)).toEqual([
      "its name contains a value that Terraform marks as sensitive, or that of a secret",
      "a key of custom_tags contains a value that Terraform marks as sensitive, or that of a secret",
    ]);
  });

  test("with less than eight characters is written: other values equal it by chance", () => {
    expect(converted(stateWith([scope, secret("prod"), cluster({ A: "prod" })])).yaml).toContain("A: prod");
  });
});
