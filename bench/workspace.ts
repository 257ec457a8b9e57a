// A workspace served by the emulator in another process, with counts of its requests.

import { join } from "node:path";
import { ROOT, start } from "./process.ts";

export const CLI = join(ROOT, "bin/workspace.js");
export const TOKEN = "bench-0123456789abcdef";

export interface Workspace {
  readonly url: string;
  /** How many requests came since the last question, reads and writes. */
  requests(): Promise<{ readonly reads: number; readonly writes: number }>;
  stop(): Promise<void>;
}

interface Entry {
  readonly seq: number;
  readonly write: boolean;
  readonly status: number;
}

export async function startWorkspace(dialect = "contract"): Promise<Workspace> {
  const memory = ["--data", ":memory:", "--token", TOKEN, "--dialect", dialect];
  const emulator = await start([CLI, "emulator", "--port", "0", ...memory]);
  const url = /https?:\/\/\S+/.exec(emulator.line)?.[0] ?? "";
  const headers = { authorization: `Bearer ${TOKEN}` };
  const log = `${url}/__emulator/requests`;
  return {
    url,
    async requests() {
      const { requests } = (await (await fetch(log, { headers })).json()) as { requests: Entry[] };
      await fetch(log, { method: "DELETE", headers });
      const writes = requests.filter((one) => one.write).length;
      return { reads: requests.length - writes, writes };
    },
    stop: emulator.stop,
  };
}
