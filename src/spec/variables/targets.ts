// Targets: their settings, the selection of one (before everything else, because the location of the state depends on it), and its merge over the rest of the spec: maps merge, other values replace, and null removes.

import type { Diagnostic } from "../../core/diagnostic.ts";
import { SENSITIVE_TEXT } from "../../core/sensitive/texts.ts";
import { listed } from "../../core/sentences.ts";
import { isTemplate } from "../../expressions/template.ts";
import { readAll } from "../files/includes.ts";
import { openSpecFolder, pathBeside, type SpecFolderOptions } from "../files/spec-folder.ts";
import { Findings } from "../model/findings.ts";
import { LIMITS, STRICT } from "../model/limits.ts";
import { locationOf, type Span } from "../model/source.ts";
import type { TargetSettings } from "../model/spec.ts";
import {
  describeNode,
  isFlag,
  isNull,
  type MapMember,
  type MapNode,
  mapAt,
  member,
  type SpecNode,
  scalarText,
  withMembers,
} from "../model/tree.ts";

/** Fields of a target. Its other members are sections. */
export const TARGET_FIELDS = ["description", "host", "profile", "state", "default", "protected"] as const;

/** The target to use, by name; undefined after an error, or where the spec has no targets. */
export function selectTarget(
  section: SpecNode | undefined,
  wanted: string | undefined,
  findings: Findings,
): TargetSettings | undefined {
  if (section?.kind !== "map") return missing(section, wanted, [], findings);
  const name = wanted ?? defaultsIn(section)[0]?.[0];
  const chosen = name === undefined ? undefined : section.members.get(name);
  if (name === undefined || chosen === undefined)
    return missing(section, name, [...section.members.keys()], findings);
  return settingsIn(name, chosen, findings);
}

/** Reports what is wrong whichever target is selected, and masks credentials of all targets. */
export function checkTargets(section: SpecNode | undefined, findings: Findings): void {
  if (section?.kind !== "map") return;
  for (const [name, { value }] of section.members) {
    checkFlags(name, value, findings);
    maskCredentials(value);
  }
  const defaults = defaultsIn(section);
  const [, second] = defaults;
  if (second !== undefined)
    findings.error(
      "SPEC_TARGET",
      `${listed(defaults.map(([name]) => name))} are both the default target`,
      second[1].key,
    );
}

const defaultsIn = ({ members }: MapNode): readonly (readonly [string, MapMember])[] =>
  [...members].filter(([, { value }]) => flagIn(value, "default"));

function missing(
  section: SpecNode | undefined,
  wanted: string | undefined,
  names: readonly string[],
  findings: Findings,
): undefined {
  if (wanted === undefined) {
    if (names.length > 0)
      findings.error("SPEC_TARGET", "no target is selected, and none is the default", section, {
        hint: `pass --target ${listed(names, "or")}, or mark one with default: true`,
      });
    return undefined;
  }
  const fallback =
    names.length === 0
      ? "the spec has no targets; remove --target and WORKSPACE_TARGET"
      : `known targets: ${listed(names)}`;
  const details = findings.didYouMean(wanted, names, fallback, "names");
  findings.error("SPEC_TARGET", `the spec has no target ${JSON.stringify(wanted)}`, section, details);
  return undefined;
}

function settingsIn(name: string, { key, value }: MapMember, findings: Findings): TargetSettings {
  const text = (field: string): (Pick<MapMember, "value"> & { readonly text: string }) | undefined => {
    const node = member(value, field);
    if (node === undefined || isNull(node)) return undefined;
    const setting = scalarText(node);
    if (setting !== undefined && setting !== "" && !isTemplate(setting))
      return { value: node, text: setting };
    const shown = CREDENTIALS.test(setting ?? "") ? SENSITIVE_TEXT : JSON.stringify(setting);
    const what = setting === undefined ? describeNode(node) : shown;
    findings.error("SPEC_TARGET", `the target ${name}: ${field} must be a plain string, not ${what}`, node, {
      hint: "it is read before expressions",
    });
    return undefined;
  };
  const [host, profile, state] = [text("host"), text("profile"), text("state")];
  if (state !== undefined && !isAllowedState(state.text)) {
    const message = `the target ${name}: state must be a folder inside the spec's folder, or workspace:/folder`;
    const hint = "a spec cannot name a database or a folder elsewhere; pass --state or set WORKSPACE_STATE";
    findings.error("SPEC_TARGET", message, state.value, { hint });
  }
  return {
    name,
    at: locationOf(host?.value ?? key),
    protected: flagIn(value, "protected"),
    host: host?.text,
    profile: profile?.text,
    state: state?.text,
  };
}

/** Where a spec may keep its state. Anything else could send the state, or a password, to an attacker. */
function isAllowedState(text: string): boolean {
  if (text.startsWith("workspace:")) return true;
  return !/^[a-z][a-z0-9+.-]*:/i.test(text) && pathBeside("", text) !== undefined;
}

/** What may be a user name, a token, or a password of a URL. */
const CREDENTIALS = /^(?:[^/]*:\/\/.*|[^/]*)@/;

/** Of every target: frames also show the lines around an error. */
function maskCredentials(target: SpecNode): void {
  for (const field of ["host", "state"]) {
    const node = member(target, field);
    const text = node === undefined ? undefined : scalarText(node);
    if (node !== undefined && text !== undefined && CREDENTIALS.test(text)) node.source.mask(node);
  }
}

/** Of every target: a flag with another value would not be in effect. */
function checkFlags(name: string, target: SpecNode, findings: Findings): void {
  for (const field of ["default", "protected"]) {
    const node = member(target, field);
    if (node !== undefined && !isNull(node) && !isFlag(node))
      findings.wrongType(`the target ${name}: ${field}`, "true or false", node);
  }
}

function flagIn(node: SpecNode, field: string): boolean {
  const flag = member(node, field);
  return flag?.kind === "scalar" && flag.value === true;
}

export function withoutSettings(target: MapNode): MapNode {
  const members = new Map(target.members);
  for (const field of TARGET_FIELDS) members.delete(field);
  return { ...target, members };
}

/** Sections that a target cannot hold. */
const OUTSIDE_TARGETS = new Set(["include", "targets"]);

interface TargetedSpec {
  /** The spec with its target applied, and without the section `targets`. */
  readonly root: MapNode;
  /** The target's values of variables: values, where the spec's own section holds declarations. */
  readonly variables: SpecNode | undefined;
}

/** The spec with the sections of a target over its own; `name` is undefined where there is none. */
export function applyTarget(root: MapNode, name: string | undefined, findings: Findings): TargetedSpec {
  const rest = withMembers(root, { targets: undefined });
  const targets = targetsOf(member(root, "targets"), findings);
  const chosen = name === undefined ? undefined : targets.get(name);
  if (chosen === undefined) return { root: rest, variables: undefined };
  const over = withMembers(withoutSettings(chosen), { variables: undefined });
  return { root: overlaid(rest, over, [], findings), variables: member(chosen, "variables") };
}

function targetsOf(section: SpecNode | undefined, findings: Findings): ReadonlyMap<string, MapNode> {
  const targets = new Map<string, MapNode>();
  for (const [name, { value }] of findings.names("targets", section)) {
    if (isNull(value)) targets.set(name, mapAt(value, new Map()));
    else if (value.kind !== "map") findings.wrongType(`the target ${name}`, "a map of sections", value);
    else targets.set(name, allowed(name, value, findings));
  }
  return targets;
}

function allowed(name: string, target: MapNode, findings: Findings): MapNode {
  for (const [key, { key: at }] of target.members)
    if (OUTSIDE_TARGETS.has(key))
      findings.error("SPEC_TARGET", `the target ${name} cannot contain ${key}`, at);
  return withMembers(target, { include: undefined, targets: undefined });
}

function overlaid(base: MapNode, over: MapNode, path: readonly string[], findings: Findings): MapNode {
  const members = new Map(base.members);
  for (const [key, right] of over.members) {
    const left = members.get(key);
    const here = [...path, key];
    if (isNull(right.value)) removed(members, key, right.key, here, findings);
    else if (right.value.kind === "map") {
      const under = left?.value.kind === "map" ? left.value : mapAt(right.value, new Map());
      members.set(key, { key: left?.key ?? right.key, value: overlaid(under, right.value, here, findings) });
    } else members.set(key, right);
  }
  return mapAt(base, members);
}

function removed(
  members: Map<string, MapMember>,
  key: string,
  at: Span,
  path: readonly string[],
  findings: Findings,
): void {
  if (members.delete(key) || path.length === 1) return;
  findings.error("SPEC_TARGET", `the target removes ${path.join(".")}, which is not in the spec`, at, {
    hint: "to add a resource without fields, write {}",
  });
}

export interface SelectedTarget {
  /** Of every target of the spec. */
  readonly names: readonly string[];
  readonly settings?: TargetSettings;
  /** Why no target can be selected. Other problems of the spec are left to `loadSpec`. */
  readonly problem?: Diagnostic;
}

/** The selected target, for the name that the run gives. */
export type TargetSelection = (wanted: string | undefined) => SelectedTarget;

const NONE: TargetSelection = () => ({ names: [] });

export function readTargets(options: SpecFolderOptions & { readonly file: string }): TargetSelection {
  const { file, untrusted = false } = options;
  const folder = openSpecFolder(file, options);
  if (folder === undefined) return NONE;
  const { tree, main } = folder;
  const limits = untrusted ? STRICT : LIMITS;
  const opened = tree.read(main, limits.fileBytes);
  if (!opened.ok || !mayHaveTargets(opened.value)) return NONE;
  // The YAML of a large spec takes seconds, and most of its files have only resources.
  const included = readAll(tree, main, new Findings(), limits, { isNeeded: mayHaveTargets });
  if (included === undefined) return NONE;
  const section = member(included.root, "targets");
  const names = section?.kind === "map" ? [...section.members.keys()] : [];
  const firstError = (findings: Findings): Diagnostic | undefined =>
    findings.diagnostics(untrusted ? 0 : undefined).find(({ severity }) => severity === "error");
  const ofAll = new Findings();
  checkTargets(section, ofAll);
  const general = firstError(ofAll);
  // A spec of many targets is asked for each of them.
  return (wanted) => {
    const findings = new Findings();
    const settings = selectTarget(section, wanted, findings);
    return { names, settings, problem: firstError(findings) ?? general };
  };
}

/** Searching the bytes is faster than reading YAML. An escape may spell the word, and an include may contain it. */
function mayHaveTargets(bytes: Uint8Array): boolean {
  return /targets|include|\\/.test(new TextDecoder("latin1").decode(bytes));
}
