import { describe, expect, it } from 'vitest';
import { defaultLimits, nothingSpent } from '../../../src/machines/task/limits.ts';
import {
  migrateSnapshot,
  oldestTaskMachineVersion,
} from '../../../src/machines/task/migrate-snapshot.ts';
import { taskMachineVersion } from '../../../src/machines/task/task-machine.ts';
import { aCall, digest, times } from '../../helpers/task-fixtures.ts';

const argsDigest = () => digest;
const calling = { working: { executing: { calling: 'running' } } };
const by = { provider: '', model: '' };
const turn = (after: number) => ({ after, by, parts: [] });

/** A snapshot of version 7 with a model that was told so many of its exchanges; `more` is of its context. */
const told = (count: number, exchanges: number, pending: number, more: object = {}) => ({
  value: 'kept',
  context: {
    run: { limits: { turns: 9, tokens: null, time: null } },
    told: count,
    exchanges: Array.from({ length: exchanges }, () => ({ call: aCall(), result: 'ok' })),
    pending: Array.from({ length: pending }, () => aCall()),
    ...more,
  },
});

/** What the present chart has of `told`. */
const said = (count: number, exchanges: number, pending: number, turns: number) => {
  const { value, context } = told(count, exchanges, pending);
  const { told: _, run, ...rest } = context;
  const limits = { failedTurns: 5, ...run.limits };
  return {
    value,
    context: {
      ...rest,
      held: null,
      run: { onToolError: 'fail', limits, ran: [], hasModel: true },
      said: Array.from({ length: turns }, (__, after) => turn(after)),
    },
  };
};

/** The rest of what the present version makes of a snapshot of version 4 whose run knew nothing. */
const since4 = { exchanges: [], pending: [], said: [], startedAt: null, held: null };
const run = { session: [], limits: defaultLimits, onToolError: 'fail', ran: [], hasModel: true };
const idle = { value: 'idle', children: {} };

describe('a snapshot that is brought to the present version', () => {
  it('of version 2 has a bound history, and a quorum that counts approvers alone', () => {
    const context = (deferral: object | null) => ({ exchanges: [], pending: [], deferral });
    const from = (deferral: object | null) =>
      migrateSnapshot({ ...idle, context: context(deferral) }, 2, argsDigest).context;
    const spent = { ...nothingSpent, turns: undefined };
    const become = { ...since4, followUps: [], spent, run: { ...run, leftOut: 0 } };
    expect(from(null)).toStrictEqual({ ...become, deferral: null });
    expect(from({ quorum: 2 })).toStrictEqual({
      ...become,
      deferral: { distinctCallers: false, quorum: 2 },
    });
  });

  it('of version 3 has been told nothing while it waited', () => {
    const context = { exchanges: [], pending: [], turns: 4, leftOut: 3, usage: { model: 'demo' } };
    expect(migrateSnapshot({ ...idle, context }, 3, argsDigest).context).toStrictEqual({
      ...since4,
      followUps: [],
      spent: { ...nothingSpent, turns: 4, usage: { model: 'demo' } },
      run: { ...run, leftOut: 3 },
    });
  });

  it('of version 4 has what was asked for apart from what became of it', () => {
    const asked = {
      id: 'task-1',
      contextId: 'context-1',
      correlationId: 'correlation-1',
      tags: {},
      trace: null,
      requester: null,
      owner: null,
      surface: 'a2a',
      history: [],
      leftOut: 2,
      request: 'pay',
      createdAt: times.created,
    };
    const context = { ...asked, refusal: null, exchanges: [], pending: [], turns: 1, now: 7 };
    expect(migrateSnapshot({ ...idle, context }, 4, argsDigest)).toStrictEqual({
      ...idle,
      context: {
        ...since4,
        spent: { ...nothingSpent, turns: 1 },
        now: 7,
        run: { ...run, ...asked },
      },
    });
  });

  it('of version 4 knows what it was told', () => {
    const context = { exchanges: [], pending: [aCall()], told: 0 };
    const { context: of4 } = migrateSnapshot({ ...idle, context }, 4, argsDigest);
    expect(of4['said']).toStrictEqual([turn(0)]);
  });

  it.each([
    ['nothing of what became of it', { id: 'task-1', refusal: null }, { ...run, id: 'task-1' }],
    ['nothing of what it was asked for', { exchanges: [], pending: [], turns: 1 }, run],
  ])('of version 4 is gone on with, though it says %s', (_, context, asked) => {
    expect(migrateSnapshot({ ...idle, context }, 4, argsDigest).context['run']).toStrictEqual(
      asked,
    );
  });

  it.each([
    ['that runs has the time at which it started', calling, times.began],
    ['that has not started has none', { deferred: 'asked' }, null],
  ])('of version 5 waits for nothing that is invoked; a call %s', (_, value, startedAt) => {
    const children = {
      a: { src: 'recordStart' },
      b: { src: 'runTool' },
      c: { src: 'recordEnd' },
      d: { src: 'deadline' },
      e: { src: 'think' },
    };
    const context = {
      run: { id: 'task-1', refusal: null },
      told: 0,
      exchanges: [],
      pending: [],
      turns: 1,
      startedAt: times.began,
    };
    expect(
      migrateSnapshot({ status: 'active', value, children, context }, 5, argsDigest),
    ).toStrictEqual({
      status: 'active',
      value,
      children: { b: children.b, e: children.e },
      context: {
        ...since4,
        startedAt,
        spent: { ...nothingSpent, turns: 1 },
        run: { ...run, id: 'task-1' },
      },
    });
  });

  it('of version 6 has the limits of the product, and what it used up so far', () => {
    const usage = { model: 'demo', inputTokens: 3, outputTokens: 5, duration: 9 };
    const from = (more: object) =>
      migrateSnapshot(
        { context: { run: { id: 'task-1' }, told: 0, exchanges: [], pending: [], ...more } },
        6,
        argsDigest,
      );
    const become = (spent: object) => ({
      context: {
        exchanges: [],
        pending: [],
        said: [],
        held: null,
        spent: { ...nothingSpent, ...spent },
        run: { ...run, id: 'task-1' },
      },
    });
    expect(from({ turns: 3, usage })).toStrictEqual(become({ turns: 3, usage }));
    expect(from({ turns: 0 })).toStrictEqual(become({ turns: 0, usage: null }));
  });

  it.each([
    ['nothing, of nothing', 0, 0, 0, 0],
    ['nothing, of a call that has not ended', 0, 0, 1, 1],
    ['nothing, of the first that ended', 0, 1, 0, 1],
    ['nothing, of the calls of its first turn', 0, 1, 2, 1],
    ['all there is', 2, 2, 0, 2],
    ['all but the calls of its last turn', 1, 2, 1, 2],
  ])(
    'of version 7 goes on as one whose model was told %s',
    (_, count, exchanges, pending, turns) => {
      expect(migrateSnapshot(told(count, exchanges, pending), 7, argsDigest)).toStrictEqual(
        said(count, exchanges, pending, turns),
      );
    },
  );

  it('of version 7 keeps what it says of errors and of failed turns', () => {
    const limits = { turns: 9, failedTurns: 2, tokens: 7, time: 8 };
    const kept = { onToolError: 'return', limits };
    const { context } = migrateSnapshot(told(0, 0, 0, { run: kept }), 7, argsDigest);
    expect(context['run']).toStrictEqual({ ...kept, ran: [], hasModel: true });
  });

  it.each([
    ['that was released is bound to the digest of the decision', 'call-1', digest],
    ['that nobody had to release is bound to none', null, null],
    ['that follows a released one is bound to none', 'call-0', null],
  ])('of version 8 whose call runs %s', (_, approvedCallId, argsSha256) => {
    const settled = { id: approvedCallId, tool: 'pay', argsSha256: digest, decidedAt: 7 };
    const context = { run: {}, pending: [aCall({ argsSha256: 'c3' })], approvedCallId, settled };
    const { context: migrated } = migrateSnapshot({ context }, 8, argsDigest);
    expect(migrated).not.toHaveProperty('approvedCallId');
    expect(migrated['held']).toStrictEqual(
      argsSha256 === null
        ? null
        : { isReleased: true, deferral: expect.objectContaining({ id: 'call-1', argsSha256 }) },
    );
  });

  const data = { tool: 'pay', args: { order: 7 } };
  const parts = [{ kind: 'data', data }];
  const requested = { id: 'task-1', surface: 'mcp', request: { parts } };
  const thinking = { working: 'thinking' };
  const think = { children: { a: { src: 'think' } } };

  it.each([
    ['mcp', { deferred: 'asked' }, false],
    ['a2a', { deferred: 'asked' }, true],
    ['a2a', thinking, true],
  ])(
    'of version 9 that was requested over %s stays in %j and has a model: %s',
    (surface, value, hasModel) => {
      const before = { value, ...think, context: { run: { surface }, exchanges: [] } };
      expect(migrateSnapshot(before, 9, argsDigest)).toStrictEqual({
        ...before,
        context: { run: { surface, hasModel }, exchanges: [] },
      });
    },
  );

  it('of version 9 whose model was to make a call has the call accepted', () => {
    const before = { value: thinking, ...think, context: { run: requested, exchanges: [] } };
    const input = { taskId: 'task-1', calls: [data] };
    const accept = { src: 'accept', snapshot: { status: 'active', input } };
    expect(migrateSnapshot(before, 9, argsDigest)).toStrictEqual({
      value: { working: 'accepting' },
      children: { '0.task.working.accepting': accept },
      context: { run: { ...requested, hasModel: false, calls: [data] }, exchanges: [] },
    });
  });

  it('of version 9 whose model was to answer ends with the result of its call', () => {
    const exchanges = [{ call: aCall(), result: 'paid' }];
    const before = { value: thinking, ...think, context: { run: requested, exchanges } };
    expect(migrateSnapshot(before, 9, argsDigest)).toStrictEqual({
      value: { working: { executing: 'recording' } },
      children: {},
      context: { run: { ...requested, hasModel: false }, exchanges },
    });
  });

  it('of version 10 has digests over tool and arguments, and a release keeps its binding', () => {
    const named = (tool: string, of: object) => `${tool} ${JSON.stringify(of)}`;
    const args = { order: 7 };
    const old = { ...aCall({ args }), callSha256: 'old' };
    const context = (call: object, deferral: object) => ({
      ...{
        exchanges: [{ call: aCall({ id: 'call-0', args: {}, argsSha256: 'a0' }), result: 'ok' }],
      },
      ...{ pending: [call], run: { ran: [{ tool: 'issue_refund', argsSha256: 'a0' }] } },
      held: { isReleased: true, deferral },
    });
    const before = context(old, { tool: 'issue_refund', args, argsSha256: 'other' });
    expect(migrateSnapshot({ ...idle, context: before }, 10, named)).toStrictEqual({
      ...idle,
      context: {
        exchanges: [
          { call: aCall({ id: 'call-0', args: {}, argsSha256: 'issue_refund {}' }), result: 'ok' },
        ],
        pending: [aCall({ args, argsSha256: 'old' })],
        run: { ran: [{ tool: 'issue_refund', argsSha256: 'issue_refund {}' }] },
        held: {
          isReleased: true,
          deferral: { tool: 'issue_refund', args, argsSha256: 'other' },
        },
      },
    });
  });

  it('of the present version stays as it is, whatever is in it', () => {
    const kept = { context: {} };
    expect(migrateSnapshot(kept, taskMachineVersion, argsDigest)).toBe(kept);
    expect(oldestTaskMachineVersion).toBe(2);
  });
});
