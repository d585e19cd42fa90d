import { splitTarget } from './approval-notice.ts';
import type { Asked, HeldCall, Refusal, TurnEnd, TurnMark } from './turn.ts';

/** The reply if the answer takes longer than the window (docs/contract/chat.md). */
export const lateText =
  'This takes longer than 6 minutes. The task continues, and the answer will appear here.';

/** The reply if too many messages of the thread are pending. */
export const fullText =
  'Too many messages are waiting in this thread; send it again once they are answered.';

/** The answer to a message in the thread of an approval. */
export const useButtonsText =
  'Nothing was decided: use the buttons of the message above. Messages in this thread reach neither the agent nor the call.';

/** The reply to a user who mentions the agent without a request. */
export const hintText = 'Say what you need in the same message, and I will work on it.';

const refusals: Record<Refusal, string> = {
  unauthorized: 'I could not start: the agent rejected my sign-in. Contact its operator.',
  assurance:
    'This needs a stronger sign-in than a chat can provide, so it was not done. Use another client.',
  admission: 'The agent accepts no new work at the moment. Try again later.',
  running: 'The task of this thread is still busy. Send it again in a moment.',
  tooLong: 'That message is too long. Shorten it.',
  limited: 'The agent receives too many requests at the moment. Send it again in a minute.',
  unavailable: 'The agent cannot be reached at the moment. Send it again in a few minutes.',
  refused: 'The agent rejected this message. Contact its operator.',
};

/** Builds the text that names the approver of a held call. */
export function heldText({ tool, to }: Pick<HeldCall, 'tool' | 'to'>): string {
  return `Waiting for a release of ${tool} by ${whomOf(to)}.`;
}

/** Builds the text that confirms a message to a waiting task and explains how to cancel the task. */
export function keptText(call: Pick<HeldCall, 'tool' | 'to'>): string {
  return `Still waiting for a release of ${call.tool} by ${whomOf(call.to)}. Your message is shown to the approvers, and I read it after the decision. The requester can write *cancel* to call it off.`;
}

/** The answer to a requester who cancelled a task. */
export const calledOffText = 'Called off; the call was not made.';

/** Returns true if a message only asks to cancel the task. */
export function isCallOff(text: string): boolean {
  return /^[\W_]*cancel[\W_]*$/i.test(text);
}

/** Returns the final reply and mark for a finished task: the answer, or the reason why there is none. Markdown. */
export function lastWordsOf(end: TurnEnd): { markdown: string; mark: TurnMark } {
  return { markdown: endText(end), mark: end.kind === 'completed' ? 'done' : 'failed' };
}

/** Returns the reply for the result of a request to the agent that is final. Markdown. */
export function wordsOf(asked: Asked): { markdown: string; mark: TurnMark } {
  if (asked.kind === 'ended') return lastWordsOf(asked.end);
  const refusal = asked.kind === 'refused' ? asked.refusal : 'refused';
  return { markdown: refusals[refusal], mark: 'failed' };
}

function endText(end: TurnEnd): string {
  if (end.kind === 'gone')
    return 'The outcome of this message is no longer available. Send it again.';
  if (end.kind === 'canceled') return `The task was ${end.text}.`;
  if (end.kind === 'completed') return end.text.trim() === '' ? 'Done.' : end.text;
  const isCutOff = end.text.endsWith('by service restart');
  return `The task failed: ${end.text}${isCutOff ? '. Say it again to start anew.' : ''}`;
}

/** Slack channels have a name or an ID. A target that matches everything is shown as its adapter. */
function whomOf(to: string): string {
  const { adapter, target } = splitTarget(to);
  if (target === '' || target === '*') return adapter === '' ? 'an approver' : `the ${adapter}`;
  if (adapter !== 'slack') return `${target} (${adapter})`;
  return /^[CGD][A-Z0-9]{8,}$/.test(target) ? `channel ${target}` : `#${target.replace(/^#/, '')}`;
}
