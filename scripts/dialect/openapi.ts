// Makes the description of the Databricks dialect from the contract and the overlay that says what it has otherwise.

import { readFileSync } from "node:fs";
import { parse, stringify } from "yaml";
import { isObject, type Json, type JsonObject, objectIn } from "../../src/core/json.ts";

interface Overlay {
  readonly move: Readonly<Record<string, string>>;
  readonly versions: Readonly<Record<string, readonly string[]>>;
  readonly fields: readonly {
    readonly below: string;
    readonly names: readonly string[];
    readonly schema: JsonObject;
  }[];
  readonly parameters: Readonly<Record<string, readonly JsonObject[]>>;
  readonly patch: JsonObject;
}

const HEADER = `# The workspace API in the dialect of Databricks. Generated (npm run schemas) from openapi.yaml and databricks.overlay.yaml,
# which explains the annotations.
`;

export function dialectText(): string {
  const document = dialectOf(
    readYaml("openapi.yaml"),
    readYaml("databricks.overlay.yaml") as unknown as Overlay,
  );
  return HEADER + stringify(document, { lineWidth: 0, aliasDuplicateObjects: false });
}

function readYaml(name: string): JsonObject {
  return parse(readFileSync(new URL(`../../schemas/${name}`, import.meta.url), "utf8")) as JsonObject;
}

function dialectOf(contract: JsonObject, overlay: Overlay): JsonObject {
  const { paths = {}, ...patch } = overlay.patch;
  const first = Object.entries(objectIn(paths)).filter(([path]) => path.startsWith("/api/2.0/"));
  const later = Object.entries(objectIn(paths)).filter(([path]) => !path.startsWith("/api/2.0/"));
  const moved = { ...contract, paths: movedPaths(objectIn(contract.paths), overlay) };
  const patched = objectIn(merged(moved, { ...patch, paths: Object.fromEntries(first) }));
  const versioned = withVersions(objectIn(patched.paths), overlay.versions);
  const all = objectIn(merged(versioned, Object.fromEntries(later)));
  return {
    ...patched,
    paths: mapOperations(all, (operation) => withParameters(operation, overlay.parameters)),
  };
}

/** The contract's paths under their names here, each saying which operation of the contract does its work. */
function movedPaths(paths: JsonObject, overlay: Overlay): JsonObject {
  const moved = Object.entries(paths).map(([path, item]): [string, Json] => {
    const [from, to] = Object.entries(overlay.move).find(([prefix]) => path.startsWith(prefix)) ?? ["", ""];
    return [to + path.slice(from.length), item];
  });
  return mapOperations(Object.fromEntries(moved), ({ "x-contract": _section, ...operation }, path) => {
    const id = String(operation.operationId);
    const marks = overlay.fields.filter(({ below }) => path.startsWith(below));
    const marked = marks.reduce<Json>((done, { names, schema }) => withMarks(done, names, schema), operation);
    return { ...objectIn(marked), operationId: path.includes("/dbfs/") ? `db${id}` : id, "x-serves": id };
  });
}

/** Adds annotations to the fields of these names: query parameters and members of bodies. */
function withMarks(json: Json, names: readonly string[], marks: JsonObject): Json {
  if (Array.isArray(json)) return json.map((member) => withMarks(member, names, marks));
  if (!isObject(json)) return json;
  if (names.includes(String(json.name)) && json.in === "query")
    return { ...json, schema: { ...objectIn(json.schema), ...marks } };
  return Object.fromEntries(
    Object.entries(json).map(([key, value]) => [
      key,
      names.includes(key) && isObject(value) && value.type === "string"
        ? { ...value, ...marks }
        : withMarks(value, names, marks),
    ]),
  );
}

function withVersions(paths: JsonObject, versions: Overlay["versions"]): JsonObject {
  const copies = Object.entries(versions).flatMap(([version, prefixes]) =>
    Object.entries(paths)
      .filter(([path]) => prefixes.some((prefix) => path.startsWith(prefix)))
      .map(([path, item]): [string, Json] => [path.replace("/2.0/", `/${version}/`), item]),
  );
  const renamed = mapOperations(Object.fromEntries(copies), (operation, path) => {
    const version = path.split("/")[2];
    return { ...operation, operationId: `${version}/${String(operation.operationId)}` };
  });
  return { ...paths, ...renamed };
}

function withParameters(operation: JsonObject, added: Overlay["parameters"]): JsonObject {
  const more = added[String(operation.operationId)];
  if (more === undefined) return operation;
  const known = Array.isArray(operation.parameters) ? operation.parameters : [];
  return { ...operation, parameters: [...known, ...more] };
}

function mapOperations(
  paths: JsonObject,
  change: (operation: JsonObject, path: string) => JsonObject,
): JsonObject {
  return Object.fromEntries(
    Object.entries(paths).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(objectIn(item)).map(([method, operation]) => [
          method,
          change(objectIn(operation), path),
        ]),
      ),
    ]),
  );
}

/** JSON merge patch (RFC 7396). */
function merged(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const base = isObject(target) ? target : {};
  const changed = Object.entries(patch).map(([key, value]): [string, Json] => [
    key,
    value === null ? null : merged(base[key], value),
  ]);
  return Object.fromEntries(
    Object.entries({ ...base, ...Object.fromEntries(changed) }).filter(([, value]) => value !== null),
  );
}
