// Chooses the sign-in of a run by the rules of the vendor's tools: auth_type first, then the methods in order.

import { AUTH_TYPES, type AuthType, type Credential } from "../../api/auth/credential.ts";
import { type Diagnostic, error, Failure, thrownText } from "../../core/diagnostic.ts";
import type { ProcessContext } from "../environment.ts";
import { profileExposure } from "../profile.ts";
import { azureEndpoints, findAzureCli } from "./azure.ts";
import { isAuthType, METHODS, type MethodResult, NO_AZURE_CLI } from "./methods.ts";
import {
  ATTRIBUTE_NAMES,
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

export interface ChoiceInput {
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
  const seen = new Set(choice.skipped.map(({ what }) => what));
  const isUsed = (values: SourcedValues): boolean =>
    Object.values(values).some(({ from }) => choice.from.includes(from));
  try {
    return sources
      .flatMap(({ read }) => read().sources)
      .filter(({ name, values }) => hasCredentials(values) && !seen.has(name) && !isUsed(values))
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
      const found = read();
      const sources = this.#usable(family, found.sources);
      const pinned = sources.findIndex(({ values }) => values.auth_type !== undefined);
      const pin = sources[pinned]?.values.auth_type;
      // The default profile chooses no method for variables, which come before it.
      const free = pin === undefined ? sources : found.named ? [] : sources.slice(0, pinned);
      const choice = this.#fromSources(free, found.named);
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
    const withCredentials = sources.filter((one) => hasCredentials(one.values));
    const settings = settingsIn(merged(sources));
    for (const group of named ? [sources] : withCredentials.map((one) => [one])) {
      const values = { ...settings, ...merged(group) };
      const kinds = kindsIn(values);
      if (kinds.size > 1) throw new Failure(conflict(values));
      const where = group.map(({ name }) => name).join(" and ");
      for (const kind of kinds)
        if (kind === "basic" || kind === "google")
          this.skipped.push({ what: `${kind} from ${where}`, why: "this method is not supported" });
      for (const method of AUTH_TYPES.filter((one) => concerns(one, kinds))) {
        const result = this.#attempt(method, values, false);
        if ("credential" in result) return { ...result, warnings: warningsOf(group) };
        this.skipped.push({ what: `${method} from ${where}`, why: result.lacks });
      }
    }
    return undefined;
  }

  #attempt(method: AuthType, values: SourcedValues, chosen: boolean): MethodResult {
    const { context, host, untrusted, azure: said } = this.#input;
    const azure = azureEndpoints(context, host, values, said || (chosen && method.includes("azure")));
    const isTried = method === "azure-cli" && azure !== undefined && !untrusted;
    const path = isTried ? findAzureCli(context) : undefined;
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
  const shown = JSON.stringify(method.slice(0, 50));
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
