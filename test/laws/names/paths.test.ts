// Paths that pass from one object to another within one apply: a notebook becomes a folder with its name, and the reverse.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { makePlan } from "../../../src/planner/make-plan.ts";
import { doing, results, Site } from "../../engine/site.ts";
import { sampleOf } from "../../sample-size.ts";

const POLICY = "policy: { max_deletes: 100% }\n";

async function freshSite(): Promise<Site> {
  const site = await Site.start();
  onTestFinished(() => site.close());
  writeFileSync(join(site.folder, "a.py"), "print('a')\n");
  return site;
}

interface Tree {
  readonly directories?: readonly string[];
  readonly notebooks?: readonly string[];
  readonly files?: readonly string[];
  /** The notebook that a job runs. */
  readonly runs?: string;
}

function yamlOf({ directories = [], notebooks = [], files = [], runs }: Tree): string {
  const section = (kind: string, paths: readonly string[], value: string) =>
    paths.length === 0 ? "" : `${kind}:\n${paths.map((path) => `  ${path}: ${value}\n`).join("")}`;
  const cluster =
    "new_cluster: { spark_version: 6.4.x-scala2.11, node_type_id: Standard_DS3_v2, num_workers: 1 }";
  return [
    POLICY,
    section("directories", directories, "{}"),
    section("notebooks", notebooks, "{ source: a.py }"),
    section("files", files, "{ source: a.py }"),
    runs === undefined
      ? "users: {}\n"
      : `jobs: { nightly: { ${cluster}, notebook_task: { notebook_path: ${runs} } } }\n`,
  ].join("");
}

/** Applies once; afterwards the next plan is empty without drift. */
async function converges(site: Site, tree: Tree, adopt = false): Promise<void> {
  const { outcome } = await site.drive(site.process().apply(await site.spec(yamlOf(tree)), { adopt }));
  expect(outcome.diagnostics).toEqual([]);
  expect(results(outcome).filter((one) => !one.startsWith("applied "))).toEqual([]);
  const plan = await site.drive(site.process().plan(await site.spec(yamlOf(tree))));
  expect(doing(plan)).toEqual([]);
  expect(plan.drift).toEqual([]);
}

test.each<readonly [string, Tree, Tree]>([
  [
    "a notebook becomes a folder with a notebook that its job runs",
    { notebooks: ["/Shared/etl"], runs: "/Shared/etl" },
    { directories: ["/Shared/etl"], notebooks: ["/Shared/etl/main"], runs: "/Shared/etl/main" },
  ],
  [
    "a folder becomes a notebook that its job runs",
    { directories: ["/Shared/etl"], notebooks: ["/Shared/etl/main"], runs: "/Shared/etl/main" },
    { notebooks: ["/Shared/etl"], runs: "/Shared/etl" },
  ],
  ["a file becomes a folder", { files: ["/init/a"] }, { files: ["/init/a/b"] }],
  [
    "a notebook is deleted while another one is created in its folder",
    { notebooks: ["/Shared/etl/a"], runs: "/Shared/etl/a" },
    { notebooks: ["/Shared/etl/b"], runs: "/Shared/etl/b" },
  ],
])("in one apply, %s", async (_name, before, after) => {
  const site = await freshSite();
  await converges(site, before);
  await converges(site, after);
});

test("a folder that the spec no longer declares is kept and removed from the state when it contains declared notebooks", async () => {
  const site = await freshSite();
  await converges(site, { directories: ["/Shared/etl"], notebooks: ["/Shared/etl/a"] });
  const next = { notebooks: ["/Shared/etl/b"] };
  const plan = await site.drive(site.process().plan(await site.spec(yamlOf(next))));
  expect(plan.changes.find(({ kind }) => kind === "directories")).toMatchObject({
    action: "forget",
    reasons: ["notebooks./Shared/etl/b is in it and stays in the spec"],
  });
  await converges(site, next);
  expect(site.writes).not.toContain("POST workspace/delete /Shared/etl");
});

test.each<readonly [string, Tree, Tree, string]>([
  ["notebook", { notebooks: ["/Shared/etl/main"] }, { notebooks: ["/Shared/etl"] }, "notebooks./Shared/etl"],
  ["file", { files: ["/init/a/b"] }, { files: ["/init/a"] }, "files./init/a"],
])(
  "a %s at the path of a folder that the spec never declared is an error before anything is written",
  async (_kind, before, after, address) => {
    const site = await freshSite();
    await converges(site, before);
    const path = address.slice(address.indexOf("/"));
    await refusesFolder(site, after, address, path);
  },
);

test.each<readonly [string, Tree, Tree, string, string]>([
  [
    "a directory at the path of a notebook",
    { notebooks: ["/Shared/etl"] },
    { directories: ["/Shared/etl"] },
    "directories./Shared/etl",
    "/Shared/etl is a notebook",
  ],
  [
    "a directory below a notebook",
    { notebooks: ["/Shared/etl"] },
    { directories: ["/Shared/etl/x"] },
    "directories./Shared/etl/x",
    "/Shared/etl is a notebook",
  ],
  [
    "a notebook below a notebook",
    { notebooks: ["/Shared/etl"] },
    { notebooks: ["/Shared/etl/x"] },
    "notebooks./Shared/etl/x",
    "/Shared/etl is a notebook",
  ],
  [
    "a file below a file",
    { files: ["/init/a"] },
    { files: ["/init/a/b"] },
    "files./init/a/b",
    "/init/a is a file",
  ],
])(
  "%s that is unmanaged is an error before anything is written",
  async (_name, theirs, ours, address, why) => {
    const site = await freshSite();
    await converges(site, theirs);
    const forgotten = { ...(await site.state()), records: new Map() };
    const { input } = await site.drive(site.process().look(await site.spec(yamlOf(ours)), forgotten));
    expect(makePlan(input).diagnostics).toMatchObject([
      {
        code: "PLAN_ALREADY_EXISTS",
        address,
        at: { file: expect.stringContaining("workspace.yaml") },
        message: `${address} cannot be created: ${why}`,
        hint: expect.stringMatching(
          /^choose another path, or delete the (notebook|file) [^ ]+, then plan again$/,
        ),
      },
    ]);
  },
);

/** The plan has an error that names the folder, so an apply fails before its first write. */
async function refusesFolder(site: Site, tree: Tree, address: string, path: string): Promise<void> {
  const plan = await site.drive(site.process().plan(await site.spec(yamlOf(tree))));
  expect(plan.diagnostics).toMatchObject([
    {
      code: "PLAN_ALREADY_EXISTS",
      address,
      message: `${address} cannot be created: ${path} is a folder`,
      hint: `choose another path, or delete the folder ${path} and everything in it, then plan again`,
    },
  ]);
}

test("a folder that the plan deletes does not block a notebook at its path, also when a policy deletes it", async () => {
  const site = await freshSite();
  await converges(site, { notebooks: ["/Shared/etl/main"] });
  const strict = yamlOf({ directories: ["/Shared/web"], notebooks: ["/Shared/etl"] }).replace(
    "policy: {",
    "policy: { authoritative: [directories],",
  );
  const { outcome } = await site.drive(site.process().apply(await site.spec(strict)));
  expect(outcome.diagnostics).toEqual([]);
  expect(results(outcome).filter((one) => !one.startsWith("applied "))).toEqual([]);
  expect(doing(await site.drive(site.process().plan(await site.spec(strict))))).toEqual([]);
});

test("after an apply that was interrupted between the last notebook of a folder and its directory, the next one finishes", async () => {
  const site = await freshSite();
  await converges(site, { directories: ["/Shared/etl"], notebooks: ["/Shared/etl/deep/er/main"] });
  const interrupt = new AbortController();
  const process = site.process({
    signal: interrupt.signal,
    transport: async (request, send) => {
      const response = await send(request);
      if (request.method === "POST") interrupt.abort();
      return response;
    },
  });
  const spec = await site.spec(yamlOf({}));
  const { outcome } = await site.drive(process.apply(spec));
  expect(results(outcome)).toEqual([
    "applied delete notebooks./Shared/etl/deep/er/main",
    "skipped delete directories./Shared/etl",
  ]);
  const next = await site.drive(site.process().apply(spec));
  expect(next.plan.changes.map(({ consequences }) => consequences)).toEqual([
    ["empty folders in it are deleted too: /Shared/etl/deep/er"],
  ]);
  expect(results(next.outcome)).toEqual(["applied delete directories./Shared/etl"]);
  expect((await site.world.get("workspace/get-status", { path: "/Shared/etl" })).status).toBe(404);
});

test("a destroy deletes a folder that was created for a notebook, and is blocked by one with unmanaged objects", async () => {
  const site = await freshSite();
  const tree = { directories: ["/Shared/etl"], notebooks: ["/Shared/etl/deep/main"] };
  await converges(site, tree);
  const spec = await site.spec(yamlOf(tree));
  const theirs = { path: "/Shared/etl/theirs", language: "PYTHON", content: btoa("1") };
  await site.world.post("workspace/import", theirs);
  const blocked = await site.drive(site.process().plan(spec, { destroy: true }));
  expect(blocked.guards.map(({ diagnostic }) => diagnostic.code)).toEqual(["GUARD_DATA_LOSS"]);
  await site.world.post("workspace/delete", { path: theirs.path });
  const { outcome } = await site.drive(site.process().apply(spec, { destroy: true }));
  expect(results(outcome)).toEqual([
    "applied delete notebooks./Shared/etl/deep/main",
    "applied delete directories./Shared/etl",
  ]);
});

test("an empty folder that the spec removes from the state and keeps blocks the deletion of the folder around it", async () => {
  const site = await freshSite();
  await converges(site, { directories: ["/Shared/etl", "/Shared/etl/keep"] });
  const removed = "removed: [{ address: directories./Shared/etl/keep, destroy: false }]\n";
  const plan = await site.drive(site.process().plan(await site.spec(`${yamlOf({})}${removed}`)));
  expect(plan.guards.map(({ diagnostic }) => diagnostic.code)).toEqual(["GUARD_DATA_LOSS"]);
});

test("an empty folder that others create after the plan stays, and so does the folder around it", async () => {
  const site = await freshSite();
  await converges(site, { directories: ["/Shared/etl"], notebooks: ["/Shared/etl/deep/main"] });
  let appeared: Promise<unknown> | undefined;
  const process = site.process({
    transport: async (request, send) => {
      if (request.method === "POST")
        appeared ??= site.world.post("workspace/mkdirs", { path: "/Shared/etl/theirs/empty" });
      await appeared;
      return send(request);
    },
  });
  const { outcome } = await site.drive(process.apply(await site.spec(yamlOf({}))));
  expect(results(outcome)).toEqual([
    "applied delete notebooks./Shared/etl/deep/main",
    "failed delete directories./Shared/etl",
  ]);
  const { status } = await site.world.get("workspace/get-status", { path: "/Shared/etl/theirs/empty" });
  expect(status).toBe(200);
});

const PATHS = ["/Shared/etl", "/Shared/etl/x", "/Shared/etl/x/y", "/Shared/web", "/Shared/web/z"];

/** Any tree: each path is a folder, a notebook below no other notebook, or not declared. */
const trees: fc.Arbitrary<Tree> = fc
  .array(fc.constantFrom("directories", "notebooks", "none"), { minLength: 5, maxLength: 5 })
  .map((kinds) => {
    const of = (kind: string) => PATHS.filter((_, at) => kinds[at] === kind);
    const notebooks = of("notebooks").filter(
      (path, _, all) => !all.some((other) => path.startsWith(`${other}/`)),
    );
    const directories = of("directories").filter(
      (path) => !notebooks.some((notebook) => path.startsWith(`${notebook}/`)),
    );
    const runs = notebooks.at(-1);
    return { directories, notebooks, ...(runs === undefined ? {} : { runs }) };
  });

/** A notebook cannot replace an undeclared folder, which the service created for another notebook. */
const takesUndeclaredFolder = (before: Tree, after: Tree): boolean =>
  (after.notebooks ?? []).some(
    (path) =>
      !(before.directories ?? []).includes(path) &&
      [...(before.notebooks ?? []), ...(before.directories ?? [])].some((one) => one.startsWith(`${path}/`)),
  );

test("any tree of folders and notebooks becomes any other in one apply, or the plan names the folder that remains", async () => {
  await fc.assert(
    fc.asyncProperty(trees, trees, async (before, after) => {
      const site = await Site.start();
      try {
        writeFileSync(join(site.folder, "a.py"), "print('a')\n");
        await converges(site, before);
        if (!takesUndeclaredFolder(before, after)) return await converges(site, after, true);
        const plan = await site.drive(site.process().plan(await site.spec(yamlOf(after)), { adopt: true }));
        expect(plan.diagnostics.map(({ code }) => code)).toContain("PLAN_ALREADY_EXISTS");
      } finally {
        site.close();
      }
    }),
    { numRuns: sampleOf(60) },
  );
});
