import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mergeEgress } from '../../../src/actors/workspace/workspace.ts';
import { checkAgent } from '../../../src/agent/agent-findings.ts';
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

const folder = (content = text) => agentFolder({ 'service.yaml': content });
const read = (directory: string) => readFileSync(join(directory, 'service.yaml'), 'utf8');

describe('hosts that are merged into a service.yaml', () => {
  it('stand behind those that are there, and once', async () => {
    const directory = folder();
    const domains = ['API.example.com', 'eu.shop.example', 'hooks.example.com'];
    const first = await mergeEgress(directory, domains, 'skill desk', check);
    expect(first.added).toEqual(['hooks.example.com']);
    expect(read(directory)).toBe(`${text}    - hooks.example.com # skill desk\n`);
    const again = await mergeEgress(directory, domains, 'skill desk', check);
    expect(again.added).toEqual([]);
    expect(read(directory)).toBe(`${text}    - hooks.example.com # skill desk\n`);
    expect(readdirSync(directory)).toEqual(['service.yaml']);
  });

  it.each(['a.example/path', 'a b', 'x.example\nagent_id: mine', '*.*', '${HOME}'])(
    'are refused by the loader that the agent starts with: %j',
    async (host) => {
      const directory = folder();
      await expect(mergeEgress(directory, [host], 'skill x', check)).rejects.toMatchObject({
        code: 'config_unusable',
      });
      expect(read(directory)).toBe(text);
    },
  );

  it('cannot write anything else by the name of who adds them', async () => {
    const directory = folder();
    await mergeEgress(directory, ['h.example'], 'x\nagent_id: mine # é', check);
    expect(read(directory)).toBe(`${text}    - h.example # xagent_id: mine\n`);
  });

  it('do not hinder a file with a problem of its own, and do not hide it', async () => {
    const broken = `${text}security: {defer: {enabled: true, tools: {pay: {to: "channel:console:*"}}}}\n`;
    const directory = folder(broken);
    await mergeEgress(directory, ['h.example'], 'skill x', check);
    expect(read(directory)).toContain('- h.example # skill x');
    const { errors } = await check(directory, read(directory));
    expect(errors).toHaveLength(1);
  });

  it('leave a file alone that somebody changes meanwhile', async () => {
    const directory = folder();
    const changing = async () => {
      writeFileSync(join(directory, 'service.yaml'), `${text}# mine\n`);
      return { errors: [] };
    };
    await expect(mergeEgress(directory, ['h.example'], 'skill x', changing)).rejects.toMatchObject({
      code: 'config_unusable',
      message: 'service.yaml has changed meanwhile and was left as it is; try again',
    });
    expect(read(directory)).toBe(`${text}# mine\n`);
  });
});
