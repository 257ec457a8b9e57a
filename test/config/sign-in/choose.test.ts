// Which sign-in a run uses: a table of variables and profiles, the choice, and the reasons for the rest.

import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ProcessContext, ProcessEnvironment } from "../../../src/config/environment.ts";
import { findProgram } from "../../../src/config/programs.ts";
import { identityOf } from "../../../src/config/settings.ts";
import { chooseSignIn, type SignInChoice, unusedSources } from "../../../src/config/sign-in/choose.ts";
import { type Sources, signInSources } from "../../../src/config/sign-in/sources.ts";
import { contextWith } from "../../cli/context.ts";
import { thrownDiagnostics } from "../../failures.ts";

const AZURE = "https://adb-1.2.azuredatabricks.net";
const AWS = "https://one.cloud.databricks.com";
const HERE = "http://127.0.0.1:8080";

interface Site {
  readonly env?: ProcessEnvironment;
  readonly own?: string;
  readonly vendor?: string;
  readonly host?: string;
  readonly profile?: string;
  readonly untrusted?: boolean;
  readonly azure?: boolean;
  /** Puts an `az` on the PATH; `checkout`: in the current folder. */
  readonly az?: "machine" | "checkout";
}

function chosen(site: Site): SignInChoice {
  const base = contextWith();
  const { home } = base;
  const cwd = join(home, "checkout");
  mkdirSync(cwd);
  const bin = site.az === "checkout" ? join(cwd, "bin") : join(home, "bin");
  mkdirSync(bin);
  if (site.az !== undefined) writeFileSync(join(bin, "az"), "#!/bin/sh\n", { mode: 0o755 });
  const context = { ...base, cwd, env: { PATH: `.:${bin}`, ...site.env } };
  for (const [name, text] of [
    [".workspacecfg", site.own],
    [".databrickscfg", site.vendor],
  ] as const)
    if (text !== undefined) writeFileSync(join(home, name), text, { mode: 0o600 });
  const sources = signInSources(context, site.profile);
  return choiceOf(context, sources, site);
}

function choiceOf(context: ProcessContext, sources: Sources, site: Site = {}): SignInChoice {
  const { host = AZURE, azure = false, untrusted = false } = site;
  return chooseSignIn({ context, host, sources, identityOf, azure, untrusted });
}

const method = (site: Site): string | undefined => chosen(site).credential?.method;
const from = (site: Site): readonly string[] => chosen(site).from;
const skips = (site: Site): string =>
  chosen(site)
    .skipped.map(({ what, why }) => `${what}: ${why}`)
    .join("\n");

const failure = (site: Site) => thrownDiagnostics(() => chosen(site))[0];

const M2M = { DATABRICKS_CLIENT_ID: "id", DATABRICKS_CLIENT_SECRET: "secret-m2m" };
const ARM = { ARM_CLIENT_ID: "id", ARM_TENANT_ID: "tenant" };
const ARM_SECRET = { ...ARM, ARM_CLIENT_SECRET: "secret-arm" };
const JOB = {
  ACTIONS_ID_TOKEN_REQUEST_URL: "https://run-1.actions.githubusercontent.com/x?api-version=2.0",
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: "request-token",
};
const ID = {
  DATABRICKS_AZURE_RESOURCE_ID:
    "/subscriptions/s/resourceGroups/g/providers/Microsoft.Databricks/workspaces/w",
};

describe("the choice", () => {
  test.each<[string, Site, string | undefined]>([
    ["nothing is set", {}, undefined],
    ["an own token", { env: { WORKSPACE_TOKEN: "t" } }, "pat"],
    ["the vendor's token", { env: { DATABRICKS_TOKEN: "t" } }, "pat"],
    ["a client and its secret", { env: M2M }, "oauth-m2m"],
    ["an own client", { env: { WORKSPACE_CLIENT_ID: "i", WORKSPACE_CLIENT_SECRET: "s" } }, "oauth-m2m"],
    ["a client without a secret", { env: { DATABRICKS_CLIENT_ID: "id" } }, undefined],
    ["a client in a job of GitHub", { env: { DATABRICKS_CLIENT_ID: "id", ...JOB } }, "github-oidc"],
    ["a client with a secret in a job of GitHub", { env: { ...M2M, ...JOB } }, "oauth-m2m"],
    ["a job of GitHub alone", { env: JOB }, undefined],
    ["an ID token", { env: { DATABRICKS_CLIENT_ID: "id", DATABRICKS_OIDC_TOKEN: "j" } }, "env-oidc"],
    [
      "an ID token in a file",
      {
        env: {
          DATABRICKS_CLIENT_ID: "id",
          DATABRICKS_AUTH_TYPE: "file-oidc",
          DATABRICKS_OIDC_TOKEN_FILEPATH: "/f",
        },
      },
      "file-oidc",
    ],
    ["a principal with a secret", { env: ARM_SECRET }, "azure-client-secret"],
    ["a principal in a job of GitHub", { env: { ...ARM, ...JOB } }, "github-oidc-azure"],
    ["a principal with a secret in a job of GitHub", { env: { ...ARM_SECRET, ...JOB } }, "github-oidc-azure"],
    ["the identity of the machine", { env: { ARM_USE_MSI: "true" } }, "azure-msi"],
    [
      "the identity of the machine, before a principal",
      { env: { ...ARM_SECRET, ARM_USE_MSI: "1" } },
      "azure-msi",
    ],
    ["the Azure CLI", { az: "machine" }, "azure-cli"],
    ["a principal before the Azure CLI", { env: ARM_SECRET, az: "machine" }, "azure-client-secret"],
    ["half a principal, and the Azure CLI", { env: ARM, az: "machine" }, "azure-cli"],
    ["the Azure CLI for another cloud", { host: AWS, az: "machine" }, undefined],
    ["a principal of Azure for another cloud", { host: AWS, env: ARM_SECRET }, undefined],
    [
      "another cloud with the resource ID of a workspace",
      { host: AWS, env: { ...ARM_SECRET, ...ID } },
      "azure-client-secret",
    ],
    [
      "this machine as a workspace of Azure",
      { host: HERE, env: ARM_SECRET, azure: true },
      "azure-client-secret",
    ],
    [
      "a chosen method on this machine",
      { host: HERE, env: { ...ARM_SECRET, DATABRICKS_AUTH_TYPE: "azure-client-secret" } },
      "azure-client-secret",
    ],
    [
      "a chosen federation of a whole account",
      { env: { ...JOB, DATABRICKS_AUTH_TYPE: "github-oidc" } },
      "github-oidc",
    ],
    [
      "a chosen method beside values of another one",
      { env: { ...M2M, DATABRICKS_TOKEN: "t", DATABRICKS_AUTH_TYPE: "oauth-m2m" } },
      "oauth-m2m",
    ],
    [
      "a chosen method without its values",
      { env: { DATABRICKS_TOKEN: "t", DATABRICKS_AUTH_TYPE: "oauth-m2m" } },
      undefined,
    ],
    [
      "a method chosen for both families",
      { env: { WORKSPACE_TOKEN: "t", WORKSPACE_AUTH_TYPE: "oauth-m2m", ...M2M } },
      "oauth-m2m",
    ],
    ["user name and password", { env: { DATABRICKS_USERNAME: "u", DATABRICKS_PASSWORD: "p" } }, undefined],
  ])("%s", (_, site, expected) => {
    expect(method(site)).toBe(expected);
  });

  test.each<[string, ProcessEnvironment, string]>([
    ["a token and a client", { DATABRICKS_TOKEN: "t", ...M2M }, "oauth and pat"],
    ["a token and a principal", { DATABRICKS_TOKEN: "t", ARM_TENANT_ID: "x" }, "azure and pat"],
    ["a token and a password", { DATABRICKS_TOKEN: "t", DATABRICKS_USERNAME: "u" }, "basic and pat"],
  ])("%s contradict each other", (_, env, kinds) => {
    expect(failure({ env })).toMatchObject({
      code: "CLI_USAGE",
      message: `values of more than one sign-in are set: ${kinds}`,
      hint: expect.stringContaining("DATABRICKS_AUTH_TYPE"),
    });
    expect(JSON.stringify(failure({ env }))).not.toContain("secret-");
  });

  test("own values do not contradict the vendor's", () => {
    expect(from({ env: { WORKSPACE_TOKEN: "t", DATABRICKS_TOKEN: "u", ...ARM_SECRET } })).toEqual([
      "WORKSPACE_TOKEN",
    ]);
  });

  test("a method that does not exist is refused with those that do", () => {
    expect(failure({ env: { DATABRICKS_AUTH_TYPE: "databricks-cli" } })).toMatchObject({
      code: "CLI_USAGE",
      message: 'DATABRICKS_AUTH_TYPE is "databricks-cli", which is not a supported sign-in',
      hint: expect.stringMatching(/^run `workspace login`, or set WORKSPACE_AUTH_TYPE to one of pat, /),
    });
  });

  test("an untrusted spec has no program run", () => {
    expect(method({ az: "machine", untrusted: true })).toBeUndefined();
    expect(skips({ az: "machine", untrusted: true })).toContain("does not run other programs");
    const env = { WORKSPACE_AUTH_TYPE: "azure-cli" };
    expect(method({ env, az: "machine", untrusted: true })).toBeUndefined();
    expect(method({ env: M2M, untrusted: true })).toBe("oauth-m2m");
  });

  test("an az in the current folder is not run", () => {
    expect(method({ az: "checkout" })).toBeUndefined();
  });

  test.each<[string, string, boolean]>([
    ["in the checkout around the current folder", "checkout/node_modules/.bin", false],
    ["in the outer checkout of a submodule", "outer/bin", false],
    ["in a folder of the checkout whose name begins with two dots", "checkout/..bin", false],
    ["behind a link into the checkout", "link", false],
    ["in the home folder, although that is a checkout", "bin", true],
    ["next to the checkout", "checkout-2/bin", true],
  ])("an az %s is run: %s", (_, bin, runs) => {
    const { home, ...context } = contextWith();
    const outer = join(home, "outer");
    const checkout = bin.startsWith("outer") ? join(outer, "module") : join(home, "checkout");
    for (const folder of [join(checkout, "team"), join(checkout, "node_modules/.bin"), outer])
      mkdirSync(folder, { recursive: true });
    for (const folder of [home, checkout, outer]) mkdirSync(join(folder, ".git"));
    symlinkSync(join(checkout, "node_modules/.bin"), join(home, "link"));
    mkdirSync(join(home, bin), { recursive: true });
    writeFileSync(join(home, bin, "az"), "#!/bin/sh\n", { mode: 0o755 });
    const cwd = join(checkout, "team");
    const found = findProgram({ ...context, home, env: { PATH: join(home, bin) } }, "az", [cwd]);
    expect(found).toBe(runs ? join(home, bin, "az") : undefined);
  });
});

describe("order", () => {
  const own = `[DEFAULT]\nhost = ${AZURE}\ntoken = own-file\n[two]\nhost = ${AZURE}\nclient_id = i\nclient_secret = own-two\n`;
  const vendor = `[DEFAULT]\nhost = ${AZURE}\ntoken = vendor-file # mine\n[three]\nhost = ${AZURE}\ntoken = "vendor-three"\n`;

  test.each<[Site, string]>([
    [{ env: { WORKSPACE_TOKEN: "a", DATABRICKS_TOKEN: "b" }, own, vendor }, "WORKSPACE_TOKEN"],
    [{ env: { DATABRICKS_TOKEN: "b" }, own, vendor }, "token of profile DEFAULT of ~/.workspacecfg"],
    [{ env: { DATABRICKS_TOKEN: "b" }, vendor }, "DATABRICKS_TOKEN"],
    [{ vendor }, "token of profile DEFAULT of ~/.databrickscfg"],
    [{ own, vendor, env: { WORKSPACE_CONFIG_FILE: "" } }, "token of profile DEFAULT of ~/.workspacecfg"],
    [
      { own, env: { WORKSPACE_CONFIG_FILE: "~/none", DATABRICKS_CONFIG_FILE: "~/.workspacecfg" } },
      "token of profile DEFAULT of ~/.workspacecfg",
    ],
    [
      { vendor, env: { WORKSPACE_CONFIG_FILE: "~/.databrickscfg" } },
      "token of profile DEFAULT of ~/.databrickscfg",
    ],
    [
      { own, vendor, profile: "two", env: { WORKSPACE_CLIENT_ID: "x" } },
      "client_id of profile two of ~/.workspacecfg",
    ],
    [
      { own, vendor, env: { WORKSPACE_PROFILE: "two", WORKSPACE_CLIENT_SECRET: "x" } },
      "client_id of profile two of ~/.workspacecfg",
    ],
    [
      { own, vendor, profile: "three", env: { DATABRICKS_TOKEN: "b" } },
      "token of profile three of ~/.databrickscfg",
    ],
    [{ vendor, env: { DATABRICKS_CONFIG_PROFILE: "three" } }, "token of profile three of ~/.databrickscfg"],
    [{ vendor, env: { DATABRICKS_CONFIG_PROFILE: "three", DATABRICKS_TOKEN: "b" } }, "DATABRICKS_TOKEN"],
  ])("%j", (site, expected) => {
    expect(from(site)[0]).toBe(expected);
  });

  const pinned = (host: string): string =>
    `[DEFAULT]\nhost = ${host}\nauth_type = oauth-m2m\nclient_id = i\nclient_secret = s\n`;
  const CLIENT = "client_id of profile DEFAULT of ~/.workspacecfg";

  test.each<[string, Site, string]>([
    ["applies without variables", { own: pinned(AZURE) }, CLIENT],
    [
      "comes after a token variable",
      { own: pinned(AZURE), env: { WORKSPACE_TOKEN: "t" } },
      "WORKSPACE_TOKEN",
    ],
    [
      "applies if variables do not suffice",
      { own: pinned(AZURE), env: { WORKSPACE_CLIENT_ID: "x" } },
      "WORKSPACE_CLIENT_ID",
    ],
    ["comes before the vendor's variables", { own: pinned(AZURE), env: { DATABRICKS_TOKEN: "t" } }, CLIENT],
    [
      "applies with its name",
      { own: pinned(AZURE), profile: "DEFAULT", env: { WORKSPACE_TOKEN: "t" } },
      CLIENT,
    ],
    ["of another host is not used", { own: pinned(AWS), env: { DATABRICKS_TOKEN: "t" } }, "DATABRICKS_TOKEN"],
  ])("the auth_type of a default profile %s", (_what, site, expected) => {
    expect(from(site)[0]).toBe(expected);
  });

  test("comments after a value and quotes of the vendor's file are not part of the value", () => {
    expect(chosen({ vendor }).credential).toMatchObject({ token: "vendor-file" });
    expect(chosen({ vendor, profile: "three" }).credential).toMatchObject({ token: "vendor-three" });
  });

  test("a profile that no file has is an error; one of the vendor's file only if that file is needed", () => {
    expect(failure({ own, vendor, profile: "tree" })).toMatchObject({ code: "CLI_FILE" });
    expect(failure({ env: { DATABRICKS_CONFIG_PROFILE: "none" }, vendor })).toMatchObject({
      code: "CLI_FILE",
    });
    expect(failure({ own, env: { DATABRICKS_CONFIG_PROFILE: "none" }, vendor })).toBeUndefined();
    expect(failure({ vendor, profile: "thre" })).toMatchObject({
      message: expect.stringMatching(/^profile "thre" does not exist in \S+\.databrickscfg$/),
      hint: 'did you mean "three"?',
    });
    expect(failure({ own, vendor, profile: "x" })).toMatchObject({
      message: expect.stringMatching(
        /^profile "x" does not exist in \S+\.workspacecfg or \S+\.databrickscfg$/,
      ),
      hint: "profiles that exist: DEFAULT, two, three",
    });
  });
});

describe("a value meant for another host", () => {
  const other = "https://adb-9.9.azuredatabricks.net";
  test.each<[string, Site]>([
    ["an own profile", { own: `[DEFAULT]\nhost = ${other}\ntoken = t\n` }],
    [
      "an own profile with a client",
      { own: `[DEFAULT]\nhost = ${other}\nclient_id = i\nclient_secret = s\n` },
    ],
    ["a profile of the vendor's", { vendor: `[DEFAULT]\nhost = ${other}\ntoken = t\n` }],
    ["a profile without a host", { vendor: "[DEFAULT]\ntoken = t\n" }],
    ["the vendor's variables", { env: { DATABRICKS_HOST: other, DATABRICKS_TOKEN: "t" } }],
    ["a principal beside the vendor's host", { env: { DATABRICKS_HOST: other, ...ARM_SECRET } }],
    ["a chosen method", { env: { DATABRICKS_HOST: other, ...M2M, DATABRICKS_AUTH_TYPE: "oauth-m2m" } }],
  ])("is not used: %s", (_, site) => {
    expect(method(site)).toBeUndefined();
    expect(skips(site)).toMatch(/(it is|variables: they are) for https:\/\/adb-9|it has no host/);
  });

  test("is used for the same host in another spelling", () => {
    expect(method({ env: { DATABRICKS_HOST: "ADB-1.2.azuredatabricks.net/", DATABRICKS_TOKEN: "t" } })).toBe(
      "pat",
    );
  });

  test("the request token of a job goes to GitHub only", () => {
    const to = (url: string, more: ProcessEnvironment = {}) =>
      method({ env: { DATABRICKS_CLIENT_ID: "id", ...JOB, ACTIONS_ID_TOKEN_REQUEST_URL: url, ...more } });
    expect(to("https://evil.example/x")).toBeUndefined();
    expect(to("http://run-1.actions.githubusercontent.com/x")).toBeUndefined();
    expect(to("https://actions.githubusercontent.com.evil.example/x")).toBeUndefined();
    expect(to("http://127.0.0.1:1/x")).toBeUndefined();
    const own = { GITHUB_SERVER_URL: "https://git.example.com" };
    expect(to("https://git.example.com/_services/token", own)).toBe("github-oidc");
    expect(to("https://pipelines.git.example.com/token", own)).toBe("github-oidc");
    expect(to("https://evilgit.example.com/token", own)).toBeUndefined();
  });

  test("the authority of Azure is Microsoft's, unless the workspace is on this machine", () => {
    const env = { ...ARM_SECRET, AZURE_AUTHORITY_HOST: "http://127.0.0.1:9" };
    const authority = (site: Site) => {
      const { credential } = chosen(site);
      return credential !== undefined && "azure" in credential ? credential.azure.authority : undefined;
    };
    expect(authority({ env })).toBe("https://login.microsoftonline.com");
    expect(authority({ env, azure: true, host: HERE })).toBe("http://127.0.0.1:9");
    expect(
      authority({ env: { ...env, AZURE_AUTHORITY_HOST: "https://evil.example" }, azure: true, host: HERE }),
    ).toBe("https://login.microsoftonline.com");
    expect(authority({ env, host: "https://x.databricks.azure.cn" })).toBe("https://login.chinacloudapi.cn");
    expect(authority({ env: { ...env, ARM_ENVIRONMENT: "usgovernment" }, azure: true, host: AWS })).toBe(
      "https://login.microsoftonline.us",
    );
    expect(failure({ env: { ...env, ARM_ENVIRONMENT: "mars" }, azure: true, host: AWS })).toMatchObject({
      code: "CLI_USAGE",
    });
    expect(failure({ env: { ...ARM_SECRET, DATABRICKS_AZURE_RESOURCE_ID: "x/../y" } })).toMatchObject({
      code: "CLI_USAGE",
    });
  });
});

describe("the explanation", () => {
  test("each source that was not needed names what came before it", () => {
    const env = { WORKSPACE_TOKEN: "t", DATABRICKS_TOKEN: "u" };
    const context = { ...contextWith(env) };
    writeFileSync(join(context.home, ".databrickscfg"), `[DEFAULT]\nhost=${AZURE}\ntoken=v\n`);
    const sources = signInSources(context, undefined);
    const choice = choiceOf(context, sources);
    expect(unusedSources(sources, choice)).toEqual([
      { what: "DATABRICKS_* and ARM_* variables", why: "WORKSPACE_TOKEN comes first" },
      { what: "profile DEFAULT of ~/.databrickscfg", why: "WORKSPACE_TOKEN comes first" },
    ]);
  });

  test("methods that lack a value name it", () => {
    expect(skips({ env: { DATABRICKS_CLIENT_ID: "id" } })).toBe(
      [
        "oauth-m2m from DATABRICKS_* and ARM_* variables: client_secret is missing",
        "github-oidc from DATABRICKS_* and ARM_* variables: the run is not a job of GitHub with `permissions: id-token: write`",
        "env-oidc from DATABRICKS_* and ARM_* variables: DATABRICKS_OIDC_TOKEN is not set",
        "azure-cli: `az` is not on the PATH",
      ].join("\n"),
    );
  });

  test("a file with a secret that others can read is warned of", () => {
    const context = contextWith();
    const path = join(context.home, ".databrickscfg");
    writeFileSync(path, `[DEFAULT]\nhost=${AZURE}\nclient_id=i\nclient_secret=v\n`);
    chmodSync(path, 0o644);
    const sources = signInSources(context, undefined);
    const choice = choiceOf(context, sources);
    expect(choice.warnings).toMatchObject([{ severity: "warning", code: "CLI_FILE" }]);
  });
});
