import type { Conversation } from '../../src/actors/ports/model.ts';

/** What a model is given for one turn of a task that somebody asked for in these words. */
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
