// The legacy groups API (A 4.2), over the same groups as SCIM.

import type { Area } from "../call.ts";

export const groupsArea: Area = { operations: {} };
