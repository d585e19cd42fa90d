import { describe, expect, it, vi } from 'vitest';
import type { RemoteTask } from '../../../../src/machines/domain/task.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { patient } from '../../../helpers/patient.ts';
import { connect, connected, PuppetFolder } from './puppet.ts';
import { type Generation, RpcFailure, stateIn, taskServer } from './task-server.ts';

const generations: Generation[] = ['2025-11-25', '2026-07-28'];
const text = (value: string, more: object = {}) => ({
  content: [{ type: 'text', text: value }],
  ...more,
});

describe.each(generations)('a call that a server of %s continues as a task', (generation) => {
  const isModern = generation === '2026-07-28';
  /** The answer to `tasks/get` of a task that has ended. */
  const ended = (taskId: unknown, result: object) =>
    stateIn(generation, taskId, { status: 'completed', ...(isModern ? { result } : {}) });
  /** How the end of a task is asked for. */
  const end = isModern ? ['tasks/get'] : ['tasks/get', 'tasks/result'];

  it('has its result once the server reports the end, and its messages as progress', async () => {
    const result = text('built', { structuredContent: { parts: 3 } });
    let polls = 0;
    const { shop, about, asked } = await taskServer(generation, {
      'tasks/get': ({ taskId }) => {
        polls += 1;
        const statusMessage = `half of part ${polls}`;
        return polls < 3 ? stateIn(generation, taskId, { statusMessage }) : ended(taskId, result);
      },
      'tasks/result': () => result,
    });
    const { call, progress, extras, detached, warnings } = await connected(new PuppetFolder([]), [
      shop,
    ]);
    expect(await call('works__build', { parts: 3 })).toBe('built\n{"parts":3}');
    expect(about()).toEqual(['tasks/get', 'tasks/get', ...end]);
    expect(progress).toEqual([
      { progress: 1, message: 'half of part 1' },
      { progress: 2, message: 'half of part 2' },
    ]);
    expect(extras).toEqual([{ structured: { parts: 3 } }]);
    const place = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(detached).toEqual([{ id: 'w-1', place, since: expect.any(Number), ttl: 600_000 }]);
    expect(asked.filter(({ taskId }) => taskId !== undefined && taskId !== 'w-1')).toEqual([]);
    expect(warnings()).toEqual([]);
  });

  it('fails when its result has a number that would be rounded', async () => {
    const order = (JSON as unknown as { rawJSON: (text: string) => number }).rawJSON(
      '12345678901234567890',
    );
    const result = text('built', { structuredContent: { order } });
    const { shop } = await taskServer(generation, {
      'tasks/get': ({ taskId }) => ended(taskId, result),
      'tasks/result': () => result,
    });
    const { call } = await connected(new PuppetFolder([]), [shop]);
    expect(await call('works__build')).toMatch(/^error -32603: .*12345678901234567890/);
  });

  it("fails with the server's message", async () => {
    const error = { code: -32_050, message: 'no bricks' };
    const { shop } = await taskServer(generation, {
      'tasks/get': ({ taskId }) => stateIn(generation, taskId, { status: 'failed', error }),
      'tasks/result': () => {
        throw new RpcFailure(error.code, error.message);
      },
    });
    const { call } = await connected(new PuppetFolder([]), [shop]);
    expect(await call('works__build')).toBe('error -32050: works__build failed: no bricks');
  });

  it('shows no credential that its server quotes, and only the start of a long message', async () => {
    const error = { code: -32_050, message: 'no sesame-open' };
    const statusMessage = `sesame-open ${'x'.repeat(1_000_000)}`;
    let polls = 0;
    const { shop } = await taskServer(generation, {
      'tasks/get': ({ taskId }) => {
        polls += 1;
        const more = polls === 1 ? { statusMessage } : { status: 'failed', error };
        return stateIn(generation, taskId, more);
      },
      'tasks/result': () => {
        throw new RpcFailure(error.code, error.message);
      },
    });
    const headers = { authorization: 'Bearer sesame-open' };
    const { call, progress } = await connected(new PuppetFolder([]), [{ ...shop, headers }]);
    expect(await call('works__build')).toBe(
      'error -32050: works__build failed: no [redacted:credential]',
    );
    const [{ message }] = progress as [{ message: string }];
    expect([message.startsWith('[redacted:credential] xx'), message.length <= 300]).toEqual([
      true,
      true,
    ]);
  });

  it('is polled after a second at first, and twice a minute later, or less often if the server requests it', async () => {
    const clock = new ManualClock(600_000);
    const works = await taskServer(generation);
    const folder = new PuppetFolder([]);
    const { tried, follow, detached, call } = connect(folder, [works.shop], { clock });
    await tried();
    // After a minute the connection has no timer of its own before the next list.
    clock.advance(60_000);
    const next = (at: number) => vi.waitUntil(() => clock.nextAt === at, patient);
    const stop = new AbortController();
    const called = call('works__build', {}, stop.signal);
    await next(661_000);
    stop.abort();
    await called;
    const [remote] = detached as [RemoteTask];
    void follow('works__build', { ...remote, since: 60_000 });
    await next(690_000);
    const pace = { pollInterval: 120_000, pollIntervalMs: 120_000 };
    works.plays['tasks/get'] = ({ taskId }) => stateIn(generation, taskId, pace);
    clock.advance(30_000);
    await next(810_000);
    works.plays['tasks/get'] = ({ taskId }) =>
      stateIn(generation, taskId, { pollInterval: 1e9, pollIntervalMs: 1e9 });
    clock.advance(120_000);
    await next(1_110_000);
  });

  it.each([
    ['canceled', 'cancelled', 'canceled', 'its server canceled it; its outcome is unknown', []],
    [
      'without input',
      'input_required',
      'input refused',
      'its server asks for input, which the agent refuses',
      ['tasks/cancel'],
    ],
  ])('fails when it is %s', async (_, status, kind, why, then) => {
    const { shop, about } = await taskServer(generation, {
      'tasks/get': ({ taskId }) => stateIn(generation, taskId, { status, inputRequests: {} }),
    });
    const { call } = await connected(new PuppetFolder([]), [shop]);
    expect(await call('works__build')).toBe(`${kind}: works__build failed: ${why}`);
    expect(about()).toEqual(['tasks/get', ...then]);
  });

  it('is canceled at the server at its time limit, with any progress', async () => {
    const { shop, about } = await taskServer(generation);
    const limits = { timeout: 200, total: 1_500, connect: 10_000 };
    const { call } = await connected(new PuppetFolder([]), [shop], { limits });
    expect(await call('works__build')).toBe(
      'timeout: works__build took too long and was stopped; its outcome is unknown',
    );
    // A server that names no pause is asked once a second.
    expect(about()).toEqual(['tasks/get', 'tasks/cancel']);
  });

  it.each([true, false])(
    'is canceled at the server with its task, if that has ended (%s)',
    async (hasEnded) => {
      const { shop, about } = await taskServer(generation);
      const { call } = await connected(new PuppetFolder([]), [shop]);
      const stop = new AbortController();
      const called = call('works__build', {}, stop.signal, { hasEnded: async () => hasEnded });
      await vi.waitUntil(() => about().includes('tasks/get'), patient);
      stop.abort();
      expect(await called).toBe('stopped: works__build was stopped because its task was');
      expect(about().filter((method) => method !== 'tasks/get')).toEqual(
        hasEnded ? ['tasks/cancel'] : [],
      );
    },
  );

  it('is followed while its server is temporarily away', async () => {
    const works = await taskServer(generation, { 'tasks/result': () => text('built') });
    const { call } = await connected(new PuppetFolder([]), [works.shop]);
    const called = call('works__build');
    await vi.waitUntil(() => works.about().includes('tasks/get'), patient);
    works.turn(true);
    works.plays['tasks/get'] = ({ taskId }) => ended(taskId, text('built'));
    setTimeout(() => works.turn(false), 1_500);
    expect(await called).toBe('built');
    expect(works.asked.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
  });

  it.each<[string, (taskId: unknown) => object, string]>([
    [
      'another id',
      () => stateIn(generation, 'w-2'),
      'wrong task: works__build failed: its server answered with the task of another call; its outcome is unknown',
    ],
    [
      'an invalid state',
      (taskId) => stateIn(generation, taskId, { status: 'resting' }),
      'failed: works__build failed: its server does not follow MCP (status of its answer is not what MCP has there)',
    ],
    [
      'no state',
      () => ({}),
      'failed: works__build failed: its server does not follow MCP (taskId of its answer is not what MCP has there)',
    ],
    [
      'an error',
      () => {
        throw new RpcFailure(-32602, 'no such task');
      },
      'error -32602: works__build failed: its server no longer has its task (no such task); its outcome is unknown',
    ],
  ])('fails alone when the server has %s for it', async (_, get, outcome) => {
    const { shop } = await taskServer(generation, { 'tasks/get': ({ taskId }) => get(taskId) });
    const { call } = await connected(new PuppetFolder([]), [shop]);
    expect(await call('works__build')).toBe(outcome);
  });

  it('fails alone when the id of its task is too long', async () => {
    const task = stateIn(generation, 'w'.repeat(1024 * 1024));
    const answer = isModern ? { resultType: 'task', ...task } : { task };
    const { shop, about } = await taskServer(generation, { 'tools/call': () => answer });
    const { call, detached } = await connected(new PuppetFolder([]), [shop]);
    expect(await call('works__build')).toBe(
      'failed: works__build failed: its server does not follow MCP (taskId of its answer is not what MCP has there)',
    );
    expect([about(), detached]).toEqual([[], []]);
  });

  it('does not get the task of another running call', async () => {
    const { shop, about } = await taskServer(generation);
    const { call } = await connected(new PuppetFolder([]), [shop]);
    const stop = new AbortController();
    const first = call('works__build', {}, stop.signal);
    await vi.waitUntil(() => about().includes('tasks/get'), patient);
    expect(await call('works__build')).toBe(
      'wrong task: works__build failed: its server answered with the task of another call; its outcome is unknown',
    );
    expect(about()).not.toContain('tasks/cancel');
    stop.abort();
    expect(await first).toContain('was stopped');
  });

  it('fails alone when its result is invalid', async () => {
    const { shop } = await taskServer(generation, {
      'tasks/get': ({ taskId }) =>
        stateIn(generation, taskId, { status: 'completed', ...(isModern ? { result: 7 } : {}) }),
      'tasks/result': () => ({ content: 'just text', isError: true }),
    });
    const { call } = await connected(new PuppetFolder([]), [shop]);
    expect(await call('works__build')).toBe(
      isModern
        ? 'failed: works__build failed: its server does not follow MCP'
        : 'failed: works__build failed: just text',
    );
  });

  it('is followed after the next start, at the same server only, for the rest of its time', async () => {
    const { shop, plays } = await taskServer(generation, {
      'tasks/get': ({ taskId }) => ended(taskId, text(`built ${taskId}`)),
      'tasks/result': ({ taskId }) => text(`built ${taskId}`),
    });
    const other = await taskServer(generation);
    const folder = new PuppetFolder([]);
    const first = await connected(folder, [shop]);
    expect(await first.call('works__build')).toBe('built w-1');
    const remote = { ...(first.detached[0] as RemoteTask), id: 'w-7' };
    await first.stop();
    const next = await connected(folder, [shop]);
    expect(await next.follow('works__build', remote)).toBe('built w-7');
    // A tool that is gone has a result all the same.
    expect(await next.follow('works__gone', remote)).toBe('built w-7');
    delete plays['tasks/get'];
    expect(await next.follow('works__build', { ...remote, since: remote.since - 86_400_001 })).toBe(
      'timeout: works__build took too long and was stopped; its outcome is unknown',
    );
    const moved =
      'server changed: works__build had started at another server than the one that is configured now; its outcome is unknown';
    const { follow } = await connected(new PuppetFolder([]), [other.shop]);
    expect(await follow('works__build', remote)).toBe(moved);
    const { follow: without } = await connected(new PuppetFolder([]), [{ ...shop, name: 'shop' }]);
    expect(await without('works__build', remote)).toBe(moved);
    expect(other.about()).toEqual([]);
  });
});

it('a call of a tool without tasks is made without one', async () => {
  const { shop, asked } = await taskServer('2025-11-25', { 'tools/call': () => text('seen') });
  const { call } = await connected(new PuppetFolder([]), [shop]);
  expect(await call('works__look')).toBe('seen');
  expect(asked.at(-1)?.params).not.toHaveProperty('task');
});

it('an unrequested task of a server of 2025 is no result', async () => {
  const task = stateIn('2025-11-25', 'w-1');
  const { shop, about } = await taskServer('2025-11-25', { 'tools/call': () => ({ task }) });
  const { call } = await connected(new PuppetFolder([]), [shop]);
  expect(await call('works__look')).toBe('');
  expect(about()).toEqual([]);
});

it.each([true, false])(
  'a task whose server requests input and sends neither a question nor a result is canceled with its call (late: %s)',
  async (isLate) => {
    const { shop, about } = await taskServer('2025-11-25', {
      'tasks/get': ({ taskId }) => stateIn('2025-11-25', taskId, { status: 'input_required' }),
      'tasks/result': () => new Promise(() => undefined),
    });
    const limits = { timeout: 200, total: isLate ? 1_500 : 60_000, connect: 10_000 };
    const { call } = await connected(new PuppetFolder([]), [{ ...shop, elicitation: 'ask' }], {
      limits,
    });
    const stop = new AbortController();
    const called = call('works__build', {}, stop.signal);
    await vi.waitUntil(() => about().includes('tasks/result'), patient);
    if (!isLate) stop.abort();
    expect(await called).toBe(
      isLate
        ? 'timeout: works__build took too long and was stopped; its outcome is unknown'
        : 'stopped: works__build was stopped because its task was',
    );
    expect(about()).toEqual(['tasks/get', 'tasks/result', 'tasks/cancel']);
  },
);
