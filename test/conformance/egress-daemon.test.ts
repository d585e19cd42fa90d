import { describe, expect, it, vi } from 'vitest';
import { says as admits, startFakePlatform } from '../actors/access/admission/fake-platform.ts';
import { startFakeService } from '../actors/access/auth/fake-service.ts';
import { json, startKeyServer } from '../actors/access/auth/key-server.ts';
import { assumedRole, fakeSts } from '../actors/governance/credentials/fake-sts.ts';
import { aServer } from '../actors/outbound/egress/a-server.ts';
import { databasePorts } from '../helpers/kept-store.ts';
import { watchSockets } from '../helpers/socket-tripwire.ts';
import { startInFolder, type TestAgent, textOf } from '../helpers/test-agent.ts';
import { startCollector } from '../helpers/trace-collector.ts';
import { asking, loopbackOpen, outwardFolder, startOutward } from './egress-agent.ts';
import { startScores } from './governance/alignment-story.ts';

const modes = ['allowlist', 'deny-all'];

/** What the log says of hops, with whose they were. */
function hopsOf(agent: TestAgent): object[] {
  return agent
    .audit()
    .filter(({ event }) => event.startsWith('egress_'))
    .map(({ event, task_id: task = null, seq = null, fields }) => ({
      event,
      task,
      seq,
      ...fields,
    }));
}

/** Resolves once the log has so many hops; requests do not wait for those of the door. */
function hopsUpTo(agent: TestAgent, count: number): Promise<object[]> {
  const seen = () => {
    const hops = hopsOf(agent);
    expect(hops.length).toBeGreaterThanOrEqual(count);
    return hops;
  };
  return vi.waitFor(seen, { timeout: 10_000, interval: 10 });
}

describe.each(modes)('the configured hosts, in mode %s', (mode) => {
  const egress = { mode };
  const own = (event = 'egress_allowed') => ({
    event,
    task: null,
    seq: null,
    domain: '127.0.0.1',
    mode,
  });

  it('an issuer on a private address provides its keys, and callers authenticate', async () => {
    const issuer = await startKeyServer();
    const settings = { issuer: issuer.issuer, audience: 'agent' };
    const providers = [{ type: 'oidc', name: 'staff', settings }];
    const agent = await startOutward({ egress, auth: { required: true, providers } });
    const token = await issuer.sign();
    const answer = await agent.as(token).send('t', [{ say: 'hi' }]);
    expect([answer.status, textOf(answer)]).toEqual([200, 'hi']);
    expect((await agent.as('nobody').send('u', [])).status).toBe(401);
    expect(issuer.asked).toEqual({ metadata: 1, keys: 1 });
    expect(await hopsUpTo(agent, 2)).toEqual([own(), own()]);
  });

  it('keys of an issuer on another private port are not requested', async () => {
    const [issuer, other] = [await startKeyServer(), await startKeyServer()];
    issuer.metadata = json({ issuer: issuer.issuer, jwks_uri: `${other.issuer}/keys` });
    const settings = { issuer: issuer.issuer, audience: 'agent' };
    const providers = [{ type: 'oidc', name: 'staff', settings }];
    const agent = await startOutward({ egress, auth: { required: true, providers } });
    expect((await agent.as(await issuer.sign()).send('t', [])).status).toBeGreaterThanOrEqual(401);
    expect(other.asked).toEqual({ metadata: 0, keys: 0 });
  });

  it('a verifier is called for a token', async () => {
    const desk = await startFakeService(admits({ valid: true, user_id: 'guest' }));
    const providers = [{ type: 'http_verifier', name: 'desk', settings: { url: desk.url } }];
    const agent = await startOutward({ egress, auth: { required: true, providers } });
    expect((await agent.as('opaque').send('t', [{ say: 'hi' }])).status).toBe(200);
    expect([desk.calls.length, await hopsUpTo(agent, 1)]).toEqual([1, [own()]]);
  });

  it('the platform is called for admission', async () => {
    const platform = await startFakePlatform();
    const agent = await startOutward(
      { egress },
      { SERVICE_ADMISSION_URL: `${platform.url}/v1`, SERVICE_PLATFORM_TOKEN: 'platform' },
    );
    expect((await agent.send('t', [{ say: 'hi' }])).status).toBe(200);
    expect([platform.calls.length, await hopsUpTo(agent, 1)]).toEqual([1, [own()]]);
  });

  it('a configured host is no push receiver, in any spelling', async () => {
    const desk = await startFakeService(admits({ valid: true, user_id: 'guest' }));
    const providers = [{ type: 'http_verifier', name: 'desk', settings: { url: desk.url } }];
    const agent = await startOutward({ egress, auth: { required: true, providers } });
    const { port } = new URL(desk.url);
    for (const host of ['127.0.0.1', '127.1', '0x7f000001']) {
      const { body } = await agent.as('opaque').rpc('message/send', {
        message: {
          kind: 'message',
          role: 'user',
          messageId: host,
          parts: [{ kind: 'text', text: 'x' }],
        },
        configuration: {
          pushNotificationConfig: {
            url: `http://${host}:${port}/admin/delete-everything?x=1`,
            authentication: { schemes: ['Bearer'], credentials: 'of-the-caller' },
          },
        },
      });
      expect(body.error.message).toBe(
        `egress blocked: 127.0.0.1 is not on the allowlist (mode=${mode})`,
      );
    }
    expect((await agent.as('opaque').get('/tasks')).body.tasks).toEqual([]);
    expect(JSON.stringify(desk.calls)).not.toContain('delete-everything');
  });

  it('a configured host is open to the daemon only, and to none of its tools', async () => {
    const desk = await startFakeService(admits({ valid: true, user_id: 'guest' }));
    const providers = [{ type: 'http_verifier', name: 'desk', settings: { url: desk.url } }];
    const agent = await startOutward({ egress, auth: { required: true, providers } });
    const answer = await agent.as('opaque').send('t', asking(`${desk.url}/admin`));
    expect(textOf(answer)).toBe(`egress blocked: 127.0.0.1 is not on the allowlist (mode=${mode})`);
    expect(desk.calls).toHaveLength(1);
    expect(await hopsUpTo(agent, 2)).toEqual([
      own(),
      {
        ...own('egress_blocked'),
        task: 't',
        seq: expect.any(Number),
        reason: 'is not on the allowlist',
      },
    ]);
  });
});

describe('a configured host', () => {
  it('is closed to a tool although its address is listed for another reason', async () => {
    const receiver = await aServer();
    const sinks = [{ type: 'http', url: `http://127.0.0.1:${receiver.port}/audit` }];
    // The operator meant another port of this machine.
    const egress = { allowed_domains: ['127.0.0.1'] };
    const agent = await startOutward({ egress, audit: { sinks } });
    const forged = { method: 'POST', json: { event: 'forged' } };
    const answer = await agent.send('t', asking(`http://127.0.0.1:${receiver.port}/audit`, forged));
    expect(textOf(answer)).toBe('egress blocked: 127.0.0.1 is a loopback address (mode=allowlist)');
    await agent.stop();
    expect(receiver.seen.length).toBeGreaterThan(0);
    expect(JSON.stringify(receiver.seen)).not.toContain('forged');
  });
});

describe('a daemon with every kind of outbound call', () => {
  it('opens no connection outside the policy', async () => {
    const bypasses = watchSockets();
    const [issuer, platform, scores, collector, receiver, api, desk] = await Promise.all([
      startKeyServer(),
      startFakePlatform(),
      startScores(),
      startCollector(),
      aServer(),
      aServer(),
      startFakeService(admits({ valid: true, user_id: 'guest' })),
    ]);
    const sts = await fakeSts(() => ({
      status: 200,
      body: assumedRole(
        { key: 'ASIAEXAMPLE0001', secret: 'sts-secret-0001', token: 'sts-token-0001' },
        new Date(Date.now() + 900_000).toISOString(),
      ),
    }));
    const spec = {
      role_arn: 'arn:aws:iam::123456789012:role/refunds',
      region: 'eu-central-1',
      endpoint: sts.url,
      access_key_env: 'BASE_ID',
      secret_key_env: 'BASE_SECRET',
    };
    const settings = {
      egress: loopbackOpen,
      auth: {
        required: true,
        providers: [
          { type: 'oidc', name: 'staff', settings: { issuer: issuer.issuer, audience: 'agent' } },
          { type: 'http_verifier', name: 'desk', settings: { url: desk.url } },
        ],
      },
      security: {
        intent_alignment: {
          enabled: true,
          provider: 'openai-compatible',
          base_url: `${scores.address}/v1`,
        },
      },
      credentials: [{ tool: 'ask', provider: 'sts_assume_role', spec }],
      audit: { sinks: [{ type: 'http', url: `http://127.0.0.1:${receiver.port}/audit` }] },
      observability: { tracing: { enabled: true, endpoint: `${collector.url}/v1/traces` } },
    };
    const ask = 'curl -sS "http://127.0.0.1:$(echo "$1" | tr -dc 0-9)/script"\n';
    const agent = await startInFolder(outwardFolder(settings, { 'ask.sh': ask }), {
      SERVICE_ADMISSION_URL: `${platform.url}/v1`,
      SERVICE_PLATFORM_TOKEN: 'platform',
      BASE_ID: 'AKIDBASE0001',
      BASE_SECRET: 'base-secret-0001',
    });
    expect((await agent.as('opaque').send('u', [{ say: 'hi' }])).status).toBe(200);
    const script = [
      { tool: 'http_request', args: { url: `http://127.0.0.1:${api.port}/tool` } },
      { tool: 'ask', args: { url: `${api.port}` } },
      { say: '{result}' },
    ];
    const parts = [
      { kind: 'text', text: 'ask them' },
      { kind: 'data', data: { script } },
    ];
    const message = { role: 'user', parts, messageId: 'm1' };
    const answer = await agent
      .as(await issuer.sign())
      .post('/tasks/send', { task: { id: 't', message } });
    expect([answer.body.status.state, textOf(answer)]).toEqual(['completed', 'hello']);
    const agentPort = Number(new URL(agent.url).port);
    await agent.stop();
    const heard = {
      issuer: issuer.asked.keys,
      desk: desk.calls.length,
      platform: platform.calls.length,
      scores: scores.seen.length > 0,
      sts: sts.requests.length,
      api: api.seen.map(({ url }) => url),
      spans: collector.spans.length > 0,
      sink: receiver.seen.length > 0,
    };
    expect(heard).toEqual({
      issuer: 1,
      desk: 1,
      platform: 1,
      scores: true,
      sts: 1,
      api: ['/tool', '/script'],
      spans: true,
      sink: true,
    });
    // What keeps the tasks is no place that anything is sent to.
    expect(bypasses([agentPort, ...databasePorts()])).toEqual([]);
    // The tripwire receives those that the test itself opened.
    expect(bypasses().length).toBeGreaterThan(0);
  });
});
