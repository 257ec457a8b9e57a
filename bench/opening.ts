// How long the emulator takes to open a workspace of 100,000 objects, from the start of its process to its first answer.

import { openEmbedded } from "../src/emulator/embedded.ts";
import { inFolder, start } from "./process.ts";
import { CLI, TOKEN } from "./workspace.ts";

export const OBJECTS = 100_000;
const USERS = "/api/2.0/preview/scim/v2/Users";

export function measureOpening(): Promise<{ readonly openedMs: number; readonly answeredMs: number }> {
  return inFolder(async (folder) => {
    const id = await fill(folder);
    const begin = performance.now();
    const emulator = await start([CLI, "emulator", "--port", "0", "--data", folder, "--token", TOKEN]);
    const openedMs = performance.now() - begin;
    const url = /https?:\/\/\S+/.exec(emulator.line)?.[0] ?? "";
    const answer = await fetch(`${url}${USERS}/${id}`, { headers: { authorization: `Bearer ${TOKEN}` } });
    const answeredMs = performance.now() - begin;
    await emulator.stop();
    if (!answer.ok) throw new Error(`the last of ${OBJECTS} objects was answered ${answer.status}`);
    return { openedMs, answeredMs };
  });
}

/** Returns the id of the last object. */
async function fill(folder: string): Promise<string> {
  const { app, token, close } = openEmbedded({ dataDir: folder });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/scim+json" };
  const schemas = ["urn:ietf:params:scim:schemas:core:2.0:User"];
  let last = "{}";
  for (let n = 0; n < OBJECTS; n++) {
    const body = JSON.stringify({ schemas, userName: `person-${n}@example.com` });
    last = String((await app({ method: "POST", path: USERS, headers, body })).body);
  }
  close();
  return (JSON.parse(last) as { id: string }).id;
}
