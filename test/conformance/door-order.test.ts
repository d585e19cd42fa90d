import { describe, expect, it, onTestFinished } from 'vitest';
import { startAgent } from '../../src/agent/start/start-agent.ts';
import { admissionWindow } from '../../src/machines/admission/admission-machine.ts';
import { denial, says, startFakePlatform } from '../actors/access/admission/fake-platform.ts';
import { startFakeService } from '../actors/access/auth/fake-service.ts';
import { saying } from '../helpers/agent-client.ts';
import { AgentFolder } from '../helpers/agent-folder.ts';
import { storeEnvironment } from '../helpers/kept-store.ts';
import { TestAgent } from '../helpers/test-agent.ts';

const plenty = { write_rps: 1_000_000, write_burst: 1_000_000 };

/** An agent behind the whole door: a verifier and a platform that note every call. */
async function startBehindDoor(limits: object = plenty) {
  const verifier = await startFakeService((response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ valid: true, user_id: 'rita', org_id: 'acme', claims: {} }));
  });
  const platform = await startFakePlatform();
  const folder = new AgentFolder({
    auth: {
      required: true,
      providers: [{ type: 'http_verifier', name: 'desk', settings: { url: verifier.url } }],
    },
    server: { rate_limit: { read_rps: 1_000_000, read_burst: 1_000_000, ...limits } },
  });
  const quiet = () => undefined;
  const agent = await startAgent({
    directory: folder.path,
    host: '127.0.0.1',
    port: 0,
    noAuth: false,
    inspectPort: null,
    env: {
      ...storeEnvironment(),
      SERVICE_ADMISSION_URL: `${platform.url}/v1/admission`,
      SERVICE_PLATFORM_TOKEN: 'platform-token',
    },
    log: { info: quiet, warn: quiet, error: quiet },
  });
  const test = new TestAgent(agent, folder, []);
  onTestFinished(() => test.close());
  const send = (token: string) => test.as(token).post('/tasks/send', { message: saying('hi') });
  const spent = async () => ({
    verifier: verifier.calls.length,
    platform: platform.calls.length,
    tasks: (await test.as(agent.token).get('/tasks')).body.tasks.length,
  });
  return { verifier, platform, send, spent, agent: test };
}

describe('a request that is refused at one step', () => {
  it('uses nothing at any later step: by the rate limit', async () => {
    const { send, spent } = await startBehindDoor({ write_rps: 0.001, write_burst: 2 });
    expect((await send('rita')).status).toBe(200);
    expect((await send('rita')).status).toBe(200);
    const before = await spent();
    for (let tries = 0; tries < 20; tries += 1) expect((await send('rita')).status).toBe(429);
    expect(await spent()).toEqual(before);
  });

  it('uses nothing at the next step: by authentication', async () => {
    const { verifier, send, spent } = await startBehindDoor();
    verifier.reply = says({ valid: false, error: 'no such token' });
    for (let tries = 0; tries < 5; tries += 1) expect((await send('nobody')).status).toBe(401);
    expect(await spent()).toEqual({ verifier: 5, platform: 0, tasks: 0 });
  });

  it('uses nothing at the next step: by admission', async () => {
    const { platform, send, spent } = await startBehindDoor();
    platform.reply = says(denial);
    for (let tries = 0; tries < 5; tries += 1) expect((await send('rita')).status).toBe(402);
    expect(await spent()).toEqual({ verifier: 5, platform: 1, tasks: 0 });
  });

  it('uses every step once when it is accepted', async () => {
    const { send, spent, agent } = await startBehindDoor();
    const { status, body } = await send('rita');
    expect(status).toBe(200);
    expect(await spent()).toEqual({ verifier: 1, platform: 1, tasks: 1 });
    const events = agent.audit().map(({ event }) => event);
    expect(events.indexOf('auth_verify')).toBeLessThan(events.indexOf('session_start'));
    expect(body.status.state).toBe('completed');
  });
});

// More would take longer than the window of an answer where the machine is busy.
it('two hundred sends at once with an empty cache ask the platform once in a window', async () => {
  const { send, platform } = await startBehindDoor();
  const { reply } = platform;
  const answered: number[] = [];
  platform.reply = (response) => {
    answered.push(performance.now());
    reply(response);
  };
  const answers = await Promise.all(Array.from({ length: 200 }, () => send('rita')));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(answered.length).toBeGreaterThan(0);
  // On a slow machine they take longer than a window; timers may end a millisecond early.
  const pauses = answered.slice(1).map((time, index) => time - (answered[index] ?? 0));
  expect(pauses.filter((pause) => pause < admissionWindow - 2)).toEqual([]);
});
