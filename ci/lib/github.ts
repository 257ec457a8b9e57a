// Comments, issues, and pull requests of GitHub.

import type { PullRequests } from "./accept.ts";
import type { Comments, Entry } from "./comment.ts";
import { Api, ApiError, type ApiOptions, isRecord } from "./http.ts";
import { DRIFT_LABEL, type Issues } from "./issue.ts";

export interface GitHubSettings {
  readonly api: string;
  readonly graphql: string;
  /** owner/name */
  readonly repository: string;
  readonly token: string;
  /** Login of the token's user: others can write a marker, too. */
  readonly author: string;
  readonly log: (line: string) => void;
  readonly sleep?: ApiOptions["sleep"];
}

function apiOf({ api, token, log, sleep }: GitHubSettings, right: string): Api {
  return new Api({
    base: api,
    right,
    log,
    ...(sleep === undefined ? {} : { sleep }),
    headers: {
      accept: "application/vnd.github+json",
      authorization: `Bearer ${token}`,
      "x-github-api-version": "2022-11-28",
    },
  });
}

/** Comments of pull request `number`. */
export function githubComments(settings: GitHubSettings, number: number): Comments {
  const api = apiOf(settings, "pull-requests: write");
  const repository = `/repos/${settings.repository}`;
  const nodes = new Map<string, string>();
  const entry = (value: unknown): Entry => {
    const { id, node_id: node, body } = isRecord(value) ? value : {};
    if (typeof node === "string") nodes.set(String(id), node);
    return { id: String(id), body: typeof body === "string" ? body : "" };
  };
  return {
    list: async () =>
      (await api.list(`${repository}/issues/${number}/comments?per_page=100`))
        .filter((one) => isRecord(one) && isRecord(one.user) && one.user.login === settings.author)
        .map(entry),
    read: async (id) => {
      try {
        return entry((await api.send(`${repository}/issues/comments/${id}`)).json);
      } catch (failure) {
        if (failure instanceof ApiError && failure.status === 404) return undefined;
        throw failure;
      }
    },
    create: async (body) => {
      const path = `${repository}/issues/${number}/comments`;
      const { json } = await api.send(path, { method: "POST", body: { body } });
      const made = entry(json);
      const other = otherAuthor(json, settings.author);
      if (other === undefined) return made;
      await gone(api.send(`${repository}/issues/comments/${made.id}`, { method: "DELETE" }));
      throw other;
    },
    update: async (id, body) => {
      await api.send(`${repository}/issues/comments/${id}`, { method: "PATCH", body: { body } });
    },
    remove: async (id) => {
      await gone(api.send(`${repository}/issues/comments/${id}`, { method: "DELETE" }));
    },
    collapse: async (id, collapsed) => {
      const node = nodes.get(id);
      if (node === undefined) throw new ApiError(0, `comment ${id} has no node ID`);
      const mutation = collapsed
        ? "mutation($id: ID!) { minimizeComment(input: {subjectId: $id, classifier: RESOLVED}) { clientMutationId } }"
        : "mutation($id: ID!) { unminimizeComment(input: {subjectId: $id}) { clientMutationId } }";
      const body = { query: mutation, variables: { id: node } };
      const { json } = await api.send(settings.graphql, { method: "POST", body, repeatable: true });
      // GraphQL answers 200 to what it refuses. The comment has its new text, so the run does not fail.
      const [first] = isRecord(json) && Array.isArray(json.errors) ? json.errors : [];
      if (isRecord(first))
        settings.log(`warning: GitHub did not minimize the comment: ${String(first.message)}`);
    },
  };
}

export function githubIssues(settings: GitHubSettings): Issues {
  const api = apiOf(settings, "issues: write");
  const issues = `/repos/${settings.repository}/issues`;
  const entry = (value: unknown): Entry => {
    const { number, body } = isRecord(value) ? value : {};
    return { id: String(number), body: typeof body === "string" ? body : "" };
  };
  return {
    list: async () =>
      (await api.list(`${issues}?labels=${DRIFT_LABEL}&state=open&per_page=100`))
        .filter((one) => isRecord(one) && isRecord(one.user) && one.user.login === settings.author)
        .map(entry),
    create: async (title, body) => {
      const { json } = await api.send(issues, {
        method: "POST",
        body: { title, body, labels: [DRIFT_LABEL] },
      });
      const made = entry(json);
      const other = otherAuthor(json, settings.author);
      if (other === undefined) return made;
      await api.send(`${issues}/${made.id}`, { method: "PATCH", body: { state: "closed" } });
      throw other;
    },
    update: async (id, title, body) => {
      await api.send(`${issues}/${id}`, { method: "PATCH", body: { title, body } });
    },
    note: async (id, body) => {
      await api.send(`${issues}/${id}/comments`, { method: "POST", body: { body } });
    },
    close: async (id) => {
      await api.send(`${issues}/${id}`, {
        method: "PATCH",
        body: { state: "closed", state_reason: "completed" },
      });
    },
  };
}

function repositoryOf(head: unknown): unknown {
  return isRecord(head) && isRecord(head.repo) ? head.repo.full_name : undefined;
}

export function githubPullRequests(settings: GitHubSettings): PullRequests {
  const api = apiOf(settings, "pull-requests: write");
  const pulls = `/repos/${settings.repository}/pulls`;
  const [owner] = settings.repository.split("/");
  return {
    find: async (branch) => {
      const head = encodeURIComponent(`${owner}:${branch}`);
      const open = await api.list(`${pulls}?state=open&head=${head}&per_page=100`);
      // A fork of the same owner can have a branch of this name, too.
      const own = open.filter(isRecord).find((pull) => repositoryOf(pull.head) === settings.repository);
      return own === undefined ? undefined : String(own.number);
    },
    create: async ({ branch: head, base, title, body }) => {
      await api.send(pulls, { method: "POST", body: { head, base, title, body } });
    },
    update: async (id, { base, title, body }) => {
      await api.send(`${pulls}/${id}`, { method: "PATCH", body: { base, title, body } });
    },
    close: async (id) => {
      await api.send(`${pulls}/${id}`, { method: "PATCH", body: { state: "closed" } });
    },
  };
}

/**
 * The open pull request whose head is `sha` on `branch` of `owner`. A `workflow_run` event of a fork names no pull request, and a
 * number from the fork's own run would be the fork's claim.
 */
export async function githubPullRequest(
  settings: GitHubSettings,
  { owner, branch, sha }: { readonly owner: string; readonly branch: string; readonly sha: string },
): Promise<number | undefined> {
  const head = encodeURIComponent(`${owner}:${branch}`);
  const api = apiOf(settings, "pull-requests: read");
  const found = (
    await api.list(`/repos/${settings.repository}/pulls?state=open&head=${head}&per_page=100`)
  ).find((one) => isRecord(one) && isRecord(one.head) && one.head.sha === sha);
  return isRecord(found) && typeof found.number === "number" ? found.number : undefined;
}

/** With a wrong author, no run would find what an earlier run wrote, and each would write another one. */
function otherAuthor(made: unknown, author: string): ApiError | undefined {
  const login = isRecord(made) && isRecord(made.user) ? made.user.login : undefined;
  if (login === author) return undefined;
  return new ApiError(
    400,
    `the API token belongs to "${login}", not to "${author}": set the input author to it`,
  );
}

/** Removing what was removed is done. */
async function gone(sent: Promise<unknown>): Promise<void> {
  try {
    await sent;
  } catch (failure) {
    if (!(failure instanceof ApiError && failure.status === 404)) throw failure;
  }
}
