// The sources of sign-in values, in order: WORKSPACE_* variables, ~/.workspacecfg, DATABRICKS_* and ARM_*, ~/.databrickscfg.

import { Failure } from "../../core/diagnostic.ts";
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
import {
  ATTRIBUTE_NAMES,
  type AttributeName,
  type Family,
  type SourcedValue,
  type SourcedValues,
  variableOf,
} from "./attributes.ts";

export interface SignInSource {
  readonly name: string;
  readonly values: SourcedValues;
  readonly profile?: ProfileSection;
}

export interface FamilySources {
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
  const found = profileIn(own, named ?? DEFAULT_PROFILE);
  const elsewhere = named !== undefined && found === undefined;
  if (elsewhere) {
    const vendors = vendorProfiles(context);
    if (profileIn(vendors, named) === undefined) throw new Failure(noProfile(named, [own, vendors]));
  }
  // A profile that is named on the command line outweighs variables.
  const first = profile !== undefined;
  const readOwn = (): FamilySources => ({
    named: named !== undefined && !elsewhere,
    sources: ordered(context, "workspace", found, first),
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

/** Whether only the spec names a profile. A spec can come from a pull request, so no other credential goes to the profile's host. */
export function isSpecProfile(
  context: ProcessContext,
  {
    host,
    profile,
    specProfile,
  }: {
    readonly host?: string | undefined;
    readonly profile?: string | undefined;
    readonly specProfile?: string;
  },
): boolean {
  if (specProfile === undefined || host !== undefined || profile !== undefined) return false;
  return HOST_VARIABLES.every((name) => fromEnv(context, name) === undefined);
}

/** One profile without any variable. Throws Failure with CLI_FILE if no file has it. */
export function profileSources(context: ProcessContext, name: string): Sources {
  const own = ownProfiles(context);
  const found = profileIn(own, name);
  const vendors = vendorProfiles(context);
  const section = found ?? profileIn(vendors, name);
  if (section === undefined) throw new Failure(noProfile(name, [own, vendors]));
  const source = sourceOf(section, context.home);
  const family = found === undefined ? "databricks" : "workspace";
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
  const values: Partial<Record<AttributeName, SourcedValue>> = {};
  for (const name of ATTRIBUTE_NAMES) {
    const variable = variableOf(name, family);
    const value = variable === undefined ? undefined : fromEnv(context, variable);
    if (variable !== undefined && value !== undefined) values[name] = { value, from: variable };
  }
  const name = family === "workspace" ? "WORKSPACE_* variables" : "DATABRICKS_* and ARM_* variables";
  return { name, values };
}

function sourceOf(section: ProfileSection, home: string): SignInSource {
  const name = `profile ${section.name} of ${shortPath(section.path, home)}`;
  const values: Partial<Record<AttributeName, SourcedValue>> = {};
  for (const attribute of ATTRIBUTE_NAMES) {
    const value = section.values.get(attribute);
    if (value !== undefined) values[attribute] = { value, from: `${attribute} of ${name}` };
  }
  return { name, values, profile: section };
}

/** A path as people write it: the home folder is `~`. */
export function shortPath(path: string, home: string): string {
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** The profile of this program that counts, and the host that it is for. */
export function ownProfile(sources: Sources): { readonly host?: string; readonly profile: Profile } {
  const own = sources.find(({ family }) => family === "workspace")?.read().sources ?? [];
  const found = own.find(({ profile }) => profile !== undefined);
  const host = found?.values.host?.value;
  const profile = Object.fromEntries(found?.profile?.values ?? []) as Profile;
  return { profile, ...(host === undefined ? {} : { host }) };
}
