import { isJsonObject, type JsonObject, type JsonValue } from '../../../../machines/json.ts';
import type { Tone } from '../../components/tone.ts';

/** The content of a receipt for display. Any member may be absent or of another type. */
export interface ReceiptStory {
  tool: string;
  agent: string;
  task: string;
  call: string;
  requester: string;
  /** The identity provider that verified the requester; empty for none. */
  verifiedBy: string;
  askedAt: string;
  context: string;
  /** The arguments as JSON; empty if the log does not capture them. */
  args: string;
  argsSha256: string;
  runsSha256: string;
  rulings: RulingStory[];
  decisions: DecisionStory[];
  /** Why the wait ended without a decision; empty if it did not. */
  waitEnded: string;
  /** `null` for a call that never ran. */
  run: RunStory | null;
  lines: { seq: string; event: string; sha256: string }[];
  issuedAt: string;
}

export interface RulingStory {
  decision: string;
  tone: Tone;
  rule: string;
  reason: string;
  policySha256: string;
  at: string;
}

export interface DecisionStory {
  approver: string;
  /** True if the approver was not allowed to decide. */
  isRefused: boolean;
  verb: string;
  tone: Tone;
  /** How the approver was authenticated. */
  method: string;
  note: string;
  at: string;
}

export interface RunStory {
  outcome: string;
  tone: Tone;
  startedAt: string;
  endedAt: string;
  milliseconds: number | null;
  error: string;
  resultBytes: number | null;
  resultSha256: string;
}

const tones: Record<string, Tone> = {
  ...{ allow: 'allow', deny: 'deny', modify: 'modify', step_up: 'step-up', defer: 'hold' },
  ...{ approve: 'allow', reject: 'deny', succeeded: 'allow', failed: 'deny' },
};

/** Reads the claims of a verified receipt for display. */
export function receiptStory(claims: JsonObject): ReceiptStory {
  const asked = objectOf(claims['asked']);
  const requester = objectOf(claims['requester']);
  const waitEnd = objectOf(claims['wait_ended']);
  return {
    tool: text(asked['tool']),
    agent: text(claims['agent']),
    task: text(claims['task_id']),
    call: text(claims['call_id']),
    requester: [text(requester['email']) || text(requester['user_id']), text(requester['org_id'])]
      .filter((part) => part !== '')
      .join(', '),
    verifiedBy: text(requester['provider']),
    askedAt: text(asked['at']),
    context: text(asked['context']),
    args: asked['args'] === undefined ? '' : JSON.stringify(asked['args'], null, 2),
    argsSha256: text(claims['args_sha256']),
    runsSha256: text(claims['runs_sha256']),
    rulings: objectsOf(claims['rulings']).map(rulingStory),
    decisions: objectsOf(claims['decisions']).map(decisionStory),
    waitEnded: [waitEnds[text(waitEnd['event'])] ?? '', text(waitEnd['reason'])]
      .filter((part) => part !== '')
      .join(': '),
    run: isJsonObject(claims['ran']) ? runStory(claims['ran']) : null,
    lines: objectsOf(claims['lines']).map(({ seq, event, sha256 }) => ({
      ...{ seq: JSON.stringify(seq ?? ''), event: text(event), sha256: text(sha256) },
    })),
    issuedAt: text(claims['issued_at']),
  };
}

const waitEnds: Record<string, string> = {
  task_deferred_timeout: 'No decision in time',
  task_deferred_abandoned: 'The wait was abandoned',
};

function rulingStory(ruling: JsonObject): RulingStory {
  const decision = text(ruling['decision']);
  return {
    decision: decision === 'defer' ? 'hold' : decision.replaceAll('_', ' '),
    tone: tones[decision] ?? 'plain',
    rule: text(ruling['rule']) || text(ruling['layer']),
    reason: text(ruling['reason']),
    policySha256: text(ruling['policy_sha256']),
    at: text(ruling['at']),
  };
}

function decisionStory(decision: JsonObject): DecisionStory {
  const verb = text(decision['decision']);
  const isRefused = decision['authorized'] === false;
  return {
    approver: [text(decision['approver']), text(decision['for'])]
      .filter((name) => name !== '')
      .join(' for '),
    isRefused,
    verb: isRefused ? 'not allowed' : verb === 'approve' ? 'approved' : 'rejected',
    tone: isRefused ? 'plain' : (tones[verb] ?? 'plain'),
    method: [
      methods[text(decision['method'])] ?? text(decision['method']),
      text(decision['provider']),
      decision['passkey'] === undefined ? '' : 'confirmed with a passkey',
    ]
      .filter((part) => part !== '')
      .join(', '),
    note: text(decision['note']),
    at: text(decision['at']),
  };
}

const methods: Record<string, string> = {
  token: 'signed in with a token',
  runtime_token: 'operator of the machine',
  oidc: 'signed in to the approvals page',
  dashboard: 'signed in to the dashboard',
  chat: 'identified by the chat',
  none: 'not authenticated',
};

function runStory(ran: JsonObject): RunStory {
  const outcome = text(ran['outcome']);
  return {
    outcome,
    tone: tones[outcome] ?? 'plain',
    startedAt: text(ran['started_at']),
    endedAt: text(ran['ended_at']),
    milliseconds: number(ran['duration_ms']),
    error: text(ran['error']),
    resultBytes: number(ran['result_size']),
    resultSha256: text(ran['result_sha256']),
  };
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function objectsOf(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function number(value: JsonValue | undefined): number | null {
  return typeof value === 'number' ? value : null;
}
