import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { setup } from 'xstate';
import { charts } from '../../scripts/statecharts/charts.ts';
import type { Chart } from '../../scripts/statecharts/page.ts';
import { drawPages, stalePages, writePages } from '../../scripts/statecharts/pages.ts';
import { childMachine, sampleMachine } from './sample-chart.ts';

const root = join(import.meta.dirname, '../..');

const samples: Chart[] = [
  { name: 'sample', source: 'src/sample.ts', machine: sampleMachine },
  { name: 'the-child', source: 'src/child.ts', machine: childMachine },
];

const samplePage = `# sample

Reference, [generated](README.md) from [\`src/sample.ts\`](../../src/sample.ts).

A sample. It shows each kind of arrow.

\`\`\`mermaid
stateDiagram-v2
  state "any state" as anyState
  state "working" as working {
    state "looking" as working_looking
    working_looking : invokes look
    state "saving" as working_saving
    state "saved" as working_saved
    [*] --> working_looking
    working_looking --> working_saving : look done [isReady]
    working_saving --> working_saved : always
    working_saved --> [*]
  }
  state "both (invokes save)" as both {
    state "left" as both_left {
      state "here" as both_left_here
      [*] --> both_left_here
    }
    --
    state "right" as both_right
  }
  [*] --> idle
  anyState --> ended : sample.stop
  idle --> working : sample.go [isReady]
  idle --> ended : sample.go [isLate and not isReady]<br/>after window
  idle --> working_looking : after 2000 ms
  working --> both : done
  working_looking --> ended : look done [else]<br/>look failed
  ended --> [*]
\`\`\`

## States

| State | Meaning | Handled without leaving |
| --- | --- | --- |
| any |  | \`sample.* → note\` |
| \`idle\` | Waits. Tags: \`resting\`, \`quiet\`. | \`sample.go [else] → note → count\`<br>\`any other event → count\` |
| \`working\` | Is at work. |  |
| \`working.looking\` | Invokes [\`look\`](the-child.md). |  |
`;

describe('drawPages', () => {
  it('draws every kind of state and arrow', () => {
    expect(drawPages(samples).get('sample.md')).toBe(samplePage);
  });

  it('draws one page for each chart and an index', () => {
    const pages = drawPages(samples);
    expect([...pages.keys()]).toEqual(['README.md', 'sample.md', 'the-child.md']);
    expect(pages.get('README.md')).toContain(
      '| [sample](sample.md) | A sample. |\n| [child](the-child.md) | One look. |\n',
    );
  });

  it('escapes a bar in a description of a cell', () => {
    expect(drawPages(samples).get('the-child.md')).toContain('| `ended` | Nothing \\| more. |');
  });

  it('refuses an unnamed guard, with its place', () => {
    const machine = setup({}).createMachine({
      id: 'nameless',
      description: 'One.',
      initial: 'a',
      states: { a: { on: { go: { guard: () => true, target: 'b' } } }, b: {} },
    });
    expect(() => drawPages([{ name: 'nameless', source: 'src/nameless.ts', machine }])).toThrow(
      new Error('a guard of state nameless.a has no name; define it in setup({ guards })'),
    );
  });

  it('refuses a chart without a description', () => {
    const machine = setup({}).createMachine({ id: 'silent' });
    expect(() => drawPages([{ name: 'silent', source: 'src/silent.ts', machine }])).toThrow(
      new Error('chart silent has no description; write one into its configuration'),
    );
  });
});

describe('stalePages', () => {
  it('finds pages that differ, are missing or belong to no chart', () => {
    const folder = aFolder();
    const pages = drawPages(samples);
    writePages(folder, pages);
    expect(stalePages(folder, pages)).toEqual([]);

    writeFileSync(join(folder, 'sample.md'), `${samplePage} `);
    rmSync(join(folder, 'the-child.md'));
    writeFileSync(join(folder, 'gone.md'), '# gone\n');
    expect(stalePages(folder, pages)).toEqual(['gone.md', 'sample.md', 'the-child.md']);

    writePages(folder, pages);
    expect(stalePages(folder, pages)).toEqual([]);
    expect(readdirSync(folder).toSorted()).toEqual(['README.md', 'sample.md', 'the-child.md']);
  });
});

describe('npm run statecharts', () => {
  it('finds the pages of this repository current', () => {
    expect(stalePages(join(root, 'docs/statecharts'), drawPages(charts))).toEqual([]);
  });

  it('writes pages that --check accepts, and names a stale one with the command to run', () => {
    const folder = aFolder();
    expect(run('--out', folder)).toEqual({ status: 0, stderr: '' });
    expect(run('--out', folder, '--check')).toEqual({ status: 0, stderr: '' });
    writeFileSync(join(folder, 'task.md'), '');
    expect(run('--out', folder, '--check')).toEqual({
      status: 1,
      stderr: 'docs/statecharts/task.md is stale; run npm run statecharts and commit it\n',
    });
  });
});

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'statecharts-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

function run(...args: string[]): { status: number | null; stderr: string } {
  const script = join(root, 'scripts/statecharts.ts');
  const { status, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
  return { status, stderr };
}
