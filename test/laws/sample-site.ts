// A separate workspace for a sample, with the files that its spec names; closed when the test ends.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import type { FieldDialect } from "../../src/resource/field-schema.ts";
import { Site } from "../engine/site.ts";
import type { Sample } from "./samples.ts";

/** The laws delete much, and are not about how much may be deleted. */
export const POLICY = "policy: { max_deletes: 100% }\n";

export async function siteOf(
  sample: Sample,
  env: Readonly<Record<string, string>> = { DB_PASSWORD: "one", OTHER_PASSWORD: "two" },
  cloud?: FieldDialect["cloud"],
): Promise<Site> {
  const site = await Site.start(cloud);
  onTestFinished(() => site.close());
  site.env = { ...env };
  for (const [path, text] of Object.entries(sample.files ?? {})) {
    mkdirSync(dirname(join(site.folder, path)), { recursive: true });
    writeFileSync(join(site.folder, path), text);
  }
  return site;
}
