import { describe, expect, it, onTestFinished } from 'vitest';
import { AgentFolder } from '../../helpers/agent-folder.ts';
import { keys, wireNames, wires } from '../../helpers/model-server.ts';
import { deferring, startInFolder, textOf } from '../../helpers/test-agent.ts';
import { startThinkingModel, toldBack } from '../../helpers/thinking-model.ts';

const ask = { task: { id: 't1', message: { parts: [{ kind: 'text', text: 'refund me' }] } } };

describe.each(wireNames)('a model that thinks and calls two tools over the wire of %s', (wire) => {
  it('receives its own turn unchanged, then both results, also after a restart during a hold', async () => {
    const { url, bodies } = await startThinkingModel(wire);
    const model = { name: 'gpt-5', ...wires[wire](url) };
    const folder = new AgentFolder({ ...deferring({}, { on_restart: 'resume' }), model });
    onTestFinished(() => folder.remove());
    const first = await startInFolder(folder, keys);
    const sent = first.post('/tasks/send', ask);
    await first.reached('t1', 'deferred');
    await first.stop();
    await sent;

    const second = await startInFolder(folder, keys);
    await second.decide('t1', { decision: 'approve', approver: 'ann@example.com' });
    const ended = await second.reached('t1', 'completed');

    expect(textOf({ body: ended })).toBe('It is paid.');
    expect(folder.paid).toHaveLength(1);
    expect(bodies).toHaveLength(2);
    const [key, told] = Object.entries(toldBack[wire])[0] as [string, object[]];
    const [asked, again] = bodies;
    expect(again[key].slice(0, asked[key].length)).toEqual(asked[key]);
    expect(again[key].slice(asked[key].length)).toEqual(told);
    if (wire !== 'openai responses') return;
    expect(again).toMatchObject({ store: false, include: ['reasoning.encrypted_content'] });
  });
});
