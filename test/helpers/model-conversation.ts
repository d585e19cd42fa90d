import type { Conversation } from '../../src/actors/ports/model.ts';

/** The input of a model for one turn of a task with this request. */
export function conversationOf(text: string, more: Partial<Conversation> = {}): Conversation {
  return {
    taskId: 't1',
    history: [],
    request: { role: 'user', parts: [{ kind: 'text', text }], messageId: 'm1' },
    exchanges: [],
    said: [],
    followUps: [],
    turns: 0,
    ...more,
  };
}
