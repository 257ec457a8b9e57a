// Posts a run's message to a webhook: signed, with bounded retries. Never follows a redirect, never throws.

import { createHmac, randomUUID } from "node:crypto";
import { isLoopback } from "../../api/auth/endpoints.ts";
import { retryAfterMs } from "../../api/http/retry-after.ts";
import { httpTransport } from "../../api/http/transport.ts";
import type { Network } from "../../config/network.ts";
import { type Diagnostic, errorCode, failureOf, warning } from "../../core/diagnostic.ts";

const ATTEMPTS = 3;
const TIMEOUT_MS = 10_000;
/** Before the first repetition; each further one waits four times as long. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;
const ANSWER_BYTES = 64 * 1024;

interface WebhookMessage {
  readonly url: URL;
  readonly body: string;
  /** Without it the message is not signed. */
  readonly secret?: string;
  readonly network: Network;
}

/** Throws Failure with CLI_USAGE. The path of such a URL is often a secret, so messages name its origin at most. */
export function webhookUrl(text: string): URL {
  const url = URL.parse(text);
  const hint = "write it as https://NAME/PATH; http:// is for this machine only";
  if (url === null || !/^https?:$/.test(url.protocol))
    throw failureOf("CLI_USAGE", "--webhook is not an HTTP URL", { hint });
  if (url.protocol === "http:" && !isLoopback(url.hostname))
    throw failureOf("CLI_USAGE", `--webhook must use https:// to reach ${url.hostname}`, { hint });
  if (url.username !== "" || url.password !== "")
    throw failureOf("CLI_USAGE", "--webhook must not contain a user name or password", {
      hint: "sign the messages instead: set WORKSPACE_WEBHOOK_SECRET",
    });
  return url;
}

/** A warning if the message could not be delivered. */
export async function postWebhook(message: WebhookMessage): Promise<readonly Diagnostic[]> {
  const { url, body, secret, network } = message;
  const { transport, close } = httpTransport({
    connections: 1,
    maxBytes: ANSWER_BYTES,
    dropsBody: true,
    connectTimeoutMs: TIMEOUT_MS,
    ...network,
  });
  const delivery = randomUUID();
  try {
    for (let attempt = 1; ; attempt++) {
      const sent = await transport({
        method: "POST",
        origin: url.origin,
        path: url.pathname + url.search,
        headers: { "content-type": "application/json", ...signature(body, delivery, secret) },
        body,
        timeoutMs: TIMEOUT_MS,
      }).catch((problem: unknown) => problem);
      const { failure, retryMs } = judged(sent, FIRST_WAIT_MS * 4 ** (attempt - 1));
      if (failure === undefined) return [];
      if (retryMs === undefined || attempt === ATTEMPTS) {
        const message = `the webhook at ${url.origin} did not accept the message`;
        const cause = `${failure} (attempt ${attempt} of ${ATTEMPTS})`;
        const hint = "check the URL, the proxy, and the receiver; the result of the run is not affected";
        return [warning("CLI_WEBHOOK", message, { cause, hint })];
      }
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  } finally {
    await close().catch(() => undefined);
  }
}

/** The receiver computes the same and refuses old timestamps, so that a message cannot be replayed. */
function signature(body: string, delivery: string, secret: string | undefined): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const headers = { "x-workspace-delivery": delivery, "x-workspace-timestamp": timestamp };
  if (secret === undefined) return headers;
  const mac = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
  return { ...headers, "x-workspace-signature": `v1=${mac}` };
}

interface Judged {
  readonly failure?: string;
  /** Absent if another attempt would not help. */
  readonly retryMs?: number;
}

function judged(sent: unknown, waitMs: number): Judged {
  if (sent === null || typeof sent !== "object" || !("status" in sent)) {
    // Never the message of the error: it may repeat the URL.
    const failure = sent instanceof Error ? (errorCode(sent) ?? sent.name) : "no response";
    return { failure, retryMs: waitMs };
  }
  const { status, headers } = sent as { status: number; headers: Readonly<Record<string, string>> };
  if (status >= 200 && status < 300) return {};
  if (status >= 300 && status < 400) return { failure: `status ${status}: redirects are not followed` };
  if (status !== 429 && status < 500) return { failure: `status ${status}` };
  const askedMs = retryAfterMs(headers, Date.now()) ?? 0;
  return { failure: `status ${status}`, retryMs: Math.min(Math.max(askedMs, waitMs), LONGEST_WAIT_MS) };
}
