// The command line of the bench, its page, and its pictures.

import { describe, expect, test } from "vitest";
import { benchArguments, SECTIONS } from "../../bench/arguments.ts";
import { withSections } from "../../bench/document.ts";
import { picture } from "../../bench/picture.ts";

describe("the arguments", () => {
  test("measure everything but Terraform by default", () => {
    const { sections, write, before } = benchArguments(["--write", "--before", "/tmp/old"]);
    expect(sections).toEqual(SECTIONS.filter((name) => name !== "terraform"));
    expect([write, before]).toEqual([true, "/tmp/old"]);
  });

  test.each([
    ["--large", ["large"]],
    ["--limited", ["limited"]],
    ["--with-terraform", ["terraform"]],
    ["--only=start,small", ["small", "start"]],
    ["--quick", ["small", "main", "start", "modules"]],
  ])("%s selects sections", (option, sections) => {
    expect(benchArguments([option]).sections).toEqual(sections);
  });

  test.each([
    [["--large", "--limited"], /exclude others/],
    [["--only", "big"], /"big" is not one of small, main/],
    [["--tiny", "--write"], /--to FILE/],
    [["--fast"], /Unknown option/],
  ])("%j are refused", (words, message) => {
    expect(() => benchArguments(words)).toThrow(message);
  });
});

describe("the page", () => {
  const section = (name: string, figures: string) => ({
    name,
    title: `Title of ${name}`,
    measured: "Measured today.",
    pictures: [],
    figures,
  });
  const order = ["small", "large", "limited"];

  test("keeps the sections that were not measured, in the order of the page", () => {
    const first = withSections("", "# Page", [section("limited", "10 ms"), section("small", "1 ms")], order);
    const second = withSections(first, "# New page", [section("large", "99 s")], order);
    expect(second).toMatch(
      /^# New page\n\n<!-- bench: small -->\n[\s\S]*1 ms[\s\S]*99 s[\s\S]*10 ms[\s\S]*<!-- end -->\n$/,
    );
    const third = withSections(second, "# New page", [section("large", "50 s")], order);
    expect(third).toBe(second.replace("99 s", "50 s"));
  });

  test("shows pictures above the figures of their section", () => {
    const pictures = [{ file: "images/a.svg", title: "Time" }];
    const text = withSections("", "# Page", [{ ...section("large", "1 s"), pictures }], order);
    expect(text).toContain("![Time](images/a.svg)\n\n```\n1 s\n```");
  });

  test("drops a section without an end, and text outside of sections", () => {
    const text = withSections("<!-- bench: small -->\ncut off", "# Page", [section("large", "1 s")], order);
    expect(text).not.toContain("cut off");
  });
});

describe("a picture", () => {
  test("draws each point on its scale, and the bare client with a dashed line", () => {
    const points = [
      { x: 1_000, y: 1 },
      { x: 100_000, y: 100 },
    ];
    const svg = picture("Time", "s", [
      { name: "plan", color: "#36c", points },
      { name: "bare loop", color: "#36c", points, dashed: true },
    ]);
    expect(svg).toContain('points="72,312 560,40"');
    // Each name is at the end of its line, and none covers another.
    const heights = ["plan", "bare loop"].map((name) =>
      Number(new RegExp(`y="(\\d+)" fill="#36c">${name}<`).exec(svg)?.[1]),
    );
    expect(heights).toEqual([44, 60]);
    expect(svg.match(/<polyline/g)?.length).toBe(2);
    expect(svg.match(/<polyline[^>]*stroke-dasharray/g)?.length).toBe(1);
    for (const text of ["Time", "plan", "bare loop", "1,000", "100,000", "resources"])
      expect(svg).toContain(text);
  });
});
