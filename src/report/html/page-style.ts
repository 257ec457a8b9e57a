// The style sheet of pages: light and dark, narrow windows, and paper. It has no double colon, which a CI log could interpret.

const LIGHT = `
  color-scheme: light;
  --paper: #f6f7f9; --sheet: #ffffff; --ink: #1b1f27; --soft: #565f6c; --line: #dfe3e9; --edge: #818b98; --code: #f1f3f6;
  --create: #156b3f; --update: #845700; --replace: #8339b8; --delete: #b91c24; --state: #0b6388;
  --create-wash: #e6f5ec; --delete-wash: #fdecec; --warn-wash: #fff6dd; --warn-line: #e3c36a; --alarm-line: #eeb4b6;
  --create-mark: #a9e2bf; --delete-mark: #f9c0c2;`;

const DARK = `
  color-scheme: dark;
  --paper: #12151a; --sheet: #1a1e25; --ink: #e4e8ee; --soft: #a3adbb; --line: #2d333d; --edge: #6d7785; --code: #232831;
  --create: #5cc98d; --update: #e0b341; --replace: #c792ea; --delete: #ff8a8e; --state: #62b8e0;
  --create-wash: #16301f; --delete-wash: #3a1d20; --warn-wash: #332a12; --warn-line: #6b5721; --alarm-line: #7a3437;
  --create-mark: #22603b; --delete-mark: #7d2f35;`;

export const PAGE_STYLE = `
:root {${LIGHT}
}
@media (prefers-color-scheme: dark) { :root {${DARK}
} }
:root[data-theme="light"] {${LIGHT}
}
:root[data-theme="dark"] {${DARK}
}
* { box-sizing: border-box; }
html { scroll-padding-top: 120px; }
[hidden] { display: none !important; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 16px 24px 72px; }
h1 { font-size: 23px; line-height: 1.25; letter-spacing: -.015em; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 13px; text-transform: uppercase; letter-spacing: .07em; color: var(--soft); margin: 22px 0 10px; }
a { color: var(--state); }
code, pre, kbd, .address, .label, .value, .sides { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; font-size: 13px; }
.where { color: var(--soft); margin: 0; overflow-wrap: anywhere; } .where span { display: inline-block; }
.queue { margin: 12px 0 0; }
.chart { display: grid; grid-template-columns: auto 280px; justify-content: start; gap: 0 6px; margin-top: 4px; color: var(--soft); font-size: 12px; line-height: 1.2; }
.chart svg { grid-row: 1 / 3; grid-column: 2; border-left: 1px solid var(--line); border-bottom: 1px solid var(--line); } .chart > span { grid-column: 1; text-align: right; } .chart > span + svg + span { grid-row: 2; align-self: end; }
.chart p { grid-column: 2; display: flex; justify-content: space-between; margin: 2px 0 0; }
summary > .cause { flex: 1 1 50%; min-width: 0; } summary > svg { margin-left: auto; flex: none; }
.tiles { display: flex; flex-wrap: wrap; gap: 8px; margin: 12px 0 0; padding: 0; list-style: none; }
.tiles + .where { margin-top: 16px; }
.tiles li { background: var(--sheet); border: 1px solid var(--line); border-left: 4px solid var(--tone, var(--line)); border-radius: 8px; padding: 3px 14px 3px 12px; }
.tiles b { margin-right: 6px; font-size: 18px; line-height: 1.4; font-weight: 650; color: var(--tone); font-variant-numeric: tabular-nums; }
.tiles .none { --tone: var(--line); } .tiles .none b { color: var(--soft); }
.tiles span { color: var(--soft); font-size: 13px; }
.create { --tone: var(--create); } .update, .compare { --tone: var(--update); } .replace { --tone: var(--replace); }
.delete { --tone: var(--delete); } .adopt, .import, .move, .forget, .report, .changed { --tone: var(--state); }
.deleted { --tone: var(--delete); } .appeared { --tone: var(--create); }
.note { background: var(--sheet); border: 1px solid var(--line); border-left: 4px solid var(--tone, var(--line)); border-radius: 8px; padding: 12px 16px; margin: 10px 0; overflow-wrap: anywhere; }
.note p { margin: 0; } .note p + p { margin-top: 4px; }
.note.error { background: var(--delete-wash); border-color: var(--alarm-line); --tone: var(--delete); border-left-color: var(--tone); }
.note.warning { background: var(--warn-wash); border-color: var(--warn-line); --tone: var(--update); border-left-color: var(--tone); }
.note.error, .note.warning { --soft: var(--ink); }
.note strong { color: var(--tone); }
.note pre { background: none; padding: 6px 0 0; white-space: pre; overflow-x: auto; }
.hint, .remark, .kind, .reasons { color: var(--soft); }
ul.effects, ul.members { margin: 0; padding: 0; list-style: none; }
ul.effects li { padding: 5px 0; overflow-wrap: anywhere; } ul.effects li + li { border-top: 1px solid var(--line); }
ul.members { margin: 10px 0 0 !important; columns: 2; column-gap: 28px; } ul.members li { padding: 2px 0; break-inside: avoid; overflow-wrap: anywhere; }
.glance { margin: 12px 0 0; background: var(--sheet); border: 1px solid var(--line); border-radius: 8px; }
.glance div { display: flex; gap: 4px 16px; padding: 4px 16px; border-left: 4px solid var(--tone, var(--line)); }
.glance div:first-child { border-radius: 8px 8px 0 0; } .glance div:last-child { border-radius: 0 0 8px 8px; } .glance div:only-child { border-radius: 8px; }
.glance div + div { border-top: 1px solid var(--line); }
.glance dt { flex: 0 0 100px; white-space: nowrap; color: var(--tone); font-weight: 650; } .glance dd { margin: 0; min-width: 0; overflow-wrap: anywhere; } .glance p { margin: 0; font-size: 14px; }
.filtering > .glance, .filtering > .findings, .filtering > #access, .filtering > #renames { display: none; }
.findings { margin-top: 8px; font-size: 14px; } .findings .note { margin: 6px 0; } .findings > .note { padding: 6px 16px; } .findings details.note { padding: 0; overflow: hidden; }
details.note > summary { padding: 6px 42px 6px 16px; } details.note > summary span { flex: 1 1 300px; min-width: 0; }
details.note .note { border: 0; border-radius: 0; padding: 6px 0; margin: 0; }
#access h2 { margin: 14px 0 4px; } #access ul { margin: 0; padding-left: 20px; font-size: 14px; line-height: 1.45; } #access li { overflow-wrap: anywhere; }
details.more { margin: 8px 0; border-left-width: 1px; } details.more > summary { color: var(--soft); font-size: 14px; padding: 4px 42px 4px 16px; } details.more > summary:after { top: 4px; }
.more .note { border-radius: 6px; }
.copy { display: flex; gap: 8px; margin: 12px 0 0; } .copy button, .pager button { font-size: 13px; padding: 2px 9px; }
.pager { display: flex; gap: 6px; } .pager button:disabled { color: var(--soft); cursor: default; opacity: .6; }
main > .pager { margin: 14px 0 0; justify-content: center; }
details { background: var(--sheet); border: 1px solid var(--line); border-left: 4px solid var(--tone, var(--line)); border-radius: 8px; margin: 8px 0; overflow: hidden; }
details.item { margin: 0 0 8px; }
.here { outline: 2px solid var(--state); outline-offset: 2px; } ul.members .here { outline-offset: -1px; }
@media (scripting: none) { :target { outline: 2px solid var(--state); } }
summary { position: relative; cursor: pointer; padding: 9px 42px 9px 16px; display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: baseline; list-style: none; }
summary:after { content: "+"; position: absolute; top: 9px; right: 16px; color: var(--soft); font-weight: 600; }
details[open] > summary:after { content: "\\2013"; }
details.bare > summary { cursor: default; } details.bare > summary:after { content: ""; }
summary:focus-visible, .graph a:focus-visible, button:focus-visible { outline: 2px solid var(--tone, currentColor); outline-offset: -2px; }
.verb { color: var(--tone); font-weight: 650; min-width: 66px; }
.address { font-weight: 600; overflow-wrap: anywhere; }
.remark { font-size: 13px; overflow-wrap: anywhere; }
.flag { font-size: 12px; font-weight: 600; color: var(--update); background: var(--warn-wash); border: 1px solid var(--warn-line); border-radius: 10px; padding: 0 8px; }
.body { border-top: 1px solid var(--line); padding: 12px 16px 14px; }
.body > ul { margin: 0 0 10px; padding-left: 20px; overflow-wrap: anywhere; }
.body > :last-child { margin-bottom: 0; }
.reasons { font-size: 14px; }
table { border-collapse: collapse; width: 100%; }
.fields td { padding: 4px 14px 4px 0; vertical-align: top; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
.fields tr:first-child td { border-top: 0; }
.fields .label { color: var(--soft); width: 32%; }
.was { color: var(--delete); background: var(--delete-wash); border-radius: 4px; padding: 1px 5px; }
.now { color: var(--create); background: var(--create-wash); border-radius: 4px; padding: 1px 5px; }
mark { color: var(--ink); border-radius: 3px; background: var(--create-mark); } .was mark, .del mark { background: var(--delete-mark); }
.arrow { color: var(--soft); }
.fields .why { color: var(--replace); font-size: 13px; width: 24%; }
pre { background: var(--code); border-radius: 6px; margin: 10px 0 0; padding: 10px 12px; line-height: 1.5; white-space: pre-wrap; overflow-wrap: anywhere; }
.sides { table-layout: fixed; margin: 10px 0 0; background: var(--code); border-radius: 6px; line-height: 1.5; }
.sides th { font: 13px system-ui, sans-serif; color: var(--soft); text-align: left; padding: 6px 10px 4px; }
.sides td { padding: 0 10px; vertical-align: top; white-space: pre-wrap; overflow-wrap: anywhere; width: 50%; }
.sides tr:last-child td { padding-bottom: 6px; }
.sides td + td, .sides th + th { border-left: 1px solid var(--line); }
.sides .add { color: var(--create); background: var(--create-wash); }
.sides .del { color: var(--delete); background: var(--delete-wash); }
.sides .mark { color: var(--soft); padding-top: 6px; }
.kinds { background: var(--sheet); border: 1px solid var(--line); border-radius: 8px; border-collapse: separate; border-spacing: 0; }
.kinds th, .kinds td { padding: 7px 16px; text-align: right; font-variant-numeric: tabular-nums; }
.kinds th { color: var(--soft); font-weight: 500; font-size: 13px; } .kinds tr + tr td { border-top: 1px solid var(--line); }
.kinds th:first-child, .kinds td:first-child { text-align: left; }
.kinds td.zero { color: var(--soft); }
.graph { overflow: auto; max-height: 640px; background: var(--sheet); border: 1px solid var(--line); border-radius: 8px; padding: 12px; }
.graph svg { display: block; }
.graph path { fill: none; stroke: var(--edge); stroke-width: 1.3; } .graph marker path { fill: var(--edge); stroke: none; }
.graph rect { fill: var(--code); stroke: var(--tone, var(--edge)); stroke-width: 1.5; }
.graph text { fill: var(--ink); font: 12px ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; }
.graph text.count { fill: var(--soft); font-size: 11px; text-anchor: end; }
.graph a:hover rect, .graph a:focus rect { stroke-width: 3; }
.tools { position: sticky; top: 0; z-index: 1; background: var(--paper); border-bottom: 1px solid var(--line); margin: 10px -8px 0; padding: 8px; display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: center; }
.tools fieldset { border: 0; margin: 0; padding: 0; display: flex; flex-wrap: wrap; gap: 6px; }
.tools legend { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.chip { border: 1px solid var(--edge); border-radius: 14px; padding: 2px 10px 2px 8px; font-size: 13px; background: var(--sheet); color: var(--tone); display: inline-flex; gap: 5px; align-items: center; cursor: pointer; }
.chip input { margin: 0; accent-color: var(--tone); }
input[type="search"], select, button { font: inherit; font-size: 14px; color: var(--ink); background: var(--sheet); border: 1px solid var(--edge); border-radius: 6px; padding: 4px 9px; }
input[type="search"] { flex: 1 1 200px; min-width: 0; }
input[type="search"]:focus-visible, select:focus-visible, .chip:focus-within { outline: 2px solid var(--state); outline-offset: 1px; }
button { cursor: pointer; }
#count { color: var(--soft); font-size: 13px; font-variant-numeric: tabular-nums; }
#theme { float: right; margin: -2px 0 0 16px; }
.keys { color: var(--soft); font-size: 13px; margin: 36px 0 0; }
kbd { background: var(--code); border: 1px solid var(--edge); border-radius: 4px; padding: 0 5px; }
@media (max-width: 720px) {
  main { padding: 20px 12px 48px; }
  h1 { font-size: 22px; }
  .tools { position: static; } html { scroll-padding-top: 8px; }
  main { display: flex; flex-direction: column; } .glance ~ :not(.tools) { order: 1; }
  .tiles li { padding: 2px 10px 2px 8px; } .tiles b { font-size: 16px; } .glance div { display: block; } ul.members { columns: 1; }
  .fields tr, .sides tr { display: grid; grid-template-columns: minmax(0, 1fr); }
  .fields td { border: 0; padding: 1px 0; } .fields tr + tr { border-top: 1px solid var(--line); }
  .fields .label, .fields .why, .sides td { width: auto; }
  .sides td + td { border-left: 0; }
  .sides thead, .sides .none, .sides .again { display: none; }
  .sides tr:last-child td { padding-bottom: 0; }
  .kinds th, .kinds td { padding: 6px 8px; }
}
@media print {
  :root, :root[data-theme] {${LIGHT}
    print-color-adjust: exact;
  }
  body { background: none; font-size: 12px; }
  main { max-width: none; padding: 0; }
  .tools, .keys, .copy, .pager, #theme, .glance [data-control] { display: none; }
  .findings, .glance p, .reasons, .remark, .kinds, .flag, #access ul, .fields .why, .sides th, code, .address, .label, .value, .sides { font-size: inherit; }
  .body { padding: 6px 16px 8px; } summary { padding: 5px 16px; }
  details.item, .glance div { break-inside: avoid; }
  .graph { max-height: none; overflow: visible; } .graph svg { max-width: 100%; height: auto; }
  .note pre { white-space: pre-wrap; }
  .note, summary, .sides tr, .fields tr { break-inside: avoid; } details.note { break-inside: auto; }
  summary, h2 { break-after: avoid; } summary:after { content: "" !important; }
}
`;
