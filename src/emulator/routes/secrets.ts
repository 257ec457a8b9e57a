// Secret scopes, secrets and their access lists (A 4.3).

import type { Area } from "../call.ts";

export const secretsArea: Area = { operations: {} };
