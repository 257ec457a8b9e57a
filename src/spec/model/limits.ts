// Size limits of a spec: far beyond any real spec, and small enough to reject a hostile one at once.

export const LIMITS = {
  fileBytes: 8 << 20,
  allBytes: 32 << 20,
  /** YAML files, and patterns of them. */
  files: 2000,
  /** Notebooks and files that source folders give; a pattern counts as many. */
  sourceFiles: 200_000,
  tokens: 3_000_000,
  /** Lists and maps inside one another, aliases followed. */
  depth: 64,
  aliases: 10_000,
  /** Nodes that aliases and merges repeat. */
  repeated: 100_000,
  /** Maximum number of characters that variables add to strings and keys. */
  expandedText: 16 << 20,
  keyLength: 1024,
  /** Locals, inputs, and outputs that need one another to be evaluated. */
  evaluations: 100,
  /** Steps of all CEL expressions together, and the size of one value. */
  expressions: { steps: 100_000_000, largest: 1_000_000 },
  modules: { depth: 8, instances: 10_000, nodes: 5_000_000 },
  /** Nodes of the schemas of one module's inputs. */
  inputSchema: 2_000,
  rules: 500,
  /** Characters of a pattern of a variable or an input. */
  pattern: 500,
  /** Steps of all patterns together: the size of a pattern for each character that it is tried on. */
  patternSteps: 100_000_000,
  /** Maximum number of YAML problems to report per file. */
  syntaxErrors: 20,
  /** Bytes of a notebook, and of a file of the workspace's file system. */
  notebookBytes: 10 << 20,
  contentBytes: 2 ** 31 - 1,
  /** Bytes to read from the file of a secret: above the limit, so that the error can show the size. */
  secretFileBytes: 1 << 20,
} as const;

/** How large the YAML files of a spec may be. */
export type FileLimits = Readonly<Record<"fileBytes" | "allBytes" | "files", number>>;

/** For an untrusted spec. `sourceBytes`: of all notebooks and files that it names, each counted once. */
export const STRICT = {
  fileBytes: 1 << 20,
  allBytes: 4 << 20,
  files: 200,
  sourceFiles: 20_000,
  sourceBytes: 256 << 20,
  modules: { depth: 8, instances: 1_000, nodes: 500_000 },
  rules: 100,
  expressions: { steps: 5_000_000, largest: 250_000 },
} as const;

/** How deep modules nest, how many instances they have, and how many nodes the instances have together. */
export type ModuleLimits = Readonly<Record<"depth" | "instances" | "nodes", number>>;

/** What expressions may still add: a small spec must not expand into a large one. */
export class ExpansionBudget {
  #nodes: number;
  #characters: number = LIMITS.expandedText;

  constructor(nodes: number = LIMITS.repeated) {
    this.#nodes = nodes;
  }

  /** Whether there was room for so many nodes and characters. */
  take(nodes: number, characters: number): boolean {
    this.#nodes -= nodes;
    this.#characters -= characters;
    return this.#nodes >= 0 && this.#characters >= 0;
  }
}
