// Users of a service on loopback, after an apply of a spec by the real program, and what others change of them.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, expect } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import { contextWith } from "../../cli/context.ts";
import { folderWith } from "../../cli/program.ts";

const TOKEN = "admin-token";

let server: RunningServer | undefined;
afterEach(() => server?.close());

/** A service after an apply of a spec; `files` has its other files. */
export async function applied(spec: string, files: Readonly<Record<string, string>> = {}) {
  server = await startEmulator({ port: 0, dataDir: ":memory:", token: TOKEN });
  const { url } = server;
  const folder = folderWith(spec);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const env = { WORKSPACE_HOST: url, WORKSPACE_STATE: join(folder, "state"), WORKSPACE_TOKEN: TOKEN };
  const run = async (...args: readonly string[]) => {
    const context = contextWith(env, folder);
    const code = await runProgram(context, [...args]);
    return { code, out: context.out(), all: context.out() + context.err() };
  };
  expect(await run("apply", "--auto-approve")).toMatchObject({ code: 0 });
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  const users = `${url}/api/2.0/preview/scim/v2/Users`;
  const call = async (path: string, body: object) => {
    const answer = await fetch(`${url}/api/2.0/${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
  };
  const changeMembers = async (group: string, operation: (user: string) => object, name: string) => {
    const groups = `${url}/api/2.0/preview/scim/v2/Groups`;
    const { Resources } = (await (await fetch(groups, { headers })).json()) as {
      readonly Resources: readonly { readonly id: string; readonly displayName: string }[];
    };
    const id = Resources.find(({ displayName }) => displayName === group)?.id;
    const user = list.Resources.find(({ userName }) => userName === `${name}@example.com`)?.id ?? "";
    const body = {
      schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
      Operations: [operation(user)],
    };
    const answer = await fetch(`${groups}/${id}`, { method: "PATCH", headers, body: JSON.stringify(body) });
    expect(answer.status).toBeLessThan(300);
  };
  const leave = (group: string, name: string) =>
    changeMembers(group, (user) => ({ op: "remove", path: `members[value eq "${user}"]` }), name);
  const enter = (group: string, name: string) =>
    changeMembers(group, (value) => ({ op: "add", path: "members", value: [{ value }] }), name);
  const list = (await (await fetch(users, { headers })).json()) as {
    readonly Resources: readonly { readonly id: string; readonly userName: string }[];
  };
  const ask = async (name: string, method: string, body?: object) => {
    const id = list.Resources.find(({ userName }) => userName === `${name}@example.com`)?.id;
    const answer = await fetch(`${users}/${id}`, { method, headers, body: body && JSON.stringify(body) });
    expect(answer.status).toBeLessThan(300);
  };
  const rename = (name: string, value: string) =>
    ask(name, "PATCH", {
      schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
      Operations: [{ op: "replace", path: "displayName", value }],
    });
  const file = (path = "workspace.yaml") => readFileSync(join(folder, path), "utf8");
  const write = (text: string) => writeFileSync(join(folder, "workspace.yaml"), text);
  return { run, call, rename, leave, enter, remove: (name: string) => ask(name, "DELETE"), file, write };
}
