import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { formatProblem } from '../../../src/actors/config/config.ts';
import { readAgent } from '../../../src/agent/start/read-agent.ts';
import { ManualClock } from '../../helpers/manual-clock.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

const signIn = `    default_approvers: [ann@example.com]
auth: {providers: [{type: static_token, settings: {token_env: TOKEN}}]}
`;

async function warningsOf(text: string): Promise<string[]> {
  const directory = temporaryFolder();
  writeFileSync(join(directory, 'service.yaml'), `agent_id: x\n${text}${signIn}`);
  const { problems, warnings } = await readAgent(
    directory,
    { TOKEN: 'a-long-enough-token-of-ops' },
    new ManualClock(0),
  );
  expect(problems).toEqual([]);
  return warnings.map(formatProblem);
}

it('the tools that allow: true permits with any argument cause one warning', async () => {
  const text = `gate:
  tools: {a: {}, b: {schema: {properties: {}}}, c: {schema: {properties: {x: {}}}}, d: {}}
security:
  defer:
    enabled: true
    tools:
      a: {allow: true}
      b: [{when: tool == "b", allow: true}, {to: "channel:console:*"}]
      c: {allow: true}
      d: {to: "channel:console:*"}
`;
  expect(await warningsOf(text)).toEqual([
    'service.yaml:7:5: allow: true applies to these tools with any argument, because their schema names none: a, b; give each a schema with properties',
  ]);
});

it('the tools of a gate without a rule cause one warning', async () => {
  const text = `gate: {tools: {a: {}, "mcp__*": {}, "mcp__git__*": {}, "x__*": {}, d: {}, s: {}}}
security:
  guardrails: {enabled: true, denied_tools: [{tool: d}]}
  defer:
    enabled: true
    tools:
      "mcp__git__*": {to: "channel:console:*"}
      "x*": {to: "channel:console:*"}
      s: {to: "channel:console:*", shadow: true}
`;
  expect(await warningsOf(text)).toEqual([
    'service.yaml:2:8: these run without a person: a, mcp__*, s; add a rule for each to security.defer.tools, or allow: true',
  ]);
});

it('the warning states which of them a limit or an effect stops', async () => {
  const gate = 'gate: {tools: {pay: {}, "mcp__*": {}, mail: {}, shown: {}, free: {}}}\n';
  const bounds = `security:
  limits:
    pays: {tools: ["pa*"], per: 1h, max: 3, over: deny}
    reported: {tools: [shown], per: 1h, max: 3, over: deny, shadow: true, optional: true}
  effects:
    "mcp__*": {key: "{tool}", repeat: deny}
    mail: {key: all}
  defer:
`;
  const bounded = 'these run without a person until a limit or an effect stops them:';
  const add = 'add a rule for each to security.defer.tools, or allow: true';
  expect(await warningsOf(gate + bounds)).toEqual([
    `service.yaml:2:8: these run without a person: shown, free; ${bounded} pay, mcp__*, mail; ${add}`,
  ]);
  expect(await warningsOf(gate.replace(', shown: {}, free: {}', '') + bounds)).toEqual([
    `service.yaml:2:8: ${bounded} pay, mcp__*, mail; ${add}`,
  ]);
});
