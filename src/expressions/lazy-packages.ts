// Packages that only specs with CEL or with patterns need. They are loaded on first use, synchronously.

import { createRequire } from "node:module";
import type * as Cel from "@marcbachmann/cel-js";
import type * as Re2 from "re2js";

const load = createRequire(import.meta.url);

export const cel = (): typeof Cel => load("@marcbachmann/cel-js") as typeof Cel;

/** Regular expressions in linear time. */
export const re2js = (): typeof Re2 => load("re2js") as typeof Re2;
