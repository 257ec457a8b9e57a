// Accepts drift into the spec: computes the edits of its files, and checks that the edited spec declares the live values and nothing
// else changed, before anything is written.

import { type Address, memberOf, nameOf, parentOf } from "../../core/address.ts";
import { type Diagnostic, error, Failure, failureOf, hasErrors, warning } from "../../core/diagnostic.ts";
import { canonicalJson } from "../../core/digest.ts";
import type { Json } from "../../core/json.ts";
import type { SensitiveTexts } from "../../core/sensitive/texts.ts";
import { listed } from "../../core/sentences.ts";
import { escaped } from "../../expressions/template.ts";
import { indexLive } from "../../planner/model/context.ts";
import type { PlanInput } from "../../planner/model/input.ts";
import type { Plan } from "../../planner/model/plan.ts";
import { hasContent, type Provider, type Registry, secretField } from "../../resource/kind.ts";
import type { LiveObject } from "../../resource/live.ts";
import { type FileEdit, SpecEdits } from "../../spec/edit/spec-edits.ts";
import { sourcesOf } from "../../spec/export/addresses.ts";
import { writtenValues } from "../../spec/export/values.ts";
import { pathBeside } from "../../spec/files/spec-folder.ts";
import type { DeclaredSpec, Resource, Spec } from "../../spec/model/spec.ts";
import { type SpecNode, scalarText } from "../../spec/model/tree.ts";
import { effectsOf } from "./accept-effects.ts";
import {
  type AcceptedResource,
  acceptDeletion,
  acceptValues,
  type TargetOverride,
  takesOverride,
  writerFor,
} from "./accept-values.ts";
import { notAccepted, refusals, type WantedDrift } from "./wanted-drift.ts";
import type { EditableSpec } from "./write-edits.ts";

export interface Accepting extends Pick<EditableSpec, "read" | "load" | "otherTargets"> {
  readonly registry: Registry;
  readonly input: PlanInput;
  readonly plan: Plan;
  readonly wanted: readonly WantedDrift[];
  /** The values that reports of the drift hide; none of them is written to a file. */
  readonly sensitive: SensitiveTexts;
  /** The live content of an object. */
  content(provider: Provider, live: LiveObject): Promise<Uint8Array>;
  /** The file that gets new entries. */
  readonly into: string;
  /** Also writes values that decide other resources or targets. */
  readonly shared: boolean;
  /** Writes changed values for the selected target alone. */
  readonly inTarget: boolean;
}

export interface DriftAcceptance {
  readonly resources: readonly AcceptedResource[];
  /** Those with a patch are YAML files of the spec; the others contents. */
  readonly files: readonly FileEdit[];
  readonly notes: readonly Diagnostic[];
}

/** Throws Failure with everything that cannot be accepted; nothing is written here. */
export async function acceptDrift(accepting: Accepting): Promise<DriftAcceptance> {
  const { load, sensitive, wanted } = accepting;
  const before = await load(new Map());
  const { spec, declared } = before;
  if (spec === undefined || declared === undefined) throw new Failure(...before.diagnostics);
  assertSameFiles(accepting.input.spec, spec);
  const attempt = async (complete: boolean) => {
    const acceptance = new Acceptance(accepting, spec, declared, complete);
    const edited = await acceptance.all();
    const overlay = new Map(edited.files.map(({ path, after }) => [path, after]));
    return { acceptance, edited, overlay, after: await load(overlay) };
  };
  const least = await attempt(false);
  const { acceptance, edited, overlay, after } = least.after.spec === undefined ? await attempt(true) : least;
  if (after.spec === undefined || hasErrors(after.diagnostics)) throw notValid(after.diagnostics, wanted);
  assertNothingSensitive(edited, sensitive);
  const effects = await effectsOf({
    ...accepting,
    ...{ before: spec, after: after.spec, declared, overlay, resources: edited.resources },
    takesOverride: (address) => acceptance.takesOverride(address),
  });
  const problems = effects.filter(({ severity }) => severity === "error");
  if (problems.length > 0) throw new Failure(...sensitive.maskedMessages(problems));
  return { ...edited, notes: sensitive.maskedMessages([...edited.notes, ...effects]) };
}

/** An edit that the plan has not seen would be taken for what was applied, and replaced. */
function assertSameFiles(planned: Spec, now: Spec): void {
  const digests = new Map(planned.files.map(({ path, digest }) => [path, digest]));
  const changed = now.files.find(({ path, digest }) => digests.get(path) !== digest);
  if (changed === undefined) return;
  throw failureOf(
    "CLI_FILE",
    `${changed.path} was changed by another program in the meantime, so nothing is written`,
    { hint: "run the command again" },
  );
}

const SENSITIVE_HINT = "apply to restore what is declared, or remove the value from the object";

/** Keys and names of principals can have a sensitive value, too, also in another encoding. */
function assertNothingSensitive({ files, resources }: DriftAcceptance, sensitive: SensitiveTexts): void {
  const file = files.find((edit) => addsSensitive(edit, sensitive));
  if (file === undefined) return;
  const addresses = resources.map(({ address }) => address);
  throw failureOf(
    "DRIFT_NOT_ACCEPTED",
    `${file.path} would contain a sensitive value of ${listed(addresses, "or", 5)}, which is never written to a file`,
    { address: addresses.length === 1 ? addresses[0] : undefined, hint: SENSITIVE_HINT },
  );
}

/** Whether the lines that change contain a sensitive value more often than before. */
function addsSensitive(
  { before, after }: Pick<FileEdit, "before" | "after">,
  sensitive: SensitiveTexts,
): boolean {
  const linesOf = (bytes: Uint8Array) => Buffer.from(bytes).toString("utf8").split("\n");
  const [old, present] = [linesOf(before), linesOf(after)];
  const changed = (lines: readonly string[], others: ReadonlySet<string>): ReadonlyMap<string, number> =>
    sensitive.partsIn(lines.filter((line) => !others.has(line)).join("\n"));
  const removed = changed(old, new Set(present));
  return [...changed(present, new Set(old))].some(([part, times]) => times > (removed.get(part) ?? 0));
}

class Acceptance {
  readonly #accepting: Accepting;
  readonly #spec: Spec;
  readonly #declared: DeclaredSpec;
  readonly #complete: boolean;
  readonly #edits: SpecEdits;
  readonly #contents: FileEdit[] = [];
  readonly #notes: Diagnostic[] = [];
  readonly #imports: Json[] = [];

  constructor(accepting: Accepting, spec: Spec, declared: DeclaredSpec, complete: boolean) {
    this.#accepting = accepting;
    this.#complete = complete;
    this.#spec = spec;
    this.#declared = declared;
    const files = new Set([...spec.files.map(({ path }) => path), accepting.into]);
    const read = (file: string) => (files.has(file) ? accepting.read(file) : undefined);
    this.#edits = new SpecEdits(read, "DRIFT_NOT_ACCEPTED");
  }

  async all(): Promise<DriftAcceptance> {
    const resources: AcceptedResource[] = [];
    const problems: Diagnostic[] = [];
    for (const item of this.#accepting.wanted) {
      try {
        resources.push(await this.#accept(item));
      } catch (problem) {
        if (!(problem instanceof Failure)) throw problem;
        const refused = refusals(problem, [item]);
        if (refused[0]?.code !== "DRIFT_NOT_ACCEPTED") throw problem;
        problems.push(...refused);
      }
    }
    if (problems.length > 0) throw new Failure(...problems);
    return this.#edited(resources);
  }

  #edited(resources: readonly AcceptedResource[]): DriftAcceptance {
    try {
      this.#writeImports();
      return { resources, files: [...this.#edits.files(), ...this.#contents], notes: this.#notes };
    } catch (problem) {
      throw problem instanceof Failure ? new Failure(...refusals(problem, this.#accepting.wanted)) : problem;
    }
  }

  /** Whether the values of a resource can be written for one target alone. */
  takesOverride(address: Address): boolean {
    const written = this.#declared.resources.find((resource) => resource.address === address);
    return written !== undefined && takesOverride(written, this.#edits);
  }

  async #accept(item: WantedDrift): Promise<AcceptedResource> {
    const { drift } = item;
    const { address, what } = drift;
    const { input, plan } = this.#accepting;
    const values = {
      ...{ declared: this.#declared, input, plan, edits: this.#edits, complete: this.#complete },
      override: this.#override(),
    };
    if (what === "deleted") {
      this.#noteReferences(address);
      acceptDeletion(values, drift);
      return { address, what, fields: [] };
    }
    if (what === "appeared") {
      await this.#appeared(item);
      return { address, what, fields: [] };
    }
    const { fields, source } = acceptValues(values, item);
    const content = source === undefined ? undefined : await this.#content(address, source);
    return { address, what, fields, content };
  }

  /** The file that has the section of the target already, or else the one for new entries. */
  #override(): TargetOverride | undefined {
    const { inTarget, into } = this.#accepting;
    const { target, files } = this.#spec;
    if (!inTarget || target === undefined) return undefined;
    const path = ["targets", target.name];
    const file =
      files.find((file) => this.#edits.valueAt({ file: file.path, path }) !== undefined)?.path ?? into;
    return { target: target.name, file, at: target.at };
  }

  /** Hard references make the edited spec invalid; a name in a list is only noted. */
  #noteReferences(address: Address): void {
    const inside = new Set([
      address,
      ...this.#declared.resources.flatMap(({ parent, address: own }) => (parent === address ? [own] : [])),
    ]);
    const users = [...this.#spec.resources.values()].filter(
      (resource) => !inside.has(resource.address) && resource.dependsOn.some((needed) => inside.has(needed)),
    );
    const gone = new Set(
      this.#accepting.wanted.flatMap(({ drift }) => (drift.what === "deleted" ? [drift.address] : [])),
    );
    const staying = users.filter((user) => !gone.has(user.address));
    if (staying.length === 0) return;
    const places = staying.map((user) => {
      const at = referenceLocation(user, inside);
      return `${user.address} (${at.file}:${at.line})`;
    });
    const refers = staying.some(({ references }) =>
      references.some(({ parts }) =>
        parts.some((part) => typeof part !== "string" && inside.has(part.address)),
      ),
    );
    const message = `${listed(places, "and", 20)} still ${staying.length === 1 ? "refers" : "refer"} to ${address}, which was deleted`;
    if (refers)
      throw notAccepted(address, message, {
        hint: "remove these references first, or apply to create the object again",
      });
    this.#notes.push(
      warning("DRIFT_NOT_ACCEPTED", message, { address, hint: "check whether these names are still meant" }),
    );
  }

  async #content(address: Address, node: SpecNode): Promise<string> {
    const { registry, input, read, content } = this.#accepting;
    const provider = registry.of(address);
    const path = pathBeside(node.source.path, scalarText(node) ?? "");
    const record = input.state.records.get(address);
    const live = record && indexLive(input.live, registry).byId(provider.kind, record.id);
    const before = path === undefined ? undefined : read(path);
    if (path === undefined || before === undefined || live === undefined)
      throw notAccepted(address, `${address}: the file of its content cannot be written`);
    this.#addContent(address, { path, before, after: await content(provider, live) });
    return path;
  }

  async #appeared({ drift }: WantedDrift): Promise<void> {
    const { address } = drift;
    const { registry, input, into, read, sensitive } = this.#accepting;
    const provider = registry.of(address);
    const live = indexLive(input.live, registry).byId(provider.kind, (drift.id ?? "") as LiveObject["id"]);
    if (live === undefined) throw notAccepted(address, `${address} no longer exists in the workspace`);
    if (secretField(provider) !== undefined)
      throw notAccepted(address, `the value of ${address} cannot be read, and no spec contains one`, {
        hint: "to manage it, declare it with a source, such as env: NAME",
      });
    if (live.unmanageable !== undefined)
      throw notAccepted(address, `${address} cannot be managed: ${live.unmanageable}`);
    const parent = this.#parentOf(address, provider);
    const values = writtenValues(provider, live.values, writerFor(input, parent?.origin));
    const key = provider.nested === undefined ? nameOf(address) : memberOf(live.name);
    const named =
      provider.nameField !== undefined && key !== live.name
        ? { [provider.nameField]: escaped(live.name) }
        : {};
    const fields: Json = { ...named, ...values };
    const [only, ...more] = Object.entries(fields);
    const short = provider.nested?.shorthand;
    const entry = short !== undefined && only?.[0] === short && more.length === 0 ? only[1] : fields;
    const content = hasContent(provider) ? await this.#newContent(provider, live, address) : {};
    const whole = entry === fields ? { ...content, ...fields } : entry;
    if (sensitive.isIn(canonicalJson(whole ?? null)))
      throw notAccepted(
        address,
        `${address} contains a sensitive value, and a sensitive value is never written to a file`,
        { hint: SENSITIVE_HINT },
      );
    if (provider.nested === undefined) {
      this.#edits.set({ file: into, path: [provider.kind, escaped(key)] }, whole);
      this.#imports.push({ to: escaped(address), id: escaped(live.id) });
      if (read(into) === undefined) throw notAccepted(address, `${into} is not a file of the spec`);
      return;
    }
    const place = parent && this.#edits.placeOf(parent.fields);
    if (place === undefined || !this.#edits.takesMembers(place))
      throw notAccepted(address, `${address}: the declaration around it is an expression`, {
        hint: "add the entry by hand",
      });
    this.#edits.set({ ...place, path: [...place.path, provider.nested.under, escaped(key)] }, whole);
  }

  #parentOf(address: Address, { nested }: Provider) {
    const parent = nested && `${nested.kind}.${parentOf(nameOf(address))}`;
    return this.#declared.resources.find((resource) => resource.address === parent);
  }

  async #newContent(
    provider: Provider,
    live: LiveObject,
    address: Address,
  ): Promise<{ readonly source: string }> {
    const [source] = sourcesOf([{ provider, live, key: live.name, address, renamed: false, sharing: 1 }]);
    const path = pathBeside(this.#accepting.into, source?.path ?? "");
    if (source === undefined || path === undefined || this.#accepting.read(path) !== undefined)
      throw notAccepted(address, `${address}: the file ${source?.path ?? ""} for its content already exists`);
    const after = await this.#accepting.content(provider, live);
    this.#addContent(address, { path, before: new Uint8Array(), after });
    return { source: source.path };
  }

  #addContent(address: Address, edit: Omit<FileEdit, "patch">): void {
    if (addsSensitive(edit, this.#accepting.sensitive))
      throw notAccepted(
        address,
        `${address}: content contains a sensitive value, which is never written to a file`,
        { hint: SENSITIVE_HINT },
      );
    this.#contents.push({ ...edit, patch: [] });
  }

  /** A plan adopts an unmanaged object only with an entry, or with --adopt. */
  #writeImports(): void {
    if (this.#imports.length === 0) return;
    const place = { file: this.#accepting.into, path: ["import"] };
    const before = this.#edits.valueAt(place);
    this.#edits.set(place, [...(Array.isArray(before) ? (before as readonly Json[]) : []), ...this.#imports]);
  }
}

function referenceLocation(user: Resource, to: ReadonlySet<Address>) {
  const reference = user.references.find(({ parts }) =>
    parts.some((part) => typeof part !== "string" && to.has(part.address)),
  );
  return reference === undefined ? user.at : user.locate(reference.path);
}

function notValid(diagnostics: readonly Diagnostic[], wanted: readonly WantedDrift[]): Failure {
  const [address, ...others] = new Set(wanted.map(({ drift }) => drift.address));
  const message = "the spec would not be valid with the live values, so nothing is written";
  return new Failure(
    error("DRIFT_NOT_ACCEPTED", message, { address: others.length === 0 ? address : undefined }),
    ...diagnostics.filter(({ severity }) => severity === "error"),
  );
}
