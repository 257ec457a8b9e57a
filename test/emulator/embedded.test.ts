// The service inside a process, with its data in a separate folder.

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Embedded, openEmbedded } from "../../src/emulator/embedded.ts";
import { ConnectionLost } from "../../src/emulator/http/message.ts";
import { DataInUse } from "../../src/emulator/store/sqlite.ts";

let dataDir: string;
beforeEach(() => {
  dataDir = join(mkdtempSync(join(tmpdir(), "embedded-test-")), "deep", "data");
});
afterEach(() => rmSync(join(dataDir, "..", ".."), { recursive: true, force: true }));

const send = (embedded: Embedded, method: string, path: string, body?: object) =>
  embedded.app({
    method,
    path,
    headers: { authorization: `Bearer ${embedded.token}`, accept: "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

test("keeps its workspace and its token between openings, in a private folder", async () => {
  const first = openEmbedded({ dataDir });
  expect((await send(first, "POST", "/api/2.0/groups/create", { group_name: "eng" })).status).toBe(200);
  first.close();
  const second = openEmbedded({ dataDir });
  expect(second.token).toBe(first.token);
  expect((await send(second, "GET", "/api/2.0/groups/list")).body).toContain("eng");
  second.close();
  for (const name of ["token", "key"]) expect(statSync(join(dataDir, name)).mode & 0o077).toBe(0);
});

test("the administrator is who is named, else admin@example.com", async () => {
  const embedded = openEmbedded({ dataDir, admin: "ada@example.com" });
  expect((await send(embedded, "GET", "/api/2.0/preview/scim/v2/Me")).body).toContain("ada@example.com");
  embedded.close();
});

test("a folder that is open already is refused", () => {
  const embedded = openEmbedded({ dataDir });
  expect(() => openEmbedded({ dataDir })).toThrow(DataInUse);
  embedded.close();
});

test("a closed connection is a typed failure", async () => {
  const embedded = openEmbedded({ dataDir });
  await send(embedded, "PUT", "/__emulator/faults", { rules: [{ path: "*", fate: "drop_after", times: 1 }] });
  await expect(send(embedded, "GET", "/api/2.0/groups/list")).rejects.toBeInstanceOf(ConnectionLost);
  embedded.close();
});

test("a token and a copy of the contract that a crash left incomplete are made again", async () => {
  openEmbedded({ dataDir }).close();
  writeFileSync(join(dataDir, "token"), "");
  for (const text of ["{", "[]", "null"]) {
    writeFileSync(join(dataDir, "openapi.json"), text);
    vi.resetModules();
    const { openEmbedded: openAgain } = await import("../../src/emulator/embedded.ts");
    const embedded = openAgain({ dataDir });
    expect((await send(embedded, "GET", "/api/2.0/groups/list")).status).toBe(200);
    embedded.close();
    expect(JSON.parse(readFileSync(join(dataDir, "openapi.json"), "utf8"))).toHaveProperty("stamp");
  }
});
