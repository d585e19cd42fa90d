import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isFinal } from '../../../src/machines/domain/task.ts';
import { checkLogOf } from '../../helpers/log-invariants.ts';
import type { ManualClock } from '../../helpers/manual-clock.ts';
import { runs } from '../../helpers/runs.ts';
import { decision, playing, type Step, toolCalled, turn } from '../../helpers/system-story.ts';
import { type ModelTask, TaskModel, waitTime } from '../../helpers/task-model.ts';
import { copyFiles, openSystem, type TestSystem } from '../../helpers/test-system.ts';

type Verb = 'approve' | 'reject';
type Command = fc.AsyncCommand<TaskModel, Real>;

/** The real system, which a restart replaces. */
class Real {
  rig: TestSystem;
  readonly runs: string[];

  constructor(rig: TestSystem, runs: string[]) {
    this.rig = rig;
    this.runs = runs;
  }

  get clock(): ManualClock {
    return this.rig.clock;
  }
}

async function open(runs: string[], more: Partial<Parameters<typeof openSystem>[0]> = {}) {
  const pay = toolCalled('pay', (_args, { taskId, callId }) => {
    runs.push(`${taskId} ${callId}`);
    return Promise.resolve('paid');
  });
  return openSystem({
    tools: [pay],
    deferred: { pay: { timeout: '5m' } },
    restAfter: 1_000,
    ...more,
  });
}

/** Lets everything settle, and checks that each task is on disk as the model has it. */
async function compare(model: TaskModel, { rig, runs }: Real): Promise<void> {
  const asFound = async ({ id }: ModelTask) => {
    const found = await rig.system.reads.find(id);
    return [id, found?.state, found?.text, runs.filter((run) => run.startsWith(`${id} `)).length];
  };
  const expected = model.tasks.map(({ id, state, text, runs: count }) => [id, state, text, count]);
  for (let turns = 0; turns < 40; turns += 1) {
    await turn();
    rig.clock.advance(0);
    if (JSON.stringify(await Promise.all(model.tasks.map(asFound))) === JSON.stringify(expected))
      break;
  }
  expect(await Promise.all(model.tasks.map(asFound))).toEqual(expected);
}

function command(
  name: string,
  run: (model: TaskModel, real: Real) => Promise<void> | void,
  check: (model: TaskModel) => boolean = () => true,
): Command {
  return {
    toString: () => name,
    check,
    async run(model, real) {
      await run(model, real);
      await compare(model, real);
    },
  };
}

const send = (waits: number) =>
  command(`send(${waits})`, async (model, { rig, clock }) => {
    const pays = Array.from({ length: waits }, (): Step => ({ tool: 'pay' }));
    const id = await rig.system.open(playing([...pays, { say: 'done' }]));
    model.send(id, waits, clock.now());
  });

const decide = (chosen: number, verbs: Verb[]) =>
  onTask(`decide(${chosen}, ${verbs.join(' ')})`, chosen, async (task, model, { rig, clock }) => {
    const at = clock.now();
    const due = model.decide(task, verbs, at);
    const answers = verbs.map((verb) => rig.system.decide(task.id, decision(verb, at)));
    const kinds = (await Promise.all(answers)).map(({ kind }) => kind);
    expect(kinds).toEqual(due);
    const recorded = rig.events(task.id).filter(({ event }) => event === 'task_deferred_decision');
    if (kinds.includes('resolved')) {
      expect(recorded.at(-1)?.['fields']).toMatchObject({ decision: verbs[0], approver: 'ann' });
    }
  });

const cancel = (chosen: number) =>
  onTask(`cancel(${chosen})`, chosen, async (task, model, { rig }) => {
    model.cancel(task);
    const canceled = await rig.system.cancel(task.id, 'external_signal');
    expect([canceled?.state, canceled?.text]).toEqual([task.state, task.text]);
  });

const passTime = (milliseconds: number) =>
  command(`passTime(${milliseconds})`, (model, { clock }) => {
    clock.advance(milliseconds);
    model.passTime(clock.now());
  });

const rest = () =>
  command('rest', (model, { rig, clock }) => {
    clock.advance(1_000);
    model.passTime(clock.now());
    rig.lookAround();
  });

const restart = (onRestart: 'abandon' | 'resume', isKilled: boolean) =>
  command(`restart(${onRestart}, ${isKilled ? 'killed' : 'stopped'})`, async (model, real) => {
    const { rig, clock, runs } = real;
    const directory = isKilled ? copyFiles(rig.directory) : rig.directory;
    await rig.stop();
    model.restart(onRestart);
    real.rig = await open(runs, { directory, clock, onRestart });
  });

function onTask(
  name: string,
  chosen: number,
  run: (task: ModelTask, model: TaskModel, real: Real) => Promise<void>,
): Command {
  const pick = ({ tasks }: TaskModel): ModelTask => tasks[chosen % tasks.length]!;
  return command(
    name,
    (model, real) => run(pick(model), model, real),
    ({ tasks }) => tasks.length > 0,
  );
}

const verb = fc.constantFrom<Verb>('approve', 'reject');
const commands = fc.commands(
  [
    fc.integer({ min: 0, max: 2 }).map(send),
    fc.constant(send(2)),
    fc
      .tuple(fc.nat(9), fc.array(verb, { minLength: 1, maxLength: 4 }))
      .map((all) => decide(...all)),
    fc.nat(9).map((chosen) => decide(chosen, ['approve'])),
    fc.nat(9).map(cancel),
    fc.constantFrom(1, waitTime >> 1, waitTime - 1, waitTime).map(passTime),
    fc.constant(rest()),
    fc.tuple(fc.constantFrom('abandon', 'resume'), fc.boolean()).map((all) => restart(...all)),
  ],
  { maxCommands: 30 },
);

describe('after any events of tasks', () => {
  it('the tasks and their log follow the contract', async () => {
    await fc.assert(
      fc.asyncProperty(commands, async (story) => {
        const runs: string[] = [];
        const real = new Real(await open(runs), runs);
        const model = new TaskModel();
        try {
          await fc.asyncModelRun(() => ({ model, real }), story);
          expect(new Set(runs).size).toBe(runs.length);
          for (const task of model.tasks) {
            const events = real.rig.events(task.id);
            checkLogOf(events, 'pay');
            const hasEnded = events.at(-1)?.event === 'session_end';
            expect(hasEnded).toBe(isFinal(task.state));
          }
          expect(await real.rig.verify()).toMatchObject({ ok: true });
        } finally {
          await real.rig.stop();
        }
      }),
      { numRuns: runs(50) },
    );
  }, 30_000);
});
