import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatProblem } from '../../../src/actors/config/config.ts';
import { serviceSchema } from '../../../src/actors/config/service-schema.ts';
import { readSkills } from '../../../src/actors/tools/skills/skills.ts';
import { unlistedHosts } from '../../../src/agent/start/agent-findings.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

/** A skill file whose tools are those of these names. */
function skill(id: string, domains: string[], ...tools: string[]): string {
  const sections = tools.map((name) => `## Tool: ${name}\n\nAsks.\n`).join('\n');
  return `---\nname: ${id}\ndescription: Asks.\negress_domains: ${JSON.stringify(domains)}\n---\n${sections}`;
}

/** What is said of an agent with these files, as lines. */
async function said(files: Record<string, string>, egress: object = {}): Promise<string[]> {
  const directory = temporaryFolder();
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, file)), { recursive: true });
    writeFileSync(join(directory, file), content);
  }
  const { skills } = await readSkills(directory);
  const config = serviceSchema.parse({ agent_id: 'x', egress });
  return (await unlistedHosts(directory, config, skills)).map(formatProblem);
}

/** What is said of one script of a skill that declares nothing, without what to do. */
async function ofScript(content: string, file = 'ask.sh', egress: object = {}): Promise<string[]> {
  const files = { 'SKILL.md': skill('refunds', [], 'ask'), [`scripts/${file}`]: content };
  return (await said(files, egress)).map((line) => line.replace(/, which no entry .*/, ''));
}

describe('a host that a script mentions', () => {
  it('is named with its place and the remedy', async () => {
    const files = {
      'SKILL.md': skill('refunds', [], 'ask'),
      'scripts/ask.sh': '#!/bin/sh\n\ncurl -s "https://api.example.com/v1"\n',
    };
    expect(await said(files)).toEqual([
      'scripts/ask.sh:3:10: this script mentions api.example.com, which no entry covers; add it to egress_domains of the skill refunds, or to egress.allowed_domains',
    ]);
    expect(await said(files, { mode: 'deny-all' })).toEqual([
      expect.stringMatching(
        /^scripts\/ask\.sh:3:10: .*; tools have no network access with mode: deny-all$/,
      ),
    ]);
    expect(await said(files, { mode: 'dev-open' })).toEqual([]);
  });

  it.each([
    [{ allowed_domains: ['api.example.com'] }],
    [{ allowed_domains: ['*.example.com'] }],
    [{ allowed_domains: ['api.example.com:443'] }],
    [{ allowed_private: ['api.example.com'] }],
  ])('is covered by %o', async (egress) => {
    expect(await ofScript('curl https://api.example.com/', 'ask.sh', egress)).toEqual([]);
  });

  it('is covered by the declaration of its own skill, and by no other', async () => {
    const files = (mine: string[], others: string[]) => ({
      'SKILL.md': skill('refunds', mine, 'ask'),
      'scripts/ask.py': 'get("https://api.example.com/")',
      'skills/mail/SKILL.md': skill('mail', others, 'send'),
      'skills/mail/scripts/send.py': 'get("https://mail.example.com/")',
    });
    expect(await said(files(['api.example.com'], ['https://mail.example.com/v1']))).toEqual([]);
    expect(await said(files(['mail.example.com'], ['api.example.com']))).toEqual([
      expect.stringContaining('scripts/ask.py:1:6: this script mentions api.example.com'),
      expect.stringContaining('skills/mail/scripts/send.py:1:6: this script mentions mail.example'),
    ]);
  });

  it('is found in every script of the folder, also in those without a tool', async () => {
    const files = Object.fromEntries(
      ['ask.sh', 'lib.py', 'lib.js', 'lib.mjs', 'lib.ts', 'data.json', 'notes.md'].map((name) => [
        `scripts/${name}`,
        'x = "http://a.example/"',
      ]),
    );
    const lines = await said({ ...files, 'SKILL.md': skill('refunds', [], 'ask') });
    expect(lines.map((line) => line.split(':')[0])).toEqual(
      ['ask.sh', 'lib.js', 'lib.mjs', 'lib.py', 'lib.ts'].map((name) => `scripts/${name}`),
    );
  });

  it('is named once for each file', async () => {
    const content = 'curl http://a.example/1 http://b.example\ncurl http://A.example/2\n';
    expect(await ofScript(content)).toEqual([
      'scripts/ask.sh:1:6: this script mentions a.example',
      'scripts/ask.sh:1:25: this script mentions b.example',
    ]);
  });

  it.each([
    'curl "http://127.0.0.1:$PORT/"',
    'curl "https://$HOST/" "https://${HOST}/"',
    'get(f"https://{host}/")',
    'get(f"https://api.{region}.example.com/")',
    'get("https://%s/" % host)',
    'get("https://api." + domain)',
    'fetch(`https://${host}.example.com/`)',
    'open https://<your-domain>/',
    '# see https://docs.example.com',
    '  // see https://docs.example.com',
    ' * see https://docs.example.com',
    'echo https://',
    'echo ftp://files.example.com/',
  ])('is none in %s', async (content) => {
    expect(await ofScript(content)).toEqual([]);
  });

  it.each([
    ['curl http://127.0.0.1:9000/x', '127.0.0.1:9000'],
    ['curl "http://[::1]:9000/x"', '[::1]:9000'],
    ["curl 'https://API.Example.com'", 'api.example.com'],
    ['base=https://api.example.com:8443', 'api.example.com:8443'],
    ['fetch(`https://api.example.com/${id}`)', 'api.example.com'],
  ])('in %s is %s', async (content, host) => {
    const lines = await ofScript(content);
    expect(lines.map((line) => line.split(' mentions ')[1])).toEqual([host]);
  });

  it('needs its port in the entry where a tunnel is used', async () => {
    const egress = { allowed_domains: ['api.example.com'] };
    const tunnel =
      'this script mentions api.example.com:9000, and a tunnel goes to 443 and 80 unless an entry names the port; write the entry as api.example.com:9000';
    const plain = 'http://api.example.com:9000/';
    expect(await ofScript(`curl ${plain}`, 'ask.sh', egress)).toEqual([]);
    expect(await ofScript(`await fetch('${plain}')`, 'ask.mjs', egress)).toEqual([
      `scripts/ask.mjs:1:14: ${tunnel}`,
    ]);
    expect(await ofScript('curl https://api.example.com:9000/', 'ask.sh', egress)).toEqual([
      `scripts/ask.sh:1:6: ${tunnel}`,
    ]);
  });

  it('is not searched through a link', async () => {
    const directory = temporaryFolder();
    mkdirSync(join(directory, 'scripts'));
    writeFileSync(join(directory, 'SKILL.md'), skill('refunds', [], 'ask'));
    writeFileSync(join(directory, 'scripts/ask.sh'), 'cat');
    writeFileSync(join(directory, 'elsewhere'), 'http://a.example/');
    symlinkSync(join(directory, 'elsewhere'), join(directory, 'scripts/lib.sh'));
    const { skills } = await readSkills(directory);
    const config = serviceSchema.parse({ agent_id: 'x' });
    expect(await unlistedHosts(directory, config, skills)).toEqual([]);
  });
});

describe('a skill without scripts', () => {
  const files = { 'SKILL.md': skill('weather', ['api.example.com', '*.maps.example']) };

  it('has a warning that no script uses its declared hosts', async () => {
    expect(await said(files)).toEqual([
      'SKILL.md:1:1: the skill weather has no script to which its egress_domains would be open; list them in egress.allowed_domains for builtin tools',
    ]);
  });

  it('has no warning once they are listed, or without a declaration', async () => {
    const allowed_domains = ['api.example.com', '*.maps.example'];
    expect(await said(files, { allowed_domains })).toEqual([]);
    expect(await said({ 'SKILL.md': skill('weather', []) })).toEqual([]);
  });
});
