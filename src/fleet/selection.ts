// Which workspaces of a fleet a command runs on: by name, by label, or because a check is due.

import { Cron } from "croner";
import { error, Failure, failureOf } from "../core/diagnostic.ts";
import { ownMember } from "../core/json.ts";
import { nearestHint } from "../core/suggest.ts";
import type { FleetWorkspace } from "./model/fleet.ts";
import type { WorkspaceResult } from "./model/result.ts";

type Requirement = (labels: FleetWorkspace["labels"]) => boolean;

const NAME = "[A-Za-z0-9](?:[A-Za-z0-9._/-]*[A-Za-z0-9])?";
const VALUE = new RegExp(`^${NAME}$`);
const EQUALS = new RegExp(`^(${NAME})\\s*(==?|!=)\\s*(${NAME})$`);
const IN = new RegExp(`^(${NAME})\\s+(in|notin)\\s+\\(([^()]*)\\)$`);
const EXISTS = new RegExp(`^(!?)\\s*(${NAME})$`);

/** The workspaces with one of the names, if there are any, that match every selector. Throws Failure CLI_USAGE. */
export function selectWorkspaces(
  workspaces: readonly FleetWorkspace[],
  names: readonly string[],
  selectors: readonly string[],
): readonly FleetWorkspace[] {
  const declaredNames = workspaces.map(({ name }) => name);
  const unknown = names.filter((name) => !declaredNames.includes(name));
  if (unknown.length > 0)
    throw new Failure(
      ...unknown.map((name) =>
        error("CLI_USAGE", `the fleet has no workspace "${name}"`, {
          hint: nearestHint(name, declaredNames, "to list the workspaces, run `workspace fleet list`"),
        }),
      ),
    );
  const requirements = selectors.flatMap(parseSelector);
  const selected = workspaces.filter(
    ({ name, labels }) =>
      (names.length === 0 || names.includes(name)) &&
      requirements.every((requirement) => requirement(labels)),
  );
  if (selected.length === 0)
    throw failureOf("CLI_USAGE", "no workspace of the fleet matches the selection", {
      hint: "to list the workspaces with their labels, run `workspace fleet list`",
    });
  return selected;
}

/** Parses `env=prod,team in (ads, web),!legacy`. Throws Failure CLI_USAGE. */
export function parseSelector(text: string): readonly Requirement[] {
  return splitOutsideParentheses(text).map((part) => parseRequirement(part.trim(), text));
}

function parseRequirement(part: string, selector: string): Requirement {
  const equals = EQUALS.exec(part);
  if (equals !== null) {
    const [, label = "", operator, value] = equals;
    return operator === "!="
      ? (labels) => ownMember(labels, label) !== value
      : (labels) => ownMember(labels, label) === value;
  }
  const within = IN.exec(part);
  if (within !== null) {
    const [, label = "", operator, list = ""] = within;
    const values = list.split(",").map((value) => value.trim());
    if (!values.every((value) => VALUE.test(value))) throw invalidSelector(selector);
    const isIn: Requirement = (labels) => values.includes(ownMember(labels, label) ?? "");
    return operator === "in" ? isIn : (labels) => !isIn(labels);
  }
  const exists = EXISTS.exec(part);
  if (exists !== null) {
    const [, not, label = ""] = exists;
    const hasLabel: Requirement = (labels) => ownMember(labels, label) !== undefined;
    return not === "!" ? (labels) => !hasLabel(labels) : hasLabel;
  }
  throw invalidSelector(selector);
}

function invalidSelector(selector: string): Failure {
  return failureOf("CLI_USAGE", `"${selector}" is not a valid label selector`, {
    hint: "write `env=prod`, `env!=prod`, `env in (prod, test)`, `env`, or `!env`, joined by commas",
  });
}

export function splitOutsideParentheses(text: string): readonly string[] {
  return text.split(/,(?![^(]*\))/);
}

/** A workspace with a schedule whose last check did not end, or that was never checked, is due. `results`: of each workspace, newest first. */
export function dueWorkspaces(
  workspaces: readonly FleetWorkspace[],
  results: ReadonlyMap<string, readonly WorkspaceResult[]>,
  now: number,
): readonly FleetWorkspace[] {
  return workspaces.filter(({ name, schedule }) => {
    if (schedule === undefined) return false;
    const last = results.get(name)?.find(({ command }) => command === "drift");
    // A result from the future is of a clock that was wrong.
    if (last === undefined || last.status === "interrupted" || last.startedAt > now) return true;
    const { cron, timezone } = schedule;
    const next = new Cron(cron, { timezone }).nextRun(new Date(last.startedAt));
    return next !== null && next.getTime() <= now;
  });
}
