// Secret scopes, secrets and their access lists (A 4.3).

import type { Area } from "../call.ts";
import { aclOperations } from "./secrets/acls.ts";
import { scopeOperations } from "./secrets/scopes.ts";
import { valueOperations } from "./secrets/values.ts";

export const secretsArea: Area = {
  operations: { ...scopeOperations, ...valueOperations, ...aclOperations },
};
