import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mergeEgress, readAgentText } from '../../../src/actors/workspace/workspace.ts';
import { checkAgent } from '../../../src/agent/start/agent-findings.ts';
import { agentFolder } from '../tools/skills/agent-folder.ts';

const text = `# the desk
agent_id: desk
model: {provider: scripted}
egress:
  allowed_domains:
    - api.example.com   # ours
    - "*.shop.example"
`;

const check = async (directory: string, content: string) => {
  const { problems } = await checkAgent(directory, {}, content);
  return { errors: problems };
};

const merge = async (
  directory: string,
  domains: readonly string[],
  origin: string,
  checking: typeof check = check,
) => mergeEgress(await readAgentText(directory), domains, origin, checking);

const folder = (content = text) => agentFolder({ 'service.yaml': content });
const read = (directory: string) => readFileSync(join(directory, 'service.yaml'), 'utf8');

describe('hosts that are merged into a service.yaml', () => {
  it('come after existing ones, once each', async () => {
    const directory = folder();
    const domains = ['API.example.com', 'eu.shop.example', 'hooks.example.com'];
    const first = await merge(directory, domains, 'skill desk');
    expect(first.added).toEqual(['hooks.example.com']);
    expect(read(directory)).toBe(`${text}    - hooks.example.com # skill desk\n`);
    const again = await merge(directory, domains, 'skill desk');
    expect(again.added).toEqual([]);
    expect(read(directory)).toBe(`${text}    - hooks.example.com # skill desk\n`);
    expect(readdirSync(directory)).toEqual(['service.yaml']);
  });

  it.each(['a.example/path', 'a b', 'x.example\nagent_id: mine', '*.*', '${HOME}'])(
    'are refused by the loader of the agent: %j',
    async (host) => {
      const directory = folder();
      await expect(merge(directory, [host], 'skill x')).rejects.toMatchObject({
        code: 'config_unusable',
      });
      expect(read(directory)).toBe(text);
    },
  );

  it('cannot write other content through the name of their adder', async () => {
    const directory = folder();
    await merge(directory, ['h.example'], 'x\nagent_id: mine # é');
    expect(read(directory)).toBe(`${text}    - h.example # xagent_id: mine\n`);
  });

  it('do not change a file with its own problem, and do not hide it', async () => {
    const broken = `${text}security: {defer: {enabled: true, tools: {pay: {to: "channel:console:*"}}}}\n`;
    const directory = folder(broken);
    await merge(directory, ['h.example'], 'skill x');
    expect(read(directory)).toContain('- h.example # skill x');
    const { errors } = await check(directory, read(directory));
    expect(errors).toHaveLength(1);
  });

  it('do not overwrite a concurrent change', async () => {
    const directory = folder();
    const changing = async () => {
      writeFileSync(join(directory, 'service.yaml'), `${text}# mine\n`);
      return { errors: [] };
    };
    await expect(merge(directory, ['h.example'], 'skill x', changing)).rejects.toMatchObject({
      code: 'config_unusable',
      message: 'service.yaml has changed meanwhile and was left as it is; try again',
    });
    expect(read(directory)).toBe(`${text}# mine\n`);
  });
});
