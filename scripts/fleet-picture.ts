// Draws docs/images/fleet-report.png: the report of a sample fleet in Chromium (part of `npm run picture`).

import { join } from "node:path";
import { fleetHtml } from "../src/fleet/report/fleet-html.ts";
import { FLEET_VIEW } from "../test/fleet/report/sample-fleet.ts";
import { CHROMIUM, Reader } from "../test/report/html/chromium.ts";

if (CHROMIUM === undefined) throw new Error("no Chromium at /usr/bin/chromium; set WORKSPACE_TEST_CHROMIUM");
const reader = await Reader.start();
const { page } = await reader.open(fleetHtml(FLEET_VIEW), { viewport: { width: 1000, height: 900 } });
await page.screenshot({ path: join(import.meta.dirname, "../docs/images/fleet-report.png"), fullPage: true });
await reader.close();
