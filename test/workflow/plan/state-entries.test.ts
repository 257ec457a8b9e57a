// Moved, removed, and import entries through the real commands, on the embedded workspace.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { contextWith } from "../../cli/context.ts";
import { folderWith } from "../../cli/program.ts";
import { startPostgres } from "../../state/backends/postgres/server.ts";

const TARGETS = "targets: { dev: { default: true }, prod: {} }\n";
const pool = (key: string): string =>
  `pools: { ${key}: { instance_pool_name: "\${target.name}-warm", node_type_id: Standard_DS3_v2 } }\n` +
  `clusters: { c: { cluster_name: "\${target.name}-c", spark_version: 6.4.x-scala2.11, num_workers: 1, instance_pool_id: "\${pools.${key}.instance_pool_id}" } }\n`;

async function run(folder: string, words: string, env: Record<string, string> = {}) {
  const context = contextWith(env, folder);
  const code = await runProgram(context, words.split(" "));
  return { code, out: context.out(), err: context.err() };
}

function write(folder: string, text: string): void {
  writeFileSync(join(folder, "workspace.yaml"), text);
}

async function applied(spec: string, targets: readonly string[] = ["dev"]): Promise<string> {
  const folder = folderWith(spec);
  for (const target of targets)
    expect(await run(folder, `apply -t ${target} --host embedded --auto-approve`)).toMatchObject({ code: 0 });
  return folder;
}

/** What each format has of a move. */
const SHOWN_MOVES = {
  text: ["  → move     pools.a to pools.b", "0 to delete, 1 to move."],
  json: ['"action": "move"', '"moved_from": "pools.a"', '"move": 1'],
  markdown: ["- **move** `pools.a` to `pools.b`", "1 to move"],
  html: ['<span class="verb">move</span><span class="address">pools.a to pools.b</span>', 'id="pools.b"'],
  junit: ['name="move pools.a to pools.b"'],
};

describe("a moved entry", () => {
  test("moves the record in every target, shows it, and does nothing the second time", async () => {
    const folder = await applied(TARGETS + pool("a"), ["dev", "prod"]);
    write(folder, `${TARGETS}${pool("b")}moved: [{ from: pools.a, to: pools.b }]\n`);
    for (const target of ["dev", "prod"]) {
      for (const [form, shown] of Object.entries(SHOWN_MOVES)) {
        const { code, out } = await run(
          folder,
          `plan -t ${target} --host embedded -o ${form} --detailed-exitcode`,
        );
        expect({ code, missing: shown.filter((text) => !out.includes(text)) }, form).toEqual({
          code: 2,
          missing: [],
        });
        expect(out, form).not.toContain("to adopt");
      }
      expect((await run(folder, `state list -t ${target}`)).out).toContain("pools.a");
      const { code, out } = await run(folder, `apply -t ${target} --host embedded --auto-approve`);
      expect({ code, out }).toMatchObject({
        code: 0,
        out: expect.stringContaining("0 created, 0 updated, 0 replaced, 0 deleted, 1 moved"),
      });
      expect((await run(folder, `state list -t ${target}`)).out).toBe("clusters.c\npools.b\n");
      expect(await run(folder, `plan -t ${target} --host embedded --detailed-exitcode`)).toMatchObject({
        code: 0,
      });
    }
    expect((await run(folder, "validate")).err).toContain(
      "the entry that moves pools.a to pools.b was already applied in every target\n",
    );
  });

  test("follows chains, into a module and from module to module", async () => {
    const folder = await applied(TARGETS + pool("a"));
    mkdirSync(join(folder, "team"));
    writeFileSync(join(folder, "team/workspace.yaml"), pool("shared"));
    const chain =
      "moved: [{ from: pools.b, to: pools.m/shared }, { from: pools.a, to: pools.b }, { from: clusters.c, to: clusters.m/c }]\n";
    write(folder, `${TARGETS}modules: { m: { source: team } }\n${chain}`);
    expect((await run(folder, "apply --host embedded --auto-approve")).out).toContain(
      "0 created, 0 updated, 0 replaced, 0 deleted, 2 moved",
    );
    expect((await run(folder, "state list")).out).toBe("clusters.m/c\npools.m/shared\n");
    write(
      folder,
      `${TARGETS}modules: { team: { source: team, for_each: [ads] } }\nmoved: [{ from: modules.m, to: modules.team/ads }]\n`,
    );
    expect((await run(folder, "plan --offline")).out).toContain(
      "move     pools.m/shared to pools.team/ads/shared",
    );
    expect((await run(folder, "apply --host embedded --auto-approve")).out).toContain("2 moved");
    expect((await run(folder, "state list")).out).toBe("clusters.team/ads/c\npools.team/ads/shared\n");
    expect(await run(folder, "plan --host embedded --detailed-exitcode")).toMatchObject({ code: 0 });
  });

  test("gives the records of a module to its first instance, and back", async () => {
    const folder = folderWith(TARGETS);
    mkdirSync(join(folder, "team"));
    const module =
      'inputs: { k: { type: string, default: ads } }\ngroups: { g: { displayName: "${input.k}" } }\n';
    writeFileSync(join(folder, "team/workspace.yaml"), module);
    const repeated = '{ source: team, for_each: [ads, web], with: { k: "${each.key}" } }';
    const said: (string | undefined)[] = [];
    for (const [use, entry] of [
      ["{ source: team }", ""],
      [repeated, "moved: [{ from: modules.team, to: modules.team/ads }]\n"],
      ["{ source: team }", "moved: [{ from: modules.team/ads, to: modules.team }]\n"],
    ]) {
      write(folder, `${TARGETS}modules: { team: ${use} }\n${entry}`);
      for (const _ of ["first", "second"]) {
        const { out, err } = await run(folder, "apply --host embedded --auto-approve");
        said.push(/\d created.*|No changes/u.exec(out)?.[0] ?? err);
      }
      said.push(/moves .* was already applied/u.exec((await run(folder, "validate")).err)?.[0]);
    }
    expect(said).toEqual([
      "1 created, 0 updated, 0 replaced, 0 deleted.",
      "No changes",
      undefined,
      "1 created, 0 updated, 0 replaced, 0 deleted, 1 moved.",
      "No changes",
      "moves modules.team to modules.team/ads was already applied",
      "0 created, 0 updated, 0 replaced, 1 deleted, 1 moved.",
      "No changes",
      "moves modules.team/ads to modules.team was already applied",
    ]);
  });

  test("moves no ACLs of a scope that has the name of a module", async () => {
    const scope = "scopes: { etl: { acls: { users: READ } } }\n";
    const folder = await applied(`${TARGETS}${scope}`);
    mkdirSync(join(folder, "m"));
    writeFileSync(join(folder, "m/workspace.yaml"), "groups: { g: {} }\n");
    write(
      folder,
      `${TARGETS}${scope}modules: { m: { source: m } }\nmoved: [{ from: modules.etl, to: modules.m }]\n`,
    );
    expect((await run(folder, "plan --host embedded")).out).toContain(
      "Plan: 1 to create, 0 to update, 0 to replace, 0 to delete.",
    );
    write(folder, `${TARGETS}groups: { g: {} }\nremoved: [{ address: modules.etl, destroy: false }]\n`);
    expect((await run(folder, "plan --host embedded")).out).toContain("1 to delete, 1 to forget");
  });

  test("or a removed one of a module is an error while the spec declares a resource of the module", async () => {
    const folder = folderWith("modules: { m: { source: m } }\nmoved: [{ from: modules.m, to: modules.n }]\n");
    mkdirSync(join(folder, "m"));
    writeFileSync(join(folder, "m/workspace.yaml"), "groups: { g: {} }\n");
    expect((await run(folder, "validate")).err).toContain(
      "modules.m is moved, but the spec still declares groups.m/g",
    );
    write(folder, "modules: { m: { source: m } }\nremoved: [{ address: modules.m }]\n");
    expect((await run(folder, "validate")).err).toContain(
      "modules.m is removed, but the spec still declares groups.m/g",
    );
  });

  test("works with a change of the same resource, and with a saved plan", async () => {
    const folder = await applied(TARGETS + pool("a"));
    write(
      folder,
      `${TARGETS}${pool("b").replace("node_type_id", "max_capacity: 7, node_type_id")}moved: [{ from: pools.a, to: pools.b }]\n`,
    );
    expect((await run(folder, "plan --host embedded --out plan")).out).toContain("1 to update");
    expect((await run(folder, "state list")).out).toContain("pools.a");
    expect(await run(folder, "apply plan --host embedded")).toMatchObject({ code: 0 });
    expect((await run(folder, "state list")).out).toBe("clusters.c\npools.b\n");
  });

  test("is an error if the state records both addresses", async () => {
    const folder = await applied(
      `${TARGETS}${pool("a").replace("pools: {", "pools: { b: { instance_pool_name: other, node_type_id: Standard_DS3_v2 },")}`,
    );
    write(folder, `${TARGETS}${pool("b")}moved: [{ from: pools.a, to: pools.b }]\n`);
    const { code, err } = await run(folder, "apply --host embedded --auto-approve");
    expect({ code, err }).toMatchObject({ code: 1, err: expect.stringContaining("the state records both") });
    expect((await run(folder, "state list")).out).toContain("pools.a");
  });

  test("is not applied by a plan that leaves its resource out", async () => {
    const folder = await applied(TARGETS + pool("a"));
    write(folder, `${TARGETS}${pool("b")}groups: { g: {} }\nmoved: [{ from: pools.a, to: pools.b }]\n`);
    expect(await run(folder, "apply --only groups.g --host embedded --auto-approve")).toMatchObject({
      code: 0,
    });
    expect((await run(folder, "state list")).out).toContain("pools.a");
  });
});

describe("a removed entry", () => {
  test("keeps the object and removes the record", async () => {
    const folder = await applied(TARGETS + pool("a"));
    write(
      folder,
      `${TARGETS}groups: { g: {} }\nremoved: [{ address: pools.a, destroy: false }, { address: clusters.c }]\n`,
    );
    const { out } = await run(folder, "plan --host embedded");
    expect(out).toContain("the spec removes it from the state and keeps the object");
    expect(out).toContain("1 to create, 0 to update, 0 to replace, 1 to delete, 1 to forget");
    expect(await run(folder, "apply --host embedded --auto-approve")).toMatchObject({ code: 0 });
    expect((await run(folder, "api instance-pools/list --host embedded")).out).toContain("dev-warm");
    expect((await run(folder, "state list")).out).toBe("groups.g\n");
    expect((await run(folder, "validate")).err).toContain(
      "the entry that removes pools.a was already applied",
    );
  });
});

describe("a removed entry of a module", () => {
  test("deletes a scope of the module, and the plan says so", async () => {
    const folder = folderWith("modules: { m: { source: m } }\n");
    mkdirSync(join(folder, "m"));
    writeFileSync(join(folder, "m/workspace.yaml"), "groups: { g: {} }\nscopes: { s: {} }\n");
    await run(folder, "apply --host embedded --auto-approve");
    write(folder, "groups: { h: {} }\nremoved: [{ address: modules.m, destroy: false }]\n");
    const { out } = await run(folder, "plan --host embedded");
    expect(out).toContain("× forget   groups.m/g");
    expect(out).toContain("it is no longer in the spec, and an entry that keeps a module keeps no scopes\n");
  });
});

describe("an import entry", () => {
  async function withPool(): Promise<{ readonly folder: string; readonly id: string }> {
    const folder = await applied(TARGETS + pool("a"));
    const { out } = await run(folder, "state show pools.a");
    const { id } = JSON.parse(out) as { id: string };
    await run(folder, "state rm pools.a clusters.c");
    return { folder, id };
  }

  test("makes a live object a resource of the spec, once", async () => {
    const { folder, id } = await withPool();
    write(
      folder,
      `${TARGETS}pools: { mine: { instance_pool_name: dev-warm, node_type_id: Standard_DS3_v2, max_capacity: 9 } }\nimport: [{ to: pools.mine, id: "${id}" }]\n`,
    );
    expect((await run(folder, "plan --host embedded")).out).toMatch(
      /because it exists and is imported[\s\S]*1 to update/u,
    );
    expect(await run(folder, "apply --host embedded --auto-approve")).toMatchObject({ code: 0 });
    expect(JSON.parse((await run(folder, "state show pools.mine")).out)).toMatchObject({ id });
    expect(await run(folder, "plan --host embedded --detailed-exitcode")).toMatchObject({ code: 0 });
    expect((await run(folder, "validate")).err).toContain(
      "the entry that imports pools.mine was already applied",
    );
  });

  test("for another object than the recorded one has no effect, and validate says so", async () => {
    const warm = "pools: { a: { instance_pool_name: warm, node_type_id: Standard_DS3_v2 } }\n";
    const folder = folderWith(warm);
    expect(await run(folder, "apply --host embedded --auto-approve")).toMatchObject({ code: 0 });
    write(folder, `${warm}import: [{ to: pools.a, id: other }]\n`);
    expect((await run(folder, "plan --host embedded")).out).toContain("No changes.");
    const { id } = JSON.parse((await run(folder, "state show pools.a")).out) as { id: string };
    const { err } = await run(folder, "validate");
    expect(err).toContain(`the entry imports other as pools.a, which is another object in the state: ${id}`);
    expect(err).toContain("to import other instead, run `workspace state rm pools.a` first");
    expect(err).not.toContain("was already applied");
  });

  test("is an error if the object does not exist, and is left out of an untrusted plan", async () => {
    const { folder, id } = await withPool();
    write(
      folder,
      `${TARGETS}pools: { mine: { node_type_id: Standard_DS3_v2 } }\nimport: [{ to: pools.mine, id: nothing }]\n`,
    );
    expect(
      (await run(folder, "plan --host embedded")).err + (await run(folder, "plan --host embedded")).out,
    ).toContain("to import as pools.mine does not exist");
    write(
      folder,
      `${TARGETS}pools: { mine: { node_type_id: Standard_DS3_v2 } }\nimport: [{ to: pools.mine, id: "${id}" }]\n`,
    );
    const { out, err } = await run(
      folder,
      `plan --host embedded --untrusted --state ${folderWith("")}/state`,
    );
    const note = "it creates what would be imported: pools.mine";
    expect(out + err).toContain(note);
    expect(out + err).not.toContain("dev-warm");
    const offline = await run(folder, "plan --offline");
    expect(offline.out + offline.err).toContain(note);
    const destroy = await run(folder, "plan --offline --destroy");
    expect(destroy.out + destroy.err).not.toContain(note);
    await run(folder, "apply --host embedded --auto-approve");
    const later = await run(folder, "plan --offline");
    expect(later.out + later.err).not.toContain(note);
  });
});

describe("validate", () => {
  const three = "targets: { dev: { default: true }, prod: {}, stage: {} }\n";
  const moved = (targets: string) => `${targets}${pool("b")}moved: [{ from: pools.a, to: pools.b }]\n`;
  const said = async (folder: string, env: Readonly<Record<string, string>> = {}) => {
    const context = contextWith(env, folder);
    await runProgram(context, ["validate", "-t", "prod"]);
    return context.err();
  };

  test("names an entry only if no state that is here needs it, and the targets whose state is elsewhere", async () => {
    const folder = await applied(TARGETS + pool("a"), ["dev", "prod"]);
    write(folder, moved(TARGETS));
    await run(folder, "apply -t prod --host embedded --auto-approve");
    expect(await said(folder)).not.toContain("was already applied");
    await run(folder, "apply -t dev --host embedded --auto-approve");
    expect(await said(folder)).toContain("was already applied in every target\n");
    write(folder, moved(three));
    expect(await said(folder)).toContain("was already applied in dev and prod\n");
    expect(await said(folder)).toContain("after it was also applied in stage, whose state was not read");
  });

  test.each([
    [
      "a chain",
      "pools: { d: { instance_pool_name: warm, node_type_id: Standard_DS3_v2 } }\n",
      "{ from: pools.b, to: pools.c }, { from: pools.c, to: pools.d }",
    ],
    ["a chain through a module", "", "{ from: pools.b, to: pools.m/c }, { from: modules.m, to: modules.n }"],
  ])("needs every entry of %s until the record has its last address", async (_name, spec, rest) => {
    const folder = await applied(
      "targets: { dev: { default: true } }\npools: { a: { instance_pool_name: warm, node_type_id: Standard_DS3_v2 } }\n",
    );
    mkdirSync(join(folder, "n"));
    writeFileSync(
      join(folder, "n/workspace.yaml"),
      "pools: { c: { instance_pool_name: warm, node_type_id: Standard_DS3_v2 } }\n",
    );
    const modules = spec === "" ? "modules: { n: { source: n } }\n" : "";
    write(
      folder,
      `targets: { dev: { default: true } }\n${spec}${modules}moved: [{ from: pools.a, to: pools.b }, ${rest}]\n`,
    );
    const before = await run(folder, "validate");
    expect(before.out).toContain("Valid");
    expect(before.err).not.toContain("was already applied");
    expect(await run(folder, "apply --host embedded --auto-approve")).toMatchObject({ code: 0 });
    expect((await run(folder, "validate")).err.match(/was already applied/gu)).toHaveLength(3);
  });

  test("reads the state that --state names, not the one next to the spec", async () => {
    const spec = (key: string) =>
      `pools: { ${key}: { instance_pool_name: warm, node_type_id: Standard_DS3_v2 } }\n`;
    const folder = folderWith(spec("a"));
    await run(folder, "apply --host embedded --auto-approve");
    await run(folder, "apply --host embedded --auto-approve --adopt --state other");
    write(folder, `${spec("b")}moved: [{ from: pools.a, to: pools.b }]\n`);
    expect(await run(folder, "apply --host embedded --auto-approve")).toMatchObject({ code: 0 });
    expect((await run(folder, "validate")).err).toContain("was already applied");
    expect((await run(folder, "validate --state other")).err).toBe("");
  });

  test("names no entry because of a state that it cannot open, and says that it cannot", async () => {
    const folder = await applied(TARGETS + pool("a"), ["dev", "prod"]);
    write(folder, moved(TARGETS));
    for (const target of ["dev", "prod"])
      await run(folder, `apply -t ${target} --host embedded --auto-approve`);
    writeFileSync(join(folder, ".workspace/dev/state.json"), "damaged");
    const damaged = await said(folder);
    expect(damaged).toContain("was already applied in prod\n");
    expect(damaged).toContain("the state of dev could not be read, so it is unknown");
    expect(await said(folder, { WORKSPACE_STATE: `${folderWith("")}/none` })).not.toContain(
      "was already applied",
    );
    expect(await said(folder, { WORKSPACE_STATE: "workspace:/x" })).not.toContain("was already applied");
  });
});

describe("validate with a shared state", () => {
  const before = pool("a").replaceAll("${target.name}-", "");
  const after = `${pool("b").replaceAll("${target.name}-", "")}moved: [{ from: pools.a, to: pools.b }]\n`;
  const done = "the entry that moves pools.a to pools.b was already applied";
  const postgres = startPostgres();
  afterAll(() => postgres?.stop());
  const LOCATIONS: readonly (readonly [string, boolean, () => string])[] = [
    ["PostgreSQL", postgres !== undefined, () => postgres?.url("moved") ?? ""],
    ["the workspace", true, () => "workspace:/Shared/states/moved"],
  ];

  for (const [where, possible, location] of LOCATIONS)
    test.skipIf(!possible)(`in ${where} warns about a moved entry only after it was applied`, async () => {
      const env = { WORKSPACE_HOST: "embedded", WORKSPACE_STATE: location() };
      const folder = folderWith(before);
      expect(await run(folder, "apply --auto-approve", env)).toMatchObject({ code: 0 });
      write(folder, after);
      const early = await run(folder, "validate", env);
      expect([early.code, early.err]).toEqual([0, ""]);
      expect(await run(folder, "apply --auto-approve", env)).toMatchObject({ code: 0 });
      const late = await run(folder, "validate", env);
      expect([late.code, late.err]).toEqual([0, expect.stringContaining(`${done}\n`)]);
      expect(
        (await run(folder, `validate --state ${location()}`, { WORKSPACE_HOST: "embedded" })).err,
      ).toContain(done);
    });

  test("of a target in the workspace warns after it was applied there", async () => {
    const targets = "targets: { dev: { default: true, state: 'workspace:/Shared/dev' }, prod: {} }\n";
    const folder = folderWith(`${targets}${before}`);
    const env = { WORKSPACE_HOST: "embedded" };
    expect(await run(folder, "apply --auto-approve", env)).toMatchObject({ code: 0 });
    write(folder, `${targets}${after}`);
    expect(await run(folder, "apply --auto-approve", env)).toMatchObject({ code: 0 });
    const { code, err } = await run(folder, "validate", env);
    expect([code, err]).toEqual([0, expect.stringContaining(`${done} in dev\n`)]);
    expect(err).toContain("remove the entry after it was also applied in prod, whose state was not read");
  });

  test.each([
    ["postgres://nobody@127.0.0.1:1/none?sslmode=disable", "STATE_IO"],
    ["workspace:/Shared/states/moved", "CLI_NO_HOST"],
  ])("that cannot be read is a warning with the reason: %s", async (location, code) => {
    const folder = folderWith(after);
    const unread = await run(folder, `validate --state ${location}`);
    expect([unread.code, unread.out]).toEqual([0, expect.stringContaining("Valid: ")]);
    expect(unread.err).toContain(
      "warning SPEC_STATE_ENTRY: the state could not be read, so it is unknown which entries it still needs\n",
    );
    expect(unread.err).toContain(`cause: ${code}: `);
  });

  test("is not read without entries", async () => {
    const folder = folderWith(before);
    const location = "postgres://nobody@127.0.0.1:1/none?sslmode=disable";
    expect(await run(folder, `validate --state ${location}`)).toMatchObject({ code: 0, err: "" });
  });
});
