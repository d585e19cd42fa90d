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
    descriptionOf(machine),
    `Drawn from [\`${source}\`](../../${source}) by \`npm run statecharts\`; change the chart, not this page.`,
    ['```mermaid', diagram(machine.root), '```'].join('\n'),
    '## States',
    [...table('State', 'Meaning', 'Tags', 'Invokes', 'Handled without leaving'), ...rows].join(
      '\n',
    ),
  ].join('\n\n')}\n`;
}

/** Writes the page that lists every chart and says how a diagram is read. */
export function indexPage(charts: Chart[]): string {
  const rows = charts.map(({ name, machine }) =>
    row(`[${machine.id}](${name}.md)`, descriptionOf(machine).replace(/(?<=\.) .*$/s, '')),
  );
  return `${[
    '# Statecharts',
    'Everything that is decided about a task is decided in these charts. The pages are drawn from the code, and a test fails when one no longer matches it.',
    [...table('Chart', 'What it is'), ...rows].join('\n'),
    'An arrow reads `event [guard]`, and `[else]` is taken when no guard before it held; `always` needs no event. `think done` and `think failed` are the two ends of the invoked actor `think`. A box lists what it invokes: the actor starts when the state is entered and is aborted when it is left. What a state handles without leaving it stands in the table below its diagram.',
  ].join('\n\n')}\n`;
}

function stateRow(node: AnyStateNode, charts: Chart[]): string[] {
  const inPlace = arrowsFrom(node)
    .filter(({ to }) => to === null)
    .map(({ label, actions }) => code([label, ...actions.map((name) => `→ ${name}`)].join(' ')));
  if (node.parent === undefined) {
    return inPlace.length === 0 ? [] : [row('any', '', '', '', inPlace.join('<br>'))];
  }
  const cells = [
    code(node.path.join('.')),
    node.description ?? '',
    node.tags.map(code).join(', '),
    node.invoke.map((invoked) => actorCell(node, actorOf(invoked), charts)).join(', '),
    inPlace.join('<br>'),
  ];
  return [row(...cells)];
}

/** Names an invoked actor, with a link when it is a chart that has a page. */
function actorCell({ machine }: AnyStateNode, name: string, charts: Chart[]): string {
  const logic: unknown = machine.implementations.actors[name];
  const chart = charts.find((candidate) => candidate.machine === logic);
  return chart === undefined ? code(name) : `[${code(name)}](${chart.name}.md)`;
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
