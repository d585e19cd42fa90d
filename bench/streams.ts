import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type Daemon, makeAgentFolder, readMetrics, startDaemon } from './daemon.ts';
import type { Figure } from './figure.ts';
import { startProgram } from './program.ts';

const perSecond = 50;

/** Seconds that each answer takes, and that of them are measured. */
const lasting = 60;
const measured = 15;

/** Milliseconds between two looks of the daemon at its own event loop, which are part of what it tells. */
const period = 10;

/** Milliseconds that all may take to begin; who has not begun by then is late, and is measured all the same. */
const patience = 20_000;

const mark = '~'.charCodeAt(0);

/** Streams that are followed, of each of which nothing is kept but how many tokens came. */
class Followed {
  readonly #sockets: Socket[] = [];
  tokens = 0;
  /** Streams that have had a token. */
  flowing = 0;
  /** Streams that closed before the end of their answer. */
  cut = 0;

  follow(url: string, index: number): void {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) });
    let hasFlowed = false;
    let hasEnded = false;
    socket.on('error', () => undefined);
    socket.on('data', (data: Buffer) => {
      if (hasEnded) return;
      const before = this.tokens;
      // The result repeats the whole text.
      const end = data.indexOf('event: result');
      hasEnded = end >= 0;
      const streamed = hasEnded ? data.subarray(0, end) : data;
      for (let at = streamed.indexOf(mark); at >= 0; at = streamed.indexOf(mark, at + 1)) {
        this.tokens += 1;
      }
      if (hasFlowed || this.tokens === before) return;
      hasFlowed = true;
      this.flowing += 1;
    });
    socket.once('close', () => void (this.cut += hasEnded ? 0 : 1));
    const message = { parts: [{ kind: 'text', text: 'hello' }] };
    const body = JSON.stringify({ id: `s${index}`, message });
    socket.write(
      `POST /tasks/sendSubscribe HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    this.#sockets.push(socket);
  }

  close(): void {
    for (const socket of this.#sockets) socket.removeAllListeners('close').destroy();
  }
}

/** What so many answers at 50 tokens a second cost that are streamed at once. */
export async function streamFigures(streams: number): Promise<Figure[]> {
  const provider = await startProgram('chat-server.ts');
  const model = `{provider: openai-compatible, name: rate-${perSecond}-${perSecond * lasting}, base_url: "${provider.url}/v1"}`;
  const folder = makeAgentFolder({ model });
  const daemon = await startDaemon(folder.directory);
  const followed = new Followed();
  try {
    const before = await daemon.memory();
    for (let index = 0; index < streams; index += 1) {
      followed.follow(daemon.url, index);
      if (index % 20 === 19) await pause(50);
    }
    const late = performance.now() + patience;
    while (followed.flowing < streams - followed.cut && performance.now() < late) await pause(50);
    return await figures(daemon, followed, { streams, before });
  } finally {
    followed.close();
    await daemon.stop();
    await provider.stop();
    folder.remove();
  }
}

async function figures(
  daemon: Daemon,
  followed: Followed,
  { streams, before }: { streams: number; before: Awaited<ReturnType<Daemon['memory']>> },
): Promise<Figure[]> {
  // The daemon forgets how late it was whenever it has told.
  const cpuBefore = (await readMetrics(daemon.url))('process_cpu_seconds_total');
  const [began, tokensBefore] = [performance.now(), followed.tokens];
  await pause(measured * 1_000);
  const tokens = followed.tokens - tokensBefore;
  const value = await readMetrics(daemon.url);
  const seconds = (performance.now() - began) / 1_000;
  const cpu = value('process_cpu_seconds_total') - cpuBefore;
  const after = await daemon.memory();
  const lag = (share: string) =>
    `${Math.max(0, value(`nodejs_eventloop_lag_${share}_seconds`) * 1_000 - period).toFixed(1)} ms`;
  const what = `${streams.toLocaleString('en')} streams at ${perSecond} tokens/s`;
  const figure = (name: string, said: string): Figure => ({
    what: `${what}: ${name}`,
    measured: said,
    aim: '',
  });
  const rate = Math.round(tokens / seconds).toLocaleString('en');
  return [
    figure(
      'tokens delivered',
      `${rate}/s of ${(streams * perSecond).toLocaleString('en')}; ${followed.flowing} streams began, ${followed.cut} were cut off`,
    ),
    figure(
      'CPU of the daemon',
      `${((cpu / seconds) * 100).toFixed(0)} % of a core, ${((cpu / tokens) * 1e6).toFixed(1)} µs a token`,
    ),
    figure('event loop delay of the daemon', `p50 ${lag('p50')}, p99 ${lag('p99')}`),
    figure(
      'memory of the daemon',
      `heap ${mb(before.heap)} to ${mb(after.heap)}, resident ${mb(before.resident)} to ${mb(after.resident)}`,
    ),
  ];
}

function mb(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`;
}
