// The entry of the process: arguments, environment, streams, signals, and the exit code. Imports as little as possible.

const argv = process.argv.slice(2);

if (argv[0] === "--version" || argv[0] === "-V") {
  const { VERSION } = await import("./config/version.ts");
  const { standardOutput } = await import("./config/streams.ts");
  const { exitProcess } = await import("./cli/exit-process.ts");
  const [stdout, stderr] = [standardOutput(process.stdout), standardOutput(process.stderr)];
  stdout.write(`${VERSION}\n`);
  await exitProcess({ env: process.env, stdout, stderr }, 0);
} else if (argv[0] === "fleet-child" && process.send !== undefined) {
  const { runChild } = await import("./cli/fleet/child-main.ts");
  runChild();
} else {
  const { runInProcess } = await import("./cli/process.ts");
  await runInProcess(argv);
}
