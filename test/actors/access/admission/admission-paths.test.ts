import type { ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, vi } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import { Admission } from '../../../../src/actors/access/admission/admission.ts';
import { admissionMachine } from '../../../../src/machines/admission/admission-machine.ts';
import { type Happenings, walkChart } from '../../../helpers/chart-walk.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { patient } from '../../../helpers/patient.ts';
import { denial, says, startFakePlatform } from './fake-platform.ts';

/** An agent's admission with a platform that answers when a test lets it. */
async function openAdmission() {
  const platform = await startFakePlatform();
  const calls: ServerResponse[] = [];
  platform.reply = (response) => void calls.push(response);
  const clock = new ManualClock(0);
  const quiet = () => undefined;
  const admission = new Admission({
    settings: platform.settings(),
    agentId: 'till',
    clock,
    log: { info: quiet, warn: quiet, error: quiet },
  });
  onTestFinished(() => admission.stop());
  const verdicts: unknown[] = [];
  let asked = 0;
  return {
    clock,
    ask: () => {
      asked += 1;
      void admission.check().then(({ decision, fallback }) => verdicts.push([decision, fallback]));
    },
    /** Answers the one call that is under way, after which everybody who asked has that verdict. */
    answer: async (document: object, verdict: [decision: string, fallback: boolean]) => {
      await vi.waitFor(() => expect(calls).toHaveLength(1), patient);
      for (const call of calls.splice(0)) says(document)(call);
      await vi.waitFor(() => expect(verdicts).toEqual(Array(asked).fill(verdict)), patient);
    },
  };
}

type World = Awaited<ReturnType<typeof openAdmission>>;

const isChecking = (snapshot: AnyMachineSnapshot) => snapshot.matches('checking');
const answered = 'xstate.done.actor.0.admission.checking';

const happenings: Happenings<World> = {
  'a request asks': { event: { type: 'admission.ask' }, happen: (world) => world.ask() },
  'the platform admits': {
    event: { type: answered, output: { decision: 'admit' } },
    in: isChecking,
    happen: (world) => world.answer({ decision: 'admit' }, ['admit', false]),
  },
  'the platform denies': {
    event: { type: answered, output: { decision: 'deny' } },
    in: isChecking,
    happen: (world) => world.answer(denial, ['deny', false]),
  },
  'the platform answers nonsense': {
    event: { type: 'xstate.error.actor.0.admission.checking', error: new Error('it') },
    in: isChecking,
    happen: (world) => world.answer({}, ['admit', true]),
  },
  'the window ends': {
    event: { type: 'xstate.after.window.admission.known' },
    in: (snapshot) => snapshot.matches('known'),
    happen: ({ clock }) => clock.advance(5_000),
  },
};

describe('the shortest paths of admission against a platform', () => {
  walkChart(admissionMachine, happenings, openAdmission);
});
