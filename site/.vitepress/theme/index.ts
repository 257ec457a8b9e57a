// The default theme with tabs. A link to a heading in a tab shows that tab.

import type { Theme } from "vitepress";
import DefaultTheme from "vitepress/theme";
import "./tabs.css";

function showTabOfHash(): void {
  const heading = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const section = heading?.closest(".tabs > section");
  const tabs = section?.parentElement;
  if (heading == null || section == null || tabs == null) return;
  const index = [...tabs.querySelectorAll(":scope > section")].indexOf(section);
  const button = tabs.querySelectorAll<HTMLInputElement>(":scope > input")[index];
  if (button !== undefined) button.checked = true;
  heading.scrollIntoView();
}

export default {
  extends: DefaultTheme,
  enhanceApp({ router }) {
    if (typeof window === "undefined") return;
    router.onAfterRouteChange = () => setTimeout(showTabOfHash);
    window.addEventListener("hashchange", showTabOfHash);
    window.addEventListener("load", showTabOfHash);
  },
} satisfies Theme;
