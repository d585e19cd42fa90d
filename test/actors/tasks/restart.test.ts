import { describe, expect, it } from 'vitest';
import { isFinal } from '../../../src/machines/domain/task.ts';
import type { JsonObject } from '../../../src/machines/json.ts';
import { withoutCall } from '../../helpers/call-fields.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import {
  briefly,
  decision,
  ends,
  gate,
  parks,
  playing,
  toolCalled,
} from '../../helpers/system-story.ts';
import {
  copyFiles,
  nine,
  openSystem,
  recordedEvents,
  type TestSystem,
  type TestSystemOptions,
} from '../../helpers/test-system.ts';
import { hearDisk } from '../records/sqlite/disk-steps.ts';

interface Moment {
  /** The files as a kill after this commit leaves them. */
  directory: string;
  taskId: string;
}

/** Plays a payment that is released at once, and keeps the files after every commit. */
async function momentsOfPayment(idempotent: boolean): Promise<Moment[]> {
  const pay = toolCalled('pay', undefined, { idempotent });
  const rig = await openSystem({ tools: [pay], deferred: { pay: { timeout: '5m' } } });
  const moments: Moment[] = [];
  const flush = rig.store.flush.bind(rig.store);
  let taskId = '';
  rig.store.flush = () => {
    const failure = flush();
    moments.push({ directory: copyFiles(rig.directory), taskId });
    return failure;
  };
  taskId = await rig.system.open(
    playing([{ tool: 'pay', args: { amount: 5 } }, { say: 'done: {result}' }]),
  );
  await rig.store.flush();
  await parks(rig.system, playing([{ tool: 'pay' }], { id: 'bystander' }));
  const parked = await rig.system.reads.find(taskId);
  expect(parked?.state).toBe('deferred');
  await rig.system.decide(taskId, decision('approve', rig.clock.now()));
  await ends(rig.system, taskId);
  await rig.stop();
  return moments;
}

interface After {
  state: string | undefined;
  text: string | null | undefined;
  /** How often the tool ran since. */
  runs: number;
  events: string[];
  rig: TestSystem;
}

/** Starts again on the files of a moment; a task that waits is released then. */
async function afterRestart(
  { directory, taskId }: Moment,
  options: TestSystemOptions & { idempotent: boolean },
): Promise<After> {
  const pay = toolCalled('pay', undefined, { idempotent: options.idempotent });
  const clock = new ManualClock(nine + 1_000);
  const copy = copyFiles(directory);
  const rig = await openSystem({
    ...options,
    directory: copy,
    clock,
    tools: [pay],
    deferred: { pay: { timeout: '5m' } },
  });
  if (
    options.onRestart === 'resume' &&
    (await rig.system.reads.find(taskId))?.state !== 'completed'
  ) {
    await waitsOrEnds(rig, taskId);
    await rig.system.decide(taskId, decision('approve', clock.now()));
  }
  const ended = await ends(rig.system, taskId);
  return {
    state: ended.state,
    text: ended.text,
    runs: pay.runs.filter((run) => run.taskId === taskId).length,
    events: briefly(rig.events(taskId)),
    rig,
  };
}

function waitsOrEnds({ system }: TestSystem, id: string): Promise<unknown> {
  const { signal } = new AbortController();
  return system.watchers.settled(id, signal, ({ state }) => state === 'deferred' || isFinal(state));
}

const unknown = 'interrupted by service restart: pay had started and its outcome is unknown';
const interrupted = 'interrupted by service restart';
const abandoned = 'defer: abandoned by service restart';
const done = 'done: pay ok';

/** The log's last event before the kill, with the outcome of the task and how often the tool runs then. */
type Row = [last: string, text: string, runs: number];

const matrix: { mode: 'abandon' | 'resume'; idempotent: boolean; rows: Row[] }[] = [
  {
    mode: 'abandon',
    idempotent: true,
    rows: [
      ['session_start', interrupted, 0],
      ['task_deferred', abandoned, 0],
      ['tool_exec start', interrupted, 0],
      ['tool_exec end', interrupted, 0],
      ['session_end completed', done, 0],
    ],
  },
  {
    mode: 'resume',
    idempotent: false,
    rows: [
      ['session_start', done, 1],
      ['task_deferred', done, 1],
      ['tool_exec start', unknown, 0],
      ['tool_exec end', done, 0],
      ['session_end completed', done, 0],
    ],
  },
  {
    mode: 'resume',
    idempotent: true,
    rows: [
      ['session_start', done, 1],
      ['task_deferred', done, 1],
      ['tool_exec start', done, 1],
      ['tool_exec end', done, 0],
      ['session_end completed', done, 0],
    ],
  },
];

describe.each(matrix)(
  'a kill after any commit, on_restart: $mode, idempotent: $idempotent',
  ({ mode, idempotent, rows }) => {
    it('ends the task as the contract requires, with a complete log and permitted tool runs', async () => {
      const moments = await momentsOfPayment(idempotent);
      const seen = new Set<string>();
      for (const moment of moments) {
        const { state, text, runs, events, rig } = await afterRestart(moment, {
          onRestart: mode,
          idempotent,
        });
        const own = rig.events(moment.taskId);
        const last = briefly(own.filter(({ ts }) => ts < '2026-07-01T09:00:01')).at(-1) ?? '';
        const row = rows.find(([name]) => name === last);
        expect([last, text, runs]).toEqual(row);
        expect(state).toBe(text === done ? 'completed' : 'failed');
        expect(count(events, 'session_end')).toBe(1);
        expect(events.at(-1)).toMatch(/^session_end/);
        expect(count(events, 'tool_exec start')).toBe(count(events, 'tool_exec end'));
        expect(count(events, 'session_start')).toBe(1);
        expect(own.map(({ seq }) => seq)).toEqual(own.map((_, index) => index + 1));
        expect(await rig.verify()).toMatchObject({ ok: true });
        seen.add(last);
        await rig.stop();
      }
      expect([...seen]).toEqual(rows.map(([name]) => name));
    }, 20_000);
  },
);

describe('the log after a restart', () => {
  it.each<['abandon' | 'resume', string, string]>([
    ['abandon', 'interrupted by service restart', 'interrupted by service restart'],
    ['resume', unknown, unknown],
  ])('has an end for a running tool (%s)', async (onRestart, text, error) => {
    const started = gate();
    const pay = toolCalled('pay', () => {
      started.open();
      return new Promise(() => undefined);
    });
    const before = await openSystem({ tools: [pay] });
    const taskId = await before.system.open(playing([{ tool: 'pay', args: { amount: 5 } }]));
    await started.opened;
    before.clock.advance(2_500);
    const { clock } = before;
    const directory = copyFiles(before.directory);
    const after = await openSystem({ directory, clock, tools: [pay], onRestart });
    expect((await ends(after.system, taskId)).text).toBe(text);
    const end = after
      .events(taskId)
      .find(({ fields }) => (fields as JsonObject)?.['phase'] === 'end');
    expect(end?.['fields']).toMatchObject({ tool: 'pay', phase: 'end', error, result_size: 0 });
    expect(pay.runs).toHaveLength(1);
  });

  it('has every abandoned wait, and nothing else', async () => {
    const rig = await openSystem({ tools: [toolCalled('pay')], deferred: { pay: {} } });
    const { id } = await parks(rig.system);
    await rig.stop();
    rig.clock.advance(1_500);
    const { directory, clock } = rig;
    const after = await openSystem({ directory, clock, onRestart: 'abandon' });
    expect(await after.system.reads.find(id)).toMatchObject({ state: 'failed', text: abandoned });
    expect(
      after
        .events(id)
        .slice(4)
        .map(({ event, fields }) => [event, withoutCall(fields)]),
    ).toEqual([
      ['task_deferred_abandoned', { tool: 'pay', reason: 'service_restart', wait_ms: 1_500 }],
      ['session_end', { state: 'failed' }],
    ]);
    await after.stop();
    const again = await openSystem({ directory, clock, onRestart: 'abandon' });
    expect(again.events()).toHaveLength(6);
  });
});

describe('a kill around the commit of a decision', () => {
  /** Kills the daemon before a step of the disk during a decision. */
  async function killedAt(step: string) {
    const rig = await openSystem({ tools: [toolCalled('pay')], deferred: { pay: {} } });
    const parked = await parks(rig.system);
    const images: string[] = [];
    const restore = hearDisk(({ name }) => {
      if (name === step) images.push(copyFiles(rig.directory));
    });
    await rig.system.decide(parked.id, decision('approve', rig.clock.now())).finally(restore);
    const [directory = ''] = images;
    const logged = recordedEvents(directory).at(-1)?.event;
    const { clock } = rig;
    const options = { directory, clock, tools: [toolCalled('pay')], deferred: { pay: {} } };
    return { parked, logged, after: await openSystem(options) };
  }

  it('leaves neither line nor decision before the commit', async () => {
    const { parked, logged, after } = await killedAt('COMMIT');
    expect(logged).toBe('task_deferred');
    expect(after.store.recovery).toEqual({ torn: null, replayed: 0 });
    expect(await after.system.reads.find(parked.id)).toEqual(parked);
    const answer = await after.system.decide(parked.id, decision('approve', after.clock.now()));
    expect(answer.kind).toBe('resolved');
    await ends(after.system, parked.id);
    expect(await after.verify()).toMatchObject({ ok: true });
  });

  it('leaves both after the commit, although the file had no line yet', async () => {
    const { parked, logged, after } = await killedAt('writeSync');
    expect(logged).toBe('task_deferred');
    expect(after.store.recovery).toEqual({ torn: null, replayed: expect.any(Number) });
    expect(briefly(after.events(parked.id)).slice(0, 4)).toEqual([
      'session_start',
      'llm_call',
      'task_deferred',
      'task_deferred_decision approve',
    ]);
    const answer = await after.system.decide(parked.id, decision('reject', after.clock.now()));
    expect(answer.kind).toBe('decided');
    expect(await after.verify()).toMatchObject({ ok: true });
  });
});

function count(events: string[], name: string): number {
  return events.filter((event) => event.startsWith(name)).length;
}
