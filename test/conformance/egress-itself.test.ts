import { networkInterfaces } from 'node:os';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startAgent } from '../../src/agent/start/start-agent.ts';
import { aServer } from '../actors/outbound/egress/a-server.ts';
import { AgentClient } from '../helpers/agent-client.ts';
import { storeEnvironment } from '../helpers/kept-store.ts';
import { deferring, startInFolder, type TestAgent, textOf } from '../helpers/test-agent.ts';
import { asking, outwardFolder, startOutward } from './egress-agent.ts';

/** An address of this machine besides loopback, where it has one. */
const elsewhere = Object.values(networkInterfaces())
  .flatMap((addresses = []) => addresses)
  .filter(({ internal, family }) => !internal && family === 'IPv4')
  .map(({ address }) => address)
  .filter((address) => !address.startsWith('169.254.'))
  .slice(0, 1);

/** The daemon's own host as a model may write it. */
const spellings = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  'localhost',
  '0.0.0.0',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  ...elsewhere,
];

/** Not to be listed, since no setting opens the one kind, and may open the other or not. */
const unlistable = ['0.0.0.0', '[::]', ...elsewhere];

const listed = spellings.filter((host) => !unlistable.includes(host));

/** Settings that open as much of this machine as there is to open. */
const openings: [name: string, egress: { mode?: string; [key: string]: unknown }][] = [
  ['dev-open', { mode: 'dev-open' }],
  ['allow_private_ips', { allowed_domains: listed, allow_private_ips: true }],
  [
    'allowed_private_cidrs',
    { allowed_domains: listed, allowed_private_cidrs: ['127.0.0.0/8', '::1/128'] },
  ],
];

const scripts = {
  'ask.sh': `url=$(printf '%s' "$1" | sed 's/.*"url":"//;s/".*//')\ncurl -sg -m 10 "$url"; echo " $?"\n`,
  'tunnel.sh': `url=$(printf '%s' "$1" | sed 's/.*"url":"//;s/".*//')\ncurl -sgp -m 10 "$url"; echo " $?"\n`,
  'proxy.sh': `curl -s -m 10 "http://127.0.0.1:\${HTTP_PROXY##*:}/"\n`,
  'pay.sh': 'echo paid\n',
};

function script(tool: string, url: string): object[] {
  return [{ tool, args: { url } }, { say: '{result}' }];
}

/** Why each hop of a task was blocked. */
function blocked(agent: TestAgent, task: string): unknown[] {
  return agent
    .audit(task)
    .filter(({ event }) => event.startsWith('egress_'))
    .map(({ event, fields }) => [event, fields?.['reason']]);
}

/** Why the agent is out of reach under one of its hosts. */
function whyNot(host: string, { mode }: { mode?: string }): string {
  const isListed = mode === 'dev-open' || !unlistable.includes(host);
  return isListed ? 'is the agent itself' : 'is not on the allowlist';
}

/** What a refusal reads. */
function refused(why: string, after = ''): object {
  const mode = why === 'is the agent itself' ? '' : ' \\(mode=allowlist\\)';
  return expect.stringMatching(new RegExp(`^egress blocked: \\S+ ${why}${mode}${after}$`));
}

describe.each(openings)('the agent itself, with %s', (_, egress) => {
  const settings = { ...deferring({ approvers: ['ann@example.com'] }), egress };

  it('is unreachable for its own tools, so that they release no waiting call', async () => {
    const agent = await startOutward(settings);
    const { port } = new URL(agent.url);
    const waiting = agent.send('held', [{ tool: 'pay' }, { say: 'paid' }]);
    await agent.reached('held', 'deferred');
    const json = { decision: 'approve', approver_email: 'ann@example.com' };
    for (const [at, host] of spellings.entries()) {
      const url = `http://${host}:${port}/tasks/held/decisions`;
      const answer = await agent.send(`t-${at}`, asking(url, { method: 'POST', json }));
      const why = whyNot(host, egress);
      expect(textOf(answer)).toEqual(refused(why));
      expect(blocked(agent, `t-${at}`)).toEqual([['egress_blocked', why]]);
    }
    const { body } = await agent.get('/tasks/held');
    expect([body.status.state, agent.folder.paid]).toEqual(['deferred', []]);
    await agent.decide('held', json);
    expect(textOf(await waiting)).toBe('paid');
  });

  it('is unreachable behind a redirect', async () => {
    const agent = await startOutward(settings);
    const { port } = await aServer((_request, response) => {
      response.writeHead(307, { location: `${agent.url}/healthz` }).end();
    });
    const answer = await agent.send('t', asking(`http://127.0.0.1:${port}/`));
    expect(textOf(answer)).toBe('egress blocked: 127.0.0.1 is the agent itself');
    expect(blocked(agent, 't')).toEqual([
      ['egress_allowed', undefined],
      ['egress_blocked', 'is the agent itself'],
    ]);
  });

  it('is unreachable for its scripts, by request and by tunnel', async () => {
    const { port } = await aServer();
    const agent = await startInFolder(outwardFolder({ egress }, scripts));
    const at = (host: string) => `http://${host}:${new URL(agent.url).port}/healthz`;
    for (const [index, host] of spellings.entries()) {
      const ask = await agent.send(`ask-${index}`, script('ask', at(host)));
      const why = whyNot(host, egress);
      expect(textOf(ask)).toEqual(refused(why, ' 0'));
      expect(blocked(agent, `ask-${index}`)).toEqual([['egress_blocked', why]]);
      const tunnel = await agent.send(`tunnel-${index}`, script('tunnel', at(host)));
      // A refused tunnel is error 56 of curl.
      expect(textOf(tunnel)).toBe(' 56');
      expect(blocked(agent, `tunnel-${index}`)).toEqual([['egress_blocked', expect.any(String)]]);
    }
    expect(textOf(await agent.send('proxy', script('proxy', '')))).toBe(
      'egress blocked: 127.0.0.1 is the agent itself',
    );
    // Another program of this machine is another matter.
    const other = await agent.send('other', script('ask', `http://127.0.0.1:${port}/`));
    expect(textOf(other)).toBe('hello 0');
  });

  it('is no receiver of push notifications', async () => {
    const agent = await startOutward(settings);
    void agent.send('held', [{ tool: 'pay' }, { say: 'paid' }]);
    await agent.reached('held', 'deferred');
    const { port } = new URL(agent.url);
    for (const host of spellings) {
      const url = `http://${host}:${port}/tasks/held/cancel`;
      const { body } = await agent.rpc('tasks/pushNotificationConfig/set', {
        taskId: 'held',
        pushNotificationConfig: { id: 'mine', url },
      });
      expect(body.error.message).toEqual(refused(whyNot(host, egress)));
    }
  });
});

describe('the inspector of an agent', () => {
  it('is unreachable for its tools', async () => {
    const folder = outwardFolder({ egress: { mode: 'dev-open' } });
    const quiet = { info() {}, warn() {}, error() {} };
    const agent = await startAgent({
      ...{ directory: folder.path, host: '127.0.0.1', port: 0, noAuth: false },
      ...{ inspectPort: 0, env: storeEnvironment(), log: quiet },
    });
    onTestFinished(() => agent.stop());
    const { port } = new URL(agent.inspectorUrl ?? '');
    const answer = await new AgentClient(agent.url, null).send(
      't',
      asking(`http://localhost:${port}/`),
    );
    expect(textOf(answer)).toBe('egress blocked: localhost is the agent itself');
  });
});
