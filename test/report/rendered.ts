// Markdown as a forge renders it: CommonMark with the extensions of GitHub, and the tags of the result.

import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";

export function renderedHtml(markdown: string): string {
  return micromark(markdown, { allowDangerousHtml: true, extensions: [gfm()], htmlExtensions: [gfmHtml()] });
}

/** Every tag and comment in order, with its attributes. */
export function tagsOf(markdown: string): readonly string[] {
  return renderedHtml(markdown).match(/<!--.*?-->|<[^>]*>/gs) ?? [];
}
