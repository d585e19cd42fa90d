import { describe, expect, it } from 'vitest';
import type { Fault } from '../../../../../packages/fake-slack/web-api/faults.ts';
import { aNotice } from '../slack-notices.ts';
import { openSlackRig, type SlackRig } from '../slack-rig.ts';

const never = new AbortController().signal;

/** What goes wrong with one attempt to connect, and the state that it leads to. */
interface Mishap {
  state: 'backoff' | 'failed';
  plan: (rig: SlackRig) => void;
  /** What else has to happen until it is noticed. */
  notice?: (rig: SlackRig) => Promise<void>;
}

/** @param times more than one where a client asks again by itself */
function failing(fault: Fault, method = 'apps.connections.open', times = 1): Mishap {
  const isLasting = fault.kind === 'refuse' && fault.error === 'invalid_auth';
  return {
    state: isLasting ? 'failed' : 'backoff',
    plan: ({ slack }) => slack.fail({ method, times, fault }),
  };
}

const mishaps: Mishap[] = [
  failing({ kind: 'status', status: 502 }),
  failing({ kind: 'reset' }),
  failing({ kind: 'html' }),
  failing({ kind: 'html', status: 503 }),
  failing({ kind: 'refuse', error: 'internal_error' }),
  failing({ kind: 'refuse', error: 'invalid_auth' }),
  failing({ kind: 'rateLimited', retryAfter: 30 }),
  failing({ kind: 'html' }, 'auth.test'),
  failing({ kind: 'refuse', error: 'invalid_auth' }, 'auth.test'),
  { state: 'backoff', plan: ({ slack }) => slack.socket.spoil('refuse', 1) },
  {
    state: 'backoff',
    plan: ({ slack }) => slack.fail({ method: 'apps.connections.open', fault: { kind: 'hang' } }),
    notice: async ({ slack, clock }) => {
      const before = slack.calls.length;
      await slack.until(() =>
        slack.calls.slice(before).find(({ method }) => method === 'apps.connections.open'),
      );
      clock.fireEarly();
    },
  },
];

describe('the connection to Slack', () => {
  it('survives fifty forced reconnects with failures in between, and reveals no token', async () => {
    const rig = await openSlackRig();
    const { slack, clock, told, adapter, logged } = rig;
    await rig.connect();
    for (let round = 0; round < 50; round += 1) {
      const { state, plan, notice } = mishaps[round % mishaps.length] as Mishap;
      const dropped = told('backoff');
      slack.socket.drop(round % 2 === 0);
      await dropped;
      plan(rig);
      const failed = told(state);
      const noticed = notice?.(rig);
      clock.fireEarly();
      await noticed;
      await failed;
      const connected = told('connected');
      clock.fireEarly();
      await connected;
    }
    const ref = await adapter.deliver(aNotice(), never);
    expect({ ref: ref['channel'], state: adapter.state, links: slack.connections }).toEqual({
      ref: 'C0REFUNDS1',
      state: 'connected',
      links: 1,
    });
    expect(JSON.stringify(logged)).not.toMatch(/xoxb-|xapp-|ticket|doctype/);
  }, 30_000);

  it('detects a silent peer', async () => {
    const { slack, told, connect, logged } = await openSlackRig({
      pings: { clientPingTimeout: 60, serverPingTimeout: 60 },
    });
    await connect();
    const lost = told('backoff');
    slack.socket.isMute = true;
    await lost;
    await slack.connected(0);
    expect(logged.filter(({ level }) => level === 'warn')).toEqual([
      {
        level: 'warn',
        fields: { error: 'the connection broke', lasting: false },
        message: 'slack: not connected',
      },
    ]);
  });

  it('times out without a greeting', async () => {
    const { slack, clock, connect, logged } = await openSlackRig();
    slack.socket.spoil('silence', 1);
    const lost = connect('backoff');
    await slack.called('apps.connections.open');
    clock.advance(30_000);
    await lost;
    expect(logged).toEqual([
      {
        level: 'warn',
        fields: { error: 'the service did not answer in time', lasting: false },
        message: 'slack: not connected',
      },
    ]);
  });

  it('always has a link while Slack renews it', async () => {
    const rig = await openSlackRig();
    const { slack, clock, told, states, adapter } = rig;
    await rig.connect();
    clock.advance(60_000);
    const renewed = told('connected');
    slack.socket.retire('refresh_requested');
    await renewed;
    await slack.connected(1);
    const ref = await adapter.deliver(aNotice(), never);
    expect({ states, ref: ref['channel'] }).toEqual({
      states: ['connecting', 'connected', 'draining', 'connected'],
      ref: 'C0REFUNDS1',
    });
  });

  it('renews a link a minute before it expires', async () => {
    const { slack, clock, told, states, connect } = await openSlackRig();
    await connect();
    const renewed = told('connected');
    clock.advance(17_999_999);
    const before = [...states];
    clock.advance(1);
    await renewed;
    await slack.connected(1);
    expect({ before, states }).toEqual({
      before: ['connecting', 'connected'],
      states: ['connecting', 'connected', 'draining', 'connected'],
    });
  });

  it('fails when Socket Mode is switched off, and states the remedy', async () => {
    const { slack, told, connect, logged } = await openSlackRig();
    await connect();
    const failed = told('failed');
    slack.socket.retire('link_disabled');
    await failed;
    expect(logged.at(-1)).toEqual({
      level: 'warn',
      fields: {
        error: 'Socket Mode is off; switch it on in the settings of the Slack app',
        lasting: true,
      },
      message: 'slack: not connected',
    });
  });

  it('fails with a wrong token, and retries after five minutes', async () => {
    const { slack, clock, told, states, connect, logged } = await openSlackRig();
    slack.fail({ method: 'auth.test', fault: { kind: 'refuse', error: 'invalid_auth' } });
    await connect('failed');
    const connected = told('connected');
    clock.advance(300_000);
    await connected;
    expect({ states, logged: logged.map(({ fields, message }) => ({ fields, message })) }).toEqual({
      states: ['connecting', 'failed', 'connecting', 'connected'],
      logged: [
        {
          fields: {
            error: 'put a token of an installed Slack app into the environment (invalid_auth)',
            lasting: true,
          },
          message: 'slack: not connected',
        },
        { fields: expect.any(Object), message: 'slack: connected' },
      ],
    });
  });

  it('fails when the two tokens belong to two apps', async () => {
    const { connect, logged } = await openSlackRig({
      answer: (method, answer) =>
        method === 'auth.test' ? { ...answer, app_id: 'A0ANOTHER1' } : answer,
    });
    await connect('failed');
    expect(logged).toEqual([
      {
        level: 'warn',
        fields: {
          error: 'the two tokens belong to two Slack apps; take both of one',
          lasting: true,
        },
        message: 'slack: not connected',
      },
    ]);
  });

  it('fails with the token of a person', async () => {
    const { connect, logged } = await openSlackRig({
      answer: (method, answer) => (method === 'auth.test' ? { ...answer, bot_id: '' } : answer),
    });
    await connect('failed');
    expect(logged.map(({ fields }) => fields)).toEqual([
      {
        error: 'the token is not one of a bot; put the bot token (xoxb-) into the environment',
        lasting: true,
      },
    ]);
  });

  it('fails with an app of a whole organisation, whose clicks name no workspace', async () => {
    const { connect, logged } = await openSlackRig({
      answer: (method, answer) =>
        method === 'auth.test' ? { ...answer, is_enterprise_install: true } : answer,
    });
    await connect('failed');
    expect(logged.map(({ fields }) => fields)).toEqual([
      {
        error:
          'the Slack app is installed for a whole organisation; install it in the one workspace where people decide',
        lasting: true,
      },
    ]);
  });

  it('skips unknown frames and continues', async () => {
    const { slack, adapter, connect, logged, heard } = await openSlackRig();
    await connect();
    for (const frame of [
      'no json',
      '[]',
      'null',
      '{}',
      '{"type":"events_api"}',
      '{"type":"events_api","envelope_id":7,"payload":{}}',
      '{"envelope_id":"e1","payload":{}}',
      '{"type":"error","envelope_id":"","payload":null}',
    ]) {
      slack.socket.frame(frame);
    }
    slack.socket.frame('{"type":"events_api","envelope_id":"e2"}');
    slack.socket.frame('{"type":"interactive","envelope_id":"e3","payload":"text"}');
    slack.socket.frame('{"type":"toString","envelope_id":"e4","payload":{"event_id":1}}');
    await slack.mention({ channel: 'refunds', user: 'ann', text: 'still there?' });
    expect({ text: (await heard()).text, state: adapter.state }).toEqual({
      text: 'still there?',
      state: 'connected',
    });
    expect(logged.filter(({ message }) => message.includes('skipped'))).toHaveLength(1);
  });

  it('names the host that the egress policy refuses', async () => {
    const { connect, logged, hops } = await openSlackRig({ isListed: false });
    await connect('failed');
    expect({ logged, hops: hops.map(({ domain, reason }) => ({ domain, reason })) }).toEqual({
      logged: [
        {
          level: 'warn',
          fields: {
            error:
              'egress blocked: 127.0.0.1 is not on the allowlist (mode=deny-all); list the host under egress.allowed_domains',
            lasting: true,
          },
          message: 'slack: not connected',
        },
      ],
      hops: [{ domain: '127.0.0.1', reason: 'is not on the allowlist' }],
    });
  });
});
