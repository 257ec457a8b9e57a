// Comments (threads) of Azure Repos and work items of Azure Boards.

import type { PullRequests } from "./accept.ts";
import type { Comments, Entry } from "./comment.ts";
import { Api, ApiError, type ApiOptions, isRecord } from "./http.ts";
import { DRIFT_LABEL, type Issues } from "./issue.ts";

export interface AzureSettings {
  /** SYSTEM_COLLECTIONURI with the project, without a slash at the end. */
  readonly collection: string;
  readonly project: string;
  readonly repository: string;
  readonly token: string;
  /** The type of the work item for drift. */
  readonly workItemType: string;
  readonly log: (line: string) => void;
  readonly sleep?: ApiOptions["sleep"];
}

const VERSION = "api-version=7.1";
/** The most work items that one request returns. */
const BATCH = 200;

function apiOf({ collection, token, log, sleep }: AzureSettings, right: string): Api {
  return new Api({
    base: collection,
    right,
    log,
    ...(sleep === undefined ? {} : { sleep }),
    headers: { accept: "application/json", authorization: `Bearer ${token}` },
  });
}

async function ownId(api: Api): Promise<unknown> {
  const { json } = await api.send("/_apis/connectionData");
  const id = isRecord(json) && isRecord(json.authenticatedUser) ? json.authenticatedUser.id : undefined;
  if (id === undefined) throw new ApiError(200, "Azure DevOps does not name the user of this token");
  return id;
}

function valuesOf(json: unknown): readonly unknown[] {
  return isRecord(json) && Array.isArray(json.value) ? json.value : [];
}

/**
 * Comments of a pull request. Only the first comment of a thread is written; a thread without a status never blocks a
 * merge.
 */
export function azureComments(settings: AzureSettings, number: number): Comments {
  const api = apiOf(settings, "Contribute to pull requests");
  const { project, repository } = settings;
  const threads = `/${encodeURIComponent(project)}/_apis/git/repositories/${encodeURIComponent(repository)}/pullRequests/${number}/threads`;
  const entry = (thread: unknown): Entry => {
    const { id } = isRecord(thread) ? thread : {};
    const body = firstComment(thread)?.content;
    return { id: String(id), body: typeof body === "string" ? body : "" };
  };
  return {
    // The service returns all threads at once.
    list: async () => {
      const own = await ownId(api);
      return valuesOf((await api.send(`${threads}?${VERSION}`)).json)
        .filter((thread) => {
          const first = firstComment(thread);
          return isRecord(first?.author) && first.author.id === own && first.isDeleted !== true;
        })
        .map(entry);
    },
    read: async (id) => {
      try {
        const { json } = await api.send(`${threads}/${id}?${VERSION}`);
        return firstComment(json)?.isDeleted === true ? undefined : entry(json);
      } catch (failure) {
        if (failure instanceof ApiError && failure.status === 404) return undefined;
        throw failure;
      }
    },
    create: async (content) => {
      const body = { comments: [{ parentCommentId: 0, content, commentType: "text" }] };
      return entry((await api.send(`${threads}?${VERSION}`, { method: "POST", body })).json);
    },
    update: async (id, content) => {
      await api.send(`${threads}/${id}/comments/1?${VERSION}`, { method: "PATCH", body: { content } });
    },
    remove: async (id) => {
      try {
        await api.send(`${threads}/${id}/comments/1?${VERSION}`, { method: "DELETE" });
      } catch (failure) {
        if (!(failure instanceof ApiError && failure.status === 404)) throw failure;
      }
    },
    collapse: async (id, collapsed) => {
      const status = collapsed ? "closed" : "unknown";
      await api.send(`${threads}/${id}?${VERSION}`, { method: "PATCH", body: { status } });
    },
  };
}

function firstComment(thread: unknown): Readonly<Record<string, unknown>> | undefined {
  const comments = isRecord(thread) && Array.isArray(thread.comments) ? thread.comments : [];
  const first: unknown = comments.find((one) => isRecord(one) && one.id === 1);
  return isRecord(first) ? first : undefined;
}

export function azurePullRequests(settings: AzureSettings): PullRequests {
  const api = apiOf(settings, "Contribute to pull requests");
  const { project, repository } = settings;
  const pulls = `/${encodeURIComponent(project)}/_apis/git/repositories/${encodeURIComponent(repository)}/pullrequests`;
  /** Of the pull requests that were found. */
  const targets = new Map<string, unknown>();
  return {
    find: async (branch) => {
      const source = encodeURIComponent(`refs/heads/${branch}`);
      const criteria = `searchCriteria.status=active&searchCriteria.sourceRefName=${source}`;
      const open = valuesOf((await api.send(`${pulls}?${criteria}&${VERSION}`)).json);
      // A fork can have a branch of this name, too.
      const own = open.filter(isRecord).find(({ forkSource }) => forkSource === undefined);
      if (own === undefined) return undefined;
      const id = String(own.pullRequestId);
      targets.set(id, own.targetRefName);
      return id;
    },
    create: async ({ branch, base, title, body: description }) => {
      const body = {
        ...{ sourceRefName: `refs/heads/${branch}`, targetRefName: `refs/heads/${base}` },
        ...{ title, description },
      };
      await api.send(`${pulls}?${VERSION}`, { method: "POST", body });
    },
    update: async (id, { base, title, body: description }) => {
      const targetRefName = `refs/heads/${base}`;
      // A service that moves no pull request to another branch refuses the field.
      const moved = targets.get(id) === targetRefName ? {} : { targetRefName };
      const body = { title, description, ...moved };
      await api.send(`${pulls}/${id}?${VERSION}`, { method: "PATCH", body });
    },
    close: async (id) => {
      await api.send(`${pulls}/${id}?${VERSION}`, { method: "PATCH", body: { status: "abandoned" } });
    },
  };
}

/** Work items with the tag of drift. Their description is HTML, where comments are removed: the markers are its first line. */
export function azureIssues(settings: AzureSettings): Issues {
  const api = apiOf(settings, "Edit work items in this node");
  const root = `/${encodeURIComponent(settings.project)}/_apis/wit`;
  const type = encodeURIComponent(settings.workItemType);
  const patch = (id: string, fields: Readonly<Record<string, string>>, method: "PATCH" | "POST" = "PATCH") =>
    api.send(`${root}/workitems/${id}?${VERSION}`, {
      method,
      contentType: "application/json-patch+json",
      body: Object.entries(fields).map(([name, value]) => ({ op: "add", path: `/fields/${name}`, value })),
    });
  return {
    list: async () => {
      const query =
        "SELECT [System.Id] FROM WorkItems WHERE [System.TeamProject] = @project " +
        `AND [System.Tags] CONTAINS '${DRIFT_LABEL}' ORDER BY [System.Id] DESC`;
      const options = { method: "POST", body: { query }, repeatable: true } as const;
      const { json } = await api.send(`${root}/wiql?${VERSION}`, options);
      const items = isRecord(json) && Array.isArray(json.workItems) ? json.workItems : [];
      const ids = items.flatMap((one) => (isRecord(one) ? [String(one.id)] : []));
      const done = await completedStates(api, `${root}/workitemtypes/${type}/states?${VERSION}`);
      const own = await ownId(api);
      const found: unknown[] = [];
      for (let from = 0; from < ids.length; from += BATCH) {
        const batch = ids.slice(from, from + BATCH).join(",");
        found.push(...valuesOf((await api.send(`${root}/workitems?ids=${batch}&${VERSION}`)).json));
      }
      return found.flatMap((one) => {
        const fields = isRecord(one) && isRecord(one.fields) ? one.fields : {};
        const author = fields["System.CreatedBy"];
        if (done.includes(String(fields["System.State"]))) return [];
        if (!isRecord(author) || author.id !== own) return [];
        return [
          { id: String(isRecord(one) ? one.id : ""), body: fromHtml(String(fields["System.Description"])) },
        ];
      });
    },
    create: async (title, body) => {
      const fields = {
        "System.Title": title,
        "System.Description": toHtml(body),
        "System.Tags": DRIFT_LABEL,
      };
      const { json } = await patch(`$${type}`, fields, "POST");
      return { id: String(isRecord(json) ? json.id : ""), body };
    },
    update: async (id, title, body) => {
      await patch(id, { "System.Title": title, "System.Description": toHtml(body) });
    },
    note: async (id, text) => {
      await patch(id, { "System.History": escaped(text) });
    },
    close: async (id) => {
      const [done] = await completedStates(api, `${root}/workitemtypes/${type}/states?${VERSION}`);
      if (done === undefined)
        throw new ApiError(
          0,
          `work item type ${settings.workItemType} has no state of the category Completed`,
        );
      await patch(id, { "System.State": done });
    },
  };
}

/** Processes name their last state differently ("Done", "Closed"). */
async function completedStates(api: Api, path: string): Promise<readonly string[]> {
  return valuesOf((await api.send(path)).json).flatMap((one) =>
    isRecord(one) && (one.category === "Completed" || one.category === "Removed") ? [String(one.name)] : [],
  );
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** No one is mentioned in preformatted text, so an `@` that the report keeps apart stands as written. */
const toHtml = (body: string): string => `<pre>${escaped(body.replaceAll("<span>&#64;</span>", "@"))}</pre>`;

/** Only the markers are read from a description, so only what they contain is decoded. */
function fromHtml(html: string): string {
  return html
    .replace(/^\s*<pre[^>]*>/i, "")
    .replaceAll(/<br\s*\/?>/gi, "\n")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");
}
