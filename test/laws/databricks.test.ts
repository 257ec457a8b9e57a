// The laws in the Databricks dialect: the same samples, against the emulator that speaks it.

import { testLaws } from "./laws.ts";

testLaws("azure");
