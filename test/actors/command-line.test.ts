import { readFileSync } from 'node:fs';
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { commandLine, nameCommand } from '../../src/actors/command-line.ts';

const source = join(import.meta.dirname, '../../src');

/** A page on the web, a published schema and a file for all: nobody has called the command where they are read. */
const forReadersElsewhere =
  /^(http\/wire\/.+-page|actors\/(config|governance\/settings)\/schema.*|agent\/create\/service-text|ui\/dashboard\/.+)\.ts$/;

afterEach(() => nameCommand(undefined));

describe('commandLine', () => {
  it.each([
    [undefined, 'holdpoint task list'],
    ['', 'holdpoint task list'],
    ['bin/holdpoint', 'bin/holdpoint task list'],
    ['/opt/hold point/bin/holdpoint', "'/opt/hold point/bin/holdpoint' task list"],
    ['npx holdpoint', 'npx holdpoint task list'],
    ["npx holdpoint'; rm -rf ~", "'npx holdpoint'\\''; rm -rf ~' task list"],
    ['./a\u001b[2Jb', "'./a\\u001b[2Jb' task list"],
  ])('called as %j it says %j', (called, line) => {
    nameCommand(called);
    expect(commandLine('task list')).toBe(line);
  });

  it('is how every suggestion of the product is written', async () => {
    const bypassing: string[] = [];
    for await (const file of glob('**/*.ts', { cwd: source })) {
      if (forReadersElsewhere.test(file)) continue;
      const code = withoutComments(readFileSync(join(source, file), 'utf8'));
      const found =
        /holdpoint (\$\{|(run|try|task|audit|policy|key|slack|validate|build|doctor|completion|schema)\b)/;
      for (const line of code.split('\n')) {
        if (found.test(line)) bypassing.push(`${file}: ${line.trim()}`);
      }
    }
    expect(bypassing).toEqual([]);
  });
});

function withoutComments(code: string): string {
  return code.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '');
}
