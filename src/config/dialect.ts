// The dialect of the workspace that this program serves: from options, else from WORKSPACE_DIALECT and WORKSPACE_CLOUD.

import { error, Failure } from "../core/diagnostic.ts";
import type { DialectChoice } from "../emulator/dialect/choice.ts";
import type { Context } from "./environment.ts";

/** Written out here, so that help and completion load nothing of the emulator. */
export const DIALECTS = ["contract", "databricks"] as const satisfies readonly NonNullable<
  DialectChoice["dialect"]
>[];
export const CLOUDS = ["azure", "aws", "gcp"] as const satisfies readonly NonNullable<
  DialectChoice["cloud"]
>[];

/** Throws Failure with CLI_USAGE if a variable has no allowed value. */
export function dialectOf(context: Context, given: DialectChoice = {}): DialectChoice {
  const dialect = given.dialect ?? allowed(context, "WORKSPACE_DIALECT", DIALECTS);
  const cloud = given.cloud ?? allowed(context, "WORKSPACE_CLOUD", CLOUDS);
  return { ...(dialect === undefined ? {} : { dialect }), ...(cloud === undefined ? {} : { cloud }) };
}

function allowed<T extends string>(context: Context, name: string, values: readonly T[]): T | undefined {
  const text = context.env[name];
  if (text === undefined || text === "") return undefined;
  const value = values.find((one) => one === text);
  if (value !== undefined) return value;
  throw new Failure(
    error("CLI_USAGE", `${name} is ${JSON.stringify(text.slice(0, 50))}; allowed are ${values.join(", ")}`, {
      hint: `set ${name} to one of these values, or unset it`,
    }),
  );
}
