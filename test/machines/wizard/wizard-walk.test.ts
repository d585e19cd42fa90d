import fc from 'fast-check';
import { expect, it } from 'vitest';
import { getNextSnapshot, initialTransition } from 'xstate';
import { parse } from 'yaml';
import { channelSchemas, parseConfig } from '../../../src/actors/config/config.ts';
import { channelText, serviceText } from '../../../src/agent/create/service-text.ts';
import type { JsonObject } from '../../../src/machines/json.ts';
import {
  agentId,
  questions,
  settledAnswers,
  steps,
} from '../../../src/machines/wizard/agent-answers.ts';
import { agentPlan } from '../../../src/machines/wizard/agent-plan.ts';
import { type WizardEvent, wizardMachine } from '../../../src/machines/wizard/wizard-machine.ts';
import { isReachable, wrongAnswer } from '../../../src/machines/wizard/wrong-answers.ts';
import { runs } from '../../helpers/runs.ts';
import { anOffer, answersTo, someAnswers } from './some-answers.ts';

/** Reads what answers would be written as; nobody's environment fills anything in. */
function problemsOf(answers: Parameters<typeof agentPlan>[0]): string[] {
  const plan = agentPlan(answers);
  const keys = [...plan.variables.keys(), ...plan.missing].map((name) => [name, 'key']);
  const reading = parseConfig(serviceText(plan), {
    file: 'service.yaml',
    env: Object.fromEntries(keys),
  });
  const files = Object.entries(plan.channelFiles).flatMap(([name, content]) => {
    const schema = channelSchemas[name.replace('-config.yaml', '') as 'webhook'];
    const read = schema.safeParse(parse(channelText(name, content)));
    return read.success ? [] : [`${name}: ${read.error.message}`];
  });
  return [
    ...(reading.ok ? [] : reading.problems.map(({ message, path }) => `${path}: ${message}`)),
    ...files,
  ];
}

const edits = questions.map((step) =>
  answersTo[step].map((value) => ({ type: 'answer.edit', step, value }) as WizardEvent),
);
const moves = fc.constantFrom<WizardEvent>(
  { type: 'step.next' },
  { type: 'step.next' },
  { type: 'step.back' },
  { type: 'review.accept' },
  ...steps.map((step): WizardEvent => ({ type: 'step.go', step })),
);

it('the configuration accepts the answers at the end of any walk', () => {
  let ended = 0;
  fc.assert(
    fc.property(fc.array(fc.oneof(moves, ...edits), { maxLength: 60 }), (walk) => {
      let [snapshot] = initialTransition(wizardMachine, { offer: anOffer });
      const finish: WizardEvent[] = [
        { type: 'step.go', step: 'review' },
        { type: 'review.accept' },
      ];
      for (const event of [...walk, ...finish])
        snapshot = getNextSnapshot(wizardMachine, snapshot, event);
      expect(snapshot.status).not.toBe('error');
      if (snapshot.status !== 'done') return;
      ended += 1;
      expect(problemsOf(snapshot.output!)).toEqual([]);
    }),
    { numRuns: runs(1_000) },
  );
  expect(ended).toBeGreaterThan(0);
});

it('answers have no finding only if the configuration accepts them and reads back the typed text', () => {
  let right = 0;
  fc.assert(
    fc.property(someAnswers, (typed) => {
      if (!isReachable('review', typed, anOffer)) return;
      right += 1;
      const answers = settledAnswers(typed, anOffer);
      expect(problemsOf(answers)).toEqual([]);
      const { service } = agentPlan(answers);
      const read = parse(serviceText(agentPlan(answers))) as JsonObject;
      if (service !== null) expect(read).toEqual(service);
      expect(read['agent_id']).toBe(agentId(answers.name));
    }),
    { numRuns: runs(3_000) },
  );
  expect(right).toBeGreaterThan(runs(100));
});

it('findings contain no key, token or passphrase', () => {
  const secret = 'sk-CANARY \n';
  fc.assert(
    fc.property(someAnswers, (typed) => {
      const answers = {
        ...typed,
        model: { ...typed.model, key: secret },
        channels: { slack: { bot_token: secret, app_token: secret } },
        tools: { ...typed.tools, names: ['web_search'], key: secret },
        security: { variables: { SHOP_KEY: secret }, passphrase: secret },
      };
      for (const step of steps) {
        expect(wrongAnswer(step, answers, anOffer) ?? '').not.toContain('CANARY');
      }
    }),
  );
});
