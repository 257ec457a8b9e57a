import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { staleSchemas } from "../../../scripts/schemas.ts";
import { registry as real } from "../../../src/providers/index.ts";
import { editorSchema, resourceSchema, specSchema } from "../../../src/spec/schema/json-schema.ts";
import type { JsonSchema } from "../../../src/spec/schema/keywords.ts";
import { ajvForSpecs } from "../../../src/spec/schema/validate.ts";
import { registry } from "../kinds.ts";

describe("the schema of all kinds", () => {
  it("equals the file in schemas/", () => {
    expect(staleSchemas()).toEqual([]);
  });

  it("is strict JSON Schema, whole and kind by kind", () => {
    expect(() => ajvForSpecs().compile(specSchema(real))).not.toThrow();
    const ajv = ajvForSpecs();
    for (const provider of real.kinds)
      expect(() => ajv.compile({ ...resourceSchema(provider), $defs: { lifecycle: true } })).not.toThrow();
  });

  it("describes every field to those who read it in an editor", () => {
    for (const provider of real.kinds)
      for (const [name, field] of Object.entries(
        resourceSchema(provider).properties as Record<string, Record<string, unknown>>,
      ))
        if (name !== "lifecycle") expect(field.description, `${provider.kind}.${name}`).toBeTypeOf("string");
  });

  it("describes each key of the language, with an example where the type or the values do not show one", () => {
    const { properties } = specSchema(real) as { readonly properties: Record<string, JsonSchema> };
    const kinds = new Set(real.kinds.map(({ kind }) => kind));
    const lacking: string[] = [];
    const visit = (path: string, schema: JsonSchema): void => {
      const { description, examples, type, properties: members = {}, additionalProperties, items } = schema;
      const isShown = examples !== undefined || schema.enum !== undefined || type === "boolean";
      const isKey = !path.endsWith("*");
      if (isKey && (typeof description !== "string" || !isShown)) lacking.push(path);
      for (const [name, member] of Object.entries(members as object)) visit(`${path}.${name}`, member);
      for (const inside of [additionalProperties, items]) {
        const { then, ...own } = (inside ?? {}) as JsonSchema;
        if (then !== undefined || own.properties !== undefined)
          visit(`${path}.*`, (then ?? own) as JsonSchema);
      }
    };
    for (const [section, schema] of Object.entries(properties))
      if (!kinds.has(section)) visit(section, schema);
    expect(lacking).toEqual([]);
  });

  const validators = {
    spec: ajvForSpecs().compile(specSchema(real)),
    editor: ajvForSpecs().compile(editorSchema(real)),
  };

  it.each(Object.entries(validators))("takes the example of a team (%s)", (_, validate) => {
    const spec: unknown = parse(readFileSync(new URL("../whole.yaml", import.meta.url), "utf8"));
    expect({ valid: validate(spec), errors: validate.errors }).toEqual({ valid: true, errors: null });
  });

  it.each([
    "pools: { p: { node_type_id: x, custom_tags: '${local.tags}' } }",
    "pools: { p: '${local.pool}' }",
    "pools: '${local.pools}'",
    "groups: { g: { members: '${local.members}', lifecycle: { prevent_destroy: '${var.is_kept}' } } }",
    "scopes: { s: { acls: '${local.acls}', secrets: { k: '${local.secret}' } } }",
    "policy: { max_deletes: '${local.most}' }",
    "policy: '${local.policy}'",
    "jobs: { j: { new_cluster: '${local.cluster}', max_retries: '${var.retries}' } }",
  ])("lets editors accept an expression for a whole value: %s", (text) => {
    expect(validators.editor(parse(text))).toBe(true);
    expect(validators.editor(parse(text.replaceAll("${", "")))).toBe(false);
  });
});

describe("a field", () => {
  const pools = resourceSchema(registry.get("pools")).properties as Record<string, Record<string, unknown>>;

  it("that is not a string also allows a reference, with its limits in a separate branch", () => {
    expect(pools.min_idle_instances).toEqual({
      description: "A number.",
      default: 0,
      if: { type: "string", pattern: "(^|[^$])\\$\\{" },
      else: { type: "integer", minimum: 0 },
    });
  });

  it("that is plain text stays plain, and says that it cannot be changed", () => {
    expect(pools.node_type_id).toEqual({
      type: "string",
      description: "A text. Cannot be changed in place.",
    });
  });

  it("that the service sets, that contains a secret, or that is made from a file is absent", () => {
    expect(pools).not.toHaveProperty("state");
    expect(resourceSchema(registry.get("secrets")).properties).not.toHaveProperty("value");
    expect(resourceSchema(registry.get("notebooks")).properties).not.toHaveProperty("content");
  });

  it("that is the name need not be written, other required ones must", () => {
    expect(resourceSchema(registry.get("pools")).required).toEqual(["node_type_id"]);
    expect(resourceSchema(registry.get("users")).required).toBeUndefined();
  });

  it("with a union of literals is an enum", () => {
    const scopes = resourceSchema(registry.get("scopes")).properties as Record<
      string,
      Record<string, unknown>
    >;
    expect(scopes.backend_type).toMatchObject({ else: { enum: ["PLATFORM", "VAULT"] } });
  });

  it("whose members are declared has no others", () => {
    const clusters = resourceSchema(registry.get("clusters")).properties as Record<
      string,
      Record<string, unknown>
    >;
    expect(clusters.autoscale).toMatchObject({
      required: ["min_workers", "max_workers"],
      additionalProperties: false,
    });
  });
});

describe("information for editors", () => {
  const validate = ajvForSpecs().compile(specSchema(registry));

  it.each([
    [true, { users: { a: null } }],
    [true, { users: null, "x-note": 1 }],
    [
      true,
      { scopes: { s: { acls: { a: "READ", b: { permission: "WRITE" } }, secrets: { k: { env: "K" } } } } },
    ],
    [false, { scopes: { s: { acls: { a: "REED" } } } }],
    [false, { scopes: { s: { secrets: { k: {} } } } }],
    [false, { scopes: { s: { secrets: { k: { env: "A", file: "b" } } } } }],
    [false, { scopes: { s: { secrets: { k: "hunter2" } } } }],
    [false, { acls: {} }],
    [false, { pools: { p: null } }],
    [true, { pools: { p: { node_type_id: "x", max_capacity: "${var.n}" } } }],
    [false, { pools: { p: { node_type_id: "x", max_capacity: "$${var.n}" } } }],
    [false, { pools: { p: { node_type_id: "x", max_capacity: "n" } } }],
    [true, { policy: { max_deletes: "5%", on_immutable_change: { default: "error", pools: "replace" } } }],
    [false, { policy: { on_immutable_change: { secret: "replace" } } }],
    [
      true,
      {
        variables: { a: { default: [1] }, b: 3 },
        targets: { t: { variables: { a: 1 } } },
        include: "*.yaml",
      },
    ],
    [false, { variables: { a: { defualt: 1 } } }],
  ])("%s: %j", (valid, spec) => {
    expect(validate(spec)).toBe(valid);
  });
});
