import { expect, test } from "vitest";
import { keyedDigest } from "../../../src/core/digest.ts";
import { type Binding, planFilePieces } from "../../../src/planner/plan-file.ts";
import { PlanFile } from "../../../src/workflow/plan/saved-plan.ts";

const KEY = new Uint8Array(32).fill(7);
const BINDING: Binding = {
  tool_version: "0.1.0",
  host: "https://prod.example",
  target: "",
  made_at: 0,
  expires_at: 1,
  nonce: "n1",
  state: { lineage: "l", serial: 3, records: "r" },
  spec: { file: "workspace.yaml", files: [], vars: {}, var_files: [] },
  options: {},
};
const PLAN = {
  host: "https://prod.example",
  changes: [],
  access: undefined,
  drift: [],
  unmanaged: [],
  guards: [],
  diagnostics: [],
};
const REPORT = { run: { toolVersion: "0.1.0", madeAt: "1970-01-01" }, notes: [], places: {} };
const FILE = [...planFilePieces(BINDING, PLAN, (pieces) => keyedDigest(KEY, pieces), REPORT)].join("");

test("the plan of a file is read only after its signature was checked, and without its report", () => {
  const plan = new PlanFile(FILE);
  expect(() => plan.saved).toThrow("not checked yet");
  plan.verify(KEY);
  expect(plan.saved).toMatchObject({ nonce: "n1", plan: { changes: [] } });
  expect(plan.saved).not.toHaveProperty("report");
});

test("a plan file with the signature of another key is refused, and its plan is not read", () => {
  const plan = new PlanFile(FILE);
  expect(() => plan.verify(new Uint8Array(32))).toThrow("PLAN_FILE");
  expect(() => plan.saved).toThrow("not checked yet");
});
