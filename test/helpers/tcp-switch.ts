import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** An address of loopback that leads to one server and then to another, as that of a managed database does. */
export class TcpSwitch {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #target: number;

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#pass(client));
  }

  /** Opens an address that leads to a port. */
  static async open(target: number): Promise<TcpSwitch> {
    const opened = new TcpSwitch(target);
    opened.#server.listen(0, '127.0.0.1');
    await once(opened.#server, 'listening');
    return opened;
  }

  /** The port of the address. */
  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Leads to another port from now on, and ends what led to the one before. */
  leadTo(target: number): void {
    this.#target = target;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Ends every connection and the address. */
  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }

  #pass(client: Socket): void {
    const server = connect(this.#target, '127.0.0.1');
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        this.#sockets.delete(one);
        other.destroy();
      });
    }
    client.pipe(server).pipe(client);
  }
}
