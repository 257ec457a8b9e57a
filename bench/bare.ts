// The baseline of the bench: a client without state, plan, checks, and retries. Runs as a process:
// `bare.ts read URL SIZES` fetches and parses every list and content; `bare.ts create URL SIZES` creates what the spec
// declares;
// `bare.ts same URL SIZES` does so with the requests of a safe apply: it reads before and after, and creates jobs in
// two phases.

import { Agent, request } from "undici";
import { type Content, MIB } from "./contents.ts";
import type { Sizes } from "./sizes.ts";
import { JOB_CLUSTER, type World, worldOf } from "./world.ts";

const [, , mode, host = "", sizes = "{}"] = process.argv;
const PARALLELISM = 10;
const SCIM = "/api/2.0/preview/scim/v2";
const agent = new Agent({ connections: PARALLELISM, pipelining: 1 });

type Answer = Record<string, never>;
const authorization = `Bearer ${process.env.WORKSPACE_TOKEN}`;

async function call(method: "GET" | "POST", path: string, body?: unknown): Promise<Answer> {
  const type = path.startsWith(SCIM) ? "application/scim+json" : "application/json";
  const answer = await request(host + path, {
    dispatcher: agent,
    method,
    headers: { authorization, accept: type, "content-type": type },
    body: body === undefined ? null : JSON.stringify(body),
  });
  if (answer.statusCode >= 300) throw new Error(`${path}: ${answer.statusCode} ${await answer.body.text()}`);
  return (await answer.body.json()) as Answer;
}
const get = (path: string) => call("GET", path);
const post = (path: string, body: unknown) => call("POST", `/api/2.0/${path}`, body);

async function all<T>(things: readonly T[], act: (thing: T) => Promise<unknown>): Promise<void> {
  const rest = things[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (const thing of rest) await act(thing);
  };
  await Promise.all(Array.from({ length: PARALLELISM }, worker));
}

async function lists(): Promise<Answer> {
  const scopes = get("/api/2.0/secrets/scopes/list");
  const others = ["instance-pools", "clusters", "jobs"].map((kind) => get(`/api/2.0/${kind}/list`));
  await Promise.all([get(`${SCIM}/Users`), get(`${SCIM}/Groups`), ...others]);
  return scopes;
}

async function read({ directories, notebooks, files }: World): Promise<void> {
  const scopes = await lists();
  const names = (scopes.scopes ?? []) as unknown as { name: string }[];
  const paths = names.flatMap(({ name }) => [
    `secrets/list?scope=${name}`,
    `secrets/acls/list?scope=${name}`,
  ]);
  const folders = directories.length === 0 ? [] : ["/Shared", ...directories];
  const contents = [
    ...folders.map((path) => `workspace/list?path=${path}`),
    ...notebooks.map(({ path }) => `workspace/export?path=${path}&format=SOURCE`),
    ...(files.length === 0 ? [] : ["fs/list?path=/bench"]),
    ...files.flatMap(({ path, size }) =>
      Array.from(
        { length: Math.ceil(size / MIB) },
        (_, n) => `fs/read?path=${path}&offset=${n * MIB}&length=${MIB}`,
      ),
    ),
  ];
  await all([...paths, ...contents], (path) => get(`/api/2.0/${path}`));
}

function pieces(bytes: Uint8Array): Buffer[] {
  const count = Math.ceil(bytes.length / MIB);
  return Array.from({ length: count }, (_, n) => Buffer.from(bytes.subarray(n * MIB, (n + 1) * MIB)));
}

/** `phases`: 2 makes each job without its schedule and mails, and then gives it all its settings. */
async function create(world: World, phases: 1 | 2): Promise<void> {
  const secret = process.env.BENCH_SECRET;
  const ids = new Map<string, string>();
  await all(Object.entries(world.users), async ([userName, { entitlements = [] }]) => {
    const values = (entitlements as string[]).map((value) => ({ value }));
    const schemas = ["urn:ietf:params:scim:schemas:core:2.0:User"];
    const user = await call("POST", `${SCIM}/Users`, { schemas, userName, entitlements: values });
    ids.set(userName, user.id ?? "");
  });
  await all(Object.entries(world.groups), ([displayName, { members }]) => {
    const schemas = ["urn:ietf:params:scim:schemas:core:2.0:Group"];
    const values = members.users.map((user) => ({ value: ids.get(user) }));
    return call("POST", `${SCIM}/Groups`, { schemas, displayName, members: values });
  });
  const scopes = Object.entries(world.scopes);
  await all(scopes, ([scope]) => post("secrets/scopes/create", { scope }));
  await all(
    scopes.flatMap(([scope, { acls }]) =>
      Object.entries(acls).map(([principal, permission]) => ({ scope, principal, permission })),
    ),
    (acl) => post("secrets/acls/put", acl),
  );
  await all(
    scopes.flatMap(([scope, { secrets }]) => secrets.map((key) => ({ scope, key, string_value: secret }))),
    (one) => post("secrets/put", one),
  );
  await all(Object.entries(world.pools), async ([name, fields]) => {
    const tags = Object.entries(fields.custom_tags as object).map(([key, value]) => ({ key, value }));
    const pool = await post("instance-pools/create", {
      ...fields,
      instance_pool_name: name,
      custom_tags: tags,
    });
    ids.set(name, pool.instance_pool_id ?? "");
  });
  await all(Object.entries(world.clusters), async ([name, { pool, fields }]) => {
    const member = pool === undefined ? {} : { instance_pool_id: ids.get(pool) };
    const cluster = await post("clusters/create", { ...fields, cluster_name: name, ...member });
    ids.set(name, cluster.cluster_id ?? "");
  });
  await all(Object.entries(world.jobs), async ([name, { cluster, pool, fields }]) => {
    const own = { new_cluster: { ...JOB_CLUSTER, instance_pool_id: ids.get(pool ?? "") } };
    const where = cluster === undefined ? own : { existing_cluster_id: ids.get(cluster) };
    const settings = { name, ...fields, ...where };
    if (phases === 1) return post("jobs/create", settings);
    const { schedule, email_notifications, ...inert } = settings as Record<string, unknown>;
    const { job_id } = await post("jobs/create", { ...inert, max_concurrent_runs: 0 });
    return post("jobs/reset", { job_id, new_settings: settings });
  });
  await createContents(world);
}

async function createContents({ directories, notebooks, files }: World): Promise<void> {
  await all(directories, (path) => post("workspace/mkdirs", { path }));
  await all(notebooks, ({ path, bytes }) => {
    const content = Buffer.from(bytes()).toString("base64");
    return post("workspace/import", { path, format: "SOURCE", language: "PYTHON", content });
  });
  await all(files, upload);
}

async function upload({ path, bytes }: Content): Promise<void> {
  const [first = Buffer.alloc(0), ...rest] = pieces(bytes());
  if (rest.length === 0) {
    await post("fs/put", { path, contents: first.toString("base64") });
    return;
  }
  const { handle } = await post("fs/create", { path });
  for (const piece of [first, ...rest])
    await post("fs/add-block", { handle, data: piece.toString("base64") });
  await post("fs/close", { handle });
}

const world = worldOf(JSON.parse(sizes) as Sizes);
if (mode === "read") await read(world);
else if (mode === "create") await create(world, 1);
else {
  await lists();
  await create(world, 2);
  await lists();
}
await agent.close();
