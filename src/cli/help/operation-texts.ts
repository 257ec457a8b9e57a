// Examples and related commands of the commands that operate a state, job runs, clusters, and the API.

export type Example = readonly [command: string, meaning: string];

export interface HelpTexts {
  readonly examples: readonly Example[];
  readonly seeAlso: readonly string[];
}

export const OPERATION_TEXTS: Readonly<Record<string, HelpTexts>> = {
  "workspace drift acknowledge": {
    examples: [
      [
        "workspace drift acknowledge pools.shared.max_capacity --until 2030-12-31 --reason tests",
        "accept the drift of one field",
      ],
      ["workspace drift acknowledge --list", "list the acknowledged drift"],
      ["workspace drift acknowledge pools.shared --remove", "report it again"],
    ],
    seeAlso: ["workspace drift"],
  },
  "workspace state": {
    examples: [
      ["workspace state list", "list the recorded resources"],
      ["workspace state mv pools.old pools.new", "keep an object after its key was renamed in the spec"],
    ],
    seeAlso: ["workspace import", "workspace drift", "docs/state.md"],
  },
  "workspace state list": {
    examples: [["workspace state list -o json", "list addresses, IDs, and names"]],
    seeAlso: ["workspace state show"],
  },
  "workspace state show": {
    examples: [["workspace state show pools.shared", "show one record"]],
    seeAlso: ["workspace state list", "workspace history"],
  },
  "workspace state rm": {
    examples: [["workspace state rm pools.shared jobs.nightly", "stop managing two resources"]],
    seeAlso: ["workspace import", "workspace destroy"],
  },
  "workspace state mv": {
    examples: [["workspace state mv pools.old pools.new", "keep the object under its new key"]],
    seeAlso: ["workspace state list"],
  },
  "workspace state unlock": {
    examples: [["workspace state unlock 4f1c", "release the lock with this ID"]],
    seeAlso: ["workspace apply --lock-timeout", "docs/state.md"],
  },
  "workspace state pull": {
    examples: [["workspace state pull --out state.json", "back up the state"]],
    seeAlso: ["workspace state push", "workspace state migrate"],
  },
  "workspace state push": {
    examples: [["workspace state push state.json", "restore a backup"]],
    seeAlso: ["workspace state pull", "workspace state restore"],
  },
  "workspace state migrate": {
    examples: [["workspace state migrate workspace:/Shared/state", "move the state into the workspace"]],
    seeAlso: ["workspace state pull", "docs/state.md"],
  },
  "workspace state restore": {
    examples: [
      ["workspace state restore", "list the versions"],
      ["workspace state restore 7", "restore the version with serial 7"],
    ],
    seeAlso: ["workspace history", "workspace plan"],
  },
  "workspace state rekey": {
    examples: [["workspace state rekey", "encrypt with WORKSPACE_STATE_KEY"]],
    seeAlso: ["docs/state.md", "docs/security.md"],
  },
  "workspace run": {
    examples: [
      ["workspace run jobs.nightly --wait", "start a job and wait for its result"],
      ["workspace run nightly --param day=2030-01-01", "start it with a notebook parameter"],
    ],
    seeAlso: ["workspace runs", "docs/operating.md"],
  },
  "workspace runs": {
    examples: [["workspace runs list --job jobs.nightly", "list the runs of a job"]],
    seeAlso: ["workspace run", "docs/operating.md"],
  },
  "workspace runs list": {
    examples: [["workspace runs list --active", "list the active runs of the workspace"]],
    seeAlso: ["workspace runs get"],
  },
  "workspace runs get": {
    examples: [["workspace runs get 42 --wait", "wait for a run and show its result"]],
    seeAlso: ["workspace runs output"],
  },
  "workspace runs output": {
    examples: [["workspace runs output --job jobs.nightly", "show the output of the latest run"]],
    seeAlso: ["workspace runs export"],
  },
  "workspace runs export": {
    examples: [["workspace runs export 42 --out run.html", "write the notebook with its results"]],
    seeAlso: ["workspace runs output"],
  },
  "workspace runs cancel": {
    examples: [["workspace runs cancel --job jobs.nightly", "cancel the active runs of a job"]],
    seeAlso: ["workspace runs list --active"],
  },
  "workspace runs delete": {
    examples: [["workspace runs delete 42", "delete a run after a prompt"]],
    seeAlso: ["workspace runs cancel"],
  },
  "workspace clusters": {
    examples: [["workspace clusters start clusters.adhoc --wait", "start a cluster"]],
    seeAlso: ["workspace apply", "docs/operating.md"],
  },
  "workspace clusters start": {
    examples: [["workspace clusters start clusters.adhoc --wait", "start a cluster and wait until it runs"]],
    seeAlso: ["workspace clusters terminate"],
  },
  "workspace clusters restart": {
    examples: [["workspace clusters restart adhoc", "restart a cluster after a prompt if runs are active"]],
    seeAlso: ["workspace runs list --active"],
  },
  "workspace clusters resize": {
    examples: [
      ["workspace clusters resize adhoc --workers 8", "set a fixed size"],
      ["workspace clusters resize adhoc --min 2 --max 8", "set a range"],
    ],
    seeAlso: ["workspace clusters events"],
  },
  "workspace clusters terminate": {
    examples: [["workspace clusters terminate adhoc --wait", "terminate a cluster"]],
    seeAlso: ["workspace clusters start"],
  },
  "workspace clusters events": {
    examples: [["workspace clusters events adhoc --types RUNNING,TERMINATING", "list some events"]],
    seeAlso: ["workspace clusters start"],
  },
  "workspace api": {
    examples: [
      ["workspace api --list", "list the operations"],
      ["workspace api clusters/list", "call an operation"],
      ["workspace api clusters/get cluster_id=0102-030405-adhoc1", "pass a field"],
    ],
    seeAlso: ["workspace schema --api", "docs/operating.md"],
  },
};
