// The Markdown form of a plan: what goes comes first, and a cut never hides it.

import { describe, expect, test } from "vitest";
import { addressOf } from "../../src/core/address.ts";
import { MARKDOWN_LIMIT, planMarkdown } from "../../src/report/plan-markdown.ts";
import { create, everything, planOf, registry, remove, replace } from "./plans.ts";

const many = (number: number) =>
  Array.from({ length: number }, (_, at) => ({
    ...create,
    address: addressOf("pools", `p${at}`),
    name: `p${at}`,
  }));

describe("plan as Markdown", () => {
  test("what is destroyed stands before what is created", () => {
    const shown = planMarkdown(everything, registry);
    expect(shown.indexOf("pools.gone")).toBeLessThan(shown.indexOf("pools.new"));
  });

  test("a replace that leaves the old object destroys nothing", () => {
    expect(planMarkdown(planOf([replace]), registry)).toContain("### Destroys: 1 resource");
    const kept = planMarkdown(planOf([{ ...replace, keepsOld: true } as typeof replace]), registry);
    expect(kept).toContain("### Changes: 1 resource");
    expect(kept).not.toContain("Destroys");
  });

  test("a plan that is too long keeps its deletes and says what was cut", () => {
    const shown = planMarkdown(planOf([...many(2000), remove]), registry);
    expect(shown.length).toBeLessThanOrEqual(MARKDOWN_LIMIT);
    expect(shown).toContain("pools.gone");
    expect(shown).toMatch(/\*\*Cut here\*\*: \d[\d,]* changes did not fit/);
  });

  test("a name cannot leave its code span, mention anyone, or close a tag", () => {
    const evil = "a`b</details>@all|x\n# y";
    const shown = planMarkdown(
      planOf([{ ...remove, address: addressOf("pools", evil), name: evil }]),
      registry,
    );
    expect(shown).toContain("``pools.a`b</details>@all\\|x\\n# y``");
  });

  test("a value cannot close the fence of its block", () => {
    const shown = planMarkdown(
      planOf([{ ...create, after: { node_type_id: "x ``` y" } } as typeof create]),
      registry,
    );
    expect(shown).toContain("````diff");
  });
});
