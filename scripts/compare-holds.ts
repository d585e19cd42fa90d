// Runs the checks of holds against the gate and the peers of bench/peers, and writes docs/holds-compared.md:
// `npm run compare:holds`. Peers are installed into a temporary folder, as their locks have them.
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type ComparedPeer, comparedPeers } from '../bench/peers/compared.ts';
import { install } from '../bench/peers/install-peer.ts';
import { peerHolds } from '../bench/peers/peer-holds.ts';
import {
  type HoldReport,
  type HoldResult,
  holdChecks,
  holdGroups,
  runHoldChecks,
} from '../packages/testing/holds/holds.ts';
import { gateHolds } from '../test/conformance/gate-holds.ts';

const root = join(import.meta.dirname, '..');

/** A column of the table: its report, or why there is none. */
interface Column {
  title: string;
  peer: ComparedPeer | null;
  report: HoldReport | string;
}

const folder = mkdtempSync(join(tmpdir(), 'holdpoint-compare-'));
// PostgreSQL runs as another user where this program is root.
chmodSync(folder, 0o755);
try {
  const columns = [await checkGate()];
  const isSource = (path: string) => basename(path) !== 'node_modules';
  cpSync(join(root, 'bench/peers'), folder, { recursive: true, filter: isSource });
  for (const peer of comparedPeers(folder)) columns.push(await checkPeer(peer));
  for (const { title, report } of columns) {
    const result = typeof report === 'string' ? report : countsOf(report);
    console.log(`${title}: ${result}`);
  }
  const unexplained = columns.flatMap(unexplainedIn);
  if (unexplained.length > 0) {
    for (const what of unexplained) console.error(`no reason in bench/peers/compared.ts: ${what}`);
    process.exitCode = 1;
  } else writeFileSync(join(root, 'docs/holds-compared.md'), pageOf(columns));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Checks the gate of this clone, configured as docs/holds-kit.md shows it. */
async function checkGate(): Promise<Column> {
  const gate = join(folder, 'gate');
  mkdirSync(gate);
  const page = readFileSync(join(root, 'docs/holds-kit.md'), 'utf8');
  writeFileSync(join(gate, 'service.yaml'), /```yaml\n([^]*?)```/.exec(page)?.[1] ?? '');
  const args = [join(root, 'src/cli.ts'), 'run', '--dir', gate, '--port', '0'];
  const report = await runHoldChecks(gateHolds(process.execPath, args));
  return { title: 'Holdpoint', peer: null, report };
}

async function checkPeer(peer: ComparedPeer): Promise<Column> {
  try {
    await install(peer.folder);
    return { title: peer.name, peer, report: await runHoldChecks(peerHolds(peer)) };
  } catch (error) {
    const report = error instanceof Error ? error.message : String(error);
    return { title: peer.name, peer, report };
  }
}

function countsOf({ passed, failed, notOffered }: HoldReport): string {
  return `${passed} passed, ${failed} failed, ${notOffered} not offered`;
}

function reasonOf(peer: ComparedPeer | null, id: string): number {
  return peer?.reasons.findIndex(({ checks }) => checks.includes(id)) ?? -1;
}

/** Failed checks without a reason. */
function unexplainedIn({ title, peer, report }: Column): string[] {
  if (typeof report === 'string') return [];
  return report.results.flatMap((result) =>
    result.status === 'failed' && reasonOf(peer, result.id) === -1
      ? [`${title}, ${result.id}: ${result.why}`]
      : [],
  );
}

function pageOf(columns: readonly Column[]): string {
  const header = ['Check', ...columns.map(({ title }) => title)];
  const lines = holdGroups.flatMap((group) => [
    row([`**${group}**`, ...columns.map(() => '')]),
    ...holdChecks
      .filter((check) => check.group === group)
      .map(({ id, title }) => row([title, ...columns.map((column) => cellOf(column, id))])),
  ]);
  const counts = columns.map(({ report }) =>
    typeof report === 'string' ? 'not run' : countsOf(report).replaceAll(', ', '<br>'),
  );
  return `# Holds of other systems

Reference. For readers who compare Holdpoint with an engine or library: see which [checks of holds](holds-kit.md) each system passes, and why one
fails. \`npm run compare:holds\` in a clone runs them and writes this page.

An adapter of under 50 lines in \`bench/peers/*/holds.mjs\` drives each system through its public API, by the approval pattern
of its documentation. It takes no lock, and keeps nothing outside the system except a file to which the tool writes its runs. Approver, note
and changed arguments are data that it sends with a decision and reads back.

The checks describe a gate, and we wrote them. The other systems are engines and libraries on which an application can build one, so \`–\` (not offered)
is not a fault. \`✗\` is a promise that the system breaks when it is used this way; the number names the reason below.
\`take\`, \`claim\` and \`report\` do not apply to the other systems, which run the calls themselves.

Run with Node ${process.versions.node} on ${cpus().length} cores (${process.platform} ${process.arch}), each system as one process; several processes over one store were not compared.
The script installs the packages with \`npm ci --ignore-scripts\` into a temporary folder. As root, it runs PostgreSQL for DBOS as the user \`postgres\`.

${row(['', ...columns.map(({ title }) => title)])}
${row(header.map(() => '---'))}
${row(['Result', ...counts])}

${columns.flatMap((column) => sectionOf(column)).join('\n')}
## Every check

\`✓\` passed, \`✗\` failed, \`–\` not offered.

${row(header)}
${row(header.map(() => '---'))}
${lines.join('\n')}
`;
}

function sectionOf({ title, peer, report }: Column): string[] {
  if (peer === null) return [];
  const intro = `## ${title}\n\nPackages: ${peer.packages}.\n\n${peer.pattern}\n\n${peer.claims}\n`;
  if (typeof report === 'string') return [`${intro}\nIt could not run here: ${report}\n`];
  const failed = report.results.filter((result) => result.status === 'failed');
  const missing = report.results.flatMap((result) =>
    result.status === 'not offered' ? result.missing : [],
  );
  const reasons = peer.reasons.flatMap(({ why, checks }, index) => {
    const its = failed.filter(({ id }) => checks.includes(id));
    const [first] = its;
    return first === undefined ? [] : [`${index + 1}. ${why} ${exampleOf(first)}`];
  });
  const offered = `Not offered: ${[...new Set(missing)].toSorted().join(', ')}.\n`;
  return [`${intro}\n${offered}\n${reasons.join('\n')}\n`];
}

function exampleOf(result: HoldResult & { status: 'failed' }): string {
  return `Example: \`${result.id}\`, ${result.why}.`;
}

function cellOf({ peer, report }: Column, id: string): string {
  const result = typeof report === 'string' ? null : report.results.find((one) => one.id === id);
  switch (result?.status) {
    case 'passed':
      return '✓';
    case 'failed':
      return `✗ ${reasonOf(peer, id) + 1}`;
    default:
      return '–';
  }
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
