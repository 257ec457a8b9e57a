// Settings of the machines of one cloud, in the Databricks dialect, as pools and clusters have them.

import type { Annotations, FieldSchema, FieldTable } from "../../resource/field-schema.ts";
import { choiceField, groupField, integerField, numberField, textField } from "./field-builders.ts";

const CLOUDS = { azure: "Azure", aws: "AWS", gcp: "Google Cloud" } as const;

export const cloudSettings = (
  cloud: keyof typeof CLOUDS,
  members: FieldTable,
  annotations: Annotations = {},
): FieldSchema =>
  groupField(members, {
    dialect: "databricks",
    serverDefault: true,
    severity: "cost",
    ...annotations,
    cloud,
    description: `Settings of the machines on ${CLOUDS[cloud]}.`,
  });

const spotOrOnDemand = {
  serverDefault: true,
  description: "Type of the machines: spot or on-demand.",
} as const;

export const anyAvailability = textField(spotOrOnDemand);

export const availabilityOf = (choices: readonly string[]): FieldSchema =>
  choiceField(choices, spotOrOnDemand);

export const spotBidMaxPrice = numberField({
  serverDefault: true,
  description: "Maximum price of a spot machine; -1 is the on-demand price.",
});

export const spotBidPricePercent = integerField({
  minimum: 0,
  serverDefault: true,
  description: "Maximum price of a spot machine, in percent of the on-demand price.",
});

export const localSsdCount = integerField({
  minimum: 0,
  serverDefault: true,
  description: "Number of local disks of each machine.",
});
