// Specs that were damaged at random: each is read, or refused with a place; none makes the program fail.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { registry } from "../../src/providers/index.ts";
import { folderWith, loadFrom } from "./folder.ts";

const WHOLE = readFileSync(new URL("./whole.yaml", import.meta.url), "utf8");
const COUNT = Number(process.env.MUTATIONS ?? 400);
const SEED = Number(process.env.SEED ?? 1);

const PIECES = [
  "[",
  "]",
  "{",
  "}",
  ":",
  ": ",
  "-",
  "- ",
  "\n",
  "\n  ",
  "\t",
  "'",
  '"',
  "|",
  ">",
  "#",
  " #",
  "&a ",
  "*a",
  "!!x ",
  "%",
  "@",
  "`",
  "?",
  "? ",
  ",",
  "<<: ",
  "${",
  "${var.x}",
  "${pools.shared.instance_pool_id}",
  "$${",
  "null",
  "~",
  "true",
  "-1",
  "1e99",
  "9007199254740993",
  "\u001b",
  "\u202e",
  "__proto__: ",
  "constructor",
  "\\",
  "/",
  "..",
  "é",
  "\u{1f600}",
  "---\n",
  "...\n",
  "\r",
  "0",
  "targets: ",
  "include: x",
  "secrets: ",
  "lifecycle: {}",
];

/** A small generator of numbers, so that a seed gives the same damage everywhere. */
function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    const mixed = Math.imul(state ^ (state >>> 12), 0x297a2d39) >>> 0;
    return ((mixed ^ (mixed >>> 15)) >>> 0) % below;
  };
}

function damaged(text: string, next: (below: number) => number): string {
  let out = text;
  for (let times = 1 + next(4); times > 0; times--) {
    const at = next(out.length + 1);
    const piece = PIECES[next(PIECES.length)] ?? "";
    const span = next(30);
    switch (next(5)) {
      case 0:
        out = out.slice(0, at) + piece + out.slice(at);
        break;
      case 1:
        out = out.slice(0, at) + out.slice(at + span);
        break;
      case 2:
        out = out.slice(0, at) + piece + out.slice(at + piece.length);
        break;
      case 3:
        out = out.slice(0, at) + out.slice(at, at + span).repeat(2) + out.slice(at + span);
        break;
      default: {
        const lines = out.split("\n");
        const [line = ""] = lines.splice(next(lines.length), 1);
        lines.splice(next(lines.length + 1), 0, `${" ".repeat(next(4))}${line}`);
        out = lines.join("\n");
      }
    }
  }
  return out;
}

it(`reads or refuses ${COUNT} damaged specs (seed ${SEED})`, async () => {
  const folder = folderWith({});
  let refused = 0;
  for (let at = 0; at < COUNT; at++) {
    const text = damaged(WHOLE, numbers(SEED * 1_000_003 + at));
    writeFileSync(join(folder, "workspace.yaml"), text);
    const { spec, diagnostics } = await loadFrom(folder, {
      registry,
      target: "prod",
      env: { DB_PASSWORD: "x" },
    });
    if (spec !== undefined) continue;
    refused++;
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    expect(errors.length, text).toBeGreaterThan(0);
    for (const { message, at: place, code } of errors) {
      expect(message, text).not.toMatch(/undefined|\[object|NaN/);
      if (code !== "SPEC_TARGET") expect(place, `${message}\n${text}`).toBeDefined();
    }
  }
  expect(refused).toBeGreaterThan(COUNT / 4);
});
