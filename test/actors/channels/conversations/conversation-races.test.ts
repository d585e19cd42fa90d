import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { TaskEar } from '../../../../src/actors/channels/conversations/agent-surface.ts';
import { Conversations } from '../../../../src/actors/channels/conversations/conversations.ts';
import type { ConversationRows } from '../../../../src/actors/records/records.ts';
import type { SqliteStore } from '../../../../src/actors/records/sqlite/sqlite-store.ts';
import type { Asked } from '../../../../src/machines/channels/turn.ts';
import { aSaying, aTurn } from '../../../helpers/chat-thread.ts';
import { HeldRows } from '../../../helpers/held-rows.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { MemoryChat } from '../../../helpers/memory-chat.ts';
import { openStore, temporaryFolder } from '../../../helpers/test-system.ts';

let store: SqliteStore;
let clock: ManualClock;
let held: HeldRows<ConversationRows>;
let chat: MemoryChat;
let asked: string[];
let conversations: Conversations;
/** How the agent answers, and what follows a task. */
let answer: () => Promise<Asked>;
let ear: TaskEar | null;

const done: Asked = { kind: 'ended', end: { kind: 'completed', text: 'done' } };

beforeEach(async () => {
  store = await openStore(temporaryFolder());
  clock = new ManualClock(0);
  held = new HeldRows<ConversationRows>(store.conversations);
  chat = new MemoryChat();
  asked = [];
  answer = async () => done;
  ear = null;
  conversations = startConversations();
  onTestFinished(async () => {
    for (const { fail } of [...held.calls]) await fail();
    await conversations.stop();
    await store.close();
  });
});

function startConversations(): Conversations {
  const ignore = () => undefined;
  return new Conversations({
    surface: {
      ask: ({ message }) => {
        asked.push(message.text);
        return answer();
      },
      follow: async (_turn, hearing) => {
        ear = hearing;
        await new Promise(() => undefined);
      },
    },
    ports: () => chat,
    rows: held.rows,
    clock,
    log: { info: ignore, warn: ignore, error: ignore },
  });
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 8; turn += 1) await setImmediate();
}

const say = (text: string, room = 1) =>
  aSaying({ text, id: text, thread: `memory.room.${room}`, ref: { room } });
const receive = (text: string, room = 1) => conversations.receive(say(text, room));
const waiting = () =>
  held.calls.map(({ method, args: [turn] }) => `${method} ${textOf(turn)}`.trim());
const open = async () => (await store.conversations.open()).map(textOf);

function textOf(turn: unknown): string {
  const { message, text } = Object(turn) as { message?: { text: string }; text?: string };
  return message?.text ?? text ?? '';
}

describe('a message whose storing takes long', () => {
  it('keeps its place in its thread, and delays no other thread', async () => {
    held.hold('take', 'late');
    const taken = [receive('one'), receive('two'), receive('far', 2)];
    await turns();
    const first = waiting();
    await held.calls[1]?.answer();
    await held.calls[0]?.answer();
    const then = waiting();
    await held.calls[0]?.answer();
    expect([first, then, await Promise.all(taken), asked]).toEqual([
      ['take one', 'take far'],
      ['take two'],
      [true, true, true],
      ['far', 'one', 'two'],
    ]);
  });

  it('comes before the next one, although it could not be stored', async () => {
    held.hold('take', 'late');
    const one = receive('one');
    const two = receive('two');
    await turns();
    await held.calls[0]?.fail();
    await held.calls[0]?.answer();
    held.release('take');
    expect([await one, await two, await receive('one'), asked]).toEqual([
      false,
      true,
      true,
      ['two', 'one'],
    ]);
  });

  it('is sent once, however often it arrives during that time', async () => {
    held.hold('take', 'late');
    const taken = [receive('one'), receive('one'), receive('one')];
    for (let times = 0; times < 3; times += 1) {
      await turns();
      await held.calls[0]?.answer();
    }
    expect([await Promise.all(taken), asked]).toEqual([[true, true, true], ['one']]);
  });

  it('is sent when it arrives again, after the store kept it without an acknowledgement', async () => {
    held.hold('take');
    const first = receive('one');
    await turns();
    await held.calls[0]?.fail();
    held.release('take');
    const before = [...asked];
    expect([await first, before, await receive('one'), await receive('one'), asked]).toEqual([
      false,
      [],
      true,
      true,
      ['one'],
    ]);
  });

  it('is not sent when the agent stops during that time, but after the next start', async () => {
    held.hold('take', 'late');
    const taken = receive('one');
    await turns();
    const stopped = conversations.stop();
    await turns();
    await held.calls[0]?.answer();
    await stopped;
    const before = [await taken, [...asked]];
    conversations = startConversations();
    conversations.start();
    await turns();
    expect([before, asked]).toEqual([[true, []], ['one']]);
  });

  it('is one of at most a thousand; a further one is refused for now', async () => {
    held.hold('take', 'late');
    const taken = Array.from({ length: 1_000 }, (_, index) => receive(`m-${index}`));
    expect(await receive('more', 2)).toBe(false);
    held.release('take');
    await turns();
    await held.calls[0]?.answer();
    expect(new Set(await Promise.all(taken))).toEqual(new Set([true]));
  });
});

describe('a start whose reading takes long', () => {
  it('sends stored messages before new ones, and none twice', async () => {
    await store.conversations.take(aTurn(say('old')), 1);
    held.hold('open', 'late');
    conversations.start();
    const taken = receive('new');
    await turns();
    const before = [...asked];
    await held.calls[0]?.answer();
    expect([before, await taken, asked]).toEqual([[], true, ['old', 'new']]);
  });

  it('accepts nothing while the store cannot be read, and reads it again', async () => {
    await store.conversations.take(aTurn(say('old')), 1);
    held.hold('open');
    conversations.start();
    const early = receive('new');
    await turns();
    await held.calls[0]?.fail();
    held.release('open');
    const before = [await early, await receive('new'), [...asked], await open()];
    clock.advance(5_000);
    await turns();
    expect([before, await receive('new'), asked]).toEqual([
      [false, false, [], ['old']],
      true,
      ['old', 'new'],
    ]);
  });

  it('sends nothing when the agent stops during that time', async () => {
    await store.conversations.take(aTurn(say('old')), 1);
    held.hold('open');
    conversations.start();
    await turns();
    const stopped = conversations.stop();
    await held.calls[0]?.answer();
    await stopped;
    expect([asked, clock.pending]).toEqual([[], 0]);
  });
});

describe('the progress of an answer', () => {
  const call = { id: 'd-1', tool: 'pay', to: 'channel:slack:ops' };

  it('is stored in order, with its end last', async () => {
    answer = () => new Promise(() => undefined);
    held.hold('keep', 'late');
    await receive('one');
    clock.advance(200);
    await turns();
    ear?.held(call);
    await turns();
    ear?.ended({ kind: 'completed', text: 'done' });
    await turns();
    const before = [waiting(), chat.said().at(-1)];
    await held.calls[0]?.answer();
    expect([before, waiting(), await open()]).toEqual([[['keep one'], 'done'], [], []]);
  });

  it('is stored again until the store accepts it', async () => {
    held.hold('close', 'late');
    await receive('one');
    await turns();
    const [failed] = held.calls;
    held.release('close');
    await failed?.fail();
    const before = await open();
    clock.advance(5_000);
    await turns();
    expect([before, await open()]).toEqual([['one'], []]);
  });

  it('is stored before the agent has stopped', async () => {
    held.hold('close', 'late');
    await receive('one');
    await turns();
    let isOver = false;
    const stopped = conversations.stop().then(() => {
      isOver = true;
    });
    await turns();
    const before = isOver;
    await held.calls[0]?.answer();
    await stopped;
    expect([before, await open(), clock.pending]).toEqual([false, [], 0]);
  });
});
