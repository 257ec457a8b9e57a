// How specs, requests, and rights name principals: users, groups, and service principals.

import type { JsonObject } from "../../core/json.ts";
import { ADMINISTRATORS, type PrincipalName } from "../../resource/access.ts";
import { principalKey } from "../../resource/names.ts";
import { responseText } from "../kit/responses.ts";

const KINDS = ["user", "group", "sp"] as const;

export interface Principal {
  readonly kind: (typeof KINDS)[number];
  readonly name: string;
}

/** The members of requests and answers. */
export const MEMBER = {
  user: "user_name",
  group: "group_name",
  sp: "service_principal_name",
} as const;

/** `ada@example.com` is a user, `sp:deployer` a service principal, `data-eng` a group; `user:` and `group:` settle other names. */
export function principalNamed(text: string): Principal {
  const [, prefix, rest] = /^(user|group|sp):(.+)$/s.exec(text) ?? [];
  if (prefix !== undefined && rest !== undefined) return { kind: prefix as Principal["kind"], name: rest };
  return { kind: text.includes("@") ? "user" : "group", name: text };
}

export function principalText({ kind, name }: Principal): string {
  if (kind === "sp") return `sp:${name}`;
  return principalNamed(name).kind === kind && principalNamed(name).name === name ? name : `${kind}:${name}`;
}

/** The principal of an entry; undefined for a kind that this program does not know. */
export function principalIn(entry: JsonObject): Principal | undefined {
  for (const kind of KINDS) {
    const name = responseText(entry, MEMBER[kind]);
    if (name !== undefined && name !== "") return { kind, name };
  }
  return undefined;
}

const IN_RIGHTS = { user: "user", group: "group", sp: "service_principal" } as const;

export function principalInRights(text: string): PrincipalName {
  const { kind, name } = principalNamed(text);
  return { kind: IN_RIGHTS[kind], name };
}

const MANAGED = { user: "users", group: "groups", sp: "service_principals" } as const;

/** The object of the registry that a principal is, if it is managed. */
export function managedPrincipal(text: string): { readonly kind: string; readonly name: string } {
  const { kind, name } = principalNamed(text);
  return { kind: MANAGED[kind], name };
}

export const isSamePrincipal = (a: Principal, b: Principal): boolean => principalKey(a) === principalKey(b);

export const isAdmins = ({ kind, name }: Principal): boolean => kind === "group" && name === ADMINISTRATORS;
