import { type CelType, typesOf } from '../../actors/governance/governance.ts';
import { silentLog } from '../../actors/silent-log.ts';
import { systemClock } from '../../actors/system-clock.ts';
import { normalName } from '../../actors/tool-name.ts';
import type { AgentReading } from '../../agent/start/read-agent.ts';
import { eventOfWait } from '../../machines/domain/hold-events.ts';
import {
  conditionCandidates,
  type SettledCall,
} from '../../machines/governance/condition-candidates.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../machines/json.ts';
import { openPolicy } from './open-policy.ts';

/** How the wait of a call ended: by people, or without them. */
type WaitEnd = 'approved' | 'rejected' | 'undecided';

/** A held call in the log, and how its wait ended. */
export interface HeldCall extends Pick<SettledCall, 'args'> {
  tool: string;
  end: WaitEnd;
}

export interface SuggestedRule {
  tool: string;
  when: string;
  /** Arguments that the condition does not limit. */
  open: string[];
  /** Calls of the log for which the condition holds, and all of them. */
  approved: { covered: number; of: number };
  rejected: { covered: number; of: number };
  undecided: { covered: number; of: number };
}

/** The events of a released call; one approval of several does not release it. */
const released: ReadonlySet<string> = new Set(['tool_exec', 'hold_released']);

/**
 * Collects the held calls of a log, line by line. A call counts as approved once it ran. A call that an approver changed
 * counts as rejected, since it was not released as requested.
 */
export class DecidedCalls {
  readonly #waits = new Map<
    string,
    { tool: string; args: JsonObject | null; end: WaitEnd; isApproved: boolean }
  >();

  /** Reads the next line of the log. */
  read(line: string): void {
    const { event, fields } = Object(parseJson(line)) as Record<string, unknown>;
    const name = eventOfWait(typeof event === 'string' ? event : '');
    const facts = Object(fields) as Record<string, unknown>;
    const { deferral_id: id, tool, args, authorized, decision } = facts;
    if (typeof id !== 'string' || typeof tool !== 'string') return;
    if (name === 'task_deferred') {
      const parsed = typeof args === 'string' ? parseJson(args) : null;
      const known = isJsonObject(parsed) ? parsed : null;
      this.#waits.set(id, { tool, args: known, end: 'undecided', isApproved: false });
      return;
    }
    const wait = this.#waits.get(id);
    // One rejection rejects, regardless of approvals.
    if (wait === undefined || wait.end === 'rejected') return;
    if (name === 'task_deferred_decision' && authorized !== false) {
      wait.isApproved = decision === 'approve' && facts['edited_args_sha256'] === undefined;
      if (!wait.isApproved) wait.end = 'rejected';
    } else if (released.has(name) && wait.isApproved) wait.end = 'approved';
  }

  /** The held calls with their arguments, and the number of those without. */
  get all(): { calls: HeldCall[]; withoutArguments: number } {
    const waits = [...this.#waits.values()];
    const calls = waits.flatMap(({ tool, args, end }) =>
      args === null ? [] : [{ tool, args, end }],
    );
    return { calls, withoutArguments: waits.length - calls.length };
  }
}

/**
 * Proposes conditions under which calls of a tool need no approval, from what people decided on its calls before. Each
 * is evaluated by the policy engine on every call, and covers at least `least` approved calls and no rejected one. Tools
 * with a rule that is marked `never_remember` or `require_passkey` get none.
 */
export function suggestRules(
  agent: NonNullable<AgentReading['agent']>,
  calls: readonly HeldCall[],
  { least, env }: { least: number; env: NodeJS.ProcessEnv },
): SuggestedRule[] {
  const clock = systemClock();
  const names = [...new Set(calls.map(({ tool }) => tool))].toSorted();
  const { policy, tools } = openPolicy(agent, names, { env, clock, log: silentLog });
  const { defer } = agent.config.security;
  const facts = {
    ...{ requester: null, ran: null, now: clock.now() },
    task: { id: '', surface: '', session: '', tags: {} },
  };
  return names.flatMap((tool) => {
    const rules = Object.entries(defer.tools).flatMap(([name, some]) =>
      normalName(name) === normalName(tool) ? some : [],
    );
    const isCareful = (rule: (typeof rules)[number]) =>
      'to' in rule && (rule.never_remember || rule.require_passkey);
    if (rules.some(isCareful)) return [];
    const own = calls.filter((call) => call.tool === tool);
    const settled = own.flatMap(({ args, end }) =>
      end === 'undecided' ? [] : [{ args, isApproved: end === 'approved' }],
    );
    const members = membersOf('args', typesOf(tools.get(tool)?.parameters ?? {}));
    return conditionCandidates(settled, { least, members }).flatMap(({ when, open }) => {
      const holds = ({ args }: HeldCall) => policy.holds(when, { tool, args }, facts) === true;
      const count = (end: WaitEnd) => {
        const some = own.filter((call) => call.end === end);
        return { covered: some.filter(holds).length, of: some.length };
      };
      const [approved, rejected] = [count('approved'), count('rejected')];
      const isUseful = approved.covered >= least && rejected.covered === 0;
      return isUseful
        ? [{ tool, when, open, approved, rejected, undecided: count('undecided') }]
        : [];
    });
  });
}

function membersOf(path: string, types: Readonly<Record<string, CelType>>): string[] {
  return Object.entries(types).flatMap(([name, type]) =>
    typeof type === 'string' ? [`${path}.${name}`] : membersOf(`${path}.${name}`, type),
  );
}
