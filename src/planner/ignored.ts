// lifecycle.ignore_changes: fields that are never compared after creation, named by dotted path.

import { type Path, toText, valueAt, withValueAt } from "../core/pointer.ts";
import type { Values } from "../resource/fields.ts";

export function isIgnored(path: Path, ignored: readonly string[]): boolean {
  const text = toText(path);
  return ignored.some((one) => text === one || text.startsWith(`${one}.`) || text.startsWith(`${one}[`));
}

/** Ignored fields keep their live value, so that a write for another field does not undo them. */
export function keepingIgnored(values: Values, live: Values, ignored: readonly string[]): Values {
  let kept = values;
  for (const path of ignored) {
    const keys = path.split(".");
    kept = (withValueAt(kept, keys, valueAt(live, keys)) ?? {}) as Values;
  }
  return kept;
}
