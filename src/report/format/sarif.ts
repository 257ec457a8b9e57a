// Notices as SARIF 2.1.0, for code scanning: rules, results with places and fingerprints, and the run that found them.

import { fingerprint } from "../../core/digest.ts";
import { defined } from "../../core/json.ts";
import { grouped } from "../../core/sentences.ts";
import { printable, printableJson } from "../text/printable.ts";
import { type RunInfo, runJson } from "../text/run-info.ts";
import type { FittedReport } from "../text/shorten-markdown.ts";
import { repositoryPath } from "../text/source-link.ts";
import { type Notice, noticeText, RULES } from "./notice.ts";

const SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/** GitHub rejects a file with more. */
const MOST_RESULTS = 25_000;

const ROOT = "%SRCROOT%";

/** `all`: the most severe first. `command`: `plan`, `drift`, `apply`, or `validate`. `properties`: about the run as a whole. */
export function sarifReport(
  all: readonly Notice[],
  command: string,
  info: RunInfo,
  properties: Readonly<Record<string, unknown>> = {},
): FittedReport {
  const notices = all.slice(0, MOST_RESULTS);
  const rules = [...new Set(notices.map((notice) => notice.rule))].sort();
  const root = { description: { text: "The root of the repository." } };
  const run = {
    tool: {
      driver: { name: "workspace", version: info.toolVersion, rules: rules.map((id) => rule(id, notices)) },
    },
    automationDetails: {
      id: `workspace/${command}/${encodeURIComponent((info.target ?? "default").toWellFormed())}/`,
    },
    invocations: [
      {
        executionSuccessful: !notices.some((notice) => notice.level === "error"),
        endTimeUtc: info.madeAt,
        ...omission(all.length),
      },
    ],
    ...provenance(info),
    originalUriBaseIds: { [ROOT]: root },
    columnKind: "utf16CodeUnits",
    results: notices.map((notice) => result(notice, rules.indexOf(notice.rule), info)),
    properties: { host: info.host, modes: info.modes, ...runJson(info), ...properties },
  };
  const text = `${printableJson({ $schema: SCHEMA, version: "2.1.0", runs: [run] }, 2)}\n`;
  return { text, cut: notices.length < all.length };
}

function omission(total: number): Record<string, unknown> {
  if (total <= MOST_RESULTS) return {};
  const text = `This file has the ${grouped(MOST_RESULTS)} most severe of ${grouped(total)} results. The other formats have all of them.`;
  return { toolExecutionNotifications: [{ level: "warning", message: { text } }] };
}

function rule(id: string, notices: readonly Notice[]): Record<string, unknown> {
  const [code = id, name] = id.split("/");
  const about = name === undefined ? (RULES[id] ?? id) : `The rule ${name}. ${RULES[code] ?? ""}`;
  const level = notices.find((notice) => notice.rule === id)?.level ?? "warning";
  return {
    id,
    shortDescription: { text: about },
    help: { text: `${about} Each result names its subject and, if known, the next step.` },
    defaultConfiguration: { level },
  };
}

function result(notice: Notice, ruleIndex: number, info: RunInfo): Record<string, unknown> {
  const { rule: ruleId, level, address, severity, origin } = notice;
  const properties = defined({ address, severity, origin });
  return {
    ruleId,
    ruleIndex,
    level,
    message: { text: noticeText(notice).split("\n").map(printable).join("\n") },
    locations: [location(notice, info)],
    partialFingerprints: { "workspace/v1": noticeFingerprint(notice, info) },
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
  };
}

function location({ at, address }: Notice, info: RunInfo): Record<string, unknown> {
  const path = at === undefined ? undefined : repositoryPath(at.file, info);
  const region =
    at === undefined || path === undefined ? undefined : { startLine: at.line, startColumn: at.column };
  return {
    physicalLocation: {
      artifactLocation: { uri: uriPath(path ?? specPath(info)), uriBaseId: ROOT },
      region: region ?? { startLine: 1 },
    },
    logicalLocations: address && [{ fullyQualifiedName: address, kind: "resource" }],
  };
}

/** Forges drop a result without a file, so a result without a location points to the spec. */
export function specPath(info: RunInfo): string {
  return repositoryPath(info.spec ?? "workspace.yaml", info) ?? "workspace.yaml";
}

const uriPath = (path: string): string => path.toWellFormed().split("/").map(encodeURIComponent).join("/");

/** The same for the same problem of the same resource, even if its lines move. */
export function noticeFingerprint({ rule: id, message, address, at }: Notice, info: RunInfo): string {
  const file = at === undefined ? null : (repositoryPath(at.file, info) ?? at.file);
  return fingerprint([id, address ?? null, file, message, info.target ?? null]);
}

/** Only with an address that a browser can open. */
function provenance({ commit, repositoryUrl }: RunInfo): Record<string, unknown> {
  if (repositoryUrl === undefined) return {};
  const source = { repositoryUri: repositoryUrl, revisionId: commit, mappedTo: { uriBaseId: ROOT } };
  return { versionControlProvenance: [source] };
}
