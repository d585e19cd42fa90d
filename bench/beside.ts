import { send } from './a2a-requests.ts';
import { Connections } from './connections.ts';
import { cpuTimeOf } from './cpu-time.ts';
import { makeAgentFolder, startDaemon } from './daemon.ts';
import type { Figure } from './figure.ts';
import { Load, measure, percentile } from './load.ts';
import { startProgram } from './program.ts';

const turns = 5;

/** Returns how often each turn does its work. */
export function jobsOf(callers: number): number {
  return callers === 1 ? 600 : 3_000;
}

/** One way to send, and the process that answers. */
export interface Subject {
  what: string;
  pid: number;
  run: () => Promise<void>;
}

/** What a turn measured: sends a second, and CPU milliseconds of the process for each. */
interface Turn {
  perSecond: number;
  cpu: number;
}

/**
 * Durable echoes of the daemon next to those of the SDK's own server, which keeps its tasks in memory and writes no log:
 * both processes are alive at once, the same client sends to them in turns, and each figure is the median of five. The
 * CPU time for a request is what a noisy machine cannot bend.
 */
export async function besideFigures(): Promise<Figure[]> {
  const folder = makeAgentFolder();
  const daemon = await startDaemon(folder.directory);
  const peer = await startProgram('a2a-sdk-server.ts');
  const [ours, theirs] = [daemon, peer].map(
    ({ url }) => new Connections(url, { connections: 128 }),
  );
  const legacy = new Load(daemon.url, 128);
  try {
    if (ours === undefined || theirs === undefined) return [];
    const subjects: Subject[] = [
      { what: 'SDK in memory, message/send', ...peer, run: () => send(theirs, 'message/send') },
      { what: 'daemon, message/send', ...daemon, run: () => send(ours, 'message/send') },
      { what: 'SDK in memory, SendMessage', ...peer, run: () => send(theirs, 'SendMessage') },
      { what: 'daemon, SendMessage', ...daemon, run: () => send(ours, 'SendMessage') },
      { what: 'daemon, POST /tasks/send', ...daemon, run: () => legacy.echo() },
    ];
    for (const { run } of subjects) await measure(16, 2_000, run);
    const figures: Figure[] = [];
    for (const callers of [1, 16, 128]) figures.push(...(await figuresOf(subjects, callers)));
    return figures;
  } finally {
    await Promise.all([ours?.close(), theirs?.close(), legacy.close()]);
    await daemon.stop();
    await peer.stop();
    folder.remove();
  }
}

async function figuresOf(subjects: readonly Subject[], callers: number): Promise<Figure[]> {
  const measured = subjects.map((): Turn[] => []);
  for (let turn = 0; turn < turns; turn += 1) {
    for (const [index, subject] of subjects.entries()) {
      measured[index]?.push(await take(subject, callers));
    }
  }
  return subjects.map(({ what }, index) => {
    const median = (key: keyof Turn) =>
      percentile(measured[index]?.map((turn) => turn[key]) ?? [], 0.5);
    const rate = Math.round(median('perSecond')).toLocaleString('en');
    return {
      what: `side by side, ${callers} at once: ${what}`,
      measured: `${median('cpu').toFixed(2)} ms of CPU each, ${rate}/s`,
      aim: what.startsWith('daemon') ? '1.2 times the CPU of the SDK, at its rate' : '',
    };
  });
}

/** Measures one turn of a subject. */
export async function take({ pid, run }: Subject, callers: number): Promise<Turn> {
  const count = jobsOf(callers);
  const before = cpuTimeOf(pid);
  const { perSecond } = await measure(callers, count, run);
  return { perSecond, cpu: (cpuTimeOf(pid) - before) / count };
}
