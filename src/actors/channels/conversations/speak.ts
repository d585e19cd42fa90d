import type { Spoken, Utterance } from '../../../machines/channels/turn.ts';
import type { ScopedOutbound } from '../../ports/egress.ts';
import { DeliveryError } from '../channel-adapter.ts';
import type { ConversationPort } from '../conversation-port.ts';
import { untilAborted } from '../slack/link/until-aborted.ts';

export interface SpeakPorts {
  /** Returns the conversation port of an adapter; `undefined` for an unknown adapter. */
  ports: (adapter: string) => ConversationPort | undefined;
  /** Attributes outgoing requests to the task of the thread; unattributed when absent. */
  outbound?: Pick<ScopedOutbound, 'within'>;
}

/** Posts a string or mark to its thread and returns the outcome. Never rejects. */
export async function speak(
  utterance: Utterance,
  { ports, outbound }: SpeakPorts,
  signal: AbortSignal,
): Promise<Spoken> {
  const { adapter, ref, thread } = utterance.to;
  const port = ports(adapter);
  if (port === undefined) {
    const error = new Error(`the adapter ${adapter} is not configured any more`);
    return { kind: 'failed', isPassing: false, retryAfter: null, error };
  }
  const scope = { taskId: thread, correlationId: null, tags: {}, isOwn: true };
  const put = () =>
    utterance.kind === 'mark'
      ? port.mark(ref, utterance.mark, signal)
      : port.say(ref, utterance.markdown, signal);
  const putInTime = () => untilAborted(signal, put);
  try {
    await (outbound === undefined ? putInTime() : outbound.within(scope, putInTime));
    return { kind: 'delivered' };
  } catch (error) {
    if (!(error instanceof DeliveryError)) {
      return { kind: 'failed', isPassing: true, retryAfter: null, error };
    }
    const { fault, retryAfter } = error;
    return { kind: 'failed', isPassing: fault === 'later', retryAfter, error };
  }
}
