// The forms that a state can have: files, files that are encrypted, files of the workspace itself, rows of a database.

import { type Home, onDisk } from "../../engine/home.ts";
import { inPostgres, serverHere, startsOfServer } from "../homes/in-postgres.ts";
import { inWorkspace, LATENCY_MS } from "../homes/in-workspace.ts";

const FORMS = ["file", "sealed", "workspace", "postgres"] as const;
export type Form = (typeof FORMS)[number];

/** The available ones: PostgreSQL needs a server. */
export function formsHere(): readonly Form[] {
  return FORMS.filter((form) => form !== "postgres" || serverHere() !== undefined);
}

/** What a suite says of the others. */
export function notTried(): readonly string[] {
  return serverHere() === undefined ? ["NOT TRIED: states in PostgreSQL, as there is no server here"] : [];
}

/** Under which what was prepared for a form is known: with a server it goes. */
export function stageKey(form: Form): string {
  return form === "postgres" ? `${form} ${startsOfServer()}` : form;
}

const sealed: Home = { ...onDisk, keyText: "5e".repeat(32), latencyMs: LATENCY_MS, copy: async () => sealed };

/** A place with nothing in it. */
export function homeOf(form: Form): Home {
  switch (form) {
    case "file":
      return onDisk;
    case "sealed":
      return sealed;
    case "workspace":
      return inWorkspace;
    case "postgres":
      return inPostgres();
  }
}
