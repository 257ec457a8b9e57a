// A PostgreSQL server for one test file: in a separate folder, reached over a socket there, deleted with the process.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface PostgresServer {
  /** URL of a state in it. */
  url(state: string, more?: string): string;
  /** Runs SQL with psql's own rights, for looking behind the store. */
  readonly folder: string;
  restart(): void;
  stop(): void;
}

const USER = "postgres";

/** Where Debian keeps the servers; else what PATH names. */
function binaries(): string | undefined {
  const root = "/usr/lib/postgresql";
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(root, version, "bin")),
    ...(process.env.PATH ?? "").split(":"),
  ];
  return folders.find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "pg_ctl")));
}

/** The server refuses to run as root: then it runs as the user of the package. */
function account(): { readonly id: number; readonly words: readonly string[] } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = Number(spawnSync("id", ["-u", USER], { encoding: "utf8" }).stdout);
  return { id, words: ["setpriv", "--reuid", USER, "--regid", USER, "--clear-groups"] };
}

function run(words: readonly string[]): void {
  const [command = "", ...args] = words;
  const done = spawnSync(command, args, {
    cwd: tmpdir(),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (done.status !== 0) throw new Error(`${words.join(" ")}\n${done.stdout}${done.stderr}`);
}

/**
 * Its input ends with the process that started it, even if that is killed: then the server ends, and its folder is
 * deleted.
 */
const WATCHING = `trap '' INT TERM HUP; cat > /dev/null; "$1" -D "$2/data" -m immediate stop; rm -rf "$2"`;

/** It keeps no process alive, and no signal of a terminal reaches it. */
function watch(as: readonly string[], bin: string, folder: string): ChildProcess {
  const words = [...as, "sh", "-c", WATCHING, "sh", join(bin, "pg_ctl"), folder];
  const [command = "", ...args] = words;
  const child = spawn(command, args, {
    cwd: tmpdir(),
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.unref();
  (child.stdin as Socket | null)?.unref();
  return child;
}

/** Whether there is a server to start. */
export function isPostgresHere(): boolean {
  const user = account();
  return binaries() !== undefined && user?.id !== 0 && !Number.isNaN(user?.id);
}

/** Databases that initdb made before on this machine, by the folder of its version: a copy takes a tenth of the time. */
const MADE_BEFORE = fileURLToPath(
  new URL("../../../../node_modules/.cache/workspace-postgres", import.meta.url),
);

function makeDatabases(as: readonly string[], bin: string, data: string): void {
  const earlier = join(MADE_BEFORE, bin.replaceAll(/\W/g, "-"));
  if (existsSync(earlier)) {
    run(["cp", "-a", earlier, data]);
    return;
  }
  const words = ["-U", USER, "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C"];
  run([...as, join(bin, "initdb"), "-D", data, ...words]);
  mkdirSync(MADE_BEFORE, { recursive: true });
  const copy = mkdtempSync(join(MADE_BEFORE, "new-"));
  run(["cp", "-a", data, join(copy, "data")]);
  try {
    renameSync(join(copy, "data"), earlier);
  } catch {
    // Another process was first.
  }
  rmSync(copy, { recursive: true, force: true });
}

/** Undefined, with a warning, if no server can be started. `settings` are those of postgresql.conf. */
export function startPostgres(settings: readonly string[] = ["fsync=off"]): PostgresServer | undefined {
  const bin = binaries();
  const user = account();
  if (bin === undefined || !isPostgresHere()) {
    console.warn(
      "\n*** NO POSTGRESQL HERE: its tests are skipped. Install the package postgresql to run them. ***\n",
    );
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), "pg-"));
  if (user !== undefined) chownSync(folder, user.id, user.id);
  const as = user?.words ?? [];
  const data = join(folder, "data");
  const own = ["listen_addresses=", `unix_socket_directories=${folder}`, ...settings];
  const ctl = (...words: readonly string[]): void =>
    run([...as, join(bin, "pg_ctl"), "-D", data, "-l", join(folder, "log"), "-w", ...words]);
  const start = (): void => ctl("-o", own.map((setting) => `-c ${setting}`).join(" "), "start");
  const stop = (): void => {
    process.off("exit", stop);
    if (!existsSync(folder)) return;
    ctl("-m", "immediate", "stop");
    rmSync(folder, { recursive: true, force: true });
    watcher.stdin?.end();
  };
  const watcher = watch(as, bin, folder);
  makeDatabases(as, bin, data);
  start();
  process.on("exit", stop);
  return {
    folder,
    url: (state, more = "") =>
      `postgres://${USER}@localhost/postgres?host=${encodeURIComponent(folder)}&state=${encodeURIComponent(state)}${more}`,
    restart: () => {
      ctl("-m", "fast", "stop");
      start();
    },
    stop,
  };
}
