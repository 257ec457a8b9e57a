// `workspace drift accept` while another program edits the spec: no edit is lost, and no file is half written. And what a pattern leaves out.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { contextWith } from "../context.ts";
import { forwarded } from "../forwarding.ts";
import { folderWith } from "../program.ts";

const TOKEN = "race-token";
const SPEC = `include: [more.yaml]
pools:
  a: { node_type_id: Standard_DS3_v2, max_capacity: 10 }
`;
const MORE = "pools:\n  b: { node_type_id: Standard_DS3_v2, max_capacity: 10 }\n";

let emulator: RunningServer;
let proxy: Server;
let folder: string;
/** Runs when the lists of the workspace are read: after the spec was read, and before it is written. */
let during = (): void => undefined;

beforeEach(async () => {
  emulator = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
  folder = folderWith(SPEC);
  writeFileSync(join(folder, "more.yaml"), MORE);
  proxy = createServer((request, response) => {
    if (request.url?.includes("instance-pools/list")) during();
    void forwarded(request, emulator.url, TOKEN).then(({ status, text }) => {
      response.writeHead(status, { "content-type": "application/json" }).end(text);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
});
afterEach(async () => {
  during = () => undefined;
  await new Promise((resolve) => proxy.close(resolve));
  await emulator.close();
  rmSync(folder, { recursive: true, force: true });
});

async function run(...words: string[]) {
  const host = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const context = contextWith({ WORKSPACE_HOST: host, WORKSPACE_TOKEN: TOKEN }, folder);
  const code = await runProgram(context, words);
  return { code, text: context.out() + context.err() };
}

const file = (name: string): string => readFileSync(join(folder, name), "utf8");

async function drifted(): Promise<void> {
  const applied = await run("apply", "--auto-approve");
  expect(applied.code, applied.text).toBe(0);
  const { text } = await run("api", "instance-pools/list");
  const { instance_pools: pools } = JSON.parse(text.slice(text.indexOf("{"))) as {
    instance_pools: { instance_pool_id: string; instance_pool_name: string; node_type_id: string }[];
  };
  for (const { instance_pool_id, instance_pool_name, node_type_id } of pools) {
    const words = { instance_pool_id, instance_pool_name, node_type_id, max_capacity: 7 };
    const inputs = Object.entries(words).map(([name, value]) => `${name}=${value}`);
    expect((await run("api", "instance-pools/edit", ...inputs, "--auto-approve")).code).toBe(0);
  }
}

const REFUSED = "was changed by another program in the meantime, so nothing is written";

test.each([
  ["a comment", "workspace.yaml", `# edited meanwhile\n${SPEC}`],
  ["another value for a field that drifted", "more.yaml", MORE.replace("10", "15")],
])(
  "%s that another program writes during the run stays, and nothing is accepted",
  async (_what, name, text) => {
    await drifted();
    during = () => writeFileSync(join(folder, name), text);
    const refused = await run("drift", "accept", "*");
    expect(refused).toMatchObject({ code: 1, text: expect.stringContaining(`${name} ${REFUSED}`) });
    const now = { "workspace.yaml": SPEC, "more.yaml": MORE, [name]: text };
    expect([file("workspace.yaml"), file("more.yaml")]).toEqual([now["workspace.yaml"], now["more.yaml"]]);
  },
);

test("an edit that makes the spec invalid refuses the run, and no file changes", async () => {
  await drifted();
  const invalid = SPEC.replace("max_capacity", "max_capacty");
  during = () => writeFileSync(join(folder, "workspace.yaml"), invalid);
  const { code, text } = await run("drift", "accept", "*");
  expect([code, text]).toEqual([1, expect.stringContaining("SPEC_UNKNOWN_FIELD")]);
  expect([file("workspace.yaml"), file("more.yaml")]).toEqual([invalid, MORE]);
});

test("without another program, both files are written", async () => {
  await drifted();
  expect((await run("drift", "accept", "*")).code).toBe(0);
  expect([file("workspace.yaml"), file("more.yaml")]).toEqual([
    SPEC.replace("10", "7"),
    MORE.replace("10", "7"),
  ]);
});

test("a pattern leaves out acknowledged fields, and a named address includes them", async () => {
  const applied = SPEC.replace("10 }", "10, idle_instance_autotermination_minutes: 20 }");
  writeFileSync(join(folder, "workspace.yaml"), applied);
  await drifted();
  const until = ["--until", "2999-12-31", "--reason", "load test"];
  expect((await run("drift", "acknowledge", "pools.a.max_capacity", ...until)).code).toBe(0);
  const { code, text } = await run("drift", "accept", "*");
  expect([code, text]).toEqual([
    0,
    expect.stringContaining("pools.a: idle_instance_autotermination_minutes 20 → "),
  ]);
  expect(file("workspace.yaml")).toContain("max_capacity: 10");
  expect(file("workspace.yaml")).not.toContain("idle_instance_autotermination_minutes: 20");
  expect(file("more.yaml")).toBe(MORE.replace("10", "7"));
  const again = await run("drift", "accept", "*");
  expect(again).toMatchObject({ code: 0, text: expect.stringContaining("already has the live values") });
  writeFileSync(join(folder, "workspace.yaml"), applied);
  expect((await run("drift", "accept", "pools.a")).code).toBe(0);
  expect(file("workspace.yaml")).toContain("max_capacity: 7");
});
