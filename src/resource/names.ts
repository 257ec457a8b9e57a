// How the natural names of a kind compare, and which of them every workspace has.

import type { Provider } from "./provider.ts";

/** The form in which two names of a kind are compared. */
export function foldName(provider: Pick<Provider, "ignoreCase">, name: string): string {
  return provider.ignoreCase === true ? name.toLowerCase() : name;
}

/** Whether a thing of this name is part of every workspace: it is never created or deleted. */
export function isBuiltIn(provider: Provider, name: string): boolean {
  return provider.builtIn?.some((one) => foldName(provider, one) === foldName(provider, name)) === true;
}
