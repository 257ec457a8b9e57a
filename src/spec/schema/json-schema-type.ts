// A JSON Schema as data.

import type { Json } from "../../core/json.ts";

export type JsonSchema = { [keyword: string]: Json };
