// The planned deletion of one live object.

import type { Address } from "../core/address.ts";
import type { LiveObject, Provider } from "../resource/provider.ts";
import type { Delete } from "./change.ts";
import { comparable, liveFingerprint } from "./fingerprint.ts";

export function deletion(
  provider: Provider,
  address: Address,
  name: string,
  live: LiveObject,
  reason: string,
): Delete {
  const fingerprint = liveFingerprint(provider.fields, comparable(provider, live), undefined);
  const head = {
    address,
    kind: provider.kind,
    name,
    cause: "spec",
    reasons: [reason],
    consequences: [],
    dependsOn: [],
  } as const;
  return { action: "delete", ...head, id: live.id, before: live.values, fingerprint };
}
