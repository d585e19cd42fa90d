import type { ChatMessage, TurnMark, Utterance } from './turn.ts';

/** A mark beside a message. */
export function marking(to: ChatMessage, mark: TurnMark): Utterance {
  return { to, kind: 'mark', mark };
}

/** Something that is said while a message is worked on. Markdown. */
export function word(to: ChatMessage, markdown: string): Utterance {
  return { to, kind: 'say', markdown, isLast: false };
}

/** The answer to a message, or why there is none. Markdown. */
export function lastWord(to: ChatMessage, markdown: string): Utterance {
  return { to, kind: 'say', markdown, isLast: true };
}

/** Adds a mark; it takes the place of those of its message that nobody has seen, but for the one under way. */
export function withMark(outbox: readonly Utterance[], mark: Utterance): Utterance[] {
  const isOutdated = ({ kind, to }: Utterance, index: number) =>
    index > 0 && kind === 'mark' && to.id === mark.to.id && to.adapter === mark.to.adapter;
  return [...outbox.filter((utterance, index) => !isOutdated(utterance, index)), mark];
}

/** Returns the message that has had its last word with this; `null` when none has. */
export function closedBy(utterance: Utterance): ChatMessage | null {
  return utterance.kind === 'say' && utterance.isLast ? utterance.to : null;
}
