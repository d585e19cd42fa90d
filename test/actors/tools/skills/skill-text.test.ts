import { describe, expect, it } from 'vitest';
import { createToolbox, readSkills, validateSkill } from '../../../../src/actors/tools/tools.ts';
import { clock } from '../builtin/isolated-script.ts';
import { agentFolder } from './agent-folder.ts';

const skill = (metadata: string) =>
  `---\nname: shop\ndescription: d\n${metadata}---\n## Tool: look\nLooks.\n`;

async function read(metadata: string) {
  const text = skill(metadata);
  const directory = agentFolder({ 'SKILL.md': text, 'scripts/look.sh': '' });
  const { skills, problems, warnings } = await readSkills(directory);
  const place = ({ line, column, message }: { line: number; column: number; message: string }) =>
    `${line}:${column}: ${message}`;
  const draft = { skill_md: text, scripts: { 'look.sh': '' }, existing: [], editing: null };
  const checked = validateSkill(draft).filter(({ rule }) => rule === 'start');
  const told = [...problems, ...warnings].map(place);
  expect(
    checked.map(({ message, line = 0, column = 0 }) => place({ message, line, column })),
  ).toEqual(told);
  return {
    directory,
    skill: skills[0],
    problems: problems.map(place),
    warnings: warnings.map(place),
  };
}

describe('the metadata of a skill', () => {
  it.each(['service', 'forge'])('is read completely under %s', async (block) => {
    const {
      skill: found,
      problems,
      warnings,
    } = await read(
      `egress_domains: [a.example.com]\nmetadata:\n  ${block}:\n    workflow_phase: edit\n    requires: {bins: [{name: sh, apt: dash}], env: {optional: [SHOP_HOSTS]}}\n    egress_domains: [b.example.com, $SHOP_HOSTS]\n    denied_tools: [http_request]\n    timeout_hint: 120\n    guardrails: {denied_tools: [web_search]}\n`,
    );
    expect([problems, warnings]).toEqual([[], []]);
    expect(found).toMatchObject({
      egressDomains: ['a.example.com', 'b.example.com', '$SHOP_HOSTS'],
      timeout: 120_000,
      requires: { bins: ['sh'] },
      guardrails: { value: { denied_tools: ['web_search', 'http_request'] } },
      tools: [{ timeout: 120_000 }],
    });
  });

  it.each([
    [
      'metadata: {forge: {runtime: binary}}\n',
      '4:29: runtime: "binary" is not there; add scripts/<tool>.sh that calls the program, and remove the key',
    ],
    [
      'metadata: {forge: {requires: {capabilities: [browser]}}}\n',
      '4:45: requires.capabilities: browser is not there; give the agent tools for it, such as an MCP server, and remove the key',
    ],
    ['metadata: {forge: {timeout_hint: 601}}\n', '4:34: timeout_hint must be at most 600 seconds'],
    [
      'metadata: {forge: {timeout_hint: long}}\n',
      '4:34: timeout_hint must be a whole number of seconds',
    ],
    [
      'metadata: {forge: {guardrails: {deny_responses: []}}}\n',
      '4:49: deny_responses is not there: what a model answers is not matched; use deny_output for the results of tools, and remove the key if that is enough',
    ],
    [
      'metadata: {service: {guardrails: [x], denied_tools: [pay]}}\n',
      '4:34: this must be a map of deny_commands, deny_prompts, deny_output, denied_tools, redact',
    ],
    ['metadata: {forge: {denied_tools: [""]}}\n', '4:35: this must not be empty; write a name'],
    [
      'egress_domains: [$SHOP_HOSTS]\n',
      '4:17: egress_domains: $SHOP_HOSTS cannot be read; list SHOP_HOSTS under metadata.service.requires.env',
    ],
    [
      'egress_domains: [$A.example.com]\n',
      '4:17: egress_domains: $A.example.com cannot be read; write a host, or one variable such as $SHOP_HOST',
    ],
    [
      'metadata: {forge: {requires: {env: {optional: [SHOP_TOKEN]}}, egress_domains: ["${SHOP_TOKEN}"]}}\n',
      '4:79: egress_domains: ${SHOP_TOKEN} cannot be read; the variable is named like a secret and cannot name hosts',
    ],
    [
      'disable-model-invocation: true\n',
      '4:27: disable-model-invocation cannot be kept: the model of the agent opens every skill; remove the key, or the skill',
    ],
  ])('is refused at its place: %s', async (metadata, problem) => {
    expect((await read(metadata)).problems).toEqual([problem]);
  });

  it.each([
    [
      'allowed-tools: Bash(git:*)\n',
      '4:16: allowed-tools has no effect; the tools of the agent and the rules under security decide what runs',
    ],
    [
      'metadata: {openclaw: {requires: {bins: [op], env: [KEY]}}}\n',
      '4:33: metadata.openclaw.requires asks for op, KEY and is not checked; list what the scripts need under metadata.service.requires',
    ],
    [
      'metadata: {service: {hold: [look]}}\n',
      '4:28: metadata.service.hold: unknown key; did you mean held?',
    ],
    [
      'metadata: {forge: {requires: {bins: [{name: sh, version: ">=1"}]}}}\n',
      '4:38: requires.bins: the version of sh is not checked; make sure that it fits',
    ],
  ])('is reported where it has no effect: %s', async (metadata, warning) => {
    expect((await read(metadata)).warnings).toEqual([warning]);
  });

  it('permits the hosts of a variable for the scripts', async () => {
    const { directory } = await read(
      'metadata: {service: {requires: {env: {optional: [SHOP_HOSTS, NONE]}}, egress_domains: [$SHOP_HOSTS, "${NONE}"]}}\n',
    );
    const config = { builtin_tools: [], tools: [], skills: { path: 'SKILL.md' } };
    const env = { SHOP_HOSTS: 'a.example.com, https://b.example.com:8443/x' };
    const { skills } = await createToolbox({ directory, config, env, clock });
    expect(skills[0]?.egressDomains).toEqual(['a.example.com', 'https://b.example.com:8443/x']);
  });
});
