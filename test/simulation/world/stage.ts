// A prepared workspace in which cases begin: it has unmanaged objects and the first spec is applied. Copied for each
// case in a millisecond.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { keyedDigest } from "../../../src/core/digest.ts";
import { OWN_TABLES, type Tables } from "../../../src/emulator/store/store.ts";
import { registry } from "../../../src/providers/index.ts";
import { CONTRACT_FIELDS, registryIn } from "../../../src/resource/dialect-view.ts";
import { loadSpec } from "../../../src/spec/load-spec.ts";
import type { Spec } from "../../../src/spec/model/spec.ts";
import { startWorld, type TestWorld } from "../../emulator/harness.ts";
import type { Home } from "../../engine/home.ts";
import { KEY, Site } from "../../engine/site.ts";
import { Disk } from "../../state/memory-files.ts";
import { cloud, spelled } from "./dialect.ts";
import { type Form, homeOf, stageKey } from "./forms.ts";
import { CANARIES, FILES, type Scenario, scenarios } from "./scenarios.ts";
import { createUnmanaged } from "./unmanaged.ts";

/** A world as data. */
export interface Checkpoint {
  readonly now: number;
  readonly tables: Tables;
  readonly blobs: ReadonlyMap<string, Uint8Array>;
  readonly disk: Disk;
  readonly home: Home;
}

export interface Stage {
  readonly scenario: Scenario;
  readonly start: Checkpoint;
  /** The objects that existed before the managed ones. */
  readonly unmanaged: Tables;
  readonly spec: Spec;
}

export const SETTLING_MS = 10 * 60_000;

export function tablesOf(world: TestWorld): Tables {
  return world.store.dump();
}

export function checkpoint(site: Site): Checkpoint {
  const { store, clock } = site.world;
  const tables = store.dump();
  const blobs = new Map<string, Uint8Array>();
  for (const id of Object.keys(tables[OWN_TABLES.blobs] ?? {}))
    blobs.set(id, store.world.blobs.read(id, 0, store.world.blobs.size(id)));
  return { now: clock.now(), tables, blobs, disk: site.disk.copy(), home: site.home };
}

const DIALECT = cloud === undefined ? {} : { databricks: cloud };

function inDialect(site: Site): Site {
  if (cloud !== undefined) site.dialect = { dialect: "databricks", cloud };
  return site;
}

/** A separate site that continues from a checkpoint. */
export async function siteFrom(from: Checkpoint, seed = 7): Promise<Site> {
  const world = await startWorld({ now: from.now, seed, ...DIALECT });
  world.store.transact(from.now, () => world.store.replace(from.tables, from.blobs));
  world.store.timers.read();
  return inDialect(new Site(world, from.disk.copy(), seed, await from.home.copy()));
}

let folder: string | undefined;

/** One folder for all specs of a run: contents are read again when they are sent. */
function specFolder(): string {
  if (folder !== undefined) return folder;
  const made = mkdtempSync(join(tmpdir(), "workspace-specs-"));
  process.on("exit", () => rmSync(made, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(made, path)), { recursive: true });
    writeFileSync(join(made, path), text);
  }
  folder = made;
  return made;
}

const specs = new Map<string, Promise<Spec>>();

/** Reads a spec once, with the files and secrets that all scenarios share. */
export function specFrom(yaml: string): Promise<Spec> {
  const known = specs.get(yaml) ?? readSpec(yaml);
  specs.set(yaml, known);
  return known;
}

async function readSpec(yaml: string): Promise<Spec> {
  const file = join(specFolder(), `${specs.size}.yaml`);
  writeFileSync(file, spelled(yaml));
  const { spec, diagnostics } = await loadSpec({
    file,
    env: CANARIES,
    registry: registryIn(registry, cloud === undefined ? CONTRACT_FIELDS : { dialect: "databricks", cloud }),
    secrets: "resolve",
    keyed: (bytes) => keyedDigest(KEY, bytes),
  });
  if (spec === undefined) throw new Error(JSON.stringify(diagnostics, undefined, 1));
  return spec;
}

const stages = new Map<string, Promise<Stage>>();

/** Made once for each scenario and form of state. */
export function stageOf(name: string, form: Form = "file"): Promise<Stage> {
  const scenario = scenarios.find((one) => one.name === name);
  if (scenario === undefined) throw new Error(`there is no scenario ${name}`);
  const key = `${stageKey(form)}/${name}`;
  const known = stages.get(key) ?? prepare(scenario, form);
  stages.set(key, known);
  return known;
}

export async function prepare(scenario: Scenario, form: Form = "file"): Promise<Stage> {
  const site = inDialect(new Site(await startWorld(DIALECT), new Disk(), 1, homeOf(form)));
  try {
    await createUnmanaged(site.world);
    await site.clock.advance(SETTLING_MS);
    const unmanaged = tablesOf(site.world);
    if (scenario.before !== undefined) {
      await site.drive(site.process().apply(await specFrom(scenario.before)));
      await site.clock.advance(SETTLING_MS);
    }
    return { scenario, start: checkpoint(site), unmanaged, spec: await specFrom(scenario.after) };
  } finally {
    site.close();
  }
}
