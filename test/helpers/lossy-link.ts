import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** What a client sends of PostgreSQL to have its transaction kept. */
const commit = Buffer.from('COMMIT\0');

/** A way to a server on which answers are lost, or everything is. */
export class LossyLink {
  readonly #server: Server;
  readonly #clients = new Set<Socket>();
  readonly #servers = new Set<Socket>();
  readonly #target: number;
  #losing = 0;
  #isSilent = false;

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

  /** Passes nothing on from now on and ends nothing, as when a cable is pulled. */
  fallSilent(): void {
    this.#isSilent = true;
  }

  /** Passes new connections on again; those of the silence stay dead. */
  recover(): void {
    this.#isSilent = false;
  }

  #pass(client: Socket): void {
    const isDead = this.#isSilent;
    const server = connect(this.#target, '127.0.0.1');
    this.#clients.add(client);
    this.#servers.add(server);
    let isCut = false;
    const passes = () => !this.#isSilent && !isDead && !isCut;
    const whenSilent = () => {
      if (this.#isSilent) isCut = true;
    };
    client.on('data', (bytes) => {
      whenSilent();
      if (!passes()) return;
      server.write(bytes);
      if (this.#losing === 0 || !bytes.includes(commit)) return;
      this.#losing -= 1;
      isCut = true;
      client.destroy();
    });
    server.on('data', (bytes) => {
      whenSilent();
      if (passes()) client.write(bytes);
    });
    for (const socket of [client, server]) socket.on('error', () => undefined);
    client.on('close', () => {
      // A server that is to commit first finds out later.
      if (!isCut) server.destroy();
    });
    server.on('close', () => {
      if (passes()) client.destroy();
    });
  }

  async #close(): Promise<void> {
    for (const socket of [...this.#clients, ...this.#servers]) socket.destroy();
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }
}
