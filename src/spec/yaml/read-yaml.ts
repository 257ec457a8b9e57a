// Reads the bytes of a YAML file into a tree with spans: decodes them, resolves aliases within a budget, merges maps, rejects duplicate and hostile keys.

import type { Alias, Scalar, YAMLMap, Node as YamlNode } from "yaml";
import { utf8Text } from "../../core/utf8.ts";
import type { Findings } from "../model/findings.ts";
import { LIMITS } from "../model/limits.ts";
import { SourceText, type Span } from "../model/source.ts";
import { listAt, type MapMember, type MapNode, mapAt, type SpecNode, scalarAt } from "../model/tree.ts";
import { parseBlockYaml, plainScalar } from "./block-parser.ts";
import { hideUnreadable, lexicalTokens, reportSyntax, yaml as wholeYaml } from "./lexical-limits.ts";

/** The tree of a source, or undefined if it is not usable. An empty source is an empty map. */
export function readYaml(source: SourceText, findings: Findings): SpecNode | undefined {
  return parseBlockYaml(source) ?? readAnyYaml(source, findings);
}

/** The same by the full YAML parser, which reports every problem and takes ten times as long. */
export function readAnyYaml(source: SourceText, findings: Findings): SpecNode | undefined {
  const tokens = lexicalTokens(source, findings);
  if (tokens === undefined) return undefined;
  const [document] = new (wholeYaml().Composer)({ uniqueKeys: false, schema: "failsafe" }).compose(tokens);
  const whole = { source, start: 0, end: 0 };
  if (document === undefined) return mapAt(whole, new Map());
  if (document.errors.length > 0) {
    reportSyntax(document.errors, source, findings);
    return undefined;
  }
  if (document.contents === null) return mapAt(whole, new Map());
  return new Building(source, findings).build(document.contents);
}

const HALF_CHARACTER = "a string contains an unpaired Unicode surrogate";

/** The node of an anchor, and the cost of an alias to it. */
interface Anchored {
  readonly node: SpecNode;
  readonly size: number;
  readonly height: number;
}

class Building {
  readonly #source: SourceText;
  readonly #findings: Findings;
  readonly #kinds = wholeYaml();
  readonly #anchors = new Map<string, Anchored>();
  #size = 0;
  #repeated = 0;
  #depth = 0;
  /** The deepest level reached in the node that is being built. */
  #deepest = 0;
  #refused = false;

  constructor(source: SourceText, findings: Findings) {
    this.#source = source;
    this.#findings = findings;
  }

  build(root: YamlNode): SpecNode | undefined {
    const node = this.#node(root);
    return this.#refused ? undefined : node;
  }

  #node(yaml: YamlNode): SpecNode {
    if (this.#kinds.isAlias(yaml)) return this.#alias(yaml);
    const sizeBefore = this.#size;
    const deepestBefore = this.#deepest;
    this.#deepest = ++this.#depth;
    this.#size++;
    const node = this.#plainNode(yaml);
    this.#depth--;
    const { anchor } = yaml as { anchor?: string };
    if (anchor !== undefined)
      this.#anchors.set(anchor, { node, size: this.#size - sizeBefore, height: this.#deepest - this.#depth });
    this.#deepest = Math.max(this.#deepest, deepestBefore);
    return node;
  }

  #plainNode(yaml: YamlNode): SpecNode {
    const span = this.#span(yaml);
    if (this.#kinds.isMap(yaml)) return this.#map(yaml as YAMLMap<YamlNode, YamlNode | null>, span);
    if (this.#kinds.isSeq(yaml))
      return listAt(
        span,
        (yaml.items as YamlNode[]).map((item) => this.#node(item)),
      );
    return this.#kinds.isScalar(yaml) ? this.#scalar(yaml, span) : scalarAt(span, null);
  }

  #scalar(yaml: Scalar, span: Span): SpecNode {
    const text = String(yaml.value ?? "");
    if (yaml.type !== "PLAIN") {
      if (!text.isWellFormed()) this.#refuse("SPEC_YAML", HALF_CHARACTER, span);
      return scalarAt(span, text);
    }
    const value = plainScalar(text);
    if (value === undefined) {
      this.#refuse("SPEC_VALUE", "the number is too large or not valid", span, "quote it if it is a string");
      return scalarAt(span, null);
    }
    return scalarAt(span, value);
  }

  #map(yaml: YAMLMap<YamlNode, YamlNode | null>, span: Span): MapNode {
    const members = new Map<string, MapMember>();
    const merges: SpecNode[] = [];
    for (const { key, value } of yaml.items) {
      const keySpan = this.#span(key);
      const node = value === null ? scalarAt(keySpan, null) : this.#node(value);
      if (this.#kinds.isScalar(key) && key.value === "<<" && key.type === "PLAIN") merges.push(node);
      else this.#member(members, key, { key: keySpan, value: node });
    }
    for (const merge of merges) this.#merge(members, merge);
    return mapAt(span, members);
  }

  #member(members: Map<string, MapMember>, key: YamlNode, member: MapMember): void {
    const name = this.#kinds.isScalar(key) ? String(key.value ?? "") : undefined;
    if (name?.isWellFormed() === false) this.#refuse("SPEC_YAML", HALF_CHARACTER, member.key);
    const first = name === undefined ? undefined : members.get(name);
    if (name === undefined) this.#refuse("SPEC_YAML", "a key must be a string", member.key);
    else if (name === "__proto__") this.#refuse("SPEC_YAML", "the key __proto__ cannot be used", member.key);
    else if (name.length > LIMITS.keyLength)
      this.#refuse("SPEC_TOO_LARGE", `a key is longer than ${LIMITS.keyLength} characters`, member.key);
    else if (first === undefined) members.set(name, member);
    else {
      const hint = `it is first defined in line ${this.#source.lineOf(first.key.start) + 1}`;
      const key = this.#source.isHidden ? "" : ` ${JSON.stringify(name)}`;
      this.#refuse("SPEC_DUPLICATE_KEY", `duplicate key${key}`, member.key, hint);
    }
  }

  /** `<<: *defaults`, or a list of them: members that are not there yet, the earlier map first. */
  #merge(members: Map<string, MapMember>, merge: SpecNode): void {
    const sources = merge.kind === "list" ? merge.items : [merge];
    for (const source of sources) {
      if (source.kind !== "map") {
        this.#refuse("SPEC_YAML", "<< requires a map or a list of maps", merge, "write <<: *name");
        continue;
      }
      for (const [name, member] of source.members) if (!members.has(name)) members.set(name, member);
    }
  }

  #alias(yaml: Alias): SpecNode {
    const span = this.#span(yaml);
    const target = this.#anchors.get(yaml.source);
    if (target === undefined) {
      const anchor = this.#source.isHidden ? "of this name" : `&${yaml.source}`;
      this.#refuse("SPEC_YAML", `no anchor ${anchor} exists above this alias`, span);
      return scalarAt(span, null);
    }
    this.#size += target.size;
    this.#repeated += target.size;
    this.#deepest = Math.max(this.#deepest, this.#depth + target.height);
    if (this.#repeated > LIMITS.repeated || this.#deepest > LIMITS.depth) {
      if (!this.#refused)
        this.#refuse(
          "SPEC_TOO_LARGE",
          "aliases are repeated too often",
          span,
          "use variables or includes instead",
        );
      return scalarAt(span, null);
    }
    return target.node;
  }

  #span(yaml: YamlNode): Span {
    const [start, end] = yaml.range ?? [0, 0];
    return { source: this.#source, start, end };
  }

  #refuse(
    code: "SPEC_YAML" | "SPEC_VALUE" | "SPEC_TOO_LARGE" | "SPEC_DUPLICATE_KEY",
    message: string,
    at: Span,
    hint?: string,
  ): void {
    if (!this.#refused) hideUnreadable(this.#source);
    this.#refused = true;
    this.#findings.error(code, message, at, { hint });
  }
}

/** Control characters except tab and line breaks, and the two code points that are not characters. */
const FORBIDDEN = /(?![\t\n\r\u0085])\p{Cc}|[\ufffe\uffff]/u;

/** The tree of a file's bytes; undefined after reporting why it is not usable. */
export function readYamlFile(
  shown: string,
  bytes: Uint8Array,
  findings: Findings,
  options: SourceOptions = {},
): SpecNode | undefined {
  const source = sourceOf(shown, bytes, findings, options);
  return source && readYaml(source, findings);
}

interface SourceOptions {
  readonly path?: string | undefined;
  readonly isHidden?: boolean;
}

/** As text. A file keeps its mark when it is written again. */
export const BYTE_ORDER_MARK = "\ufeff";

export function hasByteOrderMark(bytes: Uint8Array): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

/** The text of a file, or undefined where it is none; the reason goes into `findings`. */
export function sourceOf(
  shown: string,
  bytes: Uint8Array,
  findings: Findings,
  { path, isHidden = false }: SourceOptions = {},
): SourceText | undefined {
  const created = (text: string): SourceText => {
    const source = new SourceText(shown, text, path, findings.sensitive);
    return isHidden ? source.hide() : source;
  };
  const text = utf8Text(bytes);
  if (text === undefined) {
    const good = new TextDecoder().decode(bytes.subarray(0, validLength(bytes)));
    const at = { source: created(good), start: good.length, end: good.length };
    findings.error("SPEC_YAML", "the file is not UTF-8 text", at, { hint: "save it as UTF-8" });
    return undefined;
  }
  const source = created(text);
  const bad = FORBIDDEN.exec(source.text);
  if (bad === null) return source;
  const name = `U+${bad[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
  const at = { source, start: bad.index, end: bad.index + 1 };
  findings.error("SPEC_YAML", `the file contains the control character ${name}`, at, {
    hint: "remove it, or write it as an escape sequence in a double-quoted string",
  });
  return undefined;
}

/** How many bytes from the start are valid UTF-8, found by halving. */
function validLength(bytes: Uint8Array): number {
  let low = 0;
  let high = bytes.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (isValidStart(bytes.subarray(0, middle))) low = middle;
    else high = middle - 1;
  }
  return low;
}

function isValidStart(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
