// The profile that `workspace login` writes, and the prompts for its values.

import type { AuthType } from "../../api/auth/credential.ts";
import { failureOf } from "../../core/diagnostic.ts";
import { defined } from "../../core/json.ts";
import { DEFAULT_PROFILE, type ProfileFile, type ProfileSection, profileLine } from "../profile.ts";
import { ATTRIBUTE_NAMES, type AttributeName, type Sources, sourcedValues } from "./sources.ts";

export interface NewProfile {
  readonly name: string;
  /** In the order in which they are written. */
  readonly values: Readonly<Partial<Record<AttributeName | "dialect" | "cloud", string>>>;
}

export function sourcesOfProfile({ name, values }: NewProfile, path: string): Sources {
  const from = `the new profile ${name}`;
  const sourced = sourcedValues((attribute) => {
    const value = values[attribute];
    return value === undefined ? undefined : { value, from };
  });
  const profile: ProfileSection = { name, path, values: new Map(Object.entries(values)) };
  const read = () => ({ named: true, sources: [{ name: from, values: sourced, profile }] });
  return [{ family: "workspace", read }];
}

/** Keys that belong to a sign-in: an older one leaves none of them. */
const REPLACED = new Set<string>([...ATTRIBUTE_NAMES, "user", "dialect", "cloud"]);

/** The text of a profile file with this profile in it; other profiles, other keys, and comments stay. */
export function withProfile(text: string, { name, values }: NewProfile): string {
  assertWritable(name, values);
  const own = Object.entries(values).map(([key, value]) => `${key} = ${value}`);
  const lines: string[] = [];
  let current = DEFAULT_PROFILE;
  let isWritten = false;
  for (const line of text === "" ? [] : text.replace(/\n$/, "").split(/\r?\n/)) {
    const { section, key = "" } = profileLine(line) ?? {};
    current = section ?? current;
    // A section may appear more than once, and its values add up.
    if (current === name && REPLACED.has(key)) continue;
    lines.push(line);
    if (section !== name || isWritten) continue;
    lines.push(...own);
    isWritten = true;
  }
  if (!isWritten) lines.push(...(lines.length === 0 ? [] : [""]), `[${name}]`, ...own);
  return `${lines.join("\n")}\n`;
}

export const hasProfile = ({ sections }: ProfileFile, name: string): boolean => sections?.has(name) === true;

function assertWritable(name: string, values: NewProfile["values"]): void {
  if (!/^[\w.@-]+( [\w.@-]+)*$/.test(name))
    throw failureOf(
      "CLI_USAGE",
      "the name of the profile has characters that a profile file cannot contain",
      { hint: "use letters, digits, and . _ - @" },
    );
  for (const [key, value] of Object.entries(values))
    if (!/^[\x21-\x7e]+$/.test(value))
      throw failureOf(
        "CLI_USAGE",
        `the value of ${key} is empty, or has spaces or characters outside ASCII`,
        { hint: "copy it again without anything around it" },
      );
}

export const LOGIN_METHODS = [
  "pat",
  "oauth-m2m",
  "azure-client-secret",
  "azure-msi",
  "azure-cli",
] as const satisfies readonly AuthType[];

interface LoginOptions {
  readonly authType: (typeof LOGIN_METHODS)[number];
  readonly clientId: string | undefined;
  readonly tenantId: string | undefined;
  readonly resourceId: string | undefined;
  readonly dialect: string | undefined;
  readonly cloud: string | undefined;
}

/** `secret` asks the user for a secret by its name. Throws Failure with CLI_USAGE if an option is missing. */
export async function loginValues(
  host: string,
  options: LoginOptions,
  secret: (name: string) => Promise<string>,
): Promise<NewProfile["values"]> {
  const { authType: auth_type, clientId, tenantId, resourceId, dialect, cloud } = options;
  const common = { host, ...defined({ dialect, cloud }) };
  const azure = defined({ azure_tenant_id: tenantId, azure_workspace_resource_id: resourceId });
  switch (auth_type) {
    case "pat":
      return { ...common, token: await secret("Access token") };
    case "oauth-m2m": {
      const client_id = needed(clientId, "--client-id");
      return { ...common, auth_type, client_id, client_secret: await secret("Client secret") };
    }
    case "azure-client-secret": {
      const azure_client_id = needed(clientId, "--client-id");
      needed(tenantId, "--tenant-id");
      const azure_client_secret = await secret("Client secret");
      return { ...common, auth_type, ...azure, azure_client_id, azure_client_secret };
    }
    case "azure-msi":
      return {
        ...common,
        auth_type,
        azure_use_msi: "true",
        ...azure,
        ...defined({ azure_client_id: clientId }),
      };
    case "azure-cli":
      return { ...common, auth_type, ...azure };
    default:
      return auth_type satisfies never;
  }
}

function needed(value: string | undefined, option: string): string {
  if (value !== undefined) return value;
  throw failureOf("CLI_USAGE", `this sign-in needs ${option}`);
}
