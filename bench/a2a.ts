import { legacyStream, requestOf, send, sendRest } from './a2a-requests.ts';
import { Connections } from './connections.ts';
import { makeAgentFolder, startDaemon } from './daemon.ts';
import type { Figure } from './figure.ts';
import { Load, type Measured, measure, medianOf, percentile } from './load.ts';
import { startProgram } from './program.ts';

const rounds = 3;
const streams = 200;

/** Sends of a round, by the number of callers. */
const jobs: Readonly<Record<number, number>> = { 1: 200, 16: 1_200, 128: 1_200 };

/** One thing that is measured, over and over. */
interface Subject {
  what: string;
  run: () => Promise<void>;
}

/**
 * Echoes over JSON-RPC of A2A 0.3.0 and 1.0, next to the legacy send and the SDK's own server, which
 * keeps its tasks in memory and writes no audit log; all in one run.
 */
export async function a2aFigures(): Promise<Figure[]> {
  const folder = makeAgentFolder();
  const daemon = await startDaemon(folder.directory);
  const peer = await startProgram('a2a-sdk-server.ts');
  try {
    const ours = new Connections(daemon.url, { connections: 128 });
    const theirs = new Connections(peer.url, { connections: 128 });
    const legacy = new Load(daemon.url, 128);
    const subjects: Subject[] = [
      { what: 'legacy send', run: () => legacy.echo() },
      { what: 'message/send', run: () => send(ours, 'message/send') },
      { what: 'SendMessage', run: () => send(ours, 'SendMessage') },
      { what: 'REST 1.0', run: () => sendRest(ours) },
      { what: 'message/send of the SDK, in memory', run: () => send(theirs, 'message/send') },
    ];
    const figures = await echoFigures(subjects);
    const stream = requestOf.bind(null, 'message/stream');
    figures.push(
      await firstEvent('legacy stream, first event', ours, legacyStream),
      await firstEvent('A2A stream, first event, daemon', ours, stream),
      await firstEvent('A2A stream, first event, SDK, in memory', theirs, stream),
    );
    await Promise.all([ours.close(), theirs.close(), legacy.close()]);
    return figures;
  } finally {
    await daemon.stop();
    await peer.stop();
    folder.remove();
  }
}

async function echoFigures(subjects: Subject[]): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { run } of subjects) await measure(16, 600, run);
  for (const callers of [1, 16, 128]) {
    const measured = subjects.map((): Measured[] => []);
    for (let round = 0; round < rounds; round += 1) {
      for (const [index, { run }] of subjects.entries()) {
        measured[index]?.push(await measure(callers, jobs[callers] ?? 0, run));
      }
    }
    for (const [index, { what }] of subjects.entries()) {
      const { perSecond, p99 } = medianOf(measured[index] ?? []);
      const rate = Math.round(perSecond).toLocaleString('en');
      figures.push({
        what: `A2A echo, ${callers} at once, ${what}`,
        measured: `${rate}/s, p99 ${p99.toFixed(1)} ms`,
        aim: '',
      });
    }
  }
  return figures;
}

async function firstEvent(
  what: string,
  pool: Connections,
  request: () => ReturnType<typeof requestOf>,
): Promise<Figure> {
  const times: number[] = [];
  for (let index = 0; index < streams; index += 1) {
    const began = performance.now();
    const { body } = await pool.request(request());
    let isFirst = true;
    for await (const chunk of body) {
      if (isFirst && String(chunk).includes('data:')) {
        times.push(performance.now() - began);
        isFirst = false;
      }
    }
  }
  return {
    what,
    measured: `p50 ${percentile(times, 0.5).toFixed(2)} ms, p99 ${percentile(times, 0.99).toFixed(2)} ms`,
    aim: '',
  };
}
