// Network settings: the proxy, and additional trusted certificate authorities.

import { resolve } from "node:path";
import { isLoopback } from "../api/auth/endpoints.ts";
import type { ProxyRoute } from "../api/http/transport.ts";
import { failureOf } from "../core/diagnostic.ts";
import { readRegularFile } from "../core/regular-file.ts";
import type { ProcessContext, ProcessEnvironment } from "./environment.ts";
import { fileFailure } from "./files.ts";

export interface Network {
  /** For this host; absent where it is reached directly. */
  readonly proxy?: ProxyRoute;
  /** All authorities that are trusted, in PEM; absent where they are Node's own. */
  readonly authorities?: readonly string[];
}

/** Throws Failure with CLI_FILE or CLI_USAGE. */
export function networkOf(context: ProcessContext, caFile: string | undefined, origin: string): Network {
  return { proxy: proxyFor(context.env, origin), authorities: authoritiesOf(context, caFile) };
}

/** The lowercase name of a variable takes precedence, as in curl; an empty variable counts as unset. */
function proxyFor(env: ProcessEnvironment, origin: string): ProxyRoute | undefined {
  const { protocol, hostname } = new URL(origin);
  if (isLoopback(hostname)) return undefined;
  const variable = protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const variableValue = env[variable.toLowerCase()] || env[variable];
  if (variableValue === undefined || variableValue === "") return undefined;
  const address = addressOf(variableValue);
  // The message does not repeat the value, because it may contain a password.
  if (address === undefined)
    throw failureOf("CLI_USAGE", `${variable} is not a valid proxy URL`, {
      hint: "write it as http://name:port; in a password, write @ / ? # and % as %40 %2F %3F %23 and %25",
    });
  return { address, except: env.no_proxy || env.NO_PROXY || "" };
}

/** `http://name:port`; a name without a scheme is one of an HTTP proxy. */
function addressOf(text: string): string | undefined {
  const url = URL.parse(text.includes("://") ? text : `http://${text}`);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === "") return undefined;
  return isDecodable(url.username) && isDecodable(url.password) ? url.href : undefined;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** Node's own authorities and those of `--ca-file` or WORKSPACE_CA_FILE; undefined where no file is named. */
export function authoritiesOf(context: ProcessContext, caFile?: string): readonly string[] | undefined {
  const path = caFileOf(context, caFile);
  if (path === undefined) return undefined;
  const added = read(path).match(CERTIFICATE) ?? [];
  if (added.length === 0)
    throw failureOf("CLI_FILE", `the CA file ${path} contains no certificate`, {
      hint: "name a PEM file with one or more BEGIN CERTIFICATE blocks",
    });
  for (const [at, pem] of added.entries()) assertCertificate(pem, at, path);
  // Loaded only here: most runs need neither.
  return [...process.getBuiltinModule("node:tls").getCACertificates("default"), ...added];
}

/** The absolute path of `--ca-file` or WORKSPACE_CA_FILE. */
export function caFileOf(context: ProcessContext, caFile: string | undefined): string | undefined {
  const path = caFile ?? context.env.WORKSPACE_CA_FILE;
  return path === undefined || path === "" ? undefined : resolve(context.cwd, path);
}

function read(path: string): string {
  try {
    return readRegularFile(path).toString("latin1");
  } catch (problem) {
    throw fileFailure(`the CA file ${path} cannot be read`, problem);
  }
}

function assertCertificate(pem: string, at: number, path: string): void {
  try {
    new (process.getBuiltinModule("node:crypto").X509Certificate)(pem);
  } catch (problem) {
    throw fileFailure(`certificate ${at + 1} in the CA file ${path} is not valid`, problem);
  }
}
