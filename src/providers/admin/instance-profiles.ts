// Instance profiles of AWS in the Databricks dialect: roles that clusters may use.

import type { Reader } from "../../api/contract/reader.ts";
import { remoteId } from "../../core/address.ts";
import { defined, type JsonObject } from "../../core/json.ts";
import type { LiveObject } from "../../resource/live.ts";
import type { PlannedChange, Problem } from "../../resource/planning.ts";
import { defineProvider, flagField, textField } from "../kit/field-builders.ts";
import { effectOn, problem, removesObject } from "../kit/problems.ts";
import {
  clustersOn,
  dependentsOfId,
  ignoreMissing,
  jobsOn,
  keyIn,
  namesOf,
  objectsIn,
} from "../kit/responses.ts";
import { normalizeLive } from "../kit/spec-form.ts";
import { withUnknownFields } from "../kit/unknown-fields.ts";

const ARN = /^arn:aws[\w-]*:iam::\d{12}:instance-profile\/.+$/;

const fields = {
  instance_profile_arn: textField({
    onChange: "replace",
    minLength: 1,
    description: "ARN of the instance profile.",
  }),
  iam_role_arn: textField({
    minLength: 1,
    description: "ARN of its role, for serverless SQL warehouses, if the names of profile and role differ.",
  }),
  is_meta_instance_profile: flagField({
    default: false,
    onChange: "replace",
    description: "Whether the profile may only assume other roles.",
  }),
  skip_validation: flagField({
    writeOnly: true,
    requestOption: true,
    severity: "other",
    description: "Whether a new profile is added without a dry run of AWS.",
  }),
};

function toLive(answer: JsonObject): LiveObject {
  const name = keyIn(answer, "instance_profile_arn");
  const live = { id: remoteId(name), name, values: normalizeLive(fields, answer), facts: {} };
  return withUnknownFields(live, fields, answer, new Set());
}

const list = async (api: Reader): Promise<readonly LiveObject[]> =>
  objectsIn(await api.read("instance-profiles/list"), "instance_profiles").map(toLive);

function check(_values: unknown, name: string): readonly Problem[] {
  if (ARN.test(name)) return [];
  return [problem("SPEC_VALUE", ["instance_profile_arn"], `"${name}" is not the ARN of an instance profile`)];
}

export const instanceProfiles = defineProvider({
  kind: "instance_profiles",
  dialect: "databricks",
  cloud: "aws",
  singular: "instance profile",
  description: "Instance profiles of AWS that clusters of the workspace may use.",
  fields,
  severity: "security",
  nameField: "instance_profile_arn",
  unique: true,
  idAttribute: "instance_profile_arn",
  creationRecovery: "client-named",
  replaceStrategy: "delete-first",
  usedBy: ["clusters", "jobs"],

  planning: {
    validate: check,
    consequences(change, workspace) {
      const arn = lostArn(change);
      if (arn === undefined) return [];
      return [
        ...effectOn("clusters with this profile can no longer start", namesOf(clustersOn(arn, workspace))),
        ...effectOn("jobs cannot create their clusters with this profile", namesOf(jobsOn(arn, workspace))),
      ];
    },
    harms(change, workspace) {
      const arn = lostArn(change);
      return arn === undefined
        ? []
        : dependentsOfId(arn, workspace).map((user) => `${user} loses its instance profile`);
    },
  },

  operations: {
    list,
    read: async (api, id) => (await list(api)).find((live) => live.id === id),
    async create(api, { name, values }) {
      await api.write("instance-profiles/add", { ...values, instance_profile_arn: name });
      return remoteId(name);
    },
    async update(api, { id, values: { iam_role_arn } }) {
      await api.write("instance-profiles/edit", defined({ instance_profile_arn: id, iam_role_arn }));
    },
    delete: (api, { id }) =>
      ignoreMissing(() => api.write("instance-profiles/remove", { instance_profile_arn: id })),
  },
});

/** The ARN that the workspace no longer has after the change; undefined if it keeps it. */
function lostArn(change: PlannedChange): string | undefined {
  const arn = change.live?.name;
  return removesObject(change) && arn !== change.after?.instance_profile_arn ? arn : undefined;
}
