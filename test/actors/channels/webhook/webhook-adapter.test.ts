import { createHmac } from 'node:crypto';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  type ChannelState,
  DeliveryError,
} from '../../../../src/actors/channels/channel-adapter.ts';
import { createWebhookAdapter } from '../../../../src/actors/channels/webhook/webhook-adapter.ts';
import type { ApprovalNews } from '../../../../src/machines/channels/approval-notice.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { anEgress, failureOf } from '../../outbound/egress/an-egress.ts';
import { aNotice, asked, outcomes } from './a-notice.ts';
import { type RawAnswer, type RawPost, RawReceiver } from './raw-receiver.ts';

const key = Buffer.from('canary-secret-of-32-bytes-0123456');
const secret = `whsec_${key.toString('base64')}`;
const rawSecret = 'canary clé of a webhook';
const { signal } = new AbortController();

let receiver: RawReceiver;
let clock: ManualClock;

beforeEach(async () => {
  receiver = await RawReceiver.open();
  // A verifier of a signature compares its time with their own.
  clock = new ManualClock(Date.now());
});

/** An adapter with three targets, all of which are the receiver of the test. */
function anAdapter() {
  const { egress, records } = anEgress();
  const url = (host: string) => `http://${host}:${receiver.port}/canary-path?token=canary-token`;
  const adapter = createWebhookAdapter({
    settings: {
      dashboardUrl: null,
      targets: {
        ops: { url: url('ops.example.test'), secret },
        raw: { url: url('raw.example.test'), secret: rawSecret },
        weak: { url: url('weak.example.test'), secret: 'canary' },
        far: { url: url('elsewhere.test'), secret },
        both: { url: url('both.example.test'), secret: `${secret} whsec_${'A'.repeat(24)}` },
      },
    },
    agentUrl: () => 'http://127.0.0.1:8080',
    agentId: 'refunds',
    outbound: egress,
    clock,
  });
  return { adapter, records };
}

/** Checks a post as a person would who has read only the specification. */
function strangersCheck({ headers, body }: RawPost, bytes: Buffer): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': said } = headers;
  const signature = createHmac('sha256', bytes).update(`${id}.${time}.${body}`).digest('base64');
  return String(said).split(' ').includes(`v1,${signature}`);
}

async function faultOf(answer: RawAnswer): Promise<DeliveryError> {
  receiver.answers.push(answer);
  const error = await failureOf(anAdapter().adapter.deliver(aNotice(), signal));
  if (error instanceof DeliveryError) return error;
  throw error;
}

describe('a webhook', () => {
  it('is connected from its start to its end', async () => {
    const { adapter } = anAdapter();
    const heard: ChannelState[] = [];
    const before = adapter.state;
    adapter.start((state) => void heard.push(state));
    const { name, capabilities, state } = adapter;
    await adapter.stop();
    expect({ name, capabilities, states: [before, state, adapter.state], heard }).toEqual({
      name: 'webhook',
      capabilities: { approvals: true, conversations: false },
      states: ['closed', 'connected', 'closed'],
      heard: ['connected'],
    });
  });

  it('posts a signed request for an approval, in the scope of its task', async () => {
    const { adapter, records } = anAdapter();
    const ref = await adapter.deliver(aNotice(), signal);
    const [post] = receiver.posts;
    const { type, timestamp, data } = JSON.parse(post?.body ?? '');
    expect({ ref, method: post?.method, path: post?.path, type, timestamp }).toEqual({
      ref: { id: post?.headers['webhook-id'] },
      method: 'POST',
      path: '/canary-path?token=canary-token',
      type: 'approval.requested',
      timestamp: '2026-03-04T05:06:07.008Z',
    });
    expect(data).toMatchObject({ agent_id: 'refunds', task_id: 'task:1', approval_url: null });
    expect(post?.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-timestamp': String(Math.floor(clock.now() / 1_000)),
    });
    const scope = { taskId: 'task:1', correlationId: null, tags: {}, isOwn: true };
    expect(records).toEqual([
      { scope, domain: 'ops.example.test', mode: 'allowlist', reason: null },
    ]);
  });

  it('posts later messages, and every outcome', async () => {
    const { adapter } = anAdapter();
    const ref = await adapter.deliver(aNotice(), signal);
    const approvals = [{ approver: 'ann@example.com', at: asked }];
    const told: [ReturnType<typeof aNotice>, ApprovalNews][] = [
      [aNotice({ stage: 'reminded' }), 'reminded'],
      [aNotice({ stage: 'escalated' }), 'changed'],
      [aNotice({ approvals }), 'counted'],
      ...Object.values(outcomes).map((outcome): [ReturnType<typeof aNotice>, ApprovalNews] => [
        aNotice({}, outcome),
        'ended',
      ]),
    ];
    for (const [notice, news] of told) await adapter.update(ref, notice, news, signal);
    expect(receiver.posts.map(({ body }) => JSON.parse(body).type)).toEqual([
      'approval.requested',
      'approval.reminded',
      'approval.escalated',
      'approval.counted',
      'approval.approved',
      'approval.rejected',
      'approval.timed_out',
      'approval.canceled',
      'approval.abandoned',
    ]);
    expect(new Set(receiver.posts.map(({ headers }) => headers['webhook-id'])).size).toBe(9);
  });

  it('keeps the id over the retries of one notice and signs each with its own time', async () => {
    receiver.answers.push({ status: 503 });
    const first = failureOf(anAdapter().adapter.deliver(aNotice(), signal));
    expect(await first).toBeInstanceOf(DeliveryError);
    clock.advance(30_000);
    await anAdapter().adapter.deliver(aNotice(), signal);
    const [one, other] = receiver.posts;
    const timeOf = (post?: RawPost) => Number(post?.headers['webhook-timestamp']);
    expect(other?.headers['webhook-id']).toBe(one?.headers['webhook-id']);
    expect(other?.body).toBe(one?.body);
    expect(timeOf(other) - timeOf(one)).toBe(30);
    expect(receiver.posts.map((post) => strangersCheck(post, key))).toEqual([true, true]);
  });

  it('refuses an unconfigured target, also the name of a property of every object', async () => {
    for (const name of ['nobody', 'constructor', '__proto__', '']) {
      const notice = aNotice({ target: `channel:webhook:${name}` });
      const error = await failureOf(anAdapter().adapter.deliver(notice, signal));
      expect(error).toEqual(
        new DeliveryError(
          `no webhook is called "${name}"; name it under targets of the channel webhook`,
          { fault: 'target' },
        ),
      );
    }
    expect(receiver.posts).toEqual([]);
  });
});

it('a webhook posts nothing with a weak secret', async () => {
  const notice = aNotice({ target: 'channel:webhook:weak' });
  expect(await failureOf(anAdapter().adapter.deliver(notice, signal))).toEqual(
    new DeliveryError(
      'the secret of the webhook "weak" must hold 16 bytes or more; make one with: openssl rand -base64 32',
      { fault: 'target' },
    ),
  );
  expect(receiver.posts).toEqual([]);
});

describe('the signature', () => {
  /** What the target was sent, as a receiver hands it to the library. */
  async function sent(target: string): Promise<[RawPost, Record<string, string>]> {
    await anAdapter().adapter.deliver(aNotice({ target: `channel:webhook:${target}` }), signal);
    const [post] = receiver.posts;
    if (post === undefined) throw new Error('nothing was posted');
    return [post, post.headers as Record<string, string>];
  }

  it('is accepted by the library of Standard Webhooks and by a manual check', async () => {
    const [post, headers] = await sent('ops');
    expect(new Webhook(secret).verify(post.body, headers)).toEqual(JSON.parse(post.body));
    expect(strangersCheck(post, key)).toBe(true);
    expect(strangersCheck(post, Buffer.from('another secret'))).toBe(false);
  });

  it('is made with the UTF-8 bytes of a secret without whsec_', async () => {
    const [post, headers] = await sent('raw');
    const bytes = Buffer.from(rawSecret);
    expect(strangersCheck(post, bytes)).toBe(true);
    expect(new Webhook(bytes, { format: 'raw' }).verify(post.body, headers)).toBeTypeOf('object');
  });

  it('is made with both secrets during a rotation', async () => {
    const [post, headers] = await sent('both');
    for (const one of [secret, `whsec_${'A'.repeat(24)}`]) {
      expect(new Webhook(one).verify(post.body, headers)).toEqual(JSON.parse(post.body));
    }
    expect(String(headers['webhook-signature']).split(' ')).toHaveLength(2);
  });

  it('is valid for any text of a model', async () => {
    const { adapter } = anAdapter();
    const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
    await fc.assert(
      fc.asyncProperty(fc.string({ unit }), async (context) => {
        await adapter.deliver(aNotice({ context }), signal);
        const post = receiver.posts.pop();
        expect(JSON.parse(post?.body ?? '').data.context).toBe(context);
        expect(post && strangersCheck(post, key)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('covers body, id and time', async () => {
    const [post, headers] = await sent('ops');
    const webhook = new Webhook(secret);
    const later = String(Number(headers['webhook-timestamp']) + 1);
    expect(() => webhook.verify(post.body.replace('40', '41'), headers)).toThrow(/signature/);
    for (const changed of [{ 'webhook-id': 'msg_other' }, { 'webhook-timestamp': later }]) {
      expect(() => webhook.verify(post.body, { ...headers, ...changed })).toThrow(/signature/);
    }
  });
});

describe('a failed attempt', () => {
  const again = 'retrying';

  it.each([
    [408, 'later', again],
    [429, 'later', again],
    [500, 'later', again],
    [503, 'later', again],
    [301, 'target', 'a redirect is not followed, so write the address that it leads to'],
    [307, 'target', 'a redirect is not followed, so write the address that it leads to'],
    [400, 'target', 'check its url and secret'],
    [401, 'target', 'check its url and secret'],
    [404, 'target', 'check its url and secret'],
  ] as const)('with %i is of the kind %s', async (status, fault, advice) => {
    const location = `http://ops.example.test:${receiver.port}/other`;
    expect(await faultOf({ status, headers: { location } })).toEqual(
      new DeliveryError(`the webhook "ops" answered ${status}; ${advice}`, { fault }),
    );
    expect(receiver.posts).toHaveLength(1);
  });

  it('with 410 is never retried', async () => {
    expect(await faultOf({ status: 410 })).toEqual(
      new DeliveryError('the webhook "ops" answered 410: the receiver is gone; use another one', {
        fault: 'message',
      }),
    );
  });

  it.each([429, 503])('waits as long as an answer of %i requests', async (status) => {
    const seconds = await faultOf({ status, headers: { 'retry-after': '7' } });
    // The date says whole seconds.
    clock.jump(1_000 - (clock.now() % 1_000));
    const date = new Date(clock.now() + 9_000).toUTCString();
    const until = await faultOf({ status, headers: { 'retry-after': date } });
    expect([seconds.retryAfter, until.retryAfter]).toEqual([7_000, 9_000]);
  });

  it('after a broken connection is retried', async () => {
    const { message, fault } = await faultOf('reset');
    expect(message).toMatch(/^the webhook "ops" cannot be reached \([A-Z_]+\); retrying$/);
    expect(fault).toBe('later');
  });

  it('after ten seconds without an answer is retried', async () => {
    const failing = faultOf('silence');
    await receiver.heard;
    clock.advance(9_999);
    expect(clock.pending).toBe(1);
    clock.advance(1);
    expect(await failing).toEqual(
      new DeliveryError('the webhook "ops" cannot be reached (no answer within 10 s); retrying', {
        fault: 'later',
      }),
    );
  });

  it('after an abort may be retried', async () => {
    const off = new AbortController();
    receiver.answers.push('silence');
    const failing = failureOf(anAdapter().adapter.deliver(aNotice(), off.signal));
    await receiver.heard;
    off.abort();
    expect(await failing).toMatchObject({ code: 'delivery_failed', fault: 'later' });
    expect(clock.pending).toBe(0);
  });

  it('under the egress policy lasts until the configuration changes', async () => {
    const notice = aNotice({ target: 'channel:webhook:far' });
    expect(await failureOf(anAdapter().adapter.deliver(notice, signal))).toEqual(
      new DeliveryError(
        'the webhook "far": egress blocked: elsewhere.test is not on the allowlist (mode=allowlist)',
        { fault: 'target' },
      ),
    );
    expect(receiver.posts).toEqual([]);
  });

  it('reveals neither secret nor URL', async () => {
    const answers: RawAnswer[] = ['reset', { status: 410 }, { status: 404 }, { status: 500 }];
    const errors: unknown[] = [];
    for (const answer of answers) errors.push(await faultOf(answer));
    expect(inspect(errors, { depth: 9 })).not.toMatch(/canary|whsec/);
  });

  it('leaves no timer behind', async () => {
    await faultOf({ status: 500 });
    await anAdapter().adapter.deliver(aNotice(), signal);
    expect(clock.pending).toBe(0);
  });
});
