import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createActor, fromCallback, SimulatedClock } from 'xstate';
import {
  type BuilderTurnEvent,
  builderTurnMachine,
} from '../../../src/machines/skill-builder/builder-turn-machine.ts';

const skillMd = '---\nname: weather\ndescription: Tells it\n---\n';
const draft = { skill_md: skillMd, scripts: {} };
const written = `Here.\n\`\`\`skill.md\n${skillMd}\`\`\`\n`;

/** Plays a turn, in which numbers are milliseconds that pass, and returns what the client receives. */
function turn(...story: (string | number | BuilderTurnEvent)[]) {
  const told: unknown[] = [];
  let asked = 0;
  let isAsked = false;
  const clock = new SimulatedClock();
  const machine = builderTurnMachine.provide({
    actors: {
      converse: fromCallback(() => {
        asked += 1;
        isAsked = true;
        return () => {
          isAsked = false;
        };
      }),
    },
    actions: {
      tellToken: (_, { text }) => void told.push(['token', text]),
      tellMessage: (_, { content }) => void told.push(['message', content]),
      tellDraft: (_, answer) => void told.push(['draft', answer.draft]),
      tellDone: () => void told.push('done'),
      tellError: (_, { error }) => void told.push(['error', error]),
    },
  });
  const actor = createActor(machine, { clock }).start();
  for (const step of story) {
    if (typeof step === 'number') clock.increment(step);
    else actor.send(typeof step === 'string' ? { type: 'piece.heard', text: step } : step);
  }
  return { value: actor.getSnapshot().value, told, asked, isAsked };
}

const end = { type: 'model.finished' } as const;
const quiet = ['error', 'the model sent nothing for 60 seconds; try again'];

describe('a turn of the skill builder', () => {
  it('emits each piece, then the whole text', () => {
    expect(turn('Which ', 'city?', end)).toEqual({
      value: 'answered',
      told: [['token', 'Which '], ['token', 'city?'], ['message', 'Which city?'], 'done'],
      asked: 1,
      isAsked: false,
    });
  });

  it('emits a skill after the text', () => {
    expect(turn(written, end).told).toEqual([
      ['token', written],
      ['message', 'Here.'],
      ['draft', draft],
      'done',
    ]);
  });

  it('emits only its end when the model returns nothing', () => {
    expect(turn(end)).toMatchObject({ value: 'silent', told: ['done'] });
    expect(turn(' \n', end)).toMatchObject({ value: 'silent', told: [['token', ' \n'], 'done'] });
  });

  it('states after the text why files are refused', () => {
    const { value, told } = turn('Hi.\n```script: ../x\n:\n```', end);
    expect([value, told.slice(1)]).toEqual([
      'refused',
      [
        ['message', 'Hi.'],
        ['error', 'the answer has scripts and no SKILL.md; ask for the whole skill'],
      ],
    ]);
  });

  it('times out after 60 seconds without output, at the beginning or later', () => {
    expect(turn(59_999)).toMatchObject({ value: { open: 'asking' }, told: [], isAsked: true });
    expect(turn(60_000)).toMatchObject({ value: 'failed', told: [quiet], isAsked: false });
    const talking = turn(59_000, 'a', 59_000, 'b', 59_999);
    expect(talking).toMatchObject({ value: { open: 'streaming' }, asked: 1, isAsked: true });
    expect(turn('a', 59_000, 'b', 60_000)).toMatchObject({
      value: 'failed',
      told: [['token', 'a'], ['token', 'b'], quiet],
    });
  });

  it('times out for a model that sends pieces without end', () => {
    const drops = Array.from({ length: 12 }, () => [50_000, '.']).flat();
    const { value, told, isAsked } = turn(...drops);
    expect([value, told.at(-1), isAsked]).toEqual([
      'failed',
      ['error', 'the model did not finish within 10 minutes; request less'],
      false,
    ]);
  });

  it('stops a model at the size limit, and emits nothing beyond it', () => {
    const half = 'x'.repeat(600 * 1024);
    expect(turn(half, half, 'more', end)).toMatchObject({
      value: 'failed',
      told: [
        ['token', half],
        ['error', 'the answer is longer than 1 MiB; ask for less'],
      ],
      isAsked: false,
    });
  });

  it('reads one MiB, and not one character more', () => {
    const whole = 'x'.repeat(1_048_576);
    const { value, told } = turn(whole, end);
    expect([value, told.flat().map((word) => word === whole || word)]).toEqual([
      'answered',
      ['token', true, 'message', true, 'done'],
    ]);
    const more = turn(whole, 'x', end);
    expect([more.value, more.told.slice(1)]).toEqual([
      'failed',
      [['error', 'the answer is longer than 1 MiB; ask for less']],
    ]);
  });

  it('starts empty, and is open until it has ended', () => {
    const actor = createActor(builderTurnMachine).start();
    expect(actor.getSnapshot().context).toEqual({
      text: '',
      answer: { message: '', draft: null, problem: null },
      error: null,
    });
    expect(actor.getSnapshot().hasTag('open')).toBe(true);
    actor.send({ type: 'piece.heard', text: 'a' });
    expect(actor.getSnapshot().hasTag('open')).toBe(true);
    actor.send(end);
    expect(actor.getSnapshot().hasTag('open')).toBe(false);
  });

  it.each<[string, BuilderTurnEvent[]]>([
    ['answered', [{ type: 'piece.heard', text: 'a' }, end]],
    ['drafted', [{ type: 'piece.heard', text: written }, end]],
    ['silent', [end]],
    ['refused', [{ type: 'piece.heard', text: '```script: x\n```' }, end]],
    ['failed', [{ type: 'model.failed', message: 'no network' }]],
    ['left', [{ type: 'client.left' }]],
  ])('is over once it is %s', (value, events) => {
    const actor = createActor(builderTurnMachine).start();
    for (const event of events) actor.send(event);
    const { value: at, status } = actor.getSnapshot();
    expect([at, status]).toEqual([value, 'done']);
  });

  it('states why the model could not be asked', () => {
    expect(turn('a', { type: 'model.failed', message: 'no network' }, 'b', end)).toMatchObject({
      value: 'failed',
      told: [
        ['token', 'a'],
        ['error', 'no network'],
      ],
    });
  });

  it('stops asking when the client has disconnected', () => {
    expect(turn('a', { type: 'client.left' }, 'b', end)).toMatchObject({
      value: 'left',
      told: [['token', 'a']],
      isAsked: false,
    });
  });

  it('has the same result for any split of the answer', () => {
    const whole = `${written}\n\`\`\`script: a.sh\n:\n\`\`\`\n`;
    fc.assert(
      fc.property(fc.array(fc.nat({ max: whole.length }), { maxLength: 20 }), (cuts) => {
        const places = [0, ...cuts.toSorted((one, other) => one - other), whole.length];
        const pieces = places.slice(1).map((place, index) => whole.slice(places[index], place));
        const { told } = turn(...pieces, end);
        expect(told.slice(pieces.length)).toEqual(turn(whole, end).told.slice(1));
      }),
    );
  });
});
