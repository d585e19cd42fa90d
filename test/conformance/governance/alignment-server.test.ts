import { LLMock } from '@copilotkit/aimock';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  type SeenRequest,
  startServer,
  vectorsBody,
} from '../../actors/governance/alignment/embedding-server.ts';
import { desertedUrl } from '../../helpers/deserted-url.ts';
import { expectOutcome, transports } from '../../helpers/governed-run.ts';
import { judged, layersSay, running, thought } from '../../helpers/governed-words.ts';
import {
  allowed,
  anyScore,
  enough,
  misfit,
  reasonOf,
  remote,
  script,
  startScores,
} from './alignment-story.ts';

const unavailable = misfit(
  null,
  'embedder unavailable',
  'denied by intent alignment: embedder unavailable',
);

describe.each(transports)('a server of embeddings, over %s:', (transport) => {
  it.each([
    [50, 'allow', 'score 0.50 meets the threshold 0.50'],
    [49, 'warn', 'score 0.49 is below the threshold 0.50'],
  ])('a score of %i hundredths by a server is a %s', async (amount, decision, reason) => {
    const server = await startScores();
    const args = { amount };
    await expectOutcome(
      transport,
      { settings: remote(server.address), script: [{ tool: 'pay', args }, { say: 'paid' }] },
      {
        ...allowed(judged(decision, expect.closeTo(amount / 100, 12), reason), reason),
        ran: [['pay', args]],
      },
    );
    expect(server.seen.map(({ url }) => url)).toEqual(['/v1/embeddings']);
  });

  it('a score below 0.3 by a server is a denial', async () => {
    const server = await startScores();
    const reason = 'score 0.29 is below the hard threshold 0.30';
    const settings = remote(server.address);
    const unfit = [{ tool: 'pay', args: { amount: 29 } }, { say: 'never' }];
    await expectOutcome(
      transport,
      { settings, script: unfit },
      misfit(expect.closeTo(0.29, 12), reason, `denied by intent alignment: ${reason}`),
    );
  });

  it('a server that is down leads to a denial', async () => {
    const settings = remote(desertedUrl, {
      threshold: -1,
      hard_threshold: -1,
      timeout: '200ms',
    });
    await expectOutcome(transport, { settings, script }, unavailable);
  });

  it('a server that times out leads to a denial', async () => {
    const server = await startServer(() => undefined);
    const settings = remote(server.address, { hard_threshold: -1, timeout: '500ms' });
    await expectOutcome(transport, { settings, script }, unavailable);
    expect(server.seen).toHaveLength(1);
  });
});

describe('an embedding server that', () => {
  it.each([
    ['refuses', 403, '{}'],
    ['answers without JSON', 200, 'vectors'],
    ['answers with one vector', 200, vectorsBody([[1, 0]])],
    [
      'answers with zero vectors',
      200,
      vectorsBody([
        [0, 0],
        [1, 0],
      ]),
    ],
  ])('%s leads to a denial', async (_, status, answer) => {
    const server = await startServer((_request, response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(answer),
    );
    // A hard threshold of -1 never denies by score.
    const settings = remote(server.address, { threshold: -1, hard_threshold: -1 });
    const agent = await expectOutcome('REST', { settings, script }, unavailable);
    expect(agent.log.map(({ level, message }) => [level, message])).toEqual([
      ['error', 'intent alignment: the embedder is unavailable'],
    ]);
  });
});

describe('the compared text', () => {
  it('is the message with the call, with the configured model and key', async () => {
    const server = await startScores();
    const settings = remote(server.address, { model: 'small', api_key_env: 'EMBED_KEY' });
    const args = { amount: 100 };
    await expectOutcome(
      'REST',
      {
        settings,
        env: { EMBED_KEY: 'sk-embed' },
        script: [{ tool: 'pay', args }, { say: 'paid' }],
      },
      {
        ...allowed(
          judged('allow', 1, 'score 1.00 meets the threshold 0.50'),
          'score 1.00 meets the threshold 0.50',
        ),
        ran: [['pay', args]],
      },
    );
    expect(server.seen.map(gistOf)).toEqual([
      {
        authorization: 'Bearer sk-embed',
        model: 'small',
        input: ['pay Maja five', 'pay: Does what pay does. {"amount":100}'],
      },
    ]);
  });

  it('may go to any server of the OpenAI wire', async () => {
    const mock = await LLMock.create({ host: '127.0.0.1', port: 0 });
    onTestFinished(() => mock.stop());
    const settings = remote(mock.url, { threshold: -1, hard_threshold: -1 });
    await expectOutcome(
      'REST',
      { settings, script },
      allowed(judged('allow', anyScore, reasonOf(enough)), reasonOf(enough)),
    );
  });
});

describe('drift', () => {
  it('is reported and decides nothing', async () => {
    const server = await startScores();
    const drift = { window: 3, drift_threshold: 0.1, monotone_n: 3 };
    const settings = remote(server.address, { threshold: 0, hard_threshold: -1, drift });
    const amounts = [90, 80, 70];
    const steps = amounts.map((amount) => ({ tool: 'pay', args: { amount } }));
    const reasonFor = (amount: number) => `score 0.${amount} meets the threshold 0.00`;
    const told = (amount: number) =>
      judged('allow', expect.closeTo(amount / 100, 12), reasonFor(amount));
    await expectOutcome(
      'REST',
      { settings, script: [...steps, { say: 'paid' }] },
      {
        state: 'completed',
        text: 'paid',
        events: [
          ...[90, 80].flatMap((amount) => [thought, told(amount), ...running()]),
          thought,
          told(70),
          ['intent_drift', { tool: 'pay', reason: 'the last 3 scores fell: 0.90, 0.80, 0.70' }],
          ...running(),
          thought,
        ],
        decisions: amounts.flatMap((amount, index) =>
          layersSay({ intent_alignment: ['allow', reasonFor(amount)] }, { call: index + 1 }),
        ),
        ran: amounts.map((amount) => ['pay', { amount }]),
      },
    );
  });
});

function gistOf({ headers, body }: SeenRequest): object {
  const { model, input } = body as { model: string; input: string[] };
  return { authorization: headers.authorization, model, input };
}
