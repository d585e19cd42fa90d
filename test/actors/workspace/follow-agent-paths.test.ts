import { createServer, type ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, vi } from 'vitest';
import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import { AgentConnection } from '../../../src/actors/agent-connection.ts';
import { systemClock } from '../../../src/actors/system-clock.ts';
import { AgentLine } from '../../../src/actors/workspace/agent-line.ts';
import { followAgent } from '../../../src/actors/workspace/follow-agent.ts';
import { connectionMachine } from '../../../src/machines/channels/connection-machine.ts';
import { walkChart } from '../../helpers/chart-walk.ts';
import {
  carries,
  type LinkedService,
  Openings,
  ofEach,
} from '../../helpers/connection-happenings.ts';
import { listenOnLoopback } from '../../helpers/listen-on-loopback.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

/** A followed agent, which starts to send when a test lets it. */
async function openAgent(actors: readonly AnyActorRef[]) {
  const openings = new Openings();
  const clock = new ManualClock(0);
  const streams = new Set<ServerResponse>();
  let refused = 0;
  const serve = (response: ServerResponse) => {
    if (refused > 0) {
      refused -= 1;
      return void response.writeHead(500).end('{"error":"internal error","code":"internal_error"}');
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: hi\n\n');
    streams.add(response);
    response.on('close', () => streams.delete(response));
  };
  const server = createServer((_, response) => {
    void openings.hold().then(() => serve(response));
  });
  const url = await listenOnLoopback(server);
  const line = new AgentLine(
    new AgentConnection({ url, token: null, isProof: null }),
    systemClock(),
  );
  // A pause without length would be over with what came before it.
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const told: string[] = [];
  const log = (_: object, message: string) => void told.push(message);
  const stop = followAgent({
    ...{ line, clock, log: { info: log, warn: log, error: log } },
    onUp: () => told.push('up'),
    onDown: () => told.push('down'),
    onEvent: ({ data }) => told.push(data),
  });
  onTestFinished(async () => {
    stop();
    await line.close();
  });
  return {
    ...{ actors, openings, clock, streams, told, stop },
    refuse() {
      refused = 1;
    },
    breakOff() {
      for (const stream of streams) stream.destroy();
    },
  } satisfies LinkedService & { told: string[]; streams: unknown };
}

type World = Awaited<ReturnType<typeof openAgent>>;

/** The last event, where the state is unambiguous. */
const lastTold: Record<string, string> = { connected: 'hi', backoff: 'down' };

describe('the shortest paths of a connection to an agent of the workspace', () => {
  walkChart(connectionMachine, { ...ofEach }, openAgent, {
    passing: ['draining.opening', 'draining.pausing', 'failed'],
    look({ streams, told }: World, { value }: AnyMachineSnapshot) {
      expect(streams.size).toBe(carries(value) ? 1 : 0);
      const [state = ''] = typeof value === 'string' ? [value] : Object.keys(value);
      if (told.length > 0) expect(told.at(-1)).toBe(lastTold[state] ?? told.at(-1));
    },
  });
});
