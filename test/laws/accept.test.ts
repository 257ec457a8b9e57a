// The law of `drift accept`: the live values that it writes into the spec leave nothing to plan at the accepted addresses.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { SensitiveTexts } from "../../src/core/sensitive/texts.ts";
import type { Drift, Plan } from "../../src/planner/model/plan.ts";
import { registry } from "../../src/providers/index.ts";
import { registryIn } from "../../src/resource/dialect-view.ts";
import type { FieldDialect } from "../../src/resource/field-schema.ts";
import { secretField } from "../../src/resource/kind.ts";
import { loadSpec } from "../../src/spec/load-spec.ts";
import { type Accepting, acceptDrift, type DriftAcceptance } from "../../src/workflow/transfer/accept.ts";
import { doing, Site } from "../engine/site.ts";
import { databricksSamples } from "./databricks-samples.ts";
import { samples } from "./samples.ts";

const sites: Site[] = [];
afterEach(() => {
  for (const site of sites.splice(0)) site.close();
});

const ENV = { DB_PASSWORD: "canary-db-71c9", OTHER_PASSWORD: "canary-other-2f80" };
const POLICY = "# A comment of the head.\npolicy: { max_deletes: 100% } # all\n";

async function startSite(
  files: Readonly<Record<string, string>>,
  cloud?: FieldDialect["cloud"],
): Promise<Site> {
  const site = await Site.start(cloud);
  sites.push(site);
  site.env = { ...ENV };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(site.folder, path)), { recursive: true });
    writeFileSync(join(site.folder, path), text);
  }
  return site;
}

const fileOf = (site: Site): string => readFileSync(join(site.folder, "workspace.yaml"), "utf8");

interface Accepted {
  readonly accepted: DriftAcceptance;
  readonly drift: readonly Drift[];
  /** The plan of the edited spec. */
  readonly after: Plan;
}

/** Applies `first`, then `second` as a change of others, and accepts all drift into `first`. */
async function accepted(site: Site, first: string, second: string): Promise<Accepted> {
  const process = site.process();
  await site.drive(process.apply(await site.spec(second)));
  await site.drive(process.apply(await site.spec(first)));
  const state = await site.state();
  await site.drive(process.apply(await site.spec(second)));
  const spec = await site.spec(first);
  const described = registryIn(registry, site.dialect);
  const plan = (spec: Parameters<typeof process.look>[0]) =>
    site.drive(process.look(spec, state).then(({ plan }) => plan));
  const looked = await site.drive(process.look(spec, state));
  const drift = looked.plan.drift.filter(({ address }) => secretField(registry.of(address)) === undefined);
  const ports: Pick<Accepting, "read" | "load" | "content"> = {
    read: (path) => {
      try {
        return readFileSync(join(site.folder, path));
      } catch {
        return undefined;
      }
    },
    load: (edited) =>
      loadSpec({
        file: join(site.folder, "workspace.yaml"),
        env: site.env,
        registry: described,
        secrets: "skip",
        keyed: () => "",
        edited,
      }),
    content: async (provider, live) => {
      const pieces: Uint8Array[] = [];
      const read = provider.operations.readContent?.(process.client.reader, live);
      await site.drive(
        (async () => {
          for await (const piece of read ?? []) pieces.push(piece);
        })(),
      );
      return Buffer.concat(pieces);
    },
  };
  const result = await acceptDrift({
    registry: described,
    input: looked.input,
    plan: looked.plan,
    wanted: drift.map((drift) => ({ drift })),
    sensitive: new SensitiveTexts(),
    ...ports,
    into: "workspace.yaml",
    otherTargets: [],
    shared: false,
    inTarget: false,
  });
  for (const { path, after } of result.files) {
    mkdirSync(dirname(join(site.folder, path)), { recursive: true });
    writeFileSync(join(site.folder, path), after);
  }
  const { spec: edited = spec } = await ports.load(new Map());
  return { accepted: result, drift, after: await plan(edited) };
}

const everySample = [
  ...samples.map((sample) => [sample.kind, sample, undefined] as const),
  ...databricksSamples.map(
    (sample) => [sample.title ?? sample.kind, sample, sample.cloud ?? "azure"] as const,
  ),
];

describe.each(everySample)("%s", (_title, sample, cloud) => {
  test.each([
    ["the changed sample", sample.spec, sample.changed],
    ["the sample", sample.changed, sample.spec],
  ])(
    "accepted drift towards %s leaves nothing to plan, and the comments stay",
    async (_towards, first, second) => {
      const site = await startSite(sample.files ?? {}, cloud);
      const { drift, after } = await accepted(site, POLICY + first, POLICY + second);
      const addresses = new Set(drift.map(({ address }) => address));
      const left = after.changes.filter(({ address }) => addresses.has(address));
      expect(
        doing({ ...after, changes: left }).filter((change) => !/^(adopt|forget) /.test(change)),
        fileOf(site),
      ).toEqual([]);
      expect(fileOf(site)).toContain(POLICY.split("\n")[0]);
    },
  );
});

const KEYS = `clusters:
  c:
    spark_version: 6.4.x-scala2.11
    node_type_id: Standard_DS3_v2
    num_workers: 1
`;

test("accepted keys and values of maps that look like expressions are written as text", async () => {
  const site = await startSite({});
  const first = `${KEYS}    spark_conf: { "a$\${x}": "1", "b$\${x}": "2", "c$\${x}": "3" }\n`;
  const second = `${KEYS}    spark_conf: { "a$\${x}": "9$\${y}", "c$\${x}": "3", "d$\${var.none}": "4" }
    spark_env_vars: { "$\${HOME}": "$\${x}", "\\\\$\${y}": z }\n`;
  const { after } = await accepted(site, first, second);
  expect(doing(after)).toEqual([]);
  const conf = '{ "a$${x}": "9$${y}", "c$${x}": "3", "d$${var.none}": "4" }';
  expect(fileOf(site)).toBe(
    `${KEYS}    spark_conf: ${conf}\n    spark_env_vars: { "$\${HOME}": "$\${x}", "\\\\$\${y}": z }\n`,
  );
});

const inTarget = (value: string): string => `variables: { v: { type: string } }
targets: { dev: { default: true, variables: { v: ${value} } } }
${KEYS}    spark_env_vars: { A: "\${var.v}" }\n`;

test.each([
  ["first", "a $${HOME} b", '"a ${HOME} b"'],
  ['"a ${HOME} b"', "plain", '"plain"'],
  ['"a ${HOME} b"', "$$${HOME}", '"$${HOME}"'],
])(
  "the variable of a target, %s, takes the live value %s without escapes",
  async (declared, live, written) => {
    const site = await startSite({});
    const { after } = await accepted(
      site,
      inTarget(declared),
      `${KEYS}    spark_env_vars: { A: "${live}" }\n`,
    );
    expect(doing(after)).toEqual([]);
    expect(fileOf(site)).toContain(`variables: { v: ${written} }`);
  },
);

test("a default cannot contain an expression, so a live value that looks like one is refused with the way around", async () => {
  const site = await startSite({});
  const first = `variables: { v: { type: string, default: a } }\n${KEYS}    spark_env_vars: { A: "\${var.v}" }\n`;
  const refused = accepted(site, first, `${KEYS}    spark_env_vars: { A: "a $\${HOME}" }\n`);
  await expect(refused).rejects.toMatchObject({
    diagnostics: [
      { code: "DRIFT_NOT_ACCEPTED" },
      {
        code: "SPEC_VARIABLE",
        message: "the default of variables.v cannot contain ${…}",
        hint: "write the value where a variable is used, with $${ for a literal ${",
      },
    ],
  });
});
