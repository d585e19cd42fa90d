import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { decision, parks, toolCalled } from '../../helpers/system-story.ts';
import { openSystem, storeFiles } from '../../helpers/test-system.ts';
import type { Order, Report } from './second-process.ts';

interface Other {
  /** Has it decide; `begun` resolves when it is about to commit. */
  decide: (order: Order) => { begun: Promise<unknown>; answers: Promise<string[]> };
  /** Ids of the tasks whose tool ran there. */
  ran: string[];
}

async function startOther(directory: string): Promise<Other> {
  const { path, audit } = storeFiles(directory);
  const child = fork(join(import.meta.dirname, 'second-process.ts'), [path, audit.path]);
  onTestFinished(async () => {
    child.disconnect();
    await once(child, 'exit');
  });
  const ran: string[] = [];
  child.on('message', (report: Report) => 'ran' in report && ran.push(report.ran));
  await reportFrom(child, (report) => 'ready' in report);
  return {
    ran,
    decide(order) {
      const begun = reportFrom(child, (report) => 'deciding' in report);
      const answered = reportFrom(child, (report) => 'answers' in report);
      child.send(order);
      const answers = answered.then((report) => ('answers' in report ? report.answers : []));
      return { begun, answers };
    },
  };
}

function reportFrom(child: ChildProcess, matches: (report: Report) => boolean): Promise<Report> {
  return new Promise((resolve, reject) => {
    const hear = (report: Report): void => {
      if (!matches(report)) return;
      child.off('message', hear);
      resolve(report);
    };
    child.on('message', hear);
    if (!child.connected) reject(new Error('the second process has ended'));
  });
}

describe('two processes over one store', () => {
  it('have one winner of many decisions, run the tool once, and keep one chain', async () => {
    const pay = toolCalled('pay');
    const { system, clock, directory, events, verify } = await openSystem({
      tools: [pay],
      deferred: { pay: {} },
    });
    const other = await startOther(directory);
    for (let round = 0; round < 12; round += 1) {
      const { id } = await parks(system);
      const at = clock.now();
      const there = other.decide({ taskId: id, verb: 'approve', count: 10, at });
      if (round % 2 === 1) await there.begun;
      const here = Array.from({ length: 10 }, (_, index) =>
        system
          .decide(id, decision(index % 2 === 0 ? 'approve' : 'reject', at))
          .then(({ kind }) => kind as string, String),
      );
      const kinds = [...(await Promise.all(here)), ...(await there.answers)];
      expect(kinds.toSorted()).toEqual([...Array<string>(19).fill('decided'), 'resolved']);
      const decided = events(id).filter(({ event }) => event === 'task_deferred_decision');
      expect(decided).toHaveLength(1);
    }
    const runs = [...pay.runs.map(({ taskId }) => taskId), ...other.ran];
    expect(new Set(runs).size).toBe(runs.length);
    expect(await verify()).toMatchObject({ ok: true });
  }, 20_000);
});
