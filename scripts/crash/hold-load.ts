import { argsDigest } from '../../src/actors/governance/governance.ts';
import type { JsonObject } from '../../src/machines/json.ts';
import type { Answer } from '../../test/helpers/agent-client.ts';
import type { AgentProcess } from '../../test/helpers/agent-process.ts';
import { brokenHolds, type ToldHold, type ToldOutcome } from '../../test/helpers/broken-hold.ts';
import type { AuditLine } from '../../test/helpers/test-agent.ts';
import { Crowd } from './crowd.ts';

/** A call that a program asks for, and its hold once the program has received it. */
interface AskedCall {
  key: string;
  tool: string;
  args: JsonObject;
  holdId?: string;
}

/** What is read of an answer. */
interface TellingHold {
  hold_id: string;
  status: string;
  released?: boolean;
  args?: JsonObject;
}

interface Waiting {
  id: string;
  task_id: string;
}

const pay = { tool: 'pay', args: { amount: 5 } };
const calls = [pay, pay, { tool: 'echo', args: { n: 1 } }];

const outcomes = ['succeeded', 'failed', 'not_run'];

/** Programs that ask a gate for their calls, and approvers who decide and change arguments. */
export class HoldLoad extends Crowd {
  readonly decisions: { deferralId: string; decision: string; approver: string }[] = [];
  readonly answers: ToldHold[] = [];
  readonly #outcomes: ToldOutcome[] = [];
  readonly #broken: string[] = [];
  readonly #asked: AskedCall[] = [];

  start(callers: number): void {
    this.repeat([
      ...Array.from({ length: callers }, () => (agent: AgentProcess) => this.#ask(agent)),
      (agent) => this.#decide(agent),
      (agent) => this.#decide(agent),
    ]);
  }

  /** Ids of the holds that programs have received. */
  get known(): ReadonlySet<string> {
    return new Set(this.answers.map(({ holdId }) => holdId));
  }

  /** Calls that were handed out to a program. */
  get handedOut(): number {
    const handed = this.answers.filter(({ released, argsSha256 }) => !released && argsSha256);
    return new Set(handed.map(({ holdId }) => holdId)).size;
  }

  override async lookAgain(): Promise<void> {
    const [agent] = this.cluster.alive;
    if (agent === undefined) return void this.#broken.push('no daemon runs in the end');
    const known = this.#asked.filter(({ holdId }) => holdId !== undefined);
    for (let first = 0; first < known.length; first += 32) {
      await Promise.all(known.slice(first, first + 32).map((call) => this.#post(agent, call, 0)));
    }
    const last = new Map(this.answers.map(({ holdId, status }) => [holdId, status]));
    for (const { holdId = '' } of known) {
      if (last.get(holdId) !== 'pending') continue;
      this.#broken.push(`hold ${holdId} is not decided in the end`);
    }
  }

  async broken(lines: readonly AuditLine[]): Promise<string[]> {
    const byHold = Map.groupBy(lines, ({ task_id }) => task_id ?? '');
    const { answers } = this;
    return [
      ...this.#broken,
      ...brokenHolds(byHold, { answers, outcomes: this.#outcomes }),
      ...this.#lostDecisions(lines),
    ];
  }

  /** A program asks for its call, mostly a new one, and reports the outcome of a call that was handed out. */
  async #ask(agent: AgentProcess): Promise<void> {
    const before = this.random() < 0.4 ? this.pick(this.#asked) : undefined;
    const fresh =
      this.random() < 0.3 ? { tool: 'grant', args: this.nextRefund() } : this.pick(calls);
    const call = before ?? { key: `key-${this.#asked.length + 1}`, ...(fresh ?? pay) };
    if (before === undefined) this.#asked.push(call);
    await this.#post(agent, call, this.random() < 0.3 ? 1 : 0);
    const told = this.answers.findLast(({ key }) => key === call.key);
    if (told === undefined || told.argsSha256 === null || this.random() < 0.2) return;
    const { holdId } = told;
    const status = this.pick(outcomes) ?? '';
    const answer = await agent.post(`/holds/${holdId}/outcome`, { status });
    if (answer.status === 200) this.#outcomes.push({ holdId, status });
  }

  async #post(agent: AgentProcess, call: AskedCall, wait: number): Promise<void> {
    const { key, tool, args } = call;
    const headers = { 'content-type': 'application/json', prefer: `wait=${wait}` };
    const signal = AbortSignal.timeout(5_000);
    const body = { key, tool, args };
    this.#hear(call, await agent.request('POST', '/holds', { body, headers, signal }));
  }

  #hear(call: AskedCall, { status, body }: Answer): void {
    const { key, tool, holdId: known } = call;
    if (status === 404 || status === 409) {
      this.#broken.push(`the key ${key} is answered with ${status}`);
    }
    if (status !== 200 && status !== 202) return;
    const { hold_id: holdId, status: answered, released, args } = body as TellingHold;
    if (known !== undefined && known !== holdId) {
      this.#broken.push(`the key ${key} found hold ${known}, then ${holdId}`);
    }
    call.holdId = holdId;
    this.answers.push({
      ...{ holdId, key, status: answered, released: released === true },
      argsSha256: args === undefined ? null : argsDigest(tool, args),
    });
  }

  /** Several people decide the same call at once, at different daemons. */
  async #decide(agent: AgentProcess): Promise<void> {
    const answer = await agent.get('/deferrals');
    const { deferrals = [] } = answer.body as { deferrals?: Waiting[] };
    const found = this.pick(deferrals);
    if (found === undefined) return;
    const { task_id: id, id: deferralId } = found;
    await Promise.all(
      this.cluster.alive.map(async (at) => {
        const approver = `p${Math.floor(this.random() * 1e9)}`;
        const decision = this.random() < 0.7 ? 'approve' : 'reject';
        const isEdit = decision === 'approve' && this.random() < 0.3;
        const args = isEdit ? { args: { amount: Math.floor(this.random() * 100) } } : {};
        const body = { decision, approver, deferral_id: deferralId, ...args };
        const { status } = await at.post(`/holds/${id}/decisions`, body);
        if (status === 200) this.decisions.push({ deferralId, decision, approver });
      }),
    );
  }

  #lostDecisions(lines: readonly AuditLine[]): string[] {
    const made = lines.filter(
      ({ event, fields }) => event === 'hold_deferred_decision' && fields?.['authorized'] !== false,
    );
    const byDeferral = Map.groupBy(made, ({ fields }) => String(fields?.['deferral_id']));
    const lost = this.decisions.filter(({ deferralId, decision, approver }) => {
      const fields = byDeferral.get(deferralId)?.[0]?.fields;
      return fields?.['decision'] !== decision || fields['approver'] !== approver;
    });
    return lost.map(({ deferralId, decision, approver }) => {
      const kept = JSON.stringify(byDeferral.get(deferralId)?.map(({ fields }) => fields) ?? []);
      return `${decision} of ${deferralId} by ${approver} was acknowledged; the log has ${kept}`;
    });
  }
}
