import { expect, it } from 'vitest';
import { serviceSchema } from '../../../src/actors/config/service-schema.ts';
import { checkModel } from '../../../src/cli/doctor/check-model.ts';
import { canaryKey, keys, startRawModel, wireNames, wires } from '../../helpers/model-server.ts';

/** What the check says of models at a server that answers so. */
async function checked(model: object) {
  const parsed = serviceSchema.parse({ agent_id: 'x', model });
  const env = { ...keys, MODEL_KEY: canaryKey };
  const all = [parsed.model, ...parsed.model.fallbacks];
  return checkModel(
    parsed,
    all.map((configured) => ({ configured, env })),
  );
}

it('doctor sends no request for a scripted model, nor with an invalid service.yaml', async () => {
  expect([await checked({}), await checkModel(null, [])]).toEqual([
    { status: 'pass', message: 'the model is scripted, so no provider is asked' },
    { status: 'warn', message: 'no model is asked, since service.yaml is not valid' },
  ]);
});

it.each(wireNames)(
  'doctor finds a model over the wire of %s, and reports a missing one',
  async (wire) => {
    const asked: string[] = [];
    const url = await startRawModel((response, { url: path = '', headers }) => {
      const key = headers.authorization ?? headers['x-api-key'] ?? headers['x-goog-api-key'];
      asked.push(`${path} ${key === undefined ? 'without a key' : 'with a key'}`);
      response.statusCode = path.endsWith('/models/gone') ? 404 : 200;
      response.end(JSON.stringify({ data: [{ id: 'there' }, { id: 'tagged:latest' }] }));
    });
    const model = wires[wire](url);
    const { provider } = model;
    expect(await checked({ name: 'there', ...model })).toEqual({
      status: 'pass',
      message: `${provider} knows there`,
    });
    expect(await checked({ name: 'gone', ...model })).toEqual({
      status: 'fail',
      message: `${provider} at ${url} does not know the model gone`,
      fix: provider === 'ollama' ? 'ollama pull gone' : 'fix model.name in service.yaml',
    });
    expect(asked).toHaveLength(2);
  },
);

it('doctor reports a refused key, without its value', async () => {
  const url = await startRawModel((response) => {
    response.statusCode = 401;
    response.end(canaryKey);
  });
  const finding = await checked({ name: 'm', ...wires.anthropic(url) });
  expect(finding).toEqual({
    status: 'fail',
    message: `anthropic at ${url} refuses the key in ANTHROPIC_API_KEY (401)`,
    fix: 'set ANTHROPIC_API_KEY',
  });
});

it('doctor treats an endless list as no answer, and accepts a server without a list', async () => {
  const endless = await startRawModel((response) => {
    const more = (): void =>
      void (response.write('x'.repeat(65_536)) ? setImmediate(more) : response.once('drain', more));
    more();
  });
  const silent = await startRawModel((response) => {
    response.statusCode = 404;
    response.end();
  });
  const compatible = wires['openai-compatible'];
  expect([
    await checked({ name: 'm', ...compatible(endless) }),
    await checked({ name: 'm', ...compatible(silent) }),
  ]).toEqual([
    {
      status: 'fail',
      message: `openai-compatible at ${endless} could not be reached`,
      fix: 'check model.base_url and the network',
    },
    {
      status: 'warn',
      message: `openai-compatible at ${silent} answers, and does not report whether m exists`,
    },
  ]);
});
