import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connectFrom } from './connect-from.ts';
import { type Daemon, makeAgentFolder, readMetrics, startDaemon } from './daemon.ts';
import type { Figure } from './figure.ts';
import { Load } from './load.ts';

const holds = 10_000;

/** As many heartbeats as there are of 25 seconds in ten minutes, in less time. */
const heartbeats = 24;
const heartbeat = 1;

/** Sends that are held, each on a connection of its own and nothing kept of it but how many bytes came back. */
class Held {
  readonly #sockets: Socket[] = [];
  bytes = 0;
  cut = 0;

  async hold(url: string, count: number, parked: (count: number) => Promise<void>): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      this.#sockets.push(this.#send(url, index));
      if (index % 200 === 199) await parked(index - 100);
    }
    await parked(count);
  }

  close(): void {
    for (const socket of this.#sockets) socket.removeAllListeners('close').destroy();
  }

  #send(url: string, index: number): Socket {
    const socket = connectFrom(url, index);
    socket.on('data', ({ length }: Buffer) => void (this.bytes += length));
    socket.once('close', () => void (this.cut += 1));
    const script = [{ tool: 'datetime_now' }, { say: 'it is {result}' }];
    const message = { parts: [{ kind: 'data', data: { script } }] };
    const body = JSON.stringify({ id: `h${index}`, message });
    socket.write(
      `POST /tasks/send HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    return socket;
  }
}

/** What ten minutes of heartbeats cost that keep 10,000 held sends open. */
export async function holdFigures(): Promise<Figure[]> {
  const { cpu, memory, bytes, cut } = await beating(heartbeat);
  const idle = await beating(0);
  const blanks = holds * heartbeats;
  const milliseconds = cpu - idle.cpu;
  const many = holds.toLocaleString('en');
  return [
    {
      what: `${many} held sends, ${heartbeats} heartbeats (ten minutes of 25 s): CPU`,
      measured: `${(milliseconds / 1_000).toFixed(2)} s, ${((milliseconds * 1_000) / blanks).toFixed(1)} µs each`,
      aim: '',
    },
    {
      what: `${many} held sends, ${heartbeats} heartbeats: bytes to each caller`,
      measured: `${Math.round(bytes / holds)} B, ${cut} cut off`,
      aim: '',
    },
    {
      what: `${many} held sends: memory of each, with heartbeats`,
      measured: `${kb(memory.heap)} heap, ${kb(memory.resident)} resident`,
      aim: '',
    },
    {
      what: `${many} held sends: memory of each, without`,
      measured: `${kb(idle.memory.heap)} heap, ${kb(idle.memory.resident)} resident`,
      aim: '',
    },
  ];
}

/** Holds the sends and measures a daemon over so many seconds as the heartbeats take; 0 seconds are none. */
async function beating(seconds: number) {
  const folder = makeAgentFolder({ server: `hold_heartbeat: ${seconds}s` });
  const daemon = await startDaemon(folder.directory);
  const held = new Held();
  try {
    const warm = new Load(daemon.url, 8);
    await warm.echo();
    const before = await daemon.memory();
    await held.hold(daemon.url, holds, (count) => deferredAtLeast(daemon, count));
    const began = await daemon.cpu();
    await pause(heartbeats * heartbeat * 1_000);
    const cpu = (await daemon.cpu()) - began;
    const after = await daemon.memory();
    await warm.close();
    const memory = {
      heap: (after.heap - before.heap) / holds,
      resident: (after.resident - before.resident) / holds,
    };
    return { cpu, memory, bytes: held.bytes, cut: held.cut };
  } finally {
    held.close();
    await daemon.stop();
    folder.remove();
  }
}

async function deferredAtLeast({ url }: Daemon, count: number): Promise<void> {
  // The daemon is not to be kept busy with being asked.
  while ((await readMetrics(url))('holdpoint_deferrals_pending') < count) await pause(50);
}

function kb(bytes: number): string {
  return `${(bytes / 1_024).toFixed(1)} KB`;
}
