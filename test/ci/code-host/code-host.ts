// A small stand-in for the REST APIs of GitHub, GitLab, and Azure DevOps: comments, issues, pages, and refusals on request.

import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { azureRoutes } from "./code-host-azure.ts";
import { githubRoutes } from "./code-host-github.ts";
import { gitlabRoutes } from "./code-host-gitlab.ts";

export interface StoredComment {
  readonly id: number;
  readonly pull: number;
  readonly author: string;
  body: string;
  collapsed: boolean;
}

export interface StoredIssue {
  readonly id: number;
  readonly author: string;
  title: string;
  body: string;
  label: string;
  open: boolean;
  readonly notes: string[];
}

/** A pull request that the pipeline opened. */
export interface StoredProposal {
  readonly id: number;
  readonly branch: string;
  base: string;
  title: string;
  body: string;
  open: boolean;
}

export interface HostRequest {
  readonly method: string;
  readonly url: URL;
  readonly body: Readonly<Record<string, unknown>> | readonly Readonly<Record<string, unknown>>[];
}

export interface HostResponse {
  readonly status: number;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A refusal instead of an answer, for the next requests that match. */
export interface Fault {
  readonly match: RegExp;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** What the answer says. GraphQL answers 200 to what it refuses. */
  readonly message?: string;
  times: number;
  /** The request is carried out, and then its answer is lost. */
  readonly after?: boolean;
}

/** The user of the token. */
export const ME = "github-actions[bot]";
export const TOKEN = "api-token";

export class CodeHost {
  readonly comments: StoredComment[] = [];
  readonly issues: StoredIssue[] = [];
  readonly pulls: { readonly number: number; readonly head: string; readonly sha: string }[] = [];
  readonly proposals: StoredProposal[] = [];
  readonly faults: Fault[] = [];
  /** Method and path of each request that arrived. */
  readonly requests: string[] = [];
  /** Entries on one page, whatever the client asks for. */
  pageSize = 100;
  /** Runs before a request is answered. */
  before: (request: HostRequest) => void = () => {};
  url = "";
  #server: Server | undefined;
  #last = 1000;

  static async start(): Promise<CodeHost> {
    const host = new CodeHost();
    const server = createServer((request, response) => {
      void host.#answer(request).then(({ status, json, headers }) => {
        response.writeHead(status, { "content-type": "application/json", ...headers });
        response.end(json === undefined ? "" : JSON.stringify(json));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    host.#server = server;
    host.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return host;
  }

  async close(): Promise<void> {
    await new Promise((resolve) => this.#server?.close(resolve) ?? resolve(undefined));
  }

  nextId(): number {
    this.#last += 1;
    return this.#last;
  }

  addComment(pull: number, body: string, author = ME): StoredComment {
    const comment = { id: this.nextId(), pull, author, body, collapsed: false };
    this.comments.push(comment);
    return comment;
  }

  /** The open one of a branch. */
  proposalOf(branch: string | null): StoredProposal | undefined {
    return this.proposals.find((proposal) => proposal.open && proposal.branch === branch);
  }

  /** Every platform refuses a second open one of the same branch. */
  propose(proposal: Omit<StoredProposal, "id" | "open">): HostResponse {
    if (this.proposalOf(proposal.branch) !== undefined)
      return { status: 409, json: { message: "already exists" } };
    this.proposals.push({ ...proposal, id: this.nextId(), open: true });
    return { status: 201, json: {} };
  }

  /** One page, with the header by which the platform names the next one. */
  page(request: HostRequest, all: readonly unknown[], style: "link" | "number"): HostResponse {
    const page = Number(request.url.searchParams.get("page") ?? 1);
    const size = Math.min(this.pageSize, Number(request.url.searchParams.get("per_page") ?? 20));
    const more = all.length > page * size;
    const next = new URL(request.url);
    next.searchParams.set("page", String(page + 1));
    const headers: Record<string, string> =
      style === "number"
        ? { "x-next-page": more ? String(page + 1) : "" }
        : more
          ? { link: `<${next.href}>; rel="next", <${next.href}>; rel="last"` }
          : {};
    return { status: 200, json: all.slice((page - 1) * size, page * size), headers };
  }

  async #answer(incoming: IncomingMessage): Promise<HostResponse> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const url = new URL(incoming.url ?? "/", this.url);
    const method = incoming.method ?? "GET";
    const request = { method, url, body: text === "" ? {} : JSON.parse(text) };
    const name = `${method} ${url.pathname}`;
    this.requests.push(name);
    this.before(request);
    const { authorization, "private-token": privateToken } = incoming.headers;
    if (authorization !== `Bearer ${TOKEN}` && privateToken !== TOKEN)
      return { status: 401, json: { message: "Bad credentials" } };
    const fault = this.faults.find((one) => one.times > 0 && one.match.test(name));
    if (fault !== undefined) {
      fault.times -= 1;
      if (fault.after === true) this.#routed(request);
      const message = fault.message ?? "refused by the test";
      const json = { message, ...(fault.status === 200 ? { errors: [{ message }] } : {}) };
      return { status: fault.status, json, headers: fault.headers ?? {} };
    }
    return this.#routed(request);
  }

  #routed(request: HostRequest): HostResponse {
    const routes = [githubRoutes, gitlabRoutes, azureRoutes];
    for (const route of routes) {
      const answer = route(this, request);
      if (answer !== undefined) return answer;
    }
    return { status: 404, json: { message: "Not Found" } };
  }
}

/** A string field of a body. */
export const textField = (body: HostRequest["body"], name: string): string =>
  Array.isArray(body) ? "" : String((body as Readonly<Record<string, unknown>>)[name] ?? "");
