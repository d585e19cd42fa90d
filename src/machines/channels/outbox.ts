import type { ChatMessage, TurnMark, Utterance } from './turn.ts';

/** Creates a mark on a message. */
export function marking(to: ChatMessage, mark: TurnMark): Utterance {
  return { to, kind: 'mark', mark };
}

/** Creates an intermediate reply to a message. Markdown. */
export function word(to: ChatMessage, markdown: string): Utterance {
  return { to, kind: 'say', markdown, isLast: false };
}

/** Creates the final reply to a message: the answer, or the reason why there is none. Markdown. */
export function lastWord(to: ChatMessage, markdown: string): Utterance {
  return { to, kind: 'say', markdown, isLast: true };
}

/** Adds a mark. It replaces unsent marks of the same message, except for the one being sent. */
export function withMark(outbox: readonly Utterance[], mark: Utterance): Utterance[] {
  const isOutdated = ({ kind, to }: Utterance, index: number) =>
    index > 0 && kind === 'mark' && to.id === mark.to.id && to.adapter === mark.to.adapter;
  return [...outbox.filter((utterance, index) => !isOutdated(utterance, index)), mark];
}

/** Returns the message whose final reply this is; `null` for other posts. */
export function closedBy(utterance: Utterance): ChatMessage | null {
  return utterance.kind === 'say' && utterance.isLast ? utterance.to : null;
}
