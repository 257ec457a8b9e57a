// The whole world as JSON and back: tables, secret values as digests, contents of blobs as base64.

import { digest } from "../../core/digest.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { decodeBase64, encodeBase64 } from "../world/encoding.ts";
import { ApiError, invalidValue } from "../world/errors.ts";
import { REQUESTS } from "../world/limits.ts";
import type { World } from "../world/world.ts";
import { OWN_TABLES, type Store } from "./store.ts";

const FORMAT = 1;

/** Field of a row with an encrypted value. A snapshot has `digest` instead; a world restored from it has no value. */
const SEALED = "sealed";

export function takeSnapshot(store: Store, world: World, now: number): JsonObject {
  const tables = store.dump();
  const blobs = Object.keys(tables[OWN_TABLES.blobs] ?? {});
  const total = blobs.reduce((sum, id) => sum + world.blobs.size(id), 0);
  if (total > REQUESTS.snapshot_bytes)
    throw new ApiError(
      "REQUEST_TOO_LARGE",
      `The world holds ${total} bytes of contents; a snapshot takes ${REQUESTS.snapshot_bytes}.`,
    );
  return {
    format: FORMAT,
    now,
    tables: mapped(tables, (rows) => mapped(rows, (row) => withoutSecret(world, row as Json))),
    blobs: Object.fromEntries(
      blobs.map((id) => [id, encodeBase64(world.blobs.read(id, 0, world.blobs.size(id)))]),
    ),
  };
}

/** Puts a snapshot in the place of the world. Throws INVALID_PARAMETER_VALUE when it is not one. */
export function putSnapshot(store: Store, input: JsonObject): void {
  const { tables, blobs } = input;
  if (
    input.format !== FORMAT ||
    !isObject(tables) ||
    !isObject(blobs) ||
    !Object.values(tables).every(isObject)
  ) {
    throw invalidValue("This is not a snapshot of this emulator.");
  }
  const contents = Object.entries(blobs).map(
    ([id, content]) => [id, decodeBase64(id, String(content))] as const,
  );
  store.replace(tables as Readonly<Record<string, JsonObject>>, new Map(contents));
}

function withoutSecret(world: World, row: Json): Json {
  if (!isObject(row) || typeof row[SEALED] !== "string") return row;
  const { [SEALED]: sealed, ...rest } = row;
  return { ...rest, digest: digest(world.unseal(sealed)) };
}

function mapped<T>(object: Readonly<Record<string, T>>, change: (value: T) => Json): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}
