import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isFinal } from '../../../src/machines/domain/task.ts';
import { checkLogOf } from '../../helpers/log-invariants.ts';
import { runs } from '../../helpers/runs.ts';
import { decision, parks, toolCalled, turn } from '../../helpers/system-story.ts';
import { openSystem, type TestSystem } from '../../helpers/test-system.ts';

/** What can meet at one wait. */
const happenings = [
  'approve',
  'reject',
  'cancel',
  'disconnect',
  'timeout',
  'drain',
  'restart',
] as const;

type Happening = (typeof happenings)[number];

/** How the daemon is set up that they meet in. */
const settings = fc.record({
  onRestart: fc.constantFrom('abandon' as const, 'resume' as const),
  met: fc.array(fc.constantFrom(...happenings), { minLength: 2, maxLength: 5 }),
});

/** Plays a wait at which several things happen, each of them and each commit in the order that a scheduler chooses. */
class Race {
  readonly #scheduler: fc.Scheduler;
  readonly #onRestart: 'abandon' | 'resume';
  readonly runs: string[] = [];
  /** Decisions that were answered as the one that counts. */
  readonly resolved: string[] = [];
  rig!: TestSystem;
  #people = 0;

  constructor(scheduler: fc.Scheduler, onRestart: 'abandon' | 'resume') {
    this.#scheduler = scheduler;
    this.#onRestart = onRestart;
  }

  async open(directory?: string): Promise<void> {
    const pay = toolCalled('pay', async (_args, { callId }) => {
      this.runs.push(callId);
      await this.#scheduler.schedule(Promise.resolve(), 'the tool returns');
      return 'paid';
    });
    this.rig = await openSystem({
      ...{ tools: [pay], deferred: { pay: { timeout: '5m' } }, onRestart: this.#onRestart },
      ...(directory === undefined ? {} : { directory, clock: this.rig.clock }),
    });
  }

  /** From here on a commit comes when the scheduler lets it. */
  holdCommits(): void {
    const { store } = this.rig;
    const flush = store.flush.bind(store);
    store.flush = async () => {
      await this.#scheduler.schedule(Promise.resolve(), 'a commit');
      return flush();
    };
  }

  async happen(what: Happening, id: string): Promise<void> {
    await this.#scheduler.schedule(Promise.resolve(), what);
    const { system, clock } = this.rig;
    if (what === 'approve' || what === 'reject') {
      this.#people += 1;
      const attempt = decision(what, clock.now(), { approver: `person ${this.#people}` });
      const answer = await system.decide(id, attempt);
      if (answer.kind === 'resolved') this.resolved.push(`${what} ${attempt.approver}`);
    } else if (what === 'cancel') await system.cancel(id, 'called off');
    else if (what === 'disconnect') await system.callerLeft(id);
    else if (what === 'timeout') clock.advance(300_000);
    else if (what === 'drain') await system.drain(0);
    else {
      const { directory } = this.rig;
      await system.drain(0);
      await this.rig.stop();
      await this.open(directory);
    }
  }

  /** Has the task come to its end, in a daemon that works. */
  async end(id: string): Promise<string> {
    const { directory } = this.rig;
    await this.rig.stop();
    await this.open(directory);
    const { system, clock } = this.rig;
    for (let turns = 0; turns < 60; turns += 1) {
      await turn();
      const task = await system.reads.find(id);
      if (task !== undefined && isFinal(task.state)) return task.state;
      if (turns > 20) clock.advance(60_000);
    }
    throw new Error('the task does not end');
  }
}

describe('events that meet at one wait, in any order', () => {
  it('resolve it once, run it at most once, and report what the log has', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), settings, async (scheduler, { onRestart, met }) => {
        const race = new Race(scheduler, onRestart);
        await race.open();
        const { id } = await parks(race.rig.system);
        race.holdCommits();
        const all = Promise.allSettled(met.map((what) => race.happen(what, id)));
        await scheduler.waitFor(all);
        await scheduler.waitFor(race.end(id));
        const events = race.rig.events(id);
        checkLogOf(events, 'pay');
        const made = events.flatMap(({ event, ...rest }) => {
          const fields = rest['fields'] as Record<string, unknown> | undefined;
          if (event !== 'task_deferred_decision') return [];
          return [`${String(fields?.['decision'])} ${String(fields?.['approver'])}`];
        });
        expect(made.length).toBeLessThanOrEqual(1);
        // One whose answer was lost with its daemon may be in the log as well.
        for (const told of race.resolved) expect(made).toContain(told);
        const approved = made.filter((told) => told.startsWith('approve')).length;
        expect(race.runs.length).toBeLessThanOrEqual(approved);
        expect(await race.rig.verify()).toMatchObject({ ok: true });
        await race.rig.stop();
      }),
      { numRuns: runs(150) },
    );
  });
});
