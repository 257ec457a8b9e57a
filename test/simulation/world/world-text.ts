// The contents of a workspace as lines that are equal for worlds that differ only in IDs, times, and tokens.

import { canonicalJson } from "../../../src/core/digest.ts";
import type { Json } from "../../../src/core/json.ts";
import type { Tables } from "../../../src/emulator/store/store.ts";
import type { TestWorld } from "../../emulator/harness.ts";
import { STATES_FOLDER } from "../homes/in-workspace.ts";
import { tablesOf } from "./stage.ts";

type Row = Record<string, Json>;

/** Members of rows that tell when and under which token, and what machines do; not what people configured. */
const VOLATILE =
  /(_at|_time|_timestamp|timestamp|modified|WorkspaceToken|creator_user_id|lots|waiting|sealed|blob|nodes_up|state_message|started|start_time|driver|executors|since|incarnation|run|jdbc_port|order|object_id|node_seed|spark_context_id|nodes|nodes_from|head_commit_id|applicationId)$/;

/** A state in the workspace belongs to the program. */
const IN_STATES = new RegExp(`^files ${STATES_FOLDER}[ /]`);

/** Sorted; duplicates appear twice. */
export function worldLines(world: TestWorld): readonly string[] {
  const tables = tablesOf(world);
  const labels = labelsOf(tables);
  // Only keys have IDs of notebooks and folders. They are small, so a size or a number of machines can equal one.
  const keys = new Map(labels);
  addLabels(keys, tables, "workspace.objects", (row) => row.name);
  const lines: string[] = [];
  for (const [table, rows] of Object.entries(tables)) {
    if (
      !/^(users|groups|secrets\.scopes|secrets\/.+|pools|clusters|clusters\.pinned|jobs|workspace\.objects|files|access\.lists|cluster-policies|git-credentials|git-folders|init-scripts|ip-access-lists|libraries|notification-destinations|servicePrincipals|warehouses|workspace-conf)$/.test(
        table,
      )
    )
      continue;
    for (const [id, row] of Object.entries(rows)) {
      const value = row as Json;
      const object = isRow(value) ? value : {};
      const { parent, ...rest } = object;
      const name = parent === undefined ? labelled(id, keys) : pathIn(rows, id);
      const shown = plain(parent === undefined ? value : (rest as Json), labels);
      lines.push(`${table} ${name} ${canonicalJson(shown)}${contentOf(world, object)}`);
    }
  }
  // A renamed object has a token in its name.
  return lines
    .map((line) => line.replaceAll(/\(replaced [0-9a-f]+\)/g, "(replaced)"))
    .filter((line) => !IN_STATES.test(line))
    .sort();
}

/** The list of an object has its type and ID as key: `jobs/1`. */
const labelled = (id: string, labels: ReadonlyMap<string, string>): string =>
  id
    .split("/")
    .map((part) => labels.get(part) ?? part)
    .join("/");

function isRow(value: Json): value is Row {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** Folders and their contents know only their parent. */
function pathIn(rows: Readonly<Record<string, unknown>>, id: string): string {
  const { parent, name } = rows[id] as Row;
  return parent === "" ? "" : `${pathIn(rows, String(parent))}/${String(name)}`;
}

/** Natural names by id, for everything whose id the service chose. */
function labelsOf(tables: Tables): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  const add = (table: string, name: (row: Row) => Json | undefined): void =>
    addLabels(labels, tables, table, name);
  add("users", (row) => row.userName);
  add("groups", (row) => row.displayName);
  add("pools", (row) => row.instance_pool_name);
  add("clusters", (row) => (row.attributes as Row | undefined)?.cluster_name);
  add("jobs", (row) => (row.settings as Row | undefined)?.name);
  add("cluster-policies", (row) => row.name);
  add("git-credentials", (row) => row.git_provider);
  add("git-folders", (row) => row.path);
  add("init-scripts", (row) => row.name);
  add("ip-access-lists", (row) => row.label);
  add("notification-destinations", (row) => row.display_name);
  add("servicePrincipals", (row) => row.displayName);
  add("warehouses", (row) => row.name);
  return labels;
}

function addLabels(
  labels: Map<string, string>,
  tables: Tables,
  table: string,
  name: (row: Row) => Json | undefined,
): void {
  for (const [id, row] of Object.entries(tables[table] ?? {}))
    labels.set(id, `<${table} ${String(name(row as Row))}>`);
}

function plain(value: Json, labels: ReadonlyMap<string, string>): Json {
  if (typeof value === "string" || typeof value === "number") return labels.get(String(value)) ?? value;
  if (Array.isArray(value))
    return value.filter((item: Json) => !isTokenTag(item)).map((item: Json) => plain(item, labels));
  if (value === null || typeof value !== "object") return value;
  const kept = Object.entries(value).filter(([key]) => !VOLATILE.test(key));
  return Object.fromEntries(
    kept.map(([key, item]) => {
      const inner = plain(item as Json, labels);
      return [key, SETS.has(key) && Array.isArray(inner) ? sorted(inner) : inner];
    }),
  );
}

/** Lists in the order of events. */
const SETS = new Set(["acls", "members", "entitlements"]);

function sorted(items: readonly Json[]): readonly Json[] {
  return [...items].sort((a, b) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1));
}

function isTokenTag(item: Json): boolean {
  return isRow(item) && item.key === "WorkspaceToken";
}

/** A secret's value, a notebook's or a file's bytes: what the row only points at. */
function contentOf(world: TestWorld, row: Row): string {
  const { store } = world;
  if (typeof row.sealed === "string") return ` = ${store.world.unseal(row.sealed)}`;
  if (typeof row.blob === "string") {
    const size = store.world.blobs.size(row.blob);
    const bytes = store.world.blobs.read(row.blob, 0, size);
    return ` = ${size} bytes ${Buffer.from(bytes).toString("base64").slice(0, 4000)}`;
  }
  return "";
}
