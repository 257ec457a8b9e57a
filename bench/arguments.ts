// The command line of the bench: which sections are measured, and what becomes of the figures.

import { resolve } from "node:path";
import { parseArgs } from "node:util";

/** In the order of the page. */
export const SECTIONS = [
  "small",
  "main",
  "contents",
  "series",
  "large",
  "changes",
  "limited",
  "start",
  "modules",
  "page",
  "access",
  "terraform",
] as const;
export type SectionName = (typeof SECTIONS)[number];

export interface BenchArguments {
  readonly sections: readonly SectionName[];
  readonly write: boolean;
  /** The page that is written, instead of docs/internals/bench.md. */
  readonly to: string | undefined;
  /** Another checkout of the program, with its packages installed. */
  readonly before: string | undefined;
  /** Small sizes and one run each: to try the command, not to measure. */
  readonly tiny: boolean;
}

export const USAGE = `usage: npm run bench -- [--write] [--to FILE] [--before FOLDER] [--tiny]
                        [--quick | --large | --limited | --only NAME,NAME | --with-terraform]

--write           write the figures to docs/internals/bench.md; sections that are not measured stay
--to FILE         write them to another page
--before FOLDER   compare with the program in another checkout, whose packages are installed
--quick           only ${"small, main, start, modules"}
--large, --limited
                  only large workspaces; only a service with latency and limits
--only NAMES      only these: ${SECTIONS.join(", ")}
--with-terraform  only the comparison with Terraform, which must be installed
--tiny            small sizes and one run each, to try the command
`;

/** Throws an Error with a sentence for wrong arguments. */
export function benchArguments(argv: readonly string[]): BenchArguments {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      write: { type: "boolean", default: false },
      to: { type: "string" },
      before: { type: "string" },
      tiny: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      large: { type: "boolean", default: false },
      limited: { type: "boolean", default: false },
      only: { type: "string" },
      "with-terraform": { type: "boolean", default: false },
    },
  });
  const choices: (readonly SectionName[])[] = [
    ...(values.quick ? [["small", "main", "start", "modules"] as const] : []),
    ...(values.large ? [["large"] as const] : []),
    ...(values.limited ? [["limited"] as const] : []),
    ...(values["with-terraform"] ? [["terraform"] as const] : []),
    ...(values.only === undefined ? [] : [named(values.only)]),
  ];
  if (choices.length > 1)
    throw new Error("--quick, --large, --limited, --only, and --with-terraform exclude others");
  if (values.tiny && values.write && values.to === undefined)
    throw new Error("--tiny measures nothing: add --to FILE to write its figures");
  return {
    sections: choices[0] ?? SECTIONS.filter((name) => name !== "terraform"),
    write: values.write,
    to: values.to === undefined ? undefined : resolve(values.to),
    before: values.before === undefined ? undefined : resolve(values.before),
    tiny: values.tiny,
  };
}

function named(text: string): readonly SectionName[] {
  const names = text.split(",");
  const wrong = names.find((name) => !SECTIONS.some((section) => section === name));
  if (wrong !== undefined) throw new Error(`--only: "${wrong}" is not one of ${SECTIONS.join(", ")}`);
  return SECTIONS.filter((name) => names.includes(name));
}
