// A reader for one look at the workspace: what two kinds ask for alike, as folders and notebooks do, is asked once.

import { canonicalJson } from "../core/canonical.ts";
import type { JsonObject } from "../core/json.ts";
import type { Reader } from "../resource/verbs.ts";

/** Lists only: contents are large, and nobody asks for one twice. An answer is shared, so nobody may change it. */
export function onceEach(reader: Reader): Reader {
  const asked = new Map<string, Promise<JsonObject>>();
  return {
    read: (operation, input) => {
      if (!operation.endsWith("/list")) return reader.read(operation, input);
      const key = `${operation}\n${canonicalJson(input ?? {})}`;
      const known = asked.get(key) ?? reader.read(operation, input);
      asked.set(key, known);
      return known;
    },
  };
}
