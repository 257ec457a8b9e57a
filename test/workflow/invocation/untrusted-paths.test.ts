// `plan --untrusted`: no path that the checkout of a pull request contains leads the run out of it.

import { cpSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { contextWith } from "../../cli/context.ts";

const CANARY = "outside-canary";
const SPEC = `variables: { tag: { default: plain } }
groups: { g: {} }
pools: { p: { node_type_id: Standard_DS3_v2, custom_tags: { t: "\${var.tag}" } } }
`;
const FOREIGN = `pools: { ${CANARY}: { node_type_id: Standard_DS3_v2 } }\n`;

let root: string;
let checkout: string;
/** Next to the checkout, on the machine of the run. */
let outside: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "paths-")));
  [checkout, outside] = [join(root, "checkout"), join(root, "other")];
  write("checkout/.git/HEAD", "ref: refs/heads/main\n");
  write("checkout/.git/config", `tag: ${CANARY}\n`);
  write("checkout/infra/workspace.yaml", SPEC);
  write("other/workspace.yaml", FOREIGN);
  write("other/vars.yaml", `tag: ${CANARY}\n`);
  write("other/n.py", `print("${CANARY}")\n`);
  write("other/module/module.yaml", FOREIGN);
  write("other/module/workspace.yaml", FOREIGN);
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

/** `to`: relative to the folder of the link. */
function link(path: string, to: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  symlinkSync(to, join(root, path));
}

async function plan(line: string, cwd = checkout, env: Readonly<Record<string, string>> = {}) {
  const context = {
    ...contextWith({ WORKSPACE_STATE: join(root, "state"), ...env }, cwd),
    home: "/home/ada",
  };
  const code = await runProgram(context, `plan --offline ${line}`.trim().split(" "));
  return { code, all: `${context.out()}${context.err()}` };
}

const REFUSED =
  /error SPEC_OUTSIDE: the (folder of the spec|variable file), .*, is outside the untrusted checkout, because of a link/;

async function expectRefused(line: string, cwd = checkout, env = {}): Promise<void> {
  const { code, all } = await plan(`--untrusted ${line}`.trim(), cwd, env);
  expect([code, all]).toEqual([1, expect.stringMatching(REFUSED)]);
  expect(all).not.toContain(CANARY);
}

async function expectPlanned(line: string, cwd = checkout, env = {}): Promise<void> {
  const { code, all } = await plan(`--untrusted ${line}`.trim(), cwd, env);
  expect([code, all]).toEqual([0, expect.stringContaining("groups.g")]);
  expect(all).not.toContain(CANARY);
}

describe("the folder of an untrusted spec", () => {
  test.each([
    ["a link to a folder next to the checkout", "specs", "../other", "-f specs/workspace.yaml"],
    ["a link in the middle of its path", "a/b", "../../other", "-f a/b/module/workspace.yaml"],
    ["an absolute link", "specs", "ABSOLUTE", "-f specs/workspace.yaml"],
    ["a link to the folder around the checkout", "up", "..", "-f up/other/workspace.yaml"],
    ["a link to the root folder", "root", "/", "-f root/ROOT/other/workspace.yaml"],
  ])("cannot be %s", async (_, path, to, line) => {
    link(`checkout/${path}`, to === "ABSOLUTE" ? outside : to);
    const words = line.replace("ROOT", root.slice(1));
    await expectRefused(words);
    await expectRefused(words.replace("-f ", `-f ${checkout}/`), "/");
    expect((await plan(words)).all).toContain(CANARY);
  });

  test("cannot be a link to a checkout of another repository, or a chain of links", async () => {
    write("other/.git/HEAD", "x");
    link("checkout/specs", "hop");
    link("checkout/hop", "../other");
    await expectRefused("-f specs/workspace.yaml");
  });

  test("cannot be the current folder behind a link of the checkout", async () => {
    link("checkout/specs", "../other");
    await expectRefused("", outside, { PWD: join(checkout, "specs") });
    expect((await plan("--untrusted", outside, { PWD: "/elsewhere" })).code).toBe(0);
  });

  test("cannot be a link out of the current folder without a repository", async () => {
    cpSync(checkout, join(root, "plain"), { recursive: true, filter: (path) => !path.includes(".git") });
    link("plain/specs", "../other");
    await expectRefused("-f specs/workspace.yaml", join(root, "plain"));
    await expectPlanned("-f infra/workspace.yaml", join(root, "plain"));
  });

  test("cannot be a link out of a submodule", async () => {
    write("checkout/sub/.git", "gitdir: ../.git/modules/sub\n");
    link("checkout/sub/specs", "../infra");
    await expectRefused("-f sub/specs/workspace.yaml");
  });

  test("cannot be a link to a hidden folder of the checkout", async () => {
    write("checkout/.git/modules/x/workspace.yaml", FOREIGN);
    link("checkout/specs", ".git/modules/x");
    await expectRefused("-f specs/workspace.yaml");
  });

  test("can be a link to a folder of the checkout, or be reached by a link of the user", async () => {
    link("checkout/specs", "infra");
    await expectPlanned("-f specs/workspace.yaml");
    link("mine", "checkout");
    await expectPlanned(`-f ${root}/mine/infra/workspace.yaml`, root);
    await expectPlanned("-f infra/workspace.yaml", checkout, { PWD: join(root, "mine") });
  });

  test("can be in a checkout in the home folder, which is a checkout, too", async () => {
    write(".git/HEAD", "x");
    link("work", "checkout");
    const context = { ...contextWith({ WORKSPACE_STATE: join(root, "state") }, checkout), home: root };
    expect(
      await runProgram(context, [
        "plan",
        "--offline",
        "--untrusted",
        "-f",
        `${root}/work/infra/workspace.yaml`,
      ]),
    ).toBe(0);
    link("checkout/specs", "../other");
    expect(
      await runProgram(context, ["plan", "--offline", "--untrusted", "-f", "specs/workspace.yaml"]),
    ).toBe(1);
  });

  test("is checked before a state next to it is read, offline or not", async () => {
    link("checkout/specs", "../other");
    write("other/.workspace/default/state.json", CANARY);
    const env = { WORKSPACE_STATE: "", WORKSPACE_HOST: "https://w.example", WORKSPACE_TOKEN: "t" };
    await expectRefused("-f specs/workspace.yaml", checkout, env);
    const context = contextWith(env, checkout);
    expect(await runProgram(context, ["plan", "--untrusted", "-f", "specs/workspace.yaml"])).toBe(1);
    expect(context.err()).toMatch(REFUSED);
  });
});

describe("a variable file of an untrusted checkout", () => {
  test.each([
    ["out of the checkout", "../other/vars.yaml"],
    ["into a hidden folder", ".git/config"],
    ["to a link out of the checkout", "hop.yaml"],
  ])("cannot be a link %s", async (_, to) => {
    link("checkout/v.yaml", to);
    link("checkout/hop.yaml", "../other/vars.yaml");
    await expectRefused("-f infra/workspace.yaml --var-file v.yaml");
    await expectRefused(`-f checkout/infra/workspace.yaml --var-file ${checkout}/v.yaml`, root);
    expect((await plan("-f infra/workspace.yaml --var-file v.yaml")).all).toContain(CANARY);
  });

  test("cannot be in a folder that a link leads out of the checkout", async () => {
    link("checkout/vars", "../other");
    await expectRefused("-f infra/workspace.yaml --var-file vars/vars.yaml");
  });

  test("can be a file of the checkout, or one that the caller names outside of it", async () => {
    write("checkout/v.yaml", "tag: own\n");
    write("mine.yaml", "tag: mine\n");
    link("mine-link.yaml", "mine.yaml");
    await expectPlanned("-f infra/workspace.yaml --var-file v.yaml");
    await expectPlanned(`-f infra/workspace.yaml --var-file ${root}/mine-link.yaml`);
  });
});

describe("inside the folder of an untrusted spec, a link out of it is refused as", () => {
  test.each([
    ["an include", "include: [l/workspace.yaml]\n", "l", "../../other"],
    ["a pattern of includes", "include: ['l/*.yaml']\n", "l", "../../other"],
    ["a notebook", "notebooks: { /x: { source: l/n.py } }\n", "l", "../../other"],
    ["the content of a file", "files: { /x: { source: a/l/n.py } }\n", "a/l", "../../../other"],
    ["a folder of sources", "notebooks: { /x: { source_dir: l } }\n", "l", "../../other"],
    ["a module", "modules: { m: { source: l/module } }\n", "l", "../../other"],
    ["the spec itself", undefined, "workspace.yaml", "../../other/workspace.yaml"],
  ])("%s", async (_, spec, path, to) => {
    link(`checkout/links/${path}`, to);
    if (spec !== undefined) write("checkout/links/workspace.yaml", spec);
    const { code, all } = await plan("--untrusted -f links/workspace.yaml");
    expect([code, all]).toEqual([1, expect.stringMatching(/error SPEC_/)]);
    expect(all).not.toContain(CANARY);
  });
});

test("the base of an untrusted plan is read without its links out of the base", async () => {
  write("base/infra/workspace.yaml", `include: [l/workspace.yaml]\n${SPEC}`);
  link("base/infra/l", "../../other");
  const { code, all } = await plan("--untrusted -f infra/workspace.yaml --base ../base");
  expect([code, all]).toEqual([
    0,
    expect.stringContaining('PLAN_BASE: the spec of the base "base" is invalid'),
  ]);
  expect(all).not.toContain(CANARY);
  link("base/specs", "../other");
  cpSync(join(checkout, "infra"), join(checkout, "specs"), { recursive: true });
  const second = await plan("--untrusted -f specs/workspace.yaml --base ../base");
  expect([second.code, second.all]).toEqual([0, expect.stringContaining("because of a link")]);
  expect(second.all).not.toContain(CANARY);
});
