import type { ChatMessage, Turn } from '../../src/machines/channels/turn.ts';

/** Something that Ann said in a thread. */
export function aSaying(overrides: Partial<ChatMessage> = {}): ChatMessage {
  return {
    adapter: 'memory',
    id: 'm-1',
    thread: 'memory.room.1',
    text: 'hello',
    from: { id: 'memory:ann', name: 'Ann', email: 'ann@example.com' },
    ref: { room: 1 },
    ...overrides,
  };
}

/** A message that nothing has been done about. */
export function aTurn(overrides: Partial<ChatMessage> = {}): Turn {
  return { message: aSaying(overrides), heldId: null, isLate: false };
}
