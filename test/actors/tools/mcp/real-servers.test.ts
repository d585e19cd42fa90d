import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { connected, PuppetFolder, puppetConfig } from './puppet.ts';

const require = createRequire(import.meta.url);

/** The program of a package, which its manifest names. */
function programOf(manifest: string): string {
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: Record<string, string> };
  return join(dirname(manifest), Object.values(bin)[0] ?? '');
}

it('the reference server reads and writes files', async () => {
  const folder = new PuppetFolder([]);
  writeFileSync(join(folder.path, 'order.txt'), 'A-1042');
  const args = [
    programOf(require.resolve('@modelcontextprotocol/server-filesystem/package.json')),
    folder.path,
  ];
  const allow = ['read_text_file', 'write_file'];
  const server = puppetConfig({ name: 'files', args, tools: { allow } });
  const { tools, call, warnings } = await connected(folder, [server]);
  expect([...tools.keys()]).toEqual(['files__read_text_file', 'files__write_file']);
  expect(await call('files__read_text_file', { path: 'order.txt' })).toBe('A-1042');
  expect(await call('files__write_file', { path: 'order.txt', content: 'B-7' })).toContain('wrote');
  expect(readFileSync(join(folder.path, 'order.txt'), 'utf8')).toBe('B-7');
  expect(await call('files__read_text_file', { path: '/etc/passwd' })).toMatch(
    /^failed: files__read_text_file failed: Access denied/,
  );
  expect(warnings()).toEqual([]);
});

it('the reference server with all features works', async () => {
  const folder = new PuppetFolder([]);
  const args = [
    programOf(require.resolve('@modelcontextprotocol/server-everything/package.json')),
    'stdio',
  ];
  const { tools, call, warnings } = await connected(folder, [puppetConfig({ args })]);
  expect(await call('shop__echo', { message: 'hello' })).toBe('Echo: hello');
  expect(await call('shop__get-sum', { a: 2, b: 3 })).toContain('5');
  expect([...tools.keys()].every((name) => /^shop__[\w-]+$/.test(name))).toBe(true);
  const research = { topic: 'bridges', ambiguous: false };
  expect(await call('shop__simulate-research-query', research)).toContain('bridges');
  expect(warnings()).toEqual([]);
});
