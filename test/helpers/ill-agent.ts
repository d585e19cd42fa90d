import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import {
  type AddressInfo,
  createServer as createListener,
  type Server,
  type Socket,
} from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { agentProof } from '../../src/actors/agent-proof.ts';
import { writeServeFile } from '../../src/actors/process/serve-file.ts';

const proofKey = 'of-this-agent';

/** A secret that an agent shows only to readers of its folder. */
export const runtimeToken = 'of-the-agent-itself';

/** An agent of a workspace that is served by this process, and behaves as a test likes. */
export class IllAgent {
  /** What it was asked, as `GET /tasks`, without what proves who it is. */
  readonly asked: string[] = [];
  /** The `Authorization` of each of these. */
  readonly shown: (string | undefined)[] = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined).once('close', () => this.#sockets.delete(socket));
    });
  }

  /** Opens one that proves to be the agent and then answers in this way; `isProven` is false for an impostor. */
  static async open(answer: RequestListener, isProven = true): Promise<IllAgent> {
    const server = createServer((request, response) => {
      const challenge = request.headers['x-service-challenge'];
      if (request.url === '/healthz' && typeof challenge === 'string') {
        const proof = agentProof(isProven ? proofKey : 'guessed', challenge, agent.#port);
        return void response.setHeader('x-service-proof', proof).end('{}');
      }
      agent.asked.push(`${request.method} ${request.url}`);
      agent.shown.push(request.headers.authorization);
      response.on('error', () => undefined);
      answer(request, response);
    });
    const agent = new IllAgent(server);
    return agent.#listen();
  }

  /** Opens one that does this with every connection, for any request. */
  static async raw(meet: (socket: Socket) => void): Promise<IllAgent> {
    const agent = new IllAgent(createListener((socket) => meet(socket.resume())));
    return agent.#listen();
  }

  /** How many connections to it are open. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Makes its folder in a workspace, where it runs. */
  settle(workspace: string, id: string): void {
    const folder = join(workspace, id);
    const state = join(folder, '.service');
    mkdirSync(state, { recursive: true });
    writeFileSync(join(folder, 'service.yaml'), `agent_id: ${id}\n`);
    writeFileSync(join(state, 'runtime.token'), runtimeToken, { mode: 0o600 });
    // This process holds its lock, as the daemon of a folder does.
    const lock = openSync(join(state, 'daemon.lock'), 'w');
    onTestFinished(() => closeSync(lock));
    writeServeFile(state, {
      ...{ pid: process.pid, port: this.#port, host: '127.0.0.1', auth_enabled: true },
      ...{ token_path: '', started_at: new Date().toISOString(), version: '1.0.0' },
      proof_key: proofKey,
    });
  }

  get #port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async #listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    onTestFinished(() => {
      this.#server.close();
      for (const socket of this.#sockets) socket.destroy();
    });
    return this;
  }
}
