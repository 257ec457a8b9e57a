// Secret scopes (contract A 2.3 and contract A 4.3). No field of a scope can be changed; a scope is deleted and created again.

import type { Reader } from "../api/contract/reader.ts";
import { remoteId } from "../core/address.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { count, listed } from "../core/sentences.ts";
import type { Values } from "../resource/field-schema.ts";
import type { LiveObject } from "../resource/live.ts";
import type { PlannedChange, PlannedWorkspace, Problem } from "../resource/planning.ts";
import { choiceField, defineProvider, groupField, required, textField } from "./kit/field-builders.ts";
import { nestedName } from "./kit/names.ts";
import { effectOn, problem, removesObject } from "./kit/problems.ts";
import { ignoreMissing, keyIn, objectsIn } from "./kit/responses.ts";
import { normalizeLive } from "./kit/spec-form.ts";
import { unknownFieldsLost, withUnknownFields } from "./kit/unknown-fields.ts";

const VAULT = "CLOUD_KEYVAULT";
const WORDS = { PLATFORM: "DATABRICKS", [VAULT]: "AZURE_KEYVAULT" };

const fields = {
  initial_manage_principal: choiceField(["users"], {
    writeOnly: true,
    requestOption: true,
    onChange: "replace",
    description:
      "Who may manage a new scope: all users (users), or only its creator if absent. Sent once at creation and never read back; see acls.",
  }),
  backend_type: choiceField(["PLATFORM", VAULT], {
    words: WORDS,
    default: "PLATFORM",
    onChange: "replace",
    description: "Where the secrets are stored: in the service's own storage, or in an external key vault.",
  }),
  keyvault_metadata: groupField(
    {
      resource_id: required(
        textField({ minLength: 1, description: "ID of the vault at the cloud provider." }),
      ),
      dns_name: required(textField({ minLength: 1, description: "URL of the vault." })),
    },
    {
      words: WORDS,
      cloud: "azure",
      onChange: "replace",
      description: "The key vault of a scope whose backend_type is CLOUD_KEYVAULT.",
    },
  ),
};

/** Members of an answer that no request sets. */
const READ_ONLY = new Set(["name", "is_databricks_managed"]);

/** Maps every name of a backend to one of the two. */
function withBackend(values: Values): Values {
  const { backend_type: backend } = values;
  return { ...values, backend_type: String(backend).includes("KEYVAULT") ? VAULT : "PLATFORM" };
}

function toLive(answer: JsonObject): LiveObject {
  const name = keyIn(answer, "name");
  const values = withBackend(normalizeLive(fields, answer));
  return withUnknownFields({ id: remoteId(name), name, values, facts: {} }, fields, answer, READ_ONLY);
}

const everyScope = async (api: Reader): Promise<readonly LiveObject[]> =>
  objectsIn(await api.read("secrets/scopes/list"), "scopes").map(toLive);

/** The live members of a kind in the deleted scope. */
function lost(
  kind: "secrets" | "acls",
  change: PlannedChange,
  workspace: PlannedWorkspace,
): readonly LiveObject[] {
  if (!removesObject(change)) return [];
  const scope = change.live?.name ?? change.name;
  return workspace.live(kind).filter((live) => nestedName(live.name).parent === scope);
}

const membersIn = (lives: readonly LiveObject[]): readonly string[] =>
  lives.map(({ name }) => nestedName(name).member);

/** The rule about names, which may have more characters in some dialects. */
const nameRule =
  (allowed: RegExp, characters: string) =>
  (_values: Values, name: string): readonly Problem[] =>
    allowed.test(name)
      ? []
      : [
          problem(
            "SPEC_VALUE",
            [],
            `"${name}" is not a valid secret scope name`,
            `use 1 to 128 ${characters}`,
          ),
        ];

export const scopes = defineProvider({
  kind: "scopes",
  singular: "secret scope",
  description: "Secret scopes: named collections of secrets, each with an access list.",
  fields,
  severity: "security",
  nameField: undefined,
  unique: true,
  idAttribute: "name",
  creationRecovery: "client-named",
  replaceStrategy: "delete-first",
  usedBy: ["acls", "secrets"],
  limit: { max: 100, per: "workspace" },

  planning: {
    access: {
      levels: ["READ", "WRITE", "MANAGE"],
      contribution({ name, values: { initial_manage_principal: initial }, isNew }) {
        if (!isNew) return {};
        if (typeof initial !== "string") return { creatorLevel: "MANAGE" };
        return { grants: [{ on: { kind: "scopes", name }, to: { name: initial }, level: "MANAGE" }] };
      },
    },
    normalize: (values) => (values.backend_type === undefined ? values : withBackend(values)),
    validate(written) {
      const { backend_type: backend, keyvault_metadata: vault } = withBackend(written);
      const isVault = backend === VAULT;
      if (isVault === (vault !== undefined)) return [];
      const message = `backend_type ${isVault ? String(written.backend_type) : VAULT} and keyvault_metadata must be set together`;
      return [problem("SPEC_COMBINATION", [isVault ? "backend_type" : "keyvault_metadata"], message)];
    },
    validateIn: {
      contract: nameRule(/^[\w.-]{1,128}$/, "letters, digits, dashes, underscores, and periods"),
      databricks: nameRule(/^[\w.@/-]{1,128}$/, "letters, digits, and - _ . @ /"),
    },
    consequences(change, workspace) {
      const secrets = membersIn(lost("secrets", change, workspace));
      const acls = membersIn(lost("acls", change, workspace));
      return [
        ...effectOn(`it contains ${count(secrets.length, "secret")} that the API cannot read back`, secrets),
        ...effectOn("its access list is deleted too", acls),
        ...unknownFieldsLost(change, "scope"),
      ];
    },
    harms: (change, workspace) =>
      lost("acls", change, workspace)
        .filter(({ name }) => !workspace.declared("acls", name))
        .map(({ name, values }) => `${nestedName(name).member} loses ${values.permission} on the scope`),
    objections(change, workspace) {
      const foreign = lost("secrets", change, workspace).filter(
        ({ name }) => !workspace.declared("secrets", name) && !workspace.isRemoved("secrets", name),
      );
      if (foreign.length === 0) return [];
      return [
        {
          code: "GUARD_DATA_LOSS",
          message: `secrets that are not in the spec would be lost with the scope: ${listed(membersIn(foreign))}`,
          hint: "declare them in the spec with their sources, or delete them first",
        },
      ];
    },
  },

  operations: {
    list: everyScope,
    read: async (api, id) => (await everyScope(api)).find((live) => String(live.id) === String(id)),
    async create(api, task) {
      const { initial_manage_principal: principal, keyvault_metadata: vault } = task.values;
      const body: { [field: string]: Json } = { scope: task.name };
      if (principal !== undefined) body.initial_manage_principal = principal;
      if (vault !== undefined)
        Object.assign(body, { scope_backend_type: VAULT, backend_azure_keyvault: vault });
      await api.write("secrets/scopes/create", body);
      return remoteId(task.name);
    },
    /** Every field is immutable, so there is nothing to send. */
    update: async () => {},
    delete: (api, task) =>
      ignoreMissing(() => api.write("secrets/scopes/delete", { scope: task.live?.name ?? task.name })),
  },
});
