import { governanceFailed, type Refusal } from '../../../machines/domain/finding.ts';
import type { Message } from '../../../machines/domain/task.ts';
import type { Timed } from '../../../machines/governance/ruling.ts';
import { elapsed } from '../../elapsed.ts';
import type { Log } from '../../ports/log.ts';
import type { Policy } from './policy.ts';

/**
 * Returns why a message may not reach the model, and the time of the check; `refusal` is `null` if it may. A message
 * that cannot be checked is refused.
 */
export function screenPrompt(
  message: Message,
  { policy, log }: { policy: Policy; log: Log },
): Timed<{ refusal: Refusal | null }> {
  const began = performance.now();
  let refusal: Refusal | null;
  try {
    refusal = policy.refusalOf(message);
  } catch (error) {
    log.error({ error }, 'governance: the message could not be checked');
    refusal = governanceFailed('the message could not be checked');
  }
  return { refusal, took: elapsed(began) };
}
