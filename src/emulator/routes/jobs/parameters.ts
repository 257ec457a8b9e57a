// The parameters that run-now brings: at most one kind, of limited size, notebook parameters merged over the job's (B 4.2 rule 4).

import type { JsonObject } from "../../../core/json.ts";
import { invalidValue } from "../../errors.ts";
import { JOBS } from "../../limits.ts";
import type { JobSettings } from "./settings.ts";

const KINDS = ["jar_params", "notebook_params", "python_params", "spark_submit_params"] as const;

/** Types were checked with openapi.yaml. */
type Given = {
  readonly [kind in (typeof KINDS)[number]]?: readonly string[] | Readonly<Record<string, string>>;
};

/** What the run uses in place of the job's own parameters, or undefined when nothing was given. */
export function readParameters(input: JsonObject, settings: JobSettings): JsonObject | undefined {
  const given = input as unknown as Given;
  const [kind, ...others] = KINDS.filter((name) => given[name] !== undefined);
  if (kind === undefined) return undefined;
  if (others.length > 0)
    throw invalidValue(
      `Only one of ${KINDS.join(", ")} may be given. Found: ${[kind, ...others].join(", ")}.`,
    );
  const value = given[kind] ?? {};
  const text = JSON.stringify(value);
  const bytes = new TextEncoder().encode(text).length;
  if (bytes > JOBS.parameter_bytes) {
    throw invalidValue(`${kind} may take at most ${JOBS.parameter_bytes} bytes as JSON. Found: ${bytes}.`);
  }
  if ((kind === "python_params" || kind === "spark_submit_params") && !isAscii(text)) {
    throw invalidValue(`${kind} may hold ASCII characters only.`);
  }
  if (kind !== "notebook_params") return { [kind]: value };
  const base = settings.notebook_task?.base_parameters as Readonly<Record<string, string>> | undefined;
  return { notebook_params: { ...base, ...value } };
}

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 127) return false;
  return true;
}
