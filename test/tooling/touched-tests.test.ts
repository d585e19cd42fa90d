import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { touchedTests } from '../../scripts/test/touched-tests.ts';
import { temporaryFolder } from '../helpers/test-system.ts';

const files = {
  'src/rule.ts': 'export const rule = 1;',
  'src/rules.ts': "export * from './rule.ts';",
  'src/policy.ts': "export * from './rules.ts';",
  'src/door.ts':
    "import { createServer } from 'node:http';\nexport * from './policy.ts';\ncreateServer();",
  'src/ui/view.svelte': '',
  'test/rule.test.ts': "import { rule } from '../src/rule.ts';",
  'test/deep/policy.test.ts': "import { rule } from '../../src/policy.ts';",
  'test/deep/door.test.ts': "import '../../src/door.ts';",
  'test/deep/other.test.ts': '',
  'test/ui/view.test.ts': "import { chromium } from 'playwright-core';",
  'test/docs/pages.test.ts': '',
};

function aRepository(): string {
  const folder = temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

it.each<[string, string[], ReturnType<typeof touchedTests>]>([
  [
    'those that reach a changed file, the nearest first, with a count of the distant ones',
    ['src/rule.ts'],
    { tests: ['test/rule.test.ts', 'test/deep/policy.test.ts'], left: 1 },
  ],
  [
    'those next to a component',
    ['src/ui/view.svelte'],
    { tests: ['test/ui/view.test.ts'], left: 0 },
  ],
  ['those of the pages', ['docs/tools.md'], { tests: ['test/docs/pages.test.ts'], left: 0 }],
  ['none for an untested file', ['deploy/Dockerfile'], { tests: [], left: 0 }],
  ['all without programs for a helper', ['test/helpers/a.ts'], { tests: null, left: 0 }],
  ['all without programs and without a change', [], { tests: null, left: 0 }],
])('the touched tests are %s', (_, changed, touched) => {
  expect(touchedTests(aRepository(), changed)).toEqual(touched);
});
