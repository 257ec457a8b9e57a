// Packages that most specs do not need, loaded where one does: their modules take longer than reading a thousand lines.

import { createRequire } from "node:module";
import type * as Re2 from "re2js";
import type * as Tinyglobby from "tinyglobby";
import type * as Yaml from "yaml";

const load = createRequire(import.meta.url);

/** For what `block-parser.ts` leaves to the whole reader. */
export const yaml = (): typeof Yaml => load("yaml") as typeof Yaml;

/** For patterns of variables and inputs. */
export const re2js = (): typeof Re2 => load("re2js") as typeof Re2;

/** For patterns of files. */
export const tinyglobby = (): typeof Tinyglobby => load("tinyglobby") as typeof Tinyglobby;
