// Plan integrity: each leaf of a saved plan changed or removed, the file truncated or replaced, a wrong host, folder,
// state, or time.

import { PlanSite } from "../../../cli/commands/saved-plans/plan-site.ts";
import { met, type Tampering, tamperingsOf } from "../../../cli/commands/saved-plans/tampered-plans.ts";
import type { Suite } from "../../run/suite.ts";

interface Ready {
  readonly site: PlanSite;
  readonly tamperings: ReadonlyMap<string, Tampering>;
}

let opened: Promise<Ready> | undefined;

function ready(): Promise<Ready> {
  opened ??= PlanSite.open().then((site) => ({
    site,
    tamperings: new Map(tamperingsOf(site.plan).map((one) => [one.name, one])),
  }));
  return opened;
}

export const plans: Suite = {
  name: "plans",
  what: "a saved plan that has any value changed, is truncated or expired, belongs to another host, folder, or state, or is applied twice",
  unit: "plans",
  sample: 40,

  cases: async () => [...(await ready()).tamperings.keys()],

  async run(name) {
    const { site, tamperings } = await ready();
    const tampering = tamperings.get(name);
    return tampering === undefined ? [`there is no case ${name}`] : met(tampering, site);
  },

  async close() {
    await (await opened)?.site.close();
    opened = undefined;
  },
};
