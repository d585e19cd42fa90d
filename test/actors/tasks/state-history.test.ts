import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InspectionEvent } from 'xstate';
import { isFinal } from '../../../src/machines/domain/task.ts';
import { type EnteredState, pathOf } from '../../../src/machines/task/entered-state.ts';
import { aPolicy } from '../../helpers/a-policy.ts';
import { runs } from '../../helpers/runs.ts';
import {
  decision,
  ends,
  parks,
  playing,
  type Step,
  toolCalled,
  turn,
} from '../../helpers/system-story.ts';
import { toolRules } from '../../helpers/task-fixtures.ts';
import { copyFiles, nine, openSystem, type TestSystem } from '../../helpers/test-system.ts';

const paying = () => ({ tools: [toolCalled('pay')], deferred: { pay: { timeout: '5m' } } });

async function wayOf({ system }: TestSystem, id: string): Promise<[string, string][]> {
  return (await system.reads.statesOf(id)).states.map(({ state, event }) => [state, event]);
}

const start = [
  ['submitted', 'task.send'],
  ['working.thinking', 'prompt.screened'],
];
const governed = [...start, ['working.governing', 'thinking.done']];
const ran = [
  ['working.executing.calling.running', 'task.saved'],
  ['working.executing.recording', 'running.done'],
  ['working.thinking', 'task.saved'],
  ['completed', 'thinking.done'],
];

describe('the states of a task', () => {
  it('include every entered one, also several in one turn, with their events', async () => {
    const rig = await openSystem({ tools: [toolCalled('note')] });
    const id = await rig.system.open(playing([{ tool: 'note' }, { say: 'done' }]));
    await ends(rig.system, id);
    expect(await wayOf(rig, id)).toEqual([
      ...governed,
      ['working.executing.calling.starting', 'governing.done'],
      ...ran,
    ]);
  });

  it('have the time of their entry', async () => {
    const rig = await openSystem(paying());
    const { id } = await parks(rig.system);
    rig.clock.advance(61_000);
    await rig.system.cancel(id, 'enough');
    const { states } = await rig.system.reads.statesOf(id);
    expect(states.at(-2)).toEqual({ state: 'deferred.asked', event: 'governing.done', at: nine });
    expect(states.at(-1)).toEqual({ state: 'canceled', event: 'task.cancel', at: nine + 61_000 });
  });

  it('continue when a final task runs again', async () => {
    const rig = await openSystem();
    const id = await rig.system.open(playing([{ say: 'one' }]));
    await ends(rig.system, id);
    await rig.system.open(playing([{ say: 'two' }], { id }));
    await ends(rig.system, id);
    const once = [...start, ['completed', 'thinking.done']];
    expect(await wayOf(rig, id)).toEqual([...once, ...once]);
  });

  it('end with the defect that stopped the chart', async () => {
    const broken = {
      ...toolRules(),
      get refusal(): never {
        throw new Error('a defect');
      },
    };
    const defect = aPolicy({ rulesFor: () => broken });
    const rig = await openSystem({ policy: defect, tools: [toolCalled('note')] });
    const id = await rig.system.open(playing([{ tool: 'note' }]));
    await ends(rig.system, id);
    expect((await wayOf(rig, id)).at(-1)).toEqual(['failed', 'task.crashed']);
  });

  it('continue after a restart where the store has the task', async () => {
    const rig = await openSystem(paying());
    const { id } = await parks(rig.system);
    await rig.stop();
    const next = await openSystem({ ...paying(), directory: rig.directory });
    await next.system.decide(id, decision('approve', next.clock.now()));
    await ends(next.system, id);
    expect(await wayOf(next, id)).toEqual([
      ...governed,
      ['deferred.asked', 'governing.done'],
      ['working.executing.calling.starting', 'deferral.decide'],
      ...ran,
    ]);
  });
});

/** The states of the actors of tasks, as an outside observer sees them. */
function watchedPaths(): {
  paths: Map<string, string[]>;
  onInspected: (event: InspectionEvent) => void;
} {
  const paths = new Map<string, string[]>();
  const onInspected = (inspected: InspectionEvent): void => {
    if (inspected.type !== '@xstate.microstep') return;
    const { machine, value } = inspected.snapshot as never as {
      machine: { id: string };
      value: never;
    };
    if (machine.id !== 'task') return;
    const { id } = inspected.actorRef as unknown as { id: string };
    const path = paths.get(id) ?? [];
    paths.set(id, path);
    const state = pathOf(value);
    if (path.at(-1) !== state) path.push(state);
  };
  return { paths, onInspected };
}

interface Happening {
  kind: 'send' | 'approve' | 'reject' | 'cancel' | 'turn' | 'wait';
  number: number;
}

const happenings = fc.array(
  fc.record<Happening>({
    kind: fc.constantFrom('send', 'approve', 'approve', 'reject', 'cancel', 'turn', 'turn', 'wait'),
    number: fc.nat(3),
  }),
  { maxLength: 12, size: 'max' },
);

async function play(rig: TestSystem, story: Happening[]): Promise<void> {
  const ids: string[] = [];
  const underWay: Promise<unknown>[] = [];
  for (const { kind, number } of story) {
    const id = ids[number % Math.max(1, ids.length)];
    if (kind === 'send') {
      const pays = Array.from({ length: number }, (): Step => ({ tool: 'pay' }));
      ids.push(await rig.system.open(playing([...pays, { say: 'done' }])));
    } else if (kind === 'wait') {
      rig.clock.advance(80_000 * number);
      rig.lookAround();
    } else if (kind === 'turn' || id === undefined) {
      for (let turns = 0; turns <= number; turns += 1) await turn();
    } else if (kind === 'cancel') underWay.push(rig.system.cancel(id, 'timeout'));
    else underWay.push(rig.system.decide(id, decision(kind, rig.clock.now())));
  }
  await Promise.all(underWay);
}

async function playToTheEnd(rig: TestSystem): Promise<string[]> {
  const tasks = async () => (await rig.store.rows.listing.made({ limit: 99 })).tasks;
  for (
    let turns = 0;
    turns < 60 && (await tasks()).some(({ state }) => !isFinal(state));
    turns += 1
  ) {
    await turn();
    rig.clock.advance(60_000);
  }
  expect((await tasks()).filter(({ state }) => !isFinal(state))).toEqual([]);
  return (await tasks()).map(({ id }) => id);
}

const namesOf = (states: EnteredState[]): string[] => states.map(({ state }) => state);

describe('after any events of tasks', () => {
  it('the store has the states of each, also after a kill at any commit', async () => {
    await fc.assert(
      fc.asyncProperty(happenings, fc.nat(), async (story, at) => {
        const watched = watchedPaths();
        const deferred = { pay: { timeout: '5m', escalate_to: 'channel:console:boss' } };
        const options = { tools: [toolCalled('pay', undefined, { idempotent: true })], deferred };
        const rig = await openSystem({ ...options, onInspected: watched.onInspected });
        const deaths: string[] = [];
        const flush = rig.store.flush.bind(rig.store);
        rig.store.flush = () => {
          const failure = flush();
          deaths.push(copyFiles(rig.directory));
          return failure;
        };
        await play(rig, [{ kind: 'send', number: 2 }, ...story]);
        for (const id of await playToTheEnd(rig)) {
          const entered = (await rig.system.reads.statesOf(id)).states;
          expect(namesOf(entered)).toEqual(['submitted', ...(watched.paths.get(id) ?? [])]);
          expect(entered).toEqual(entered.toSorted((one, other) => one.at - other.at));
        }
        await rig.stop();
        const directory = deaths[at % deaths.length] ?? '';
        for (const onRestart of ['resume', 'abandon'] as const) {
          await checkAfter(
            { ...options, directory: copyFiles(directory), onRestart },
            watched.paths,
          );
        }
      }),
      { numRuns: runs(8) },
    );
  }, 120_000);
});

async function checkAfter(
  options: NonNullable<Parameters<typeof openSystem>[0]>,
  before: Map<string, string[]>,
): Promise<void> {
  const watched = watchedPaths();
  const rig = await openSystem({ ...options, onInspected: watched.onInspected, isStarted: false });
  const { rows } = rig.store;
  const known = new Map<string, string[]>();
  for (const { id } of (await rows.listing.made({ limit: 99 })).tasks) {
    const states = namesOf((await rows.states.of(id)).states);
    const path = ['submitted', ...(before.get(id) ?? [])];
    expect(states).toEqual(path.slice(0, states.length));
    const { task, snapshot } = (await rows.read(id)) ?? {};
    const kept = (snapshot as { value: never } | null)?.value;
    expect(states.at(-1)).toBe(kept === undefined ? task?.state : pathOf(kept));
    known.set(id, states);
  }
  await rig.system.start();
  for (const id of await playToTheEnd(rig)) {
    const since = (await rig.system.reads.statesOf(id)).states.slice(known.get(id)?.length);
    if (since[0]?.event === 'service.resumed') {
      // A call that was being ruled on is ruled on anew.
      const isRuled = known.get(id)?.at(-1) !== 'working.governing';
      const taken = isRuled ? 'calling.starting' : 'recording';
      expect(since.shift()?.state).toBe(`working.executing.${taken}`);
    }
    expect(namesOf(since)).toEqual(watched.paths.get(id) ?? []);
  }
  await rig.stop();
}
