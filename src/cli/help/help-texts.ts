// Examples and related commands of each command, by title; loaded only to show help.

import { type HelpTexts, OPERATION_TEXTS } from "./operation-texts.ts";

export const HELP_TEXTS: Readonly<Record<string, HelpTexts>> = {
  ...OPERATION_TEXTS,
  workspace: {
    examples: [
      ["workspace init", "create a starter spec"],
      ["workspace plan --host embedded", "plan it on the built-in emulator"],
      ["workspace apply --host embedded", "apply it after a prompt"],
    ],
    seeAlso: ["workspace COMMAND --help", "workspace explain KIND", "docs/getting-started.md"],
  },
  "workspace init": {
    examples: [["workspace init", "write workspace.yaml and a .gitignore line for the state"]],
    seeAlso: ["workspace export", "workspace explain", "docs/getting-started.md"],
  },
  "workspace login": {
    examples: [
      [
        "workspace login --host https://adb-1.2.azuredatabricks.net",
        "save an access token, typed at a prompt",
      ],
      ["workspace login --auth-type oauth-m2m --client-id ID <secret.txt", "save a service principal"],
    ],
    seeAlso: ["workspace whoami", "docs/databricks.md"],
  },
  "workspace whoami": {
    examples: [
      ["workspace whoami", "check the sign-in"],
      ["workspace whoami -o json", "the same for a script"],
    ],
    seeAlso: ["workspace login", "docs/databricks.md"],
  },
  "workspace test": {
    examples: [
      ["workspace test", "run all tests below this folder"],
      ["workspace test tests --filter pools", "run some of them"],
      ["workspace test -o junit=tests.xml", "also write the results for a CI service"],
      ["workspace test --update", "accept what the tests found"],
    ],
    seeAlso: ["workspace validate", "workspace schema", "docs/testing.md"],
  },
  "workspace validate": {
    examples: [
      ["workspace validate", "check workspace.yaml"],
      ["workspace validate -t prod --var size=5", "check one target"],
      ["workspace validate -o sarif=spec.sarif", "write the findings to a file"],
    ],
    seeAlso: ["workspace plan --offline", "workspace explain", "docs/spec.md"],
  },
  "workspace plan": {
    examples: [
      ["workspace plan", "compare the spec with the workspace"],
      ["workspace plan -t prod --out prod.plan", "save the plan of a target"],
      ["workspace plan -o markdown=plan.md -o sarif=plan.sarif", "write reports"],
      ["workspace plan --only 'jobs.*'", "limit the plan to jobs and their dependencies"],
      ["workspace plan --untrusted --base-ref origin/main", "plan a pull request from a fork"],
    ],
    seeAlso: ["workspace apply", "workspace show", "workspace drift", "docs/ci.md"],
  },
  "workspace apply": {
    examples: [
      ["workspace apply", "show the plan and apply it after a prompt"],
      ["workspace apply prod.plan", "apply a saved plan"],
      ["workspace apply --auto-approve --lock-timeout 5m", "apply in a pipeline"],
      ["workspace apply --adopt", "adopt existing objects that have the same names"],
    ],
    seeAlso: ["workspace plan", "workspace destroy", "workspace history"],
  },
  "workspace show": {
    examples: [["workspace show prod.plan -o markdown", "render a saved plan"]],
    seeAlso: ["workspace plan", "workspace apply"],
  },
  "workspace destroy": {
    examples: [
      ["workspace destroy", "delete all managed resources after a prompt"],
      ["workspace destroy --only clusters.adhoc", "delete one resource and its dependents"],
    ],
    seeAlso: ["workspace plan --destroy", "workspace state rm"],
  },
  "workspace drift": {
    examples: [
      ["workspace drift", "show drift; exit with 2 if there is any"],
      ["workspace drift --since last --fail-on security", "report new drift of high severity"],
    ],
    seeAlso: ["workspace drift acknowledge", "workspace apply", "docs/ci.md"],
  },
  "workspace history": {
    examples: [
      ["workspace history", "list the last applies"],
      ["workspace history jobs.nightly", "list the applies that changed one job"],
    ],
    seeAlso: ["workspace state restore"],
  },
  "workspace export": {
    examples: [
      ["workspace export", "print the workspace as a spec"],
      ["workspace export --kinds jobs,clusters --out team", "write a spec with its notebooks"],
    ],
    seeAlso: ["workspace import", "workspace plan --adopt", "docs/adopt.md"],
  },
  "workspace convert": {
    examples: [
      ["workspace convert --from terraform terraform.tfstate --out team", "write a spec with its contents"],
      [
        "workspace convert --from terraform - <shown.json",
        "print the output of `terraform show -json` as a spec",
      ],
    ],
    seeAlso: ["workspace export", "workspace import", "docs/databricks.md"],
  },
  "workspace console": {
    examples: [
      ["workspace console 'lower(var.env)' -t prod", "evaluate one expression"],
      ["workspace console", "evaluate expressions at a prompt"],
    ],
    seeAlso: ["workspace render", "docs/authoring.md"],
  },
  "workspace fmt": {
    examples: [
      ["workspace fmt", "format the spec, its includes, and its modules"],
      ["workspace fmt --check --diff", "show what is not formatted, such as in CI"],
    ],
    seeAlso: ["workspace validate", "docs/authoring.md"],
  },
  "workspace render": {
    examples: [
      ["workspace render -t prod", "print the resolved spec of a target"],
      ["workspace render --origins", "the same with the location of each value"],
    ],
    seeAlso: ["workspace console", "workspace plan", "docs/authoring.md"],
  },
  "workspace watch": {
    examples: [
      ["workspace watch", "validate and plan after each change of a file"],
      ["workspace watch --validate-only", "validate without requests"],
    ],
    seeAlso: ["workspace validate", "workspace plan", "docs/authoring.md"],
  },
  "workspace import": {
    examples: [["workspace import pools.shared 0102-030405-pool1", "manage an existing pool"]],
    seeAlso: ["workspace export", "workspace apply --adopt", "docs/adopt.md"],
  },
  "workspace explain": {
    examples: [
      ["workspace explain", "list the kinds"],
      ["workspace explain clusters", "list the fields of a kind"],
      ["workspace explain clusters.autoscale.min_workers", "describe a field"],
    ],
    seeAlso: ["workspace schema", "docs/spec.md", "docs/reference.md"],
  },
  "workspace graph": {
    examples: [
      ["workspace graph -o svg", "draw the resources of the spec"],
      ["workspace graph -o mermaid", "print a Mermaid diagram"],
    ],
    seeAlso: ["workspace plan -o html"],
  },
  "workspace schema": {
    examples: [
      ["workspace schema", "print the JSON Schema of a spec, for an editor"],
      ["workspace schema --plan", "print the schema of JSON plans"],
    ],
    seeAlso: ["workspace explain", "docs/reference.md"],
  },
  "workspace emulator": {
    examples: [
      ["workspace emulator --port 8080 --token secret", "serve on a fixed port"],
      ["workspace emulator --data data", "keep the data in a folder"],
    ],
    seeAlso: ["workspace plan --host", "docs/databricks-emulator.md"],
  },
  "workspace completion": {
    examples: [["workspace completion zsh", "print the script for zsh"]],
    seeAlso: ["workspace --help"],
  },
  "workspace version": {
    examples: [["workspace version", "print the versions of the program and of Node"]],
    seeAlso: ["workspace --version"],
  },
  "workspace fleet": {
    examples: [["workspace fleet plan -l env=prod", "plan the workspaces with a label"]],
    seeAlso: ["workspace plan", "docs/fleet.md"],
  },
  "workspace fleet list": {
    examples: [["workspace fleet list -l env=prod", "list the workspaces with a label"]],
    seeAlso: ["workspace fleet status"],
  },
  "workspace fleet validate": {
    examples: [["workspace fleet validate", "check the spec of each workspace"]],
    seeAlso: ["workspace validate", "workspace fleet plan"],
  },
  "workspace fleet plan": {
    examples: [["workspace fleet plan team-a team-b", "plan two workspaces"]],
    seeAlso: ["workspace plan", "workspace fleet apply"],
  },
  "workspace fleet drift": {
    examples: [["workspace fleet drift", "check each workspace for drift"]],
    seeAlso: ["workspace drift", "workspace fleet status"],
  },
  "workspace fleet apply": {
    examples: [["workspace fleet apply --auto-approve --waves 'canary: 1, then rest'", "apply in two waves"]],
    seeAlso: ["workspace apply", "workspace fleet plan", "docs/fleet.md"],
  },
  "workspace fleet status": {
    examples: [["workspace fleet status", "show the last result of each workspace"]],
    seeAlso: ["workspace fleet report"],
  },
  "workspace fleet report": {
    examples: [["workspace fleet report -o html", "print a page about all workspaces"]],
    seeAlso: ["workspace fleet status", "docs/fleet.md"],
  },
  "workspace fleet run": {
    examples: [["workspace fleet run", "check what is due; start it every 5 minutes with a timer"]],
    seeAlso: ["workspace fleet drift", "workspace fleet worker", "docs/fleet.md"],
  },
  "workspace fleet enqueue": {
    examples: [
      ["workspace fleet enqueue drift -l env=prod", "let the workers check the workspaces with a label"],
    ],
    seeAlso: ["workspace fleet worker", "workspace fleet status", "docs/fleet.md"],
  },
  "workspace fleet worker": {
    examples: [["workspace fleet worker --parallelism 8", "run jobs, 8 at the same time"]],
    seeAlso: ["workspace fleet enqueue", "workspace fleet schedule", "docs/fleet.md"],
  },
  "workspace fleet schedule": {
    examples: [["workspace fleet schedule", "write the schedules after a change of the fleet file"]],
    seeAlso: ["workspace fleet worker", "docs/fleet.md"],
  },
  "workspace fleet dead-letters": {
    examples: [
      ["workspace fleet dead-letters", "show the jobs with their causes"],
      ["workspace fleet dead-letters --retry ads-prod", "retry the job of a workspace"],
    ],
    seeAlso: ["workspace fleet status", "docs/fleet.md"],
  },
};
