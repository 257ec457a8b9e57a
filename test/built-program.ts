// The program as its package has it, built once for a run of tests when the first of them starts it: a start takes about half
// the time of one from sources.

import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const ROOT = join(import.meta.dirname, "..");
const PORT = "TEST_PROGRAM_PORT";
const COMPILED = "TEST_PROGRAM_COMPILED";

/** Builds the program in `folder` for the first worker that asks, and answers all. Returns what ends that, and what forgets the build. */
export async function offerProgram(folder: string): Promise<{ stop: () => void; forget: () => void }> {
  let builds = 0;
  let built: Promise<string> | undefined;
  const server = createServer(async (socket) => {
    built ??= build(join(folder, `program-${builds++}`));
    socket.end(await built);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  process.env[PORT] = String((server.address() as AddressInfo).port);
  process.env[COMPILED] = join(folder, "compiled");
  const forget = (): void => {
    built = undefined;
  };
  return { stop: () => server.close(), forget };
}

async function build(folder: string): Promise<string> {
  const { writePackage } = await import("../scripts/build.ts");
  mkdirSync(join(folder, "dist"), { recursive: true });
  for (const path of ["bin", "package.json"])
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  for (const path of ["schemas", "node_modules"]) symlinkSync(join(ROOT, path), join(folder, path));
  await writePackage(join(folder, "dist"), {});
  return join(folder, "bin/workspace.js");
}

/** The file to start; `otherwise`, by default that of the sources, in a process that no run of tests started. */
export async function builtProgram(otherwise = () => join(ROOT, "bin/workspace.js")): Promise<string> {
  const port = process.env[PORT];
  return port === undefined ? otherwise() : text(connect(Number(port), "127.0.0.1"));
}

/** Variables of a process of the program: all of a run share its compiled code. */
export const COMPILE_CACHE: Readonly<Record<string, string>> =
  process.env[COMPILED] === undefined ? {} : { NODE_COMPILE_CACHE: process.env[COMPILED] };
