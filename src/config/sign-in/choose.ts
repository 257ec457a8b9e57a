// Chooses the sign-in of a run by the rules of the vendor's tools: auth_type first, then the methods in order.

import {
  AUTH_TYPES,
  type AuthType,
  type AzureEndpoints,
  type Credential,
  type IdTokenSource,
} from "../../api/auth/credential.ts";
import { isLoopback, isWorkflowService } from "../../api/auth/endpoints.ts";
import { type Diagnostic, error, Failure, thrownText } from "../../core/diagnostic.ts";
import { shortened } from "../../core/sentences.ts";
import { fromEnv, type ProcessContext } from "../environment.ts";
import { profileExposure } from "../profile.ts";
import { findProgram } from "../programs.ts";
import { azureEndpoints } from "./azure.ts";
import {
  ATTRIBUTE_NAMES,
  type AttributeName,
  type AuthKind,
  authKindOf,
  type Family,
  type SignInSource,
  type SourcedValue,
  type SourcedValues,
  type Sources,
  sourcedValues,
} from "./sources.ts";

export interface SkippedSignIn {
  readonly what: string;
  readonly why: string;
}

export interface SignInChoice {
  readonly credential?: Credential;
  /** The variables, profiles, and programs that the credential comes from. */
  readonly from: readonly string[];
  readonly skipped: readonly SkippedSignIn[];
  readonly warnings: readonly Diagnostic[];
}

interface ChoiceInput {
  readonly context: ProcessContext;
  /** The address of the workspace, without parts that do not identify it. */
  readonly host: string;
  readonly sources: Sources;
  readonly identityOf: (host: string) => string;
  /** Whether the workspace is said to be one of Azure. */
  readonly azure: boolean;
  /** The author of the spec is not trusted, so no other program is run. */
  readonly untrusted: boolean;
}

/** Throws Failure with CLI_USAGE where values contradict each other, and with CLI_FILE where a file cannot be used. */
export function chooseSignIn(input: ChoiceInput): SignInChoice {
  const choosing = new Choosing(input);
  return { ...choosing.choice(), skipped: choosing.skipped };
}

const NEEDS_NO_VALUES: ReadonlySet<AuthType> = new Set(["azure-cli", "azure-msi"]);

/** The sources that the choice did not need, to explain the choice. */
export function unusedSources(sources: Sources, choice: SignInChoice): readonly SkippedSignIn[] {
  const { method } = choice.credential ?? {};
  if (method === undefined) return [];
  const reported = new Set(choice.skipped.map(({ what }) => what));
  const isUsed = (values: SourcedValues): boolean =>
    Object.values(values).some(({ from }) => choice.from.includes(from));
  try {
    return sources
      .flatMap(({ read }) => read().sources)
      .filter(({ name, values }) => hasCredentials(values) && !reported.has(name) && !isUsed(values))
      .map(({ name }) => ({ what: name, why: `${choice.from[0] ?? method} comes first` }));
  } catch (problem) {
    return [{ what: "values of the vendor's tools", why: thrownText(problem) }];
  }
}

type Found = Omit<SignInChoice, "skipped">;

class Choosing {
  readonly skipped: SkippedSignIn[] = [];
  readonly #input: ChoiceInput;

  constructor(input: ChoiceInput) {
    this.#input = input;
  }

  choice(): Found {
    const all: SignInSource[] = [];
    for (const [at, { family, read }] of this.#input.sources.entries()) {
      const familySources = read();
      const sources = this.#usable(family, familySources.sources);
      const pinned = sources.findIndex(({ values }) => values.auth_type !== undefined);
      const pin = sources[pinned]?.values.auth_type;
      // The default profile chooses no method for variables, which come before it.
      const free = pin === undefined ? sources : familySources.named ? [] : sources.slice(0, pinned);
      const choice = this.#fromSources(free, familySources.named);
      if (choice !== undefined) return choice;
      if (pin !== undefined)
        return this.#chosenMethod([...all, ...sources], pin, this.#input.sources.slice(at + 1));
      all.push(...sources);
    }
    // The Azure CLI needs no values, so it comes last.
    const last = this.#attempt("azure-cli", merged(all), false);
    return "credential" in last ? { ...last, warnings: [] } : this.#nothing("azure-cli", last.lacks);
  }

  #nothing(what: string, why: string): Found {
    this.skipped.push({ what, why });
    return { from: [], warnings: [] };
  }

  /** The method that an `auth_type` names, from the values of the sources up to its own and, if they do not suffice, from all. */
  #chosenMethod(
    sources: readonly SignInSource[],
    { value: method, from }: SourcedValue,
    rest: Sources,
  ): Found {
    if (!isAuthType(method)) throw new Failure(unknownMethod(method, from));
    const first = this.#attempt(method, merged(sources), true);
    if ("credential" in first && !NEEDS_NO_VALUES.has(method))
      return { ...first, warnings: warningsOf(sources) };
    const all = [...sources, ...rest.flatMap(({ family, read }) => this.#usable(family, read().sources))];
    const second = this.#attempt(method, merged(all), true);
    if ("credential" in second) return { ...second, warnings: warningsOf(all) };
    return this.#nothing(`${method}, which ${from} chooses`, second.lacks);
  }

  #fromSources(sources: readonly SignInSource[], named: boolean): Found | undefined {
    const withCredentials = sources.filter((signInSource) => hasCredentials(signInSource.values));
    const settings = settingsIn(merged(sources));
    for (const group of named ? [sources] : withCredentials.map((signInSource) => [signInSource])) {
      const values = { ...settings, ...merged(group) };
      const kinds = kindsIn(values);
      if (kinds.size > 1) throw new Failure(conflict(values));
      const where = group.map(({ name }) => name).join(" and ");
      for (const kind of kinds)
        if (kind === "basic" || kind === "google")
          this.skipped.push({ what: `${kind} from ${where}`, why: "this method is not supported" });
      for (const method of AUTH_TYPES.filter((method) => concerns(method, kinds))) {
        const result = this.#attempt(method, values, false);
        if ("credential" in result) return { ...result, warnings: warningsOf(group) };
        this.skipped.push({ what: `${method} from ${where}`, why: result.lacks });
      }
    }
    return undefined;
  }

  #attempt(method: AuthType, values: SourcedValues, chosen: boolean): MethodResult {
    const { context, host, untrusted, azure: isAzure } = this.#input;
    const azure = azureEndpoints(context, host, values, isAzure || (chosen && method.includes("azure")));
    const isTried = method === "azure-cli" && azure !== undefined && !untrusted;
    const path = isTried ? findProgram(context, "az", [context.cwd]) : undefined;
    const lacks = untrusted ? "a plan of an untrusted spec does not run other programs" : NO_AZURE_CLI;
    const azureCli = path === undefined ? { lacks } : { path };
    return METHODS[method]({ context, host, values, chosen, azure, azureCli });
  }

  /** The sources whose values may go to the host. Values for another host are never used. */
  #usable(family: Family, sources: readonly SignInSource[]): readonly SignInSource[] {
    const { host, identityOf } = this.#input;
    return sources.filter(({ name, values, profile }) => {
      const skip = (why: string): false => {
        if (hasCredentials(values)) this.skipped.push({ what: name, why });
        return false;
      };
      const own = values.host;
      // A profile without a host has no host; a token in a variable belongs to the host of the run.
      if (own === undefined) return profile === undefined || skip("it has no host");
      if (family === "workspace" && profile === undefined) return true;
      if (isHost(own.value, host, identityOf)) return true;
      return skip(`${profile === undefined ? "they are" : "it is"} for ${own.value}`);
    });
  }
}

function isHost(text: string, host: string, identityOf: (host: string) => string): boolean {
  try {
    return identityOf(text) === host;
  } catch {
    return false;
  }
}

const hasCredentials = (values: SourcedValues): boolean => kindsIn(values).size > 0;

function kindsIn(values: SourcedValues): ReadonlySet<AuthKind> {
  const set = ATTRIBUTE_NAMES.filter((name) => values[name] !== undefined);
  return new Set(set.map(authKindOf).filter((kind) => kind !== undefined));
}

/** The first source that has a value counts for it. */
function merged(sources: readonly SignInSource[]): SourcedValues {
  return Object.assign({}, ...sources.map(({ values }) => values).toReversed());
}

/** The values that belong to no kind, which every kind can use. */
function settingsIn(values: SourcedValues): SourcedValues {
  return sourcedValues((name) => (authKindOf(name) === undefined ? values[name] : undefined));
}

const KINDS: Readonly<Record<AuthType, readonly AuthKind[]>> = {
  pat: ["pat"],
  "oauth-m2m": ["oauth"],
  "github-oidc": ["oauth"],
  "env-oidc": ["oauth", "env-oidc"],
  "file-oidc": ["file-oidc"],
  "github-oidc-azure": ["azure"],
  "azure-msi": ["azure"],
  "azure-client-secret": ["azure"],
  "azure-cli": [],
};

const concerns = (method: AuthType, kinds: ReadonlySet<AuthKind>): boolean =>
  KINDS[method].some((kind) => kinds.has(kind));

function warningsOf(group: readonly SignInSource[]): readonly Diagnostic[] {
  return group.flatMap(({ profile }) =>
    profile !== undefined && [...SECRET_KEYS].some((key) => profile.values.has(key))
      ? profileExposure(profile.path)
      : [],
  );
}

const SECRET_KEYS = ["token", "client_secret", "azure_client_secret"];

function unknownMethod(method: string, from: string): Diagnostic {
  const shown = JSON.stringify(shortened(method, 50));
  return error("CLI_USAGE", `${from} is ${shown}, which is not a supported sign-in`, {
    hint: `run \`workspace login\`, or set WORKSPACE_AUTH_TYPE to one of ${AUTH_TYPES.join(", ")}`,
  });
}

function conflict(values: SourcedValues): Diagnostic {
  const set = ATTRIBUTE_NAMES.flatMap((name) =>
    authKindOf(name) === undefined ? [] : [values[name]?.from ?? []].flat(),
  );
  const kinds = [...kindsIn(values)].sort().join(" and ");
  return error("CLI_USAGE", `values of more than one sign-in are set: ${kinds}`, {
    hint: "unset the values of one of them, or choose with WORKSPACE_AUTH_TYPE or DATABRICKS_AUTH_TYPE",
    cause: set.join(", "),
  });
}

interface MethodInput {
  readonly context: ProcessContext;
  /** The address of the workspace. */
  readonly host: string;
  readonly values: SourcedValues;
  /** An `auth_type` names the method, so what it can do without may be missing. */
  readonly chosen: boolean;
  readonly azure: AzureEndpoints | undefined;
  /** The Azure CLI of this machine, or why it is not used. */
  readonly azureCli: { readonly path: string } | { readonly lacks: string };
}

/** A credential and where its values come from, or what is missing for it. */
type MethodResult =
  | { readonly credential: Credential; readonly from: readonly string[] }
  | { readonly lacks: string };

type Method = (input: MethodInput) => MethodResult;

export const NO_AZURE_CLI = "`az` is not on the PATH";
export const NOT_AZURE = "the host is not known to be a workspace of Azure";

const METHODS: Readonly<Record<AuthType, Method>> = {
  pat: ({ values, context }) => {
    const { token } = values;
    if (token === undefined) return { lacks: "no token is set" };
    const scheme = fromEnv(context, "WORKSPACE_AUTH") === "basic" ? "basic" : "bearer";
    return { credential: { method: "pat", token: token.value, scheme }, from: [token.from] };
  },
  "oauth-m2m": ({ values }) =>
    needing(values, ["client_id", "client_secret"], ([clientId, clientSecret]) => ({
      method: "oauth-m2m",
      clientId,
      clientSecret,
    })),
  "github-oidc": (input) => federated("github-oidc", workflow(input), input),
  "env-oidc": (input) => federated("env-oidc", variable(input), input),
  "file-oidc": (input) => federated("file-oidc", file(input), input),
  "github-oidc-azure": (input) => {
    const { azure, values } = input;
    if (azure === undefined) return { lacks: NOT_AZURE };
    const source = workflow(input);
    if ("lacks" in source) return source;
    const names = ["azure_client_id", "azure_tenant_id"] as const;
    const result = needing(values, names, ([clientId, tenantId]) => ({
      method: "github-oidc-azure",
      clientId,
      tenantId,
      idToken: source.idToken,
      azure,
    }));
    return "lacks" in result ? result : { ...result, from: [source.from, ...result.from] };
  },
  "azure-msi": ({ azure, values, chosen }) => {
    if (azure === undefined) return { lacks: NOT_AZURE };
    const { azure_use_msi: use, azure_client_id: id } = values;
    if (!chosen && !/^(true|1)$/i.test(use?.value ?? "")) return { lacks: "azure_use_msi is not true" };
    return { credential: { method: "azure-msi", azure, clientId: id?.value }, from: sourcesOf([use, id]) };
  },
  "azure-client-secret": ({ azure, values }) => {
    if (azure === undefined) return { lacks: NOT_AZURE };
    const names = ["azure_client_id", "azure_client_secret", "azure_tenant_id"] as const;
    return needing(values, names, ([clientId, clientSecret, tenantId]) => ({
      method: "azure-client-secret",
      clientId,
      clientSecret,
      tenantId,
      azure,
    }));
  },
  "azure-cli": ({ azure, azureCli, values: { azure_tenant_id: tenant } }) => {
    if (azure === undefined) return { lacks: NOT_AZURE };
    if ("lacks" in azureCli) return azureCli;
    return {
      credential: { method: "azure-cli", azure, tenantId: tenant?.value },
      from: [azureCli.path, ...sourcesOf([tenant])],
    };
  },
};

export const isAuthType = (text: string): text is AuthType => AUTH_TYPES.some((method) => method === text);

function needing<const N extends readonly AttributeName[]>(
  values: SourcedValues,
  names: N,
  build: (texts: { [K in keyof N]: string }) => Credential,
): MethodResult {
  const missing = names.filter((name) => values[name] === undefined);
  if (missing.length > 0)
    return { lacks: `${missing.join(" and ")} ${missing.length > 1 ? "are" : "is"} missing` };
  const texts = names.map((name) => values[name]?.value ?? "");
  return {
    credential: build(texts as { [K in keyof N]: string }),
    from: sourcesOf(names.map((name) => values[name])),
  };
}

type FoundIdToken = { readonly idToken: IdTokenSource; readonly from: string } | { readonly lacks: string };

function federated(
  method: "github-oidc" | "env-oidc" | "file-oidc",
  source: FoundIdToken,
  { values: { client_id: client, audience }, chosen }: MethodInput,
): MethodResult {
  if ("lacks" in source) return source;
  // Account-wide federation has no client ID, so only `auth_type` can choose it.
  if (client === undefined && !chosen) return { lacks: "client_id is missing" };
  return {
    credential: { method, idToken: source.idToken, clientId: client?.value, audience: audience?.value },
    from: [source.from, ...sourcesOf([client, audience])],
  };
}

/** The request token of a workflow goes to GitHub's own service only; for a workspace on this machine, to this machine too. */
function workflow({ context, host }: MethodInput): FoundIdToken {
  const variable = "ACTIONS_ID_TOKEN_REQUEST_URL";
  const url = fromEnv(context, variable);
  const token = fromEnv(context, "ACTIONS_ID_TOKEN_REQUEST_TOKEN");
  if (url === undefined || token === undefined)
    return { lacks: "the run is not a job of GitHub with `permissions: id-token: write`" };
  const here = isLoopback(new URL(host).hostname) && isLoopback(URL.parse(url)?.hostname ?? "");
  if (!here && !isWorkflowService(url, fromEnv(context, "GITHUB_SERVER_URL")))
    return { lacks: `${variable} is not an address of GitHub` };
  return { idToken: { from: "github", url, token }, from: variable };
}

function variable({ context, values }: MethodInput): FoundIdToken {
  const name = values.oidc_token_env?.value ?? "DATABRICKS_OIDC_TOKEN";
  const value = fromEnv(context, name);
  if (value === undefined) return { lacks: `${name} is not set` };
  return { idToken: { from: "value", value }, from: name };
}

function file({ values: { databricks_id_token_filepath: path } }: MethodInput): FoundIdToken {
  if (path === undefined) return { lacks: "databricks_id_token_filepath is missing" };
  return { idToken: { from: "file", path: path.value }, from: path.from };
}

function sourcesOf(values: readonly ({ readonly from: string } | undefined)[]): readonly string[] {
  return values.flatMap((value) => (value === undefined ? [] : [value.from]));
}
