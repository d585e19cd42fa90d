import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { isWithoutBwrap, needsBwrap } from '../actors/tools/sandbox/needs-bwrap.ts';
import { suiteOf } from '../helpers/runs.ts';
import { fencesOf, isCommand, pages, readPage } from './fences.ts';
import { pagePlans } from './page-plans.ts';
import { entryFor, promisesOf, runPage } from './run-page.ts';

const withCommands = pages().filter((page) => fencesOf(readPage(page)).some(isCommand));

/** `npm test` runs the first page that people read, `npm run test:long` all. */
const pagesToRun = suiteOf() === 'long' ? withCommands : ['README.md'];

/** How an answer begins that refuses what was asked. */
const refusal = /^\{(?:"jsonrpc":"2.0","id":\w+,)?"error":/m;

describe.skipIf(isWithoutBwrap)('the commands of', () => {
  needsBwrap();

  it.each(pagesToRun)('%s run unchanged', { timeout: 300_000 }, async (page) => {
    const fences = fencesOf(readPage(page));
    const { code, outputs } = await runPage(fences, pagePlans[page] ?? {});
    const printed = [...outputs].map(([line, output]) => `${page}:${line}\n${output}`).join('\n');
    expect(code, printed).toBe(0);
    for (const { line, text } of fences.filter(isCommand)) {
      if (!text.includes('curl')) continue;
      expect(outputs.get(line) ?? '', `${page}:${line}`).not.toMatch(refusal);
    }
    for (const { line, lines } of promisesOf(fences)) {
      const output = outputs.get(line) ?? '';
      expect(
        lines.filter((promised) => !output.includes(promised)),
        `${page}:${line}\n${output}`,
      ).toEqual([]);
    }
  });
});

it('every plan is for a command on the pages', () => {
  const idle = Object.entries(pagePlans).flatMap(([page, { prepared, meanwhile, skipped }]) => {
    const fences = fencesOf(readPage(page)).filter(isCommand);
    return [prepared, meanwhile, skipped].flatMap((entries = {}) =>
      Object.keys(entries).filter(
        (start) => !fences.some((fence) => entryFor(fence, { [start]: '' })),
      ),
    );
  });
  expect(idle).toEqual([]);
});

it('the languages of the guide to tools are found', () => {
  const missing = ['bash', 'python3'].filter(
    (name) => spawnSync(name, ['--version']).error !== undefined,
  );
  expect(missing, 'install these to run the scripts of docs/writing-tools.md').toEqual([]);
});
