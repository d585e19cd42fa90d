import { describe, expect, it } from 'vitest';
import {
  expectOutcome,
  type Outcome,
  type Scenario,
  transports,
} from '../../helpers/governed-run.ts';
import { judged, layersSay, running, thought } from '../../helpers/governed-words.ts';
import { aligned, allowed, anyScore, enough, misfit, reasonOf, script } from './alignment-story.ts';

const low = 'is below the threshold 1.00';
const tooLow = 'is below the hard threshold 1.00';

const rows: [string, Scenario, Outcome][] = [
  [
    'a score that meets the threshold allows',
    { settings: aligned({ threshold: -1, hard_threshold: -1 }), script },
    allowed(judged('allow', anyScore, reasonOf(enough)), reasonOf(enough)),
  ],
  [
    'a score below the threshold warns and allows',
    { settings: aligned({ threshold: 1, hard_threshold: -1 }), script },
    allowed(judged('warn', anyScore, reasonOf(low)), reasonOf(low)),
  ],
  [
    'a score below the hard threshold denies',
    { settings: aligned({ threshold: 1, hard_threshold: 1 }), script },
    misfit(
      anyScore,
      reasonOf(tooLow),
      expect.stringMatching(
        /^denied by intent alignment: score \S+ is below the hard threshold 1\.00$/,
      ),
    ),
  ],
  [
    'a message without words denies',
    { settings: aligned({ threshold: -1, hard_threshold: -1 }), text: ' \n', script },
    misfit(
      null,
      'the first message has no text to compare with',
      'denied by intent alignment: the first message has no text to compare with',
    ),
  ],
  [
    'alignment that is switched off judges nothing',
    {
      settings: {
        security: {
          intent_alignment: { enabled: false, provider: 'local', threshold: 1, hard_threshold: 1 },
        },
      },
      script,
    },
    {
      state: 'completed',
      text: 'paid',
      events: [thought, ...running(), thought],
      decisions: layersSay({}),
      ran: [['pay', { amount: 5 }]],
    },
  ],
];

describe.each(transports)('intent alignment, over %s:', (transport) => {
  it.each(rows)('%s', async (_, scenario, outcome) => {
    await expectOutcome(transport, scenario, outcome);
  });
});
