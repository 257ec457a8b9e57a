// The schemas of JSON outputs, by name. `workspace schema NAME` prints one; docs/json.md lists them by command.

import { readFileSync } from "node:fs";

/** Each path is written out, so that the bundle can contain the file. */
export const OUTPUT_SCHEMAS = {
  access: () => readFileSync(new URL("../../../schemas/access.schema.json", import.meta.url), "utf8"),
  "apply-events": () =>
    readFileSync(new URL("../../../schemas/apply-events.schema.json", import.meta.url), "utf8"),
  cluster: () => readFileSync(new URL("../../../schemas/cluster.schema.json", import.meta.url), "utf8"),
  "cluster-events": () =>
    readFileSync(new URL("../../../schemas/cluster-events.schema.json", import.meta.url), "utf8"),
  console: () => readFileSync(new URL("../../../schemas/console.schema.json", import.meta.url), "utf8"),
  convert: () => readFileSync(new URL("../../../schemas/convert.schema.json", import.meta.url), "utf8"),
  drift: () => readFileSync(new URL("../../../schemas/drift.schema.json", import.meta.url), "utf8"),
  "drift-accept": () =>
    readFileSync(new URL("../../../schemas/drift-accept.schema.json", import.meta.url), "utf8"),
  "drift-acknowledge": () =>
    readFileSync(new URL("../../../schemas/drift-acknowledge.schema.json", import.meta.url), "utf8"),
  explain: () => readFileSync(new URL("../../../schemas/explain.schema.json", import.meta.url), "utf8"),
  "fleet-cancel": () =>
    readFileSync(new URL("../../../schemas/fleet-cancel.schema.json", import.meta.url), "utf8"),
  "fleet-dead-letters": () =>
    readFileSync(new URL("../../../schemas/fleet-dead-letters.schema.json", import.meta.url), "utf8"),
  "fleet-enqueue": () =>
    readFileSync(new URL("../../../schemas/fleet-enqueue.schema.json", import.meta.url), "utf8"),
  "fleet-list": () =>
    readFileSync(new URL("../../../schemas/fleet-list.schema.json", import.meta.url), "utf8"),
  "fleet-pause": () =>
    readFileSync(new URL("../../../schemas/fleet-pause.schema.json", import.meta.url), "utf8"),
  "fleet-result": () =>
    readFileSync(new URL("../../../schemas/fleet-result.schema.json", import.meta.url), "utf8"),
  "fleet-resume": () =>
    readFileSync(new URL("../../../schemas/fleet-resume.schema.json", import.meta.url), "utf8"),
  "fleet-schedule": () =>
    readFileSync(new URL("../../../schemas/fleet-schedule.schema.json", import.meta.url), "utf8"),
  "fleet-status": () =>
    readFileSync(new URL("../../../schemas/fleet-status.schema.json", import.meta.url), "utf8"),
  graph: () => readFileSync(new URL("../../../schemas/graph.schema.json", import.meta.url), "utf8"),
  history: () => readFileSync(new URL("../../../schemas/history.schema.json", import.meta.url), "utf8"),
  import: () => readFileSync(new URL("../../../schemas/import.schema.json", import.meta.url), "utf8"),
  plan: () => readFileSync(new URL("../../../schemas/plan.schema.json", import.meta.url), "utf8"),
  render: () => readFileSync(new URL("../../../schemas/render.schema.json", import.meta.url), "utf8"),
  run: () => readFileSync(new URL("../../../schemas/run.schema.json", import.meta.url), "utf8"),
  "run-output": () =>
    readFileSync(new URL("../../../schemas/run-output.schema.json", import.meta.url), "utf8"),
  "run-views": () => readFileSync(new URL("../../../schemas/run-views.schema.json", import.meta.url), "utf8"),
  runs: () => readFileSync(new URL("../../../schemas/runs.schema.json", import.meta.url), "utf8"),
  "state-list": () =>
    readFileSync(new URL("../../../schemas/state-list.schema.json", import.meta.url), "utf8"),
  "state-show": () =>
    readFileSync(new URL("../../../schemas/state-show.schema.json", import.meta.url), "utf8"),
  "state-versions": () =>
    readFileSync(new URL("../../../schemas/state-versions.schema.json", import.meta.url), "utf8"),
  "test-results": () =>
    readFileSync(new URL("../../../schemas/test-results.schema.json", import.meta.url), "utf8"),
  validate: () => readFileSync(new URL("../../../schemas/validate.schema.json", import.meta.url), "utf8"),
  version: () => readFileSync(new URL("../../../schemas/version.schema.json", import.meta.url), "utf8"),
  whoami: () => readFileSync(new URL("../../../schemas/whoami.schema.json", import.meta.url), "utf8"),
} as const satisfies Readonly<Record<string, () => string>>;

export type OutputSchema = keyof typeof OUTPUT_SCHEMAS;
