// The skeleton of a new kind: a provider and an emulator route with the five usual calls, and its entries in the lists of the program.

interface ListEntry {
  readonly path: string;
  /** The text before the last occurrence of which the entry is put. */
  readonly before: string;
  readonly text: string;
}

const singularOf = (kind: string): string => kind.slice(0, -1);

export function kindFiles(kind: string): Readonly<Record<string, string>> {
  return {
    [`src/providers/${kind}.ts`]: provider(kind, singularOf(kind)),
    [`src/emulator/routes/${kind}.ts`]: route(kind, singularOf(kind)),
    [`test/providers/${kind}.test.ts`]: providerTest(kind, singularOf(kind)),
  };
}

export function listEntries(kind: string): readonly ListEntry[] {
  const one = singularOf(kind);
  return [
    {
      path: "src/providers/index.ts",
      before: "export const registry",
      text: `import { ${kind} } from "./${kind}.ts";\n\n`,
    },
    { path: "src/providers/index.ts", before: "]);", text: `  ${kind},\n` },
    {
      path: "src/emulator/routes/areas.ts",
      before: "export const areas",
      text: `import { ${kind}Area } from "./${kind}.ts";\n\n`,
    },
    { path: "src/emulator/routes/areas.ts", before: "];", text: `  ${kind}Area,\n` },
    { path: "src/api/contract/operations.ts", before: "} as const satisfies", text: operations(kind) },
    { path: "schemas/openapi.yaml", before: "components:\n", text: description(kind, one) },
    { path: "test/laws/samples.ts", before: "];", text: sample(kind) },
  ];
}

const provider = (
  kind: string,
  one: string,
): string => `// TODO ${kind}: what they are (cite the section of the contract).

import { remoteId } from "../core/address.ts";
import type { JsonObject } from "../core/json.ts";
import type { LiveObject } from "../resource/live.ts";
import { defineProvider, integerField, textField } from "./kit/field-builders.ts";
import { ignoreMissing, keyIn, liveIfPresent, objectsIn, responseText } from "./kit/responses.ts";
import { normalizeLive } from "./kit/spec-form.ts";
import { unknownFieldsLost, withUnknownFields } from "./kit/unknown-fields.ts";

const fields = {
  name: textField({ minLength: 1, maxLength: 100, description: "Unique name of the ${one}. Default: its key." }),
  size: integerField({ minimum: 0, default: 0, description: "TODO What the size means." }),
};

/** Fields of an answer that no request sets. */
const READ_ONLY: ReadonlySet<string> = new Set(["${one}_id"]);

function toLive(answer: JsonObject): LiveObject {
  const live: LiveObject = {
    id: remoteId(keyIn(answer, "${one}_id")),
    name: responseText(answer, "name") ?? "",
    values: normalizeLive(fields, answer),
    facts: {},
  };
  return withUnknownFields(live, fields, answer, READ_ONLY);
}

export const ${kind} = defineProvider({
  kind: "${kind}",
  singular: "${one}",
  description: "TODO What ${kind} are.",
  fields,
  severity: "other",
  nameField: "name",
  unique: true,
  idAttribute: "${one}_id",
  // A name identifies an object after an interrupted creation. The other classes: src/resource/kind.ts.
  creationRecovery: "client-named",
  replaceStrategy: "delete-first",

  planning: { consequences: (change) => unknownFieldsLost(change, "${one}") },

  operations: {
    list: async (api) => objectsIn(await api.read("${kind}/list"), "${kind}").map(toLive),
    read: (api, id) => liveIfPresent(() => api.read("${kind}/get", { ${one}_id: id }), toLive),
    async create(api, task) {
      const answer = await api.write("${kind}/create", { ...task.values });
      return remoteId(keyIn(answer, "${one}_id"));
    },
    async update(api, task) {
      await api.write("${kind}/edit", { ...task.values, ${one}_id: task.id });
    },
    delete: (api, task) => ignoreMissing(() => api.write("${kind}/delete", { ${one}_id: task.id })),
  },
});
`;

const route = (
  kind: string,
  one: string,
): string => `// TODO ${kind} (cite the section of the contract): create, edit, delete, get, list.

import type { JsonObject } from "../../core/json.ts";
import { alreadyExists, notFound } from "../world/errors.ts";
import type { Area, Call, Collection, Reply, World } from "../world/world.ts";

interface Stored${capital(one)} extends JsonObject {
  readonly ${one}_id: string;
  readonly name: string;
}

const stored = (world: World): Collection<Stored${capital(one)}> => world.collection("${kind}");

export const ${kind}Area: Area = {
  operations: {
    "${kind}/create": create,
    "${kind}/edit": edit,
    "${kind}/delete": (call, world) => {
      stored(world).delete(existing(call, world).${one}_id);
    },
    "${kind}/get": (call, world) => ({ json: existing(call, world) }),
    "${kind}/list": (_call, world) => ({ json: { ${kind}: [...stored(world).values()] } }),
  },
};

function create({ input }: Call, world: World): Reply {
  const name = String(input.name);
  refuseDuplicate(world, name);
  const ${one}_id = String(world.next("${kind}", 1));
  stored(world).set(${one}_id, { ...input, name, ${one}_id });
  return { json: { ${one}_id } };
}

function edit(call: Call, world: World): Reply {
  const { ${one}_id } = existing(call, world);
  const name = String(call.input.name);
  refuseDuplicate(world, name, ${one}_id);
  stored(world).set(${one}_id, { ...call.input, name, ${one}_id });
  return { json: {} };
}

function existing({ input }: Call, world: World): Stored${capital(one)} {
  const id = String(input.${one}_id);
  const object = stored(world).get(id);
  if (object === undefined) throw notFound(\`${capital(one)} \${id} does not exist.\`);
  return object;
}

function refuseDuplicate(world: World, name: string, except?: string): void {
  const isTaken = [...stored(world).values()].some((other) => other.name === name && other.${one}_id !== except);
  if (isTaken) throw alreadyExists(\`A ${one} with the name \${name} exists.\`);
}
`;

const providerTest = (
  kind: string,
  one: string,
): string => `// The rules of ${kind}: what the laws cannot know.

import { expect, test } from "vitest";
import { ${kind} } from "../../src/providers/${kind}.ts";

test("a ${one} is identified by its name", () => {
  expect(${kind}.nameField).toBe("name");
});
`;

const operations = (kind: string): string => `
  "${kind}/create": post("${kind}/create", "unsafe"),
  "${kind}/edit": post("${kind}/edit", "safe"),
  "${kind}/delete": post("${kind}/delete", "safe"),
  "${kind}/get": get("${kind}/get"),
  "${kind}/list": get("${kind}/list"),
`;

const sample = (kind: string): string => `  {
    kind: "${kind}",
    spec: \`
${kind}:
  first: { size: 1 }
  second: {}
\`,
    changed: \`
${kind}:
  first: { size: 2 }
  second: { size: 3 }
\`,
  },
`;

function description(kind: string, one: string): string {
  const id = `${one}_id: { type: string, description: Id of the ${one}. }`;
  const values =
    "name: { type: string, minLength: 1, maxLength: 100, description: Unique name. }, size: { type: integer, minimum: 0, description: TODO. }";
  const post = (
    call: string,
    required: string,
    properties: string,
    answer: string,
  ): string => `  /api/2.0/${kind}/${call}:
    post:
      operationId: ${kind}/${call}
      summary: ${capital(call)} a ${one}
      x-contract: "B 4.1 ${call}"
      requestBody:
        required: true
        content: { application/json: { schema: { type: object, required: [${required}], properties: { ${properties} } } } }
      responses:
        "200": { description: Done., content: { application/json: { schema: ${answer} } } }
        default: { $ref: "#/components/responses/Error" }
      x-errors: [MALFORMED_REQUEST, RESOURCE_ALREADY_EXISTS, RESOURCE_DOES_NOT_EXIST]
`;
  const empty = '{ $ref: "#/components/schemas/Empty" }';
  const object = `{ type: object, properties: { ${id}, ${values} } }`;
  return `${post("create", "name", values, `{ type: object, properties: { ${id} } }`)}${post("edit", `${one}_id, name`, `${id}, ${values}`, empty)}${post("delete", `${one}_id`, id, empty)}  /api/2.0/${kind}/get:
    get:
      operationId: ${kind}/get
      summary: Get a ${one}
      x-contract: "B 4.1 get"
      parameters:
        - { name: ${one}_id, in: query, required: true, schema: { type: string }, description: Id of the ${one}. }
      responses:
        "200": { description: Done., content: { application/json: { schema: ${object} } } }
        default: { $ref: "#/components/responses/Error" }
      x-errors: [RESOURCE_DOES_NOT_EXIST]
  /api/2.0/${kind}/list:
    get:
      operationId: ${kind}/list
      summary: List ${kind}
      x-contract: "B 4.1 list"
      responses:
        "200": { description: Done., content: { application/json: { schema: { type: object, properties: { ${kind}: { type: array, items: ${object} } } } } } }
        default: { $ref: "#/components/responses/Error" }
      x-errors: []
`;
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
