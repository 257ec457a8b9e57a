// The law of names: a name means what it means to the service, in every place of a spec where it may be written.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { registry } from "../../../src/providers/index.ts";
import type { FieldSchema } from "../../../src/resource/field-schema.ts";
import { loadSpec } from "../../../src/spec/load-spec.ts";
import { doing, type Site } from "../../engine/site.ts";
import { sampleOf } from "../../sample-size.ts";
import { POLICY, siteOf } from "../sample-site.ts";

const USERS = ["ada@example.com", "bob@example.com", "cyd"] as const;

/** The name with the case of some letters turned. */
const inAnyCase = (name: string): fc.Arbitrary<string> =>
  fc
    .array(fc.boolean(), { minLength: name.length, maxLength: name.length })
    .map((turned) =>
      [...name].map((letter, at) => (turned[at] === true ? letter.toUpperCase() : letter)).join(""),
    );

/** How one spec writes its users: as keys, as members, and as principals of an access list. */
const users = fc.tuple(inAnyCase(USERS[0]), inAnyCase(USERS[1]), inAnyCase(USERS[2]));
const writings = fc.record({
  keys: users,
  members: users,
  principal: inAnyCase(USERS[0]),
});
type Writing = typeof writings extends fc.Arbitrary<infer T> ? T : never;

const specOf = ({ keys, principal }: Writing, members: readonly string[]): string => `${POLICY}
users: { ${keys.map((key) => `${key}: {}`).join(", ")} }
groups: { eng: { members: { users: [${members.join(", ")}] } } }
scopes: { s: { acls: { ${principal}: READ, eng: WRITE } } }
`;

async function plan(site: Site, yaml: string) {
  return site.drive(site.process().plan(await site.spec(yaml)));
}

async function apply(site: Site, yaml: string): Promise<void> {
  const { outcome } = await site.drive(site.process().apply(await site.spec(yaml)));
  expect(outcome.diagnostics).toEqual([]);
}

test("user names in any case converge, and a change names only the members that change", async () => {
  const inOrder = fc.tuple(writings, users);
  await fc.assert(
    fc.asyncProperty(inOrder, async ([written, again]) => {
      const site = await siteOf({ kind: "groups", spec: "", changed: "" });
      const [first, second] = written.members;
      await apply(site, specOf(written, [first, second]));
      for (const members of [
        [first, second],
        [again[1], again[0]],
      ]) {
        const made = await plan(site, specOf(written, members));
        expect([doing(made), made.drift, made.diagnostics]).toEqual([[], [], []]);
      }
      const more = await plan(site, specOf(written, again));
      const change = more.changes.find(({ address }) => address === "groups.eng");
      expect(doing(more)).toEqual(["update groups.eng"]);
      // As the user itself is written, not as the list writes it.
      expect(change?.action === "update" ? change.steps : []).toEqual([
        { operation: "add-members", detail: { names: [written.keys[2]] } },
      ]);
      site.close();
    }),
    { numRuns: sampleOf(15) },
  );
});

test("a list that names a user twice in two ways is reported as one that names it twice", async () => {
  const site = await siteOf({ kind: "groups", spec: "", changed: "" });
  const file = join(site.folder, "workspace.yaml");
  writeFileSync(
    file,
    "users: { ada@example.com: {} }\ngroups: { eng: { members: { users: [ada@example.com, Ada@example.com] } } }\n",
  );
  const { diagnostics } = await loadSpec({ file, env: {}, registry, secrets: "skip", keyed: () => "" });
  expect(diagnostics.map(({ code, message }) => `${code}: ${message}`)).toEqual([
    "SPEC_VALUE: groups.eng: members.users contains a duplicate entry",
  ]);
});

test("names of scopes and groups that differ in case are different names", async () => {
  const site = await siteOf({ kind: "acls", spec: "", changed: "" });
  const yaml = `${POLICY}
users: { ada@example.com: {} }
groups: { eng: {}, Eng: { members: { groups: [eng] } } }
scopes: { s: { acls: { ADA@example.com: READ } }, S: { acls: { ada@example.com: WRITE, Eng: READ } } }
`;
  await apply(site, yaml);
  expect(doing(await plan(site, yaml))).toEqual([]);
  expect(doing(await plan(site, yaml.replace("[eng]", "[]")))).toEqual(["update groups.Eng"]);
});

test("a field that names users ignores case exactly where the users do", () => {
  const wrong: string[] = [];
  const visit = (path: string, field: FieldSchema): void => {
    const named = field.names === undefined ? undefined : registry.get(field.names);
    if (named !== undefined && field.ignoreCase !== named.ignoreCase) wrong.push(path);
    if (field.items !== undefined) visit(`${path}[]`, field.items);
    for (const [key, inner] of Object.entries(field.properties ?? {})) visit(`${path}.${key}`, inner);
  };
  for (const { kind, fields } of registry.kinds)
    for (const [key, field] of Object.entries(fields)) visit(`${kind}.${key}`, field);
  expect(wrong).toEqual([]);
});
