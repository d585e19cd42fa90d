import type {
  DecisionRequestJson,
  DeferralJson,
} from '../../../../http/wire/dashboard/held-call-json.ts';
import { parseDuration } from '../../../../machines/duration.ts';

/** The terms on which an approval releases later calls, as they are typed. */
export interface RememberTerms {
  scope: 'task' | 'caller';
  for: string;
  uses: number | null;
  when: string;
}

type Limits = NonNullable<DeferralJson['remember']>;

/** Returns the terms that are proposed: at most an hour and five calls. */
export function proposedTerms({ for: time, uses }: Limits): RememberTerms {
  const isShort = parseDuration(time) < parseDuration('1h');
  return {
    scope: 'caller',
    for: isShort ? briefly(time) : '1h',
    uses: Math.min(5, uses),
    when: '',
  };
}

/** Returns what is wrong with typed terms, in one sentence; `null` if they can be sent. */
export function faultOf(terms: RememberTerms, limits: Limits): string | null {
  const { uses } = terms;
  if (uses === null || !Number.isInteger(uses) || uses < 1 || uses > limits.uses) {
    return `Enter 1 to ${limits.uses} calls.`;
  }
  const most = parseDuration(limits.for);
  try {
    const time = parseDuration(terms.for.trim());
    if (time > 0 && time <= most) return null;
  } catch {
    // The sentence below covers texts that are no duration.
  }
  return `Enter a time up to ${briefly(limits.for)}, such as 30m.`;
}

/** Describes the calls that an approval would release: `5 more calls of pay by shop with equal arguments within 1h`. */
export function termsWords({ scope, for: time, uses, when }: RememberTerms, tool: string): string {
  const calls = uses === 1 ? 'one more call' : `up to ${uses ?? 0} more calls`;
  const whose = scope === 'task' ? 'in this session' : 'by this requester';
  const which = when.trim() === '' ? 'with equal arguments' : `with ${when.trim()}`;
  return `Releases ${calls} of ${tool} ${whose} ${which} within ${time.trim()}, without a question.`;
}

/**
 * Returns the part of a decision that has the terms; empty without terms or for a call whose approval cannot be
 * remembered, and `null` for terms that cannot be sent.
 */
export function rememberPart(
  terms: RememberTerms | null,
  limits: Limits | undefined,
): Pick<DecisionRequestJson, 'remember'> | null {
  if (terms === null || limits === undefined) return {};
  const { scope, for: time, uses, when } = terms;
  if (uses === null || faultOf(terms, limits) !== null) return null;
  const condition = when.trim() === '' ? {} : { when: when.trim() };
  return { remember: { scope, for: time.trim(), uses, ...condition } };
}

/** Drops the units of a duration that are zero: `8h` for `8h0m0s`. */
export function briefly(time: string): string {
  return time.replace(/(?<=[hm])0s$/, '').replace(/(?<=h)0m$/, '');
}
