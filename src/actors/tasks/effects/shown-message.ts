import type { HeldMessage, Message, Part } from '../../../machines/domain/task.ts';
import { callerName } from '../../../machines/governance/caller-name.ts';
import type { PersonKey } from '../../../machines/governance/same-person.ts';
import { legible } from '../../../machines/legible.ts';
import { cutToRunes } from '../../../machines/text.ts';
import type { Policy } from '../../governance/governance.ts';

/** Maximum characters of a message shown to approvers. */
const longest = 2_000;

/** Returns a message to a waiting task as shown to approvers: redacted and truncated. */
export function shownMessage(
  { parts }: Message,
  sender: PersonKey | null,
  { policy, at }: { policy: Pick<Policy, 'shown'>; at: number },
): HeldMessage {
  const { text } = policy.shown({ text: parts.map(wordsOf).join('\n') });
  const shown = legible(typeof text === 'string' ? text : '(not shown)').trim();
  const isLong = [...shown].length > longest;
  return {
    from: callerName(sender),
    text: isLong ? `${cutToRunes(shown, longest)}… (${shown.length} characters)` : shown,
    at,
  };
}

function wordsOf(part: Part): string {
  if (part.kind === 'text') return part.text;
  return part.kind === 'data'
    ? JSON.stringify(part.data)
    : `(a file: ${part.file.name ?? 'no name'})`;
}
