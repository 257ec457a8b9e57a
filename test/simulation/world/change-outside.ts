// Changes one field of a live object outside the spec: directly in the service's rows, like a write of another client.

import type { Json } from "../../../src/core/json.ts";
import type { Change } from "../../../src/planner/model/change.ts";
import type { FieldSchema } from "../../../src/resource/field-schema.ts";
import type { TestWorld } from "../../emulator/harness.ts";

type Row = { readonly [key: string]: Json };

const isRow = (value: Json | undefined): value is Row =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/**
 * Changes a field; returns a function that checks whether the change is still there. Undefined if the rows have no
 * such field.
 */
export function changeOutside(
  world: TestWorld,
  change: Change & { readonly id: string },
  field: string,
  schema: FieldSchema,
): (() => boolean) | undefined {
  const place = placeOf(world, change, field);
  if (place === undefined) return undefined;
  const value = place.read();
  const moved = place.moved?.(value) ?? other(schema, value, field);
  place.write(moved);
  const text = JSON.stringify(moved);
  return () => JSON.stringify(place.read()) === text;
}

interface Place {
  read(): Json | undefined;
  write(value: Json): void;
  moved?(value: Json | undefined): Json;
}

function placeOf(
  world: TestWorld,
  { kind, id, name }: Change & { readonly id: string },
  field: string,
): Place | undefined {
  switch (kind) {
    case "pools":
      return member(world, "pools", id, [field]);
    case "jobs":
      return jobPlace(world, id, field);
    case "users":
      return field === "groups" || field === "name" ? undefined : member(world, "users", id, [field]);
    case "groups":
      return field === "members"
        ? {
            ...member(world, "groups", id, ["members"]),
            moved: (value) => [...(Array.isArray(value) ? value : []), strangerId(world)],
          }
        : member(world, "groups", id, [field]);
    case "clusters":
      if (field === "pinned" || field === "run_state") return undefined;
      return member(
        world,
        "clusters",
        id,
        field === "num_workers" || field === "autoscale" ? ["size", field] : ["attributes", field],
      );
    case "secrets": {
      const [scope = "", key = ""] = name.split("/");
      return {
        ...member(world, `secrets/${scope}`, key, ["last_updated_timestamp"]),
        moved: (value) => Number(value) + 1000,
      };
    }
    case "acls": {
      const [scope = "", principal = ""] = name.split("/");
      return aclPlace(world, scope, principal);
    }
    case "notebooks":
      return field === "content" ? contentPlace(world, "workspace.objects", name) : undefined;
    case "files":
      return field === "content" ? contentPlace(world, "files", name) : undefined;
    default:
      return undefined;
  }
}

/** A job of the Databricks dialect has its task in a list as well, which is what its readers see. */
function jobPlace(world: TestWorld, id: string, field: string): Place {
  const tasks = member(world, "jobs", id, ["settings", "extra", "tasks"]);
  const setting = member(world, "jobs", id, ["settings", field]);
  if (tasks.read() === undefined || !OF_TASK.test(field)) return setting;
  const first = (): Row => (tasks.read() as readonly Row[])[0] ?? {};
  return {
    read: () => first()[field],
    write: (value) => {
      setting.write(value);
      tasks.write([{ ...first(), [field]: value }]);
    },
  };
}

const OF_TASK = /_task$|cluster|^libraries$|retr/;

function member(world: TestWorld, table: string, id: string, path: readonly string[]): Place {
  const rows = () => world.store.world.collection<Row>(table);
  const inside = (row: Json | undefined, [first, ...rest]: readonly string[]): Json | undefined =>
    first === undefined ? row : isRow(row) ? inside(row[first], rest) : undefined;
  const put = (row: Json | undefined, [first, ...rest]: readonly string[], value: Json): Json =>
    first === undefined
      ? value
      : { ...(isRow(row) ? row : {}), [first]: put(isRow(row) ? row[first] : undefined, rest, value) };
  return {
    read: () => inside(rows().get(id), path),
    write: (value) => {
      world.store.transact(world.clock.now(), () => rows().set(id, put(rows().get(id), path, value) as Row));
    },
  };
}

function aclPlace(world: TestWorld, scope: string, principal: string): Place {
  const acls = member(world, "secrets.scopes", scope, ["acls"]);
  const list = (): readonly Row[] => {
    const found = acls.read();
    return Array.isArray(found) ? found.filter(isRow) : [];
  };
  return {
    read: () => list().find((one) => one.principal === principal)?.permission,
    write: (permission) =>
      acls.write(list().map((one) => (one.principal === principal ? { ...one, permission } : one))),
  };
}

function contentPlace(world: TestWorld, table: string, path: string): Place | undefined {
  const rows = world.store.world.collection<Row>(table);
  const pathOf = (row: Row): string =>
    row.parent === "" ? "" : `${pathOf(rows.get(String(row.parent)) ?? {})}/${String(row.name)}`;
  const entry = [...rows.entries()].find(([, row]) => row.parent !== undefined && pathOf(row) === path);
  if (entry === undefined || typeof entry[1].blob !== "string") return undefined;
  const { blobs } = world.store.world;
  const blob = entry[1].blob;
  return {
    read: () => Buffer.from(blobs.read(blob, 0, blobs.size(blob))).toString("base64"),
    write: () =>
      world.store.transact(world.clock.now(), () =>
        blobs.append(blob, new TextEncoder().encode("\n# theirs\n")),
      ),
    moved: (value) =>
      Buffer.concat([Buffer.from(String(value), "base64"), Buffer.from("\n# theirs\n")]).toString("base64"),
  };
}

function strangerId(world: TestWorld): Json {
  const users = world.store.world.collection<Row>("users");
  return [...users.entries()].find(([, row]) => row.userName === "stranger@example.com")?.[0] ?? "";
}

const NODE_TYPES = ["Standard_DS3_v2", "Standard_DS4_v2"];

/** Another value of the same type that the field may have. */
export function other(schema: FieldSchema, value: Json | undefined, field: string): Json {
  if (field === "emails") return [{ value: "moved@example.com", type: "work", primary: true }];
  if (field.endsWith("node_type_id")) return NODE_TYPES.find((one) => one !== value) ?? "";
  if (field === "autoscale") return { min_workers: 1, max_workers: 7 };
  if (field === "schedule") return { quartz_cron_expression: "0 15 3 1 1 ?", timezone_id: "Europe/Paris" };
  if (field === "email_notifications") return { on_success: ["moved@example.com"] };
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  if (typeof value === "string") return schema.enum?.find((one) => one !== value) ?? `${value}-moved`;
  if (Array.isArray(value))
    return [...value, isRow(value[0]) && "key" in value[0] ? { key: "moved", value: "1" } : "moved"];
  const { properties } = schema;
  if (properties !== undefined) return inside(properties, isRow(value) ? value : {});
  if (isRow(value)) return { ...value, moved: "1" };
  return schema.enum?.[0] ?? fresh(schema);
}

/** An object of which one member is another. */
function inside(properties: Readonly<Record<string, FieldSchema>>, value: Row): Json {
  const known = Object.keys(properties).find((key) => value[key] !== undefined) ?? Object.keys(properties)[0];
  if (known === undefined) return value;
  return { ...value, [known]: other(properties[known] ?? {}, value[known], known) };
}

function fresh(schema: FieldSchema): Json {
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case "integer":
    case "number":
      return 3;
    case "boolean":
      return schema.default !== true;
    case "array":
      return ["moved"];
    case "object":
      return { moved: "1" };
    default:
      return "moved";
  }
}
