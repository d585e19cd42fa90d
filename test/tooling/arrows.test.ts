import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { root, runCommand } from './run-command.ts';

interface Report {
  summary: { violations: { from: string; rule: { name: string } }[] };
}

/** One file that breaks a rule, by the rule's name. */
const planted = {
  'machines-are-pure': [
    ['src/machines/node.ts', "import type { Server } from 'node:http';"],
    ['src/machines/package.ts', "import { z } from 'zod';"],
    ['src/machines/port.ts', "import type { A } from '../actors/ports/clock.ts';"],
  ],
  'charts-are-offered-to-others': [
    ['src/agent/charts.ts', "import { A } from '../machines/machines.ts';"],
  ],
  'actors-know-no-transport': [['src/actors/wire.ts', "import type { A } from '../http/app.ts';"]],
  'tools-is-entered-by-its-face': [
    ['src/agent/deep.ts', "import type { A } from '../actors/tools/skills/skills.ts';"],
    ['src/cli/deep.ts', "import { A } from '../actors/tools/skills/skills.ts';"],
    ['packages/testing/deep.ts', "import { A } from '../../src/actors/tools/skills/skills.ts';"],
  ],
  'records-stands-on-its-own-wings': [
    ['src/actors/records/up.ts', "import type { A } from '../tools/tools.ts';"],
  ],
  'common-files-know-no-wing': [
    ['src/actors/common.ts', "import { A } from './tools/tools.ts';"],
    ['src/actors/ports/tool.ts', "import type { A } from '../tools/tools.ts';"],
  ],
  'http-speaks-to-the-system-only': [
    ['src/http/store.ts', "import type { A } from '../actors/records/records.ts';"],
    ['src/http/agents.ts', "import type { A } from '../actors/workspace/workspace.ts';"],
  ],
  'http-runs-no-chart': [
    ['src/http/chart.ts', "import type { A } from '../machines/a-machine.ts';"],
  ],
  'http-translates-only': [['src/http/fetch.ts', "import { request } from 'undici';"]],
  'ui-shares-the-wire-types-only': [
    ['src/ui/page.ts', "import type { A } from '../actors/ports/clock.ts';"],
    [
      'src/ui/dashboard/page.svelte',
      '<script lang="ts">import { A } from \'../../actors/ports/clock.ts\'; console.log(A);</script>',
    ],
  ],
  'the-verifier-runs-in-the-page-too': [
    ['src/ui/dashboard/chart.ts', "import { A } from '../../actors/records/log/verifier.ts';"],
    ['src/cli/check.ts', "import { A } from '../actors/records/log/verifier.ts';"],
  ],
  'only-the-command-line-puts-agents-together': [
    ['src/start.ts', "import { A } from './agent/start-agent.ts';"],
  ],
  'only-the-command-line-serves-the-dashboard': [
    ['src/agent/page.ts', "import type { A } from '../dashboard/workspace/hub.ts';"],
  ],
  'dashboard-shares-the-http-helpers-only': [
    ['src/dashboard/server/agent.ts', "import type { A } from '../../http/app.ts';"],
  ],
  'dashboard-workspace-stands-on-its-own-rooms': [
    ['src/dashboard/workspace/up.ts', "import type { A } from '../server/serve.ts';"],
  ],
  'testing-is-offered-to-others': [
    ['src/agent/simulated.ts', "import { A } from '../../packages/testing/simulated-clock.ts';"],
    ['packages/fake-slack/simulated.ts', "import type { A } from '../testing/simulated-clock.ts';"],
  ],
  'testing-tests-the-agent-itself': [
    ['packages/testing/surface.ts', "import type { A } from '../../src/http/app.ts';"],
  ],
  'checks-of-holds-stand-alone': [
    ['packages/testing/holds/agent.ts', "import type { A } from '../simulated-clock.ts';"],
    ['packages/testing/holds/node.ts', "import { A } from 'node:http';"],
  ],
  'client-stands-alone': [
    ['packages/client/node.ts', "import { hash } from 'node:crypto';"],
    ['packages/client/wire.ts', "import type { A } from '../../src/http/app.ts';"],
  ],
  'client-is-offered-to-others': [
    ['src/agent/client.ts', "import { A } from '../../packages/client/client.ts';"],
    ['packages/testing/client.ts', "import { A } from '../client/client.ts';"],
  ],
  'nobody-imports-the-command-line': [['src/argv.ts', "import { A } from './cli/run.ts';"]],
  'fake-slack-stands-alone': [
    ['packages/fake-slack/store.ts', "import type { A } from '../../src/actors/store.ts';"],
  ],
  'demos-use-the-command-and-the-log': [
    ['packages/fake-slack/demo/wire.ts', "import type { A } from '../../../src/http/app.ts';"],
  ],
  'fake-slack-is-loaded-where-it-is': [
    ['src/cli/doctor.ts', "import type { A } from '../../packages/fake-slack/demo.ts';"],
  ],
  'fake-slack-is-not-bundled': [
    [
      'src/cli/slack/fake-slack.ts',
      "const { B } = await import('../../../packages/fake-slack/demo.ts');",
    ],
  ],
  'product-needs-no-test-code': [
    ['src/fixture.ts', "import { A } from '../test/a.ts';"],
    ['packages/testing/fixture.ts', "import { A } from '../../test/a.ts';"],
  ],
  'product-runs-without-development-packages': [
    ['src/actors/random.ts', "import fc from 'fast-check';"],
    ['packages/testing/random.ts', "import fc from 'fast-check';"],
  ],
  'no-unresolved-imports': [['src/actors/typo.ts', "import { A } from './nowhere.ts';"]],
} as const;

const allowed = [
  ['src/machines/a-machine.ts', "import { setup } from 'xstate';"],
  ['src/machines/a-graph.ts', "import { getShortestPaths } from 'xstate/graph';"],
  ['src/machines/machines.ts', "export { A } from './b.ts';"],
  ['src/machines/b.ts', "import type { A } from './a-machine.ts';"],
  ['src/actors/ports/clock.ts', "import type { A } from '../../machines/b.ts';"],
  ['src/actors/system-clock.ts', "import type { A } from './ports/clock.ts';"],
  ['src/actors/store.ts', "import { open } from 'node:fs';\nimport { z } from 'zod';"],
  ['src/actors/records/records.ts', "export { A } from './log/log.ts';"],
  [
    'src/actors/records/log/log.ts',
    "import { A } from '../../ports/clock.ts';\nimport { B } from '../../store.ts';",
  ],
  ['src/actors/records/log/verifier.ts', ''],
  [
    'src/ui/dashboard/views/audit/log-check.ts',
    "import { A } from '../../../../actors/records/log/verifier.ts';",
  ],
  ['src/actors/tools/tools.ts', "export { A } from './skills/skills.ts';"],
  ['src/actors/tools/skills/skills.ts', ''],
  ['src/actors/tasks/tasks.ts', "import { A } from '../records/records.ts';"],
  ['src/http/app.ts', "import Koa from 'koa';\nimport { A } from '../actors/tasks/tasks.ts';"],
  ['src/http/wire.ts', "import { z } from 'zod';\nimport type { A } from '../machines/b.ts';"],
  [
    'src/agent/start-agent.ts',
    "import { A } from '../actors/tasks/tasks.ts';\nimport { B } from '../http/app.ts';",
  ],
  ['src/http/listen.ts', ''],
  ['src/dashboard/workspace/hub.ts', "import { A } from '../../actors/workspace/workspace.ts';"],
  ['src/actors/workspace/workspace.ts', ''],
  [
    'src/dashboard/server/serve.ts',
    "import { A } from '../../http/listen.ts';\nimport { B } from '../workspace/hub.ts';",
  ],
  [
    'src/cli/run.ts',
    "import { A } from '../agent/start-agent.ts';\nimport { B } from '../dashboard/server/serve.ts';",
  ],
  ['src/cli.ts', "import { A } from './cli/run.ts';"],
  ['src/http/caller-tasks.ts', ''],
  [
    'packages/testing/testing.ts',
    "import { A } from '../../src/agent/start-agent.ts';\nimport { B } from '../../src/http/caller-tasks.ts';",
  ],
  ['packages/testing/arbitraries.ts', "import fc from 'fast-check';"],
  ['packages/testing/simulated-clock.ts', ''],
  ['packages/testing/holds/holds.ts', ''],
  ['packages/client/client.ts', ''],
  [
    'packages/fake-slack/fake-slack.ts',
    "import type { A } from '../../src/actors/ports/clock.ts';",
  ],
  ['packages/fake-slack/demo.ts', "import { A } from './demo/run-fake.ts';"],
  ['packages/fake-slack/demo/run-fake.ts', "import { A } from '../../../src/cli/run.ts';"],
  ['test/a.ts', ''],
] as const;

it('arrows finds every forbidden import, including types, and nothing else', {
  timeout: 60_000,
}, async () => {
  const expected = Object.entries(planted).flatMap(([rule, files]) =>
    files.map(([path]) => `${rule}: ${path}`),
  );
  const folder = aRepository([...allowed, ...Object.values(planted).flat()]);
  expect(await violationsIn(folder)).toEqual(expected.toSorted());
});

it('arrows finds cycles between files', { timeout: 60_000 }, async () => {
  const folder = aRepository([
    ['src/actors/a.ts', "import type { B } from './b.ts';"],
    ['src/actors/b.ts', "import { A } from './a.ts';"],
  ]);
  expect(await violationsIn(folder)).toEqual(['no-cycles: src/actors/a.ts']);
});

function aRepository(files: (readonly [path: string, text: string])[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'arrows-'));
  mkdirSync(join(folder, 'packages'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const shared of ['node_modules', 'package.json']) {
    symlinkSync(join(root, shared), join(folder, shared));
  }
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), `${text}\nexport const A = 1;\n`);
  }
  return folder;
}

async function violationsIn(folder: string): Promise<string[]> {
  const config = join(root, '.dependency-cruiser.cjs');
  const args = ['--config', config, '--output-type', 'json', 'src', 'packages'];
  const { stdout } = await runCommand('depcruise', args, folder);
  const { summary } = JSON.parse(stdout) as Report;
  return summary.violations.map(({ from, rule }) => `${rule.name}: ${from}`).toSorted();
}
