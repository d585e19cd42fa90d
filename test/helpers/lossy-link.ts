import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** What a client sends of PostgreSQL to have its transaction kept. */
const commit = Buffer.from('COMMIT\0');

/** Ways on which nothing is passed on any more. */
type Silence = { there: boolean; back: boolean };

const silences = {
  both: { there: true, back: true },
  there: { there: true, back: false },
  back: { there: false, back: true },
} satisfies Record<string, Silence>;

/** A way to a server on which answers are lost, or everything is. */
export class LossyLink {
  readonly #server: Server;
  readonly #clients = new Set<Socket>();
  readonly #servers = new Set<Socket>();
  readonly #target: number;
  #losing = 0;
  #isStalling = false;
  #silence: Silence = { there: false, back: false };

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#pass(client));
  }

  /** Opens a way to a port of loopback, until the test ends. */
  static async open(target: number): Promise<LossyLink> {
    const link = new LossyLink(target);
    link.#server.listen(0, '127.0.0.1');
    await once(link.#server, 'listening');
    onTestFinished(() => link.#close());
    return link;
  }

  /** Where it begins. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** How many commits are still to get no answer. */
  get losing(): number {
    return this.#losing;
  }

  /** Cuts the client off at each of its next commits, which the server is given all the same. */
  loseCommits(count: number): void {
    this.#losing = count;
  }

  /** Passes nothing on from now on, there or back or both, and ends nothing, as when a cable is pulled. */
  fallSilent(way: keyof typeof silences = 'both'): void {
    this.#silence = silences[way];
  }

  /** Passes nothing of the next connection on that is to commit, from there on: its transaction stays open. */
  stallCommit(): void {
    this.#isStalling = true;
  }

  /** Passes new connections on again; those of the silence stay dead. */
  recover(): void {
    this.#silence = { there: false, back: false };
  }

  #pass(client: Socket): void {
    const server = connect(this.#target, '127.0.0.1');
    this.#clients.add(client);
    this.#servers.add(server);
    // What was not passed on cannot be made up for later.
    const lost = { there: false, back: false };
    const passes = (way: keyof Silence): boolean => {
      lost[way] ||= this.#silence[way];
      return !lost[way];
    };
    client.on('data', (bytes) => {
      if (!passes('there')) return;
      if (this.#isStalling && bytes.includes(commit)) {
        this.#isStalling = false;
        Object.assign(lost, { there: true, back: true });
        return;
      }
      server.write(bytes);
      if (this.#losing === 0 || !bytes.includes(commit)) return;
      this.#losing -= 1;
      Object.assign(lost, { there: true, back: true });
      client.destroy();
    });
    server.on('data', (bytes) => {
      if (passes('back')) client.write(bytes);
    });
    for (const socket of [client, server]) socket.on('error', () => undefined);
    client.on('close', () => {
      // A server that is to commit first finds out later.
      if (passes('there')) server.destroy();
    });
    server.on('close', () => {
      if (passes('back')) client.destroy();
    });
  }

  async #close(): Promise<void> {
    for (const socket of [...this.#clients, ...this.#servers]) socket.destroy();
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }
}
