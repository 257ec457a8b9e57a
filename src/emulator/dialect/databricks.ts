// The Databricks dialect for the app: its description, parser, and refusals; translated operations of the contract, and additional ones.

import { type JsonObject, listIn, objectIn } from "../../core/json.ts";
import { type Contract, dialectFile, type OperationSpec } from "../http/contract.ts";
import type { AppRequest, AppResponse } from "../http/message.ts";
import { permissionOperations } from "../routes/access/permissions.ts";
import { clusterPolicyOperations } from "../routes/admin/cluster-policies.ts";
import { gitCredentialOperations } from "../routes/admin/git-credentials.ts";
import { gitFolderOperations } from "../routes/admin/git-folders.ts";
import { initScriptOperations } from "../routes/admin/init-scripts.ts";
import { instanceProfileOperations } from "../routes/admin/instance-profiles.ts";
import { ipAccessListOperations } from "../routes/admin/ip-access-lists.ts";
import { notificationDestinationOperations } from "../routes/admin/notification-destinations.ts";
import { warehouseOperations } from "../routes/admin/warehouses.ts";
import { workspaceConfOperations } from "../routes/admin/workspace-conf.ts";
import { areas } from "../routes/areas.ts";
import { libraryOperations } from "../routes/libraries.ts";
import { assignmentOperations } from "../routes/scim/assignments.ts";
import { overwriteGroup } from "../routes/scim/groups.ts";
import { servicePrincipalOperations } from "../routes/scim/service-principals.ts";
import { getSecret } from "../routes/secrets.ts";
import { tokenOperations } from "../routes/tokens.ts";
import { ApiError, invalidValue } from "../world/errors.ts";
import {
  type Area,
  type Call,
  EMPTY_REPLY,
  type Operation,
  type Operations,
  type Reply,
  type World,
} from "../world/world.ts";
import { changeOwner, computeHooks, setClusterSource, updateCluster } from "./operations/clusters.ts";
import type { Asked, Hooks } from "./operations/hook.ts";
import { jobHooks, updateJob } from "./operations/jobs.ts";
import { attemptOperations, ORG, runHooks } from "./operations/runs.ts";
import { accountOperations, makeAccountGroup, makeServicePrincipal, scimHooks } from "./operations/scim.ts";
import { importBytes, makeObject, seedFiles, workspaceHooks } from "./operations/workspace.ts";
import { answerSignIn, isSignIn, signInArea } from "./sign-in.ts";
import { type Cloud, DialectSchemas, fromContract, lenient, toContract } from "./translate.ts";

export interface Dialect {
  readonly contract: Contract;
  readonly areas: readonly Area[];
  /** The input as validation takes it. */
  readonly lenient: (spec: OperationSpec, fields: JsonObject) => JsonObject;
  /** Whether a path is outside the API, such as a token endpoint. */
  readonly beside: (path: string) => boolean;
  readonly answerBeside: (request: AppRequest, world: World) => AppResponse;
  /** The code of a refusal by the gateway, which the contract gives as a number. */
  readonly refusalCode: (status: number) => string;
  /** Added to every answer, in the place of the contract's. */
  readonly headers: Readonly<Record<string, string>>;
}

function databricks(contract: Contract, cloud: Cloud): Dialect {
  const schemas = new DialectSchemas(contract.schemas, cloud);
  return {
    contract,
    areas: [...dialectAreas(contract, schemas), signInArea],
    lenient: (spec, fields) => lenient(schemas, spec.input, fields) as JsonObject,
    beside: isSignIn,
    answerBeside: (request, world) => answerSignIn(request, world, cloud),
    refusalCode: (status) => (status === 401 ? "UNAUTHENTICATED" : "PERMISSION_DENIED"),
    headers: { server: "databricks", "x-databricks-org-id": ORG },
  };
}

export interface DialectChoice {
  /** By default the contract's own. */
  readonly dialect?: "contract" | "databricks";
  /** Cloud of the Databricks dialect; by default azure. */
  readonly cloud?: Cloud;
}

/** The options of the app for a choice. `copyIn` is a folder that may keep a copy of the description. */
export function chosenDialect(
  { dialect, cloud = "azure" }: DialectChoice,
  copyIn?: string,
): { readonly dialect?: Dialect } {
  return dialect === "databricks" ? { dialect: databricks(dialectFile(cloud, copyIn), cloud) } : {};
}

const HOOKS: Hooks = {
  ...scimHooks,
  ...workspaceHooks,
  ...computeHooks,
  ...jobHooks,
  ...runHooks,
  "secrets/scopes/create": {
    before: refuseVaultElsewhere,
    around: (core, call, { world }) => core({ ...call, allows: { scopeNames: /^[\w.@/-]+$/ } }, world),
  },
  "secrets/scopes/list": { after: listScopes },
};

const ZONES = ["us-west-2a", "us-west-2b", "us-west-2c"];

/** Operations that no call of the contract does. */
const ADDED: Operations = {
  ...libraryOperations,
  ...clusterPolicyOperations,
  ...gitCredentialOperations,
  ...gitFolderOperations,
  ...initScriptOperations,
  ...instanceProfileOperations,
  ...ipAccessListOperations,
  ...notificationDestinationOperations,
  ...workspaceConfOperations,
  ...warehouseOperations,
  ...servicePrincipalOperations,
  ...permissionOperations,
  ...tokenOperations,
  ...attemptOperations,
  ...accountOperations,
  ...assignmentOperations,
  "secrets/get": getSecret,
  "scim/groups/put": overwriteGroup,
  "workspace-files/import-file": importBytes,
  "clusters/change-owner": changeOwner,
  "clusters/list-zones": () => ({ json: { zones: ZONES, default_zone: ZONES[0] ?? "" } }),
};

/** The contract's areas keep their background work; what they answer is translated. */
function dialectAreas(contract: Contract, schemas: DialectSchemas): readonly Area[] {
  const operations = Object.assign({}, ...areas.map((area) => area.operations)) as Operations;
  const served = new Map<string, Operation>();
  for (const spec of contract.operations) {
    const operation = spec.serves === undefined ? ADDED[ownName(spec)] : operations[spec.serves];
    if (operation === undefined) continue;
    const core: Operation = (call, world) => operation(call, world) ?? EMPTY_REPLY;
    served.set(spec.id, inDialect(spec, core, schemas));
  }
  for (const prefix of ["", "2.1/", "2.2/"]) {
    const [get, reset] = [served.get(`${prefix}jobs/get`), served.get(`${prefix}jobs/reset`)];
    if (get !== undefined && reset !== undefined) served.set(`${prefix}jobs/update`, updateJob(get, reset));
  }
  for (const prefix of ["", "2.1/"]) {
    const [get, edit] = [served.get(`${prefix}clusters/get`), served.get(`${prefix}clusters/edit`)];
    if (get !== undefined && edit !== undefined)
      served.set(`${prefix}clusters/update`, updateCluster(get, edit));
  }
  return [
    ...areas.map((area) => ({ ...area, operations: {} })),
    { operations: Object.fromEntries(served), control: CONTROL, seed: seedFiles },
  ];
}

/** Control requests that put into the workspace what its API alone cannot make. */
const CONTROL: NonNullable<Area["control"]> = {
  "account-groups": makeAccountGroup,
  "service-principals": makeServicePrincipal,
  "workspace-objects": makeObject,
  "cluster-source": setClusterSource,
};

function inDialect(spec: OperationSpec, core: Operation, schemas: DialectSchemas): Operation {
  const name = spec.serves ?? ownName(spec);
  const { before, around, after } = HOOKS[name] ?? {};
  const version = spec.path.split("/")[2] ?? "";
  // An operation that the dialect adds speaks the dialect itself.
  const isTranslated = spec.serves !== undefined;
  return (call, world) => {
    const received: Asked = { call, world, version, cloud: schemas.cloud, input: call.input };
    const asked = before === undefined ? received : { ...received, input: before(received) };
    const input = isTranslated ? toContract(schemas, spec.input, asked.input) : asked.input;
    const inner: Call = { ...call, operation: name, input, files: filesOf(call, spec) };
    const reply = naming(() => (around === undefined ? core(inner, world) : around(core, inner, asked)));
    if (!("json" in reply)) return reply;
    const json = isTranslated ? fromContract(schemas, spec.output, reply.json) : reply.json;
    return { ...reply, json: after === undefined ? json : after(json, asked) };
  };
}

function filesOf({ files }: Call, { filePart }: OperationSpec): Call["files"] {
  const file = filePart === undefined ? undefined : files[filePart];
  return file === undefined ? files : { ...files, contents: file };
}

const ownName = ({ id }: OperationSpec): string => id.replace(/^\d\.\d\//, "");

/** Messages name files as the dialect does. */
function naming(run: () => Reply): Reply {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof ApiError) || !/\bfs:\//.test(error.message)) throw error;
    throw new ApiError(error.code, error.message.replaceAll(/\bfs:\//g, "dbfs:/"));
  }
}

function refuseVaultElsewhere({ input, cloud }: Asked): JsonObject {
  if (input.scope_backend_type === "AZURE_KEYVAULT" && cloud !== "azure")
    throw invalidValue("Scopes with the backend AZURE_KEYVAULT exist on Azure only.");
  return input;
}

function listScopes(answer: JsonObject): JsonObject {
  const scopes = listIn(answer.scopes).map((scope): JsonObject => {
    const shown = objectIn(scope);
    return shown.backend_type === "AZURE_KEYVAULT" ? { ...shown, is_databricks_managed: false } : shown;
  });
  return scopes.length === 0 ? {} : { scopes };
}
