import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connectFrom } from './connect-from.ts';
import { makeAgentFolder, startDaemon } from './daemon.ts';
import { type Figure, mebibytes, spread } from './figure.ts';
import { Load } from './load.ts';

const readers = 5_000;

/** Readers that ask for the stream and then read nothing. */
const slow = 250;

/** Tasks that are sent while they read, one after the other. */
const tasks = 400;

const marker = Buffer.from('event: task');

/** Readers of every change of an agent, of each of which nothing is kept but how many changes came. */
class Readers {
  readonly #sockets: Socket[] = [];
  /** Changes that each reader received, by its number. */
  readonly told: number[] = [];
  cut = 0;

  /** Connects all of them, and resolves once they follow. */
  async follow(url: string): Promise<void> {
    for (let index = 0; index < readers; index += 1) {
      this.told.push(0);
      this.#sockets.push(this.#read(url, index));
      // What sends no request in time is closed.
      if (index % 100 === 99) await this.#following(index + 1);
    }
  }

  async #following(count: number): Promise<void> {
    while (this.#sockets.slice(slow).filter(({ bytesRead }) => bytesRead > 0).length < count - slow)
      await pause(2);
  }

  /** Resolves once no reader has received a change for a second. */
  async caughtUp(): Promise<void> {
    for (let before = -1; before !== this.total; ) {
      before = this.total;
      await pause(1_000);
    }
  }

  /** Changes that all of them received. */
  get total(): number {
    return this.told.reduce((sum, count) => sum + count, 0);
  }

  close(): void {
    for (const socket of this.#sockets) socket.removeAllListeners('close').destroy();
  }

  #read(url: string, index: number): Socket {
    const socket = connectFrom(url, index);
    socket.once('close', () => void (this.cut += 1));
    socket.write('GET /events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n');
    if (index < slow) return socket.pause();
    socket.on('data', (data: Buffer) => {
      for (let at = data.indexOf(marker); at >= 0; at = data.indexOf(marker, at + 1)) {
        this.told[index] = (this.told[index] ?? 0) + 1;
      }
    });
    return socket;
  }
}

/** What it costs to tell 5,000 readers of every change, 250 of whom do not read. */
export async function readerFigures(): Promise<Figure[]> {
  const folder = makeAgentFolder();
  const daemon = await startDaemon(folder.directory);
  const followed = new Readers();
  const load = new Load(daemon.url, 4);
  try {
    await load.echo();
    const before = await daemon.memory();
    await followed.follow(daemon.url);
    await pause(1_000);
    const connected = await daemon.memory();
    const answers: number[] = [];
    const cpuBefore = await daemon.cpu();
    const began = performance.now();
    for (let sent = 0; sent < tasks; sent += 1) {
      const asked = performance.now();
      await load.echo();
      answers.push(performance.now() - asked);
    }
    await followed.caughtUp();
    const seconds = (performance.now() - began) / 1_000;
    const cpu = (await daemon.cpu()) - cpuBefore;
    const after = await daemon.memory();
    const read = followed.told.slice(slow).toSorted((one, other) => one - other);
    const told = followed.total;
    const many = `${readers.toLocaleString('en')} readers of every change, ${slow} of whom do not read`;
    return [
      {
        what: `${many}: ${tasks} changes told`,
        measured: `${read[0]} to ${read.at(-1)} changes each, ${Math.round(told / seconds).toLocaleString('en')}/s, ${((cpu * 1_000) / told).toFixed(1)} µs each`,
        aim: '',
      },
      {
        what: `${many}: a send meanwhile`,
        measured: spread(answers),
        aim: '',
      },
      {
        what: `${many}: heap, resident before, connected, after`,
        measured: [before, connected, after]
          .map(({ heap, resident }) => `${mebibytes(heap)}, ${mebibytes(resident)}`)
          .join('; '),
        aim: '',
      },
      { what: `${many}: cut off`, measured: `${followed.cut}`, aim: `${slow} at most` },
    ];
  } finally {
    followed.close();
    await load.close();
    await daemon.stop();
    folder.remove();
  }
}
