import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/machines/json.ts';
import { needsBwrap } from '../actors/tools/sandbox/needs-bwrap.ts';
import { type Answer, fakeService } from './fake-service.ts';
import { agentWithSkill } from './skill-agent.ts';

needsBwrap();

const secret = 'canary-token';

/** An agent with a skill whose service answers so. */
async function agentAndService(
  name: string,
  answers: Record<string, Answer>,
  env: (url: string) => Record<string, string>,
) {
  const service = await fakeService(answers);
  const agent = await agentWithSkill(name, { env: env(service.url), reaches: [service.entry] });
  return { ...agent, ...service };
}

describe('github-issues', () => {
  const issue = {
    ...{ number: 7, title: 'Slow', state: 'open', user: { login: 'ann' }, comments: 1 },
    ...{
      labels: [{ name: 'bug' }],
      updated_at: 'now',
      html_url: 'https://github.com/o/r/issues/7',
    },
  };
  const env = (url: string) => ({ GITHUB_API_URL: `${url}/api/v3`, GITHUB_TOKEN: secret });
  const open = (answers: Record<string, Answer>) => agentAndService('github-issues', answers, env);

  it('lists and reads issues, and comments', async () => {
    const { call, asked } = await open({
      'GET /api/v3/repos/o/r.x/issues': { body: [issue, { ...issue, pull_request: {} }] },
      'GET /api/v3/repos/o/r.x/issues/7': { body: { ...issue, body: 'It is slow.' } },
      'GET /api/v3/repos/o/r.x/issues/7/comments': {
        body: [{ user: { login: 'bob' }, body: 'Yes', created_at: 'then' }],
      },
      'POST /api/v3/repos/o/r.x/issues/7/comments': { status: 201, body: { id: 1, html_url: 'u' } },
    });
    const repository = 'o/r.x';
    expect(await call('list_issues', { repository, labels: 'bug', limit: 5 })).toEqual({
      ...{ repository, more: false },
      issues: [
        {
          ...{ number: 7, title: 'Slow', state: 'open', author: 'ann', labels: ['bug'] },
          ...{ comments: 1, updated_at: 'now', url: 'https://github.com/o/r/issues/7' },
        },
      ],
    });
    expect(await call('read_issue', { repository, number: 7 })).toMatchObject({
      text: 'It is slow.',
      latest_comments: [{ author: 'bob', created_at: 'then', text: 'Yes' }],
    });
    const text = 'Thanks.\n"; rm -rf /';
    expect(await call('comment_on_issue', { repository, number: 7, text })).toEqual({
      id: 1,
      url: 'u',
    });
    expect(asked.map(({ headers }) => headers.authorization)).toEqual(
      Array.from({ length: 4 }, () => `Bearer ${secret}`),
    );
    expect(asked[0]?.path).toBe('/api/v3/repos/o/r.x/issues?state=open&per_page=100&labels=bug');
    expect(JSON.parse(asked[3]?.body ?? '')).toEqual({ body: text });
  });

  it('reports errors in a message, and never the token', async () => {
    const { fail } = await open({
      'GET /api/v3/repos/o/r/issues': {
        status: 403,
        body: { message: `Bad credentials ${secret}` },
      },
      'GET /api/v3/repos/o/html/issues': { body: '<html>' },
      'GET /api/v3/repos/o/away/issues': {
        status: 302,
        headers: { location: 'https://evil.test' },
        body: '',
      },
      'GET /api/v3/repos/o/long/issues': { body: `"${'x'.repeat(3 * 1024 * 1024)}"` },
    });
    const failing = async (repository: string) => fail('list_issues', { repository });
    const denied = await failing('o/r');
    expect(denied).toMatch(
      /^list_issues failed with exit code 1: 127\.0\.0\.1:\d+ answered 403: Bad/,
    );
    expect(denied).not.toContain(secret);
    expect(await failing('o/html')).toMatch(/did not answer with JSON$/);
    expect(await failing('o/away')).toMatch(/answered 302$/);
    expect(await failing('o/long')).toMatch(/answered with more than 2 MiB; ask for less$/);
    expect(await failing('../../x')).toMatch(
      /^list_issues: argument repository must match pattern/,
    );
  });

  it('reaches no unlisted host', async () => {
    const service = await fakeService({});
    const agent = await agentWithSkill('github-issues', { env: env(service.url) });
    expect(await agent.fail('list_issues', { repository: 'o/r' })).toMatch(
      /could not be reached; is it listed under egress, and is it up\?$/,
    );
    expect(service.asked).toEqual([]);
  });
});

describe('dns-lookup', () => {
  it('looks up a name', async () => {
    const { call, asked } = await agentAndService(
      'dns-lookup',
      {
        'GET /resolve': {
          body: {
            Status: 0,
            Answer: [{ name: 'a.example.', type: 15, TTL: 60, data: '10 mx.example.' }],
          },
        },
      },
      (url) => ({ DNS_OVER_HTTPS_URL: `${url}/resolve` }),
    );
    expect(await call('lookup_name', { name: 'a.example', type: 'MX' })).toEqual({
      ...{ name: 'a.example', type: 'MX', result: 'found' },
      records: [{ name: 'a.example.', type: 'MX', ttl: 60, value: '10 mx.example.' }],
    });
    expect(asked[0]?.path).toBe('/resolve?name=a.example&type=MX');
  });

  it('reports that a name does not exist, and accepts only a name', async () => {
    const { call, fail } = await agentAndService(
      'dns-lookup',
      { 'GET /': { body: { Status: 3 } } },
      (url) => ({ DNS_OVER_HTTPS_URL: url }),
    );
    expect(await call('lookup_name', { name: 'no.example' })).toMatchObject({
      ...{ result: 'there is no such name', records: [] },
    });
    expect(await fail('lookup_name', { name: 'a&b=c' })).toMatch(/must match pattern/);
  });
});

describe('slack-post', () => {
  const env = (url: string) => ({ SLACK_API_URL: `${url}/api`, SLACK_POST_TOKEN: secret });

  it('posts a message into a thread', async () => {
    const { call, asked } = await agentAndService(
      'slack-post',
      { 'POST /api/chat.postMessage': { body: { ok: true, channel: 'C123456', ts: '1.2' } } },
      env,
    );
    const args = { channel: '#deploys', text: 'Done', thread: '1700000000.000100' };
    expect(await call('post_message', args)).toEqual({ channel: 'C123456', ts: '1.2' });
    expect(JSON.parse(asked[0]?.body ?? '')).toEqual({
      ...{ channel: '#deploys', text: 'Done', thread_ts: '1700000000.000100', unfurl_links: false },
    });
    expect(asked[0]?.headers.authorization).toBe(`Bearer ${secret}`);
  });

  it('reports why Slack refused', async () => {
    const refusal = {
      'POST /api/chat.postMessage': { body: { ok: false, error: 'not_in_channel' } },
    };
    const { fail } = await agentAndService('slack-post', refusal, env);
    expect(await fail('post_message', { channel: '#x', text: 'y' })).toBe(
      'post_message failed with exit code 1: Slack refused the message: not_in_channel',
    );
  });
});

describe('webhook-post', () => {
  it('posts a signed event, with the same id for the same call', async () => {
    const key = `whsec_${Buffer.from('a key of some length').toString('base64')}`;
    const { call, asked } = await agentAndService(
      'webhook-post',
      { 'POST /hook': { status: 202, body: {} } },
      (url) => ({ WEBHOOK_URL: `${url}/hook?to=a`, WEBHOOK_SECRET: key }),
    );
    const args = { type: 'release.published', data: { version: '1.2.3' } };
    expect(await call('post_event', args)).toEqual({ id: 'msg_c1', status: 202 });
    await call('post_event', args);
    for (const { path, headers, body } of asked) {
      expect(path).toBe('/hook?to=a');
      const event = new Webhook(key).verify(body, headers as Record<string, string>);
      expect(event).toMatchObject(args);
    }
    expect(asked.map(({ headers }) => headers['webhook-id'])).toEqual(['msg_c1', 'msg_c1']);
  });

  it('reports that the receiver refused', async () => {
    const { fail } = await agentAndService(
      'webhook-post',
      { 'POST /': { status: 500, body: {} } },
      (url) => ({
        WEBHOOK_URL: url,
      }),
    );
    expect(await fail('post_event', { type: 'a.b', data: {} })).toMatch(/answered 500$/);
    expect(await fail('post_event', { type: 'A B', data: {} })).toMatch(/must match pattern/);
  });
});

describe('stripe-refunds', () => {
  const env = (url: string) => ({ STRIPE_API_URL: url, STRIPE_API_KEY: secret });

  it('looks up a payment, and refunds it once', async () => {
    const { call, asked } = await agentAndService(
      'stripe-refunds',
      {
        'GET /v1/payment_intents/pi_1': {
          body: {
            id: 'pi_1',
            amount_received: 900,
            currency: 'eur',
            status: 'succeeded',
            created: 0,
            latest_charge: { amount_refunded: 100 },
          },
        },
        'POST /v1/refunds': {
          body: { id: 're_1', amount: 800, currency: 'eur', status: 'succeeded' },
        },
      },
      env,
    );
    expect(await call('lookup_payment', { payment: 'pi_1' })).toEqual({
      ...{ id: 'pi_1', status: 'succeeded', paid: 900, refunded: 100, currency: 'eur' },
      created: '1970-01-01T00:00:00.000Z',
    });
    const args = { payment: 'pi_1', amount: 800, reason: 'broken & late' };
    expect(await call('refund_payment', args)).toEqual({
      ...{ refund: 're_1', payment: 'pi_1', amount: 800, currency: 'eur', status: 'succeeded' },
    });
    const [, refund] = asked;
    expect(Object.fromEntries(new URLSearchParams(refund?.body))).toEqual({
      ...{ payment_intent: 'pi_1', amount: '800', 'metadata[reason]': 'broken & late' },
    });
    expect(refund?.headers['idempotency-key']).toBe('c1');
  });

  it('reports why Stripe refused', async () => {
    const refusal = {
      'POST /v1/refunds': {
        status: 400,
        body: { error: { message: 'Charge pi_1 has already been refunded.' } },
      },
    };
    const { fail } = await agentAndService('stripe-refunds', refusal, env);
    expect(await fail('refund_payment', { payment: 'pi_1', reason: 'twice again' })).toMatch(
      /answered 400: Charge pi_1 has already been refunded\.$/,
    );
    expect(
      await fail('refund_payment', { payment: 'pi_1', amount: 0, reason: 'twice again' }),
    ).toMatch(/argument amount must be >= 1/);
  });
});

describe('feature-flags', () => {
  const env = (url: string) => ({ UNLEASH_URL: `${url}/unleash/`, UNLEASH_TOKEN: secret });
  const base = '/unleash/api/admin/projects/default/features';

  it('lists flags and changes one', async () => {
    const flag = (name: string, enabled: boolean) => ({
      ...{ name, type: 'release', stale: false, environments: [{ name: 'production', enabled }] },
    });
    const { call, asked } = await agentAndService(
      'feature-flags',
      {
        [`GET ${base}`]: { body: { features: [flag('new-cart', true), flag('other', false)] } },
        [`POST ${base}/new-cart/environments/production/off`]: { body: '' },
      },
      env,
    );
    expect(await call('list_flags', { search: 'CART' })).toEqual({
      ...{ project: 'default', more: false },
      flags: [{ name: 'new-cart', type: 'release', stale: false, on_in: ['production'] }],
    });
    const args = {
      flag: 'new-cart',
      environment: 'production',
      enabled: false,
      reason: 'it is slow',
    };
    expect(await call('set_flag', args)).toMatchObject({ flag: 'new-cart', enabled: false });
    expect(asked.map(({ headers }) => headers.authorization)).toEqual([secret, secret]);
  });

  it('uses no other address through a name', async () => {
    const { fail, asked } = await agentAndService('feature-flags', {}, env);
    const args = { environment: 'production', enabled: true, reason: 'it is time' };
    expect(await fail('set_flag', { ...args, flag: '..' })).toMatch(/a name cannot be dots alone$/);
    expect(await fail('set_flag', { ...args, flag: 'a/b' })).toMatch(/must match pattern/);
    expect(asked).toEqual([]);
    expect(await fail('set_flag', { ...args, flag: 'none' })).toMatch(/answered 404: Not Found$/);
  });
});

describe('prometheus-query', () => {
  const env = (url: string) => ({ PROMETHEUS_URL: url, PROMETHEUS_TOKEN: secret });
  const success = (data: JsonObject): Answer => ({ body: { status: 'success', data } });

  it('queries current and past values, and alerts', async () => {
    const { call, asked } = await agentAndService(
      'prometheus-query',
      {
        'GET /api/v1/query': success({
          resultType: 'vector',
          result: [{ metric: { job: 'a' }, value: [1, '2'] }],
        }),
        'GET /api/v1/query_range': success({
          resultType: 'matrix',
          result: [{ metric: {}, values: [[0, '1']] }],
        }),
        'GET /api/v1/alerts': success({
          alerts: [
            { state: 'pending', activeAt: '1', labels: { alertname: 'B' }, annotations: {} },
            {
              state: 'firing',
              activeAt: '2',
              labels: { alertname: 'A' },
              annotations: { summary: 's' },
            },
          ],
        }),
      },
      env,
    );
    const query = 'sum by (job) (up)';
    expect(await call('query_metrics', { query })).toEqual({
      query,
      series: [{ labels: { job: 'a' }, value: '2' }],
      more: 0,
    });
    expect(await call('query_metrics', { query, hours: 2 })).toEqual({
      ...{ query, more: 0 },
      series: [{ labels: {}, values: [['1970-01-01T00:00:00.000Z', '1']] }],
    });
    expect(await call('list_alerts')).toEqual({
      ...{ firing: 1, more: 0 },
      alerts: [
        { state: 'firing', since: '2', labels: { alertname: 'A' }, summary: 's' },
        { state: 'pending', since: '1', labels: { alertname: 'B' }, summary: null },
      ],
    });
    const range = new URL(asked[1]?.path ?? '', 'http://localhost').searchParams;
    expect(Number(range.get('end')) - Number(range.get('start'))).toBe(7200);
    expect(range.get('step')).toBe('120');
  });

  it('reports the errors of a query', async () => {
    const refusal = {
      'GET /api/v1/query': {
        status: 400,
        body: { status: 'error', error: 'parse error at char 4' },
      },
    };
    const { fail } = await agentAndService('prometheus-query', refusal, env);
    expect(await fail('query_metrics', { query: 'sum(' })).toMatch(
      /answered 400: parse error at char 4$/,
    );
    expect(await fail('query_metrics', { query: 'up', hours: 0 })).toMatch(
      /argument hours must be > 0/,
    );
  });
});
