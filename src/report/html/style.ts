// How pages look: one style sheet for the light, the dark and paper.

export const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #f6f7f9; --sheet: #ffffff; --ink: #1b1f27; --soft: #5c6573; --line: #dfe3e9; --code: #f1f3f6;
  --create: #1a7f4b; --update: #9a6700; --replace: #8339b8; --delete: #c4232b; --state: #0b6e99;
  --create-wash: #e6f5ec; --delete-wash: #fdecec; --warn-wash: #fff6dd; --warn-line: #e3c36a; --alarm-line: #eeb4b6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #12151a; --sheet: #1a1e25; --ink: #e4e8ee; --soft: #96a0af; --line: #2d333d; --code: #232831;
    --create: #5cc98d; --update: #e0b341; --replace: #c792ea; --delete: #ff7b80; --state: #62b8e0;
    --create-wash: #16301f; --delete-wash: #3a1d20; --warn-wash: #332a12; --warn-line: #6b5721; --alarm-line: #7a3437;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1000px; margin: 0 auto; padding: 40px 24px 72px; }
h1 { font-size: 27px; line-height: 1.25; letter-spacing: -.015em; margin: 0 0 4px; }
h2 { font-size: 13px; text-transform: uppercase; letter-spacing: .07em; color: var(--soft); margin: 36px 0 10px; }
code, pre, .address, .label, .value { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; font-size: 13px; }
.where { color: var(--soft); margin: 0 0 20px; }
.tiles { display: flex; flex-wrap: wrap; gap: 10px; margin: 22px 0 0; padding: 0; list-style: none; }
.tiles li { background: var(--sheet); border: 1px solid var(--line); border-top: 3px solid var(--tone, var(--line)); border-radius: 8px; padding: 10px 18px 9px; min-width: 104px; }
.tiles b { display: block; font-size: 26px; line-height: 1.2; font-weight: 650; color: var(--tone); font-variant-numeric: tabular-nums; }
.tiles .none { opacity: .5; }
.tiles .none b { color: inherit; }
.tiles span { color: var(--soft); font-size: 13px; }
.create { --tone: var(--create); } .update { --tone: var(--update); } .replace { --tone: var(--replace); }
.delete { --tone: var(--delete); } .adopt, .forget, .report, .changed { --tone: var(--state); }
.gone { --tone: var(--delete); } .appeared { --tone: var(--create); }
.note { background: var(--sheet); border: 1px solid var(--line); border-left: 4px solid var(--tone, var(--line)); border-radius: 8px; padding: 12px 16px; margin: 10px 0; }
.note p { margin: 0; } .note p + p { margin-top: 4px; }
.note.error { background: var(--delete-wash); border-color: var(--alarm-line); --tone: var(--delete); border-left-color: var(--tone); }
.note.warning { background: var(--warn-wash); border-color: var(--warn-line); --tone: var(--update); border-left-color: var(--tone); }
.note strong { color: var(--tone); }
.note pre { background: none; padding: 6px 0 0; }
.hint, .remark, .kind, .reasons { color: var(--soft); }
ul.effects { margin: 0; padding: 0; list-style: none; background: var(--warn-wash); border: 1px solid var(--warn-line); border-radius: 8px; }
ul.effects li { padding: 9px 16px; } ul.effects li + li { border-top: 1px solid var(--warn-line); }
details { background: var(--sheet); border: 1px solid var(--line); border-left: 4px solid var(--tone, var(--line)); border-radius: 8px; margin: 8px 0; overflow: hidden; }
summary { cursor: pointer; padding: 9px 16px; display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: baseline; list-style: none; }
summary:after { content: "+"; margin-left: auto; color: var(--soft); font-weight: 600; }
details[open] > summary:after { content: "\\2013"; }
details.bare > summary { cursor: default; } details.bare > summary:after { content: ""; }
summary:focus-visible { outline: 2px solid var(--tone, currentColor); outline-offset: -2px; }
.verb { color: var(--tone); font-weight: 650; min-width: 66px; }
.address { font-weight: 600; overflow-wrap: anywhere; }
.remark { font-size: 13px; }
.flag { font-size: 12px; font-weight: 600; color: var(--update); background: var(--warn-wash); border: 1px solid var(--warn-line); border-radius: 10px; padding: 0 8px; }
.body { border-top: 1px solid var(--line); padding: 12px 16px 14px; }
.body > ul { margin: 0 0 10px; padding-left: 20px; }
.body > :last-child { margin-bottom: 0; }
.reasons { font-size: 14px; }
table { border-collapse: collapse; width: 100%; }
.fields td { padding: 4px 14px 4px 0; vertical-align: top; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
.fields tr:first-child td { border-top: 0; }
.fields .label { color: var(--soft); width: 32%; }
.was { color: var(--delete); background: var(--delete-wash); border-radius: 4px; padding: 1px 5px; }
.now { color: var(--create); background: var(--create-wash); border-radius: 4px; padding: 1px 5px; }
.arrow { color: var(--soft); }
.fields .why { color: var(--replace); font-size: 13px; width: 24%; }
pre { background: var(--code); border-radius: 6px; margin: 10px 0 0; padding: 10px 12px; overflow-x: auto; line-height: 1.5; }
pre .add { color: var(--create); background: var(--create-wash); display: block; }
pre .del { color: var(--delete); background: var(--delete-wash); display: block; }
pre .ctx { color: var(--soft); display: block; }
.kinds { background: var(--sheet); border: 1px solid var(--line); border-radius: 8px; border-collapse: separate; border-spacing: 0; }
.kinds th, .kinds td { padding: 7px 16px; text-align: right; font-variant-numeric: tabular-nums; }
.kinds th { color: var(--soft); font-weight: 500; font-size: 13px; } .kinds tr + tr td { border-top: 1px solid var(--line); }
.kinds th:first-child, .kinds td:first-child { text-align: left; }
.kinds td.zero { color: var(--soft); opacity: .6; }
@media print { body { background: none; } main { max-width: none; padding: 0; } details, .note { break-inside: avoid; } }
`;
