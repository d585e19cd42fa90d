import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createToolbox, type ToolSettings } from '../../../../src/actors/tools/tools.ts';
import { agentFolder } from '../skills/agent-folder.ts';
import { aRun, clock } from './isolated-script.ts';

const text = (name: string, body: string) =>
  `---\nname: ${name}\ndescription: What ${name} is for\n---\n${body}\n`;

const files = {
  'service.yaml': 'agent_id: x\n',
  'data/orders.csv': 'id\n',
  'references/main.md': 'Of the main skill.',
  'SKILL.md': text('desk', 'The desk.'),
  'skills/notes.md': text('notes', 'Notes.'),
  'skills/pdf/SKILL.md': text('pdf', `Read references/forms.md.\n${'x'.repeat(9_000)}`),
  'skills/pdf/references/forms.md': 'one\ntwo\n',
  'skills/pdf/assets/logo.png': 'PNG\0',
  'skills/pdf/.env': 'KEY=canary',
  'skills/pay/SKILL.md': text('pay', '## Tool: pay_order\nPays.'),
  'skills/pay/scripts/pay_order.sh': 'echo paid',
};

async function opened(skills: Partial<ToolSettings['skills']> = {}, more = {}) {
  const directory = agentFolder({ ...files, ...more });
  const config = { builtin_tools: [], tools: [], skills: { path: 'SKILL.md', ...skills } };
  const toolbox = await createToolbox({ directory, config, env: {}, clock, state: ['service.db'] });
  const call = (tool: string, args: Record<string, string | number>) =>
    toolbox.tools.get(tool)?.run(args, aRun()) ?? Promise.reject(new Error(`no tool ${tool}`));
  return { ...toolbox, directory, call };
}

describe('skills that the model opens itself', () => {
  it.each([
    [{}, {}, true],
    [{}, { 'skills/pdf/SKILL.md': text('pdf', 'Short.') }, false],
    [{ disclosure: 'full' as const }, {}, false],
    [{ disclosure: 'progressive' as const }, { 'skills/pdf/SKILL.md': text('pdf', '') }, true],
  ])('have their tools for %j with %j: %s', async (settings, more, has) => {
    const { tools, isProgressive } = await opened(settings, more);
    expect(isProgressive).toBe(has);
    expect([...tools.keys()]).toEqual(
      has ? ['skill_open', 'skill_read', 'pay_order'] : ['pay_order'],
    );
  });

  it('are opened with the names of their files and tools', async () => {
    const { call } = await opened();
    expect((await call('skill_open', { name: 'pdf' })).split('\n\n').at(-1)).toBe(
      '[files of this skill, for skill_read: assets/logo.png, references/forms.md]',
    );
    expect(await call('skill_open', { name: 'pay' })).toBe(
      '## Tool: pay_order\nPays.\n\n[tools of this skill: pay_order]\n\n[files of this skill, for skill_read: scripts/pay_order.sh]',
    );
    expect(await call('skill_open', { name: 'notes' })).toBe('Notes.');
    await expect(call('skill_open', { name: 'other' })).rejects.toThrow(/name/);
  });

  it('are read inside their own folder', async () => {
    const { call } = await opened();
    expect(await call('skill_read', { name: 'pdf', path: 'references/forms.md' })).toBe(
      'one\ntwo\n',
    );
    expect(await call('skill_read', { name: 'pdf', path: 'references/forms.md', offset: 2 })).toBe(
      'two\n',
    );
    expect(await call('skill_read', { name: 'desk', path: 'references/main.md' })).toBe(
      'Of the main skill.',
    );
  });

  it.each([
    ['pdf', '../pay/SKILL.md'],
    ['pdf', '../../service.yaml'],
    ['pdf', '../../data/orders.csv'],
    ['pdf', '/etc/passwd'],
    ['pdf', '.env'],
    ['pdf', 'linked'],
    ['pdf', 'folder/orders.csv'],
    ['pdf', 'assets/logo.png'],
    ['pdf', 'assets'],
    ['pdf', 'a\0b'],
    ['desk', 'data/orders.csv'],
    ['desk', 'references/../data/orders.csv'],
    ['desk', 'SKILL.md'],
    ['notes', 'notes.md'],
  ])('are not read outside it: %s %j', async (name, path) => {
    const { call, directory } = await opened();
    symlinkSync('/etc/passwd', join(directory, 'skills/pdf/linked'));
    symlinkSync(join(directory, 'data'), join(directory, 'skills/pdf/folder'));
    await expect(call('skill_read', { name, path })).rejects.toThrow(/^skill_read: /);
  });

  it('bind an approval to the files that may be read', async () => {
    const { tools, directory } = await opened();
    const before = await tools.get('skill_read')?.identity?.();
    writeFileSync(join(directory, 'skills/pdf/references/forms.md'), 'three');
    expect(await tools.get('skill_read')?.identity?.()).not.toEqual(before);
  });

  it('refuse a script of the same name', async () => {
    const { problems } = await opened(
      {},
      {
        'skills/bad/SKILL.md': text('bad', '## Tool: skill-open\nOpens.'),
        'skills/bad/scripts/skill_open.sh': '',
      },
    );
    expect(problems.map(({ message }) => message)).toEqual([
      'tool skill-open has the name of a builtin tool; rename it or leave the builtin out',
    ]);
  });
});
