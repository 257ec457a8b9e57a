// The target of an invocation, and what it decides: the state, the expected host, and whether an apply needs a saved plan.

import { dirname, join, resolve } from "node:path";
import { EMBEDDED, identityOf } from "../../config/settings.ts";
import { Failure, failureOf } from "../../core/diagnostic.ts";
import { shellWord } from "../../core/sentences.ts";
import type { TargetSettings } from "../../spec/model/spec.ts";
import type { SelectedTarget } from "../../spec/variables/targets.ts";
import { isPostgresUrl } from "../../state/backends/postgres/database.ts";
import { pointsOutside } from "./checkout.ts";

/** The spec of an invocation, with what selects its target. */
export interface SelectedSpec {
  /** Absolute. */
  readonly file: string;
  /** The target that --target or WORKSPACE_TARGET names; the spec may have a default. */
  readonly targetName: string | undefined;
  /** An untrusted spec gets no environment and no secrets, and chooses neither a profile nor a state. */
  readonly untrusted: boolean;
  /** The target of the spec, or the reason why none can be selected. */
  readonly target: () => SelectedTarget;
}

/** The name of the target, which may be the default of the spec. Throws SPEC_TARGET if one has to be named. */
export function requiredTarget({ targetName, target }: SelectedSpec): string | undefined {
  if (targetName !== undefined) return targetName;
  const { settings, problem } = target();
  if (problem !== undefined && settings === undefined) throw new Failure(problem);
  return settings?.name;
}

export interface StateLocation {
  /** As the user or the target names it; undefined for the folder next to the spec. */
  readonly text: string | undefined;
  /** Absolute; undefined if the state is in PostgreSQL or in the workspace. */
  readonly folder: string | undefined;
}

export const IN_WORKSPACE = "workspace:";

export function isInWorkspace(location: string): boolean {
  return location.startsWith(IN_WORKSPACE);
}

/** `named`: the state that an option or the environment names. Throws SPEC_TARGET. */
export function locateState(spec: SelectedSpec, named: string | undefined, cwd: string): StateLocation {
  const text = named ?? stateOfTarget(spec);
  if (text === undefined)
    return { text, folder: join(dirname(spec.file), ".workspace", targetFolder(requiredTarget(spec))) };
  const isShared = isPostgresUrl(text) || isInWorkspace(text);
  return { text, folder: isShared ? undefined : resolve(cwd, text) };
}

/** A folder name that cannot lead to another folder or to the data of the embedded workspace. */
function targetFolder(target: string | undefined): string {
  if (target === undefined) return "default";
  const name = encodeURIComponent(target).replaceAll(".", "%2E");
  return name === "embedded" || name === "default" ? `target-${name}` : name;
}

/** The state that the target names; a folder is absolute. */
export function stateOfTarget({ file, target, untrusted }: SelectedSpec): string | undefined {
  const { settings } = target();
  if (settings?.state === undefined) return undefined;
  if (untrusted)
    throw failureOf(
      "SPEC_TARGET",
      `the target ${settings.name} sets its state, which an untrusted spec cannot do`,
      { at: settings.at, hint: "pass --state, or set WORKSPACE_STATE" },
    );
  if (isInWorkspace(settings.state)) return settings.state;
  const folder = dirname(file);
  const state = resolve(folder, settings.state);
  if (pointsOutside(folder, state))
    throw failureOf(
      "SPEC_TARGET",
      `the state of the target ${settings.name} is outside the spec's folder, because of a link`,
      { at: settings.at, hint: "replace the link with a folder, or pass --state" },
    );
  return state;
}

/** A host in the spec is only compared, so that a pull request cannot send a token elsewhere. */
export function assertExpectedHost(target: TargetSettings | undefined, identity: string): void {
  if (target?.host === undefined || expected(target, target.host) === identity) return;
  throw failureOf(
    "SPEC_TARGET",
    `the target ${target.name} requires the host ${target.host}, but this run uses ${identity}`,
    {
      at: target.at,
      hint: "select the host with --host, --profile, or WORKSPACE_HOST; a host in the spec is only compared",
    },
  );
}

/** The message does not repeat the host, because it may contain a password. */
function expected({ name, at }: TargetSettings, host: string): string {
  if (host === EMBEDDED) return host;
  try {
    return identityOf(host);
  } catch {
    throw failureOf("SPEC_TARGET", `the host of the target ${name} is not a valid URL`, {
      at,
      hint: "write it as https://NAME, without a user name, a query, or a fragment",
    });
  }
}

/** A protected target is changed by a saved plan only, and the command line has to name it. */
export function assertTargetAllowsApply(
  { target }: Pick<SelectedSpec, "target">,
  {
    saved,
    namesTarget,
    destroy = false,
  }: { readonly saved: boolean; readonly namesTarget: boolean; readonly destroy?: boolean },
): void {
  const { settings } = target();
  if (settings?.protected !== true) return;
  const { name } = settings;
  const plan = `workspace plan${destroy ? " --destroy" : ""} --target ${shellWord(name)} --out FILE`;
  if (!saved)
    throw failureOf("SPEC_TARGET", `the target ${name} is protected, so it is changed by a saved plan only`, {
      at: settings.at,
      hint: `run \`${plan}\`, then \`workspace apply FILE --target ${shellWord(name)}\``,
    });
  if (!namesTarget)
    throw failureOf("SPEC_TARGET", `the target ${name} is protected, so apply needs --target`, {
      at: settings.at,
      hint: `add --target ${name}`,
    });
}
