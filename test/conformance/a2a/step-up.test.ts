import { beforeAll, describe, expect, it } from 'vitest';
import { launchAgent, type TestAgent } from '../../helpers/test-agent.ts';
import { ask, openStream, refusedAtDoor, wireSurfaces } from './wire-surfaces.ts';

let agent: TestAgent;

beforeAll(async () => {
  agent = await launchAgent({
    security: { step_up: { enabled: true, tools: { pay: 'high' } } } as object,
    auth: {
      required: true,
      providers: [
        {
          type: 'static_token',
          name: 'low',
          settings: {
            token: 'token-with-low-acr',
            identity: { user_id: 'low', claims: { acr: 'low' } },
          },
        },
      ],
    },
  });
  return () => agent.close();
});

const stepUp = { tool: 'pay', required_acr: 'high', reason: 'acr "low" does not satisfy "high"' };
const challenge = { error: 'step_up_required', ...stepUp };
const headers = { authorization: 'Bearer token-with-low-acr' };

describe.each(wireSurfaces)('a call that needs a step-up, over $name', (surface) => {
  const message = surface.playing([{ tool: 'pay' }, { say: 'paid' }]);

  it('is answered with a challenge', async () => {
    const answer = await ask(agent, surface, 'send', { message, headers });
    const { status, body } = answer;
    const header = answer.headers.get('www-authenticate');
    expect({ status, body, header }).toEqual(
      surface.isRpc
        ? {
            status: 200,
            body: {
              jsonrpc: '2.0',
              id: 1,
              error: { code: -32040, message: 'step_up_required', data: challenge },
            },
            header: null,
          }
        : {
            ...refusedAtDoor(surface, 401, challenge),
            header: 'Bearer error="step_up_required", acr_values="high"',
          },
    );
  });

  it('ends its stream with a failed status', async () => {
    const stream = await openStream(agent, surface, 'stream', { message, headers });
    const events = await stream.rest();
    const last = surface.resultOf(events.at(-1)?.data);
    const shown = last.task ?? last.statusUpdate ?? last;
    expect([shown.status.state, shown.metadata]).toEqual([
      surface.state('failed'),
      { step_up: stepUp },
    ]);
    expect(events.map(({ event }) => event)).not.toContain('error');
  });
});
