// Comments (notes) and issues of GitLab.

import type { PullRequests } from "./accept.ts";
import type { Comments, Entry } from "./comment.ts";
import { Api, ApiError, type ApiOptions, isRecord } from "./http.ts";
import { DRIFT_LABEL, type Issues } from "./issue.ts";

export interface GitLabSettings {
  /** CI_API_V4_URL */
  readonly api: string;
  readonly project: string;
  readonly token: string;
  readonly log: (line: string) => void;
  readonly sleep?: ApiOptions["sleep"];
}

function apiOf({ api, token, log, sleep }: GitLabSettings): Api {
  return new Api({
    base: api,
    right: "api scope, role Reporter",
    log,
    ...(sleep === undefined ? {} : { sleep }),
    headers: { "private-token": token },
  });
}

/** Keeps what the token's own user wrote. */
async function own(api: Api, listed: readonly unknown[]): Promise<readonly unknown[]> {
  const { json } = await api.send("/user");
  const id = isRecord(json) ? json.id : undefined;
  if (id === undefined) throw new ApiError(200, "GitLab does not name the user of this token");
  return listed.filter((one) => isRecord(one) && isRecord(one.author) && one.author.id === id);
}

/** Comments of merge request `iid`. A note cannot be collapsed: the caller writes a short text instead. */
export function gitlabComments(settings: GitLabSettings, iid: number): Comments {
  const api = apiOf(settings);
  const notes = `/projects/${encodeURIComponent(settings.project)}/merge_requests/${iid}/notes`;
  const entry = (value: unknown): Entry => {
    const { id, body } = isRecord(value) ? value : {};
    return { id: String(id), body: typeof body === "string" ? body : "" };
  };
  return {
    list: async () => (await own(api, await api.list(`${notes}?per_page=100&sort=asc`))).map(entry),
    read: async (id) => {
      try {
        return entry((await api.send(`${notes}/${id}`)).json);
      } catch (failure) {
        if (failure instanceof ApiError && failure.status === 404) return undefined;
        throw failure;
      }
    },
    create: async (body) => entry((await api.send(notes, { method: "POST", body: { body } })).json),
    update: async (id, body) => {
      await api.send(`${notes}/${id}`, { method: "PUT", body: { body } });
    },
    remove: async (id) => {
      try {
        await api.send(`${notes}/${id}`, { method: "DELETE" });
      } catch (failure) {
        if (!(failure instanceof ApiError && failure.status === 404)) throw failure;
      }
    },
    collapse: () => Promise.resolve(),
  };
}

export function gitlabIssues(settings: GitLabSettings): Issues {
  const api = apiOf(settings);
  const issues = `/projects/${encodeURIComponent(settings.project)}/issues`;
  const entry = (value: unknown): Entry => {
    const { iid, description } = isRecord(value) ? value : {};
    return { id: String(iid), body: typeof description === "string" ? description : "" };
  };
  return {
    list: async () =>
      (await own(api, await api.list(`${issues}?labels=${DRIFT_LABEL}&state=opened&per_page=100`))).map(
        entry,
      ),
    create: async (title, description) => {
      const body = { title, description, labels: DRIFT_LABEL };
      return entry((await api.send(issues, { method: "POST", body })).json);
    },
    update: async (id, title, description) => {
      await api.send(`${issues}/${id}`, { method: "PUT", body: { title, description } });
    },
    note: async (id, body) => {
      await api.send(`${issues}/${id}/notes`, { method: "POST", body: { body } });
    },
    close: async (id) => {
      await api.send(`${issues}/${id}`, { method: "PUT", body: { state_event: "close" } });
    },
  };
}

export function gitlabPullRequests(settings: GitLabSettings): PullRequests {
  const api = apiOf(settings);
  const requests = `/projects/${encodeURIComponent(settings.project)}/merge_requests`;
  return {
    find: async (branch) => {
      const open = await api.list(
        `${requests}?state=opened&source_branch=${encodeURIComponent(branch)}&per_page=100`,
      );
      // A fork can have a branch of this name, too.
      const own = open
        .filter(isRecord)
        .find(({ source_project_id, target_project_id }) => source_project_id === target_project_id);
      return own === undefined ? undefined : String(own.iid);
    },
    create: async ({ branch, base, title, body: description }) => {
      const body = {
        ...{ source_branch: branch, target_branch: base, title, description },
        remove_source_branch: true,
      };
      await api.send(requests, { method: "POST", body });
    },
    update: async (id, { base, title, body: description }) => {
      const body = { target_branch: base, title, description };
      await api.send(`${requests}/${id}`, { method: "PUT", body });
    },
    close: async (id) => {
      await api.send(`${requests}/${id}`, { method: "PUT", body: { state_event: "close" } });
    },
  };
}
