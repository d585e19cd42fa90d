import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { formatProblem } from '../../../src/actors/config/config.ts';
import { SeenTools } from '../../../src/actors/tools/mcp/seen-tools.ts';
import { readAgent } from '../../../src/agent/start/read-agent.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

/** Reads a gateway with the tool find_order of shop, and the server crm, which was never reached. */
async function readingOf(view: string) {
  const directory = temporaryFolder();
  const definition = { description: '', parameters: {}, sha256: 'a' };
  new SeenTools(directory).check('shop', [{ name: 'find_order', ...definition }], () => false);
  const servers = ['shop', 'crm'].map(
    (name) => `    - {name: ${name}, url: "https://${name}.example/mcp", tools: {deny: []}}\n`,
  );
  const auth = 'auth: {providers: [{type: http_verifier, settings: {url: "https://a.example"}}]}\n';
  const text = `agent_id: x\n${auth}gate: {}\nserver: {mcp: true}\nmcp:\n  servers:\n${servers.join('')}  views:\n    - ${view}\n`;
  writeFileSync(join(directory, 'service.yaml'), text);
  const { problems, warnings } = await readAgent(directory, {}, new ManualClock(0));
  return { problems: problems.map(formatProblem), warnings: warnings.map(formatProblem) };
}

const to = (allow: string) => `{for: ann@example.com, tools: {allow: [${allow}]}}`;

it('a view without a matching tool is refused', async () => {
  expect(await readingOf(to('shop__find_order, find_order'))).toEqual({
    problems: [
      'service.yaml:10:64: this matches no tool of the agent; tools of a server are named as in shop__find_order',
    ],
    warnings: [],
  });
});

it('a view that a server does not match now causes a warning, since the server must not stop the others', async () => {
  expect(await readingOf(to('shop__find_odrer, crm__*, "*__find_*"'))).toEqual({
    problems: [],
    warnings: [
      'service.yaml:10:46: the MCP server shop offered no such tool when the agent reached it last; the nearest is shop__find_order',
      'service.yaml:10:64: the tools of the MCP server crm are not known yet, so this is checked when the agent has reached it',
    ],
  });
});

it('a view for a group without members is refused', async () => {
  const view = '{for: "group:support", tools: {allow: [shop__find_order]}}';
  expect((await readingOf(view)).problems).toEqual([
    'service.yaml:10:8: no one is in this group: people.yaml has none of this name, and no provider has a groups_claim',
  ]);
});
