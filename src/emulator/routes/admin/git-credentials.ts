// Git credentials: each caller's own; no answer contains a token. The contract has none of these calls; a dialect has.

import type { JsonObject } from "../../../core/json.ts";
import { alreadyExists, notFound } from "../../world/errors.ts";
import type { Call, Collection, Operations, World } from "../../world/world.ts";

interface GitCredential {
  readonly credential_id: number;
  readonly user_id: string;
  readonly fields: JsonObject;
  readonly token: string;
}

const credentialsOf = (world: World): Collection<GitCredential> => world.collection("git-credentials");

export const gitCredentialOperations: Operations = {
  "git-credentials/create": (call, world) => {
    const { git_provider: provider } = call.input;
    const same = own(call, world).some(({ fields }) => fields.git_provider === provider);
    if (same) throw alreadyExists(`A Git credential already exists for provider ${String(provider)}.`);
    const credential_id = world.next("git-credentials", 5_000);
    return { json: write(call, world, credential_id, { fields: {}, token: "" }) };
  },
  "git-credentials/update": (call, world) => {
    const before = existing(call, world);
    return { json: write(call, world, before.credential_id, before) };
  },
  "git-credentials/delete": (call, world) => {
    credentialsOf(world).delete(String(existing(call, world).credential_id));
  },
  "git-credentials/get": (call, world) => ({ json: shown(existing(call, world)) }),
  "git-credentials/list": (call, world) => {
    const credentials = own(call, world).map(shown);
    return { json: credentials.length === 0 ? {} : { credentials } };
  },
};

const own = ({ caller }: Call, world: World): readonly GitCredential[] =>
  [...credentialsOf(world).values()].filter(({ user_id }) => user_id === caller.userId);

function existing(call: Call, world: World): GitCredential {
  const { id = "" } = call.params;
  const credential = credentialsOf(world).get(id);
  if (credential?.user_id !== call.caller.userId)
    throw notFound(`Git credential ${id.slice(0, 100)} does not exist.`);
  return credential;
}

function write(
  { input, caller }: Call,
  world: World,
  credential_id: number,
  before: Pick<GitCredential, "fields" | "token">,
): JsonObject {
  const { personal_access_token: token, ...fields } = input;
  const credential: GitCredential = {
    credential_id,
    user_id: caller.userId,
    fields: { ...before.fields, ...fields },
    token: typeof token === "string" ? world.seal(token) : before.token,
  };
  credentialsOf(world).set(String(credential_id), credential);
  return shown(credential);
}

const shown = ({ credential_id, fields }: GitCredential): JsonObject => ({ credential_id, ...fields });
