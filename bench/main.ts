// `npm run bench`: the figures of the program, compared with the least possible. `--help` lists its options (bench/arguments.ts).

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { dirname, join } from "node:path";
import { type BenchArguments, benchArguments, SECTIONS, USAGE } from "./arguments.ts";
import { type PageSection, withSections } from "./document.ts";
import { type MeasuredSection, measuresOf } from "./sections.ts";
import { NotInstalled } from "./terraform.ts";

const PAGE = join(import.meta.dirname, "../docs/internals/bench.md");
const INTRO = `# Measurements

Written by \`npm run bench -- --write\`, section by section. The fastest of several alternating runs counts; each ratio is compared with its aim. A job is created in two
phases (created inert, recorded, then updated with its settings), so that a crash leaves no unrecorded job. A first apply therefore sends two requests for each job.
"The same requests" is a bare client that also sends both, and reads the lists before and after. "Installed" is the packed program, "sources" is a clone.
Where the time of a large plan goes is in [decision 0033](decisions/0033-large-workspaces.md).

\`npm run bench -- --with-terraform\` compares with Terraform and the vendor's provider, if both are installed, against the emulator in the dialect of
Databricks. By default, the provider sends at most 15 requests per second; with \`DATABRICKS_RATE_LIMIT=1000\`, the run below took 74 s for the apply and 26 s for the plan.`;

if (process.argv.includes("--help")) process.stdout.write(USAGE);
else await bench(argumentsOrExit());

function argumentsOrExit(): BenchArguments {
  try {
    return benchArguments(process.argv.slice(2));
  } catch (problem) {
    process.stderr.write(`${problem instanceof Error ? problem.message : problem}\n\n${USAGE}`);
    process.exit(1);
  }
}

/** Writes after each section, so that a run that is interrupted keeps what it measured. A section that fails keeps its old figures. */
async function bench(options: BenchArguments): Promise<void> {
  const { sections, write, to = PAGE } = options;
  const measures = measuresOf(options);
  if (write) mkdirSync(dirname(to), { recursive: true });
  const begun = performance.now();
  for (const name of sections) {
    const load = loadNow();
    try {
      const measured = await measures[name]();
      if (measured === undefined) {
        process.stderr.write(`${name}: this machine lacks what the section needs\n`);
        continue;
      }
      const section = sectionOf(name, measured, load);
      process.stdout.write(`${measured.title}\n${section.measured}\n\n${measured.figures}\n`);
      if (write) save(to, section, measured);
    } catch (problem) {
      process.exitCode = 1;
      const text = problem instanceof NotInstalled ? problem.message : String((problem as Error).stack);
      process.stderr.write(`${name}: ${text}\n`);
    }
  }
  process.stdout.write(`${Math.round((performance.now() - begun) / 1_000)} s in all\n`);
}

function sectionOf(
  name: string,
  { title, figures, pictures = [] }: MeasuredSection,
  load: string,
): PageSection {
  const { model = "unknown processor" } = cpus()[0] ?? {};
  const machine = `Node ${process.versions.node} on ${cpus().length} × ${model}`;
  const date = new Date().toISOString().slice(0, 10);
  return {
    name,
    title,
    measured: `Measured on ${date} with ${machine}; load ${load} before and ${loadNow()} after.`,
    pictures,
    figures,
  };
}

function loadNow(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}

function save(page: string, section: PageSection, { pictures = [] }: MeasuredSection): void {
  for (const { file, text } of pictures) {
    const path = join(dirname(page), file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  writeFileSync(page, withSections(textOf(page), INTRO, [section], SECTIONS));
}

/** Empty for a new page. */
function textOf(page: string): string {
  try {
    return readFileSync(page, "utf8");
  } catch {
    return "";
  }
}
