import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Zip from 'jszip';
import { describe, expect, it, onTestFinished } from 'vitest';
import { agentFolder } from '../actors/tools/skills/agent-folder.ts';
import { holdpointHere } from './command-here.ts';

const text = `---
name: shop
description: Looks at the shop
metadata:
  forge:
    requires: {bins: [sh, no-such-program], env: {required: [SHOP_KEY]}}
    egress_domains: [shop.example.com]
    guardrails: {denied_tools: [drop]}
    held: [look]
---
## Tool: look

Looks.
`;

const files = {
  'shop/SKILL.md': text,
  'shop/scripts/look.sh': 'echo one',
  'shop/references/a.md': 'A',
};

const desk = (egress = '') => agentFolder({ 'service.yaml': `agent_id: desk\n${egress}` });
const add = (directory: string, source: string, ...flags: string[]) =>
  holdpointHere(['skills', 'add', source, '--dir', directory, '--yes', ...flags]);
const pins = (directory: string): unknown =>
  JSON.parse(readFileSync(join(directory, 'skills/.sources.json'), 'utf8'));

async function zipOf(entries: Record<string, string>): Promise<Buffer> {
  const zip = new Zip();
  for (const [name, content] of Object.entries(entries)) zip.file(name, content);
  return zip.generateAsync({ type: 'nodebuffer' });
}

describe('skills add of a folder or an archive', () => {
  it('adds nothing without a confirmation, which only a terminal can give', async () => {
    const [directory, source] = [desk(), agentFolder(files)];
    const words = ['skills', 'add', join(source, 'shop'), '--dir', directory];
    const { code, stderr } = await holdpointHere(words);
    expect([code, stderr.split('\n').at(-2)]).toEqual([
      2,
      'error: the change needs a confirmation; add --yes to confirm it',
    ]);
    expect(existsSync(join(directory, 'skills/shop'))).toBe(false);
  });

  it('shows the content of the skill, copies all of it, and pins it', async () => {
    const [directory, source] = [desk(), agentFolder(files)];
    const preview = await add(directory, join(source, 'shop'), '--preview');
    expect(preview).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^shop for the agent in \S+\n {2}files {4}3 in skills\/shop\n {2}egress {3}scripts can reach shop\.example\.com\n {2}held {5}look: ask channel:console:\*\n {11}security\.defer\.enabled is turned on for them\n {2}missing {2}SHOP_KEY \(required\)\n {2}tools {4}look\n {2}scripts {2}1, of which 1 run as tools\n {2}programs sh, no-such-program \(not installed\)\n {2}env {6}SHOP_KEY\n {2}rules {4}\{"denied_tools":\["drop"\]\}\n {2}source {3}\S+\n {2}sha256 {3}[0-9a-f]{64}\n$/,
      ),
    });
    expect(existsSync(join(directory, 'skills'))).toBe(false);
    expect(await add(directory, join(source, 'shop'), '--yes')).toMatchObject({ code: 0 });
    expect(readFileSync(join(directory, 'skills/shop/references/a.md'), 'utf8')).toBe('A');
    expect(readFileSync(join(directory, 'service.yaml'), 'utf8')).toContain('look:');
    expect(pins(directory)).toEqual({
      skills: { shop: { source: join(source, 'shop'), sha256: expect.any(String) } },
    });
    expect(await add(directory, join(source, 'shop'), '--yes')).toMatchObject({
      code: 0,
      stdout: `the agent has shop as it is at ${join(source, 'shop')}\n`,
    });
  });

  it('refuses a changed copy until it is accepted', async () => {
    const [directory, source] = [desk(), agentFolder(files)];
    await add(directory, source, '--yes');
    writeFileSync(join(source, 'shop/scripts/look.sh'), 'echo two');
    writeFileSync(join(source, 'shop/new.md'), '');
    const refused = await add(directory, source, '--yes');
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain('  + new.md\n  ~ scripts/look.sh\n');
    expect(refused.stderr).toContain('shop differs from the copy that the agent has');
    expect(readFileSync(join(directory, 'skills/shop/scripts/look.sh'), 'utf8')).toBe('echo one');
    expect(await add(directory, source, '--yes', '--update')).toMatchObject({ code: 0 });
    expect(readFileSync(join(directory, 'skills/shop/scripts/look.sh'), 'utf8')).toBe('echo two');
    writeFileSync(join(directory, 'skills/shop/SKILL.md'), `${text}Mine.\n`);
    expect(await add(directory, source, '--yes', '--update')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the skill shop was changed in the folder of the agent'),
    });
  });

  it('does not replace a skill from another source', async () => {
    const [directory, source] = [desk(), agentFolder(files)];
    mkdirSync(join(directory, 'skills'));
    writeFileSync(join(directory, 'skills/shop.md'), '---\nname: shop\n---\nMine.\n');
    expect(await add(directory, source, '--yes', '--update')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the agent has a skill shop already'),
    });
  });

  it('asks for one skill of several', async () => {
    const source = agentFolder({ ...files, 'b/SKILL.md': '---\nname: b\ndescription: B\n---\n' });
    const directory = desk();
    expect(await add(directory, source, '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('has 2 skills; choose one with --skill: b, shop'),
    });
    expect(await add(directory, source, '--yes', '--skill', 'b')).toMatchObject({ code: 0 });
    expect(await add(directory, source, '--yes', '--skill', 'c')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('has no skill c; it has b, shop'),
    });
  });

  it.each([
    ['nothing', {}, /has no SKILL\.md/],
    [
      'a skill that would not start',
      { 'a/SKILL.md': '---\nname: a\nmetadata: {forge: {runtime: binary}}\n---\n' },
      /a\/SKILL\.md:3:29: runtime/,
    ],
    [
      'a name outside the folder',
      { 'a/SKILL.md': '---\nname: ../../x\n---\n' },
      /a\/SKILL\.md: the name must be/,
    ],
  ])('refuses %s', async (_what, content, sentence) => {
    const directory = desk();
    const ended = await add(directory, agentFolder(content as Record<string, string>), '--yes');
    expect([ended.code, ended.stderr]).toEqual([1, expect.stringMatching(sentence)]);
    expect(existsSync(join(directory, 'skills'))).toBe(false);
  });

  it('refuses a link, an undecodable text and a file that is not an archive', async () => {
    const [directory, source] = [desk(), agentFolder({ ...files, 'x.zip': 'text' })];
    symlinkSync('/etc/passwd', join(source, 'shop/passwd'));
    expect(await add(directory, source, '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('shop/passwd is a link or a device'),
    });
    const binary = agentFolder({ 'SKILL.md': '---\nname: a\ndescription: d\n---\n' });
    appendFileSync(join(binary, 'SKILL.md'), Buffer.from([0xff]));
    expect(await add(directory, binary, '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is not text in UTF-8'),
    });
    expect(await add(directory, join(source, 'x.zip'), '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('it is neither a zip nor a tar.gz archive'),
    });
  });
});

describe('skills add of a URL', () => {
  async function served(body: Buffer, status = 200): Promise<string> {
    const server = createServer((request, response) => {
      if (request.url === '/moved.zip') response.writeHead(302, { location: '/shop.zip' }).end();
      else response.writeHead(status).end(body);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it('downloads an archive from an address', async () => {
    const directory = desk();
    const url = `${await served(await zipOf(files))}/shop.zip`;
    expect(await add(directory, url, '--yes')).toMatchObject({ code: 0 });
    expect(pins(directory)).toMatchObject({ skills: { shop: { source: url } } });
  });

  it('follows no redirect, and accepts no other answer', async () => {
    const directory = desk();
    const origin = await served(Buffer.alloc(33 * 1024 * 1024));
    expect(await add(directory, `${origin}/moved.zip`, '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cannot be fetched: it answered 302; it must answer 200'),
    });
    expect(await add(directory, `${origin}/large.zip`, '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cannot be fetched: it is larger than 32768 KiB'),
    });
  });

  it.each([
    'http://skills.example.com/a.zip',
    'https://ann:pass@skills.example.com/a.zip',
    'file:///etc/passwd',
  ])('refuses %s', async (url) => {
    expect(await add(desk(), url, '--yes')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        'the address must be an https URL, or http on a loopback host',
      ),
    });
  });
});
