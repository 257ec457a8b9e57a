// What must hold after every case, whatever happened in it.

import { addressOf } from "../../../src/core/address.ts";
import { isObject } from "../../../src/core/json.ts";
import { registry } from "../../../src/providers/index.ts";
import { registryIn } from "../../../src/resource/dialect-view.ts";
import type { Spec } from "../../../src/spec/model/spec.ts";
import { Cipher } from "../../../src/state/format/encryption.ts";
import { loadFrom } from "../../../src/state/store/load.ts";
import { doing, type Site } from "../../engine/site.ts";
import { isExpected, type Trial } from "../run/trial.ts";
import { CANARIES, FILE_CANARY } from "../world/scenarios.ts";
import { SETTLING_MS, type Stage, siteFrom, stageOf, tablesOf } from "../world/stage.ts";
import { unmanagedChanges } from "../world/unmanaged.ts";
import { worldLines } from "../world/world-text.ts";
import { leaksIn } from "./canary.ts";
import { notAnnounced } from "./predict.ts";

/** The result of the fault-free run from a stage: every case must end in this world. */
export interface FaultFreeResult {
  readonly lines: readonly string[];
  readonly mails: readonly string[];
}

export interface Lenient {
  /** The state lost records before, so unrecorded objects may exist, and secrets among them are drift that no apply deletes. */
  readonly strayAllowed?: boolean;
  /** Requests were made to arrive twice. */
  readonly repeats?: boolean;
}

/** The violations after a case whose last process ended normally. Parts that `calm` omits are not compared. */
export async function violations(
  trial: Trial,
  reference: Partial<FaultFreeResult>,
  spec: Spec = trial.stage.spec,
  { strayAllowed = false, repeats = false }: Lenient = {},
): Promise<readonly string[]> {
  const { site, stage } = trial;
  await site.clock.advance(SETTLING_MS);
  const last = trial.runs.at(-1);
  if (last === undefined || last.outcome === undefined)
    return [`the last run did not end: ${String(last?.failure ?? "it died")}`];
  const plan = await site.drive(site.process({ pid: 99 }).plan(spec));
  trial.tell("plan", plan);
  return [
    ...trial.runs.filter((ran) => !isExpected(ran)).map((ran) => `a bug: ${String(ran.failure)}`),
    ...last.outcome.changes
      .filter((one) => one.result !== "applied")
      .map((one) => `${one.result} ${one.action} ${one.address} in the last run: ${one.diagnostic?.message}`),
    ...last.outcome.diagnostics.map((one) => `the last run says: ${one.message}`),
    ...doing(plan).map((what) => `the next plan is not empty: ${what}`),
    ...plan.drift
      .filter(({ address, what }) => !(strayAllowed && address.startsWith("secrets.") && what === "appeared"))
      .map(({ address, what }) => `the next plan sees drift: ${address} ${what}`),
    ...(reference.lines === undefined ? [] : unlike(worldLines(site.world), reference.lines)),
    ...unmanagedChanges(stage.unmanaged, tablesOf(site.world)),
    ...(await recordsUnlikeLive(site, stage, (key) => strayAllowed || isReleased(spec, key))),
    ...writesUnannounced(trial, repeats),
    ...(await leaks(trial)),
    ...runsAndMails(site, reference),
    ...(await unresolved(site)),
  ];
}

export function unlike(found: readonly string[], wanted: readonly string[]): readonly string[] {
  const missing = without(wanted, found);
  const extra = without(found, wanted);
  return [
    ...missing.map((line) => `the world lacks: ${fromDifference(line, extra)}`),
    ...extra.map((line) => `the world should not have: ${fromDifference(line, missing)}`),
  ];
}

/** A long line from where it begins to differ from its namesake among others. */
function fromDifference(line: string, others: readonly string[]): string {
  const head = line.slice(0, line.indexOf("{"));
  const twin = others.find((other) => other.startsWith(head));
  if (twin === undefined) return line.slice(0, 200);
  let at = 0;
  while (at < line.length && line[at] === twin[at]) at += 1;
  return `${head}… ${line.slice(Math.max(0, at - 60), at + 60)}`;
}

/** As multisets: what was made twice stays over. */
function without(lines: readonly string[], others: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const line of others) counts.set(line, (counts.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const left = counts.get(line) ?? 0;
    counts.set(line, left - 1);
    return left <= 0;
  });
}

/** Every managed object is in the state, every record exists live, and no ID is duplicate. */
async function recordsUnlikeLive(
  site: Site,
  stage: Stage,
  mayStray: (key: string) => boolean,
): Promise<readonly string[]> {
  const state = await site.state();
  const wrong: string[] = [];
  const recorded = new Map<string, string>();
  const inUse = new Set<string>();
  const assigned = [...state.records.values()].flatMap(({ address, id }) =>
    address.startsWith("workspace_assignments.") ? [String(id)] : [],
  );
  const live = await liveIds(site, inUse, new Set(assigned));
  for (const record of state.records.values()) {
    const kind = record.address.slice(0, record.address.indexOf("."));
    // A replaced pool is kept while it is used.
    const left = (record.deposed ?? []).filter((id) => !inUse.has(`${kind} ${id}`));
    for (const id of record.deposed ?? []) recorded.set(`${kind} ${id}`, record.address);
    if (record.status !== "ready" || left.length > 0)
      wrong.push(
        `${record.address} is recorded as ${record.status}${left.length === 0 ? "" : " with leftovers"}`,
      );
    const key = `${kind} ${record.id}`;
    const other = recorded.get(key);
    if (other !== undefined) wrong.push(`${record.address} and ${other} have one id, ${record.id}`);
    recorded.set(key, record.address);
  }
  const theirs = await unmanagedIds(stage);
  for (const [key, address] of recorded)
    if (!live.has(key)) wrong.push(`${address} is recorded and not there`);
  for (const key of live)
    if (!recorded.has(key) && !theirs.has(key) && !mayStray(key) && !AROUND_REPOS.test(key))
      wrong.push(`${key} is there and not recorded`);
  return wrong;
}

/** A new Git folder, and a new file, bring their parents. */
const AROUND_REPOS = /^directories \/(Repos(\/|$)|Shared\/lib$)/;

/** An access list that the spec no longer manages is not changed (design 4). */
function isReleased(spec: Spec, key: string): boolean {
  const scope = /^acls ([^/]+)\//.exec(key)?.[1];
  const owner = scope === undefined ? undefined : spec.resources.get(addressOf("scopes", scope));
  return owner !== undefined && !owner.owns.includes("acls");
}

const idsOfUnmanaged = new WeakMap<Stage, Promise<ReadonlySet<string>>>();

function unmanagedIds(stage: Stage): Promise<ReadonlySet<string>> {
  const known =
    idsOfUnmanaged.get(stage) ??
    stageOf("create").then(async (empty) => {
      const site = await siteFrom(empty.start);
      try {
        return await liveIds(site);
      } finally {
        site.close();
      }
    });
  idsOfUnmanaged.set(stage, known);
  return known;
}

/**
 * `kind id` of every live object, from the kinds' own lists; what the service grants on a new scope counts as
 * unmanaged.
 */
async function liveIds(
  site: Site,
  inUse = new Set<string>(),
  assigned = new Set<string>(),
): Promise<ReadonlySet<string>> {
  const { reader } = site.process().client;
  const found = new Set<string>();
  const deep = new Set([
    "/x",
    "/Shared/x",
    "/Shared/etl/x",
    "/Shared/foreign/x",
    "/Shared/lib/x",
    "/Shared/other/x",
    "/init/x",
    "/theirs/x",
    "/data/x",
  ]);
  const scopes: string[] = [];
  const work = (async () => {
    for (const provider of registryIn(registry, site.dialect).kinds) {
      const parents = provider.nested === undefined ? [] : scopes;
      // Each user has an assignment, which counts only if it is managed.
      const ids = provider.kind === "workspace_assignments" ? { ids: assigned } : {};
      for (const object of await provider.operations.list(reader, { parents, names: deep, ...ids })) {
        if (provider.kind === "scopes") scopes.push(object.name);
        if (provider.kind === "acls" && /\/(admin@example\.com|users)$/.test(object.name)) continue;
        if (provider.kind === "users" && object.values.active === false) continue;
        found.add(`${provider.kind} ${object.id}`);
        const { new_cluster: fresh } = object.values;
        for (const values of [object.values, isObject(fresh) ? fresh : {}])
          if (provider.kind !== "pools") inUse.add(`pools ${String(values.instance_pool_id)}`);
      }
    }
  })();
  await site.drive(work);
  return found;
}

function writesUnannounced({ runs, ledger }: Trial, repeats: boolean): readonly string[] {
  return runs.flatMap(({ plan, process }, at) => {
    const writes = ledger.effective(process);
    if (plan === undefined)
      return writes.map((write) => `run ${process} wrote before it had a plan: ${write.operation}`);
    return notAnnounced(plan, writes, { complete: at === runs.length - 1, repeats }).map(
      (what) => `run ${process}: ${what}`,
    );
  });
}

const SECRETS = [...Object.values(CANARIES), FILE_CANARY];

async function leaks({ site, told, ledger }: Trial): Promise<readonly string[]> {
  const places = new Map([...told, ...(await site.home.texts(site))]);
  for (const path of site.disk.names.keys()) places.set(path, site.disk.text(path));
  places.set("request lines", ledger.lines.join("\n"));
  return leaksIn(places, SECRETS).map(
    ({ secret, encoding, place }) => `secret ${secret} stands in ${place} as ${encoding}`,
  );
}

function runsAndMails(site: Site, { mails }: Partial<FaultFreeResult>): readonly string[] {
  const tables = tablesOf(site.world);
  const runs = Object.keys(tables.runs ?? {}).map((id) => `a run was started: ${id}`);
  if (mails === undefined) return runs;
  const sent = mailsOf(site);
  return [
    ...runs,
    ...without(sent, mails).map((mail) => `a mail that nobody planned: ${mail}`),
    ...without(mails, sent).map((mail) => `a mail is missing: ${mail}`),
  ];
}

export function mailsOf(site: Site): readonly string[] {
  return Object.values(tablesOf(site.world).$mails ?? {}).map((mail) => {
    const { to, event } = mail as { readonly to: readonly string[]; readonly event: string };
    return `${event} to ${to.join(", ")}`;
  });
}

/** No intent is open, the journal is folded, the lock is free. */
async function unresolved(site: Site): Promise<readonly string[]> {
  const { open } = await site.state();
  const { keyText } = site.home;
  const cipher = new Cipher({ random: site.random(), ...(keyText === undefined ? {} : { keyText }) });
  const found = await loadFrom(site.home.place(site, {}), cipher);
  const { heldBy } = await site.process().store.lastLock();
  return [
    ...open.map((intent) => `an intent is open: ${intent.address} ${intent.operation}`),
    ...(found?.unfolded === true ? ["entries of the journal are not in the state"] : []),
    ...(heldBy === undefined ? [] : ["the lock is held"]),
  ];
}
