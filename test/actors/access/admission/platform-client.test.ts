import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AdmissionError, askPlatform } from '../../../../src/actors/access/admission/admission.ts';
import { createEgress } from '../../../../src/actors/outbound/egress/egress.ts';
import { desertedUrl } from '../../../helpers/deserted-url.ts';
import { notedOutbound, refusingOutbound } from '../../../helpers/noted-outbound.ts';
import { canary, denial, drips, type Reply, says, startFakePlatform } from './fake-platform.ts';

const never = new AbortController().signal;

/** Calls a platform that answers like this, and returns the report of the failure. */
async function failure(reply: Reply): Promise<string> {
  const platform = await startFakePlatform();
  platform.reply = reply;
  const error: unknown = await askPlatform(platform.settings(), 'till', never).catch(
    (reason: unknown) => reason,
  );
  if (!(error instanceof AdmissionError))
    throw new Error('the call did not fail', { cause: error });
  expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(canary);
  expect(error.cause).toBeUndefined();
  expect(platform.calls).toHaveLength(1);
  return error.message;
}

describe('a call to the platform', () => {
  it('is one GET that names the agent and carries the token', async () => {
    const platform = await startFakePlatform();
    platform.reply = says(denial);
    const { answer, date } = await askPlatform(platform.settings(), 'till', never);
    expect(answer).toEqual({
      decision: 'deny',
      reason: 'cost_limit_exceeded',
      scope: 'workspace',
      window: 'daily',
      resetAt: '2026-11-22T00:00:00Z',
    });
    expect(Math.abs(Date.parse(date ?? '') - Date.now())).toBeLessThan(5_000);
    expect(platform.calls).toEqual([
      {
        method: 'GET',
        url: '/v1/admission?agent_id=till',
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${canary}`,
          connection: 'close',
          host: platform.url.slice('http://'.length),
        },
      },
    ]);
  });

  it('carries only the configured tenancy', async () => {
    const platform = await startFakePlatform();
    await askPlatform(platform.settings({ orgId: 'acme', workspaceId: 'w 1' }), 'till', never);
    await askPlatform(platform.settings({ orgId: 'acme' }), 'till', never);
    await askPlatform(platform.settings({ workspaceId: 'w 1' }), 'till', never);
    expect(
      platform.calls.map(({ headers }) => [headers['org-id'], headers['workspace-id']]),
    ).toEqual([
      ['acme', 'w 1'],
      ['acme', undefined],
      [undefined, 'w 1'],
    ]);
  });

  it.each([
    ['?tier=gold&x=a%20b', 'till', '?tier=gold&x=a%20b&agent_id=till'],
    ['?', 'till', '?agent_id=till'],
    ['#part', 'till', '?agent_id=till'],
    ['?agent_id=other&a=1', 'till', '?a=1&agent_id=till'],
    ['', 'a&b=c#d e/ü', '?agent_id=a%26b%3Dc%23d%20e%2F%C3%BC'],
  ])('keeps the query %j and adds the agent %j', async (query, agentId, expected) => {
    const platform = await startFakePlatform();
    const url = `${platform.url}/v1/admission${query}`;
    await askPlatform(platform.settings({ url }), agentId, never);
    expect(platform.calls.map((call) => call.url)).toEqual([`/v1/admission${expected}`]);
  });

  it.each([201, 204, 400, 401, 403, 404, 500, 503])('fails on a %i', async (status) => {
    const text = `the platform answered ${status}; it must answer 200`;
    expect(await failure(says(status === 204 ? '' : denial, status))).toBe(text);
  });

  it.each([301, 302, 307, 308])(
    'follows no %i, so the token goes to no other host',
    async (status) => {
      const other = await startFakePlatform();
      const reply: Reply = (response) => {
        response.writeHead(status, { location: `${other.url}/v1/admission` });
        response.end();
      };
      expect(await failure(reply)).toBe(`the platform answered ${status}; it must answer 200`);
      expect(other.calls).toEqual([]);
    },
  );

  it.each<[string, Reply, string]>([
    ['HTML', says('<html>'), 'the answer is not a JSON object'],
    ['a list', says([denial]), 'the answer is not a JSON object'],
    ['no decision', says({ reason: canary }), 'the answer has no decision'],
    ['its token', says({ decision: canary }), 'the decision is neither admit nor deny'],
    [
      'bytes that are not UTF-8',
      (response) => void response.end(Buffer.from('{"decision":"deny","reason":"\xff"}', 'latin1')),
      'the answer is not UTF-8',
    ],
    [
      'too much',
      says(JSON.stringify({ ...denial, reason: 'x'.repeat(65_536) })),
      'the platform answered more than 64 KiB',
    ],
    [
      'an endless body, quickly',
      drips(' '.repeat(8_192), 1),
      'the platform answered more than 64 KiB',
    ],
    [
      'less than its content length',
      (response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"decision":"deny"}');
        setImmediate(() => response.destroy());
      },
      'the platform cannot be reached (UND_ERR_RES_CONTENT_LENGTH_MISMATCH)',
    ],
    [
      'nothing',
      (response) => void response.destroy(),
      'the platform cannot be reached (UND_ERR_SOCKET)',
    ],
  ])('fails on a response with %s', async (_, reply, text) => {
    expect(await failure(reply)).toBe(text);
  });

  it('accepts a body of exactly 64 KiB', async () => {
    const platform = await startFakePlatform();
    const frame = JSON.stringify({ ...denial, reason: '' }).length;
    const reason = 'x'.repeat(65_536 - frame);
    platform.reply = says(JSON.stringify({ ...denial, reason }));
    const { answer } = await askPlatform(platform.settings(), 'till', never);
    expect(answer.reason).toBe(reason);
  });

  it.each<[string, Reply]>([
    ['never', () => undefined],
    ['one byte at a time', drips(' ', 100)],
    ['only with headers', (response) => response.flushHeaders()],
  ])('times out after two seconds on a platform that answers %s', async (_, reply) => {
    const begun = performance.now();
    expect(await failure(reply)).toBe('the platform did not answer in 2 s');
    const elapsed = performance.now() - begun;
    expect(elapsed).toBeGreaterThan(1_950);
    expect(elapsed).toBeLessThan(3_000);
  });

  it('fails when no server listens', async () => {
    const platform = await startFakePlatform();
    const settings = platform.settings({ url: `${desertedUrl}/` });
    await expect(askPlatform(settings, 'till', never)).rejects.toEqual(
      new AdmissionError('the platform cannot be reached (ECONNREFUSED)'),
    );
  });

  it('is aborted at once by its signal', async () => {
    const platform = await startFakePlatform();
    const off = new AbortController();
    platform.reply = () => off.abort();
    await expect(askPlatform(platform.settings(), 'till', off.signal)).rejects.toEqual(
      new AdmissionError('the call was called off'),
    );
  });

  it('leaves no open connection after any response', async () => {
    const platform = await startFakePlatform();
    const replies = [says(denial), says(denial, 500), drips('x'.repeat(8_192), 1)];
    for (const reply of replies) {
      const closed = Promise.withResolvers<void>();
      platform.reply = (response) => {
        response.socket?.once('close', () => closed.resolve());
        reply(response);
      };
      await askPlatform(platform.settings(), 'till', never).catch(() => undefined);
      await closed.promise;
    }
    expect(platform.calls).toHaveLength(3);
  });

  it('fails on any bytes that are not a well-formed answer', async () => {
    const platform = await startFakePlatform();
    const settings = platform.settings();
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        platform.reply = (response) => void response.end(bytes);
        await expect(askPlatform(settings, 'till', never)).rejects.toThrow(AdmissionError);
      }),
    );
  });
});

describe('a call to the platform through egress', () => {
  it('uses only the egress proxy', async () => {
    const platform = await startFakePlatform();
    const outbound = notedOutbound();
    const { answer } = await askPlatform(platform.settings(), 'till', never, outbound);
    expect(answer.decision).toBe('admit');
    expect(outbound.passed).toEqual([`GET ${platform.url}/v1/admission?agent_id=till`]);
  });

  it('has no answer when egress refuses it', async () => {
    const platform = await startFakePlatform();
    await expect(
      askPlatform(platform.settings(), 'till', never, refusingOutbound()),
    ).rejects.toEqual(new AdmissionError('the platform cannot be reached (egress_blocked)'));
    expect(platform.calls).toEqual([]);
  });

  it('is not redirected under the policy, and sends the token nowhere else', async () => {
    const platform = await startFakePlatform();
    platform.reply = (response) =>
      void response.writeHead(307, { location: `${platform.url}/elsewhere` }).end();
    const egress = createEgress({
      mode: 'allowlist',
      allowedDomains: ['127.0.0.1'],
      allowPrivateIps: true,
      allowedPrivateCidrs: [],
      propagateTo: [],
      endpoints: [],
      record: () => undefined,
    });
    onTestFinished(() => egress.close());
    await expect(askPlatform(platform.settings(), 'till', never, egress)).rejects.toEqual(
      new AdmissionError('the platform answered 307; it must answer 200'),
    );
    expect(platform.calls.length).toBe(1);
  });
});
