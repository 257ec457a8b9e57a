// Fields of a user: name, rights, groups, and the fields that the service sets (contract A 2.1; facts 4.3).

import { flagField, groupField, listField, required, textField } from "../kit/field-builders.ts";

export const userFields = {
  userName: textField({
    minLength: 1,
    ignoreCase: true,
    onChange: "replace",
    description: "Name for sign-in, usually an e-mail address.",
  }),
  entitlements: listField(
    textField({ minLength: 1, description: "One entitlement, such as allow-cluster-create." }),
    {
      list: "set",
      default: [],
      description:
        "Entitlements of the user in addition to those of its groups; allow-cluster-create permits it to create clusters.",
    },
  ),
  groups: listField(textField({ names: "groups", minLength: 1, description: "Name of a group." }), {
    list: "set",
    writtenToNamed: true,
    whenAbsent: "unmanaged",
    description:
      "Groups that the user is a direct member of. Use either this or the members of the groups, not both.",
  }),
  displayName: textField({ severity: "other", serverDefault: true, description: "Display name." }),
  name: groupField(
    {
      givenName: textField({ serverDefault: true, description: "First name." }),
      familyName: textField({ serverDefault: true, description: "Last name." }),
    },
    { severity: "other", serverDefault: true, description: "The parts of the user's name." },
  ),
  emails: listField(
    groupField(
      {
        value: required(textField({ minLength: 1, description: "The address." })),
        type: textField({ default: "work", description: "Purpose of the address." }),
        primary: flagField({ default: false, description: "Whether it is the main address." }),
      },
      { description: "One e-mail address." },
    ),
    {
      severity: "other",
      list: { key: "value" },
      serverDefault: true,
      description: "E-mail addresses; if none is set, the service uses userName.",
    },
  ),
  externalId: textField({ whenAbsent: "unmanaged", description: "ID of the user in the identity provider." }),
  active: flagField({ default: true, description: "Whether the user may sign in." }),
};
