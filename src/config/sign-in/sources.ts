// The values of sign-ins, and their sources in order: WORKSPACE_* variables, ~/.workspacecfg, DATABRICKS_* and ARM_*, ~/.databrickscfg.

import { Failure } from "../../core/diagnostic.ts";
import { defined } from "../../core/json.ts";
import { fromEnv, type ProcessContext } from "../environment.ts";
import {
  DEFAULT_PROFILE,
  noProfile,
  ownProfiles,
  type Profile,
  type ProfileSection,
  profileIn,
  vendorProfiles,
} from "../profile.ts";

/** Values of more than one kind make a choice necessary, as in the vendor's tools. */
export type AuthKind = "pat" | "basic" | "oauth" | "azure" | "env-oidc" | "file-oidc" | "google";

interface Attribute {
  readonly own?: string;
  /** The variable of the vendor's tools. */
  readonly vendor?: string;
  readonly kind?: AuthKind;
}

/** By key of a profile, in `~/.workspacecfg` and in `~/.databrickscfg`. */
export const ATTRIBUTES = {
  host: { own: "WORKSPACE_HOST", vendor: "DATABRICKS_HOST" },
  auth_type: { own: "WORKSPACE_AUTH_TYPE", vendor: "DATABRICKS_AUTH_TYPE" },
  token: { own: "WORKSPACE_TOKEN", vendor: "DATABRICKS_TOKEN", kind: "pat" },
  username: { vendor: "DATABRICKS_USERNAME", kind: "basic" },
  password: { vendor: "DATABRICKS_PASSWORD", kind: "basic" },
  client_id: { own: "WORKSPACE_CLIENT_ID", vendor: "DATABRICKS_CLIENT_ID", kind: "oauth" },
  client_secret: { own: "WORKSPACE_CLIENT_SECRET", vendor: "DATABRICKS_CLIENT_SECRET", kind: "oauth" },
  audience: { vendor: "DATABRICKS_TOKEN_AUDIENCE" },
  oidc_token_env: { vendor: "DATABRICKS_OIDC_TOKEN_ENV", kind: "env-oidc" },
  databricks_id_token_filepath: { vendor: "DATABRICKS_OIDC_TOKEN_FILEPATH", kind: "file-oidc" },
  azure_workspace_resource_id: { vendor: "DATABRICKS_AZURE_RESOURCE_ID", kind: "azure" },
  azure_client_id: { vendor: "ARM_CLIENT_ID", kind: "azure" },
  azure_client_secret: { vendor: "ARM_CLIENT_SECRET", kind: "azure" },
  azure_tenant_id: { vendor: "ARM_TENANT_ID", kind: "azure" },
  azure_use_msi: { vendor: "ARM_USE_MSI", kind: "azure" },
  azure_environment: { vendor: "ARM_ENVIRONMENT" },
  google_service_account: { vendor: "DATABRICKS_GOOGLE_SERVICE_ACCOUNT", kind: "google" },
  google_credentials: { vendor: "GOOGLE_CREDENTIALS", kind: "google" },
} as const satisfies Readonly<Record<string, Attribute>>;

export type AttributeName = keyof typeof ATTRIBUTES;

export const ATTRIBUTE_NAMES = Object.keys(ATTRIBUTES) as readonly AttributeName[];

const attributeOf = (name: AttributeName): Attribute => ATTRIBUTES[name];

export const authKindOf = (name: AttributeName): AuthKind | undefined => attributeOf(name).kind;

const variableOf = (name: AttributeName, family: Family): string | undefined =>
  family === "workspace" ? attributeOf(name).own : attributeOf(name).vendor;

/** This program's own variables and profiles, which come first, and those of the vendor's tools. */
export type Family = "workspace" | "databricks";

/** A value and where it was found: `DATABRICKS_TOKEN`, or `token in the profile DEFAULT of ~/.databrickscfg`. */
export interface SourcedValue {
  readonly value: string;
  readonly from: string;
}

export type SourcedValues = Readonly<Partial<Record<AttributeName, SourcedValue>>>;

export function sourcedValues(find: (name: AttributeName) => SourcedValue | undefined): SourcedValues {
  return defined(Object.fromEntries(ATTRIBUTE_NAMES.map((name) => [name, find(name)])));
}

export interface SignInSource {
  readonly name: string;
  readonly values: SourcedValues;
  readonly profile?: ProfileSection;
}

interface FamilySources {
  readonly sources: readonly SignInSource[];
  /** The profile was named, so variables and profile complete each other. */
  readonly named: boolean;
}

/** The families in order. A family is read when it is needed, so an unreadable file of another tool does not stop a run. */
export type Sources = readonly { readonly family: Family; readonly read: () => FamilySources }[];

/** `profile`: the option. Throws Failure with CLI_FILE if no file has a profile that was named. */
export function signInSources(context: ProcessContext, profile: string | undefined): Sources {
  const named = profile ?? fromEnv(context, "WORKSPACE_PROFILE");
  const own = ownProfiles(context);
  const profileSection = profileIn(own, named ?? DEFAULT_PROFILE);
  const elsewhere = named !== undefined && profileSection === undefined;
  if (elsewhere) {
    const vendors = vendorProfiles(context);
    if (profileIn(vendors, named) === undefined) throw new Failure(noProfile(named, [own, vendors]));
  }
  // A profile that is named on the command line outweighs variables.
  const first = profile !== undefined;
  const readOwn = (): FamilySources => ({
    named: named !== undefined && !elsewhere,
    sources: ordered(context, "workspace", profileSection, first),
  });
  const readVendors = (): FamilySources => {
    const name = (elsewhere ? named : undefined) ?? fromEnv(context, "DATABRICKS_CONFIG_PROFILE");
    const file = vendorProfiles(context);
    const section = profileIn(file, name ?? DEFAULT_PROFILE);
    if (section === undefined && name !== undefined) throw new Failure(noProfile(name, [file]));
    const sources = ordered(context, "databricks", section, first && elsewhere);
    return { named: name !== undefined, sources };
  };
  const workspace = { family: "workspace", read: readOwn } as const;
  const databricks = { family: "databricks", read: readVendors } as const;
  return first && elsewhere ? [databricks, workspace] : [workspace, databricks];
}

const HOST_VARIABLES = [
  "WORKSPACE_HOST",
  "WORKSPACE_PROFILE",
  "DATABRICKS_HOST",
  "DATABRICKS_CONFIG_PROFILE",
];

interface ProfileChoice {
  readonly host?: string | undefined;
  readonly profile?: string | undefined;
  readonly specProfile?: string;
}

/** Whether only the spec names a profile. A spec can come from a pull request, so no other credential goes to the profile's host. */
export function isSpecProfile(
  context: ProcessContext,
  { host, profile, specProfile }: ProfileChoice,
): boolean {
  if (specProfile === undefined || host !== undefined || profile !== undefined) return false;
  return HOST_VARIABLES.every((name) => fromEnv(context, name) === undefined);
}

/** One profile without any variable. Throws Failure with CLI_FILE if no file has it. */
export function profileSources(context: ProcessContext, name: string): Sources {
  const own = ownProfiles(context);
  const profileSection = profileIn(own, name);
  const vendors = vendorProfiles(context);
  const section = profileSection ?? profileIn(vendors, name);
  if (section === undefined) throw new Failure(noProfile(name, [own, vendors]));
  const source = sourceOf(section, context.home);
  const family = profileSection === undefined ? "databricks" : "workspace";
  return [{ family, read: () => ({ named: true, sources: [source] }) }];
}

/** The first host that a source names; later families are not read for it. */
export function hostIn(sources: Sources): (SourcedValue & { readonly family: Family }) | undefined {
  for (const { family, read } of sources)
    for (const { values } of read().sources) if (values.host !== undefined) return { ...values.host, family };
  return undefined;
}

function ordered(
  context: ProcessContext,
  family: Family,
  section: ProfileSection | undefined,
  profileFirst: boolean,
): readonly SignInSource[] {
  const variables = variablesOf(context, family);
  if (section === undefined) return [variables];
  const profile = sourceOf(section, context.home);
  return profileFirst ? [profile, variables] : [variables, profile];
}

function variablesOf(context: ProcessContext, family: Family): SignInSource {
  const values = sourcedValues((attribute) => {
    const variable = variableOf(attribute, family);
    const value = variable === undefined ? undefined : fromEnv(context, variable);
    return variable === undefined || value === undefined ? undefined : { value, from: variable };
  });
  const name = family === "workspace" ? "WORKSPACE_* variables" : "DATABRICKS_* and ARM_* variables";
  return { name, values };
}

function sourceOf(section: ProfileSection, home: string): SignInSource {
  const name = `profile ${section.name} of ${shortPath(section.path, home)}`;
  const values = sourcedValues((attribute) => {
    const value = section.values.get(attribute);
    return value === undefined ? undefined : { value, from: `${attribute} of ${name}` };
  });
  return { name, values, profile: section };
}

/** A path as people write it: the home folder is `~`. */
export function shortPath(path: string, home: string): string {
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** The profile of this program that counts, and the host that it is for. */
export function ownProfile(sources: Sources): { readonly host?: string; readonly profile: Profile } {
  const own = sources.find(({ family }) => family === "workspace")?.read().sources ?? [];
  const signInSource = own.find(({ profile }) => profile !== undefined);
  const host = signInSource?.values.host?.value;
  const profile = Object.fromEntries(signInSource?.profile?.values ?? []) as Profile;
  return { profile, host };
}
