import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Connections } from './connections.ts';
import { type Daemon, makeAgentFolder, startDaemon } from './daemon.ts';
import type { Figure } from './figure.ts';
import { measure } from './load.ts';

const skills = 1_000;
const callers = 16;
const path = '/.well-known/agent-card.json';

/** What reading the card of an agent with a thousand skills costs, and how soon an edit of one shows. */
export async function cardFigures(): Promise<Figure[]> {
  const folder = makeAgentFolder();
  for (let index = 0; index < skills; index += 1) writeSkill(folder.directory, index, 'Does this.');
  const daemon = await startDaemon(folder.directory);
  const pool = new Connections(daemon.url, { connections: callers });
  const read = async (headers: Record<string, string> = {}) => {
    const { body, headers: answered } = await pool.request({ method: 'GET', path, headers });
    return { text: await body.text(), etag: String(answered['etag']) };
  };
  try {
    const { text, etag } = await read();
    await measure(callers, 500, async () => void (await read()));
    const whole = await measure(1, 1_000, async () => void (await read()));
    const known = await measure(1, 1_000, async () => void (await read({ 'if-none-match': etag })));
    const many = await measure(callers, 4_000, async () => void (await read()));
    writeSkill(folder.directory, 500, 'Does that.');
    const shown = await untilChanged(async () => (await read()).etag, etag);
    return [
      figure('size', `${(text.length / 1_024).toFixed(0)} KiB`),
      figure('a read', `p50 ${whole.p50.toFixed(1)} ms, p99 ${whole.p99.toFixed(1)} ms`),
      figure('a conditional read', `p50 ${known.p50.toFixed(1)} ms`),
      figure(`reads, ${callers} at once`, `${Math.round(many.perSecond).toLocaleString('en')}/s`),
      figure('an edit of one skill shows after', `${shown.toFixed(0)} ms`),
      figure('process start to ready', readyAfter(daemon)),
    ];
  } finally {
    await pool.close();
    await daemon.stop();
    folder.remove();
  }
}

function writeSkill(directory: string, index: number, description: string): void {
  const name = `skill-${index}`;
  mkdirSync(join(directory, 'skills', name), { recursive: true });
  writeFileSync(
    join(directory, 'skills', name, 'SKILL.md'),
    `---\nname: ${name}\ndescription: ${description}\ncategory: bench\ntags: [one, two]\n---\nHow.\n`,
  );
}

/** Milliseconds until an answer, asked for over and over, differs. */
async function untilChanged(ask: () => Promise<string>, before: string): Promise<number> {
  const began = performance.now();
  while ((await ask()) === before) {
    if (performance.now() - began > 15_000) throw new Error('the edit did not show');
    await setTimeout(10);
  }
  return performance.now() - began;
}

function readyAfter({ readyAfter: milliseconds }: Daemon): string {
  return `${milliseconds.toFixed(0)} ms`;
}

function figure(what: string, measured: string): Figure {
  return { what: `card of ${skills.toLocaleString('en')} skills: ${what}`, measured, aim: '' };
}
