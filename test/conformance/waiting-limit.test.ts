import { describe, expect, it } from 'vitest';
import { deferring, reached, startTestAgent, textOf } from '../helpers/test-agent.ts';

const pay = [{ tool: 'pay', args: { amount: 5 } }, { say: '{result}' }];

const refused =
  'denied: 3 calls of this caller already wait for a decision, the most that security.defer.max_pending_per_caller allows; decide or cancel some, and try again';

/** Callers of two organisations, with at most three calls that wait of each. */
async function start() {
  const providers = ['ann', 'mallory'].map((name) => ({
    ...{ type: 'static_token', name },
    settings: {
      token: `${name}-has-a-token-of-some-length`,
      identity: { user_id: name, claims: { org_id: `o-${name}` } },
    },
  }));
  const settings = deferring({ timeout: '1h' }, { max_pending_per_caller: 3 });
  const agent = await startTestAgent({
    ...settings,
    auth: { providers },
    server: { task_access: 'any' },
  });
  const operator = agent.as(agent.token);
  return {
    ...{ agent, operator, ann: agent.as('ann-has-a-token-of-some-length') },
    mallory: agent.as('mallory-has-a-token-of-some-length'),
  };
}

const waiting = async (client: { get(path: string): Promise<{ body: any }> }, query = '') =>
  (await client.get(`/deferrals${query}`)).body;

describe('the waiting calls of one caller', () => {
  it('are limited, for any number at once; the next is refused with 429', async () => {
    const { operator, ann, mallory } = await start();
    void ann.send('first', pay).catch(() => undefined);
    await reached(operator, 'first', 'deferred');
    const sends = Array.from({ length: 40 }, (_, at) => mallory.send(`m-${at}`, pay));
    const answers: { status: number; headers: Headers; body: any }[] = [];
    for (const send of sends)
      void send.then((answer) => answers.push(answer)).catch(() => undefined);
    await expect.poll(() => answers.length, { timeout: 30_000 }).toBe(37);
    expect(answers.map(({ status, body }) => [status, body.error])).toEqual(
      answers.map(() => [429, refused]),
    );
    expect(answers[0]?.headers.get('retry-after')).toBe('60');
    const { deferrals, total } = await waiting(ann, '?order=deadline&limit=1');
    expect([deferrals[0].task_id, total]).toEqual(['first', 4]);
    // Another caller is not held back, nor a call that needs nobody.
    void ann.send('second', pay).catch(() => undefined);
    await reached(operator, 'second', 'deferred');
    const free = await mallory.send('echo', [{ tool: 'echo', args: {} }, { say: 'done' }]);
    expect([free.status, textOf(free)]).toEqual([200, 'done']);
  });

  it('leave room for another once one is decided, and are refused over A2A as well', async () => {
    const { operator, mallory } = await start();
    for (const id of ['a', 'b', 'c']) {
      void mallory.send(id, pay).catch(() => undefined);
      await reached(operator, id, 'deferred');
    }
    const message = {
      ...{ kind: 'message', messageId: 'm1', role: 'user' },
      parts: [{ kind: 'data', data: { script: pay } }],
    };
    const { body } = await mallory.rpc('message/send', { message });
    expect([body.error.code, body.error.message]).toEqual([-32000, refused]);
    await operator.decide('a', { decision: 'reject', approver: 'ann' });
    void mallory.send('d', pay).catch(() => undefined);
    await reached(operator, 'd', 'deferred');
    expect((await waiting(mallory)).total).toBe(3);
  });
});

describe('the list of waiting calls by deadline', () => {
  it('begins with the first deadline, is paged, and states the total', async () => {
    const to = 'channel:console:desk';
    const echo = { to, timeout: '5m' };
    // A reminder comes before any deadline, and moves nothing.
    const pay = { to, timeout: '1h', remind: true };
    const agent = await startTestAgent(deferring({}, { tools: { echo, pay } }));
    for (const [id, tool] of [
      ['late', 'pay'],
      ['soon', 'echo'],
      ['later', 'pay'],
    ] as const) {
      void agent.send(id, [{ tool, args: {} }]).catch(() => undefined);
      await agent.reached(id, 'deferred');
    }
    const first = await waiting(agent, '?order=deadline&limit=2');
    const rest = await waiting(agent, `?order=deadline&cursor=${first.next_cursor}`);
    const idsOf = (page: { deferrals: { task_id: string }[] }) =>
      page.deferrals.map(({ task_id: id }) => id);
    expect([idsOf(first), first.total, idsOf(rest), rest.next_cursor]).toEqual([
      ...[['soon', 'late'], 3],
      ...[['later'], undefined],
    ]);
    expect(idsOf(await waiting(agent))).toEqual(['later', 'soon', 'late']);
    expect((await agent.get('/deferrals?order=tool')).status).toBe(400);
    expect((await agent.get('/deferrals?order=deadline&cursor=7')).status).toBe(400);
  });
});
