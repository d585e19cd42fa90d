import { expect, it } from 'vitest';
import { BoundedNames } from '../../src/http/metrics/bounded-names.ts';
import { openRegistry } from '../../src/http/metrics/open-registry.ts';
import { everyPort } from '../helpers/registered-metrics.ts';
import { startTestAgent, type TestAgent } from '../helpers/test-agent.ts';

async function samplesOf(agent: TestAgent): Promise<string[]> {
  const { body } = await agent.get('/metrics');
  return String(body)
    .split('\n')
    .filter((line) => /^(holdpoint|gen_ai)_/.test(line));
}

/** The names of tools in the labels of all samples. */
async function toolsOf(agent: TestAgent): Promise<string[]> {
  const found = (await samplesOf(agent)).map(
    (line) => /[{,](?:gen_ai_tool_name|tool)="([^"]*)"/.exec(line)?.[1],
  );
  return [...new Set(found.filter((name) => name !== undefined))].toSorted();
}

it('metrics have no series for callers or models', async () => {
  const agent = await startTestAgent();
  const send = async (round: number) => {
    const ghosts = Array.from({ length: 20 }, (_, index) => ({ tool: `ghost-${round}-${index}` }));
    await agent.send(`t${round}`, [{ tool: 'echo' }, ...ghosts, { say: 'done' }]);
    await agent.rpc(`method/${round}`, {});
    await agent.get(`/path-${round}?x=${round}`);
    await agent.get(`/tasks/unknown-${round}`, { 'User-Agent': `agent-${round}` });
    await agent.request(`VERB${round}`, '/tasks');
    await agent.as(`token-${round}`).get('/tasks');
    await agent.post(`/hooks/dialect-${round}`, {});
    await agent.post('/a2a/message:send', { metadata: { model: `model-${round}` } });
    await agent.post('/v1/message:send', { provider: `provider-${round}` });
  };
  await send(0);
  await samplesOf(agent);
  const before = (await samplesOf(agent)).length;
  for (let round = 1; round < 8; round += 1) await send(round);
  expect((await samplesOf(agent)).length).toBe(before);
  expect(await toolsOf(agent)).toEqual(['echo', 'other']);
});

it('metrics count the tools of other programs by the entry of the gate', async () => {
  const agent = await startTestAgent({
    gate: { tools: { Bash: {}, 'mcp__*': {} }, unknown: 'deny' },
  });
  for (const tool of ['Bash', 'mcp__a', 'mcp__b', 'mcp__c', 'Unknown-1', 'Unknown-2']) {
    await agent.post('/holds', { key: tool, tool, args: {} });
  }
  expect(await toolsOf(agent)).toEqual(['Bash', 'mcp__*', 'other']);
});

it('metrics have a limited number of names', () => {
  const names = new BoundedNames(2);
  const found = ['a', 'b', 'c', 'a', 'x'.repeat(129)].map((name) => names.of(name));
  expect(found).toEqual(['a', 'b', 'other', 'a', 'other']);
});

it('metrics have a limited number of series, for any number of tools and kinds of failures', async () => {
  const registry = openRegistry(everyPort);
  for (let tool = 0; tool < 400; tool += 1) {
    for (let kind = 0; kind < 40; kind += 1) {
      const named = { tool: `tool-${tool}`, milliseconds: 1 };
      registry.observe({ type: 'call', ...named, error: `kind-${kind}` });
      registry.observe({
        ...{ type: 'model', provider: 'openai', model: `model-${tool}`, error: null },
        ...{ milliseconds: 1, inputTokens: 1, outputTokens: 1 },
      });
    }
    for (const decision of ['allow', 'deny', 'modify', 'step_up', 'defer'] as const) {
      for (const layer of ['modify', 'defer', 'assurance', 'output'] as const) {
        registry.observe({ type: 'ruling', tool: `tool-${tool}`, decision, layer });
      }
    }
  }
  const lines = (await registry.text()).split('\n');
  const seriesOf = (name: string) => lines.filter((line) => line.startsWith(`${name}{`)).length;
  expect(seriesOf('gen_ai_execute_tool_duration_seconds_count')).toBeLessThanOrEqual(321);
  expect(seriesOf('gen_ai_client_operation_duration_seconds_count')).toBe(51);
  expect(seriesOf('holdpoint_rulings_total')).toBeLessThanOrEqual(520);
  expect(lines.length).toBeLessThan(10_000);
});
