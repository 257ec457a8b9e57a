// The list of all suites.

import type { Suite } from "./suite.ts";
import { crash } from "./suites/crash.ts";

export const suites: readonly Suite[] = [crash];
