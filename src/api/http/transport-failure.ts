// Derives the outcome of a request from a transport error: whether anything was sent, and why no complete response arrived.

import type { Code } from "../../core/codes.ts";
import { isOutOfFiles, TOO_MANY_FILES } from "../../core/request-failure.ts";

/** Why no complete answer came. `no-files`: this process has too many open files for a connection. `invalid`: the request could not be built. `protocol`: the peer does not speak HTTP. */
export type TransportFailureReason =
  | "no-files"
  | "refused"
  | "unknown-host"
  | "untrusted"
  | "proxy"
  | "invalid"
  | "timeout"
  | "lost"
  | "too-large"
  | "protocol";

export interface TransportFailure {
  readonly why: TransportFailureReason;
  /** False only where the request certainly never left this machine. */
  readonly sent: boolean;
  /** The system's own words. */
  readonly text: string;
  /** Name and port of the proxy, if the connection to it failed. */
  readonly proxy?: string;
}

interface ErrorShape {
  readonly proxy?: unknown;
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly name?: unknown;
  readonly message?: unknown;
  readonly errors?: unknown;
}

const UNTRUSTED = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|HOSTNAME_MISMATCH)/;
/** A TLS handshake that failed, mostly with something that does not speak TLS; other TLS errors may come after it. */
const NO_TLS =
  /WRONG_VERSION_NUMBER|wrong version number|PACKET_LENGTH_TOO_LONG|packet length too long|UNSUPPORTED_PROTOCOL|HANDSHAKE_FAILURE|handshake failure/;

/** Nothing is sent before a tunnel is open, and a proxy that requires a password forwards nothing. */
const PROXY_REFUSAL = /^Proxy response \(\d+\) !== 200|^Proxy Authentication Required/;

export function transportFailure(problem: unknown): TransportFailure {
  const shape: ErrorShape = typeof problem === "object" && problem !== null ? problem : {};
  const code = typeof shape.code === "string" ? shape.code : "";
  const text =
    typeof shape.message === "string" && shape.message !== "" ? shape.message : code || "no answer";
  const proxy = typeof shape.proxy === "string" ? { proxy: shape.proxy } : {};
  const unsent = (why: TransportFailureReason): TransportFailure => ({ why, sent: false, text, ...proxy });
  const sent = (why: TransportFailureReason): TransportFailure => ({ why, sent: true, text });

  if (isOutOfFiles(problem) || (Array.isArray(shape.errors) && shape.errors.some(isOutOfFiles)))
    return unsent("no-files");
  if (code === "ENOTFOUND") return unsent("unknown-host");
  if (code.startsWith("UND_ERR_PRX_") || PROXY_REFUSAL.test(text)) return unsent("proxy");
  if (UNTRUSTED.test(code)) return unsent("untrusted");
  if (code === "UND_ERR_INVALID_ARG" || code === "ERR_INVALID_ARG_TYPE") return unsent("invalid");
  if (code === "UND_ERR_CONNECT_TIMEOUT" || neverConnected(shape)) return unsent("refused");
  if (NO_TLS.test(code) || (code === "EPROTO" && NO_TLS.test(text))) return unsent("protocol");
  if (shape.name === "HTTPParserError" || code.startsWith("HPE_")) return sent("protocol");
  if (code === "UND_ERR_RES_EXCEEDED_MAX_SIZE") return sent("too-large");
  if (shape.name === "TimeoutError" || code === "ETIMEDOUT" || /^UND_ERR_(HEADERS|BODY)_TIMEOUT$/.test(code))
    return sent("timeout");
  return sent("lost");
}

/** A name with several addresses fails with one error for each. */
function neverConnected(shape: ErrorShape): boolean {
  if (shape.syscall === "connect" || shape.syscall === "getaddrinfo") return true;
  return Array.isArray(shape.errors) && shape.errors.length > 0 && shape.errors.every(neverConnected);
}

/** A failure in words, for the origin that the request was for. */
export function describeFailure(
  { why, proxy }: TransportFailure,
  origin: string,
): { readonly code: Code; readonly what: string; readonly hint: string } {
  const [code, what, hint] = BREAKS[why];
  if (proxy !== undefined && (why === "refused" || why === "unknown-host"))
    return {
      code,
      what: `${what.replace("HOST", `the proxy ${proxy}`)}, which is used for ${origin}`,
      hint: PROXY,
    };
  return { code, what: what.replace("HOST", () => origin), hint };
}

const PROXY = "check HTTPS_PROXY (or HTTP_PROXY), its user name and password, and NO_PROXY";
const NETWORK = "check the host, the network, and any firewall in between";

const BREAKS: Readonly<Record<TransportFailureReason, readonly [Code, string, string]>> = {
  "no-files": TOO_MANY_FILES,
  refused: ["API_UNREACHABLE", "HOST cannot be reached", NETWORK],
  "unknown-host": [
    "API_UNREACHABLE",
    "the host name of HOST cannot be resolved",
    "check the spelling of the host name",
  ],
  untrusted: [
    "API_UNREACHABLE",
    "the certificate of HOST is not trusted",
    "pass the CA certificate that signed it with --ca-file or WORKSPACE_CA_FILE",
  ],
  proxy: ["API_UNREACHABLE", "the proxy cannot connect to HOST", PROXY],
  invalid: ["API_UNREACHABLE", "the request to HOST is not valid", "check the host and the token"],
  timeout: ["API_TIMEOUT", "HOST did not answer in time", "try again later"],
  lost: ["API_UNREACHABLE", "HOST closed the connection before its answer was complete", NETWORK],
  "too-large": [
    "API_PROTOCOL",
    "the answer of HOST exceeds the size limit",
    "check the host URL and any proxy in between",
  ],
  protocol: [
    "API_PROTOCOL",
    "HOST does not use the protocol of its URL",
    "check the scheme (http:// or https://) and the port",
  ],
};
