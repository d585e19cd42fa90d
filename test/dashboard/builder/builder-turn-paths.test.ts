import { describe, expect, onTestFinished, vi } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import { runTurn } from '../../../src/dashboard/builder/run-turn.ts';
import { builderTurnMachine } from '../../../src/machines/skill-builder/builder-turn-machine.ts';
import { longestAnswer } from '../../../src/machines/skill-builder/written-skill.ts';
import { type Happenings, walkChart } from '../../helpers/chart-walk.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { patient } from '../../helpers/patient.ts';
import { type ModelAnswer, TalkingModel } from '../../helpers/talking-model.ts';
import { weather, writtenDown } from '../../helpers/weather-skill.ts';

/** A turn of a model with configured output, and what its client receives. */
async function openTurn() {
  const model = new TalkingModel();
  const { base_url: address } = await model.listen();
  onTestFinished(() => model.close());
  const clock = new ManualClock(0);
  const client = new AbortController();
  const told: string[] = [];
  const heard = { message: '', drafts: 0, ends: [] as (string | null)[] };
  const over = runTurn(
    {
      asked: {
        ...({ provider: 'openai-compatible', model: 'talking', address, api: 'chat' } as const),
        ...{ apiKey: null, organization: '' },
      },
      prompt: 'Write skills.',
      messages: [{ role: 'user', content: 'A skill, please.' }],
      clock,
      signal: client.signal,
    },
    {
      onToken: (text) => void told.push(text),
      onMessage: (content) => void (heard.message += content),
      onDraft: () => void (heard.drafts += 1),
      onEnd: (error) => void heard.ends.push(error),
    },
  );
  let asked: Promise<ModelAnswer> | null = null;
  const answer = () => (asked ??= model.next());
  let said = '';
  const say = async (text: string) => {
    (await answer()).say(text);
    said += text;
    await vi.waitFor(() => expect(told.join('')).toBe(said), { ...patient, interval: 1 });
  };
  /** The client has heard all there is, and the model is asked no further. */
  const isOver = async (expected: typeof heard) => {
    await over;
    expect(heard).toEqual(expected);
    await (await answer()).left;
  };
  const fails = (error: string) => isOver({ message: '', drafts: 0, ends: [error] });
  return {
    say,
    finish: async (): Promise<void> => {
      (await answer()).end();
      const message = said.replaceAll(/`{4}.*`{4}/gs, '').trim();
      const isSkill = said.includes(skill);
      const isRefused = said.includes(script) && !isSkill;
      const error = 'the answer has scripts and no SKILL.md; ask for the whole skill';
      await isOver({ message, drafts: Number(isSkill), ends: [isRefused ? error : null] });
    },
    sayTooMuch: async () => {
      (await answer()).say('x'.repeat(longestAnswer));
      (await answer()).say('x');
      await fails('the answer is longer than 1 MiB; ask for less');
    },
    breakOff: async () => {
      (await answer()).breakOff();
      await fails('the answer of openai-compatible talking broke off; try again');
    },
    leave: async () => {
      await answer();
      client.abort();
      await isOver({ message: '', drafts: 0, ends: [] });
    },
    beSilent: async () => {
      await answer();
      clock.advance(59_999);
      expect(heard.ends).toEqual([]);
      clock.advance(1);
      await fails('the model sent nothing for 60 seconds; try again');
    },
    trickle: async () => {
      for (let time = 0; time < 10; time += 1) {
        clock.advance(59_000);
        await say(' ');
      }
      clock.advance(10_000);
      await fails('the model did not finish within 10 minutes; request less');
    },
  };
}

type World = Awaited<ReturnType<typeof openTurn>>;

const skill = writtenDown(weather).slice('Here it is.\n\n'.length);
const script = '\n````script: pay.sh\necho paid\n````\n';
const pieces = [' ', 'What is it for?\n\n', skill, script];

/** A model that says this, once. */
const says = (text: string) => ({
  event: { type: 'piece.heard', text },
  in: ({ context }: AnyMachineSnapshot) => !context.text.includes(text),
  happen: (world: World) => world.say(text),
});

const happenings: Happenings<World> = {
  'the model begins to say something': {
    ...says(' '),
    in: (snapshot) => snapshot.matches({ open: 'asking' }),
  },
  'it asks back': says('What is it for?\n\n'),
  'it writes a skill': says(skill),
  'it writes a script': says(script),
  'it says too much': {
    event: { type: 'piece.heard', text: 'x'.repeat(longestAnswer + 1) },
    happen: (world) => world.sayTooMuch(),
  },
  'it has said all': { event: { type: 'model.finished' }, happen: (world) => world.finish() },
  'it breaks off': {
    event: { type: 'model.failed', message: 'it' },
    happen: (world) => world.breakOff(),
  },
  'it falls silent': {
    event: (snapshot) => ({
      type: `xstate.after.silence.builderTurn.open.${snapshot.value.open}`,
    }),
    happen: (world) => world.beSilent(),
  },
  'it comes to no end': {
    event: { type: 'xstate.after.turn.builderTurn.open' },
    in: (snapshot) => snapshot.matches({ open: 'streaming' }),
    happen: (world) => world.trickle(),
  },
  'the client leaves': { event: { type: 'client.left' }, happen: (world) => world.leave() },
};

describe('the shortest paths of a turn of the builder, with a model', () => {
  walkChart(builderTurnMachine, happenings, openTurn, {
    fingerprint: ({ context }) => pieces.filter((piece) => context.text.includes(piece)),
    passing: ['reading'],
  });
});
