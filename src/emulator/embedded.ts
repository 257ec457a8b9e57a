// The service inside this process, without a socket, over a folder of its own.

import { createApp } from "./app.ts";
import { Clock } from "./clock.ts";
import type { App } from "./message.ts";
import { contractFile } from "./store-contract.ts";
import { keptText, openStore } from "./store-sqlite.ts";

export interface Embedded {
  readonly app: App;
  /** Token of the administrator, kept beside the data. */
  readonly token: string;
  close(): void;
}

export interface EmbeddedOptions {
  readonly dataDir: string;
  /** User name of the administrator; by default `admin@example.com`. */
  readonly admin?: string;
  /** The machine's time in milliseconds. */
  readonly machineTime?: () => number;
}

/** Opens (or makes) the workspace kept in a folder. Throws `DataInUse` when another process has it open. */
export function openEmbedded(options: EmbeddedOptions): Embedded {
  const store = openStore(options.dataDir);
  const token = keptText(options.dataDir, "token", () => `wat${store.world.hex(32)}`);
  const { app } = createApp({
    store,
    token,
    contract: contractFile(options.dataDir),
    clock: new Clock(options.machineTime ?? Date.now),
    admin: options.admin ?? DEFAULT_ADMIN,
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  });
  return { app, token, close: () => store.close() };
}

export const DEFAULT_ADMIN = "admin@example.com";
