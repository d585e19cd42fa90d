import { DeliveryError } from '../../channel-adapter.ts';
import { linkFault } from '../link/slack-failure.ts';
import type { SetupFinding } from './setup-finding.ts';

/** Maximum number of checked items, so that Slack's rate limit leaves room for the agent. */
const most = 50;

/**
 * Checks items one after the other, fifty at most. Stops at the first check that rejects: later checks would fail
 * likewise, or Slack limits the rate. Never rejects.
 *
 * @param what the kind of items, such as `channels`
 */
export async function checkEach(
  things: readonly string[],
  look: (thing: string) => Promise<SetupFinding | null>,
  what: string,
): Promise<SetupFinding[]> {
  const findings: SetupFinding[] = [];
  for (const [index, thing] of things.slice(0, most).entries()) {
    try {
      const finding = await look(thing);
      if (finding !== null) findings.push(finding);
    } catch (error) {
      return [...findings, notLookedAt(what, things.length - index, wordsOf(error))];
    }
  }
  const left = things.length - most;
  return left <= 0
    ? findings
    : [...findings, notLookedAt(what, left, `there are more than ${most}`)];
}

function notLookedAt(what: string, count: number, reason: string): SetupFinding {
  const message = `${count} of the ${what} ${count === 1 ? 'was' : 'were'} not checked: ${reason}`;
  return { severity: 'warning', subject: what, message };
}

/** Returns the reason of a failed check, without a final period. */
export function wordsOf(error: unknown): string {
  return error instanceof DeliveryError
    ? error.message.replace(/^slack: /, '')
    : linkFault(error).message;
}
