// `workspace state …`: commands that inspect, write, move, and repair the state. None changes the workspace.

import { resolve } from "node:path";
import { fromEnv } from "../../config/environment.ts";
import { fileFailure, type InputLimits, inputName, readCommandInput } from "../../config/files.ts";
import { writeWholeFile } from "../../config/write-file.ts";
import { type Address, kindOf, parentOf } from "../../core/address.ts";
import { Failure, failureOf } from "../../core/diagnostic.ts";
import { count } from "../../core/sentences.ts";
import { registry } from "../../providers/index.ts";
import { restoredText, stateVersionsJson, stateVersionsText } from "../../report/inspect/history-text.ts";
import { jsonDocument, printable, printableQuoted } from "../../report/text/printable.ts";
import { maskedValues } from "../../resource/masked.ts";
import { keyCheck } from "../../state/format/encryption.ts";
import { stateFromJson, stateToJson } from "../../state/format/snapshot.ts";
import { STATE_BYTES } from "../../state/model/backend.ts";
import { type JournalEntry, type State, type StateRecord, sortedRecords } from "../../state/model/record.ts";
import type { StateStore } from "../../state/model/store.ts";
import { migrate as move } from "../../state/store/migrate.ts";
import { requiredTarget } from "../../workflow/invocation/target.ts";
import {
  assertFollows,
  assertKnownKinds,
  assertStateExists,
  assertStateHost,
  exposedRecords,
  recordAt,
  renamedAddress,
} from "../../workflow/session/check-state.ts";
import { lockWait, openState, withState, writeEntries } from "../../workflow/session/open-state.ts";
import { checkSpec } from "../../workflow/session/read-spec.ts";
import { type CommandGroup, type ConsoleContext, defineCommand, type Untitled } from "../command/command.ts";
import { EXIT } from "../command/exit-codes.ts";
import { choiceOption, flagOption, outOption } from "../command/option.ts";
import {
  FORM_OPTION,
  JSON_OPTION,
  STATE_LOCATION_OPTIONS,
  STATE_WRITE_OPTIONS,
  UNENCRYPTED_OPTION,
} from "../command/shared-options.ts";
import { noteMissingState, printDiagnostics, printResult, refuseExposed } from "../output/diagnostics.ts";

const listRecordsCommand = defineCommand({
  name: "list",
  summary: "list the recorded resources",
  jsonSchema: "state-list",
  options: { ...STATE_LOCATION_OPTIONS, ...FORM_OPTION },
  async run(context, options) {
    const records = sortedRecords(await read(context));
    const resources = records.map(({ address, id, name, status }) => ({ address, id, name, status }));
    const lines = records.map(
      ({ address, status }) => `${printable(address)}${status === "ready" ? "" : `  (${status})`}\n`,
    );
    printResult(context, options.output, { resources }, () => lines.join(""));
  },
});

const showRecordCommand = defineCommand({
  name: "show",
  summary: "show one record as JSON",
  jsonSchema: "state-show",
  options: { ...STATE_LOCATION_OPTIONS, ...JSON_OPTION },
  args: [{ name: "<address>", description: "address, such as pools.shared", takes: "address" }],
  async run(context, _options, [text]) {
    const state = await read(context);
    const record = recordAt(state, text);
    assertKnownKinds([record.address]);
    const { fields } = registry.of(record.address);
    const seen = record.status === "ready" ? { seen: maskedValues(fields, record.seen) } : {};
    const shown = { ...record, applied: maskedValues(fields, record.applied), ...seen };
    context.stdout.write(jsonDocument(shown, 2));
  },
});

async function read(context: ConsoleContext): Promise<State> {
  return withState(context, async (store) => {
    const { state, diagnostics } = await store.read();
    printDiagnostics(context, diagnostics);
    if (state.records.size === 0) await assertTarget(context);
    noteMissingState(context, store.location, state);
    return state;
  });
}

/** Nothing is recorded: because nothing was applied yet, or because the spec has no such target. */
async function assertTarget(context: ConsoleContext): Promise<void> {
  if (requiredTarget(context) === undefined) return;
  const { diagnostics } = await checkSpec(context);
  const unknown = diagnostics.filter(({ code }) => code === "SPEC_TARGET");
  if (unknown.length > 0) throw new Failure(...unknown);
}

const FORCE_OPTION = flagOption("--force", "overwrite another or a newer state");

export const removeRecordsCommand = defineCommand({
  name: "rm",
  summary: "remove resources from the state without deleting them",
  options: STATE_WRITE_OPTIONS,
  args: [{ name: "<address...>", description: "addresses to remove", takes: "address" }],
  async run(context, options, addresses) {
    let removed: readonly Address[] = [];
    await edit(context, options.lockTimeout, (state) => {
      const records = addresses.map((text) => recordAt(state, text));
      removed = [...new Set(records.flatMap((record) => [record.address, ...membersOf(state, record)]))];
      return removed.map((address) => ({ type: "gone", gone: { address } }));
    });
    context.stdout.write(`Removed ${count(removed.length, "resource")} from the state.\n`);
  },
});

/** Secrets and ACLs of a scope: without its record they are not read, so they would count as deleted. */
function membersOf({ records }: State, parent: StateRecord): readonly Address[] {
  return [...records.values()].flatMap(({ address, name }) => {
    const nested = registry.find(kindOf(address))?.nested;
    return nested?.kind === kindOf(parent.address) && parentOf(name) === parent.name ? [address] : [];
  });
}

export const moveRecordCommand = defineCommand({
  name: "mv",
  summary: "change the address of a recorded resource",
  options: { ...STATE_WRITE_OPTIONS, ...UNENCRYPTED_OPTION },
  args: [
    { name: "<from>", description: "current address", takes: "address" },
    { name: "<to>", description: "new address of the same kind" },
  ],
  async run(context, options, [from, to]) {
    await edit(context, options.lockTimeout, (state) => {
      const record = recordAt(state, from);
      const moved = { from: record.address, to: renamedAddress(state, record, to ?? "") };
      refuseExposed(context, exposedRecords(context, state));
      return [{ type: "moved", ...moved }];
    });
    context.stdout.write(`Moved ${printable(from ?? "")} to ${printable(to ?? "")}.\n`);
  },
});

async function edit(
  context: ConsoleContext,
  lockTimeout: number | undefined,
  entries: (state: State) => readonly JournalEntry[],
): Promise<void> {
  await withState(context, (store) =>
    writeEntries(store, lockWait(context, lockTimeout), (lease) => {
      printDiagnostics(context, lease.diagnostics);
      return entries(lease.state());
    }),
  );
}

const LOCK_ID = /^[\da-f]{16}$/;

export const unlockCommand = defineCommand({
  name: "unlock",
  summary: "release the lock of a crashed run",
  options: {
    ...STATE_LOCATION_OPTIONS,
    force: flagOption("--force", "release a lock that cannot be read"),
  },
  args: [{ name: "[lock-id]", description: "lock ID from the message about the lock" }],
  async run(context, { force }, [nonce]) {
    if (force && nonce !== undefined)
      throw failureOf("CLI_USAGE", "--force and a lock ID cannot be used together", {
        hint: "--force is for a lock that cannot be read; otherwise, pass only the lock ID",
      });
    if (nonce !== undefined && !LOCK_ID.test(nonce))
      throw failureOf("CLI_USAGE", `${JSON.stringify(nonce)} is not a lock ID`, {
        hint: "the message about the lock shows its ID, which has 16 characters",
      });
    const done = await withState(context, (store) => store.unlock({ force, nonce }));
    const free = nonce === undefined ? "" : ", so the lock ID was not checked";
    const messages = {
      unlocked: "Unlocked.",
      "was free": `The state is not locked${free}.`,
      "has ended": "The state is not locked: the run with this lock ID no longer holds the lock.",
    };
    context.stdout.write(`${messages[done]}\n`);
  },
});

export const migrateCommand = defineCommand({
  name: "migrate",
  summary: "move the state to another backend",
  options: { ...STATE_WRITE_OPTIONS, ...UNENCRYPTED_OPTION, force: FORCE_OPTION },
  args: [{ name: "<to>", description: "folder, postgres://user@host/database, or workspace:/folder" }],
  notes: "If the command is interrupted, run it again. Until then, the old location cannot be used.",
  async run(context, options, [to = ""]) {
    const target = openState(context, { location: to });
    try {
      const placed = await withState(context, (source) => {
        if (source.location === target.location)
          throw failureOf("CLI_USAGE", `the state is already at ${source.location}`);
        const check = (present: State, incoming: State): void => {
          assertStateExists(source, incoming, "nothing can be moved");
          if (!options.force) assertFollows(present, incoming, source.location);
          assertStateHost(context, to, incoming);
          refuseExposed(context, exposedRecords(context, incoming, to));
        };
        return move(source, target, check, lockWait(context, options.lockTimeout));
      });
      const where = printable(target.location);
      context.stdout.write(
        placed === undefined
          ? `The state was already moved to ${where}.\n`
          : `Moved ${count(placed.records.size, "resource")} to ${where}, serial ${placed.serial}.\n`,
      );
      context.stdout.write("Set --state or WORKSPACE_STATE to the new location.\n");
    } finally {
      await target.close();
    }
  },
});

export const pullCommand = defineCommand({
  name: "pull",
  summary: "print the state as JSON",
  options: {
    ...STATE_LOCATION_OPTIONS,
    out: outOption("--out <file>", "write to a file that only you can read (default: stdout)"),
  },
  notes: "The output is not encrypted. It contains digests of secrets, but no secret values.",
  async run(context, options) {
    const loaded = await withState(context, async (store) => {
      const loaded = await store.read();
      assertStateExists(store, loaded.state, "nothing can be copied");
      return loaded;
    });
    printDiagnostics(context, loaded.diagnostics);
    const json = stateToJson(loaded);
    if (options.out === undefined) {
      context.stdout.write(printableQuoted(json));
      return;
    }
    try {
      writeWholeFile(resolve(context.cwd, options.out), json, { over: true, mode: 0o600 });
    } catch (problem) {
      throw fileFailure(`the state cannot be written to ${options.out}`, problem);
    }
    context.stdout.write(`Wrote serial ${loaded.state.serial} to ${printable(options.out)}.\n`);
  },
});

const LIMITS: InputLimits = {
  maxBytes: STATE_BYTES,
  tooLarge: "STATE_CORRUPT",
  hint: "to write one, run `workspace state pull --out FILE`",
};

export const pushCommand = defineCommand({
  name: "push",
  summary: "replace the state with a state from JSON",
  options: { ...STATE_WRITE_OPTIONS, ...UNENCRYPTED_OPTION, force: FORCE_OPTION },
  args: [{ name: "<file>", description: "file written by `state pull`; `-` is stdin" }],
  notes: "Without --force, the command refuses another lineage, another host, or an older serial.",
  async run(context, options, [file = "-"]) {
    const { state, key } = stateFromJson(
      (await readCommandInput(context, file, LIMITS)).toString("utf8"),
      inputName(file),
    );
    refuseExposed(context, exposedRecords(context, state));
    let ended = 0;
    const placed = await withState(context, async (store) => {
      const ownKey = keyCheck(await store.key({ make: false }));
      if (key !== "" && key !== ownKey && !options.force)
        throw failureOf("STATE_KEY", "the digests of secrets were made with the key of another state", {
          hint: "to keep the key, use `state migrate`; with --force, the next apply writes every secret again",
        });
      const check = (present: State): void => {
        if (!options.force) assertFollows(present, state);
        assertStateHost(context, store.location, state);
      };
      const wait = lockWait(context, options.lockTimeout);
      if (key === ownKey) return store.replace({ state, key, check }, wait);
      // Digests of another key cannot be compared, so every secret counts as changed, and no difference is known.
      const { acknowledged = [], reported: _, ...known } = state;
      ended = acknowledged.length;
      return store.replace({ state: known, key: "", check }, wait);
    });
    context.stdout.write(`Pushed ${count(placed.records.size, "resource")} as serial ${placed.serial}.\n`);
    if (ended > 0)
      context.stdout.write(
        `Removed ${count(ended, "acknowledgement")} of drift: the file has another key, so the values cannot be compared.\n`,
      );
  },
});

export const rekeyCommand = defineCommand({
  name: "rekey",
  summary: "encrypt the state with WORKSPACE_STATE_KEY",
  options: {
    ...STATE_WRITE_OPTIONS,
    ...UNENCRYPTED_OPTION,
    decrypt: flagOption("--decrypt", "stop encrypting; WORKSPACE_STATE_KEY must not be set"),
  },
  notes: `WORKSPACE_STATE_KEY is the new key, WORKSPACE_STATE_KEY_OLD the previous one, if the state is encrypted. If the command is
interrupted, run it again with the same keys. Saved plans must be created again.`,
  async run(context, options) {
    const { stateKey: keyText } = context;
    const oldKeyText = fromEnv(context, "WORKSPACE_STATE_KEY_OLD");
    assertKeys(keyText, oldKeyText, options.decrypt);
    const check = (state: State): void => {
      if (options.decrypt) refuseExposed(context, exposedRecords(context, state));
    };
    const rekeyed = (store: StateStore) => store.rekey(lockWait(context, options.lockTimeout), check);
    const { state, diagnostics } = await withState(context, rekeyed, { keys: { keyText, oldKeyText } });
    printDiagnostics(context, diagnostics);
    const how = keyText === undefined ? "is no longer encrypted" : "is encrypted under WORKSPACE_STATE_KEY";
    context.stdout.write(`The state ${how}, serial ${state.serial}.\n`);
  },
});

function assertKeys(keyText: string | undefined, oldKeyText: string | undefined, decrypt: boolean): void {
  if (decrypt && keyText !== undefined)
    throw failureOf("CLI_USAGE", "--decrypt and WORKSPACE_STATE_KEY cannot be used together", {
      hint: "move the key to WORKSPACE_STATE_KEY_OLD and unset WORKSPACE_STATE_KEY",
    });
  if (decrypt && oldKeyText === undefined)
    throw failureOf("CLI_USAGE", "--decrypt requires the previous key", {
      hint: "set WORKSPACE_STATE_KEY_OLD",
    });
  if (!decrypt && keyText === undefined)
    throw failureOf("STATE_KEY", "WORKSPACE_STATE_KEY is not set", {
      hint: "set it to the new key, for example the output of `openssl rand -hex 32`, and WORKSPACE_STATE_KEY_OLD to the previous one",
    });
}

export const restoreCommand = defineCommand({
  name: "restore",
  summary: "restore an earlier state version, or list versions",
  jsonSchema: "state-versions",
  options: {
    ...STATE_WRITE_OPTIONS,
    ...UNENCRYPTED_OPTION,
    output: choiceOption("-o, --output <format>", "output format of the list", ["text", "json"]),
  },
  args: [{ name: "[version]", description: "serial of the version" }],
  notes:
    "The command changes only the state and keeps the previous one. Objects created since then are no longer recorded: run `workspace plan` next, and adopt them with --adopt.",
  async run(context, options, [version]) {
    return withState(context, async (store) => {
      if (version === undefined) {
        const versions = await store.generations();
        printResult(context, options.output, { versions: stateVersionsJson(versions) }, () =>
          stateVersionsText(versions),
        );
        return versions.length === 0 ? EXIT.error : EXIT.ok;
      }
      const { state, before, copyName, keepsDigests } = await store.restore(
        serialOf(version),
        lockWait(context, options.lockTimeout),
        (older) => refuseExposed(context, exposedRecords(context, older)),
      );
      context.stdout.write(
        `Restored version ${version} as serial ${state.serial}: ${count(state.records.size, "resource")}.\n`,
      );
      context.stdout.write(restoredText(state, before));
      if (!keepsDigests)
        context.stdout.write(
          "The key of its digests was replaced: the next apply writes every secret and sensitive value again.\n",
        );
      context.stdout.write(`The previous state is kept: ${printable(copyName)}\nNext: workspace plan\n`);
      return EXIT.ok;
    });
  },
});

function serialOf(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw failureOf("CLI_USAGE", `${text} is not a valid state version`, {
    hint: "to list the versions, run `workspace state restore`",
  });
}

export const stateCommand: Untitled<CommandGroup> = {
  commands: [
    listRecordsCommand,
    showRecordCommand,
    removeRecordsCommand,
    moveRecordCommand,
    unlockCommand,
    pullCommand,
    pushCommand,
    migrateCommand,
    restoreCommand,
    rekeyCommand,
  ],
};
