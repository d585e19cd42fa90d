import { expect, it } from 'vitest';
import {
  chatEvent,
  keys,
  startModelServer,
  startRawModel,
  wireNames,
  wires,
} from '../../helpers/model-server.ts';
import { startTestAgent, textOf } from '../../helpers/test-agent.ts';

const ask = (id: string, text: string) => ({
  task: { id, message: { parts: [{ kind: 'text', text }] } },
});

/** The mock says nothing of the kind on the wire of responses. */
const sayingSo = wireNames.filter((name) => name !== 'openai responses');

it.each(sayingSo)('a cut answer is reported, and none of its calls runs (%s)', async (wire) => {
  const mock = await startModelServer();
  const agent = await startTestAgent(
    { model: { name: 'm', ...wires[wire](mock.url) } },
    { env: keys },
  );
  const toolCalls = [{ name: 'pay', arguments: '{"amount":1}' }];
  mock.on({ userMessage: 'write' }, { content: 'Do NOT pay. Except', finishReason: 'length' });
  mock.on({ userMessage: 'pay', sequenceIndex: 0 }, { toolCalls, finishReason: 'length' });
  mock.on({ userMessage: 'pay', sequenceIndex: 1 }, { content: 'I ask for less.' });
  const cut = await agent.post('/tasks/send', ask('t1', 'write'));
  expect([cut.body.status.state, textOf(cut), cut.body.metadata]).toEqual([
    'completed',
    'Do NOT pay. Except',
    { cut: 'length' },
  ]);
  const reasons = (id: string) =>
    agent
      .audit(id)
      .flatMap(({ event, fields }) =>
        event === 'llm_call' ? [fields?.['finish_reason'] as unknown] : [],
      );
  expect(reasons('t1')).toEqual(['length']);
  const whole = await agent.post('/tasks/send', ask('t2', 'pay'));
  expect([textOf(whole), whole.body.metadata]).toEqual(['I ask for less.', undefined]);
  expect(agent.folder.paid).toEqual([]);
  expect(reasons('t2')).toEqual(['length', 'stop']);
  const told = JSON.stringify(mock.getRequests().at(-1)?.body);
  expect(told).toContain(
    "pay was not run, since the model's answer was cut off by its limit of length; request less at once",
  );
});

it('arguments that are an object are read unchanged', async () => {
  let asked = 0;
  const url = await startRawModel((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    asked += 1;
    const called = { name: 'pay', arguments: { amount: 5, to: 'é' } };
    const call = { index: 0, id: 'c1', type: 'function', function: called };
    const event = Buffer.from(
      asked === 1
        ? `${chatEvent({ tool_calls: [call] })}${chatEvent({}, 'tool_calls')}data: [DONE]\n\n`
        : `${chatEvent({ content: 'Paid.' })}${chatEvent({}, 'stop')}data: [DONE]\n\n`,
    );
    const middle = event.indexOf('\u00e9') + 1;
    response.write(event.subarray(0, middle));
    setImmediate(() => response.end(event.subarray(middle)));
  });
  const model = { name: 'm', ...wires['openai-compatible'](url) };
  const agent = await startTestAgent({ model }, { env: keys });
  expect(textOf(await agent.post('/tasks/send', ask('t1', 'pay')))).toBe('Paid.');
  expect(agent.folder.paid).toHaveLength(1);
  const { fields } = agent.audit('t1').find(({ event }) => event === 'tool_exec') ?? {};
  expect(fields?.['args_size']).toBe(Buffer.byteLength('{"amount":5,"to":"é"}'));
});
