import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { actorOf, arrowsFrom, withDescendants } from './arrows.ts';
import { diagram } from './diagram.ts';

/** A chart that is documented. */
export interface Chart {
  /** Name of its page, without `.md`. */
  name: string;
  /** Where it is written, from the root of the repository. */
  source: string;
  machine: AnyStateMachine;
}

/** Writes the page of one chart: what it is for, its diagram and a table of its states. */
export function chartPage({ source, machine }: Chart, charts: Chart[]): string {
  const rows = withDescendants(machine.root).flatMap((node) => stateRow(node, charts));
  return `${[
    `# ${machine.id}`,
    `Reference, [generated](README.md) from [\`${source}\`](../../${source}).`,
    descriptionOf(machine),
    ['```mermaid', diagram(machine.root), '```'].join('\n'),
    '## States',
    [...table('State', 'Meaning', 'Handled without leaving'), ...rows].join('\n'),
  ].join('\n\n')}\n`;
}

/** Writes the page that lists every chart and says how a diagram is read. */
export function indexPage(charts: Chart[]): string {
  const rows = charts.map(({ name, machine }) =>
    row(`[${machine.id}](${name}.md)`, descriptionOf(machine).replace(/(?<=\.) .*$/s, '')),
  );
  return `${[
    '# Statecharts',
    'Reference for contributors, and for operators who want the exact behaviour: find the event that leads from one state to another. The charts make every decision about a task. `npm run statecharts` generates these pages from the code: change the chart, not its page.',
    [...table('Chart', 'What it is'), ...rows].join('\n'),
    'An arrow reads `event [guard]`; `[else]` is taken if no guard before it is true, and `always` needs no event. A box lists the actors that it invokes: an actor starts when the state is entered and is aborted when it is left. `think done` and `think failed` are the results of the actor `think`. The table below a diagram has the events that a state handles without leaving it, and its tags other than its name.',
  ].join('\n\n')}\n`;
}

function stateRow(node: AnyStateNode, charts: Chart[]): string[] {
  const inPlace = arrowsFrom(node)
    .filter(({ to }) => to === null)
    .map(({ label, actions }) => code([label, ...actions.map((name) => `→ ${name}`)].join(' ')));
  if (node.parent === undefined) {
    return inPlace.length === 0 ? [] : [row('any', '', inPlace.join('<br>'))];
  }
  const tags = node.tags.filter((tag) => tag !== node.key).map(code);
  const meaning = [
    node.description ?? '',
    ...node.invoke.flatMap((invoked) => pageOf(node, actorOf(invoked), charts)),
    ...(tags.length === 0 ? [] : [`Tags: ${tags.join(', ')}.`]),
  ];
  const cells = [meaning.filter((text) => text !== '').join(' '), inPlace.join('<br>')];
  return cells.every((cell) => cell === '') ? [] : [row(code(node.path.join('.')), ...cells)];
}

/** Links the page of an invoked chart. The diagram shows the other actors. */
function pageOf({ machine }: AnyStateNode, name: string, charts: Chart[]): string[] {
  const logic: unknown = machine.implementations.actors[name];
  const chart = charts.find((candidate) => candidate.machine === logic);
  return chart === undefined ? [] : [`Invokes [${code(name)}](${chart.name}.md).`];
}

function descriptionOf({ id, root }: AnyStateMachine): string {
  if (root.description === undefined) {
    throw new Error(`chart ${id} has no description; write one into its configuration`);
  }
  return root.description;
}

function table(...heads: string[]): string[] {
  return [row(...heads), row(...heads.map(() => '---'))];
}

function row(...cells: string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function code(text: string): string {
  return `\`${text}\``;
}
