// Libraries installed on a cluster, which have calls of their own (dialect databricks). A library has no ID: it is known by all its members.

import type { Reader } from "../../api/contract/reader.ts";
import type { RemoteId } from "../../core/address.ts";
import { canonicalJson } from "../../core/digest.ts";
import { isObject, type Json, type JsonObject, listIn, objectIn } from "../../core/json.ts";
import type { FieldSchema, Values } from "../../resource/field-schema.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { OperationWriter, UpdateTask } from "../../resource/operations.ts";
import type { Problem } from "../../resource/planning.ts";
import { listField } from "../kit/field-builders.ts";
import { library } from "../kit/library-fields.ts";
import { effectOn, problem } from "../kit/problems.ts";
import { keyIn, objectsIn, responseText } from "../kit/responses.ts";
import { normalizeLive } from "../kit/spec-form.ts";

export const clusterLibraries: FieldSchema = listField(library, {
  dialect: "databricks",
  severity: "security",
  list: "set",
  whenAbsent: "unmanaged",
  separateRequest: true,
  shownBy: ["library_states"],
  description:
    "All libraries installed on the cluster, except for those of its policy; others are drift and are uninstalled. If absent, libraries are not managed.",
  examples: [[{ pypi: { package: "simplejson==3.8.0" } }, { jar: "dbfs:/jars/etl.jar" }]],
});

const FIELD = "libraries";
const librariesIn = (values: Values | undefined): readonly JsonObject[] =>
  listIn(values?.[FIELD]).filter(isObject);

const inSpecForm = (library: JsonObject): JsonObject => {
  const [form] = librariesIn(normalizeLive({ [FIELD]: clusterLibraries }, { [FIELD]: [library] }));
  return form ?? {};
};

/** Equal for equal libraries: the order of exclusions has no meaning. */
function identityOf(library: JsonObject): string {
  const { maven, ...rest } = library;
  if (!isObject(maven)) return canonicalJson(rest);
  return canonicalJson({
    ...rest,
    maven: { ...maven, exclusions: listIn(maven.exclusions).map(String).sort() },
  });
}

/** Those of `all` that are not among `others`. */
export const withoutEqualLibraries = (
  all: readonly JsonObject[],
  others: readonly JsonObject[],
): readonly JsonObject[] => {
  const keys = new Set(others.map(identityOf));
  return all.filter((library) => !keys.has(identityOf(library)));
};

/** `simplejson`, `dbfs:/a.jar`, or `group:artifact:version`. */
function nameOf(library: JsonObject): string {
  const [value] = Object.values(library);
  return isObject(value) ? String(value.package ?? value.coordinates) : String(value);
}

/** The entries of a status that belong to the cluster and stay after its restart. */
const lasting = (status: JsonObject): readonly JsonObject[] =>
  objectsIn(status, "library_statuses").filter(
    ({ status: state, is_library_for_all_clusters: ofAll }) =>
      state !== "UNINSTALL_ON_RESTART" && ofAll !== true,
  );

/**
 * The cluster with its libraries, and as facts the states of those that are not installed. One request reads those of all clusters.
 * `ofPolicy`: libraries that its policy installs, which count only if the spec lists them, too.
 */
export async function withLibraries(
  api: Reader,
  live: LiveObject,
  desired: Values | undefined,
  ofPolicy: readonly JsonObject[],
): Promise<LiveObject> {
  const answer = await api.read("libraries/all-cluster-statuses");
  const status = objectsIn(answer, "statuses").find((entry) => responseText(entry, "cluster_id") === live.id);
  const entries = lasting(status ?? {}).map((entry) => ({
    entry,
    library: inSpecForm(objectIn(entry.library)),
  }));
  const states = entries.flatMap(({ entry, library: installed }): readonly JsonObject[] => {
    const state = keyIn(entry, "status");
    if (state === "INSTALLED" || state === "RESTORED") return [];
    const messages = listIn(entry.messages).map(String).join(" ");
    return [{ library: nameOf(installed), state, messages }];
  });
  const unlisted = withoutEqualLibraries(ofPolicy.map(inSpecForm), librariesIn(desired));
  const all = withoutEqualLibraries(
    entries.map(({ library: installed }) => installed),
    unlisted,
  );
  return {
    ...live,
    values: all.length === 0 ? live.values : { ...live.values, [FIELD]: all },
    facts: states.length === 0 ? live.facts : { ...live.facts, library_states: states },
  };
}

const FAILED: ReadonlySet<string> = new Set(["FAILED", "SKIPPED"]);

/** Libraries that failed, and those that a running cluster still installs. A stopped cluster installs at its next start. */
export function libraryStates({ facts }: LiveObject): readonly Problem[] {
  return listIn(facts.library_states)
    .map(objectIn)
    .flatMap((entry): readonly Problem[] => {
      const { library: name, state, messages } = entry;
      const subject = `the library ${String(name)}`;
      const cause = messages === "" ? "" : `: ${String(messages)}`;
      if (FAILED.has(String(state)))
        return [
          problem(
            "PLAN_NOT_READY",
            [FIELD],
            `${subject} is not installed (${String(state)})${cause}`,
            "correct or remove the library; a failed one is installed again when the cluster restarts",
          ),
        ];
      if (facts.state !== "RUNNING") return [];
      return [problem("PLAN_NOT_READY", [FIELD], `${subject} is still being installed (${String(state)})`)];
    });
}

/** Side effects of changed libraries. `restarts`: the change restarts or stops the cluster anyway. */
export function libraryConsequences(
  live: LiveObject,
  after: Values | undefined,
  { isUp, restarts }: { readonly isUp: boolean; readonly restarts: boolean },
): readonly string[] {
  const before = librariesIn(live.values);
  const wanted = librariesIn(after);
  const added = withoutEqualLibraries(wanted, before).map(nameOf);
  const removed = withoutEqualLibraries(before, wanted).map(nameOf);
  return [
    ...(isUp ? [] : effectOn("libraries that are installed when the cluster starts", added)),
    ...(isUp && !restarts
      ? effectOn(
          "libraries that stay in use until the cluster restarts, which this plan does not do",
          removed,
        )
      : []),
  ];
}

export const UNINSTALL = "uninstall-libraries";
export const INSTALL = "install-libraries";

/** The steps of changed libraries: an edit that restarts the cluster completes a removal. */
export function librarySteps(
  live: Values,
  after: Values,
): { readonly first: readonly string[]; readonly last: readonly string[] } {
  const [before, wanted] = [librariesIn(live), librariesIn(after)];
  return {
    first: withoutEqualLibraries(before, wanted).length > 0 ? [UNINSTALL] : [],
    last: withoutEqualLibraries(wanted, before).length > 0 ? [INSTALL] : [],
  };
}

export async function installLibraries(
  api: OperationWriter,
  id: RemoteId,
  values: Values,
  before: Values = {},
): Promise<void> {
  const added = withoutEqualLibraries(librariesIn(values), librariesIn(before));
  if (added.length > 0) await api.write("libraries/install", { cluster_id: id, libraries: [...added] });
}

/** The service knows a library by all its members, also those that a spec does not have, so the status is read again. */
export async function uninstallLibraries(
  api: OperationWriter,
  { id, values, before }: UpdateTask,
): Promise<void> {
  const removed = new Set(withoutEqualLibraries(librariesIn(before), librariesIn(values)).map(identityOf));
  const status = await api.read("libraries/cluster-status", { cluster_id: id });
  const all: readonly Json[] = lasting(status).flatMap(({ library: installed = null }) =>
    removed.has(identityOf(inSpecForm(objectIn(installed)))) ? [installed] : [],
  );
  if (all.length > 0) await api.write("libraries/uninstall", { cluster_id: id, libraries: all });
}
