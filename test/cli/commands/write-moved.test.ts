// `plan --write-moved`: the `moved` entries that a plan suggests are written into the spec, and only these.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { contextWith } from "../context.ts";

const APPLIED = `policy: { max_deletes: 100% }
pools:
  day: { node_type_id: Standard_DS3_v2, max_capacity: 3 } # warm
  night: { node_type_id: Standard_DS3_v2, max_capacity: 9 }
`;

const RENAMED = `policy: { max_deletes: 100% }
# Two teams use them.
pools:
  early: { node_type_id: Standard_DS3_v2, max_capacity: 3 } # warm
  late: { node_type_id: Standard_DS3_v2, max_capacity: 9 }
`;

let folder: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "moved-"));
  write(APPLIED);
  expect(await run("apply", "--auto-approve")).toMatchObject({ code: 0 });
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file = () => join(folder, "workspace.yaml");
const write = (text: string): void => writeFileSync(file(), text);
const written = (): string => readFileSync(file(), "utf8");

async function run(command: string, ...words: string[]) {
  const context = contextWith({ PATH: process.env.PATH ?? "" }, folder);
  const code = await runProgram(context, [command, "--host", "embedded", ...words]);
  return { code, out: context.out(), err: context.err() };
}

test("the entries of two alike pools are written, comments stay, and the next plan deletes and creates nothing", async () => {
  write(RENAMED);
  const { code, out, err } = await run("plan", "--write-moved");
  expect([code, written()]).toEqual([
    0,
    `${RENAMED}moved: [{ from: pools.day, to: pools.early }, { from: pools.night, to: pools.late }]
`,
  ]);
  expect(out).toContain(
    "    - { from: pools.day, to: pools.early }\n    - { from: pools.night, to: pools.late }\n",
  );
  expect(err).toContain("+++ workspace.yaml (written)\n");
  expect(err).toContain("Wrote 2 moved entries to workspace.yaml. Run `workspace plan` again.\n");
  const next = await run("plan", "-o", "json");
  expect(JSON.parse(next.out)).toMatchObject({ summary: { create: 0, delete: 0, update: 2 } });
  expect(JSON.parse(next.out)).not.toHaveProperty("suggested_moves");
});

test("an existing list gets the entries at its end", async () => {
  const list = `moved: # of this year\n  - { from: pools.old, to: pools.day } # long ago\n`;
  write(`${list}${RENAMED.replace("early", "first")}`);
  await run("plan", "--write-moved");
  expect(written()).toMatch(
    /^moved: # of this year\n {2}- \{ from: pools\.old, to: pools\.day \} # long ago\n {2}- [^#]*from: pools\.day[^#]*to: pools\.first/,
  );
});

test("JSON has the pairs and the ties", async () => {
  write(RENAMED);
  expect(JSON.parse((await run("plan", "-o", "json")).out)).toMatchObject({
    suggested_moves: [
      { from: "pools.day", to: "pools.early" },
      { from: "pools.night", to: "pools.late" },
    ],
    ambiguous_moves: [],
  });
});

test("a tie is named and not written", async () => {
  const text = `policy: { max_deletes: 100% }
pools:
  night: { node_type_id: Standard_DS3_v2, max_capacity: 9 }
  x: { node_type_id: Standard_DS3_v2, max_capacity: 3 }
  y: { node_type_id: Standard_DS3_v2, max_capacity: 3 }
`;
  write(text);
  const { code, err } = await run("plan", "--write-moved");
  expect([code, written()]).toEqual([0, text]);
  expect(err).toContain(
    "Not written: pools.day fits pools.x and pools.y equally well.\nThe plan suggests no moved entries, so nothing is written.\n",
  );
});

test("nothing is written without a suggestion", async () => {
  const none = await run("plan", "--write-moved");
  expect([none.code, none.err, written()]).toEqual([
    0,
    expect.stringContaining("The plan suggests no moved entries, so nothing is written.\n"),
    APPLIED,
  ]);
});

test("nothing is written if the edited spec is not valid for another target", async () => {
  const prod = `targets:
  dev: { default: true }
  prod: { pools: { day: { node_type_id: Standard_DS3_v2 } } }
`;
  write(`${APPLIED}${prod}`);
  expect(await run("apply", "--auto-approve", "--adopt")).toMatchObject({ code: 0 });
  const targets = `${RENAMED}${prod}`;
  write(targets);
  const other = await run("plan", "--write-moved");
  expect([other.code, written()]).toEqual([1, targets]);
  expect(other.err).toContain(
    "error CLI_FILE: the moved entries are not written: the target prod would not be valid with them\n",
  );
});

test.each([["--untrusted"], ["--offline"], ["--destroy"], ["--out=plan.json"]])(
  "%s is refused",
  async (option) => {
    write(RENAMED);
    const { code, err } = await run("plan", "--write-moved", option);
    expect([code, written()]).toEqual([1, RENAMED]);
    expect(err).toMatch(/^error CLI_USAGE: .*--write-moved.* cannot be used together\n/);
  },
);

test("an address with a sensitive value is neither shown in the block nor written", async () => {
  const secret = "variables:\n  word: { sensitive: true, default: early }\n";
  write(`${secret}${RENAMED}`);
  const { code, out, err } = await run("plan", "--write-moved");
  expect([code, written()]).toEqual([1, `${secret}${RENAMED}`]);
  expect(out).not.toContain("to: pools.early");
  expect(err).toContain(
    "error CLI_FILE: the moved entries are not written: an address contains a sensitive value",
  );
});
