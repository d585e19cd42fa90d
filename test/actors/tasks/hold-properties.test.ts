import fc from 'fast-check';
import { expect, it } from 'vitest';
import { argsDigest } from '../../../src/actors/governance/governance.ts';
import { presentHold } from '../../../src/http/wire/hold.ts';
import type { HoldOutcome } from '../../../src/machines/domain/hold.ts';
import type { JsonObject } from '../../../src/machines/json.ts';
import { brokenHolds, type ToldHold, type ToldOutcome } from '../../helpers/broken-hold.ts';
import { HoldModel } from '../../helpers/hold-model.ts';
import type { ManualClock } from '../../helpers/manual-clock.ts';
import { runs } from '../../helpers/runs.ts';
import { decision, toolCalled, turn } from '../../helpers/system-story.ts';
import { copyFiles, openSystem, type TestSystem } from '../../helpers/test-system.ts';

const minute = 60_000;
const times = { wait: 5 * minute, releaseWithin: 9 * minute, outcomeWithin: 7 * minute };

const keys = ['k-1', 'k-2'];
const someArgs: JsonObject[] = [{ command: 'make' }, { command: 'ls' }];
const statuses: HoldOutcome['status'][] = ['succeeded', 'failed', 'not_run'];

type Command =
  | { type: 'ask'; key: string; args: JsonObject }
  | { type: 'decide'; key: string; verb: 'approve' | 'reject'; args?: JsonObject }
  | { type: 'take'; key: string; claim: string }
  | { type: 'close'; key: string; status: HoldOutcome['status'] }
  | { type: 'cancel'; key: string }
  | { type: 'pass'; milliseconds: number }
  | { type: 'restart'; isKilled: boolean };

const key = fc.constantFrom(...keys);
const args = fc.constantFrom(...someArgs);
const is = <Type extends string>(type: Type) => fc.constant(type);
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: is('ask'), key, args }) },
  {
    weight: 4,
    arbitrary: fc.record(
      { type: is('decide'), key, verb: fc.constantFrom('approve', 'approve', 'reject'), args },
      { requiredKeys: ['type', 'key', 'verb'] },
    ),
  },
  { weight: 3, arbitrary: fc.record({ type: is('take'), key, claim: fc.constantFrom('p', 'q') }) },
  {
    weight: 3,
    arbitrary: fc.record({ type: is('close'), key, status: fc.constantFrom(...statuses) }),
  },
  { weight: 1, arbitrary: fc.record({ type: is('cancel'), key }) },
  {
    weight: 2,
    arbitrary: fc.record({
      type: is('pass'),
      milliseconds: fc.constantFrom(1, minute, ...Object.values(times)),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: is('restart'), isKilled: fc.boolean() }) },
);

/** A task system with one tool whose calls wait, and the holds that programs received. */
class Real {
  rig: TestSystem;
  /** How many processes there have been. */
  processes = 1;
  readonly ids = new Map<string, string>();

  constructor(rig: TestSystem) {
    this.rig = rig;
  }

  static async open(more: { directory?: string; clock?: ManualClock } = {}): Promise<Real> {
    return new Real(await rigOf(more));
  }

  async restart(isKilled: boolean): Promise<void> {
    const { rig } = this;
    this.processes += 1;
    const directory = isKilled ? copyFiles(rig.directory) : rig.directory;
    await rig.system.drain(0);
    await rig.stop();
    this.rig = await rigOf({ directory, clock: rig.clock });
  }

  async ask(one: string, given: JsonObject) {
    const message = { role: 'user' as const, parts: [], messageId: one };
    const request = { message, requester: null, correlationId: 'c-1', surface: 'hold' as const };
    const asks = { key: one, tool: 'Bash', ...times };
    const opened = await this.rig.system.holds.open(request, given, asks);
    this.ids.set(one, opened.id);
    return opened;
  }

  /** Returns a hold as its program reads it, without releasing it. */
  async read(one: string) {
    const task = await this.rig.system.reads.find(this.ids.get(one) ?? '');
    if (task === undefined) return undefined;
    const { status, args: given, outcome } = presentHold(task, { isTaken: false });
    return { status, args: given === undefined ? null : given, outcome: outcome?.status ?? null };
  }
}

function rigOf(more: { directory?: string; clock?: ManualClock }): Promise<TestSystem> {
  const Bash = { ...toolCalled('Bash'), isElsewhere: true as const };
  return openSystem({ tools: [Bash], deferred: { Bash: { timeout: '5m', edit: true } }, ...more });
}

/** Lets everything that is due happen. */
async function settle({ rig }: Real): Promise<void> {
  for (let turns = 0; turns < 12; turns += 1) {
    await turn();
    rig.clock.advance(0);
  }
}

/** Plays one command on both; returns what each answered. */
async function playBoth(model: HoldModel, real: Real, one: Command): Promise<[unknown, unknown]> {
  const { system, clock } = real.rig;
  if (one.type === 'pass') {
    model.passTime(one.milliseconds);
    clock.advance(one.milliseconds);
    return [null, null];
  }
  if (one.type === 'restart') return [null, (await real.restart(one.isKilled)) ?? null];
  if (one.type === 'ask') {
    const due = model.ask(one.key, one.args);
    const { isNew, isSame } = await real.ask(one.key, one.args);
    return [due, { isNew, isSame }];
  }
  const hold = model.holds.get(one.key);
  const id = real.ids.get(one.key);
  if (hold === undefined || id === undefined) return [null, null];
  if (one.type === 'take') {
    const due = model.take(hold, one.claim);
    return [due, (await system.holds.take(id, one.claim)).isChanged];
  }
  if (one.type === 'close') {
    const due = model.close(hold, one.status);
    return [due, (await system.holds.close(id, { status: one.status })).kind];
  }
  if (one.type === 'cancel') {
    model.cancel(hold);
    await system.cancel(id, 'called off');
    return [null, null];
  }
  const due = model.decide(hold, one.verb, one.args);
  const given = one.args === undefined ? {} : { args: one.args };
  return [due, (await system.decide(id, decision(one.verb, clock.now(), given))).kind];
}

it('a hold follows the contract, in any order of events', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 25, size: 'max' }), async (story) => {
      const real = await Real.open();
      const model = new HoldModel(times, real.rig.clock.now());
      try {
        for (const one of story) {
          const [due, answer] = await playBoth(model, real, one);
          expect(answer, JSON.stringify(one)).toEqual(due);
          await settle(real);
          for (const hold of model.holds.values()) {
            const isGranted = hold.account !== undefined && hold.account !== 'withdrawn';
            expect(await real.read(hold.key), JSON.stringify(one)).toEqual({
              status: hold.status,
              args: isGranted ? JSON.parse(hold.args) : null,
              outcome: hold.outcome,
            });
          }
        }
        expect(brokenIn(real)).toEqual([]);
      } finally {
        await real.rig.stop();
      }
    }),
    { numRuns: runs(60) },
  );
}, 60_000);

it('a hold keeps every promise under concurrent requests, decisions and restarts', async () => {
  const step = fc.record({ one: command, turns: fc.nat(6) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (story) => {
      const real = await Real.open();
      const answers: ToldHold[] = [];
      const outcomes: ToldOutcome[] = [];
      const underWay: Promise<void>[] = [];
      try {
        for (const { one, turns } of story) {
          const asked = play(real, one, { answers, outcomes });
          // A refusal promises nothing.
          if (one.type === 'restart') await asked;
          else underWay.push(asked.catch(() => undefined));
          for (let left = turns; left > 0; left -= 1) await turn();
        }
        await settle(real);
        await Promise.all(underWay);
        expect(brokenIn(real, { answers, outcomes })).toEqual([]);
        expect(await real.rig.verify()).toMatchObject({ ok: true });
      } finally {
        await real.rig.stop();
      }
    }),
    { numRuns: runs(100) },
  );
}, 60_000);

interface Heard {
  answers: ToldHold[];
  outcomes: ToldOutcome[];
}

/** Plays one command without a model, and keeps what was answered. */
async function play(real: Real, one: Command, { answers, outcomes }: Heard): Promise<void> {
  const { rig, processes } = real;
  if (one.type === 'pass') return rig.clock.advance(one.milliseconds);
  if (one.type === 'restart') return real.restart(one.isKilled);
  if (one.type === 'ask') return void (await real.ask(one.key, one.args));
  const id = real.ids.get(one.key);
  if (id === undefined) return;
  if (one.type === 'cancel') return void (await rig.system.cancel(id, 'called off'));
  if (one.type === 'decide') {
    const given = one.args === undefined ? {} : { args: one.args };
    return void (await rig.system.decide(id, decision(one.verb, rig.clock.now(), given)));
  }
  if (one.type === 'close') {
    const { kind } = await rig.system.holds.close(id, { status: one.status });
    if (kind === 'kept' && processes === real.processes)
      outcomes.push({ holdId: id, status: one.status });
    return;
  }
  const { task, isChanged } = await rig.system.holds.take(id, one.claim);
  if (task === undefined || processes !== real.processes) return;
  const { status, args: given } = presentHold(task, { isTaken: !isChanged });
  const isHandedOut = isChanged && given !== undefined;
  answers.push({
    ...{ holdId: id, key: one.key, status, released: !isHandedOut, claim: one.claim },
    argsSha256: isHandedOut ? argsDigest('Bash', given as JsonObject) : null,
  });
}

function brokenIn({ rig }: Real, heard: Heard = { answers: [], outcomes: [] }): string[] {
  const byHold = Map.groupBy(rig.events(), ({ task_id: id }) => id ?? '');
  byHold.delete('');
  return brokenHolds(byHold, heard);
}
