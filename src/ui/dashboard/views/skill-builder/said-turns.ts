/** A message of one side; `shown` is the text to display, without files. */
export interface SaidTurn {
  role: 'user' | 'assistant';
  text: string;
  shown: string;
}

/**
 * Returns the displayed part of a streaming answer: the text before its first file, and the name of the file being
 * written.
 */
export function spokenPart(text: string): { words: string; writes: string | null } {
  const found = /^ {0,3}`{3,}[^\n`]*?(skill\.md|script:\s*([^\n]+))[^\n]*$/im.exec(text);
  if (found === null) return { words: text, writes: null };
  const last = [...text.matchAll(/^ {0,3}`{3,}[^\n`]*?(?:skill\.md|script:\s*([^\n`]+))/gim)].at(
    -1,
  );
  return { words: text.slice(0, found.index).trim(), writes: last?.[1]?.trim() ?? 'SKILL.md' };
}

/** Returns the latest messages that fit into one request. */
export function messagesOf(
  turns: readonly SaidTurn[],
): { role: SaidTurn['role']; content: string }[] {
  let room = 900_000;
  const kept = turns
    .slice(-100)
    .toReversed()
    .filter(({ text }) => {
      room -= text.length;
      return room >= 0;
    })
    .toReversed();
  return kept.map(({ role, text }) => ({ role, content: text }));
}
