// The help of the program, of a group, and of a command: summary, usage, arguments and options by group, notes, examples, see also.

import type { Parser } from "./parser.ts";

const WIDEST = 110;

export function helpText(parser: Parser, columns: number): string {
  const notes = parser.definition === undefined ? EXIT_CODES : parser.definition.notes;
  const { examples = [], seeAlso = [] } = HELP_TEXTS[parser.title] ?? {};
  const width = Math.min(columns, WIDEST);
  const summary = parser.summary();
  const exampleLines = examples.map(([command, meaning]) => `  # ${meaning}\n  ${command}\n`);
  parser.configureOutput({ getOutHelpWidth: () => width, getOutHasColors: () => false });
  return [
    `${summary[0]?.toUpperCase()}${summary.slice(1)}.\n`,
    parser.helpInformation(),
    ...(notes === undefined ? [] : [`${wrapped(parser, notes, width)}\n`]),
    ...(examples.length === 0 ? [] : [`Examples:\n${exampleLines.join("")}`]),
    ...(seeAlso.length === 0 ? [] : [`See also: ${seeAlso.join(", ")}\n`]),
  ].join("\n");
}

/** Joins the lines of a paragraph and wraps them. Indented lines are tables. */
function wrapped(parser: Parser, notes: string, width: number): string {
  const lines = notes.replace(/(?<=^\S.*[^:])\n(?=[^\s])/gm, " ").split("\n");
  const help = parser.createHelp();
  return lines.map((line) => (line.startsWith(" ") ? line : help.boxWrap(line, width))).join("\n");
}

const EXIT_CODES = `Exit codes:
  0  success                          4  stale plan
  1  error                            5  state locked
  2  changes or drift                 130, 143  interrupted
  3  blocked by a guard or a policy`;

interface HelpTexts {
  readonly examples: readonly (readonly [command: string, meaning: string])[];
  readonly seeAlso: readonly string[];
}

/** Each title with its related commands and pages, then its examples. */
const TEXTS = `
workspace: see workspace COMMAND --help, workspace explain KIND, docs/getting-started.md
  workspace init  # create a starter spec
  workspace plan --host embedded  # plan it on the built-in emulator
  workspace apply --host embedded  # apply it after a prompt
workspace init: see workspace export, workspace explain, docs/getting-started.md
  workspace init  # write workspace.yaml and a .gitignore line for the state
workspace login: see workspace whoami, docs/databricks.md
  workspace login --host https://adb-1.2.azuredatabricks.net  # save an access token, typed at a prompt
  workspace login --host https://adb-1.2.azuredatabricks.net --auth-type oauth-m2m --client-id ID <secret.txt  # save a service principal
workspace whoami: see workspace login, docs/databricks.md
  workspace whoami  # check the sign-in
  workspace whoami -o json  # the same for a script
workspace test: see workspace validate, workspace schema, docs/testing.md
  workspace test  # run all tests below this folder
  workspace test tests --filter pools  # run some of them
  workspace test -o junit=tests.xml  # also write the results for a CI service
  workspace test --update  # accept what the tests found
workspace validate: see workspace plan --offline, workspace explain, docs/spec.md
  workspace validate  # check workspace.yaml
  workspace validate -t prod --var size=5  # check one target
  workspace validate -o sarif=spec.sarif  # write the findings to a file
workspace plan: see workspace apply, workspace show, workspace drift, docs/ci.md
  workspace plan  # compare the spec with the workspace
  workspace plan -t prod --out prod.plan  # save the plan of a target
  workspace plan -o markdown=plan.md -o sarif=plan.sarif  # write reports
  workspace plan --only 'jobs.*'  # limit the plan to jobs and their dependencies
  workspace plan --show destroys,security  # show only these changes
  workspace plan --prices prices.yaml  # show what the changes cost
  workspace plan --exclude pools.shared  # leave out a pool and the clusters that use it
  workspace plan --untrusted --base-ref origin/main  # plan a pull request from a fork
workspace apply: see workspace plan, workspace destroy, workspace history
  workspace apply  # show the plan and apply it after a prompt
  workspace apply prod.plan  # apply a saved plan
  workspace apply --auto-approve --lock-timeout 5m  # apply in a pipeline
  workspace apply --adopt  # adopt existing objects that have the same names
workspace show: see workspace plan, workspace apply
  workspace show prod.plan -o markdown  # render a saved plan
workspace destroy: see workspace plan --destroy, workspace state rm
  workspace destroy  # delete all managed resources after a prompt
  workspace destroy --only clusters.adhoc  # delete one resource and its dependents
workspace drift: see workspace drift acknowledge, workspace apply, docs/ci.md
  workspace drift  # show drift; exit with 2 if there is any
  workspace drift --since last --fail-on security  # report new drift of high severity
workspace history: see workspace state restore
  workspace history  # list the last applies
  workspace history jobs.nightly  # list the applies that changed one job
workspace export: see workspace import, workspace plan --adopt, docs/adopt.md
  workspace export  # print the workspace as a spec
  workspace export --kinds jobs,clusters --out team  # write a spec with its notebooks
workspace convert: see workspace export, workspace import, docs/migrate-from-terraform.md
  workspace convert --from terraform terraform.tfstate --out team  # write a spec with its contents
  workspace convert --from terraform - <shown.json  # print the output of \`terraform show -json\` as a spec
workspace console: see workspace render, docs/authoring.md
  workspace console 'var.env.lowerAscii()' -t prod  # evaluate one expression
  workspace console  # evaluate expressions at a prompt
workspace fmt: see workspace validate, docs/authoring.md
  workspace fmt  # format the spec, its includes, and its modules
  workspace fmt --check --diff  # show what is not formatted, such as in CI
workspace render: see workspace console, workspace plan, docs/authoring.md
  workspace render -t prod  # print the resolved spec of a target
  workspace render --origins  # the same with the location of each value
workspace watch: see workspace validate, workspace plan, docs/authoring.md
  workspace watch  # validate and plan after each change of a file
  workspace watch --validate-only  # validate without requests
workspace lsp: see workspace validate, workspace explain, docs/authoring.md
  workspace lsp  # an editor starts it
workspace import: see workspace export, workspace apply --adopt, docs/adopt.md
  workspace import pools.shared 0102-030405-pool1  # manage an existing pool
workspace access: see workspace plan, docs/access.md
  workspace access ada@example.com  # what ada can do in the workspace
  workspace access scopes.etl --of plan  # who can use the scope after an apply
workspace explain: see workspace schema, docs/explain.md, docs/reference/README.md
  workspace explain  # list the kinds
  workspace explain clusters  # list the fields of a kind
  workspace explain clusters.autoscale.min_workers  # describe a field
  workspace explain clusters.adhoc --plan  # why a plan changes a resource, or not
workspace graph: see workspace plan -o html
  workspace graph -o svg  # draw the resources of the spec
  workspace graph -o mermaid  # print a Mermaid diagram
workspace schema: see workspace explain, docs/reference/README.md
  workspace schema  # print the JSON Schema of a spec, for an editor
  workspace schema --plan  # print the schema of JSON plans
workspace emulator: see workspace plan --host, docs/databricks.md
  workspace emulator --port 8080 --token secret  # serve on a fixed port
  workspace emulator --data data  # keep the data in a folder
workspace completion: see workspace --help
  workspace completion zsh  # print the script for zsh
workspace version: see workspace --version
  workspace version  # print the version, the commit, and the version of Node
workspace fleet: see workspace plan, docs/fleet.md
  workspace fleet plan -l env=prod  # plan the workspaces with a label
workspace fleet list: see workspace fleet status
  workspace fleet list -l env=prod  # list the workspaces with a label
workspace fleet validate: see workspace validate, workspace fleet plan
  workspace fleet validate  # check the spec of each workspace
workspace fleet plan: see workspace plan, workspace fleet apply
  workspace fleet plan team-a team-b  # plan two workspaces
workspace fleet drift: see workspace drift, workspace fleet status
  workspace fleet drift  # check each workspace for drift
workspace fleet apply: see workspace apply, workspace fleet plan, docs/fleet.md
  workspace fleet apply --auto-approve --waves 'canary: 1, then rest'  # apply in two waves
workspace fleet status: see workspace fleet report
  workspace fleet status  # show the last result of each workspace
workspace fleet report: see workspace fleet status, docs/fleet.md
  workspace fleet report -o html  # print a page about all workspaces
workspace fleet run: see workspace fleet drift, workspace fleet worker, docs/fleet.md
  workspace fleet run  # check what is due; start it every 5 minutes with a timer
workspace fleet enqueue: see workspace fleet worker, workspace fleet status, docs/fleet.md
  workspace fleet enqueue drift -l env=prod  # let the workers check the workspaces with a label
workspace fleet worker: see workspace fleet enqueue, workspace fleet schedule, docs/fleet.md
  workspace fleet worker --parallelism 8  # run jobs, 8 at the same time
workspace fleet schedule: see workspace fleet worker, docs/fleet.md
  workspace fleet schedule  # write the schedules after a change of the fleet file
workspace fleet cancel: see workspace fleet status, workspace fleet pause, docs/fleet.md
  workspace fleet cancel ads-prod  # end the queued and running jobs of a workspace
workspace fleet pause: see workspace fleet resume, workspace fleet status, docs/fleet.md
  workspace fleet pause -l env=prod --command apply --for 2h  # hold the applies of a label back
workspace fleet resume: see workspace fleet pause, docs/fleet.md
  workspace fleet resume 6ce4b8a4  # end a pause by its ID
workspace fleet logs: see workspace fleet status, docs/fleet.md
  workspace fleet logs ads-prod  # show the log of the last run
workspace fleet dead-letters: see workspace fleet status, docs/fleet.md
  workspace fleet dead-letters  # show the jobs with their causes
  workspace fleet dead-letters --retry ads-prod  # retry the job of a workspace
workspace drift accept: see workspace drift, workspace export, docs/drift.md
  workspace drift accept pools.shared --dry-run  # show how the spec would change
  workspace drift accept pools.shared.max_capacity  # write one live value into the spec
  workspace drift accept 'jobs.*' --into jobs.yaml  # write new jobs into this file of the spec
workspace drift acknowledge: see workspace drift
  workspace drift acknowledge pools.shared.max_capacity --until 2030-12-31 --reason tests  # silence the drift of one field
  workspace drift acknowledge --list  # list the acknowledged drift
  workspace drift acknowledge pools.shared --remove  # report it again
workspace state: see workspace import, workspace drift, docs/state.md
  workspace state list  # list the recorded resources
  workspace state mv pools.old pools.new  # keep an object after its key was renamed in the spec
workspace state list: see workspace state show
  workspace state list -o json  # list addresses, IDs, and names
workspace state show: see workspace state list, workspace history
  workspace state show pools.shared  # show one record
workspace state rm: see workspace import, workspace destroy
  workspace state rm pools.shared jobs.nightly  # stop managing two resources
workspace state mv: see workspace state list
  workspace state mv pools.old pools.new  # keep the object under its new key
workspace state unlock: see workspace apply --lock-timeout, docs/state.md
  workspace state unlock 03fc674de7c76c66  # release the lock with this ID
workspace state pull: see workspace state push, workspace state migrate
  workspace state pull --out state.json  # back up the state
workspace state push: see workspace state pull, workspace state restore
  workspace state push state.json  # restore a backup
workspace state migrate: see workspace state pull, docs/state.md
  workspace state migrate workspace:/Shared/state  # move the state into the workspace
workspace state restore: see workspace history, workspace plan
  workspace state restore  # list the versions
  workspace state restore 7  # restore the version with serial 7
workspace state rekey: see docs/state.md, docs/security.md
  workspace state rekey  # encrypt with WORKSPACE_STATE_KEY
workspace run: see workspace runs, docs/operating.md
  workspace run jobs.nightly --wait  # start a job and wait for its result
  workspace run nightly --param day=2030-01-01  # start it with a notebook parameter
workspace runs: see workspace run, docs/operating.md
  workspace runs list --job jobs.nightly  # list the runs of a job
workspace runs list: see workspace runs get
  workspace runs list --active  # list the active runs of the workspace
workspace runs get: see workspace runs output
  workspace runs get 42 --wait  # wait for a run and show its result
workspace runs output: see workspace runs export
  workspace runs output --job jobs.nightly  # show the output of the latest run
workspace runs export: see workspace runs output
  workspace runs export 42 --out run.html  # write the notebook with its results
workspace runs cancel: see workspace runs list --active
  workspace runs cancel --job jobs.nightly  # cancel the active runs of a job
workspace runs delete: see workspace runs cancel
  workspace runs delete 42  # delete a run after a prompt
workspace clusters: see workspace apply, docs/operating.md
  workspace clusters start clusters.adhoc --wait  # start a cluster
workspace clusters start: see workspace clusters terminate
  workspace clusters start clusters.adhoc --wait  # start a cluster and wait until it runs
workspace clusters restart: see workspace runs list --active
  workspace clusters restart adhoc  # restart a cluster after a prompt if runs are active
workspace clusters resize: see workspace clusters events
  workspace clusters resize adhoc --workers 8  # set a fixed size
  workspace clusters resize adhoc --min 2 --max 8  # set a range
workspace clusters terminate: see workspace clusters start
  workspace clusters terminate adhoc --wait  # terminate a cluster
workspace clusters events: see workspace clusters start
  workspace clusters events adhoc --types RUNNING,TERMINATING  # list some events
workspace api: see workspace schema --api, docs/operating.md
  workspace api --list  # list the operations
  workspace api clusters/list  # call an operation
  workspace api clusters/get cluster_id=0102-030405-adhoc1  # pass a field
`;

/** By title, such as `workspace state rm`. */
export const HELP_TEXTS: Readonly<Record<string, HelpTexts>> = Object.fromEntries(
  TEXTS.trim()
    .split(/\n(?=\S)/)
    .map(parsed),
);

function parsed(block: string): readonly [title: string, texts: HelpTexts] {
  const [head = "", ...lines] = block.split("\n  ");
  const [title = "", related = ""] = head.split(": see ");
  const examples = lines.map((line) => {
    const [command = "", meaning = ""] = line.split("  # ");
    return [command, meaning] as const;
  });
  return [title, { examples, seeAlso: related.split(", ") }];
}
