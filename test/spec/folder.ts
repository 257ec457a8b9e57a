// A spec in a separate folder, read as by the program.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import type { Address } from "../../src/core/address.ts";
import type { Diagnostic } from "../../src/core/diagnostic.ts";
import { type LoadOptions, loadSpec } from "../../src/spec/load-spec.ts";
import type { Resource, Spec } from "../../src/spec/model/spec.ts";
import { registry } from "./kinds.ts";

const made: string[] = [];

afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** A new folder with these files. */
export function folderWith(files: Files): string {
  const folder = mkdtempSync(join(tmpdir(), "spec-"));
  made.push(folder);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

export interface Loaded {
  readonly folder: string;
  readonly spec: Spec | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** `SPEC_TYPE 3:5 message` for each diagnostic; with the file before the line if it is not the main one. */
  readonly told: readonly string[];
  resource(address: string): Resource;
}

/** Loads a spec given as its text, or as files of which `workspace.yaml` is the main one. */
export async function load(given: string | Files, options: Partial<LoadOptions> = {}): Promise<Loaded> {
  const folder = folderWith(typeof given === "string" ? { "workspace.yaml": given } : given);
  return loadFrom(folder, options);
}

export async function loadFrom(folder: string, options: Partial<LoadOptions> = {}): Promise<Loaded> {
  const { spec, diagnostics } = await loadSpec({
    file: join(folder, "workspace.yaml"),
    cwd: folder,
    env: {},
    registry,
    secrets: "resolve",
    keyed: (bytes) => `keyed:${bytes.length}`,
    ...options,
  });
  return {
    folder,
    spec,
    diagnostics,
    told: diagnostics.map(line),
    resource(address) {
      const found = spec?.resources.get(address as Address);
      if (found === undefined) throw new Error(`no ${address}; told: ${diagnostics.map(line).join("\n")}`);
      return found;
    },
  };
}

function line({ code, message, at }: Diagnostic): string {
  if (at === undefined) return `${code} ${message}`;
  const file = at.file === "workspace.yaml" ? "" : `${at.file}:`;
  return `${code} ${file}${at.line}:${at.column} ${message}`;
}
