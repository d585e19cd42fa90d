import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { getInitialSnapshot, type SnapshotFrom, transition } from 'xstate';
import {
  type BuilderEvent,
  builderMachine,
  isUnsaved,
  type SaveOutcome,
} from '../../../../../src/ui/dashboard/views/skill-builder/builder-machine.ts';
import { compareFiles } from '../../../../../src/ui/dashboard/views/skill-builder/compare-files.ts';
import {
  messagesOf,
  spokenPart,
} from '../../../../../src/ui/dashboard/views/skill-builder/said-turns.ts';

type Snapshot = SnapshotFrom<typeof builderMachine>;

const draft = { skill_md: 'new', scripts: { 'a.sh': '1' } };
const disk = { skill_md: 'old', scripts: {}, format: 'subdir' as const, etag: '"1"' };
const edited = { name: 'weather', skill: disk };
const right = { valid: true, errors: [], warnings: [] };
const wrong = {
  ...{ valid: false, warnings: [] },
  errors: [{ rule: 'name_present', message: 'no name', file: null, line: 1, column: 1 }],
};
const result = {
  ...{ name: 'weather', path: 'skills/weather/SKILL.md', egress_added: [], held_added: [] },
  ...{ env_configured: [], env_missing: [] },
};

const done = (state: string, output: unknown) =>
  ({ type: `xstate.done.actor.0.skillBuilder.skill.${state}`, output }) as unknown as BuilderEvent;
const checked = (check: object) => done('checking', check);
const saved = (outcome: SaveOutcome) => done('saving', outcome);

const written: BuilderEvent = { type: 'draft.heard', draft };
const save: BuilderEvent = { type: 'save.asked', env: {} };
const say: BuilderEvent = { type: 'message.sent', text: 'Hi' };
const token: BuilderEvent = { type: 'token.heard', text: 'Hel' };

function after(...events: BuilderEvent[]): Snapshot {
  return events.reduce<Snapshot>(
    (snapshot, event) => transition(builderMachine, snapshot, event)[0],
    getInitialSnapshot(builderMachine),
  );
}

describe('the conversation of the builder', () => {
  it('keeps the messages, whole for the model and without files for its reader', () => {
    const { value, context } = after(
      say,
      token,
      { type: 'message.heard', content: 'Hello' },
      { type: 'stream.ended', problem: null },
    );
    expect([value.talk, context.turns]).toEqual([
      'quiet',
      [
        { role: 'user', text: 'Hi', shown: 'Hi' },
        { role: 'assistant', text: 'Hel', shown: 'Hello' },
      ],
    ]);
  });

  it('keeps the received part of an answer that was stopped or failed, and accepts no message before', () => {
    expect(after(say, say).context.turns).toHaveLength(1);
    expect(after(say, token, { type: 'answer.stopped' }).context.turns).toHaveLength(2);
    const failed = after(say, token, { type: 'stream.ended', problem: 'no network' });
    expect([failed.context.turns.length, failed.context.talkProblem]).toEqual([2, 'no network']);
  });

  it('sends only as much as one request allows, the latest last', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 400_000 }), { maxLength: 150 }), (lengths) => {
        const turns = lengths.map((length, index) => {
          const text = `${index}`.padEnd(length, 'x');
          return { role: 'user' as const, text, shown: '' };
        });
        const messages = messagesOf(turns);
        expect(messages.length).toBeLessThanOrEqual(100);
        const sum = messages.reduce((all, { content }) => all + content.length, 0);
        expect(sum).toBeLessThanOrEqual(900_000);
        if (turns.length > 0) expect(messages.at(-1)?.content).toBe(turns.at(-1)?.text);
      }),
      { numRuns: 20 },
    );
  });

  it('shows the words before the first file, and the file being written', () => {
    expect(spokenPart('Here.\n\n````skill.md\n---\n````\n```bash script: a.sh\n')).toEqual({
      words: 'Here.',
      writes: 'a.sh',
    });
    expect(spokenPart('Here.\n```skill.md\n---')).toEqual({ words: 'Here.', writes: 'SKILL.md' });
    expect(spokenPart('Run ```sh')).toEqual({ words: 'Run ```sh', writes: null });
  });
});

describe('the skill of the builder', () => {
  it('is saved only after a successful check', () => {
    expect(after(save).value.skill).toBe('empty');
    expect(after(written, save).value.skill).toBe('checking');
    expect(after(written, checked(wrong), save).value.skill).toBe('checked');
    expect(after(written, checked(right), save).value.skill).toBe('saving');
  });

  it('is not changed by the model during a save', () => {
    const other: BuilderEvent = { type: 'draft.heard', draft: { skill_md: 'other', scripts: {} } };
    const { value, context } = after(written, checked(right), save, other);
    expect([value.skill, context.draft]).toEqual(['saving', draft]);
  });

  it('is the edited one from its save on', () => {
    const outcome: SaveOutcome = { kind: 'saved', result, edited };
    const { value, context } = after(written, checked(right), save, saved(outcome));
    expect([value.skill, context.editing, context.result]).toEqual(['saved', edited, result]);
    const next = after(written, checked(right), save, saved(outcome), written);
    expect([next.value.skill, next.context.result]).toEqual(['checking', null]);
  });

  it('is compared with the stored one when that has changed', () => {
    const now = { error: 'changed', name: 'climate', skill: { ...disk, etag: '"2"' } };
    const story = [
      { type: 'skill.chosen', edited } as const,
      checked(right),
      save,
      saved({ kind: 'taken', now }),
    ];
    expect(after(...story).value.skill).toBe('checked');
    const compared = after(...story, { type: 'theirs.compared' });
    expect([compared.value.skill, compared.context.editing]).toEqual([
      'checking',
      { name: 'climate', skill: now.skill },
    ]);
  });

  it('is shown next to the version that was read until its save', () => {
    const toggle: BuilderEvent = { type: 'changes.toggled' };
    const chosen = { type: 'skill.chosen', edited } as const;
    const shown = (...events: BuilderEvent[]) => after(...events).context.compares;
    expect(shown(chosen, toggle)).toBe(true);
    expect(shown(chosen, toggle, toggle)).toBe(false);
    expect(shown(chosen, toggle, written)).toBe(true);
    expect(shown(chosen, toggle, chosen)).toBe(false);
    const outcome: SaveOutcome = { kind: 'saved', result, edited };
    expect(shown(chosen, toggle, checked(right), save, saved(outcome))).toBe(false);
    const taken = (skill: typeof disk | null): SaveOutcome => {
      return { kind: 'taken', now: { error: 'changed', name: 'weather', skill } };
    };
    const story = [chosen, checked(right), save];
    expect(shown(...story, saved(taken(disk)), { type: 'theirs.compared' })).toBe(true);
    expect(shown(...story, saved(taken(null)), { type: 'theirs.compared' })).toBe(false);
  });

  it('is lost by a user who leaves between a change and its save', () => {
    const lost = (...events: BuilderEvent[]) => isUnsaved(after(...events).context);
    const chosen = { type: 'skill.chosen', edited } as const;
    const outcome: SaveOutcome = { kind: 'saved', result, edited };
    expect(lost()).toBe(false);
    expect(lost(written)).toBe(true);
    expect(lost(chosen)).toBe(false);
    expect(lost(chosen, written)).toBe(true);
    expect(lost(written, checked(right), save, saved(outcome))).toBe(false);
    expect(lost(written, { type: 'builder.reset' })).toBe(false);
  });

  it('and all else are dropped for a new one', () => {
    const begun = after(say, written, { type: 'builder.reset' });
    expect(begun.value).toEqual({ talk: 'quiet', skill: 'empty' });
    expect(begun.context).toEqual(getInitialSnapshot(builderMachine).context);
  });
});

describe('the files of two sides', () => {
  it('are marked where only one side has them', () => {
    const before = { skill_md: 'a', scripts: { 'kept.sh': '1', 'old.sh': '2' } };
    const now = { skill_md: 'b', scripts: { 'kept.sh': '1', 'new.sh': '3' } };
    expect(compareFiles(before, now).map(({ name, tag }) => [name, tag])).toEqual([
      ['SKILL.md', 'changed'],
      ['kept.sh', null],
      ['new.sh', 'new'],
      ['old.sh', 'removed'],
    ]);
    expect(compareFiles(null, now).every(({ tag }) => tag === null)).toBe(true);
  });
});

describe('the tools that a skill wants held', () => {
  it('are held, unless a person deselects them for exactly this text', () => {
    const looked = after(written, checked(right));
    expect(looked.context.hold).toBe(true);
    const toggle: BuilderEvent = { type: 'hold.toggled' };
    const left = after(written, checked(right), toggle);
    expect(left.context.hold).toBe(false);
    const [, [saving]] = transition(builderMachine, left, save);
    expect(saving).toMatchObject({ params: { src: 'save', input: { hold: false } } });
    expect(after(written, checked(right), toggle, toggle).context.hold).toBe(true);
    expect(after(written, checked(right), toggle, written).context.hold).toBe(true);
    // What is being saved is what was looked at.
    expect(after(written, checked(right), save).can(toggle)).toBe(false);
  });
});
