import { describe, expect, it, vi } from 'vitest';
import { createActor, fromPromise, SimulatedClock } from 'xstate';
import {
  configMachine,
  type SaveOutcome,
} from '../../../../../src/ui/dashboard/views/config/config-machine.ts';
import { patient } from '../../../../helpers/patient.ts';

const read = { content: 'agent_id: a\n', etag: '"1"', path: '/agents/a/service.yaml' };
const valid = { valid: true, errors: [], warnings: [] };
const problem = { message: 'wrong', line: 1, column: 1, path: 'agent_id' };
const invalid = { valid: false, errors: [problem], warnings: [] };
const theirs = { error: 'It has changed.', content: 'agent_id: b\n', etag: '"2"' };

/** Starts an editor whose server saves as is said, one outcome for each save. */
function start(...outcomes: (SaveOutcome | Error)[]) {
  const saves: { text: string; etag: string }[] = [];
  const checks: string[] = [];
  const clock = new SimulatedClock();
  const actor = createActor(
    configMachine.provide({
      actors: {
        read: fromPromise(() => Promise.resolve(read)),
        check: fromPromise(({ input }) => {
          checks.push(input.text);
          return Promise.resolve(valid);
        }),
        save: fromPromise(({ input }) => {
          saves.push(input);
          const outcome = outcomes.shift() ?? new Error('unexpected');
          return outcome instanceof Error ? Promise.reject(outcome) : Promise.resolve(outcome);
        }),
      },
    }),
    { clock },
  ).start();
  const is = (value: object | string) =>
    vi.waitFor(() => expect(actor.getSnapshot().value).toEqual(value), patient);
  return { actor, clock, saves, checks, is, context: () => actor.getSnapshot().context };
}

describe('the chart of an edited configuration', () => {
  it('checks the text that was read, and typed text after a pause', async () => {
    const { actor, clock, checks, is } = start();
    await is({ editing: 'checked' });
    actor.send({ type: 'text.changed', text: 'a' });
    clock.increment(300);
    actor.send({ type: 'text.changed', text: 'ab' });
    clock.increment(300);
    await is({ editing: 'typing' });
    clock.increment(100);
    await is({ editing: 'checked' });
    expect(checks).toEqual([read.content, 'ab']);
  });

  it('saves over the file that was read, and only changes', async () => {
    const { actor, saves, is, context } = start({
      kind: 'saved',
      config: { ...read, content: 'x', etag: '"2"' },
    });
    await is({ editing: 'checked' });
    actor.send({ type: 'save.asked' });
    expect(saves).toEqual([]);
    actor.send({ type: 'text.changed', text: 'x' });
    actor.send({ type: 'save.asked' });
    await is({ editing: 'checked' });
    expect(saves).toEqual([{ text: 'x', etag: '"1"' }]);
    expect(context()).toMatchObject({ restart: true, saved: { content: 'x', etag: '"2"' } });
  });

  it('keeps the typed text when it is refused', async () => {
    const { actor, is, context } = start({ kind: 'invalid', check: invalid }, new Error('gone'));
    await is({ editing: 'checked' });
    actor.send({ type: 'text.changed', text: 'x' });
    actor.send({ type: 'save.asked' });
    await vi.waitFor(() => expect(context().check).toEqual(invalid), patient);
    actor.send({ type: 'save.asked' });
    await vi.waitFor(() => expect(context().problem).toBe('gone'), patient);
    expect(context()).toMatchObject({ text: 'x', saved: read, restart: false });
  });

  it.each([
    ['invalid', { kind: 'invalid', check: invalid } as const],
    ['failed', new Error('gone')],
  ])('checks text typed during a save that is %s', async (_, outcome) => {
    const { actor, clock, checks, is, context } = start(outcome);
    await is({ editing: 'checked' });
    actor.send({ type: 'text.changed', text: 'x' });
    actor.send({ type: 'save.asked' });
    actor.send({ type: 'text.changed', text: 'right' });
    await vi.waitUntil(() => !actor.getSnapshot().hasTag('busy'), patient);
    clock.increment(400);
    await is({ editing: 'checked' });
    expect(checks).toEqual([read.content, 'right']);
    expect(context()).toMatchObject({ text: 'right', check: valid, saved: read });
  });

  it('lets a person choose after a concurrent change', async () => {
    const outcomes: SaveOutcome[] = [
      { kind: 'changed', now: theirs },
      { kind: 'changed', now: { ...theirs, etag: '"3"' } },
    ];
    const { actor, saves, is, context } = start(...outcomes);
    await is({ editing: 'checked' });
    actor.send({ type: 'text.changed', text: 'x' });
    actor.send({ type: 'save.asked' });
    await is('conflicting');
    actor.send({ type: 'mine.kept' });
    expect(context()).toMatchObject({ text: 'x', theirs: null, saved: { etag: '"2"' } });
    actor.send({ type: 'save.asked' });
    await is('conflicting');
    actor.send({ type: 'theirs.taken' });
    expect(context()).toMatchObject({ text: theirs.content, theirs: null, saved: { etag: '"3"' } });
    expect(saves.map(({ etag }) => etag)).toEqual(['"1"', '"2"']);
  });
});
