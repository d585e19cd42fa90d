import { describe, expect, it } from 'vitest';
import type { GovernedSettings } from '../../helpers/governed-agent.ts';
import { expectOutcome, type Outcome, overTransports } from '../../helpers/governed-run.ts';
import { layersSay, running, thought } from '../../helpers/governed-words.ts';
import { startTestAgent } from '../../helpers/test-agent.ts';

const script = [{ tool: 'pay', args: { amount: 5 } }, { say: 'paid' }];
const tokens = { none: 'token-without-acr', silver: 'token-of-silver', gold: 'token-of-gold' };

/** Settings under which `pay` demands silver, with a caller for each level. */
function demanding(stepUp: object = {}): GovernedSettings {
  const provider = (name: keyof typeof tokens, claims: object) => ({
    type: 'static_token',
    name,
    settings: { token: tokens[name], identity: { user_id: name, claims } },
  });
  return {
    security: { step_up: { enabled: true, tools: { pay: 'silver' }, ...stepUp } },
    auth: {
      required: true,
      providers: [
        provider('none', {}),
        provider('silver', { acr: 'silver' }),
        provider('gold', { acr: 'gold' }),
      ],
    },
  };
}

const hierarchy = { acr_hierarchy: ['bronze', 'silver', 'gold'] };

/** What comes of a call whose caller has to come back. */
function challenged(reason: string, presented?: string, required_acr = 'silver'): Outcome {
  const fields = { tool: 'pay', required_acr, reason };
  const presented_acr = presented === undefined ? {} : { presented_acr: presented };
  return {
    state: 'failed',
    text: `step-up required for pay: needs acr "${required_acr}"; ${reason}`,
    stepUp: fields,
    events: [thought, ['auth_step_up_required', { ...fields, ...presented_acr }]],
    decisions: layersSay({ step_up: ['step_up', reason] }),
  };
}

function admitted(reason = 'acr is sufficient'): Outcome {
  return {
    state: 'completed',
    text: 'paid',
    events: [thought, ...running(), thought],
    decisions: layersSay({ step_up: ['allow', reason] }),
    ran: [['pay', { amount: 5 }]],
  };
}

const unlisted = { tools: { sign: 'silver' } };
const rows: [string, GovernedSettings, string, Outcome][] = [
  ['missing', demanding(), tokens.none, challenged('no acr claim presented')],
  [
    'another one without a hierarchy',
    demanding(),
    tokens.gold,
    challenged('acr "gold" does not satisfy "silver"', 'gold'),
  ],
  [
    'too low in the hierarchy',
    demanding({ ...hierarchy, tools: { pay: 'gold' } }),
    tokens.silver,
    challenged('acr "silver" does not satisfy "gold"', 'silver', 'gold'),
  ],
  ['the one that is demanded', demanding(), tokens.silver, admitted()],
  ['higher in the hierarchy', demanding(hierarchy), tokens.gold, admitted()],
];

/** Rows in which the transport makes no difference. */
const further: typeof rows = [
  [
    'not in the hierarchy',
    demanding({ acr_hierarchy: ['bronze', 'silver'] }),
    tokens.gold,
    challenged('acr "gold" does not satisfy "silver"', 'gold'),
  ],
  [
    'missing for a tool that demands none',
    demanding(unlisted),
    tokens.none,
    admitted('no assurance level is required'),
  ],
  [
    'missing while step-up is off',
    demanding({ enabled: false }),
    tokens.none,
    admitted('no assurance level is required'),
  ],
];

describe('the sign-in level of the caller', () => {
  it.each(overTransports(rows, further))(
    'over %s: %s',
    async (transport, _, settings, token, outcome) => {
      await expectOutcome(transport, { settings, token, script }, outcome);
    },
  );

  it('cannot be required without a provider: the agent does not start', async () => {
    const { security = {}, auth } = demanding();
    await expect(startTestAgent({ security })).rejects.toMatchObject({
      code: 'config_invalid',
      problems: [
        { path: 'security.step_up.enabled', message: expect.stringContaining('auth.providers') },
      ],
    });
    const open = { security, auth: { ...auth, required: false } };
    await expect(startTestAgent(open, { noAuth: true })).rejects.toMatchObject({
      code: 'cannot_start',
      message: expect.stringContaining('--no-auth makes step-up impossible'),
    });
  });
});
