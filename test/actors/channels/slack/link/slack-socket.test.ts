import { describe, expect, it, onTestFinished } from 'vitest';
import type { SlackEnvelope } from '../../../../../src/actors/channels/slack/link/slack-envelope.ts';
import { linkFault } from '../../../../../src/actors/channels/slack/link/slack-failure.ts';
import { SlackSocket } from '../../../../../src/actors/channels/slack/link/slack-socket.ts';
import type { Outbound } from '../../../../../src/actors/ports/egress.ts';
import { openSlackRig } from '../slack-rig.ts';

/** A socket of its own, and what it tells; closed after the test. */
async function openSocket(reach: (outbound: Outbound) => Outbound = (outbound) => outbound) {
  const { slack, egress, clock, logged } = await openSlackRig();
  const told: unknown[] = [];
  const up = Promise.withResolvers<string | null>();
  const down = Promise.withResolvers<unknown>();
  const arrival = Promise.withResolvers<SlackEnvelope>();
  const socket = new SlackSocket(
    {
      appToken: slack.appToken,
      apiUrl: slack.apiUrl,
      outbound: reach(egress),
      clock,
      log: {
        info: () => undefined,
        warn: () => undefined,
        error: (fields, message) => void logged.push({ level: 'error', fields, message }),
      },
    },
    {
      up: (appId) => {
        told.push('up');
        up.resolve(appId);
      },
      leaving: () => told.push('leaving'),
      down: (error) => {
        told.push('down');
        down.resolve(error);
      },
      receive: (envelope) => {
        arrival.resolve(envelope);
        throw new Error('whoever takes it is broken');
      },
    },
  );
  onTestFinished(() => socket.close());
  socket.open();
  return {
    slack,
    socket,
    clock,
    logged,
    told,
    up: up.promise,
    down: down.promise,
    arrival: arrival.promise,
  };
}

/** Has the Web API name another address for the socket. */
function naming(change: (url: string) => string, announced: object[] = []) {
  return (outbound: Outbound): Outbound => ({
    dispatcher: outbound.dispatcher,
    discovered: (endpoint) => {
      announced.push(endpoint);
      outbound.discovered?.(endpoint);
    },
    fetch: async (input, init) => {
      const response = await outbound.fetch(input, init);
      const answer = (await response.json()) as { url: string };
      return Response.json({ ...answer, url: change(answer.url) });
    },
  });
}

describe('a socket to Slack', () => {
  it('reports its app', async () => {
    const { slack, up } = await openSocket();
    expect(await up).toBe(slack.workspace.appId);
  });

  it('announces the host from Slack, which then passes the egress policy', async () => {
    const announced: object[] = [];
    const { down, slack } = await openSocket(
      naming((url) => url.replace('127.0.0.1', 'localhost'), announced),
    );
    const port = Number(new URL(slack.apiUrl).port);
    expect({ fault: linkFault(await down), announced }).toEqual({
      fault: {
        message: expect.stringMatching(
          /^egress blocked: localhost .*list its network under egress\.allowed_private_cidrs$/,
        ),
        lasting: true,
        retryAfter: null,
      },
      announced: [{ host: 'localhost', port, source: 'channels.slack' }],
    });
  });

  it('does not connect to an invalid address', async () => {
    const { down } = await openSocket(naming(() => 'no address'));
    expect(linkFault(await down)).toEqual({
      message: 'Slack returned no address to connect to; check api_url',
      lasting: true,
      retryAfter: null,
    });
  });

  it('gives a repeated event the same id', async () => {
    const { slack, up, arrival } = await openSocket();
    await up;
    slack.socket.frame(
      JSON.stringify({ type: 'events_api', envelope_id: 'e1', payload: { event_id: 'Ev1' } }),
    );
    const { id, type, body } = await arrival;
    expect({ id, type, body }).toEqual({
      id: 'Ev1',
      type: 'events_api',
      body: { event_id: 'Ev1' },
    });
  });

  it('acknowledges with an answer, after any result, and not after it is closed', async () => {
    const { slack, up, arrival, socket, logged, told, clock } = await openSocket();
    await up;
    const delivered = slack.socket.deliver('interactive', { type: 'view_submission' }, true);
    const envelope = await arrival;
    await envelope.ack({ response_action: 'clear' });
    const { answer } = await delivered;
    socket.close();
    await slack.connected(0);
    await expect(envelope.ack()).rejects.toThrow('slack: the socket is gone');
    expect({
      answer,
      told,
      timers: clock.pending,
      logged: logged.map(({ message }) => message),
    }).toEqual({
      answer: { response_action: 'clear' },
      told: ['up'],
      timers: 0,
      logged: ['slack: a frame could not be handled'],
    });
  });

  it('emits nothing more when it is closed while it connects', async () => {
    const { slack, socket, told } = await openSocket();
    socket.close();
    socket.close();
    await slack.connected(0);
    expect(told).toEqual([]);
  });
});
