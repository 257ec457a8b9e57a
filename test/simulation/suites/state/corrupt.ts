// Corrupt state: every byte cut and flipped, and parts and lines gone, swapped, repeated, strange, older or newer, on every form of store.

import { type PostgresServer, startPostgres } from "../../../state/backends/postgres/server.ts";
import { Corruption, type Damage } from "../../../state/corruption.ts";
import { inWorkspace, onDisk, onPostgres, type Shared } from "../../../state/sharing.ts";
import type { Suite } from "../../run/suite.ts";

interface Damaged {
  readonly corruption: Corruption;
  readonly damages: ReadonlyMap<string, Damage>;
}

let server: PostgresServer | undefined;
const known = new Map<string, Damaged>();

async function openers(): Promise<Readonly<Record<string, () => Promise<Shared>>>> {
  server ??= startPostgres();
  return {
    file: onDisk,
    workspace: inWorkspace,
    ...(server === undefined ? {} : { postgres: () => onPostgres(server) }),
  };
}

/** Every damage to a state of one form, by name. */
async function damagedOf(form: string, how: string): Promise<Damaged> {
  const title = `${form} ${how}`;
  const found = known.get(title);
  if (found !== undefined) return found;
  const open = (await openers())[form];
  if (open === undefined) throw new Error(`there is no state of the form ${form} here`);
  const corruption = new Corruption(await open(), how === "encrypted");
  await corruption.prepare(open);
  const damages = new Map([...corruption.damages()].map((damage) => [`${title} ${damage.name}`, damage]));
  known.set(title, { corruption, damages });
  return { corruption, damages };
}

export const corrupt: Suite = {
  name: "corrupt",
  what: "a stored state truncated at every byte, with every byte flipped, or with parts or lines missing, swapped, unknown, older, or newer",
  unit: "loads",
  sample: 150,
  async cases() {
    const names: string[] = [];
    for (const form of Object.keys(await openers()))
      for (const how of ["plain", "encrypted"]) names.push(...(await damagedOf(form, how)).damages.keys());
    return names;
  },
  async run(name) {
    const [form = "", how = ""] = name.split(" ");
    const { corruption, damages } = await damagedOf(form, how);
    const damage = damages.get(name);
    if (damage === undefined) return [`there is no case ${name}`];
    const verdict = await corruption.verdict(damage);
    return verdict === undefined ? [] : [verdict];
  },
  async notes() {
    const lost = [...known].map(async ([title, { corruption }]) =>
      (await corruption.isWhole()) ? [] : [title],
    );
    const broken = (await Promise.all(lost)).flat();
    return [
      broken.length === 0 ? "undamaged again, each is read unchanged" : `not whole: ${broken}`,
      ...(server === undefined ? ["PostgreSQL was not tried: there is no server here"] : []),
    ];
  },
  async close() {
    for (const { corruption } of known.values()) await corruption.shared.close();
    known.clear();
    server?.stop();
    server = undefined;
  },
};
