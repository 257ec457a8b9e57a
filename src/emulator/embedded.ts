// The service in this process, without a socket, with data in a folder.

import { createApp, type Service } from "./app.ts";
import type { AppParts } from "./control.ts";
import { chosenDialect, type DialectChoice } from "./dialect/databricks.ts";
import { contractFile } from "./http/contract.ts";
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

interface EmbeddedOptions extends DialectChoice {
  readonly dataDir: string;
  /** User name of the administrator; by default `admin@example.com`. */
  readonly admin?: string;
}

/** Opens (or makes) the workspace kept in a folder. Throws `DataInUse` when another process has it open. */
export function openEmbedded({ dataDir, admin = DEFAULT_ADMIN, ...choice }: EmbeddedOptions): Embedded {
  const store = openStore(dataDir);
  const token = keptText(dataDir, "token", () => newToken(store));
  const clock = new EmulatorClock(Date.now);
  const { app } = openService({ store, token, admin, clock, sleep: pause }, choice, dataDir);
  return { app, token, close: () => store.close() };
}

export function openInMemory(
  options: DialectChoice & { readonly time: () => number; readonly random: (count: number) => Uint8Array },
): Embedded {
  const store = new Store({ random: options.random });
  const token = newToken(store);
  const clock = new EmulatorClock(options.time);
  const { app } = openService({ store, token, admin: DEFAULT_ADMIN, clock }, options);
  return { app, token, close: () => store.close() };
}

const newToken = ({ world }: Store): string => `wat${world.hex(32)}`;

/** `copyIn`: a folder that may keep a copy of the descriptions. */
export function openService(
  parts: Pick<AppParts, "store" | "token" | "admin" | "clock" | "sleep">,
  choice: DialectChoice,
  copyIn?: string,
): Service {
  return createApp({ ...parts, contract: contractFile(copyIn), ...chosenDialect(choice, copyIn) });
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const DEFAULT_ADMIN = "admin@example.com";
