import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isFinal } from '../../../src/machines/domain/task.ts';
import { checkLogOf } from '../../helpers/log-invariants.ts';
import { runs } from '../../helpers/runs.ts';
import { decision, playing, type Step, toolCalled, turn } from '../../helpers/system-story.ts';
import { copyFiles, openSystem, type TestSystem } from '../../helpers/test-system.ts';

interface Happening {
  kind: 'send' | 'approve' | 'reject' | 'cancel' | 'turn';
  /** Which task it concerns; for a new one, how often it pays; how many turns of the event loop pass. */
  number: number;
}

/** The files as a kill after one commit leaves them, with what the world had seen by then. */
interface Death {
  directory: string;
  runs: string[];
  /** Deferrals whose decision had been answered with success. */
  answered: string[];
}

/** How every story begins, so that each gets as far as a tool that ran. */
const released: Happening[] = [
  { kind: 'send', number: 2 },
  { kind: 'turn', number: 3 },
  { kind: 'approve', number: 0 },
  { kind: 'turn', number: 3 },
];

const happenings = fc.array(
  fc.record<Happening>({
    kind: fc.oneof(
      { weight: 4, arbitrary: fc.constant('turn' as const) },
      { weight: 3, arbitrary: fc.constant('approve' as const) },
      { weight: 2, arbitrary: fc.constant('send' as const) },
      { weight: 1, arbitrary: fc.constantFrom('reject' as const, 'cancel' as const) },
    ),
    number: fc.nat(3),
  }),
  { maxLength: 12, size: 'max' },
);

function systemThatPays(runs: string[], more: Parameters<typeof openSystem>[0] = {}) {
  const pay = toolCalled('pay', async (_args, { callId }) => {
    runs.push(callId);
    await turn();
    return 'paid';
  });
  return openSystem({ tools: [pay], deferred: { pay: { timeout: '5m' } }, ...more });
}

/** Lets things happen while others are under way, and keeps the files after every commit. */
async function deathsIn(story: Happening[], rig: TestSystem, runs: string[]): Promise<Death[]> {
  const deaths: Death[] = [];
  const answered: string[] = [];
  const flush = rig.store.flush.bind(rig.store);
  rig.store.flush = () => {
    const failure = flush();
    const directory = copyFiles(rig.directory);
    deaths.push({ directory, runs: [...runs], answered: [...answered] });
    return failure;
  };
  const ids: string[] = [];
  const underWay: Promise<unknown>[] = [];
  for (const { kind, number } of story) {
    const id = ids[number % Math.max(1, ids.length)];
    if (kind === 'send') {
      const pays = Array.from({ length: number }, (): Step => ({ tool: 'pay' }));
      ids.push(await rig.system.open(playing([...pays, { say: 'done' }])));
    } else if (kind === 'turn' || id === undefined) {
      for (let turns = 0; turns <= number; turns += 1) await turn();
    } else if (kind === 'cancel') underWay.push(rig.system.cancel(id, 'timeout'));
    else {
      const decided = rig.system.decide(id, decision(kind, rig.clock.now()));
      underWay.push(
        decided.then((answer) => answer.kind === 'resolved' && answered.push(answer.deferralId)),
      );
    }
  }
  await Promise.all(underWay);
  return deaths;
}

async function checkAfter(death: Death, onRestart: 'abandon' | 'resume'): Promise<void> {
  const runs = [...death.runs];
  const rig = await systemThatPays(runs, { directory: copyFiles(death.directory), onRestart });
  try {
    const unended = async () =>
      (await rig.store.rows.listing.made({ limit: 99 })).tasks.filter(
        ({ state }) => !isFinal(state),
      );
    for (let turns = 0; turns < 40 && (await unended()).length > 0; turns += 1) {
      await turn();
      rig.clock.advance(60_000);
    }
    expect(await unended()).toEqual([]);
    expect(new Set(runs).size).toBe(runs.length);
    for (const { id } of (await rig.store.rows.listing.made({ limit: 99 })).tasks)
      checkLogOf(rig.events(id), 'pay');
    const decided = rig.events().filter(({ event }) => event === 'task_deferred_decision');
    expect(decided.length).toBeGreaterThanOrEqual(death.answered.length);
    expect(await rig.verify()).toMatchObject({ ok: true });
  } finally {
    await rig.stop();
  }
}

describe('a kill after any commit of any story', () => {
  it('leaves tasks that end, tools that ran at most once, and a complete log', async () => {
    await fc.assert(
      fc.asyncProperty(happenings, async (story) => {
        const runs: string[] = [];
        const rig = await systemThatPays(runs);
        const deaths = await deathsIn([...released, ...story], rig, runs);
        await rig.stop();
        expect(deaths.some((death) => death.answered.length > 0)).toBe(true);
        expect(deaths.some((death) => death.runs.length > 0)).toBe(true);
        for (const death of deaths) {
          await checkAfter(death, 'abandon');
          await checkAfter(death, 'resume');
        }
      }),
      { numRuns: runs(8) },
    );
  }, 60_000);
});
