// Instance profiles of AWS that clusters may use. The contract has none of these calls; a dialect has.

import { defined, type JsonObject } from "../../../core/json.ts";
import { alreadyExists, invalidValue, notFound } from "../../world/errors.ts";
import type { Call, Collection, Operations, World } from "../../world/world.ts";

const profilesOf = (world: World): Collection<JsonObject> => world.collection("instance-profiles");

const ARN = /^arn:aws[\w-]*:iam::\d+:instance-profile\/.+$/;

export const instanceProfileOperations: Operations = {
  "instance-profiles/add": ({ input }, world) => {
    const { skip_validation: _, ...profile } = input;
    const arn = String(input.instance_profile_arn);
    if (!ARN.test(arn)) throw invalidValue(`${arn.slice(0, 100)} is not a valid ARN of an instance profile`);
    if (profilesOf(world).has(arn)) throw alreadyExists(`The instance profile ${arn} already exists.`);
    profilesOf(world).set(arn, { is_meta_instance_profile: false, ...profile });
  },
  "instance-profiles/edit": ({ input }, world) => {
    const { iam_role_arn: _, ...profile } = existing(world, input);
    const role: JsonObject = defined({ iam_role_arn: input.iam_role_arn });
    profilesOf(world).set(String(input.instance_profile_arn), { ...profile, ...role });
  },
  "instance-profiles/remove": ({ input }, world) => {
    existing(world, input);
    profilesOf(world).delete(String(input.instance_profile_arn));
  },
  "instance-profiles/list": (_call, world) => {
    const profiles = [...profilesOf(world).values()];
    return { json: profiles.length === 0 ? {} : { instance_profiles: profiles } };
  },
};

function existing(world: World, { instance_profile_arn: arn }: Call["input"]): JsonObject {
  const profile = profilesOf(world).get(String(arn));
  if (profile === undefined)
    throw notFound(`The instance profile ${String(arn).slice(0, 200)} does not exist.`);
  return profile;
}
