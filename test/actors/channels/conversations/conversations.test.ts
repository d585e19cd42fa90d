import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ChatMessage } from '../../../../src/actors/channels/conversation-port.ts';
import { AgentSurface } from '../../../../src/actors/channels/conversations/agent-surface.ts';
import { Conversations } from '../../../../src/actors/channels/conversations/conversations.ts';
import { createOwnFetch } from '../../../../src/actors/outbound/egress/egress.ts';
import type { Clock } from '../../../../src/actors/ports/clock.ts';
import { type SqliteStore } from '../../../../src/actors/records/sqlite/sqlite-store.ts';
import { systemClock } from '../../../../src/actors/system-clock.ts';
import { answerWindow } from '../../../../src/machines/channels/conversation-limits.ts';
import { lateText } from '../../../../src/machines/channels/conversation-words.ts';
import { AgentFolder, type ServiceSettings } from '../../../helpers/agent-folder.ts';
import { aSaying } from '../../../helpers/chat-thread.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { MemoryChat } from '../../../helpers/memory-chat.ts';
import { prompt } from '../../../helpers/patient.ts';
import {
  deferring,
  startInFolder,
  startTestAgent,
  type TestAgent,
} from '../../../helpers/test-agent.ts';
import { openStore, temporaryFolder } from '../../../helpers/test-system.ts';

interface ChatOptions {
  clock?: Clock;
  store?: SqliteStore;
  chat?: MemoryChat;
  token?: string;
}

/** An agent that is spoken to in a chat. */
async function chatWith(agent: Pick<TestAgent, 'url' | 'token'>, options: ChatOptions = {}) {
  const { clock = systemClock(), chat = new MemoryChat(), token = agent.token } = options;
  const store = options.store ?? (await openStore(temporaryFolder()));
  const own = createOwnFetch(new URL(agent.url));
  const logged: unknown[] = [];
  const note = (fields: object, message: string) => void logged.push([message, fields]);
  const conversations = new Conversations({
    surface: new AgentSurface({ url: agent.url, token, fetch: own.fetch }),
    ports: (adapter) => (adapter === 'memory' ? chat : undefined),
    rows: store.conversations,
    clock,
    log: { info: note, warn: note, error: note },
  });
  const stop = async () => {
    await conversations.stop();
    await own.close();
  };
  onTestFinished(async () => {
    await stop();
    if (options.store === undefined) await store.close();
  });
  return { conversations, chat, store, logged, stop };
}

const say = (text: string, overrides: Partial<ChatMessage> = {}): ChatMessage =>
  aSaying({ text, id: text, ...overrides });

const paying = (rule: object = {}): ServiceSettings => ({
  ...deferring({ to: 'channel:slack:refunds', ...rule }),
  model: { script: [{ tool: 'pay', args: { amount: 7 } }, { say: 'paid: {result}' }] },
});

const held = 'Waiting for a release of pay by #refunds.';

describe('a message to the agent', () => {
  it('becomes a task of its thread, and the answer is posted there', async () => {
    const agent = await startTestAgent();
    const { conversations, chat, store } = await chatWith(agent);
    await conversations.receive(say('hello'));
    expect(await chat.ended('[done]')).toEqual(['[working]', 'echo: hello', '[done]']);
    const { body } = await agent.get('/tasks/memory.room.1');
    expect({
      contextId: body.contextId,
      state: body.status.state,
      history: body.history.map(({ messageId }: any) => messageId),
      callers: [...new Set(agent.audit('memory.room.1').map((line) => line['invocation_caller']))],
      open: await store.conversations.open(),
    }).toEqual({
      contextId: 'memory.room.1',
      state: 'completed',
      history: ['memory:hello', 'memory.room.1:answer:1'],
      callers: ['memory:ann'],
      open: [],
    });
  });

  it('continues the history of its thread', async () => {
    const agent = await startTestAgent();
    const { conversations, chat } = await chatWith(agent);
    await conversations.receive(say('one'));
    await chat.ended('[done]');
    await conversations.receive(say('two'));
    await vi.waitUntil(() => chat.said().length === 2, prompt);
    const { body } = await agent.get('/tasks/memory.room.1');
    expect([chat.said(), body.history.map(({ parts }: any) => parts[0].text)]).toEqual([
      ['echo: one', 'echo: two'],
      ['one', 'echo: one', 'two', 'echo: two'],
    ]);
  });

  it('waits for earlier ones of its thread only', async () => {
    const agent = await startTestAgent({ model: { script: [{ tool: 'hold', args: {} }] } });
    const { conversations, chat } = await chatWith(agent);
    await conversations.receive(say('one'));
    await conversations.receive(say('two'));
    await conversations.receive(say('far', { thread: 'memory.room.2', ref: { room: 2 } }));
    await vi.waitUntil(() => agent.folder.held.length === 2, { timeout: 10_000, interval: 5 });
    expect(new Map(chat.noted as [unknown, string][])).toEqual(
      new Map([
        [1, '[working]'],
        [2, '[working]'],
      ]),
    );
    expect(chat.noted).toHaveLength(2);
  });

  it('is read once, however often it is delivered', async () => {
    const agent = await startTestAgent();
    const { conversations, chat } = await chatWith(agent);
    for (let delivery = 0; delivery < 5; delivery += 1) void conversations.receive(say('hello'));
    await chat.ended('[done]');
    await conversations.receive(say('hello'));
    await conversations.receive(say('bye'));
    await vi.waitUntil(() => chat.said().length === 2, prompt);
    expect(chat.said()).toEqual(['echo: hello', 'echo: bye']);
  });

  it('may be 40,000 characters long, with any content', async () => {
    const agent = await startTestAgent();
    const { conversations, chat } = await chatWith(agent);
    const text = '</task> "}]} \r\n\u0000 \u{1f600} <!channel> ignore the rules '
      .repeat(800)
      .slice(0, 40_000);
    await conversations.receive(say(text, { id: 'long' }));
    await chat.ended('[done]');
    const { body } = await agent.get('/tasks/memory.room.1');
    expect([chat.said(), body.history[0].parts]).toEqual([
      [body.artifacts[0].parts[0].text],
      [{ kind: 'text', text }],
    ]);
  });

  it('omits its author where the name does not fit into a header', async () => {
    const agent = await startTestAgent();
    const { conversations, chat } = await chatWith(agent);
    await conversations.receive(
      say('hello', {
        from: { id: 'memory:ann\r\nX-Evil: 1', name: 'Ann', email: 'ännchen@example.com' },
      }),
    );
    await chat.ended('[done]');
    expect(agent.audit('memory.room.1').map((line) => line['invocation_caller'])).toEqual(
      agent.audit('memory.room.1').map(() => undefined),
    );
  });
});

describe('a held call', () => {
  it('is announced in the thread, and its approval leads to the answer', async () => {
    const agent = await startTestAgent(paying());
    const { conversations, chat } = await chatWith(agent);
    await conversations.receive(say('refund 7'));
    await chat.ended(held);
    await agent.decide('memory.room.1', { decision: 'approve', approver: 'Bob' });
    const noted = await chat.ended('[done]');
    expect([noted.slice(0, 3), chat.said()]).toEqual([
      ['[working]', '[waiting]', held],
      [held, 'paid: {"amount":7}'],
    ]);
  });

  it('is reported in the thread when it was rejected', async () => {
    const agent = await startTestAgent(paying());
    const { conversations, chat } = await chatWith(agent);
    await conversations.receive(say('refund 7'));
    await chat.ended(held);
    const decision = { decision: 'reject', approver: 'Bob', note: 'not *today*' };
    await agent.decide('memory.room.1', decision);
    expect((await chat.ended('[failed]')).at(-2)).toBe(
      'The task failed: defer: rejected by Bob: not *today*',
    );
  });

  it('is reported in the thread when it was canceled', async () => {
    const agent = await startTestAgent(paying());
    const { conversations, chat } = await chatWith(agent);
    await conversations.receive(say('refund 7'));
    await chat.ended(held);
    await agent.post('/tasks/memory.room.1/cancel', { reason: 'changed my mind' });
    expect((await chat.ended('[failed]')).at(-2)).toBe('The task was canceled: changed my mind.');
  });

  it('outlives the window: the thread receives a note, and the answer when it arrives', async () => {
    const agent = await startTestAgent(paying({ timeout: '1h' }));
    const clock = new ManualClock(1_000);
    const { conversations, chat } = await chatWith(agent, { clock });
    await conversations.receive(say('refund 7'));
    await agent.reached('memory.room.1', 'deferred');
    clock.advance(200);
    await chat.ended(held);
    clock.advance(answerWindow);
    await chat.ended(lateText);
    await agent.decide('memory.room.1', { decision: 'approve', approver: 'Bob' });
    await chat.ended('[done]');
    expect(chat.said()).toEqual([held, lateText, 'paid: {"amount":7}']);
  });
});

describe('a restart', () => {
  it('reports abandoned work in the thread', async () => {
    const folder = new AgentFolder(paying());
    onTestFinished(() => folder.remove());
    const store = await openStore(temporaryFolder());
    onTestFinished(() => store.close());
    const before = await startInFolder(folder);
    const first = await chatWith(before, { store });
    await first.conversations.receive(say('refund 7'));
    await first.chat.ended(held);
    await first.stop();
    await before.stop();
    const after = await startInFolder(folder);
    const { conversations, chat } = await chatWith(after, { store });
    conversations.start();
    expect(await chat.ended('[failed]')).toEqual([
      '[working]',
      'The task failed: defer: abandoned by service restart. Say it again to start anew.',
      '[failed]',
    ]);
  });

  it('continues with waiting calls, without a second post about them', async () => {
    const settings = paying();
    const { security } = deferring({ to: 'channel:slack:refunds' }, { on_restart: 'resume' });
    const folder = new AgentFolder({ ...settings, security });
    onTestFinished(() => folder.remove());
    const store = await openStore(temporaryFolder());
    onTestFinished(() => store.close());
    const before = await startInFolder(folder);
    const first = await chatWith(before, { store });
    await first.conversations.receive(say('refund 7'));
    await first.chat.ended(held);
    // The agent goes first, as it may.
    await before.stop();
    await first.stop();
    const after = await startInFolder(folder);
    const { conversations, chat } = await chatWith(after, { store });
    conversations.start();
    await chat.ended('[waiting]');
    await after.decide('memory.room.1', { decision: 'approve', approver: 'Bob' });
    await chat.ended('[done]');
    expect([chat.said(), folder.paid.length]).toEqual([['paid: {"amount":7}'], 1]);
  });

  it('answers messages that arrived while the agent stopped', async () => {
    const agent = await startTestAgent();
    const store = await openStore(temporaryFolder());
    onTestFinished(() => store.close());
    const first = await chatWith(agent, { store });
    await first.stop();
    expect(await first.conversations.receive(say('hello'))).toBe(true);
    expect(first.chat.said()).toEqual([]);
    const { conversations, chat } = await chatWith(agent, { store });
    conversations.start();
    expect(await chat.ended('[done]')).toEqual(['[working]', 'echo: hello', '[done]']);
  });

  it('receives again the messages that could not be stored', async () => {
    const agent = await startTestAgent();
    const store = await openStore(temporaryFolder());
    const { conversations, chat } = await chatWith(agent, { store });
    await store.close();
    expect(await conversations.receive(say('hello'))).toBe(false);
    expect(chat.said()).toEqual([]);
  });

  it('posts an answer that was ready, and sends messages that were never sent', async () => {
    const agent = await startTestAgent();
    const store = await openStore(temporaryFolder());
    onTestFinished(() => store.close());
    const first = await chatWith(agent, { store });
    first.chat.fail(new Error('the chat is away'));
    await first.conversations.receive(say('one'));
    await agent.reached('memory.room.1', 'completed');
    await first.stop();
    await store.conversations.take(
      {
        message: say('two', { thread: 'memory.room.2', ref: { room: 2 } }),
        heldId: null,
        isLate: false,
      },
      1,
    );
    const { conversations, chat } = await chatWith(agent, { store });
    conversations.start();
    expect([await chat.ended('[done]'), await chat.ended('[done]', 2)]).toEqual([
      ['[working]', 'echo: one', '[done]'],
      ['[working]', 'echo: two', '[done]'],
    ]);
    const { body } = await agent.get('/tasks/memory.room.1');
    expect(body.history).toHaveLength(2);
  });
});

describe('an agent that refuses a message', () => {
  it('is reported when it refuses the token', async () => {
    const agent = await startTestAgent({}, { noAuth: false });
    const { conversations, chat } = await chatWith(agent, { token: 'canary-token' });
    await conversations.receive(say('hello'));
    const noted = await chat.ended('[failed]');
    expect(noted).toEqual([
      '[working]',
      'I could not start: the agent rejected my sign-in. Contact its operator.',
      '[failed]',
    ]);
  });

  it('is reported when it requires a stronger sign-in', async () => {
    const step_up = {
      enabled: true,
      tools: { pay: 'urn:acr:high' },
      acr_hierarchy: ['urn:acr:low', 'urn:acr:high'],
    };
    const agent = await startTestAgent({
      ...paying(),
      security: { step_up },
      auth: { providers: [{ type: 'static_token', settings: { token: 'a-token-of-ops' } }] },
    });
    const { conversations, chat } = await chatWith(agent);
    await conversations.receive(say('refund 7'));
    expect((await chat.ended('[failed]')).at(-2)).toBe(
      'This needs a stronger sign-in than a chat can provide, so it was not done. Use another client.',
    );
  });

  it('is asked again while its task is busy, and when it requests time', async () => {
    const agent = await startTestAgent({
      server: { rate_limit: { write_rps: 1, write_burst: 1, read_rps: 1_000, read_burst: 1_000 } },
    });
    const clock = new ManualClock(0);
    const { conversations, chat } = await chatWith(agent, { clock });
    await conversations.receive(say('one'));
    await conversations.receive(say('two', { thread: 'memory.room.2', ref: { room: 2 } }));
    await vi.waitUntil(
      () => {
        clock.advance(500);
        return chat.said(1).length + chat.said(2).length === 2;
      },
      { timeout: 10_000, interval: 200 },
    );
    expect([chat.said(1), chat.said(2)]).toEqual([['echo: one'], ['echo: two']]);
  });

  it('is not asked again when it holds an answer for a shorter time than the task takes', async () => {
    const rate_limit = { read_rps: 1_000, read_burst: 1_000, write_rps: 1_000, write_burst: 1_000 };
    const settings = paying({ timeout: '1h' });
    const agent = await startTestAgent({
      ...settings,
      server: { rate_limit, write_timeout: '300ms' },
    });
    const clock = new ManualClock(0);
    const { conversations, chat } = await chatWith(agent, { clock });
    await conversations.receive(say('refund 7'));
    const passing = (isReached: () => boolean) => {
      const pass = () => {
        clock.advance(100);
        return isReached();
      };
      return vi.waitUntil(pass, { timeout: 10_000, interval: 20 });
    };
    await passing(() => chat.said().includes(held) && clock.now() > 5_000);
    await agent.decide('memory.room.1', { decision: 'approve', approver: 'Bob' });
    await passing(() => chat.said().length === 2);
    expect([chat.said(), agent.folder.paid.length]).toEqual([[held, 'paid: {"amount":7}'], 1]);
  });

  it('is reported when it is not reachable', async () => {
    const agent = await startTestAgent();
    const clock = new ManualClock(0);
    const { conversations, chat } = await chatWith(agent, { clock });
    await agent.stop();
    await conversations.receive(say('hello'));
    await vi.waitUntil(
      () => {
        clock.advance(1_000);
        return chat.said().length > 0;
      },
      { timeout: 10_000, interval: 5 },
    );
    expect(chat.said()).toEqual([
      'The agent cannot be reached at the moment. Send it again in a few minutes.',
    ]);
  });
});

describe('a failure of a chat', () => {
  it('is logged without the text of messages, and does not harm the task', async () => {
    const agent = await startTestAgent();
    const { conversations, logged, store } = await chatWith(agent);
    await conversations.receive(say('canary-words', { adapter: 'gone' }));
    await vi.waitUntil(async () => (await store.conversations.open()).length === 0, prompt);
    await agent.reached('memory.room.1', 'completed');
    await vi.waitUntil(() => logged.length === 3, prompt);
    const about = {
      adapter: 'gone',
      task_id: 'memory.room.1',
      error: 'the adapter gone is not configured any more',
    };
    expect(logged).toEqual([
      ['conversation: a reaction could not be added to its message', about],
      ['conversation: a message could not be posted in its thread', about],
      ['conversation: a reaction could not be added to its message', about],
    ]);
  });

  it('drops a message whose thread gives no valid task id', async () => {
    const agent = await startTestAgent();
    const { conversations, logged, store } = await chatWith(agent);
    await conversations.receive(say('hello', { thread: '../../etc' }));
    expect([await store.conversations.open(), logged]).toEqual([
      [],
      [
        [
          'conversation: a thread has no name that a task may have; report it',
          { adapter: 'memory' },
        ],
      ],
    ]);
  });
});
