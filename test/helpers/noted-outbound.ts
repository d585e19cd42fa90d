import { Agent, type Dispatcher, fetch as undiciFetch } from 'undici';
import { onTestFinished } from 'vitest';
import { EgressError } from '../../src/actors/outbound/egress/egress.ts';
import type { Outbound } from '../../src/actors/ports/egress.ts';

/** An egress that notes what passes, such as `GET http://127.0.0.1:80/keys`. */
export interface NotedOutbound extends Outbound {
  passed: string[];
}

/** Lets everything pass and notes it; closed after the test. */
export function notedOutbound(): NotedOutbound {
  return outboundThrough((dispatch) => dispatch);
}

/** Refuses everything, in the words of the policy, and notes it. */
export function refusingOutbound(): NotedOutbound {
  return outboundThrough(() => ({ origin }) => {
    const host = new URL(String(origin)).hostname;
    throw new EgressError({ host, why: 'is not on the allowlist', mode: 'allowlist' });
  });
}

function outboundThrough(
  policy: (dispatch: Dispatcher['dispatch']) => Dispatcher['dispatch'],
): NotedOutbound {
  const passed: string[] = [];
  const agent = new Agent();
  onTestFinished(() => agent.destroy());
  const dispatcher = agent.compose((dispatch) => {
    const judged = policy(dispatch);
    return (options, handler) => {
      passed.push(`${options.method} ${String(options.origin)}${options.path}`);
      return judged(options, handler);
    };
  });
  const fetchIt = (input: string | URL, init: object) =>
    undiciFetch(input, { ...init, dispatcher });
  return { passed, dispatcher, fetch: fetchIt as unknown as typeof globalThis.fetch };
}
