// Tabs of a page: the sections between `<!-- tabs -->` and `<!-- /tabs -->`. Elsewhere, such as on GitHub, they are sections with headings.

/** Puts a radio button for each section before them. The style of the theme shows the section of the chosen one. */
export function withTabs(html: string): string {
  let groups = 0;
  return html.replace(/<!-- tabs -->(.*?)<!-- \/tabs -->/gs, (_, content: string) => {
    groups += 1;
    const [heading = ""] = /<h\d/.exec(content) ?? [];
    const sections = content.split(new RegExp(`(?=${heading} )`)).slice(1);
    const buttons = sections.map((section, index) => {
      const [, title = ""] = /<h\d[^>]*>(.*?) *<a /s.exec(section) ?? [];
      const id = `tab-${groups}-${index + 1}`;
      const checked = index === 0 ? " checked" : "";
      return `<input type="radio" name="tabs-${groups}" id="${id}"${checked}><label for="${id}">${title}</label>`;
    });
    const wrapped = sections.map((section) => `<section>${section}</section>`);
    return `<div class="tabs">${buttons.join("")}${wrapped.join("")}</div>`;
  });
}
