// The routes of the stand-in that Azure DevOps has.

import {
  type CodeHost,
  type HostRequest,
  type HostResponse,
  ME,
  type StoredComment,
  textField,
} from "./code-host.ts";

const authorOf = (login: string) => ({ id: login === ME ? "id-me" : "id-other", displayName: login });
const shown = ({ id, author, body, collapsed }: StoredComment) => ({
  id,
  ...(collapsed ? { status: "closed" } : {}),
  comments: [{ id: 1, author: authorOf(author), content: body, commentType: "text" }],
});
const STATES = [
  { name: "To Do", category: "Proposed" },
  { name: "Done", category: "Completed" },
];

export function azureRoutes(host: CodeHost, request: HostRequest): HostResponse | undefined {
  const { method, url, body } = request;
  if (url.pathname === "/org/_apis/connectionData")
    return { status: 200, json: { authenticatedUser: authorOf(ME) } };
  const [, path] = /^\/org\/etl\/_apis(\/.*)$/.exec(url.pathname) ?? [];
  if (path === undefined) return undefined;
  const [, pull, thread, comment] =
    /^\/git\/repositories\/repo-1\/pullRequests\/(\d+)\/threads(?:\/(\d+))?(\/comments\/1)?$/.exec(path) ??
    [];
  if (pull === undefined)
    return path.startsWith("/git/repositories/repo-1/pullrequests")
      ? proposals(host, request, path)
      : workItems(host, request, path);
  if (thread === undefined && method === "GET")
    return {
      status: 200,
      json: { value: host.comments.filter((one) => one.pull === Number(pull)).map(shown) },
    };
  if (thread === undefined) {
    const [first] = (body as { comments?: { content: string }[] }).comments ?? [];
    return { status: 200, json: shown(host.addComment(Number(pull), first?.content ?? "")) };
  }
  const found = host.comments.find((one) => one.id === Number(thread));
  if (found === undefined) return undefined;
  if (method === "DELETE") host.comments.splice(host.comments.indexOf(found), 1);
  if (method === "PATCH" && comment !== undefined) found.body = textField(body, "content");
  if (method === "PATCH" && comment === undefined) found.collapsed = textField(body, "status") === "closed";
  return { status: 200, json: shown(found) };
}

function proposals(
  host: CodeHost,
  { method, url, body }: HostRequest,
  path: string,
): HostResponse | undefined {
  const branchIn = (ref: string): string => ref.replace("refs/heads/", "");
  if (method === "POST")
    return host.propose({
      branch: branchIn(textField(body, "sourceRefName")),
      base: branchIn(textField(body, "targetRefName")),
      title: textField(body, "title"),
      body: textField(body, "description"),
    });
  const id = /\/pullrequests\/(\d+)$/.exec(path)?.[1];
  if (id === undefined) {
    const own = host.proposalOf(branchIn(url.searchParams.get("searchCriteria.sourceRefName") ?? ""));
    const ofFork = { pullRequestId: 66, forkSource: { name: "refs/heads/main" } };
    return {
      status: 200,
      json: {
        value: [
          ofFork,
          ...(own === undefined ? [] : [{ pullRequestId: own.id, targetRefName: `refs/heads/${own.base}` }]),
        ],
      },
    };
  }
  const proposal = host.proposals.find((one) => one.id === Number(id));
  if (proposal === undefined) return undefined;
  const target = branchIn(textField(body, "targetRefName"));
  // A service that moves no pull request to another branch refuses the field; such a move is the only use of it.
  if (target === proposal.base) return { status: 400, json: { message: "the target branch is the same" } };
  proposal.open = textField(body, "status") !== "abandoned";
  proposal.body = textField(body, "description") || proposal.body;
  proposal.title = textField(body, "title") || proposal.title;
  proposal.base = target || proposal.base;
  return { status: 200, json: {} };
}

function workItems(
  host: CodeHost,
  { method, url, body }: HostRequest,
  path: string,
): HostResponse | undefined {
  const view = ({ id, author, title, body: text, open }: (typeof host.issues)[number]) => ({
    id,
    fields: {
      "System.Title": title,
      "System.Description": text,
      "System.State": open ? "To Do" : "Done",
      "System.CreatedBy": authorOf(author),
    },
  });
  if (path === "/wit/wiql")
    return {
      status: 200,
      json: {
        workItems: host.issues
          .filter(({ label }) => textField(body, "query").includes(`'${label}'`))
          .map(({ id }) => ({ id })),
      },
    };
  if (path === "/wit/workitemtypes/Issue/states") return { status: 200, json: { value: STATES } };
  if (path === "/wit/workitems" && method === "GET") {
    const ids = (url.searchParams.get("ids") ?? "").split(",").map(Number);
    return { status: 200, json: { value: host.issues.filter(({ id }) => ids.includes(id)).map(view) } };
  }
  const fields = Object.fromEntries(
    (Array.isArray(body) ? body : []).map((one) => [
      String(one.path).replace("/fields/", ""),
      String(one.value),
    ]),
  );
  if (path === "/wit/workitems/$Issue" && method === "POST") {
    const made = { id: host.nextId(), author: ME, open: true, notes: [], title: "", body: "", label: "" };
    host.issues.push({
      ...made,
      title: fields["System.Title"] ?? "",
      body: fields["System.Description"] ?? "",
      label: fields["System.Tags"] ?? "",
    });
    return { status: 200, json: { id: made.id } };
  }
  const issue = host.issues.find(({ id }) => path === `/wit/workitems/${id}`);
  if (issue === undefined || method !== "PATCH") return undefined;
  issue.title = fields["System.Title"] ?? issue.title;
  issue.body = fields["System.Description"] ?? issue.body;
  if (fields["System.History"] !== undefined) issue.notes.push(fields["System.History"]);
  if (fields["System.State"] === "Done") issue.open = false;
  return { status: 200, json: view(issue) };
}
