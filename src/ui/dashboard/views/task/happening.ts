import type { TimelineEntryJson } from '../../../../http/wire/dashboard/task-detail-json.ts';
import { spanText } from '../../chart/span-text.ts';

/** One event described in words. All of its text is untrusted and displayed as such. */
export interface Happening {
  seq: number;
  at: string;
  tone: Tone;
  says: string;
  /** The object of the sentence, shown after it in monospace. */
  about: string | null;
  detail: string;
}

export type Tone = 'plain' | 'allow' | 'deny' | 'modify' | 'hold' | 'step-up';

type Words = Pick<Happening, 'says'> & Partial<Pick<Happening, 'tone' | 'about' | 'detail'>>;
type Fields = Record<string, unknown>;

/** Describes an audit event in words; an unknown event shows its name and fields. */
export function happeningOf({
  seq,
  at,
  event,
  fields,
}: Omit<TimelineEntryJson, 'line'>): Happening {
  const wording = Object.hasOwn(words, event) ? words[event] : undefined;
  const said: Words = wording?.(fields) ?? {
    says: event,
    detail: list(Object.entries(fields).map(shown)),
  };
  return { seq, at, tone: 'plain', about: text(fields['tool']), detail: '', ...said };
}

/**
 * Describes a task's events in words, oldest first. A model turn names the tools that it requested, taken from the
 * events up to its next turn.
 */
export function happeningsOf(timeline: readonly Omit<TimelineEntryJson, 'line'>[]): Happening[] {
  return timeline.map((entry, index) => {
    const happening = happeningOf(entry);
    if (entry.event !== 'llm_call' || entry.fields['error'] !== undefined) return happening;
    const rest = timeline.slice(index + 1);
    const next = rest.findIndex(({ event }) => event === 'llm_call' || event === 'session_start');
    const turn = next === -1 ? rest : rest.slice(0, next);
    const tools = new Set(turn.map(({ fields }) => text(fields['tool'])));
    tools.delete(null);
    if (tools.size === 0) return happening;
    return { ...happening, says: 'Model requested', about: [...tools].join(', ') };
  });
}

const words: Record<string, (fields: Fields) => Words> = {
  policy_loaded: ({ version, layers, deferred_tools: held, egress }) => ({
    says: 'Policy loaded',
    detail: list([
      text(version) === null ? null : `version ${text(version)}`,
      named('layers', layers),
      named('held', held),
      text(egress) === null ? null : `egress ${text(egress)}`,
    ]),
  }),
  people_loaded: ({ groups, oncall }) => ({
    says: 'People loaded',
    detail: list([named('groups', groups), named('on call', oncall)]),
  }),
  auth_verify: ({ user_id: user, provider }) => ({
    says: 'Signed in:',
    about: text(user),
    detail: list([text(provider) === null ? null : `by ${text(provider)}`]),
  }),
  auth_fail: ({ reason, count: times }) => ({
    says: 'Sign-in refused',
    tone: 'deny',
    detail: list([
      text(reason)?.replaceAll('_', ' '),
      typeof times === 'number' && times > 1 ? `${times} times` : null,
    ]),
  }),
  agent_card_published: ({ name, version, skill_count: skills }) => ({
    says: 'Agent card published',
    about: text(name),
    detail: list([
      text(version) === null ? null : `version ${text(version)}`,
      count(skills, 'skills'),
    ]),
  }),
  session_start: () => ({ says: 'Accepted' }),
  session_end: ({ state, reason }) => ({
    says:
      { completed: 'Completed', failed: 'Failed', canceled: 'Canceled' }[String(state)] ?? 'Ended',
    tone: state === 'completed' ? 'allow' : state === 'failed' ? 'deny' : 'plain',
    detail: text(reason)?.replaceAll('_', ' ') ?? '',
  }),
  llm_call: ({ duration_ms, input_tokens, output_tokens, model, error }) => ({
    says: error === undefined ? 'Model responded' : 'Model failed',
    tone: error === undefined ? 'plain' : 'deny',
    detail: list([
      span(duration_ms),
      count(input_tokens, 'in'),
      count(output_tokens, 'out'),
      text(model),
      text(error),
    ]),
  }),
  context_compacted: ({ results, messages, turns, tokens_before, tokens_after }) => ({
    says: 'Context trimmed:',
    tone: 'modify',
    detail: list([
      count(results, 'results'),
      count(messages, 'messages'),
      count(turns, 'turns'),
      count(tokens_before, 'tokens before'),
      count(tokens_after, 'after'),
    ]),
  }),
  guardrail_check: ({ gate, decision, rule }) => ({
    says: decision === 'redact' ? 'Guardrail redacted' : 'Guardrail denied',
    tone: decision === 'redact' ? 'modify' : 'deny',
    detail: list([text(gate)?.replaceAll('_', ' '), text(rule)]),
  }),
  call_ruled: ({ decision, rule, reason }) => ({
    ...(rulings[String(decision)] ?? { says: 'Ruled on' }),
    detail: list([text(rule), text(reason)]),
  }),
  intent_alignment: ({ decision, score, reason }) => ({
    says: decision === 'deny' ? 'Intent mismatch:' : 'Intent match:',
    tone: decision === 'deny' ? 'deny' : 'allow',
    detail: list([typeof score === 'number' ? `score ${score.toFixed(2)}` : null, text(reason)]),
  }),
  intent_drift: ({ reason }) => ({
    says: 'Intent drift:',
    tone: 'step-up',
    detail: list([text(reason)]),
  }),
  auth_step_up_required: ({ required_acr, presented_acr }) => ({
    says: 'Step-up required:',
    tone: 'step-up',
    detail: list([
      `level ${text(required_acr) ?? '?'}`,
      `the caller has ${text(presented_acr) ?? 'none'}`,
    ]),
  }),
  tool_call_modified: ({ part, rules }) => ({
    says: part === 'output' ? 'Output changed:' : 'Arguments changed:',
    tone: 'modify',
    detail: Array.isArray(rules) ? `by rule ${rules.map(String).join(', ')}` : '',
  }),
  credential_issued: ({ provider, ttl }) => ({
    says: 'Credentials issued for',
    detail: list([text(provider), typeof ttl === 'number' ? `for ${spanText(ttl * 1_000)}` : null]),
  }),
  credential_failed: ({ provider }) => ({
    says: 'No credentials for',
    tone: 'deny',
    detail: list([text(provider)]),
  }),
  tool_exec: ({ phase, duration_ms, args_size, result_size, outcome, error }) => {
    if (phase === 'start')
      return { says: 'Started', detail: list([bytes(args_size, 'of arguments')]) };
    return error === undefined
      ? {
          says: 'Ran',
          tone: 'allow',
          detail: list([span(duration_ms), bytes(result_size, 'back')]),
        }
      : {
          says: outcome === 'unknown' ? 'Outcome unknown:' : 'Failed:',
          tone: 'deny',
          detail: list([span(duration_ms), text(error)]),
        };
  },
  message_received: ({ size, user_id }) => ({
    says: 'Message received',
    detail: list([bytes(size, ''), text(user_id)]),
  }),
  message_repeated: () => ({ says: 'Message repeated' }),
  task_deferred: ({ to, timeout_ms, approvers }) => ({
    says: 'Held:',
    tone: 'hold',
    detail: list([
      `asks ${text(to) ?? 'nobody'}`,
      typeof timeout_ms === 'number' ? `${spanText(timeout_ms)} to decide` : null,
      Array.isArray(approvers) ? `approvers: ${approvers.map(String).join(', ')}` : null,
    ]),
  }),
  task_deferred_repeated: ({ requests }) => ({
    says: 'Requested again:',
    tone: 'hold',
    detail: typeof requests === 'number' ? `requested ${requests} times` : '',
  }),
  task_deferred_decision: ({ approver, decision, authorized, source, note, wait_ms }) => {
    const who = text(approver) ?? 'unknown';
    const detail = list([
      text(source) === null ? null : `in ${text(source)}`,
      typeof wait_ms === 'number' ? `after ${spanText(wait_ms)}` : null,
      quoted(note),
    ]);
    if (authorized === false)
      return { says: `${who} is not allowed to decide on`, tone: 'deny', detail };
    if (decision === 'approve') return { says: `${who} approved`, tone: 'allow', detail };
    if (decision === 'reject') return { says: `${who} rejected`, tone: 'deny', detail };
    return { says: `${who} decided on`, detail };
  },
  task_deferred_reminder: ({ to }) => ({
    says: 'Reminded about',
    tone: 'hold',
    detail: list([text(to)]),
  }),
  task_deferred_escalated: ({ to }) => ({
    says: 'Escalated:',
    tone: 'hold',
    detail: list([`asks ${text(to) ?? ''} as well`]),
  }),
  task_deferred_timeout: ({ wait_ms }) => ({
    says: 'Timed out:',
    tone: 'deny',
    detail: list([`denied after ${spanText(Number(wait_ms))}`]),
  }),
  task_deferred_abandoned: ({ reason }) => ({
    says: 'Abandoned:',
    detail: list([text(reason)?.replaceAll('_', ' ')]),
  }),
  hold_released: () => ({ says: 'Received by its program:', tone: 'allow' }),
  hold_outcome: ({ status, error }) => ({
    says: outcomes[String(status)] ?? 'Ended:',
    tone: status === 'succeeded' ? 'allow' : 'deny',
    detail: text(error) ?? '',
  }),
  hold_withdrawn: ({ reason }) => ({
    says: 'Approval not used:',
    tone: 'deny',
    detail: text(reason) ?? '',
  }),
  hold_unaccounted: ({ within_ms }) => ({
    says: 'No outcome reported for',
    tone: 'deny',
    detail: list([`within ${spanText(Number(within_ms))}`]),
  }),
  invocation_cancelled: ({ reason }) => ({
    says: 'Called off',
    detail: list([text(reason)?.replaceAll('_', ' ')]),
  }),
  egress_allowed: ({ domain }) => ({ says: 'Reached', about: text(domain) }),
  egress_blocked: ({ domain, reason }) => ({
    says: 'Blocked request to',
    about: text(domain),
    tone: 'deny',
    detail: list([text(reason)]),
  }),
};

const rulings: Record<string, Pick<Happening, 'says' | 'tone'>> = {
  allow: { says: 'Allowed:', tone: 'allow' },
  deny: { says: 'Denied:', tone: 'deny' },
  modify: { says: 'Allowed with changes:', tone: 'modify' },
  step_up: { says: 'Sign-in level required for', tone: 'step-up' },
  defer: { says: 'Approval required for', tone: 'hold' },
};

const outcomes: Record<string, string> = {
  succeeded: 'Ran:',
  failed: 'Failed:',
  not_run: 'Not run:',
};

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function named(what: string, value: unknown): string | null {
  return Array.isArray(value) && value.length > 0
    ? `${what}: ${value.map(String).join(', ')}`
    : null;
}

function quoted(value: unknown): string | null {
  const said = text(value);
  return said === null ? null : `“${said}”`;
}

function span(value: unknown): string | null {
  return typeof value === 'number' ? spanText(value) : null;
}

function count(value: unknown, what: string): string | null {
  return typeof value === 'number' ? `${value.toLocaleString('en')} ${what}` : null;
}

function bytes(value: unknown, what: string): string | null {
  return typeof value === 'number' ? `${value.toLocaleString('en')} bytes ${what}`.trim() : null;
}

function shown([name, value]: [string, unknown]): string {
  return `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`;
}

function list(parts: (string | null | undefined)[]): string {
  return parts.filter((part) => typeof part === 'string').join(', ');
}
