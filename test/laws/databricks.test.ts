// The laws in the Databricks dialect: the same samples, against the emulator that speaks it, and those of one cloud there.

import { testLaws } from "./laws.ts";

testLaws("azure");
testLaws("aws", true);
