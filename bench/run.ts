import { readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { a2aFigures } from './a2a.ts';
import { auditFigures } from './audit.ts';
import { auditLagFigures } from './audit-lag.ts';
import { auditedSaveFigures, auditLoopFigures, auditWriterFigures } from './audit-writer.ts';
import { backupFigures } from './backup.ts';
import { besideFigures } from './beside.ts';
import { cardFigures } from './card.ts';
import { clickFigures, floodFigures } from './channels.ts';
import { checkCosts } from './check.ts';
import { doorFigures } from './door.ts';
import { egressFigures } from './egress.ts';
import type { Figure } from './figure.ts';
import { gateFigures, waitingHoldFigures } from './gate.ts';
import { gatewayFigures } from './gateway.ts';
import { governanceFigures } from './governance.ts';
import { guardrailFigures } from './guardrails.ts';
import { soakFigures } from './half-peak.ts';
import { holdFigures } from './holds.ts';
import { hookFigures } from './hook.ts';
import { cyclesInProcess } from './in-process.ts';
import { listFigures } from './lists.ts';
import { mcpHeldFigures } from './mcp-held.ts';
import { mcpTaskFigures } from './mcp-tasks.ts';
import { longListFigures, manyAgentsFigures, pageFigures } from './page.ts';
import { parkedMillionFigures } from './parked-million.ts';
import { peersSection } from './peers.ts';
import { readerFigures } from './readers.ts';
import { replicaFigures } from './replicas.ts';
import {
  coldStartFigures,
  cycleFigures,
  echoFigures,
  heldFigures,
  restingFigures,
  resumeFigures,
} from './scenarios.ts';
import { scrapeFigures } from './scrapes.ts';
import { streamFigures } from './streams.ts';
import { takeoverFigures } from './takeover.ts';
import { turnFigures } from './turns.ts';
import { withSections } from './with-sections.ts';

const parts: Record<string, () => Promise<Figure[]>> = {
  echo: echoFigures,
  door: doorFigures,
  a2a: a2aFigures,
  beside: besideFigures,
  turns: turnFigures,
  streams100: () => streamFigures(100),
  streams1k: () => streamFigures(1_000),
  card: cardFigures,
  cycle: cycleFigures,
  inProcess: cyclesInProcess,
  gate: gateFigures,
  hook: hookFigures,
  waitingHolds100k: () => waitingHoldFigures(10_000, 100_000),
  governance: governanceFigures,
  guardrails: guardrailFigures,
  egress: egressFigures,
  slackClick: clickFigures,
  slackFlood: () => floodFigures(),
  audit: auditFigures,
  auditWriter: auditWriterFigures,
  auditedSave: auditedSaveFigures,
  auditLoop: auditLoopFigures,
  auditLag: auditLagFigures,
  held1k: () => heldFigures(1_000),
  held10k: () => heldFigures(10_000),
  holds: holdFigures,
  lists: listFigures,
  backup: backupFigures,
  scrapes: scrapeFigures,
  gateway: gatewayFigures,
  mcpTasks: () => mcpTaskFigures(10_000),
  mcpHeld: () => mcpHeldFigures(10_000),
  page: pageFigures,
  page10k: longListFigures,
  page20: manyAgentsFigures,
  start: coldStartFigures,
  resting10k: () => restingFigures(10_000),
  resume10k: () => resumeFigures(10_000),
  resume100k: () => resumeFigures(100_000),
  readers5k: readerFigures,
  replicas: replicaFigures,
  takeover: takeoverFigures,
};

/** Parts that take long, and run when they are named alone. */
const longParts: typeof parts = { parkedMillion: parkedMillionFigures, soak: soakFigures };

/** Parts that write a section of their own. */
const sections: Record<string, () => Promise<string>> = { peers: peersSection };

const wanted = process.argv.slice(2);
if (wanted.includes('--check') || wanted.includes('--commit')) {
  const found = await checkCosts(wanted.includes('--commit'));
  for (const line of found) console.error(line);
  process.exit(found.length === 0 ? 0 : 1);
}
const isWanted = (name: string): boolean => wanted.length === 0 || wanted.includes(name);
const figures: Figure[] = [];
const written: string[] = [];
const chosen = [
  ...Object.entries(parts).filter(([name]) => isWanted(name)),
  ...Object.entries(longParts).filter(([name]) => wanted.includes(name)),
];
for (const [, part] of chosen) {
  for (const figure of await part()) {
    figures.push(figure);
    console.log(
      `${figure.what}: ${figure.measured}${figure.aim === '' ? '' : ` (aim ${figure.aim})`}`,
    );
  }
}
for (const [name, section] of Object.entries(sections)) {
  if (!isWanted(name)) continue;
  const text = await section();
  written.push(text);
  console.log(text);
}
if (wanted.length === 0) {
  writeInto('../docs/benchmarks.md', written);
  writeInto('figures.md', [report()]);
}

function writeInto(file: string, parts: readonly string[]): void {
  const path = join(import.meta.dirname, file);
  writeFileSync(path, withSections(readFileSync(path, 'utf8'), parts));
}

function report(): string {
  const [cpu] = cpus();
  const rows = figures.map(({ what, measured, aim }) => `| ${what} | ${measured} | ${aim} |`);
  return `## Alone

Written by \`npm run bench\`. Daemon and load share one machine: ${cpus().length} cores
(${cpu?.model ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB, Linux, Node ${process.version}. Every task and audit line is committed
with \`synchronous=FULL\` before any response. Rates are the median of three runs.

| What | Measured | Aim |
|---|---|---|
${rows.join('\n')}
`;
}
