import { createActor, toPromise } from 'xstate';
import {
  createGovern,
  noFacts,
  type Policy,
  screenPrompt,
} from '../../actors/governance/governance.ts';
import type { Clock } from '../../actors/ports/clock.ts';
import type { Log } from '../../actors/ports/log.ts';
import type { Tool } from '../../actors/ports/tool.ts';
import { randomIds } from '../../actors/random-ids.ts';
import { measureGiven } from '../../actors/records/records.ts';
import { acceptCall } from '../../actors/tasks/tasks.ts';
import type { Governance } from '../../agent/policy/agent-governance.ts';
import type { CallOrigin } from '../../machines/domain/hold.ts';
import type { MeasuredLimit } from '../../machines/domain/ledger.ts';
import type { Caller, Message, RanCall } from '../../machines/domain/task.ts';
import type { Bounds, MeasureInput } from '../../machines/governance/bounds.ts';
import type { Ruling } from '../../machines/governance/ruling.ts';
import type { JsonValue } from '../../machines/json.ts';
import type { Explanation } from './explanation.ts';
import { explanationOf } from './explanation-of.ts';

/** A hypothetical call. */
export interface ImaginedCall {
  tool: string;
  args: JsonValue;
  /** The caller's assurance level; `null` for an unauthenticated caller. */
  acr: string | null;
  /** The caller's request; `null` if unknown. */
  message: string | null;
  /** The caller; one with the level `acr` when absent. */
  requester?: Caller;
  /** Calls that started in the session, oldest first; none when absent. */
  ran?: readonly RanCall[];
  /** The time of the call, in epoch milliseconds; now when absent. */
  at?: number | undefined;
  /** What the program of a hold states of the call; nothing when absent. */
  origin?: CallOrigin | undefined;
  /** Used amounts of limits, as exact decimals by name; nothing is used of any other one. */
  used?: Readonly<Record<string, string>>;
}

export interface ExplainPorts extends Pick<Governance, 'policy' | 'scorer'> {
  tools: ReadonlyMap<string, Tool>;
  /** Rules that check the tool's output. */
  outputRules: readonly string[];
  clock: Clock;
  log: Log;
  signal: AbortSignal;
}

/**
 * Explains the outcome of a hypothetical call. Runs the same chart as real calls, which ends before the tool and its
 * credentials. Asks only the embedder, and only if there is a message. Rejects with the reason of the signal.
 */
export async function explainCall(
  { tool, args, acr, message, requester, ran = [], at, origin, used = {} }: ImaginedCall,
  ports: ExplainPorts,
): Promise<Explanation> {
  ports.signal.throwIfAborted();
  const ids = randomIds();
  const call = acceptCall({ tool, args }, ids);
  const request: Message = {
    role: 'user',
    parts: [{ kind: 'text', text: message ?? '' }],
    messageId: ids.next(),
  };
  const refused = message === null ? null : refusedMessage(request, ports);
  if (refused !== null) return explanationOf(call, refused, { ...ports, isIntentUnknown: false });
  const isIntentUnknown = ports.scorer !== null && message === null;
  const policy = isIntentUnknown ? withoutIntent(ports.policy) : ports.policy;
  const known = ports.tools.get(call.tool);
  const tools = new Map(known === undefined ? [] : [[call.tool, withoutIdentity(known)]]);
  const now = at ?? ports.clock.now();
  const measure = async (asked: MeasureInput) => measureGiven(asked, used, now);
  const asked = {
    ...{ taskId: ids.next(), call, ran, now },
    requester: requester ?? (acr === null ? null : { ...someone, acr }),
    task: { ...noFacts.task, ...(origin === undefined ? {} : { call: origin }) },
  };
  const govern = createActor(createGovern({ ...ports, policy, tools, ids, measure }), {
    input: { ...asked, request, scores: [] },
  });
  const stop = (): void => void govern.stop();
  ports.signal.addEventListener('abort', stop, { once: true });
  const ruling = toPromise(govern).finally(() => ports.signal.removeEventListener('abort', stop));
  govern.start();
  const ruled = await ruling;
  // A stopped chart ends without a ruling.
  ports.signal.throwIfAborted();
  const runs = ruled.kind === 'allow' || ruled.kind === 'defer' ? ruled.call : call;
  const facts = { ...asked, task: { ...asked.task, id: asked.taskId } };
  const bounds = boundsIn(policy, runs, facts);
  const explanation = explanationOf(call, ruled, { ...ports, isIntentUnknown });
  if (bounds === null) return explanation;
  const { limits } = measureGiven(
    { ...asked, bounds, reserves: false, joins: false, seen: null },
    used,
    now,
  );
  return {
    ...explanation,
    ...boundsOf(bounds, limits, used),
    complete: explanation.complete && limits.every(({ name }) => Object.hasOwn(used, name)),
  };
}

/** A call whose bounds cannot be determined is denied, and its explanation has none. */
function boundsIn(policy: Policy, ...asked: Parameters<Policy['boundsOf']>): Bounds | null {
  try {
    return policy.boundsOf(...asked);
  } catch {
    return null;
  }
}

/** Returns the limits and the effect of a call for an explanation. */
function boundsOf(
  { effect }: Bounds,
  limits: readonly MeasuredLimit[],
  given: Readonly<Record<string, string>>,
): Pick<Explanation, 'limits' | 'effect'> {
  const explained = limits.map(({ name, by, max, used, amount, isOver: over }) => ({
    ...{ name, by, max, amount, over },
    used: Object.hasOwn(given, name) ? used : null,
  }));
  return {
    ...(explained.length === 0 ? {} : { limits: explained }),
    ...(effect === null ? {} : { effect: effect.key }),
  };
}

const someone = { provider: 'explain', userId: 'explain' };

/**
 * Denies a call whose message would be blocked before the model; `null` if the message passes
 * (docs/contract/governance.md).
 */
function refusedMessage(request: Message, ports: ExplainPorts): Ruling | null {
  const { refusal, took: duration } = screenPrompt(request, ports);
  if (refusal === null) return null;
  const { text } = refusal;
  const said = { layer: 'prompt', decision: 'deny', reason: text, duration } as const;
  const records = [{ callId: null, tool: null, ...said }];
  return { kind: 'deny', layer: 'prompt', text, records, facts: [], score: null };
}

/** No release happens here, so the tool's code is not hashed and its server is not asked. */
function withoutIdentity(tool: Tool): Tool {
  return { ...tool, identity: async () => null };
}

function withoutIntent(policy: Policy): Policy {
  const rulesFor: Policy['rulesFor'] = (call, facts) => ({
    ...policy.rulesFor(call, facts),
    judgesIntent: false,
  });
  return { ...policy, rulesFor };
}
