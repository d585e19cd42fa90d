import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Arguments, Feature, HoldsAdapter } from '../../packages/testing/holds/holds.ts';
import { type PeerServer, startServer } from './peer-program.ts';
import { type HoldsStart, type PeerAnswer, type PeerRequest, runsFile } from './serve-holds.ts';

/** A peer whose holds are checked. */
export interface HoldsPeer {
  name: string;
  /** Its folder, with `holds.mjs`. */
  folder: string;
  features: readonly Feature[];
  /** Methods beyond `ask`, `read` and `decide`. */
  methods: readonly ('cancel' | 'waiting')[];
  /** Milliseconds of the short deadline, where it has deadlines. */
  expiresWithin?: number;
  /** Its server, which a kill ends as well if the runs live in it. */
  server?: { file: string; isKilled: boolean };
}

/** The holds of a peer, in processes of their own. */
export function peerHolds(peer: HoldsPeer): HoldsAdapter {
  const directory = mkdtempSync(join(tmpdir(), 'holdpoint-compare-'));
  let server: PeerServer | undefined;
  let addresses: Record<string, string> = {};
  let program: Program | undefined;
  const ask = (method: PeerRequest['method'], ...args: unknown[]): Promise<any> => {
    if (program === undefined) throw new Error('the program does not run');
    return program.ask(method, args);
  };
  const end = async (signal: NodeJS.Signals) => {
    await program?.end(signal);
    if (peer.server?.isKilled !== true) return;
    await server?.stop();
    server = undefined;
  };
  return {
    name: peer.name,
    features: peer.features,
    async start() {
      const start = { directory, server: addresses, isFull: true };
      if (peer.server !== undefined && server === undefined) {
        server = await startServer(peer.server.file, start);
        addresses = server.server;
      }
      const file = join(peer.folder, 'holds.mjs');
      program = await startProgram(file, { directory, server: addresses });
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
    async close() {
      await program?.end('SIGKILL');
      await server?.stop();
      rmSync(directory, { recursive: true, force: true });
    },
    ask: (call) => ask('ask', call),
    read: (id) => ask('read', id),
    decide: (id, decision) => ask('decide', id, decision),
    runs: async (id) => runsIn(directory).flatMap((one) => (one.id === id ? [one.args] : [])),
    ...(peer.methods.includes('cancel') && { cancel: (id) => ask('cancel', id) }),
    ...(peer.methods.includes('waiting') && { waiting: () => ask('waiting') }),
    ...(peer.expiresWithin !== undefined && { expiresWithin: peer.expiresWithin }),
  };
}

interface Program {
  ask(method: PeerRequest['method'], args: unknown[]): Promise<unknown>;
  end(signal: NodeJS.Signals): Promise<void>;
}

async function startProgram(file: string, start: Omit<HoldsStart, 'run'>): Promise<Program> {
  const child = fork(file, [JSON.stringify(start)], {
    execArgv: ['--disable-warning=ExperimentalWarning', '--disable-warning=DeprecationWarning'],
    env: { ...process.env, NODE_ENV: 'production', LANGSMITH_TRACING: 'false' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text) => (said = (said + text).slice(-2_000)));
  const ended = once(child, 'exit').then(() => {
    for (const { reject } of waiting.values()) reject(new Error(`the program ended: ${said}`));
  });
  await Promise.race([once(child, 'message'), ended]);
  if (!isRunning(child)) throw new Error(`${file} did not start: ${said}`);
  child.on('message', (answer: PeerAnswer) => {
    const asked = waiting.get(answer.number);
    waiting.delete(answer.number);
    if ('failed' in answer) asked?.reject(new Error(answer.failed));
    else asked?.resolve(answer.value);
  });
  let number = 0;
  return {
    ask(method, args) {
      number += 1;
      const asked = Promise.withResolvers<unknown>();
      waiting.set(number, asked);
      if (isRunning(child)) child.send({ number, method, args } satisfies PeerRequest);
      else asked.reject(new Error('the program does not run'));
      return asked.promise;
    },
    async end(signal) {
      if (isRunning(child)) child.kill(signal);
      await ended;
    },
  };
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

function runsIn(directory: string): { id: string; args: Arguments }[] {
  const file = join(directory, runsFile);
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { id: string; args: Arguments });
}
