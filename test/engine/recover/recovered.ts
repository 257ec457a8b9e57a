// Recovery of a state from plain values: open intents, sweeps, records, and what is live.

import { type Address, kindOf, remoteId } from "../../../src/core/address.ts";
import { error } from "../../../src/core/diagnostic.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { type Recovered, recover } from "../../../src/engine/recover/recover.ts";
import { registryOf } from "../../../src/resource/kind.ts";
import type { Live, LiveKind, LiveObject } from "../../../src/resource/live.ts";
import { emptyState } from "../../../src/state/format/fold.ts";
import type { Intent, OpenIntent, State, StateRecord, Sweep } from "../../../src/state/model/record.ts";
import { intent } from "../../state/build.ts";
import { kind, toys } from "../toy.ts";

export const NOW = 1_000_000;

/** The toys, and kinds with a name field, with content that is uploaded in parts or at once, and with unreadable values. */
const kinds = registryOf([
  ...toys.kinds,
  kind("named", { nameField: "title", fields: { title: { type: "string" }, size: { type: "integer" } } }),
  kind("uploads", { content: { partialUploadName: (name, token) => `${name}.${token}.part` } }),
  kind("notes", { content: {} }),
  kind("vaults", {
    fields: {
      size: { type: "integer" },
      key: { type: "string", writeOnly: true },
      secret: { type: "string", writeOnly: true, witness: "changed" },
    },
  }),
]);

export function open(address: string, more: Partial<Intent> & Partial<OpenIntent> = {}): OpenIntent {
  return { ...intent(address), seq: 7, at: NOW - 1000, sent: 1, ...more };
}

export function object(
  id: string,
  name: string,
  values: JsonObject = { size: 1 },
  token?: string,
): LiveObject {
  return { id: remoteId(id), name, values, facts: token === undefined ? {} : { token } };
}

/** Found in the sweep of a request that was sent and not found. */
export const lateSweep = (address: string, more: Partial<OpenIntent> = {}): Sweep => ({
  token: `token-${address}`,
  address: address as Address,
  until: NOW + 1000,
  intent: open(address, more),
});

interface Setting {
  readonly open?: readonly OpenIntent[];
  readonly sweeps?: readonly Sweep[];
  readonly records?: readonly StateRecord[];
  /** `unlisted`: nothing asked for the kind. */
  readonly live?: Readonly<Record<string, readonly LiveObject[] | "unreadable" | "unlisted">>;
  /** Parents whose members could not be read. */
  readonly unreadableParents?: readonly string[];
  readonly now?: number;
  readonly adopt?: boolean;
}

export function recovered(setting: Setting): Recovered {
  const state: State = {
    ...emptyState("l"),
    open: setting.open ?? [],
    sweeps: setting.sweeps ?? [],
    records: new Map((setting.records ?? []).map((record) => [record.address, record])),
  };
  const touched = [...(setting.open ?? []), ...(setting.sweeps ?? [])].map((one) => kindOf(one.address));
  const diagnostic = error("API_FORBIDDEN", "no");
  const unreadableParents = new Map((setting.unreadableParents ?? []).map((name) => [name, diagnostic]));
  const live: Live = new Map(
    [...new Set([...touched, ...Object.keys(setting.live ?? {})])].flatMap((name): [string, LiveKind][] => {
      const objects = setting.live?.[name] ?? [];
      if (objects === "unlisted") return [];
      return [
        [
          name,
          objects === "unreadable"
            ? { readable: false, diagnostic }
            : { readable: true, objects, unreadableParents },
        ],
      ];
    }),
  );
  return recover({
    registry: kinds,
    state,
    live,
    now: setting.now ?? NOW,
    ...(setting.adopt === undefined ? {} : { adopt: setting.adopt }),
  });
}

export const at = (state: State, address: string): StateRecord | undefined =>
  state.records.get(address as Address);
