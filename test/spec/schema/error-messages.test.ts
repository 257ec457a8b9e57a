import { expect, it } from "vitest";
import { load } from "../folder.ts";

it.each([
  ["node_type_id: 7", "SPEC_TYPE 1:29 pools.p: node_type_id must be a string, not 7", "write it in quotes"],
  ["node_type_id: [a]", "SPEC_TYPE 1:29 pools.p: node_type_id must be a string, not a list", undefined],
  [
    "node_type_id: x, max_capacity: '5'",
    'SPEC_TYPE 1:46 pools.p: max_capacity must be an integer, not the string "5"',
    "write it without quotes",
  ],
  [
    "node_type_id: x, max_capacity: 1.5",
    "SPEC_TYPE 1:46 pools.p: max_capacity must be an integer, not 1.5",
    undefined,
  ],
  [
    "node_type_id: x, max_capacity: ",
    "SPEC_TYPE 1:47 pools.p: max_capacity must be an integer, not null",
    undefined,
  ],
  [
    "node_type_id: x, enable_elastic_disk: yes",
    'SPEC_TYPE 1:53 pools.p: enable_elastic_disk must be true or false, not the string "yes"',
    "write true",
  ],
  [
    "node_type_id: x, enable_elastic_disk: 'False'",
    'SPEC_TYPE 1:53 pools.p: enable_elastic_disk must be true or false, not the string "False"',
    "write it without quotes",
  ],
  [
    "node_type_id: x, preloaded_spark_versions: '6.4'",
    'SPEC_TYPE 1:58 pools.p: preloaded_spark_versions must be a list, not the string "6.4"',
    "write a list: [6.4]",
  ],
  [
    "node_type_id: x, custom_tags: [{ value: '1', tag_key: a }, { tag_key: b }]",
    "SPEC_TYPE 1:45 pools.p: custom_tags must be a map, not a list",
    "write a map with the tag_key of each entry as its key: `custom_tags: { KEY: … }`",
  ],
  [
    "node_type_id: x, custom_tags: [a]",
    "SPEC_TYPE 1:45 pools.p: custom_tags must be a map, not a list",
    undefined,
  ],
  [
    "node_type_id: x, custom_tags: { a: '1', b: '2', c: '3' }",
    "SPEC_VALUE 1:45 pools.p: custom_tags must have at most 2 entries, not 3",
    undefined,
  ],
  [
    "node_type_id: x, custom_tags: { toolong: '1' }",
    'SPEC_VALUE 1:47 pools.p: custom_tags cannot have the key "toolong"',
    undefined,
  ],
  [
    "node_type_id: x, instance_pool_name: ''",
    "SPEC_VALUE 1:52 pools.p: instance_pool_name must not be empty",
    undefined,
  ],
  [
    "node_type_id: x, instance_pool_name: abcdefghijklmnopqrstu",
    "SPEC_VALUE 1:52 pools.p: instance_pool_name must have at most 20 characters, not 21",
    undefined,
  ],
  [
    "node_type_id: x, state: ACTIVE",
    'SPEC_UNKNOWN_FIELD 1:32 pools.p has no field "state"',
    expect.stringMatching(/^known fields: instance_pool_name, /),
  ],
])("{ %s }", async (fields, problem, hint) => {
  const { told, diagnostics } = await load(`pools: { p: { ${fields} } }`);
  expect(told).toEqual([problem]);
  expect(diagnostics[0]?.hint).toEqual(hint);
});

it("says what the name limits are also where the name is the key", async () => {
  const { told } = await load("pools: { abcdefghijklmnopqrstuvwxyz: { node_type_id: x } }");
  expect(told).toEqual([
    "SPEC_VALUE 1:10 pools.abcdefghijklmnopqrstuvwxyz: instance_pool_name must have at most 20 characters, not 26",
  ]);
});

it("names the allowed values, and the one that may be meant", async () => {
  const { told, diagnostics } = await load(
    "scopes: { s: { backend_type: PLATFROM, acls: { a: read, b: 3, c: { permission: MANGE } } } }",
  );
  expect(told).toEqual([
    'SPEC_VALUE 1:30 scopes.s: backend_type must be one of PLATFORM or VAULT, not "PLATFROM"',
    'SPEC_VALUE 1:51 acls.s/a: permission must be one of READ, WRITE or MANAGE, not "read"',
    "SPEC_TYPE 1:60 acls.s/b: permission must be a string, not 3",
    'SPEC_VALUE 1:80 acls.s/c: permission must be one of READ, WRITE or MANAGE, not "MANGE"',
  ]);
  expect(diagnostics.map(({ hint }) => hint)).toEqual([
    'did you mean "PLATFORM"?',
    'did you mean "READ"?',
    "write it in quotes",
    'did you mean "MANAGE"?',
  ]);
});

it("names nested fields by their path", async () => {
  const { told } = await load(
    "clusters: { c: { autoscale: { min_workers: 1, max_worker: 2 }, spark_conf: { 'a.b': 3 } } }",
  );
  expect(told).toEqual([
    'SPEC_MISSING_FIELD 1:18 clusters.c requires the field "autoscale.max_workers"',
    'SPEC_UNKNOWN_FIELD 1:47 clusters.c has no field "autoscale.max_worker"',
    'SPEC_TYPE 1:85 clusters.c: spark_conf["a.b"] must be a string, not 3',
  ]);
});
