// Checks a sign-in with the workspace, and writes it as a profile.

import { callerIfReported } from "../../api/contract/caller.ts";
import type { Reader } from "../../api/contract/reader.ts";
import type { ProcessContext } from "../../config/environment.ts";
import { fileFailure } from "../../config/files.ts";
import type { ProfileFile } from "../../config/profile.ts";
import { hostSettings, identityOf, type Settings } from "../../config/settings.ts";
import { hasProfile, type NewProfile, withProfile } from "../../config/sign-in/new-profile.ts";
import { shortPath } from "../../config/sign-in/sources.ts";
import { openWholeFile } from "../../config/write-file.ts";
import { errorCode, Failure } from "../../core/diagnostic.ts";
import { readRegularFile } from "../../core/regular-file.ts";
import { nodeClock } from "../../state/backends/file/node-ports.ts";
import type { Invocation, WorkflowContext } from "../invocation/invocation.ts";
import { connect, withConnection } from "../session/connect.ts";

/** Whether the file had the profile before. Throws Failure with CLI_FILE. */
export async function saveProfile(
  file: ProfileFile,
  profile: NewProfile,
): Promise<{ readonly replaced: boolean }> {
  const { path } = file;
  const replaced = hasProfile(file, profile.name);
  for (let attempt = 1; ; attempt++) {
    try {
      writeProfile(path, profile);
      return { replaced };
    } catch (problem) {
      const isHeld = errorCode(problem) === "EEXIST";
      const hint = isHeld ? "if no other `workspace login` runs, delete that file" : undefined;
      if (!isHeld || attempt === ATTEMPTS)
        throw fileFailure(`the profile file ${path} cannot be written`, problem, hint);
    }
    await nodeClock.sleep(BETWEEN_ATTEMPTS_MS);
  }
}

const ATTEMPTS = 500;
const BETWEEN_ATTEMPTS_MS = 10;

/** Reads the file after it has been locked, so that no profile of another process is lost. */
function writeProfile(path: string, profile: NewProfile): void {
  const file = openWholeFile(path, { over: true, mode: 0o600, alone: true });
  try {
    file.write(new TextEncoder().encode(withProfile(textAt(path), profile)));
    file.keep();
  } finally {
    file.drop();
  }
}

function textAt(path: string): string {
  try {
    return readRegularFile(path).toString("utf8");
  } catch (problem) {
    if (errorCode(problem) === "ENOENT") return "";
    throw problem;
  }
}

/** The sign-in of commands without options, or the reason why it is not the one of the profile. */
type ProfileUse =
  | { readonly method: string; readonly from: readonly string[] }
  | { readonly unusedBecause: string };

export function profileUse(context: ProcessContext, { name, values }: NewProfile, path: string): ProfileUse {
  const own = ` of profile ${name} of ${shortPath(path, context.home)}`;
  try {
    const { host, choice } = hostSettings(context, {
      host: undefined,
      profile: undefined,
      parallelism: undefined,
    });
    if (choice === undefined || identityOf(host.value) !== identityOf(values.host ?? ""))
      return { unusedBecause: `${host.from} names ${host.value}` };
    const { credential, from } = choice;
    const isOwn =
      from.some((text) => text.endsWith(own)) || usesNoValue(credential?.method, values.auth_type);
    if (credential !== undefined && isOwn) return { method: credential.method, from };
    return { unusedBecause: `${from.join(" and ") || "another source"} comes first` };
  } catch (problem) {
    if (problem instanceof Failure) return { unusedBecause: problem.diagnostics[0]?.message ?? "" };
    throw problem;
  }
}

/** The Azure CLI gives its own path as the source. */
const usesNoValue = (method: string | undefined, saved: string | undefined): boolean =>
  method === "azure-cli" && saved === "azure-cli";

/** Undefined if the service does not report names. Throws Refused if it does not accept the sign-in. */
export function callerName(invocation: Invocation): Promise<string | undefined> {
  return withConnection(invocation, ({ reader }) => nameFrom(reader));
}

export async function callerNameWith(
  settings: Settings,
  { observer }: WorkflowContext,
): Promise<string | undefined> {
  const connection = await connect({ settings, embeddedFolder: "", observer });
  try {
    return await nameFrom(connection.reader);
  } finally {
    await connection.close();
  }
}

/** Older services do not have this call. A check of a sign-in fails for any other refusal. */
const nameFrom = (reader: Reader): Promise<string | undefined> =>
  callerIfReported(reader, ({ status }) => status === 404 || status === 501);
