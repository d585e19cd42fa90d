import { argsDigest } from '../../src/actors/governance/governance.ts';
import type { JsonObject } from '../../src/machines/json.ts';
import { denials } from '../helpers/broken-hold.ts';
import { type Cast, refunds, type Stage } from './cast.ts';
import type { SimulatedAgent } from './simulated-agent.ts';
import type { SurfaceAnswer } from './simulated-surface.ts';
import { team } from './simulated-team.ts';

/** A call that a program asks for. */
interface AskedCall {
  key: string;
  tool: string;
  args: JsonObject;
}

/** A call that waits, as approvers see it. */
interface Waiting {
  id: string;
  task_id: string;
  args_sha256: string;
}

const calls = [
  { tool: 'pay', args: { to: 'ann', amount: 5 } },
  { tool: 'pay', args: { to: 'ann', amount: 5 } },
  { tool: 'pay', args: { to: 'bob', amount: 500 } },
  { tool: 'pay', args: { to: 'cid', amount: 500 } },
  { tool: 'pay', args: { to: 'bob' } },
  { tool: 'pay', args: { amount: 5 } },
  { tool: 'look', args: {} },
  ...refunds.map((args) => ({ tool: 'refund', args })),
  { tool: 'wipe', args: {} },
  { tool: 'unlisted', args: {} },
];

/** Arguments that approvers put in place of those of a call; some fall under another rule, the last ones do not fit. */
const edits = [
  { to: 'ann', amount: 5 },
  { to: 'cid', amount: 50 },
  { to: 'cid', amount: 500 },
  { to: 7 },
];

const outcomes = [
  { status: 'succeeded' },
  { status: 'succeeded' },
  { status: 'failed', error: 'no space left' },
  { status: 'not_run' },
];

/** Programs that ask a gate for their calls, and approvers. */
export class SimulatedPrograms implements Cast {
  readonly acts = { ask: 12, decide: 14, staff: 4, fetch: 7, report: 6, cancel: 1 };
  readonly #stage: Stage;
  readonly #asked: AskedCall[] = [];
  /** Holds that programs received, by key, each with its call. */
  readonly #holds = new Map<string, { id: string; call: AskedCall }>();
  readonly #broken: string[] = [];

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  act(act: string, agent: SimulatedAgent): Promise<void> | void {
    if (act === 'ask') return this.#ask(agent);
    if (act === 'decide') return this.#decide(agent);
    if (act === 'staff') return this.#staff(agent);
    if (act === 'fetch') return this.#onKnown((id, call) => this.#fetch(agent, id, call));
    if (act === 'report') return this.#onKnown((id) => this.#report(agent, id));
    return this.#onKnown((id, call) =>
      this.#stage.follow(async (isTold) => {
        const answer = await agent.surface.ask('DELETE', `/holds/${id}`);
        if (isTold()) this.#hear(call, answer);
      }),
    );
  }

  /** Each program asks again for its call after a restart. */
  lookAgain(agent: SimulatedAgent): void {
    for (const { call } of this.#holds.values()) this.#post(agent, call);
  }

  async settle(agent: SimulatedAgent): Promise<boolean> {
    const { world } = this.#stage;
    const waiting = await world.until(waitingAt(agent)).catch(() => null);
    if (waiting === null) return false;
    while (world.team.entitled().length === 0) this.#staff(agent);
    for (const { task_id: id } of waiting) {
      for (const person of world.team.entitled()) {
        const answered = world.team.send(id, person);
        const body = { decision: 'approve', approver_email: person };
        const answer = agent.surface.ask('POST', `/holds/${id}/decisions`, { body });
        await world.until(answer).catch(() => undefined);
        answered();
      }
    }
    const answers = [...this.#holds.values()].map(async ({ call }) => {
      const answer = await world.until(agent.surface.ask('POST', '/holds', { body: call }));
      this.#hear(call, answer);
      return answer.status === 200;
    });
    const areDecided = await Promise.all(answers).catch(() => [false]);
    return waiting.length === 0 && areDecided.every(Boolean);
  }

  async compare(agent: SimulatedAgent): Promise<string[]> {
    const { world, told } = this.#stage;
    for (const { holdId, status } of told.holds.outcomes) {
      const { body } = await world.until(agent.surface.ask('GET', `/holds/${holdId}`));
      const kept = body['outcome'] as JsonObject | null;
      if (kept?.['status'] !== status) {
        this.#broken.push(
          `the outcome ${status} of ${holdId} was accepted and is ${JSON.stringify(kept)}`,
        );
      }
    }
    return this.#broken;
  }

  /** A program asks for a new call, again for its call, or with the key of another call. */
  #ask(agent: SimulatedAgent): void {
    const { chance } = this.#stage.world;
    const before = this.#asked.length > 0 && chance.next() < 0.4 ? chance.pick(this.#asked) : null;
    const fresh = { key: `key-${this.#asked.length + 1}`, ...chance.pick(calls) };
    if (before === null) this.#asked.push(fresh);
    const isOther = before !== null && chance.next() < 0.25;
    const call = isOther ? { ...fresh, key: before.key } : (before ?? fresh);
    const waits = chance.next() < 0.5;
    const count = chance.next() < 0.1 ? 3 : 1;
    for (let copies = 0; copies < count; copies += 1) {
      this.#post(agent, call, {
        ...(waits ? { prefer: `wait=${chance.below(60)}` } : {}),
        ...(waits && chance.next() < 0.3 ? { signal: this.#givingUp() } : {}),
      });
    }
  }

  #post(
    agent: SimulatedAgent,
    call: AskedCall,
    how: { prefer?: string; signal?: AbortSignal } = {},
  ): void {
    const claim = this.#process();
    this.#stage.follow(async (isTold) => {
      const body = { ...call, ...claim };
      const answer = await agent.surface.ask('POST', '/holds', { body, ...how });
      if (isTold()) this.#hear(call, answer, claim);
    });
  }

  #fetch(agent: SimulatedAgent, id: string, call: AskedCall): void {
    const { chance } = this.#stage.world;
    const wait = chance.next() < 0.5 ? 0 : chance.below(60);
    const signal = wait > 0 && chance.next() < 0.3 ? { signal: this.#givingUp() } : {};
    const named = this.#process();
    const query = named.claim === undefined ? '' : `&claim=${named.claim}`;
    this.#stage.follow(async (isTold) => {
      const answer = await agent.surface.ask('GET', `/holds/${id}?wait=${wait}${query}`, signal);
      if (isTold()) this.#hear(call, answer, named);
    });
  }

  #report(agent: SimulatedAgent, holdId: string): void {
    const { told, follow, world } = this.#stage;
    for (let times = 1 + world.chance.below(2); times > 0; times -= 1) {
      const body = world.chance.pick(outcomes);
      follow(async (isTold) => {
        const path = `/holds/${holdId}/outcome`;
        const { status } = await agent.surface.ask('POST', path, { body });
        if (isTold() && status === 200) told.closed({ holdId, status: body.status });
      });
    }
  }

  /** One to three people decide at once on a call; some of them change its arguments. */
  #decide(agent: SimulatedAgent): void {
    const { world, told, follow } = this.#stage;
    const { chance } = world;
    const people = Array.from({ length: 1 + chance.below(3) }, () => {
      const decision = chance.pick(['approve', 'approve', 'reject'] as const);
      const isEdit = decision === 'approve' && chance.next() < 0.3;
      const args = isEdit ? { args: chance.pick(edits) } : {};
      return { decision, approver_email: chance.pick(team), ...args };
    });
    const isPinned = chance.next() < 0.5;
    const chosen = chance.next();
    follow(async (isTold) => {
      const waiting = await waitingAt(agent);
      const one = waiting[Math.floor(chosen * waiting.length)];
      if (one === undefined) return;
      const pin = isPinned ? { deferral_id: one.id, args_sha256: one.args_sha256 } : {};
      const deciding = people.map(async (body) => {
        const path = `/holds/${one.task_id}/decisions`;
        const { decision, approver_email: approver } = body;
        const answered = world.team.send(one.task_id, approver);
        const answer = await agent.surface.ask('POST', path, { body: { ...body, ...pin } });
        answered();
        if (!isTold() || answer.body['status'] !== 'resolved') return;
        const deferral = String(answer.body['deferral_id']);
        told.decided(deferral, { taskId: one.task_id, decision, approver });
      });
      await Promise.all(deciding);
    });
  }

  /** A person joins or leaves a group, or delegates, while calls wait. */
  #staff(agent: SimulatedAgent): void {
    const { team: own, chance } = this.#stage.world;
    own.change(chance);
    agent.system.people.replace(own.people);
  }

  #onKnown(run: (id: string, call: AskedCall) => void): void {
    if (this.#holds.size === 0) return;
    const { id, call } = this.#stage.world.chance.pick([...this.#holds.values()]);
    run(id, call);
  }

  /** The process that asks: one of three that name themselves, or any other. */
  #process(): { claim?: string } {
    const { chance } = this.#stage.world;
    return chance.next() < 0.5 ? { claim: `process-${chance.below(3)}` } : {};
  }

  /** A signal by which a program gives its request up at some moment. */
  #givingUp(): AbortSignal {
    return AbortSignal.timeout(this.#stage.world.chance.below(40_000));
  }

  #hear(call: AskedCall, { status, body }: SurfaceAnswer, named: { claim?: string } = {}): void {
    const { key, tool } = call;
    const known = this.#holds.get(key);
    const isSame = known === undefined || argsSha256(known.call) === argsSha256(call);
    if (status === 404) this.#broken.push(`hold ${known?.id} is gone`);
    if (status === 409 && known !== undefined && isSame) {
      this.#broken.push(`the key ${key} no longer finds its call`);
    }
    if (status !== 200 && status !== 202) return;
    const holdId = String(body['hold_id']);
    if (!isSame) this.#broken.push(`the key ${key} was given to two calls`);
    if (known !== undefined && known.id !== holdId) {
      this.#broken.push(`the key ${key} found hold ${known.id}, then ${holdId}`);
    }
    this.#holds.set(key, { id: holdId, call });
    const args = body['args'] as JsonObject | undefined;
    const answered = String(body['status']);
    if (denials.has(answered) && args !== undefined) {
      this.#broken.push(`hold ${holdId} is ${answered} and has arguments to run`);
    }
    this.#stage.told.answered({
      ...{ holdId, key, status: answered, released: body['released'] === true },
      argsSha256: args === undefined ? null : argsDigest(tool, args),
      ...named,
    });
  }
}

async function waitingAt(agent: SimulatedAgent): Promise<Waiting[]> {
  const { status, body } = await agent.surface.ask('GET', '/deferrals');
  if (status !== 200) throw new Error(`GET /deferrals: ${status}`);
  return body['deferrals'] as unknown as Waiting[];
}

function argsSha256({ tool, args }: AskedCall): string {
  return argsDigest(tool, args);
}
