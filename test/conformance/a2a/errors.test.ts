import { beforeAll, describe, expect, it } from 'vitest';
import { deferring, launchAgent, type TestAgent } from '../../helpers/test-agent.ts';
import { type Asked, ask, type Operation, wireSurfaces } from './wire-surfaces.ts';

let agent: TestAgent;

async function launch(): Promise<() => Promise<void>> {
  agent = await launchAgent(deferring());
  return () => agent.close();
}

/** The operations on a task that is named, each with what else it needs. */
const onTask: [Operation, Asked][] = [
  ['get', {}],
  ['cancel', {}],
  ['subscribe', {}],
  ['setPush', { config: { url: 'https://example.com/' } }],
  ['getPush', { configId: 'c1' }],
  ['listPush', {}],
  ['deletePush', { configId: 'c1' }],
];

describe.each(wireSurfaces)('$name', (surface) => {
  beforeAll(launch);

  const { refusal, isRpc, version } = surface;
  const told = async (operation: Operation, asked: Asked) => {
    const { status, body } = await ask(agent, surface, operation, asked);
    return { status, body };
  };
  const finished = async (): Promise<string> => {
    const answer = await ask(agent, surface, 'send', { message: surface.saying('hi') });
    return surface.taskOf(answer).id;
  };
  const begun = async (script: object[]): Promise<string> => {
    const message = surface.playing(script);
    const configuration = version === '0.3' ? { blocking: false } : { returnImmediately: true };
    return surface.taskOf(await ask(agent, surface, 'send', { message, configuration })).id;
  };
  const waiting = async (): Promise<string> => {
    const id = await begun([{ tool: 'pay' }, { say: 'paid' }]);
    await agent.reached(id, 'deferred');
    return id;
  };

  it('sends, gets, cancels and lists the stored settings of a task', async () => {
    const sent = await ask(agent, surface, 'send', { message: surface.saying('hi') });
    expect(sent.status).toBe(!isRpc && version === '0.3' ? 201 : 200);
    const task = surface.taskOf(sent);
    expect(task.status.state).toBe(surface.state('completed'));
    const got = await ask(agent, surface, 'get', { id: task.id });
    expect(surface.taskOf(got)).toEqual(task);
    const short = surface.taskOf(
      await ask(agent, surface, 'get', { id: task.id, historyLength: 1 }),
    );
    expect(short).toEqual({ ...task, history: task.history.slice(-1) });
    const id = await waiting();
    const canceled = surface.taskOf(await ask(agent, surface, 'cancel', { id }));
    expect(canceled.status.state).toBe(surface.state('canceled'));
    expect(surface.taskOf(await ask(agent, surface, 'get', { id }))).toEqual(canceled);
  });

  it.each(onTask)('%s of an unknown task is not found', async (operation, asked) => {
    expect(await told(operation, { id: 'none', ...asked })).toEqual(
      refusal(-32001, 'task not found'),
    );
  });

  it.each(onTask)('%s without the id of a task is refused', async (operation, asked) => {
    // REST of 0.3.0 has the task of a new config in its body, where a blank is a name like any other.
    if (operation === 'setPush' && surface.name === 'HTTP+JSON 0.3.0') return;
    const id = isRpc ? '' : '%20';
    expect(await told(operation, { id, ...asked })).toEqual(
      refusal(-32602, 'the id of a task is missing'),
    );
  });

  it.each(['send', 'stream'] as const)(
    '%s reports what is wrong with a message',
    async (operation) => {
      const message = surface.saying('hi');
      const { parts: _, content: __, ...bare } = message as Record<string, unknown>;
      const name = !isRpc && version === '0.3' ? 'content' : 'parts';
      const params = async (sent: unknown) => told(operation, { params: sent });
      const anyMessage = expect.any(String);
      for (const sent of [{}, { message: 5 }, { message: { ...bare, [name]: [] } }]) {
        expect(await params(sent)).toEqual(refusal(-32602, anyMessage));
      }
      for (const part of [null, {}, 5, { file: {} }, { kind: 'file' }]) {
        const sent = { message: { ...bare, [name]: [part] } };
        expect(await params(sent)).toEqual(refusal(-32602, anyMessage));
      }
      expect(await params({ message: { ...message, role: 'nobody' } })).toEqual(
        refusal(-32602, anyMessage),
      );
      expect(await params({ message: { ...message, contextId: 'x'.repeat(257) } })).toEqual(
        refusal(-32602, 'message.contextId must be at most 256 characters'),
      );
      if (surface.name !== 'HTTP+JSON 0.3.0') {
        expect(await params({ message, configuration: { historyLength: -1 } })).toEqual(
          refusal(-32602, 'historyLength must be a whole number'),
        );
      }
      if (isRpc) {
        for (const sent of [null, [], 5, 'x', { message, '': 1 }]) {
          expect(await params(sent)).toEqual(refusal(-32602, 'Invalid method parameters.'));
        }
      }
      expect(
        (await agent.get('/tasks')).body.tasks.filter(
          ({ status }: any) => status.state === 'working',
        ),
      ).toEqual([]);
    },
  );

  it('refuses a message for a final, running or missing task', async () => {
    const to = (taskId: string) => ({ message: { ...surface.saying('more'), taskId } });
    const done = await finished();
    const atWork = await begun([{ tool: 'hold' }]);
    await agent.reached(atWork, 'working');
    for (const operation of ['send', 'stream'] as const) {
      expect(await told(operation, to(done))).toEqual(
        refusal(
          -32004,
          `task ${done} is completed and accepts no message; omit taskId and keep contextId to continue the conversation`,
        ),
      );
      expect(await told(operation, to(atWork))).toEqual(
        refusal(
          -32004,
          `task ${atWork} is still running and accepts no message; omit taskId and keep contextId to continue the conversation`,
        ),
      );
      expect(await told(operation, to('none'))).toEqual(refusal(-32001, 'task not found'));
    }
    await ask(agent, surface, 'cancel', { id: atWork });
  });

  it('subscribes to no final task, and cancels none', async () => {
    const id = await finished();
    expect(await told('cancel', { id })).toEqual(
      refusal(-32002, `task ${id} is completed and cannot be canceled`),
    );
    expect(await told('subscribe', { id })).toEqual(
      refusal(-32004, `task ${id} is completed; get it instead of following it`),
    );
  });

  it.each([-1, 'x'])('refuses a history length of %j', async (historyLength) => {
    const asked = { id: await finished(), historyLength };
    expect(await told('get', asked)).toEqual(
      refusal(-32602, expect.stringContaining('historyLength must be')),
    );
  });

  it('refuses push notifications to a host outside the egress policy', async () => {
    const id = await finished();
    for (const url of ['', 'x', 'ftp://example.com/', 'http://127.0.0.1:1/hook']) {
      expect(await told('setPush', { id, config: { url } })).toEqual(
        refusal(-32602, expect.any(String)),
      );
    }
    const missing = `task ${id} has no push notification config none`;
    expect(await told('getPush', { id, configId: 'none' })).toEqual(refusal(-32001, missing));
  });

  it('accepts its own version with a patch number, and refuses others', async () => {
    const message = surface.saying('hi');
    const said = (value: string) => told('send', { message, headers: { 'A2A-Version': value } });
    for (const value of [version, `${version}.0`, `${version}.7`]) {
      expect((await said(value)).body).toEqual(
        expect.not.objectContaining({ error: expect.anything(), code: expect.anything() }),
      );
    }
    for (const value of ['2.0', 'junk', '1', '0.2', `${version}.x`, '__proto__']) {
      expect(await said(value)).toEqual(
        refusal(
          -32009,
          isRpc
            ? `The requested A2A protocol version '${value}' is not supported. Supported versions: 1.0, 0.3`
            : `this path speaks A2A ${version}; send A2A-Version: ${version} or leave it out`,
        ),
      );
    }
  });
});

describe('a method', () => {
  beforeAll(launch);

  it('of one version is unknown in the other', async () => {
    const unknown = async (method: string, version: string) => {
      const body = { jsonrpc: '2.0', id: 1, method, params: {} };
      return (await agent.post('/', body, { 'A2A-Version': version })).body;
    };
    const [old, current] = wireSurfaces;
    for (const operation of ['send', 'stream', 'subscribe', 'setPush', 'card'] as const) {
      expect(await unknown(current?.methods[operation] ?? '', '0.3')).toEqual({
        jsonrpc: '2.0',
        id: 1,
        error: { code: -32601, message: `Method not found: ${current?.methods[operation]}` },
      });
      expect(await unknown(old?.methods[operation] ?? '', '1.0')).toEqual({
        jsonrpc: '2.0',
        id: 1,
        error: { code: -32601, message: 'Invalid method.' },
      });
    }
  });
});
