// Loaded before a measured program: writes what the process needed to the file that BENCH_NEED_FILE names.

import { writeFileSync } from "node:fs";

const file = process.env.BENCH_NEED_FILE;
process.on("exit", () => {
  if (file === undefined) return;
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  // maxRSS counts kibibytes on every system that Node runs on, the times count microseconds.
  const need = { peak: maxRSS * 1_024, cpuMs: (userCPUTime + systemCPUTime) / 1_000 };
  writeFileSync(file, JSON.stringify(need));
});
