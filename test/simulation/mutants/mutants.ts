// Seeded bugs: what one changed line of the program would do, and the suite that has to notice it.

import { sharedMutants } from "./shared-states.ts";

export interface Mutant {
  readonly name: string;
  /** The bug in one sentence. */
  readonly bug: string;
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly put: string;
  readonly suite: string;
  /** What has to be installed for it to be noticed. */
  readonly needs?: "postgres";
}

export const mutants: readonly Mutant[] = [
  {
    name: "no-journal-fsync",
    bug: "the journal is written and not made durable",
    file: "src/state/backends/file/file-backend.ts",
    find: `        await file.write(new TextEncoder().encode(lines.join("")));
        await file.sync();`,
    put: `        await file.write(new TextEncoder().encode(lines.join("")));`,
    suite: "crash",
  },
  {
    name: "no-folder-fsync",
    bug: "the directory entry of a new journal is not made durable",
    file: "src/state/backends/file/file-backend.ts",
    find: `await this.#replaceHeld(claim, JOURNAL_FILE, [line]);`,
    put: `await this.#replace(claim.nonce, JOURNAL_FILE, [line], () => this.#assertTop(claim));`,
    suite: "crash",
  },
  {
    name: "in-place-write",
    bug: "state and journal are written in place, without a temporary file",
    file: "src/state/backends/file/file-backend.ts",
    find: `    await this.#writeDurably(temporary, text);
`,
    put: `    await this.#writeDurably(\`\${this.#folder}/\${name}\`, text);
    await this.#writeDurably(temporary, text);
`,
    suite: "crash",
  },
  {
    name: "intent-not-awaited",
    bug: "a request is sent before its intent is durable",
    file: "src/engine/apply/journaled-writer.ts",
    find: `    const seq = await this.#seq;
    if (!isFirst)`,
    put: `    const seq = isFirst ? (this.#lease.state().open.at(-1)?.seq ?? 0) : await this.#seq;
    if (!isFirst)`,
    suite: "crash",
  },
  {
    name: "done-before-response",
    bug: "a change counts as done when its request is sent",
    file: "src/engine/apply/journaled-writer.ts",
    find: `    if (!isFirst) await this.#lease.append({ type: "request", intent: seq, operation });`,
    put: `    if (isFirst) await this.#lease.append({ type: "closed", intent: seq });
    else await this.#lease.append({ type: "request", intent: seq, operation });`,
    suite: "crash",
  },
  {
    name: "no-sweep",
    bug: "a token that was not found is forgotten at once",
    file: "src/engine/recover/recover.ts",
    find: `return unanswered && recovery.now < until`,
    put: `return unanswered && recovery.now < 0`,
    suite: "late",
  },
  {
    name: "adopts-without-equality",
    bug: "any object with the name is adopted after an unknown outcome",
    file: "src/engine/recover/recover.ts",
    find: `return fieldDiffs.every(({ path: [name] }) =>`,
    put: `return true || fieldDiffs.every(({ path: [name] }) =>`,
    suite: "name-conflict",
  },
  {
    name: "blind-retry",
    bug: "a write that cannot be repeated is sent again after an unknown outcome",
    file: "src/api/retry/retry-policy.ts",
    find: `if (mayHaveActed(bad) && !situation.repeatable) return "give up";`,
    put: ``,
    suite: "faults",
  },
  {
    name: "fence-ignored",
    bug: "a holder does not check whether another process has acquired the lock",
    file: "src/state/backends/file/file-backend.ts",
    find: `  if (greatest !== fence) throw overtaken(greatest);`,
    put: ``,
    suite: "zombie",
  },
  {
    name: "unfinished-files-stay",
    bug: "a new holder does not remove the unfinished files of the previous one",
    file: "src/state/backends/file/file-backend.ts",
    find: `    for (const name of await this.#list()) if (UNFINISHED.test(name)) await this.#remove(name);
`,
    put: "",
    suite: "zombie",
  },
  {
    name: "lock-looked-at-once",
    bug: "a retried request does not check the lock again",
    file: "src/engine/apply/journaled-writer.ts",
    find: `        this.#assertMayLeave();
        this.#hasSent = true;`,
    put: `        this.#hasSent = true;`,
    suite: "zombie",
  },
  {
    name: "heartbeat-by-two-clocks",
    bug: "the age of a heartbeat is the difference between the clocks of two machines",
    file: "src/state/lock/lock.ts",
    find: `  const now = await backend.serverNow?.();
  return now !== undefined && now - claim.renewed_at`,
    put: `  const now = (await backend.serverNow?.()) ?? environment.clock.now();
  return now !== undefined && now - claim.renewed_at`,
    suite: "clocks",
  },
  {
    name: "wait-by-the-time-of-day",
    bug: "a run that waits for the lock measures the time by a clock that can be set",
    file: "src/state/lock/lock.ts",
    find: `    const askedAt = clock.elapsed();`,
    put: `    const askedAt = clock.now();`,
    suite: "clocks",
  },
  {
    name: "secret-in-an-error",
    bug: "the message of a refused secret repeats its value",
    file: "src/providers/secrets.ts",
    find: `  await api.write("secrets/put", { scope: parent, key: member, ...wireValue(secret) });`,
    put: `  try {
    await api.write("secrets/put", { scope: parent, key: member, ...wireValue(secret) });
  } catch (problem) {
    throw new Failure(error("APPLY_FAILED", \`not written: \${new TextDecoder().decode(secret.reveal())}\`));
  }`,
    suite: "faults",
  },
  {
    name: "secret-in-the-state",
    bug: "the state contains secrets as base64 instead of a keyed digest",
    file: "src/spec/resolve/secrets.ts",
    find: `const digest = keyed(\`secret\\n\${address}\\n\${code}\`);`,
    put: `const digest = Buffer.from(secret.reveal()).toString("base64");`,
    suite: "crash",
  },
  {
    name: "no-token",
    bug: "clusters get no token",
    file: "src/providers/clusters/operations.ts",
    find: `return token === undefined ? values : {`,
    put: `return token !== undefined ? values : {`,
    suite: "crash",
  },
  {
    name: "id-not-recorded",
    bug: "the id of a job is not durable before it gets its settings",
    file: "src/engine/apply/journaled-writer.ts",
    find: `    await this.#lease.append({ type: "created", intent: seq, id });`,
    put: ``,
    suite: "crash",
  },
  {
    name: "token-before-id",
    bug: "a job with its final name is searched by its token, although its ID is recorded",
    file: "src/engine/recover/recover.ts",
    find: `  if (intent.made !== undefined) return liveIndex.byId(kind, intent.made);`,
    put: ``,
    suite: "crash",
  },
  {
    name: "odd-is-empty",
    bug: "a response of the wrong type counts as an empty list",
    file: "src/providers/kit/responses.ts",
    find: `    if (!Array.isArray(list) || !list.every(isObject)) throw unlikeContract(key, "a list of objects");`,
    put: `    if (!Array.isArray(list) || !list.every(isObject)) return [];`,
    suite: "faults",
  },
  {
    name: "moved-is-overwritten",
    bug: "an object that changed after the plan is overwritten",
    file: "src/engine/apply/change-actions.ts",
    find: "change, run.input.sensitive)) return live;",
    put: "change, run.input.sensitive) || true) return live;",
    suite: "moves",
  },
  {
    name: "full-disk-ignored",
    bug: "a journal that cannot be written does not stop the apply",
    file: "src/state/store/lease.ts",
    find: `      this.#broken = ioFailure(failure, "writing the journal");
      throw this.#broken;`,
    put: `      void ioFailure(failure, "writing the journal");`,
    suite: "disk",
  },
  {
    name: "leftovers-forgotten",
    bug: "a replaced object is not recorded until it is deleted",
    file: "src/engine/apply/record-values.ts",
    find: `    ...(deposed.length === 0 ? {} : { deposed }),`,
    put: ``,
    suite: "crash",
  },
  {
    name: "recovery-not-recorded",
    bug: "the result of recovery is not recorded",
    file: "src/engine/recover/recover.ts",
    find: `await Promise.all(entries.map((entry) => lease.append(entry)));`,
    put: `await Promise.all(entries.slice(0, 0).map((entry) => lease.append(entry)));`,
    suite: "crash",
  },
  {
    name: "unordered-deletes",
    bug: "a delete does not wait for the users of the deleted object",
    file: "src/planner/order/dependencies.ts",
    find: `return { ...change, dependsOn: [...new Set([...dependsOn, ...users])].sort() };`,
    put: `return { ...change, dependsOn: [...dependsOn].sort() };`,
    suite: "cut",
  },
  {
    name: "acl-waits-for-no-group",
    bug: "an ACL does not depend on the user or group that it names",
    file: "src/providers/acls.ts",
    find: `    dependencies: (name) => ["users", "groups"].map((kind) => ({ kind, name: nestedName(name).member })),`,
    put: `    dependencies: () => [],`,
    suite: "order",
  },
  {
    name: "walk-does-not-wait",
    bug: "a dependent of a change starts together with it",
    file: "src/engine/apply/walk-graph.ts",
    find: `      const isDone = await visit.node.run();
      visit.isSettled = true;
      if (isDone) for (const dependent of released(visit)) begin(dependent);`,
    put: `      for (const dependent of released(visit)) begin(dependent);
      const isDone = await visit.node.run();
      visit.isSettled = true;
      if (isDone) visit.isSettled = true;`,
    suite: "order",
  },
  ...sharedMutants,
];
