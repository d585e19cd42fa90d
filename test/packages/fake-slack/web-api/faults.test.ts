import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { openSlack, refusalOf } from '../open-slack.ts';

const refunds = 'C0REFUNDS1';

describe('a planned fault of a call', () => {
  const post = { channel: refunds, text: 'hello' };

  it('is set by method and number, and ends', async () => {
    const { slack, web } = await openSlack();
    slack.fail({
      method: 'chat.postMessage',
      times: 2,
      fault: { kind: 'refuse', error: 'channel_not_found' },
    });
    await web.auth.test();
    expect(await refusalOf(web.chat.postMessage(post))).toBe('channel_not_found');
    expect(await refusalOf(web.chat.postMessage(post))).toBe('channel_not_found');
    await web.chat.postMessage(post);
    expect(slack.messages('refunds')).toHaveLength(1);
  });

  it.each([
    [{ kind: 'rateLimited', retryAfter: 7 } as const, { retryAfter: 7 }],
    [{ kind: 'status', status: 502 } as const, { statusCode: 502 }],
    [{ kind: 'reset' } as const, { code: 'slack_webapi_request_error' }],
  ])('can be %o', async (fault, seen) => {
    const { slack, web } = await openSlack();
    slack.fail({ fault });
    expect(await refusalOf(web.chat.postMessage(post))).toMatchObject(seen);
    expect(slack.messages('refunds')).toEqual([]);
  });

  it('can be a lost answer of a posted message', async () => {
    const { slack, web } = await openSlack();
    slack.fail({ isDone: true, fault: { kind: 'reset' } });
    await refusalOf(web.chat.postMessage(post));
    expect(slack.messages('refunds')).toHaveLength(1);
  });

  it('can be a page instead of an answer, or no answer', async () => {
    const { slack } = await openSlack();
    slack.fail({ fault: { kind: 'html' } });
    slack.fail({ fault: { kind: 'hang' } });
    const url = `${slack.apiUrl}auth.test`;
    expect(await (await fetch(url, { method: 'POST' })).text()).toContain('<!doctype html>');
    const patience = new AbortController();
    const hanging = fetch(url, { method: 'POST', signal: patience.signal });
    await slack.until(() => (slack.calls.length === 2 ? true : undefined));
    patience.abort(new Error('enough'));
    await expect(hanging).rejects.toThrow('enough');
  });

  it('can be a rate limit by channel', async () => {
    const clock = new ManualClock(1_000_000);
    const { slack, web } = await openSlack({ clock, messageEvery: 1_500 });
    await web.chat.postMessage(post);
    expect(await refusalOf(web.chat.postMessage(post))).toMatchObject({ retryAfter: 2 });
    await web.chat.postMessage({ ...post, channel: 'C0GENERAL1' });
    clock.advance(1_500);
    await web.chat.postMessage(post);
    expect(slack.messages('refunds')).toHaveLength(2);
  });
});
