import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeSlack } from '../../../../../packages/fake-slack/fake-slack.ts';
import { createSlackClient } from '../../../../../src/actors/channels/slack/link/slack-client.ts';

async function openClient(fetch: typeof globalThis.fetch = globalThis.fetch) {
  const slack = await FakeSlack.start();
  onTestFinished(() => slack.close());
  const logged: unknown[] = [];
  const keep = (fields: object, message: string) => void logged.push({ ...fields, message });
  const web = createSlackClient({
    token: slack.botToken,
    apiUrl: slack.apiUrl,
    fetch,
    log: { info: keep, warn: keep, error: keep },
  });
  return { slack, web, logged };
}

describe('the client of the Web API', () => {
  it('retries temporary failures three times', async () => {
    const { slack, web } = await openClient();
    slack.fail({ method: 'auth.test', fault: { kind: 'status', status: 502 }, times: 2 });
    slack.fail({ method: 'auth.test', fault: { kind: 'reset' } });
    const { ok } = await web.auth.test({});
    expect([ok, slack.calls.length]).toEqual([true, 4]);
  });

  it('pauses at once when Slack requests it', async () => {
    const { slack, web } = await openClient();
    slack.fail({ method: 'auth.test', fault: { kind: 'rateLimited', retryAfter: 5 } });
    await expect(web.auth.test({})).rejects.toMatchObject({ retryAfter: 5 });
    expect(slack.calls).toHaveLength(1);
  });

  it('sends four requests at once, each in the context of its caller', async () => {
    const callers = new AsyncLocalStorage<number>();
    const seen: (number | undefined)[] = [];
    let underway = 0;
    let most = 0;
    const { web } = await openClient(async (input, init) => {
      seen.push(callers.getStore());
      underway += 1;
      most = Math.max(most, underway);
      const response = await fetch(input, init);
      underway -= 1;
      return response;
    });
    await Promise.all(
      Array.from({ length: 12 }, (_, caller) => callers.run(caller, () => web.auth.test({}))),
    );
    expect({ seen, most }).toEqual({
      seen: Array.from({ length: 12 }, (_, caller) => caller),
      most: 4,
    });
  });

  it('logs neither tokens nor messages, after any failure', async () => {
    const { slack, web, logged } = await openClient();
    const text = 'a secret of the finance department';
    slack.fail({ method: 'chat.postMessage', fault: { kind: 'status', status: 500 }, times: 4 });
    slack.fail({ method: 'chat.postMessage', fault: { kind: 'html' } });
    slack.fail({ method: 'chat.postMessage', fault: { kind: 'refuse', error: 'invalid_auth' } });
    for (let count = 0; count < 3; count += 1) {
      await expect(web.chat.postMessage({ channel: 'C0REFUNDS1', text })).rejects.toThrow();
    }
    await web.chat.postMessage({ channel: 'C0REFUNDS1', text });
    expect(logged).toEqual([]);
  });

  it('logs the warnings of Slack, without tokens', async () => {
    const remark = '[ERROR] must be less than 3001 characters [json-pointer:/blocks/0] xoxb-12-ab';
    const { web, logged } = await openClient(async () =>
      Response.json({ ok: true, response_metadata: { messages: [remark] } }),
    );
    await web.auth.test({});
    expect(logged).toEqual([
      {
        said: 'must be less than 3001 characters [json-pointer:/blocks/0] [redacted]',
        message: 'slack: the service has a remark on a call',
      },
    ]);
  });
});
