import { once } from 'node:events';
import { connect as dial } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket as WsClient } from 'ws';
import { ManualClock } from '../../helpers/manual-clock.ts';
import {
  buttons,
  connect,
  type Heard,
  modal,
  openSlack,
  refusalOf,
  webClient,
} from './open-slack.ts';

const refunds = 'C0REFUNDS1';

describe('Socket Mode of the fake Slack', () => {
  const acknowledge = ({ ack }: Heard) => void ack();

  it("sends a click in Slack's format", async () => {
    const { slack, web } = await openSlack();
    const { ts = '' } = await web.chat.postMessage({
      channel: refunds,
      text: 'x',
      blocks: buttons,
    });
    const heard: Heard[] = [];
    await connect(slack, (each) => {
      heard.push(each);
      acknowledge(each);
    });
    const envelope = await slack.click({ channel: 'refunds', action: 'Approve', user: 'bob' });
    expect(envelope).toMatchObject({ type: 'interactive', deliveries: 1, answer: null });
    expect(heard[0]?.body).toMatchObject({
      type: 'block_actions',
      team: { id: 'T0HOLDPNT1' },
      user: { id: 'U0BOB00001', username: 'bob', team_id: 'T0HOLDPNT1' },
      api_app_id: 'A0HOLDPNT1',
      container: { type: 'message', message_ts: ts, channel_id: refunds, is_ephemeral: false },
      trigger_id: expect.stringMatching(/^\d{13}\.\d{13}\.[0-9a-f]{32}$/),
      channel: { id: refunds, name: 'refunds' },
      message: { ts, bot_id: 'B0HOLDPNT1', blocks: buttons },
      actions: [
        {
          type: 'button',
          action_id: 'approve',
          block_id: 'decide',
          value: 'd-1',
          action_ts: expect.stringMatching(/^\d{10}\.\d{6}$/),
        },
      ],
    });
  });

  it('opens a modal once, within its time, and sends its text', async () => {
    const clock = new ManualClock(1_000_000);
    const { slack, web } = await openSlack({ clock });
    await web.chat.postMessage({ channel: refunds, text: 'x', blocks: buttons });
    const heard: Heard[] = [];
    await connect(slack, (each) => {
      heard.push(each);
      void each.ack(each.body.type === 'view_submission' ? { response_action: 'clear' } : {});
    });
    const click = async () => {
      await slack.click({ channel: 'refunds', action: 'reject' });
      return heard.at(-1)?.body.trigger_id as string;
    };
    const trigger_id = await click();
    await web.views.open({ trigger_id, view: modal });
    expect(await refusalOf(web.views.open({ trigger_id, view: modal }))).toBe(
      'exchanged_trigger_id',
    );
    expect(await refusalOf(web.views.open({ trigger_id: '1.2.3', view: modal }))).toBe(
      'invalid_trigger_id',
    );
    const late = await click();
    clock.advance(3_001);
    expect(await refusalOf(web.views.open({ trigger_id: late, view: modal }))).toBe(
      'expired_trigger_id',
    );
    const [view] = slack.views;
    const answer = await slack.submit(view!, { values: { text: 'too much' } });
    expect({ answer, isOpen: view?.isOpen }).toEqual({
      answer: { response_action: 'clear' },
      isOpen: false,
    });
    expect(heard.at(-1)?.body).toMatchObject({
      type: 'view_submission',
      user: { id: 'U0ANN00001' },
      view: {
        id: view?.id,
        callback_id: 'reason',
        state: { values: { reason: { text: { type: 'plain_text_input', value: 'too much' } } } },
      },
    });
  });

  it('keeps a modal open that the app refuses, and reports when it is closed', async () => {
    const { slack, web } = await openSlack();
    const errors = { response_action: 'errors', errors: { reason: 'already decided' } };
    const types: string[] = [];
    await connect(slack, ({ ack, body }) => {
      types.push(body.type);
      void ack(body.type === 'view_submission' ? errors : {});
    });
    const trigger_id = slack.workspace.newTrigger('U0ANN00001');
    await web.views.open({ trigger_id, view: modal });
    const [view] = slack.views;
    expect(await slack.submit(view!)).toEqual(errors);
    expect(view?.isOpen).toBe(true);
    await slack.closeView(view!);
    expect(types).toEqual(['view_submission', 'view_closed']);
  });

  it('sends mentions and direct messages', async () => {
    const { slack } = await openSlack();
    const events: object[] = [];
    await connect(slack, (heard) => {
      events.push(heard.body.event);
      acknowledge(heard);
    });
    await slack.mention({ channel: 'refunds', user: 'bob', text: 'refund it' });
    const ts = slack.messages('refunds')[0]?.ts ?? '';
    await slack.directMessage({ text: 'me too', thread_ts: ts });
    expect(events).toMatchObject([
      {
        type: 'app_mention',
        user: 'U0BOB00001',
        channel: refunds,
        text: '<@U0HOLDPNT1> refund it',
        ts,
      },
      { type: 'message', channel_type: 'im', channel: 'D0ANN00001', text: 'me too', thread_ts: ts },
    ]);
  });

  it('repeats unacknowledged events on another connection, and gives up later', async () => {
    const clock = new ManualClock(1_000_000);
    const { slack } = await openSlack({ clock, ackWithin: 1_000, mostDeliveries: 2 });
    const retries: (number | undefined)[] = [];
    const hear = (name: number) => (heard: Heard) => void retries.push(name, heard.retry_num);
    await connect(slack, hear(1));
    await connect(slack, hear(2));
    await slack.connected(2);
    const mention = slack.mention({ channel: 'refunds', text: 'hello' });
    const sent = (times: number) =>
      slack.until(() => (slack.envelopes[0]?.deliveries === times ? true : undefined));
    await sent(1);
    clock.advance(1_000);
    expect(slack.envelopes[0]?.deliveries).toBe(2);
    clock.advance(1_000);
    await expect(mention).rejects.toThrow('nobody acknowledged the events_api envelope');
    expect(slack.envelopes).toMatchObject([{ deliveries: 2, isGivenUp: true, ackedAt: null }]);
  });

  it('sends an envelope twice on request, under the same id', async () => {
    const { slack } = await openSlack();
    const heard: Heard[] = [];
    await connect(slack, (each) => heard.push(each) && acknowledge(each));
    slack.socket.spoil('double', 1);
    await slack.mention({ channel: 'refunds', text: 'hello' });
    await slack.mention({ channel: 'refunds', text: 'again' });
    expect(slack.envelopes.map(({ deliveries }) => deliveries)).toEqual([2, 1]);
    expect(heard.map(({ body }) => body.event.text)).toEqual([
      '<@U0HOLDPNT1> hello',
      '<@U0HOLDPNT1> hello',
      '<@U0HOLDPNT1> again',
    ]);
  });

  it('refuses events without a connected app', async () => {
    const { slack } = await openSlack();
    const mention = slack.mention({ channel: 'refunds', text: 'hello' });
    await expect(mention).rejects.toThrow('no app is connected to the fake Slack');
  });

  it('refuses connections without a ticket, with a used one, and more on request', async () => {
    const { slack } = await openSlack();
    const app = webClient(slack, slack.appToken);
    const ticket = async () => (await app.apps.connections.open({})).url ?? '';
    const [first, second] = [await ticket(), await ticket()];
    expect(await isLetIn(first.replace(/ticket=[\w-]+/, 'ticket=made-up'))).toBe(false);
    expect(await isLetIn(first)).toBe(true);
    expect(await isLetIn(first)).toBe(false);
    slack.socket.spoil('refuse', 1);
    expect(await isLetIn(second)).toBe(false);
    expect(await isLetIn(await ticket())).toBe(true);
  });

  it('accepts a connection that gets no greeting and no envelope', async () => {
    const { slack } = await openSlack();
    slack.socket.spoil('silence', 1);
    const { url } = await webClient(slack, slack.appToken).apps.connections.open({});
    expect(await isLetIn(url ?? '')).toBe(true);
    expect(slack.connections).toBe(0);
  });

  it('answers pings until it is muted, and sends any frame', async () => {
    const { slack } = await openSlack();
    const { url = '' } = await webClient(slack, slack.appToken).apps.connections.open({});
    const socket = new WsClient(url);
    onTestFinished(() => socket.terminate());
    const seen: string[] = [];
    socket.on('pong', () => seen.push('pong'));
    const next = () =>
      new Promise<void>((resolve) => {
        socket.once('message', (data: Buffer) => {
          const text = data.toString();
          seen.push(text.startsWith('{') ? JSON.parse(text).type : text);
          resolve();
        });
      });
    const talk = async () => {
      socket.ping();
      const mention = slack.mention({ channel: 'refunds', text: 'hello' });
      await next();
      // What is acknowledged after a ping says that the ping was heard.
      socket.send(JSON.stringify({ envelope_id: slack.envelopes.at(-1)?.id }));
      await mention;
    };
    await next();
    await talk();
    slack.socket.isMute = true;
    await talk();
    const odd = next();
    slack.socket.frame('not JSON');
    await odd;
    expect(seen.toSpliced(seen.indexOf('pong'), 1)).toEqual([
      'hello',
      'events_api',
      'events_api',
      'not JSON',
    ]);
  });

  it('survives invalid addresses', async () => {
    const { slack, web } = await openSlack();
    const port = Number(new URL(slack.apiUrl).port);
    for (const head of ['GET // HTTP/1.1', 'GET http:// HTTP/1.1\r\nUpgrade: websocket']) {
      const socket = dial(port, '127.0.0.1');
      const closed = once(socket, 'close');
      socket.on('error', () => undefined).resume();
      socket.write(`${head}\r\nHost: x\r\nConnection: Upgrade\r\n\r\n`);
      await closed;
    }
    expect(await web.auth.test()).toMatchObject({ ok: true });
  });

  it('breaks connections, and requests new ones', async () => {
    const { slack } = await openSlack();
    const socket = await connect(slack);
    slack.socket.retire('refresh_requested');
    await slack.connected(0);
    await socket.start();
    expect(slack.connections).toBe(1);
    slack.socket.drop(false);
    await slack.connected(0);
  });
});

it('the fake Slack leaves nothing when it is closed', async () => {
  const { slack, web } = await openSlack();
  await connect(slack);
  await slack.close();
  expect(slack.connections).toBe(0);
  expect(await refusalOf(web.auth.test())).toMatchObject({ code: 'slack_webapi_request_error' });
});

/** Tells whether the socket opens. */
async function isLetIn(url: string): Promise<boolean> {
  const socket = new WebSocket(url);
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.addEventListener('open', () => resolve(true), { once: true });
    socket.addEventListener('error', () => resolve(false), { once: true });
  });
  onTestFinished(() => socket.close());
  return isOpen;
}
