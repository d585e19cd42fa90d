import { expect, it } from 'vitest';
import { LineError } from '../../../src/actors/workspace/agent-line.ts';
import { Pulse } from '../../../src/actors/workspace/pulse.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';

/** A pulse whose agent answers when the test lets it. */
function asked() {
  const answers: PromiseWithResolvers<{ status: number; body: unknown }>[] = [];
  const clock = new ManualClock(1_000);
  const told: (number | null)[] = [];
  const pulse: Pulse = new Pulse({
    clock,
    line: {
      json() {
        const answer = Promise.withResolvers<{ status: number; body: unknown }>();
        answers.push(answer);
        return answer.promise;
      },
    },
    onChange: () => void told.push(pulse.since),
  });
  return { pulse, clock, told, answers };
}

const late = new LineError('slow', 'the agent did not respond in time');

it('an unreachable agent is reported with the time, and reported again when it is back', async () => {
  const { pulse, clock, told, answers } = asked();
  const first = pulse.check();
  await pulse.check();
  expect(answers).toHaveLength(1);
  clock.advance(3_000);
  answers[0]?.reject(late);
  await first;
  const second = pulse.check();
  answers[1]?.reject(late);
  await second;
  const third = pulse.check();
  answers[2]?.resolve({ status: 200, body: {} });
  await third;
  expect(told).toEqual([1_000, null]);
});

it('invalid answers are ignored, and a closed pulse asks nothing more', async () => {
  const { pulse, told, answers } = asked();
  const first = pulse.check();
  answers[0]?.reject(new LineError('senseless', 'the answer of the agent is not JSON'));
  await first;
  const second = pulse.check();
  pulse.close();
  answers[1]?.reject(late);
  await second;
  expect(told).toEqual([]);
});
