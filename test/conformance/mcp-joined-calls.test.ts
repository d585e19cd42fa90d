import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { AgentFolder, type ServiceSettings } from '../helpers/agent-folder.ts';
import { mcpClientAt, textIn } from '../helpers/mcp-client.ts';
import { patient } from '../helpers/patient.ts';
import { runs } from '../helpers/runs.ts';
import { deferring, startInFolder, startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

const ann = { decision: 'approve', approver: 'ann@example.com' };
const separate = 'holdpoint/separate';

const shown = (
  settings: ServiceSettings = {},
  mcp: boolean | { answer_within: string } = true,
): ServiceSettings => ({ ...settings, server: { mcp, ...settings.server } });

const keeping = (more: object = {}) => deferring({}, { on_stream_disconnect: 'keep', ...more });

interface PayOptions extends RequestOptions {
  order?: string;
  meta?: Record<string, unknown>;
}

/** The answer to a call, or its failure. */
interface Answer {
  content: { text?: string }[];
  _meta: { task_id: string; 'holdpoint/waits'?: { until: string } };
  message?: string;
}

/** Makes a call of `pay`, whose failure is its answer. */
function pay(
  client: Client,
  { order = 'A-1042', meta = {}, ...options }: PayOptions = {},
): Promise<Answer> {
  const params = { name: 'pay', arguments: { order }, _meta: meta };
  const called: Promise<unknown> = client.callTool(params, undefined, options);
  return called.catch((error: unknown) => error) as Promise<Answer>;
}

interface Waiting {
  task_id: string;
  args: { order: string };
  args_sha256: string;
  requests?: number;
}

async function waitingAt(agent: TestAgent): Promise<Waiting[]> {
  return (await agent.get('/deferrals')).body.deferrals;
}

/** Waits until as many calls wait as are named, each asked for so often. */
async function reachedRequests(agent: TestAgent, ...wanted: number[]): Promise<Waiting[]> {
  await vi.waitFor(async () => {
    const asked = (await waitingAt(agent)).map(({ requests = 1 }) => requests);
    expect(asked.toSorted((one, other) => one - other)).toEqual(wanted);
  }, patient);
  return waitingAt(agent);
}

const paid = '{"order":"A-1042"}';

describe('an equal call during a wait', () => {
  it('is equal as accepted, with half of a character replaced', async () => {
    const agent = await startTestAgent(shown(deferring()));
    const client = await mcpClientAt(agent.url);
    const order = 'A-\ud800';
    const both = [pay(client, { order }), pay(client, { order })];
    const [{ task_id: id, args } = { task_id: '' }] = await reachedRequests(agent, 2);
    expect(args).toEqual({ order: 'A-\ufffd' });
    await agent.decide(id, ann);
    expect((await Promise.all(both)).map(textIn)).toEqual(Array(2).fill('{"order":"A-\ufffd"}'));
  });

  it('waits for the same decision, which the approver sees, and runs once', async () => {
    const agent = await startTestAgent(shown(deferring()));
    const clients = [await mcpClientAt(agent.url), await mcpClientAt(agent.url)];
    // They come at once, and later.
    const calls = clients.flatMap((client) => [pay(client), pay(client)]);
    const [waiting] = await reachedRequests(agent, 4);
    const id = waiting?.task_id ?? '';
    expect((await agent.get(`/tasks/${id}`)).body.metadata.deferral.requests).toBe(4);
    expect(agent.audit(id).filter(({ event }) => event === 'task_deferred_repeated')).toHaveLength(
      3,
    );
    expect((await agent.post(`/tasks/${id}/decisions`, ann)).status).toBe(200);
    const answer = { content: [{ type: 'text', text: paid }], _meta: { task_id: id } };
    expect(await Promise.all(calls)).toEqual([answer, answer, answer, answer]);
    expect(agent.folder.paid).toHaveLength(1);
    // What was answered is over: the next one asks again.
    void pay(await mcpClientAt(agent.url));
    const [next] = await reachedRequests(agent, 1);
    expect(next?.task_id).not.toBe(id);
  });

  it('waits separately on request, and with other arguments', async () => {
    const agent = await startTestAgent(shown(deferring()));
    const client = await mcpClientAt(agent.url);
    for (const asked of [{}, { meta: { [separate]: true } }, { order: 'B-7' }]) {
      void pay(client, asked);
    }
    await reachedRequests(agent, 1, 1, 1);
    const odd = await pay(client, { meta: { [separate]: 'yes' } });
    expect(odd.message).toContain('_meta["holdpoint/separate"] must be true or false');
  });

  it('keeps the call, when one of its clients disconnects', async () => {
    const agent = await startTestAgent(shown(deferring()));
    const [first, second] = [await mcpClientAt(agent.url), await mcpClientAt(agent.url)];
    const stop = new AbortController();
    void pay(first, { signal: stop.signal });
    await reachedRequests(agent, 1);
    const other = pay(second);
    const [waiting] = await reachedRequests(agent, 2);
    stop.abort('the user has changed her mind');
    await first.close();
    expect((await agent.post(`/tasks/${waiting?.task_id}/decisions`, ann)).status).toBe(200);
    expect(textIn(await other)).toBe(paid);
  });

  it('is found by a client that timed out, over a restart as well', async () => {
    const folder = new AgentFolder(shown(keeping({ on_restart: 'resume' })));
    onTestFinished(() => folder.remove());
    const first = await startInFolder(folder);
    const client = await mcpClientAt(first.url);
    expect(await pay(client, { timeout: 500 })).toMatchObject({ message: /timed out/ });
    void pay(client);
    const [waiting] = await reachedRequests(first, 2);
    await first.stop();
    const second = await startInFolder(folder);
    const again = pay(await mcpClientAt(second.url));
    await reachedRequests(second, 3);
    expect((await second.post(`/tasks/${waiting?.task_id}/decisions`, ann)).status).toBe(200);
    expect(textIn(await again)).toBe(paid);
    expect(folder.paid).toHaveLength(1);
  });

  it('is answered once with an outcome that was not received', async () => {
    const agent = await startTestAgent(shown(keeping()));
    const client = await mcpClientAt(agent.url);
    expect(await pay(client, { timeout: 500 })).toMatchObject({ message: /timed out/ });
    const [waiting] = await reachedRequests(agent, 1);
    await agent.post(`/tasks/${waiting?.task_id}/decisions`, ann);
    await agent.reached(waiting?.task_id ?? '', 'completed');
    expect(await pay(client)).toMatchObject({ _meta: { task_id: waiting?.task_id } });
    expect(agent.folder.paid).toHaveLength(1);
    void pay(client);
    const [next] = await reachedRequests(agent, 1);
    expect(next?.task_id).not.toBe(waiting?.task_id);
  });

  it('never waits twice at once, with any actions of its clients', async () => {
    const agent = await startTestAgent(shown(keeping({ max_pending_per_caller: 1_000 })));
    const clients = [await mcpClientAt(agent.url), await mcpClientAt(agent.url)];
    const action = fc.record({
      what: fc.constantFrom('call', 'call', 'call', 'leave', 'decide'),
      client: fc.constantFrom(0, 1),
      order: fc.constantFrom('A', 'B'),
      isSeparate: fc.constantFrom(false, false, false, true),
    });
    const property = fc.asyncProperty(
      fc.array(action, { minLength: 3, maxLength: 12 }),
      async (actions) => {
        const stops: AbortController[] = [];
        const separateTasks = new Set<string>();
        const settling: Promise<unknown>[] = [];
        for (const { what, client, order, isSeparate } of actions) {
          if (what === 'leave') stops.shift()?.abort('Request timed out');
          if (what === 'call') {
            const stop = new AbortController();
            stops.push(stop);
            const id = `s-${crypto.randomUUID()}`;
            if (isSeparate) separateTasks.add(id);
            const meta = isSeparate ? { task_id: id } : {};
            const at = clients[client];
            if (at !== undefined) settling.push(pay(at, { order, meta, signal: stop.signal }));
          }
          if (what === 'decide') {
            const [first] = await waitingAt(agent);
            if (first) await agent.post(`/tasks/${first.task_id}/decisions`, ann);
          }
          const joined = (await waitingAt(agent)).filter((one) => !separateTasks.has(one.task_id));
          const digests = joined.map(({ args_sha256: digest }) => digest);
          expect(digests).toEqual([...new Set(digests)]);
        }
        for (const stop of stops) stop.abort('the user has changed her mind');
        await Promise.all(settling);
        for (const { task_id: id } of await waitingAt(agent)) {
          await agent.post(`/tasks/${id}/cancel`, {});
        }
      },
    );
    await fc.assert(property, { numRuns: runs(15) });
  }, 60_000);
});

describe('a client with a timeout', () => {
  const soon = { answer_within: '400ms' };
  const held = (id: string, until: unknown) => ({
    content: [
      {
        type: 'text',
        text: `The call has not run yet. It waits for channel:console:desk until ${until} as task ${id}. Call task_result with {"task_id":"${id}"} to wait for its outcome. Do not make the call again.`,
      },
    ],
    _meta: { task_id: id, 'holdpoint/waits': { for: 'channel:console:desk', until } },
  });

  it('is answered in time with the task, and waits for it again', async () => {
    const agent = await startTestAgent(shown(deferring(), soon));
    const client = await mcpClientAt(agent.url);
    const { tools } = await client.listTools();
    expect(tools.find(({ name }) => name === 'task_result')).toMatchObject({
      inputSchema: { required: ['task_id'] },
      annotations: { readOnlyHint: true },
    });
    const answer = await pay(client);
    const { task_id: id, 'holdpoint/waits': wait } = answer._meta;
    expect(answer).toEqual(held(id, wait?.until));
    const ask = (task_id: string) =>
      client.callTool({ name: 'task_result', arguments: { task_id } });
    // The client was asked to retry, so nothing is abandoned in between.
    expect(await ask(id)).toEqual(answer);
    await client.close();
    const other = await mcpClientAt(agent.url);
    const params = { name: 'task_result', arguments: { task_id: id } };
    const asked = other.callTool(params);
    expect((await agent.post(`/tasks/${id}/decisions`, ann)).status).toBe(200);
    await asked;
    // The tool may run longer than the client waits.
    await vi.waitFor(async () => {
      expect(await other.callTool(params)).toEqual({
        content: [{ type: 'text', text: paid }],
        _meta: { task_id: id },
      });
    }, patient);
    expect(agent.folder.paid).toHaveLength(1);
  });

  it('waits longer with progress, but not for a repeated call', async () => {
    const agent = await startTestAgent(shown(deferring(), soon));
    const client = await mcpClientAt(agent.url);
    const told: (string | undefined)[] = [];
    const onprogress = ({ message }: Progress) => void told.push(message);
    const first = pay(client, { onprogress });
    const [waiting] = await reachedRequests(agent, 1);
    const second = await pay(client, { onprogress });
    expect(second._meta.task_id).toBe(waiting?.task_id);
    await agent.post(`/tasks/${waiting?.task_id}/decisions`, ann);
    expect(textIn(await first)).toBe(paid);
    expect(told).toContain(
      `Deferred: awaiting channel:console:desk decision on pay (task ${waiting?.task_id})`,
    );
  });

  it('gets the outcome of its own calls only', async () => {
    const auth = {
      required: true,
      providers: ['ann', 'bob'].map((name) => ({
        type: 'static_token',
        name,
        settings: { token: `the-token-of-${name}`, identity: { user_id: name } },
      })),
    };
    const agent = await startTestAgent(shown({ ...deferring(), auth }, soon));
    const at = (token: string) => mcpClientAt(agent.url, { token });
    const [one, other] = [await at('the-token-of-ann'), await at('the-token-of-bob')];
    const { task_id: id } = (await pay(one))._meta;
    const none = 'there is no call with this task_id; take the one that the call was answered with';
    for (const [client, task_id] of [
      [other, id],
      [one, 'never'],
      [one, 7],
    ] as const) {
      const refused = await client.callTool({ name: 'task_result', arguments: { task_id } });
      expect([textIn(refused), refused.isError]).toEqual([none, true]);
    }
  });

  it('has no task_result tool at 0s, nor without holds', async () => {
    const never = await startTestAgent(shown(deferring(), { answer_within: '0s' }));
    const open = await startTestAgent(shown());
    for (const agent of [never, open]) {
      const { tools } = await (await mcpClientAt(agent.url)).listTools();
      expect(tools.map(({ name }) => name)).not.toContain('task_result');
    }
  });
});
