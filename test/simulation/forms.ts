// The forms that a state can have: files, files that are encrypted, files of the workspace itself, rows of a database.

import { type Home, onDisk } from "../engine/home.ts";
import { inWorkspace, LATENCY_MS } from "./homes/in-workspace.ts";

export const FORMS = ["file", "sealed", "workspace", "postgres"] as const;
export type Form = (typeof FORMS)[number];

export function isForm(text: string | undefined): text is Form {
  return FORMS.some((form) => form === text);
}

const sealed: Home = { ...onDisk, keyText: "5e".repeat(32), latencyMs: LATENCY_MS, copy: async () => sealed };

/** A place with nothing in it. */
export async function homeOf(form: Form): Promise<Home> {
  switch (form) {
    case "file":
      return onDisk;
    case "sealed":
      return sealed;
    case "workspace":
      return inWorkspace;
    case "postgres": {
      const { inPostgres } = await import("./homes/in-postgres.ts");
      return inPostgres();
    }
  }
}
