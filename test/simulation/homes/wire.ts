// A wire to a database server that breaks at a chosen exchange: before it, in the middle of its transaction, or before its answer.

import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** `for-good`: before it, and all later requests fail too. */
export const BREAKS = ["before", "during", "after", "for-good"] as const;
export type Break = (typeof BREAKS)[number];

export interface Wire {
  /** Folder of the socket to connect to. */
  readonly folder: string;
  /** Messages with a question that were sent over it. */
  readonly exchanges: number;
  readonly isBroken: boolean;
  close(): void;
}

const SOCKET = ".s.PGSQL.5432";
/** The end of a transaction: a Sync message. Without it the server has done the work and not committed it. */
const SYNC = Buffer.from([0x53, 0, 0, 0, 4]);

export async function openWire(target: string, at: number, how: Break): Promise<Wire> {
  const folder = mkdtempSync(join(tmpdir(), "wire-"));
  const ends = new Set<Socket>();
  let exchanges = 0;
  let isBroken = false;
  const carry = (client: Socket): void => {
    const server = connect(join(target, SOCKET));
    let answerless = false;
    const cut = (): void => {
      client.destroy();
      server.destroy();
    };
    for (const end of [client, server]) {
      ends.add(end);
      end.on("error", cut);
      end.on("close", () => {
        ends.delete(end);
        if (end === client) server.end();
        else client.destroy();
      });
    }
    client.on("data", (data) => {
      const meets = exchanges++ === at;
      if (isBroken && how === "for-good") return cut();
      if (!meets) return void server.write(data);
      isBroken = true;
      switch (how) {
        case "before":
        case "for-good":
          return cut();
        case "during":
          server.end(data.subarray(-5).equals(SYNC) ? data.subarray(0, -5) : data.subarray(0, -1));
          return void client.destroy();
        case "after":
          answerless = true;
          return void server.write(data);
      }
    });
    server.on("data", (data) => {
      if (answerless) cut();
      else client.write(data);
    });
  };
  const server: Server = createServer(carry);
  await new Promise<void>((resolve) => server.listen(join(folder, SOCKET), resolve));
  return {
    folder,
    get exchanges() {
      return exchanges;
    },
    get isBroken() {
      return isBroken;
    },
    close: () => {
      for (const end of ends) end.destroy();
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
