// The definition of a module: inputs, outputs, locals, modules, and resources. Each folder is read once.

import { listed } from "../../core/sentences.ts";
import { isTemplate } from "../../expressions/template.ts";
import type { SpecFileReader } from "../files/includes.ts";
import { pathBeside } from "../files/spec-folder.ts";
import type { Findings } from "../model/findings.ts";
import type { Span } from "../model/source.ts";
import type { InstanceOrigin } from "../model/spec.ts";
import {
  describeNode,
  type MapMember,
  type MapNode,
  member,
  type SpecNode,
  scalarText,
  visitNodes,
  withMembers,
} from "../model/tree.ts";
import { type ParameterDeclarations, parametersIn } from "../variables/parameters.ts";

export const MODULE_FILE = "workspace.yaml";

const MAIN_ONLY = ["variables", "targets", "policy", "rules", "moved", "removed", "import"];

export interface ModuleDefinition {
  /** The path of its file in the spec's folder. */
  readonly path: string;
  readonly inputs: ParameterDeclarations;
  readonly outputs: ReadonlyMap<string, MapMember>;
  readonly locals: SpecNode | undefined;
  readonly modules: SpecNode | undefined;
  readonly sections: MapNode;
  readonly size: number;
}

export class ModuleDefinitions {
  readonly #files: SpecFileReader;
  readonly #findings: Findings;
  readonly #definitions = new Map<string, ModuleDefinition | undefined>();

  constructor(files: SpecFileReader, findings: Findings) {
    this.#files = files;
    this.#findings = findings;
  }

  /** The module that a `source` names; undefined after reporting why there is none. */
  at(
    source: SpecNode | undefined,
    name: string,
    key: Span,
    user: InstanceOrigin | undefined,
  ): ModuleDefinition | undefined {
    if (source === undefined) {
      this.#findings.error("SPEC_MODULE", `modules.${name} has no source`, key, {
        hint: "set source to the path of a folder that contains a workspace.yaml",
      });
      return undefined;
    }
    const path = this.#path(source, name);
    if (path === undefined) return undefined;
    if (!this.#definitions.has(path)) {
      const origin = { prefix: `${path}/`, uses: [key, ...(user?.uses ?? [])] };
      const read = (): ModuleDefinition | undefined => this.#read(path, source);
      this.#definitions.set(path, this.#findings.within(origin, read));
    }
    return this.#definitions.get(path);
  }

  #path(source: SpecNode, name: string): string | undefined {
    const text = scalarText(source);
    if (text === undefined || text === "" || isTemplate(text)) {
      const what = text === undefined ? describeNode(source) : JSON.stringify(text);
      const message = `modules.${name}: source must be the path of a folder, not ${what}`;
      const hint = "an expression cannot choose a module: files are read before expressions";
      this.#findings.error("SPEC_MODULE", message, source, { hint });
      return undefined;
    }
    const path = pathBeside(source.source.path, `${text}/${MODULE_FILE}`);
    const message = `modules.${name}: ${JSON.stringify(text)} is outside the spec's folder`;
    const hint = "a module is a folder below the folder of the main spec";
    if (path === undefined) this.#findings.error("SPEC_OUTSIDE", message, source, { hint });
    return path;
  }

  #read(path: string, source: SpecNode): ModuleDefinition | undefined {
    const root = this.#files.root(path, source);
    if (root === undefined) return undefined;
    for (const name of MAIN_ONLY) {
      const section = root.members.get(name);
      if (section !== undefined)
        this.#findings.error("SPEC_MODULE", `a module cannot contain ${name}`, section.key, {
          hint: `move ${name} to the main spec`,
        });
    }
    const others = [...OWN, ...MAIN_ONLY].map((name) => [name, undefined]);
    const sections = withMembers(root, Object.fromEntries(others));
    return {
      path,
      inputs: parametersIn(member(root, "inputs"), "inputs", this.#findings),
      outputs: outputsOf(member(root, "outputs"), this.#findings),
      locals: member(root, "locals"),
      modules: member(root, "modules"),
      sections,
      size: sizeOfTree(sections),
    };
  }
}

const OWN = ["inputs", "outputs", "locals", "modules", "include"];
const OUTPUT_FIELDS = ["value", "description"];

/** An output is a map with `value`, or the value itself, if that is not a map. */
function outputsOf(section: SpecNode | undefined, findings: Findings): ReadonlyMap<string, MapMember> {
  const outputs = new Map<string, MapMember>();
  for (const [name, mapMember] of findings.names("outputs", section)) {
    if (!/^[A-Za-z_][\w-]*$/.test(name))
      findings.error("SPEC_MODULE", `${JSON.stringify(name)} cannot name an output`, mapMember.key);
    if (mapMember.value.kind !== "map") outputs.set(name, mapMember);
    else outputs.set(name, { key: mapMember.key, value: outputValue(name, mapMember.value, findings) });
  }
  return outputs;
}

function outputValue(name: string, node: MapNode, findings: Findings): SpecNode {
  const hint = `the fields of an output are ${listed(OUTPUT_FIELDS)}; write a map under value`;
  findings.onlyFields(`outputs.${name}`, node, OUTPUT_FIELDS, () => ({ hint }));
  const value = member(node, "value");
  if (value === undefined)
    findings.error("SPEC_MISSING_FIELD", `outputs.${name} needs the field "value"`, node);
  return value ?? node;
}

export function sizeOfTree(root: SpecNode): number {
  let size = 0;
  visitNodes(root, () => {
    size += 1;
  });
  return size;
}
