import type { ServerResponse } from 'node:http';
import { createServer, Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, vi } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import { sinkMachine } from '../../../../src/machines/audit/sink-machine.ts';
import { type Happenings, walkChart } from '../../../helpers/chart-walk.ts';
import { patient } from '../../../helpers/patient.ts';
import { temporaryFolder } from '../../../helpers/test-system.ts';
import { aServer } from '../../outbound/egress/a-server.ts';
import { openSink } from './open-sink.ts';

const isIn = (state: string) => (snapshot: AnyMachineSnapshot) => snapshot.matches(state);
const connected = { type: 'xstate.done.actor.0.auditSink.connecting' };
const delivered = { type: 'lines.delivered' };

const waits = {
  event: { type: 'xstate.after.pause.auditSink.backoff' },
  in: isIn('backoff'),
  happen: ({ wait }: Pick<ReturnType<typeof openSink>, 'wait'>) => wait(),
};

/** A sink on a UNIX socket, whose connections are made when a test makes them. */
async function openListener() {
  const callers = new Set<Socket>();
  let received = '';
  const server = createServer((caller) => {
    callers.add(caller.on('data', (piece) => (received += String(piece))));
  });
  const path = join(temporaryFolder(), 'audit.sock');
  const hangUp = () => {
    for (const caller of callers) caller.destroy();
    callers.clear();
  };
  onTestFinished(hangUp);
  const dials: (() => void)[] = [];
  const connect = Socket.prototype.connect;
  vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket, ...to: any[]) {
    dials.push(() => Reflect.apply(connect, this, to));
    return this;
  });
  const sink = openSink({ type: 'unix', path });
  return {
    ...sink,
    hangUp,
    /** Has the connection made that the sink asks for. */
    dial: async (isListening: boolean) => {
      await vi.waitFor(() => expect(dials).toHaveLength(1), patient);
      if (isListening) await new Promise<void>((resolve) => server.listen(path, resolve));
      for (const made of dials.splice(0)) made();
      if (!isListening) return sink.isSaidDown('no process reads the socket (ENOENT)');
      await vi.waitFor(() => expect(callers.size).toBe(1), patient);
      server.close();
      await sink.isSaidUp();
    },
    deliver: async () => {
      const line = sink.commit();
      await sink.delivered();
      await vi.waitFor(() => expect(received).toBe(line), patient);
      received = '';
    },
  };
}

const toListener: Happenings<Awaited<ReturnType<typeof openListener>>> = {
  'somebody listens': {
    event: connected,
    in: isIn('connecting'),
    happen: ({ dial }) => dial(true),
  },
  'nobody listens': {
    event: { type: 'xstate.error.actor.0.auditSink.connecting', error: new Error('it') },
    in: isIn('connecting'),
    happen: ({ dial }) => dial(false),
  },
  'lines arrive': { event: delivered, in: isIn('open'), happen: ({ deliver }) => deliver() },
  'the other end hangs up': {
    event: { type: 'xstate.done.actor.0.auditSink.open' },
    in: isIn('open'),
    happen: async ({ hangUp, isSaidDown }) => {
      hangUp();
      await isSaidDown('the other end hung up');
    },
  },
  'the pause ends': waits,
  'the agent stops': { event: { type: 'sink.close' }, happen: ({ close }) => close() },
};

/** A sink to a collector, which answers when a test lets it. */
async function openCollector() {
  const calls: { body: string; response: ServerResponse }[] = [];
  const { port } = await aServer(({ body }, response) => void calls.push({ body, response }));
  const url = `http://127.0.0.1:${port}/`;
  const sink = openSink({ type: 'http', url, batch: 500, timeout: 60_000 });
  let waiting = '';
  return {
    ...sink,
    isAsked: () => (waiting === '' ? sink.isSaidUp() : undefined),
    /** Answers the one call there is, which brings what has not arrived. */
    answer: async (status: number) => {
      waiting ||= sink.commit();
      await vi.waitFor(() => expect(calls).toHaveLength(1), patient);
      const [call] = calls.splice(0);
      expect(call?.body).toBe(waiting);
      call?.response.writeHead(status).end();
      if (status !== 200) return sink.isSaidDown(`the collector answered with ${status}`);
      waiting = '';
      await sink.delivered();
      await sink.isSaidUp();
    },
  };
}

const toCollector: Happenings<Awaited<ReturnType<typeof openCollector>>> = {
  // Nothing is asked of a collector before its first lines, so that nothing else can happen before.
  'a collector is there': { event: connected, in: isIn('connecting'), happen: (w) => w.isAsked() },
  'it takes lines': { event: delivered, in: isIn('open'), happen: ({ answer }) => answer(200) },
  'it answers 500': {
    event: { type: 'xstate.error.actor.0.auditSink.open', error: new Error('it') },
    in: isIn('open'),
    happen: ({ answer }) => answer(500),
  },
  'the pause ends': waits,
  'the agent stops': {
    event: { type: 'sink.close' },
    in: (snapshot) => !snapshot.matches('connecting'),
    happen: ({ close }) => close(),
  },
};

const fingerprint = ({ context }: AnyMachineSnapshot) => Math.min(2, context.failures);

describe('the shortest paths of a sink to a UNIX socket', () => {
  walkChart(sinkMachine, toListener, openListener, { fingerprint });
});

describe('the shortest paths of a sink to a collector', () => {
  walkChart(sinkMachine, toCollector, openCollector, { fingerprint });
});
