import { describe, expect, expectTypeOf, it } from 'vitest';
import type { StatelyEvent } from '../../../src/actors/telemetry/stately-event.ts';
import { ActorLog } from '../../../src/ui/inspector/actor-log.ts';
import type { Inspection } from '../../../src/ui/inspector/inspection.ts';

const definition = JSON.stringify({ id: 'task', states: { working: {}, deferred: {} } });

/** What a daemon tells, with ids that count from 1. */
class Daemon {
  #count = 0;
  readonly #startedAt: number;

  constructor(startedAt: number) {
    this.#startedAt = startedAt;
  }

  task(name: string, sessionId: string): Inspection {
    return { ...this.#next(sessionId), type: '@xstate.actor', name, parentId: 'x:0', definition };
  }

  child(name: string, sessionId: string, parentId: string): Inspection {
    const definition = JSON.stringify({ id: name });
    return { ...this.#next(sessionId), type: '@xstate.actor', name, parentId, definition };
  }

  sent(sessionId: string, type: string, sourceId?: string): Inspection {
    return { ...this.#next(sessionId), type: '@xstate.event', sourceId, event: { type } };
  }

  took(sessionId: string, type: string, value?: unknown): Inspection {
    const snapshot = { status: 'active', ...(value === undefined ? {} : { value }) };
    return { ...this.#next(sessionId), type: '@xstate.snapshot', event: { type }, snapshot };
  }

  #next(sessionId: string) {
    this.#count += 1;
    const createdAt = String(this.#startedAt + this.#count);
    return { id: String(this.#count), rootId: 'x:0', sessionId, createdAt };
  }
}

function told(...events: Inspection[]): ActorLog {
  const log = new ActorLog();
  for (const event of events) log.add(event);
  return log;
}

const rows = (log: ActorLog) =>
  log.entries.map(({ group, from, to, event, before, after }) => {
    return [group, from, to, event.type, before, after];
  });

describe('ActorLog', () => {
  it('says who sent what to whom, and what became of it', () => {
    const daemon = new Daemon(0);
    const log = told(
      daemon.task('r1', 'x:4'),
      daemon.child('0.task.working.thinking', 'x:5', 'x:4'),
      daemon.sent('x:4', 'xstate.init'),
      daemon.took('x:4', 'xstate.init', { working: 'thinking' }),
      daemon.sent('x:4', 'done', 'x:5'),
      daemon.sent('x:4', 'ruled'),
      daemon.took('x:4', 'done', { working: 'governing' }),
      daemon.took('x:4', 'ruled', 'deferred'),
      daemon.took('x:5', 'xstate.stop'),
    );
    expect(rows(log)).toEqual([
      ['r1', '', 'r1', 'xstate.init', '', 'working.thinking'],
      ['r1', 'thinking', 'r1', 'done', 'working.thinking', 'working.governing'],
      ['r1', '', 'r1', 'ruled', 'working.governing', 'deferred'],
      ['r1', '', 'thinking', 'xstate.stop', '', 'active'],
    ]);
    expect([...log.groups.values()]).toMatchObject([
      {
        name: 'r1',
        isTask: true,
        value: 'deferred',
        been: new Set(['working', 'working.thinking', 'working.governing', 'deferred']),
      },
    ]);
  });

  it('takes a task that rests and wakes for one', () => {
    const daemon = new Daemon(0);
    const log = told(
      daemon.task('r1', 'x:4'),
      daemon.took('x:4', 'xstate.stop', 'deferred'),
      daemon.task('r1', 'x:9'),
      daemon.took('x:9', 'deferral.decide', 'working'),
    );
    expect([...log.groups.keys()]).toEqual(['r1']);
    expect(log.groups.get('r1')?.value).toBe('working');
  });

  it('shows nothing twice when a stream is joined again, and everything of a daemon that began anew', () => {
    const first = new Daemon(0);
    const events = [first.task('r1', 'x:4'), first.took('x:4', 'xstate.init', 'working')];
    const log = told(...events, ...events);
    expect(log.entries).toHaveLength(1);
    const second = new Daemon(5_000);
    log.add(second.task('r2', 'x:4'));
    log.add(second.took('x:4', 'xstate.init', 'deferred'));
    expect(rows(log).map(([group, , , , , after]) => [group, after])).toEqual([
      ['r1', 'working'],
      ['r2', 'deferred'],
    ]);
  });

  it('knows an actor that began before it looked by its session', () => {
    const daemon = new Daemon(0);
    const log = told(daemon.sent('x:7', 'tick'), daemon.took('x:7', 'tick', 'busy'));
    expect(rows(log)).toEqual([['x:7', '', 'x:7', 'tick', '', 'busy']]);
  });

  it('takes nobody for a task whose parent was not announced', () => {
    const daemon = new Daemon(0);
    const log = told(
      daemon.child('0.task.working.thinking', 'x:8', 'x:7'),
      daemon.sent('x:8', 'go'),
    );
    expect([...log.groups.keys()]).toEqual(['x:7']);
    expect(rows(log)).toEqual([['x:7', '', 'thinking', 'go', '', '']]);
  });

  it('keeps the newest two thousand events at most, and so many tasks', () => {
    const daemon = new Daemon(0);
    const log = new ActorLog();
    for (let count = 0; count < 6_000; count += 1) {
      log.add(daemon.task(`r${count}`, `x:${count + 1}`));
      log.add(daemon.took(`x:${count + 1}`, 'xstate.init', 'working'));
    }
    expect(log.entries.length).toBeLessThanOrEqual(2_000);
    expect(log.entries.at(-1)).toMatchObject({ group: 'r5999' });
    expect([log.groups.size, log.groups.has('r5999')]).toEqual([500, true]);
  });

  it('reads what the daemon writes', () => {
    expectTypeOf<StatelyEvent>().toExtend<Inspection>();
  });
});
