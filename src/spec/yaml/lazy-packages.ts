// Packages that most specs do not need. They are loaded on first use, synchronously.

import { createRequire } from "node:module";
import type * as Tinyglobby from "tinyglobby";
import type * as Yaml from "yaml";

const load = createRequire(import.meta.url);

/** For YAML that `block-parser.ts` does not support. */
export const yaml = (): typeof Yaml => load("yaml") as typeof Yaml;

/** For patterns of files. */
export const tinyglobby = (): typeof Tinyglobby => load("tinyglobby") as typeof Tinyglobby;
