// Where the program meets its process: arguments, environment, streams, signals and the exit code. Imports as little as it can.

const argv = process.argv.slice(2);

if (argv[0] === "--version" || argv[0] === "-V") {
  const { VERSION } = await import("./cli/about.ts");
  process.stdout.write(`${VERSION}\n`);
} else {
  const { runInProcess } = await import("./cli/process.ts");
  await runInProcess(argv);
}
