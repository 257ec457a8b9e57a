// The service in this process, without a socket, with data in a folder.

import { createApp } from "./app.ts";
import { chosenDialect, type DialectChoice } from "./dialect/databricks.ts";
import { contractFile } from "./http/contract-file.ts";
import type { App } from "./http/message.ts";
import { keptText, openStore } from "./store/sqlite.ts";
import { Store } from "./store/store.ts";
import { EmulatorClock } from "./world/clock.ts";

export interface Embedded {
  readonly app: App;
  /** Token of the administrator, stored next to the data. */
  readonly token: string;
  close(): void;
}

export interface EmbeddedOptions extends DialectChoice {
  readonly dataDir: string;
  /** User name of the administrator; by default `admin@example.com`. */
  readonly admin?: string;
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
    ...chosenDialect(options, options.dataDir),
    clock: new EmulatorClock(options.machineTime ?? Date.now),
    admin: options.admin ?? DEFAULT_ADMIN,
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  });
  return { app, token, close: () => store.close() };
}

export function openInMemory(
  options: DialectChoice & { readonly time: () => number; readonly random: (count: number) => Uint8Array },
): Embedded {
  const store = new Store({ random: options.random });
  const token = `wat${store.world.hex(32)}`;
  const clock = new EmulatorClock(options.time);
  const contract = contractFile();
  const { app } = createApp({
    store,
    token,
    contract,
    ...chosenDialect(options),
    clock,
    admin: DEFAULT_ADMIN,
  });
  return { app, token, close: () => store.close() };
}

export const DEFAULT_ADMIN = "admin@example.com";
