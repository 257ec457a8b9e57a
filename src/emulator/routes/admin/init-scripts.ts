// Global init scripts, in the order in which clusters run them. The contract has none of these calls; a dialect has.

import type { JsonObject } from "../../../core/json.ts";
import { invalidValue, notFound } from "../../world/errors.ts";
import type { Collection, Operations, World } from "../../world/world.ts";

interface InitScript {
  readonly name: string;
  readonly script: string;
  readonly enabled: boolean;
  readonly created_at: number;
  readonly created_by: string;
  readonly updated_at: number;
  readonly updated_by: string;
}

const scriptsOf = (world: World): Collection<InitScript> => world.collection("init-scripts");
/** IDs in the order of their positions. */
const orderOf = (world: World): Collection<readonly string[]> => world.collection("init-scripts.order");

const MOST_BYTES = 64 * 1024;

export const initScriptOperations: Operations = {
  "global-init-scripts/create": ({ input, caller, now }, world) => {
    const script_id = world.hex(16).toUpperCase();
    const { name, script } = checked(input);
    const by = caller.userName;
    const stamps = { created_at: now, created_by: by, updated_at: now, updated_by: by };
    scriptsOf(world).set(script_id, { name, script, enabled: input.enabled === true, ...stamps });
    place(world, script_id, input);
    return { json: { script_id } };
  },
  "global-init-scripts/update": ({ input, params, caller, now }, world) => {
    const [id, before] = existing(world, params.id);
    const { name, script } = checked(input);
    const enabled = typeof input.enabled === "boolean" ? input.enabled : before.enabled;
    scriptsOf(world).set(id, {
      ...before,
      name,
      script,
      enabled,
      updated_at: now,
      updated_by: caller.userName,
    });
    if (input.position !== undefined) place(world, id, input);
  },
  "global-init-scripts/delete": ({ params }, world) => {
    const [id] = existing(world, params.id);
    scriptsOf(world).delete(id);
    orderOf(world).set(
      "order",
      order(world).filter((other) => other !== id),
    );
  },
  "global-init-scripts/get": ({ params }, world) => {
    const [id, script] = existing(world, params.id);
    return { json: { ...shown(world, id), script: script.script } };
  },
  "global-init-scripts/list": (_call, world) => {
    const scripts = order(world).map((id) => shown(world, id));
    return { json: scripts.length === 0 ? {} : { scripts } };
  },
};

const order = (world: World): readonly string[] => orderOf(world).get("order") ?? [];

function existing(world: World, id = ""): readonly [string, InitScript] {
  const script = scriptsOf(world).get(id);
  if (script === undefined)
    throw notFound(`The global init script with ID ${id.slice(0, 100)} does not exist.`);
  return [id, script];
}

function checked({ name, script }: JsonObject): { readonly name: string; readonly script: string } {
  const bytes = Buffer.from(String(script), "base64").length;
  if (bytes > MOST_BYTES)
    throw invalidValue(`The script has ${bytes} bytes; at most ${MOST_BYTES} are allowed.`);
  return { name: String(name), script: String(script) };
}

/** A position beyond the end, or none, is the last. */
function place(world: World, id: string, { position }: JsonObject): void {
  const others = order(world).filter((other) => other !== id);
  const at = position === undefined ? others.length : Math.min(Number(position), others.length);
  orderOf(world).set("order", [...others.slice(0, at), id, ...others.slice(at)]);
}

function shown(world: World, id: string): JsonObject {
  const [, { script: _, ...fields }] = existing(world, id);
  return { script_id: id, ...fields, position: order(world).indexOf(id) };
}
