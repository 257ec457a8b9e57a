// Reads the sections policy (limits of a plan) and lifecycle (treatment of one resource).

import type { Findings } from "../model/findings.ts";
import type { Lifecycle, Policy, WrittenResource } from "../model/spec.ts";
import { member, type SpecNode, scalarText } from "../model/tree.ts";
import { hasPath } from "./field-walk.ts";

type OnImmutable = "error" | "replace";

const DEFAULT_SHARE = 0.3;

/** The policy of a valid section. Default: an immutable change is an error, and 30% of the managed resources may be deleted. */
export function policyOf(section: SpecNode | undefined): Policy {
  const immutable = member(section, "on_immutable_change");
  const byKind: Record<string, OnImmutable> = {};
  if (immutable?.kind === "map")
    for (const [kind, { value }] of immutable.members)
      if (kind !== "default") byKind[kind] = onImmutable(value) ?? "error";
  return {
    on_immutable_change:
      onImmutable(immutable?.kind === "map" ? member(immutable, "default") : immutable) ?? "error",
    on_immutable_change_by_kind: byKind,
    max_deletes: maxDeletes(member(section, "max_deletes")),
    authoritative: texts(member(section, "authoritative")),
    duplicate_names: scalarText(member(section, "duplicate_names")) === "allow" ? "allow" : "error",
  };
}

function onImmutable(node: SpecNode | undefined): OnImmutable | undefined {
  const text = scalarText(node);
  return text === "error" || text === "replace" ? text : undefined;
}

function maxDeletes(node: SpecNode | undefined): Policy["max_deletes"] {
  if (node?.kind === "scalar" && typeof node.value === "number") return { count: node.value };
  const text = scalarText(node);
  return { share: text === undefined ? DEFAULT_SHARE : Number(text.slice(0, -1)) / 100 };
}

function texts(node: SpecNode | undefined): readonly string[] {
  return node?.kind === "list" ? node.items.flatMap((item) => scalarText(item) ?? []) : [];
}

const NO_LIFECYCLE: Lifecycle = { prevent_destroy: false, ignore_changes: [] };

/** The lifecycle of a resource; names of fields that the kind does not have are reported. */
export function lifecycleOf(written: WrittenResource, findings: Findings): Lifecycle {
  const node = written.lifecycle;
  if (node === undefined) return NO_LIFECYCLE;
  const ignored = member(node, "ignore_changes");
  if (ignored?.kind === "list") for (const item of ignored.items) checkIgnored(written, item, findings);
  const immutable = onImmutable(member(node, "on_immutable_change"));
  const prevent = member(node, "prevent_destroy");
  return {
    prevent_destroy: prevent?.kind === "scalar" && prevent.value === true,
    ignore_changes: texts(ignored),
    on_immutable_change: immutable,
  };
}

function checkIgnored(written: WrittenResource, item: SpecNode, findings: Findings): void {
  const text = scalarText(item);
  const { provider, address } = written;
  if (text === undefined || text === "") return;
  if (hasPath(provider, text.split("."))) return;
  const message = `${address}: ignore_changes contains ${JSON.stringify(text)}, which is not a field of ${provider.kind}`;
  const known = Object.keys(provider.fields);
  const hint = findings.didYouMean(text, known, "write a field, or a dotted path such as members.users");
  findings.error("SPEC_UNKNOWN_FIELD", message, item, { address, ...hint });
}
