// A lease for an apply: its readers get the values of the run, and the state gets digests in place of sensitive ones.

import type { SensitiveValues } from "../../core/sensitive-values.ts";
import type { StateRecord } from "../../state/model/record.ts";
import {
  concealedEntry,
  concealedRecord,
  revealedRecord,
  revealedState,
} from "../../state/model/sensitive-state.ts";
import type { Lease } from "../../state/model/store.ts";

export function sensitiveLease(lease: Lease, sensitive: SensitiveValues | undefined): Lease {
  if (sensitive === undefined || sensitive.isEmpty) return lease;
  return {
    nonce: lease.nonce,
    fence: lease.fence,
    diagnostics: lease.diagnostics,
    state: () => revealedState(lease.state(), sensitive),
    record(address) {
      const record = lease.record(address);
      return record && revealedRecord(record, sensitive);
    },
    append: (entry) => lease.append(concealedEntry(entry, sensitive)),
    note: (entry) => lease.note(concealedEntry(entry, sensitive)),
    assertHeld: () => lease.assertHeld(),
    publish: () => lease.publish(),
    retire: (to, above) => lease.retire(to, above),
    release: () => lease.release(),
  };
}

/** The stored form of a record. */
export function storedForm(record: StateRecord, sensitive: SensitiveValues | undefined): StateRecord {
  return sensitive === undefined ? record : concealedRecord(record, sensitive);
}
