// A sensitive value that is a word in the name of a field: users do not write such names, so only keys of open maps are hidden.

import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../../../src/cli/program.ts";
import { contextWith } from "../../context.ts";
import { folderWith } from "../../program.ts";

const VARIABLE = "variables: { db_user: { type: string, sensitive: true } }\n";
const FIELDS = `
    node_type_id: Standard_DS3_v2
    azure_attributes: { availability: SPOT_AZURE, spot_bid_max_price: 3 }
    custom_tags: { u: "\${var.db_user}" }
`;
const POOL = `${VARIABLE}pools:\n  p:${FIELDS}`;
/** Others added the tag, or the spec had it before. */
const TAGGED = `${POOL}  q:${FIELDS.replace("{ u:", "{ spot-x: y, u:")}`;
const UNTAGGED = `${POOL}  q:${FIELDS}`;

async function applied(spec: string) {
  const folder = folderWith(spec);
  mkdirSync(join(folder, ".git"));
  const env = {
    WORKSPACE_HOST: "embedded",
    WORKSPACE_STATE: mkdtempSync(join(tmpdir(), "field-names-")),
    WORKSPACE_DIALECT: "databricks",
    WORKSPACE_CLOUD: "azure",
    WORKSPACE_VAR_db_user: "spot",
  };
  const run = async (line: string) => {
    const context = contextWith(env, folder);
    const code = await runProgram(context, line.split(" "));
    return { code, out: context.out(), all: context.out() + context.err() };
  };
  expect(await run("apply --auto-approve")).toMatchObject({ code: 0 });
  const write = (text: string): void => writeFileSync(join(folder, "workspace.yaml"), text);
  return { run, write };
}

test.each(["text", "json", "html", "markdown"])(
  "a plan shows the names of fields, and no key of an open map that contains the value: %s",
  async (form) => {
    const { run, write } = await applied(TAGGED);
    expect(await run("state rm pools.q")).toMatchObject({ code: 0 });
    write(`${UNTAGGED}  new:${FIELDS}`);
    const { all } = await run(`plan --adopt -o ${form}`);
    expect(all).toContain("spot_bid_max_price");
    expect(all).not.toMatch(/\(sensitive\)_bid|spot-x/);
  },
);

test("a rule reads the fields of an object that no record has yet", async () => {
  const { run, write } = await applied(TAGGED);
  expect(await run("state rm pools.q")).toMatchObject({ code: 0 });
  write(`${POOL}  q: { node_type_id: Standard_DS3_v2, azure_attributes: { availability: SPOT_AZURE } }\n`);
  const rules = mkdtempSync(join(tmpdir(), "field-names-rules-"));
  const assert = "change.before == null || change.before.azure_attributes.spot_bid_max_price == 3";
  writeFileSync(join(rules, "rules.yaml"), `rules: [{ name: price, kinds: [pools], assert: "${assert}" }]\n`);
  const { all } = await run(`plan --adopt --rules ${rules}`);
  expect(all).toContain("pools.q");
  expect(all).not.toMatch(/GUARD_RULE|spot-x/);
});

test("an import and an apply leave no difference", async () => {
  const { run } = await applied(POOL);
  const [{ instance_pool_id }] = JSON.parse((await run("api instance-pools/list")).out).instance_pools;
  expect(await run("state rm pools.p")).toMatchObject({ code: 0 });
  expect(await run(`import pools.p ${instance_pool_id}`)).toMatchObject({ code: 0 });
  const unchanged = { code: 0, out: expect.stringContaining("No changes") };
  expect(await run("plan --detailed-exitcode")).toMatchObject(unchanged);
  expect(await run("apply --auto-approve")).toMatchObject(unchanged);
  expect(await run("plan --detailed-exitcode")).toMatchObject(unchanged);
  expect((await run("state show pools.p")).out).toMatch(/"spot_bid_max_price":\s*3/);
});

test("a message shows the names of fields, and no word of a user that contains the value", async () => {
  const { run, write } = await applied(TAGGED);
  write(TAGGED.replaceAll("spot_bid_max_price: 3", "spot_bid_max_price: 4"));
  const { code, all } = await run("plan");
  expect([code, all]).toEqual([3, expect.stringMatching(/error PLAN_IMMUTABLE: .*\bspot_bid_max_price\b/)]);
  expect(all).not.toMatch(/\(sensitive\)_bid/);
  write(TAGGED.replace("spot-x: y", "spot-x: z"));
  expect((await run("plan")).all).not.toMatch(/spot-x/);
});
