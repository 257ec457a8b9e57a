// Secrets (contract A 2.4 and contract A 4.3). Values are written and never read; the time of the last write reveals changes by others.

import type { Reader, SecretValue, WriteInput } from "../api/contract/reader.ts";
import { nestedNameOf, remoteId } from "../core/address.ts";
import { error, Failure } from "../core/diagnostic.ts";
import { defined, type JsonObject } from "../core/json.ts";
import { utf8Text } from "../core/utf8.ts";
import { SECRET_BYTES } from "../resource/kind.ts";
import type { LiveObject } from "../resource/live.ts";
import type { OperationWriter, Task } from "../resource/operations.ts";
import { choiceField, defineProvider, textField } from "./kit/field-builders.ts";
import { nestedName, nestedReads } from "./kit/names.ts";
import { problem } from "./kit/problems.ts";
import { ignoreMissing, keyIn, objectsIn, responseText } from "./kit/responses.ts";
import { withUnknownFields } from "./kit/unknown-fields.ts";

const KEY = /^[\w.-]{1,128}$/;

const fields = {
  env: textField({
    source: true,
    minLength: 1,
    description: "Environment variable that contains the value.",
  }),
  file: textField({
    source: true,
    minLength: 1,
    description: "File in the spec's folder that contains the value.",
  }),
  encoding: choiceField(["text", "bytes"], {
    source: true,
    description: "How to read the file: as UTF-8 text without the last line break, or as bytes.",
  }),
  value: textField({
    writeOnly: true,
    sensitive: true,
    witness: "last_updated_timestamp",
    description:
      "The secret value, at most 128 KB; never written in a spec, and stored only as a keyed digest.",
  }),
};

/** Members of an answer that no request sets. */
const READ_ONLY = new Set(["key", "last_updated_timestamp"]);

/** The service returns no field of a secret; all secrets share one object. */
const NO_VALUES = Object.freeze({});

async function ofScope(api: Reader, scope: string): Promise<readonly LiveObject[]> {
  const answer = await api.read("secrets/list", { scope });
  return objectsIn(answer, "secrets").map((item) => {
    const key = keyIn(item, "key");
    const name = nestedNameOf(scope, key);
    const updated = responseText(item, "last_updated_timestamp");
    const facts: JsonObject = defined({ last_updated_timestamp: updated });
    return withUnknownFields({ id: remoteId(name), name, values: NO_VALUES, facts }, {}, item, READ_ONLY);
  });
}

/** Text goes as `string_value`, everything else as `bytes_value`; the service stores the same bytes either way (contract A 4.3). */
function wireValue(secret: SecretValue): WriteInput {
  const bytes = secret.reveal();
  if (bytes.length > SECRET_BYTES)
    throw new Failure(
      error("SPEC_LIMIT", `the value has ${bytes.length} bytes; the limit is ${SECRET_BYTES}`),
    );
  return utf8Text(bytes) === undefined ? { bytes_value: secret } : { string_value: secret };
}

async function put(api: OperationWriter, task: Task): Promise<void> {
  const { parent, member } = nestedName(task.name);
  const secret = task.payload?.secret;
  if (secret === undefined)
    throw new Failure(
      error("SPEC_SECRET_SOURCE", `the value of ${task.address} was not read`, { address: task.address }),
    );
  await api.write("secrets/put", { scope: parent, key: member, ...wireValue(secret) });
}

export const secrets = defineProvider({
  kind: "secrets",
  singular: "secret",
  description:
    "Secrets in a scope. Live secrets that are not in the spec are not changed; if the scope declares `secrets`, they are reported as drift.",
  fields,
  severity: "security",
  nameField: undefined,
  unique: true,
  idAttribute: "key",
  creationRecovery: "repeatable",
  replaceStrategy: "delete-first",
  nested: { kind: "scopes", under: "secrets" },
  limit: { max: 1000, per: "parent" },

  planning: {
    validate: (_values, name) =>
      KEY.test(nestedName(name).member)
        ? []
        : [
            problem(
              "SPEC_VALUE",
              [],
              `"${nestedName(name).member}" is not a valid secret key`,
              "use 1 to 128 letters, digits, dashes, underscores, and periods",
            ),
          ],
    steps: () => [{ operation: "put" }],
    consequences: (change) =>
      change.action === "delete" ? ["its value is lost, because the API cannot read it back"] : [],
  },

  operations: {
    ...nestedReads(ofScope),
    async create(api, task) {
      await put(api, task);
      return remoteId(task.name);
    },
    update: put,
    delete(api, task) {
      const { parent, member } = nestedName(task.name);
      return ignoreMissing(() => api.write("secrets/delete", { scope: parent, key: member }));
    },
  },
});
