// Loaded before a measured program: writes the most memory that the process held to the file that BENCH_PEAK_FILE names.

import { writeFileSync } from "node:fs";

const file = process.env.BENCH_PEAK_FILE;
process.on("exit", () => {
  // maxRSS counts kibibytes on every system that Node runs on.
  if (file !== undefined) writeFileSync(file, String(process.resourceUsage().maxRSS * 1_024));
});
