// The user name that the service reports for the sign-in of a run.

import type { Reader } from "../../api/contract/reader.ts";
import type { HostOptions, Settings } from "../../config/settings.ts";
import { Refused } from "../../core/request-failure.ts";
import { connect, withConnection } from "../session/connect.ts";
import type { SpecOptions } from "../session/read-spec.ts";
import type { WorkflowContext } from "../session/workflow-context.ts";

/** Undefined if the service does not report names. Throws Refused if it does not accept the sign-in. */
export function callerName(
  context: WorkflowContext,
  options: HostOptions & Pick<SpecOptions, "file">,
): Promise<string | undefined> {
  return withConnection(context, options, ({ reader }) => nameFrom(reader));
}

/** The same for settings that are not those of a command. */
export async function callerNameWith(
  settings: Settings,
  { observer }: WorkflowContext,
): Promise<string | undefined> {
  const connection = await connect({
    settings,
    embeddedFolder: "",
    retrying: (event) => observer.retrying(event),
  });
  try {
    return await nameFrom(connection.reader);
  } finally {
    await connection.close();
  }
}

async function nameFrom(reader: Reader): Promise<string | undefined> {
  try {
    const { userName } = await reader.read("scim/me");
    return typeof userName === "string" && userName !== "" ? userName : undefined;
  } catch (failure) {
    // Older services do not have this call.
    if (failure instanceof Refused && (failure.status === 404 || failure.status === 501)) return undefined;
    throw failure;
  }
}
