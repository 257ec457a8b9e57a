// The page of figures: sections between marks. Writing some of them keeps the others.

export interface PageSection<Name extends string = string> {
  readonly name: Name;
  readonly title: string;
  /** When, on what, and under which load it was measured. */
  readonly measured: string;
  /** Pictures, by their files next to the page. */
  readonly pictures: readonly { readonly file: string; readonly title: string }[];
  readonly figures: string;
}

const markOf = (name: string): string => `<!-- bench: ${name} -->\n`;
const END = "<!-- end -->\n";

/** Returns the page with these sections replaced or added, in the given order. */
export function withSections(
  page: string,
  intro: string,
  sections: readonly PageSection[],
  order: readonly string[],
): string {
  const texts = order.flatMap((name) => {
    const section = sections.find((one) => one.name === name);
    return section === undefined ? (sectionOf(page, name) ?? []) : textOf(section);
  });
  return `${intro.trim()}\n\n${texts.join("\n")}`;
}

/** With its marks; undefined if the page lacks it. */
function sectionOf(page: string, name: string): string | undefined {
  const from = page.indexOf(markOf(name));
  const to = page.indexOf(END, from);
  return from < 0 || to < 0 ? undefined : page.slice(from, to + END.length);
}

function textOf({ name, title, measured, pictures, figures }: PageSection): string {
  const images = pictures.map((one) => `![${one.title}](${one.file})\n\n`).join("");
  return `${markOf(name)}## ${title}\n\n${measured}\n\n${images}\`\`\`\n${figures.trim()}\n\`\`\`\n${END}`;
}
