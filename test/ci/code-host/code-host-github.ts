// The routes of the stand-in that GitHub has.

import {
  type CodeHost,
  type HostRequest,
  type HostResponse,
  ME,
  type StoredComment,
  textField,
} from "./code-host.ts";

const shown = ({ id, author, body }: StoredComment) => ({
  id,
  node_id: `node-${id}`,
  user: { login: author },
  body,
});

export function githubRoutes(host: CodeHost, request: HostRequest): HostResponse | undefined {
  const { method, url, body } = request;
  const path = url.pathname.replace(/^\/repos\/me\/infra/, "");
  if (url.pathname === "/graphql") return graphql(host, request);
  if (path === url.pathname) return undefined;
  if (textField(body, "body").length > 65_536)
    return { status: 422, json: { message: "Body is too long (maximum is 65536 characters)" } };
  const pull = /^\/issues\/(\d+)\/comments$/.exec(path)?.[1];
  if (pull !== undefined) {
    const issue = host.issues.find(({ id }) => id === Number(pull));
    if (method === "GET")
      return host.page(request, host.comments.filter((one) => one.pull === Number(pull)).map(shown), "link");
    issue?.notes.push(textField(body, "body"));
    if (issue !== undefined) return { status: 201, json: {} };
    return { status: 201, json: shown(host.addComment(Number(pull), textField(body, "body"))) };
  }
  const id = /^\/issues\/comments\/(\d+)$/.exec(path)?.[1];
  if (id !== undefined) {
    const comment = host.comments.find((one) => one.id === Number(id));
    if (comment === undefined) return undefined;
    if (method === "DELETE") host.comments.splice(host.comments.indexOf(comment), 1);
    if (method === "PATCH") comment.body = textField(body, "body");
    return method === "DELETE" ? { status: 204 } : { status: 200, json: shown(comment) };
  }
  if (path === "/pulls" && method === "POST")
    return host.propose({
      branch: textField(body, "head"),
      base: textField(body, "base"),
      title: textField(body, "title"),
      body: textField(body, "body"),
    });
  if (path === "/pulls") {
    const head = url.searchParams.get("head");
    const found = host.pulls.filter((one) => one.head === head);
    const own = host.proposalOf(head?.replace(/^me:/, "") ?? null);
    return host.page(
      request,
      [
        ...found.map(({ number, sha }) => ({ number, head: { sha } })),
        ...(own === undefined
          ? []
          : [
              { number: 66, head: { repo: { full_name: "me/fork" } } },
              { number: own.id, head: { repo: { full_name: "me/infra" } } },
            ]),
      ],
      "link",
    );
  }
  const proposal = host.proposals.find(({ id }) => path === `/pulls/${id}`);
  if (proposal !== undefined && method === "PATCH") {
    proposal.open = textField(body, "state") !== "closed";
    proposal.body = textField(body, "body") || proposal.body;
    proposal.title = textField(body, "title") || proposal.title;
    proposal.base = textField(body, "base") || proposal.base;
    return { status: 200, json: {} };
  }
  return issues(host, request, path);
}

function issues(host: CodeHost, request: HostRequest, path: string): HostResponse | undefined {
  const { method, url, body } = request;
  const view = ({ id, author, title, body: text }: (typeof host.issues)[number]) => ({
    number: id,
    user: { login: author },
    title,
    body: text,
  });
  if (path === "/issues" && method === "GET") {
    const label = url.searchParams.get("labels");
    const open = host.issues.filter((one) => one.open && one.label === label);
    return host.page(request, open.map(view), "link");
  }
  if (path === "/issues") {
    const [label = ""] = (Array.isArray(body) ? undefined : (body as { labels?: string[] }).labels) ?? [];
    const made = { id: host.nextId(), author: ME, label, open: true, notes: [] };
    const issue = { ...made, title: textField(body, "title"), body: textField(body, "body") };
    host.issues.push(issue);
    return { status: 201, json: view(issue) };
  }
  const issue = host.issues.find(({ id }) => path === `/issues/${id}`);
  if (issue === undefined || method !== "PATCH") return undefined;
  if (textField(body, "state") === "closed") issue.open = false;
  issue.title = textField(body, "title") || issue.title;
  issue.body = textField(body, "body") || issue.body;
  return { status: 200, json: view(issue) };
}

function graphql(host: CodeHost, { body }: HostRequest): HostResponse {
  const { query = "", variables } = body as { query?: string; variables?: { id?: string } };
  const comment = host.comments.find(({ id }) => `node-${id}` === variables?.id);
  if (comment === undefined)
    return { status: 200, json: { errors: [{ message: "Could not resolve to a node" }] } };
  comment.collapsed = query.includes("{ minimizeComment(");
  return { status: 200, json: { data: {} } };
}
