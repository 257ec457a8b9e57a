// A run for reports in tests: nothing of it changes from one to the next.

import type { RunInfo } from "../../src/report/text/run-info.ts";

export const run: RunInfo = {
  toolVersion: "1.2.3",
  host: "https://w.example.com",
  target: "dev-7301",
  commit: "7302000000000000000000000000000000007302",
  madeAt: "2024-05-06T07:08:09.000Z",
  runUrl: "https://ci.example.com/runs/7303",
  modes: [],
};
