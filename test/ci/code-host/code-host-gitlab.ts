// The routes of the stand-in that GitLab has.

import {
  type CodeHost,
  type HostRequest,
  type HostResponse,
  ME,
  type StoredComment,
  textField,
} from "./code-host.ts";

/** The user of the token has the ID 7. */
const authorOf = (login: string) => ({ id: login === ME ? 7 : 8, username: login });
const shown = ({ id, author, body }: StoredComment) => ({ id, author: authorOf(author), body });

export function gitlabRoutes(host: CodeHost, request: HostRequest): HostResponse | undefined {
  const { method, url, body } = request;
  if (!url.pathname.startsWith("/api/v4/")) return undefined;
  if (url.pathname === "/api/v4/user") return { status: 200, json: { id: 7, username: ME } };
  const path = url.pathname.replace("/api/v4/projects/42", "");
  const [, pull, id] = /^\/merge_requests\/(\d+)\/notes(?:\/(\d+))?$/.exec(path) ?? [];
  if (pull !== undefined && id === undefined) {
    if (method === "POST")
      return { status: 201, json: shown(host.addComment(Number(pull), textField(body, "body"))) };
    return host.page(request, host.comments.filter((one) => one.pull === Number(pull)).map(shown), "number");
  }
  if (id !== undefined) {
    const comment = host.comments.find((one) => one.id === Number(id));
    if (comment === undefined) return undefined;
    if (method === "DELETE") host.comments.splice(host.comments.indexOf(comment), 1);
    if (method === "PUT") comment.body = textField(body, "body");
    return method === "DELETE" ? { status: 204 } : { status: 200, json: shown(comment) };
  }
  if (path === "/merge_requests" && method === "POST")
    return host.propose({
      branch: textField(body, "source_branch"),
      base: textField(body, "target_branch"),
      title: textField(body, "title"),
      body: textField(body, "description"),
    });
  if (path === "/merge_requests") {
    const own = host.proposalOf(url.searchParams.get("source_branch"));
    const ofFork = { iid: 66, source_project_id: 999, target_project_id: 7 };
    const ofProject = own === undefined ? [] : [{ iid: own.id, source_project_id: 7, target_project_id: 7 }];
    return host.page(request, [ofFork, ...ofProject], "number");
  }
  const proposal = host.proposals.find((one) => path === `/merge_requests/${one.id}`);
  if (proposal !== undefined && method === "PUT") {
    proposal.open = textField(body, "state_event") !== "close";
    proposal.body = textField(body, "description") || proposal.body;
    proposal.title = textField(body, "title") || proposal.title;
    proposal.base = textField(body, "target_branch") || proposal.base;
    return { status: 200, json: {} };
  }
  return issues(host, request, path);
}

function issues(host: CodeHost, request: HostRequest, path: string): HostResponse | undefined {
  const { method, url, body } = request;
  const view = ({ id, author, title, body: description }: (typeof host.issues)[number]) => ({
    iid: id,
    author: authorOf(author),
    title,
    description,
  });
  if (path === "/issues" && method === "GET") {
    const open = host.issues.filter((one) => one.open && one.label === url.searchParams.get("labels"));
    return host.page(request, open.map(view), "number");
  }
  if (path === "/issues") {
    const made = { id: host.nextId(), author: ME, label: textField(body, "labels"), open: true, notes: [] };
    const issue = { ...made, title: textField(body, "title"), body: textField(body, "description") };
    host.issues.push(issue);
    return { status: 201, json: view(issue) };
  }
  const noted = host.issues.find(({ id }) => path === `/issues/${id}/notes`);
  if (noted !== undefined) {
    noted.notes.push(textField(body, "body"));
    return { status: 201, json: {} };
  }
  const issue = host.issues.find(({ id }) => path === `/issues/${id}`);
  if (issue === undefined) return undefined;
  if (textField(body, "state_event") === "close") issue.open = false;
  issue.title = textField(body, "title") || issue.title;
  issue.body = textField(body, "description") || issue.body;
  return { status: 200, json: view(issue) };
}
