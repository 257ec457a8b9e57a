// Where a content comes from: one file of the spec's folder, or every file of a folder in it.

import type { FieldTable } from "../../resource/fields.ts";
import { list, optional, text } from "../define.ts";

export const sourceFields = (one: string): FieldTable => ({
  source: optional(
    text({ source: true, minLength: 1, description: `File inside the spec's folder that holds the ${one}.` }),
  ),
  source_dir: optional(
    text({
      source: true,
      minLength: 1,
      description: `Folder inside the spec's folder; every file below it becomes a ${one} below this path.`,
    }),
  ),
  include: optional(
    list(text({ minLength: 1, description: "A glob pattern." }), {
      source: true,
      description: "Which files of source_dir are taken; all where unset.",
    }),
  ),
  exclude: optional(
    list(text({ minLength: 1, description: "A glob pattern." }), {
      source: true,
      description: "Which files of source_dir are left out.",
    }),
  ),
});
