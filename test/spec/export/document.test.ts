import { describe, expect, test } from "vitest";
import { type RemoteId, remoteId } from "../../../src/core/address.ts";
import { error } from "../../../src/core/diagnostic.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { registry } from "../../../src/providers/index.ts";
import { yamlText } from "../../../src/report/text/yaml.ts";
import { registryIn } from "../../../src/resource/dialect-view.ts";
import type { Live, LiveKind, LiveObject } from "../../../src/resource/live.ts";
import { type ExportInput, exportable, exportSpec } from "../../../src/spec/export/document.ts";

type Things = Readonly<Record<string, readonly (readonly [name: string, id: string, values?: JsonObject])[]>>;

function live(things: Things): Live {
  return new Map(
    Object.entries(things).map(([kind, ones]) => [
      kind,
      {
        readable: true,
        objects: ones.map(([name, id, values = {}]) => thing(name, remoteId(id), values)),
        unreadableParents: new Map(),
      } satisfies LiveKind,
    ]),
  );
}

function thing(name: string, id: RemoteId, values: JsonObject): LiveObject {
  return { id, name, values, facts: {} };
}

function inputOf(things: Things | Live, options: Partial<ExportInput> = {}): ExportInput {
  return {
    registry,
    live: things instanceof Map ? things : live(things as Things),
    kinds: new Set(registry.kinds.map(({ kind }) => kind)),
    builtIn: false,
    full: false,
    secrets: false,
    ...options,
  };
}

const yamlOf = (things: Things, options: Partial<ExportInput> = {}): string =>
  yamlText(exportSpec(inputOf(things, options)).document, []);

const POOL = { instance_pool_name: "p", node_type_id: "n" };
const cluster = (name: string, pool: string): JsonObject => ({
  cluster_name: name,
  spark_version: "6.4",
  num_workers: 1,
  instance_pool_id: pool,
});

describe("references", () => {
  test("an id of something exported becomes a reference to it", () => {
    expect(yamlOf({ pools: [["p", "p-1", POOL]], clusters: [["c", "c-1", cluster("c", "p-1")]] })).toBe(
      `pools:
  p: { node_type_id: n }

clusters:
  c:
    spark_version: "6.4"
    num_workers: 1
    instance_pool_id: \${pools.p.instance_pool_id}
`,
    );
  });

  test("an id of something that is not exported stays an id", () => {
    const clusters = [["c", "c-1", cluster("c", "p-1")]] as const;
    expect(yamlOf({ pools: [["p", "p-1", POOL]], clusters }, { kinds: new Set(["clusters"]) })).toContain(
      "instance_pool_id: p-1",
    );
  });

  test("a string that looks like a reference is escaped, in values and in keys", () => {
    const conf = { spark_conf: { "${a}": "${b}" } };
    expect(yamlOf({ clusters: [["c", "c-1", { ...cluster("c", "p-1"), ...conf }]] })).toContain(
      '{ "$${a}": "$${b}" }',
    );
  });
});

describe("keys", () => {
  test("objects with the same name are numbered, the oldest first, with a comment about adopting each", () => {
    expect(
      yamlOf({
        jobs: [
          ["nightly", "10", { name: "nightly", timeout_seconds: 3 }],
          ["nightly", "9", { name: "nightly", timeout_seconds: 2 }],
          ["nightly-2", "1", { name: "nightly-2", timeout_seconds: 1 }],
        ],
      }),
    ).toBe(`jobs:
  # One of 2 jobs with this name. To adopt this one, run:
  #   workspace import jobs.nightly 9
  nightly: { timeout_seconds: 2 }
  nightly-2: { timeout_seconds: 1 }
  # One of 2 jobs with this name. To adopt this one, run:
  #   workspace import jobs.nightly-3 10
  nightly-3: { name: nightly, timeout_seconds: 3 }
`);
  });

  test.each([
    ["", "unnamed"],
    ["a}b", "a-b"],
    ["\u202eevil\n", "evil"],
    ["::x", "x"],
    ["--force", "force"],
    ["x".repeat(300), "x".repeat(150)],
  ])("the name %j cannot be a key, so it is a field of the resource %j", (name, key) => {
    const { document } = exportSpec(inputOf({ clusters: [[name, "c", cluster(name, "p")]] }));
    const [section] = document;
    const [member] = section !== undefined && "members" in section ? section.members : [];
    expect(member).toMatchObject({
      key,
      members: expect.arrayContaining([{ key: "cluster_name", value: name }]),
    });
  });

  test("names of people, with dots, spaces and letters of any script, stay keys", () => {
    const names = ["Ada.B@example.com", "Team 7 (data)", "Größe/été", "日本"];
    expect(
      exportable(inputOf({ groups: names.map((name, at) => [name, String(at)] as const) })).toSorted(),
    ).toEqual(names.map((name) => `groups.${name}`).toSorted());
  });
});

test.each([
  [{}, "{ source: notebooks/Shared/n.py, access: { eng: CAN_MANAGE } }"],
  [{ full: true }, "{ source: notebooks/Shared/n.py, access: { eng: CAN_MANAGE } }"],
  [{ managed: true }, "{ source: notebooks/Shared/n.py, access: { eng: CAN_MANAGE } }"],
])(
  "a content has its source and its access list, and nothing that its extension says: %j",
  (options, text) => {
    const databricks = registryIn(registry, { dialect: "databricks", cloud: "azure" });
    const values = { language: "PYTHON", content: "0".repeat(64), access: { eng: "CAN_MANAGE" } };
    const document = { registry: databricks, ...options };
    expect(yamlOf({ notebooks: [["/Shared/n", "6", values]] }, document)).toContain(`/Shared/n: ${text}\n`);
  },
);

describe("omitted values", () => {
  test("defaults, and what the service is known to fill in", () => {
    const values = {
      ...POOL,
      min_idle_instances: 0,
      idle_instance_autotermination_minutes: 60,
      enable_elastic_disk: true,
    };
    expect(yamlOf({ pools: [["p", "p-1", values]] })).toBe("pools:\n  p: { node_type_id: n }\n");
  });

  test("a value that differs from the service's default is written", () => {
    const values = { ...POOL, idle_instance_autotermination_minutes: 15, enable_elastic_disk: false };
    expect(yamlOf({ pools: [["p", "p-1", values]] })).toMatch(
      /idle_instance_autotermination_minutes: 15\n +enable_elastic_disk: false/,
    );
  });

  test("whether a cluster is up, unless everything is wanted", () => {
    const values = { ...cluster("c", "p"), run_state: "RUNNING", pinned: false };
    expect(yamlOf({ clusters: [["c", "c-1", values]] })).not.toMatch(/run_state|pinned/);
    expect(yamlOf({ clusters: [["c", "c-1", values]] }, { full: true })).toMatch(
      /pinned: false\n +run_state: RUNNING/,
    );
  });

  test("a state that a spec cannot ask for, even when everything is wanted", () => {
    const values = { ...cluster("c", "p"), run_state: "UNKNOWN" };
    expect(yamlOf({ clusters: [["c", "c-1", values]] }, { full: true })).not.toContain("run_state");
  });

  test("built-in objects, unless requested", () => {
    const groups = [
      ["admins", "1", { displayName: "admins", members: { users: ["ada"], groups: [] } }],
      ["data", "2", { displayName: "data", members: { users: [], groups: [] } }],
    ] as const;
    expect(yamlOf({ groups })).toBe("groups:\n  data: {}\n");
    expect(yamlOf({ groups }, { builtIn: true })).toContain("admins: { members: { users: [ada] } }");
  });

  test("a user's own groups, where the groups tell their members", () => {
    const things = {
      users: [["ada", "1", { userName: "ada", groups: ["data"] }]],
      groups: [["data", "2", { displayName: "data", members: { users: ["ada"], groups: [] } }]],
    } as const;
    expect(yamlOf(things)).toContain("ada: {}");
    expect(yamlOf(things, { kinds: new Set(["users"]) })).toBe("users:\n  ada: { groups: [data] }\n");
  });
});

describe("members of a parent", () => {
  const things: Things = {
    scopes: [
      ["etl", "etl", { backend_type: "PLATFORM" }],
      ["other", "other", { backend_type: "PLATFORM" }],
    ],
    acls: [
      ["etl/data", "etl/data", { permission: "READ" }],
      ["etl/ops", "etl/ops", { permission: "MANAGE" }],
    ],
    secrets: [
      ["etl/db-password", "etl/db-password"],
      ["etl/db.password", "etl/db.password"],
    ],
  };

  test("are inside it, access lists in short form, secrets in a comment", () => {
    expect(yamlOf(things)).toBe(`scopes:
  # Secret values cannot be read back. To manage these secrets, add them under the scope with a source each:
  #   secrets:
  #     db-password: { env: ETL_DB_PASSWORD }
  #     db.password: { env: ETL_DB_PASSWORD_2 }
  etl: { acls: { data: READ, ops: MANAGE } }
  other: {}
`);
  });

  test("a variable has the words of a scope whose name has a slash", () => {
    const found = exportSpec(
      inputOf(
        {
          scopes: [["etl@team/x", "etl@team/x", { backend_type: "PLATFORM" }]],
          secrets: [["etl@team%2Fx/pw", "etl@team%2Fx/pw"]],
        },
        { secrets: true },
      ),
    );
    expect(found.variables).toEqual(["ETL_TEAM_X_PW"]);
  });

  test("secrets get a variable each where they are wanted", () => {
    const found = exportSpec(inputOf(things, { secrets: true }));
    expect(found.variables).toEqual(["ETL_DB_PASSWORD", "ETL_DB_PASSWORD_2"]);
    expect(yamlText(found.document, [])).toContain("db-password: { env: ETL_DB_PASSWORD }");
  });

  test("include their parent, and nothing else of it", () => {
    const only = (address: string) => address === "acls.etl/data";
    expect(yamlOf(things, { only })).toBe("scopes:\n  etl: { acls: { data: READ } }\n");
  });

  test("that could not be read are reported, and their key is omitted, because an empty one would mean that there are none", () => {
    const reason = error("API_FORBIDDEN", "secrets/acls/list may not be called");
    const unread: Live = new Map([
      ...live({ scopes: [["etl", "etl"]], secrets: [] }),
      ["acls", { readable: true, objects: [], unreadableParents: new Map([["etl", reason]]) }],
    ]);
    const found = exportSpec(inputOf(unread));
    expect(found.diagnostics).toEqual([reason]);
    expect(yamlText(found.document, [])).toBe("scopes:\n  etl: {}\n");
  });
});

test("a kind that could not be read is reported and omitted", () => {
  const reason = error("API_FORBIDDEN", "jobs/list may not be called");
  const found = exportSpec(
    inputOf(
      new Map([...live({ pools: [["p", "p-1", POOL]] }), ["jobs", { readable: false, diagnostic: reason }]]),
    ),
  );
  expect(found.diagnostics).toEqual([reason]);
  expect(found.addresses).toEqual(["pools.p"]);
});

test("an object with the key __proto__ is omitted and reported, and one with this name gets another key", () => {
  const values = { ...cluster("c", "p-1"), spark_conf: JSON.parse('{ "__proto__": "x" }') as JsonObject };
  const { addresses, diagnostics } = exportSpec(
    inputOf(
      {
        groups: [["__proto__", "1", { displayName: "__proto__" }]],
        scopes: [
          ["__proto__", "__proto__"],
          ["etl", "etl"],
        ],
        acls: [
          ["__proto__/ada", "__proto__/ada", { permission: "READ" }],
          ["etl/__proto__", "etl/__proto__", { permission: "READ" }],
          ["etl/ada", "etl/ada", { permission: "READ" }],
        ],
        secrets: [
          ["etl/__proto__", "etl/__proto__"],
          ["etl/token", "etl/token"],
        ],
        clusters: [["c", "c-1", values]],
      },
      { secrets: true },
    ),
  );
  expect(addresses).toEqual(["groups.unnamed", "scopes.etl", "secrets.etl/token"]);
  const because = "is not exported: a spec cannot contain the key __proto__";
  expect(diagnostics.map(({ message }) => message)).toEqual([
    `the secret scope "__proto__" (__proto__) ${because}`,
    `the ACL "__proto__/ada" (__proto__/ada) ${because}`,
    `the ACL "etl/__proto__" (etl/__proto__) ${because}`,
    'the ACL "etl/ada" (etl/ada) is not exported: a spec with only a part of this list would delete the rest',
    `the secret "etl/__proto__" (etl/__proto__) ${because}`,
    `the cluster "c" (c-1) ${because}`,
  ]);
});

test("content that bundles deploy is omitted, with one warning for each of their folders", () => {
  const paths = ["/Shared/etl", "/Users/ada/.bundle", "/Users/ada/.bundle/etl", "/Users/ada/notes.bundle"];
  const input = inputOf({
    directories: paths.map((path) => [path, path]),
    notebooks: [
      ["/Users/ada/.bundle/etl/load", "/Users/ada/.bundle/etl/load"],
      ["/.bundle/one", "/.bundle/one"],
    ],
  });
  const { addresses, diagnostics, losses, sources } = exportSpec(input);
  expect(addresses).toEqual(["directories./Shared/etl", "directories./Users/ada/notes.bundle"]);
  expect(sources).toEqual([]);
  expect(diagnostics.map(({ message }) => message)).toEqual([
    '3 objects in the folder "/Users/ada/.bundle" are not exported: bundles deploy to it',
    '1 object in the folder "/.bundle" is not exported: bundles deploy to it',
  ]);
  expect(losses).toEqual({ objects: 4, fields: 0 });
});
