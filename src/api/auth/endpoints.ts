// The address of a workspace, and the hosts that may receive credentials: a workspace's own, Microsoft's authorities, GitHub's, and this machine's.

import { failureOf } from "../../core/diagnostic.ts";
import { refusedWith } from "../../core/request-failure.ts";
import { shortened } from "../../core/sentences.ts";

const LOOPBACK = /^(localhost|[^/]+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])\.?$/;

/** Whether the host name of a URL is this machine's own. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}

/** Encrypted, or never leaving this machine. */
export function isPrivate(url: URL): boolean {
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname));
}

export interface AzureCloud {
  readonly name: "public" | "usgovernment" | "china";
  readonly hosts: string;
  readonly authority: string;
  readonly management: string;
}

export const AZURE_CLOUDS: readonly AzureCloud[] = [
  {
    name: "public",
    hosts: ".azuredatabricks.net",
    authority: "https://login.microsoftonline.com",
    management: "https://management.core.windows.net/",
  },
  {
    name: "usgovernment",
    hosts: ".databricks.azure.us",
    authority: "https://login.microsoftonline.us",
    management: "https://management.core.usgovcloudapi.net/",
  },
  {
    name: "china",
    hosts: ".databricks.azure.cn",
    authority: "https://login.chinacloudapi.cn",
    management: "https://management.core.chinacloudapi.cn/",
  },
];

/** The host name of a URL, without the dot that may end it. */
export const hostName = ({ hostname }: URL): string => hostname.replace(/\.$/, "");

/** The cloud of a workspace by its host name; undefined outside of Azure. */
export function azureCloudOf(host: string): AzureCloud | undefined {
  const name = hostName(new URL(host));
  return AZURE_CLOUDS.find(({ hosts }) => name.endsWith(hosts));
}

/** Link-local: no request to it leaves the machine's own host. */
export const METADATA_SERVICE = "http://169.254.169.254";

/** The name of the vendor's service in Microsoft Entra ID, the same in all clouds. */
export const AZURE_APPLICATION = "2ff814a6-3304-4ab8-85cb-cd0e6f879c1d";

/** A token endpoint that a document named. Throws Refused unless it is on the host that the document came from. */
export function endpointOnHost(origin: string, endpoint: string): string {
  const url = URL.parse(endpoint);
  if (url !== null && url.origin === origin && isPrivate(url)) return endpoint;
  const fault = url === null ? "that is not an absolute URL" : "on another host";
  throw refusedWith(0, "API_UNAUTHENTICATED", `${origin} names a token endpoint ${fault}`, {
    hint: "check that the host is the address of a workspace",
    cause: shortened(endpoint, 200),
  });
}

/** The service of GitHub that issues ID tokens to workflows, at GitHub or on a server of one's own. */
export function isWorkflowService(url: string, server: string | undefined): boolean {
  const { protocol, hostname } = URL.parse(url) ?? {};
  if (protocol !== "https:" || hostname === undefined) return false;
  if (hostname.endsWith(".actions.githubusercontent.com")) return true;
  const own = server === undefined ? undefined : URL.parse(server)?.hostname;
  if (own === undefined || own === "github.com") return false;
  return hostname === own || hostname.endsWith(`.${own}`);
}

export interface Host {
  /** Scheme, name and port: `https://ws.example.com`. */
  readonly origin: string;
  /** Path prefix before `/api`; empty, or starting with a slash. */
  readonly base: string;
}

const HINT = "write it as https://NAME, for example https://workspace.example.com";

/** Reads `https://name[:port][/base]`; a bare name means https. Throws Failure (API_UNREACHABLE) for anything else. */
export function parseHost(text: string): Host {
  const url = urlOf(text.trim());
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:") || url.hostname === "")
    throw failureOf("API_UNREACHABLE", "the host is not a valid https:// or http:// URL", { hint: HINT });
  if (url.username !== "" || url.password !== "")
    throw failureOf("API_UNREACHABLE", "the host contains a user name or password", {
      hint: "set the token in WORKSPACE_TOKEN or in a profile",
    });
  if (url.search !== "" || url.hash !== "")
    throw failureOf("API_UNREACHABLE", "the host contains a query or a fragment", { hint: HINT });
  return { origin: url.origin, base: url.pathname.replace(/\/+$/, "") };
}

function urlOf(text: string): URL | undefined {
  return URL.parse(text.includes("://") ? text : `https://${text}`) ?? undefined;
}
