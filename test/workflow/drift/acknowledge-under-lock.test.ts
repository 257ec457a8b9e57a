// `drift acknowledge` next to an apply, and by callers with different tokens, through the real program and a service on loopback.

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, describe, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import type { Address } from "../../../src/core/address.ts";
import { type RunningServer, startEmulator } from "../../../src/emulator/server.ts";
import type { Drift } from "../../../src/planner/model/plan.ts";
import { rememberReported } from "../../../src/workflow/drift/drift.ts";
import { writeEntries } from "../../../src/workflow/session/open-state.ts";
import { contextWith } from "../../cli/context.ts";
import { folderWith } from "../../cli/program.ts";
import { ACKNOWLEDGED, storeOn } from "../../state/build.ts";
import { VirtualClock } from "../../state/virtual-clock.ts";

const ADMIN = "admin-token";
const SPEC = `users: { ada@example.com: {}, bo@example.com: {} }
groups: { g: { members: { users: [ada@example.com] } }, h: { members: { users: [ada@example.com] } } }
`;

let server: RunningServer | undefined;
afterEach(() => server?.close());

/** A service in which bo was added to both groups after the apply. */
async function drifted() {
  server = await startEmulator({ port: 0, dataDir: ":memory:", token: ADMIN });
  const { url } = server;
  const folder = folderWith(SPEC);
  const state = mkdtempSync(join(tmpdir(), "acknowledge-"));
  const begin = (line: string, token = ADMIN, terminal = false) => {
    const env = { WORKSPACE_HOST: url, WORKSPACE_STATE: state, WORKSPACE_TOKEN: token };
    const stdin = Object.assign(new PassThrough(), { isTTY: terminal });
    const context = { ...contextWith(env, folder, terminal), stdin };
    const ended = runProgram(context, line.split(" "));
    return { context, stdin, ended };
  };
  const run = async (line: string, token = ADMIN) => {
    const { context, ended } = begin(line, token);
    const code = await ended;
    return { code, out: context.out(), all: context.out() + context.err() };
  };
  expect((await run("apply --auto-approve")).code).toBe(0);
  for (const group of ["g", "h"])
    expect((await run(`api groups/add-member user_name=bo@example.com parent_name=${group}`)).code).toBe(0);
  /** A token of another administrator. */
  const tokenOf = async (user_name: string): Promise<string> => {
    await run(`api groups/add-member user_name=${user_name} parent_name=admins`);
    const response = await fetch(`${url}/__emulator/tokens`, {
      method: "POST",
      headers: { authorization: `Bearer ${ADMIN}` },
      body: JSON.stringify({ user_name }),
    });
    expect(response.status).toBe(200);
    return ((await response.json()) as { readonly token: string }).token;
  };
  return { run, begin, tokenOf };
}

const ACKNOWLEDGE = "drift acknowledge groups.g --until 2999-01-01 --reason agreed";

describe("an acknowledgement that waits for an apply", () => {
  test("is refused when the apply reverted the drift meanwhile", async () => {
    const { run, begin } = await drifted();
    const apply = begin("apply", ADMIN, true);
    await expect.poll(apply.context.err, { timeout: 10_000 }).toContain("Apply this plan?");
    const accept = begin(`${ACKNOWLEDGE} --lock-timeout 30s`);
    await expect.poll(accept.context.err, { timeout: 10_000 }).toContain("Waiting");
    apply.stdin.write("yes\n");
    expect(await apply.ended).toBe(0);
    expect(await accept.ended).toBe(1);
    expect(accept.context.err()).toContain("error CLI_UNKNOWN_ADDRESS: no drift exists at groups.g");
    expect((await run("drift acknowledge --list")).out).toBe("Nothing is acknowledged.\n");
    // The same drift again is new.
    await run("api groups/add-member user_name=bo@example.com parent_name=g");
    const again = await run("drift");
    expect([again.code, again.all]).toEqual([2, expect.not.stringContaining("acknowledged")]);
  });

  test("is of the drift that an apply leaves, and only of that", async () => {
    const { run, begin } = await drifted();
    const apply = begin("apply --only groups.g", ADMIN, true);
    await expect.poll(apply.context.err, { timeout: 10_000 }).toContain("Apply this plan?");
    const accept = begin(`${ACKNOWLEDGE.replace("groups.g", "groups.h")} --lock-timeout 30s`);
    await expect.poll(accept.context.err, { timeout: 10_000 }).toContain("Waiting");
    apply.stdin.write("yes\n");
    expect([await apply.ended, await accept.ended]).toEqual([0, 0]);
    const { code, all } = await run("drift");
    expect([code, all]).toEqual([0, expect.stringContaining("acknowledged until 2999-01-01")]);
  });

  test("holds when the apply is declined", async () => {
    const { run, begin } = await drifted();
    const apply = begin("apply", ADMIN, true);
    await expect.poll(apply.context.err, { timeout: 10_000 }).toContain("Apply this plan?");
    const accept = begin(`${ACKNOWLEDGE} --lock-timeout 30s`);
    await expect.poll(accept.context.err, { timeout: 10_000 }).toContain("Waiting");
    apply.stdin.write("no\n");
    expect(await apply.ended).toBe(1);
    expect(await accept.ended).toBe(0);
    expect((await run("drift acknowledge --list")).out).toContain("groups.g  until 2999-01-01");
  });
});

describe("acknowledgements of two callers", () => {
  test("name the owner of each token, in the list, in drift, and in the plan that reverts them", async () => {
    const { run, tokenOf } = await drifted();
    const ada = await tokenOf("ada@example.com");
    expect((await run(ACKNOWLEDGE)).code).toBe(0);
    expect((await run(ACKNOWLEDGE.replace("groups.g", "groups.h"), ada)).code).toBe(0);
    const list = (await run("drift acknowledge --list")).out;
    expect(list).toContain("groups.g  until 2999-01-01T23:59:59Z by admin@example.com: agreed");
    expect(list).toContain("groups.h  until 2999-01-01T23:59:59Z by ada@example.com: agreed");
    const plan = (await run("plan", ada)).all;
    expect(plan).toMatch(/groups\.g[\s\S]*admin@example\.com[\s\S]*groups\.h[\s\S]*ada@example\.com/);
  });

  test("of the same drift are one: the later caller, and the later reason", async () => {
    const { run, tokenOf } = await drifted();
    const ada = await tokenOf("ada@example.com");
    await run(ACKNOWLEDGE, ada);
    await run(ACKNOWLEDGE.replace("agreed", "checked"));
    const { out } = await run("drift acknowledge --list", ada);
    expect(out.trim().split("\n")).toEqual([
      "groups.g  until 2999-01-01T23:59:59Z by admin@example.com: checked",
    ]);
  });

  test("are each of the drift under the lock when both wait", async () => {
    const { run, begin, tokenOf } = await drifted();
    const ada = await tokenOf("ada@example.com");
    const [first, second] = [
      begin(`${ACKNOWLEDGE} --lock-timeout 30s`),
      begin(`${ACKNOWLEDGE.replace("groups.g", "groups.h")} --lock-timeout 30s`, ada),
    ];
    expect([await first.ended, await second.ended]).toEqual([0, 0]);
    const { code, out } = await run("drift acknowledge --list");
    expect([code, out.trim().split("\n").sort()]).toEqual([
      0,
      [
        "groups.g  until 2999-01-01T23:59:59Z by admin@example.com: agreed",
        "groups.h  until 2999-01-01T23:59:59Z by ada@example.com: agreed",
      ],
    ]);
    expect((await run("drift")).code).toBe(0);
  });
});

test("a report ends no acknowledgement that came after its comparison, and counts no drift as reported that was acknowledged before or is by now", async () => {
  const clock = new VirtualClock(1_000_000);
  const store = storeOn({ clock });
  const [shared, other, gone] = [
    "pools.shared" as Address,
    "pools.other" as Address,
    "pools.gone" as Address,
  ];
  const agreed = "pools.agreed" as Address;
  const drifted = (address: Address): Drift => ({
    ...{ address, kind: "pools", name: "a", what: "changed", digests: [`digest of ${address}`] },
    diffs: [{ path: ["max_capacity"], before: 2, after: 1, cause: "drift", replaces: false }],
    marks: [{ reported: false, ...(address === agreed && { acknowledged: ACKNOWLEDGED }) }],
  });
  const { state } = await store.read();
  const later = [shared, gone].map((address) => ({
    ...ACKNOWLEDGED,
    ...{ address, differences: [`digest of ${address}`], until: 2_000_000 },
  }));
  const wait = { timeoutMs: 0 };
  await writeEntries(store, wait, () =>
    later.map((acknowledgement) => ({ type: "acknowledged", acknowledgement })),
  );
  const drift = [shared, other, agreed].map(drifted);
  const alerted = new Map<string, readonly boolean[]>(drift.map(({ address }) => [address, [true]]));
  const pools = { readable: true, objects: [], unreadableParents: new Map() } as const;
  const live = new Map([["pools", pools]]);
  const report = { drift, live, only: undefined, moves: new Map(), alerted };
  expect(await rememberReported({ store, secretDigest: String, clock }, state, report, wait)).toEqual([]);
  expect((await store.read()).state).toMatchObject({
    acknowledged: later,
    reported: [{ address: other, differences: [`digest of ${other}`] }],
  });
});
