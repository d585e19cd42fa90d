import { describe, expect, it } from 'vitest';
import { getInitialSnapshot, getNextSnapshot } from 'xstate';
import {
  type ConversationEvent,
  conversationMachine,
} from '../../../../../src/ui/dashboard/views/chat/conversation-machine.ts';

const told = { id: 't-1', session: 'c-1', state: 'working', note: '', asked: 'Hi', answer: null };
const sent: ConversationEvent = { type: 'message.sent', message: 'Hi' };
const works: ConversationEvent = { type: 'task.told', task: told };
const holds: ConversationEvent = { type: 'task.told', task: { ...told, state: 'deferred' } };
const ends: ConversationEvent = {
  type: 'task.told',
  task: { ...told, state: 'completed', answer: 'Hello' },
};
const breaks: ConversationEvent = { type: 'stream.ended', problem: 'gone' };

function after(...events: ConversationEvent[]) {
  const start = getInitialSnapshot(conversationMachine, { session: null });
  return events.reduce((state, event) => getNextSnapshot(conversationMachine, state, event), start);
}

describe('the chart of a conversation with an agent', () => {
  it.each([
    ['idle', []],
    [{ answering: 'sending' }, [sent]],
    [{ answering: 'streaming' }, [sent, works]],
    [{ answering: 'held' }, [sent, works, holds]],
    [{ answering: 'streaming' }, [sent, works, holds, works]],
    ['idle', [sent, works, ends]],
    [{ answering: 'sending' }, [sent, { type: 'stop.asked' }]],
    [{ answering: 'stopping' }, [sent, works, { type: 'stop.asked' }]],
    ['idle', [sent, works, { type: 'stop.asked' }, ends]],
    [
      { answering: 'streaming' },
      [sent, works, { type: 'stop.asked' }, { type: 'stop.failed', problem: 'no' }],
    ],
    ['rejoining', [sent, works, breaks]],
    ['opening', [sent, works, { type: 'session.chosen', session: 'c-2' }]],
    ['idle', [sent, works, { type: 'session.left' }]],
  ] satisfies [unknown, ConversationEvent[]][])('is %j after %j', (value, events) => {
    expect(after(...events).value).toEqual(value);
  });

  it('sends a message once: it reconnects to its task when the stream breaks', () => {
    const broken = after(sent, works, breaks);
    expect(broken.context).toMatchObject({ task: 't-1', session: 'c-1', failures: 1, unsent: '' });
    const joined = getNextSnapshot(conversationMachine, broken, {
      type: 'xstate.after.backOff.conversation.rejoining',
    } as unknown as ConversationEvent);
    expect(joined.value).toEqual({ answering: 'sending' });
    expect((joined.children['0.conversation.answering'] as any).getSnapshot().input).toEqual({
      message: null,
      session: 'c-1',
      task: 't-1',
    });
  });

  it('drops the words of a broken stream, as a new subscriber gets them from the beginning', () => {
    const says: ConversationEvent = {
      type: 'progress.told',
      progress: { phase: 'token', text: 'Hel' },
    };
    const broken = after(sent, works, says, breaks);
    expect(broken.context.turns[0]?.parts).toEqual([{ kind: 'text', text: 'Hel' }]);
    const joined = getNextSnapshot(conversationMachine, broken, {
      type: 'xstate.after.backOff.conversation.rejoining',
    } as unknown as ConversationEvent);
    expect(joined.context.turns[0]?.parts).toEqual([]);
  });

  it('returns words that did not reach the agent', () => {
    expect(after(sent, breaks)).toMatchObject({
      value: 'idle',
      context: { unsent: 'Hi', turns: [], problem: 'gone' },
    });
  });

  it('follows messages of other people in the session, once', () => {
    const seen: ConversationEvent = { type: 'task.seen', task: 't-2', state: 'working' };
    expect(after(sent, works, ends, seen).value).toEqual({ answering: 'sending' });
    expect(after(sent, works, ends, seen).context.turns).toHaveLength(2);
    const late: ConversationEvent = { type: 'task.seen', task: 't-1', state: 'working' };
    expect(after(sent, works, ends, late).value).toBe('idle');
    const over: ConversationEvent = { type: 'task.seen', task: 't-3', state: 'completed' };
    expect(after(sent, works, ends, over).value).toBe('idle');
  });
});
