import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addSkill } from '../../../src/actors/workspace/workspace.ts';
import { agentFolder } from '../tools/skills/agent-folder.ts';

const skill = {
  name: 'http-health',
  skill_md: '---\nname: http-health\n---\n',
  scripts: { 'check_url.mjs': 'console.log(1);\n', 'lib.mjs': '' },
};

describe('a skill that is added to an agent', () => {
  it('is added completely, and nothing else is', async () => {
    const directory = agentFolder({ 'service.yaml': '' });
    const { path } = await addSkill(directory, skill);
    expect(path).toBe(join(directory, 'skills/http-health'));
    expect(readdirSync(directory, { recursive: true }).map(String).toSorted()).toEqual([
      'service.yaml',
      'skills',
      'skills/http-health',
      'skills/http-health/SKILL.md',
      'skills/http-health/scripts',
      'skills/http-health/scripts/check_url.mjs',
      'skills/http-health/scripts/lib.mjs',
    ]);
    expect(readFileSync(join(path, 'SKILL.md'), 'utf8')).toBe(skill.skill_md);
  });

  it('can be removed by its adder', async () => {
    const directory = agentFolder({});
    const { remove } = await addSkill(directory, skill);
    await remove();
    expect(readdirSync(join(directory, 'skills'))).toEqual([]);
  });

  it('never replaces another one, in either form', async () => {
    for (const [file, content] of [
      ['skills/http-health/SKILL.md', 'mine'],
      ['skills/http-health.md', 'mine'],
      ['skills/http-health', 'a file'],
    ] as const) {
      const directory = agentFolder({ [file]: content });
      await expect(addSkill(directory, skill)).rejects.toMatchObject({ code: 'skill_exists' });
      expect(readFileSync(join(directory, file), 'utf8')).toBe(content);
      expect(readdirSync(join(directory, 'skills'))).toHaveLength(1);
    }
  });

  it('is not written through a link', async () => {
    const [directory, elsewhere] = [agentFolder({}), agentFolder({})];
    symlinkSync(elsewhere, join(directory, 'skills'));
    await expect(addSkill(directory, skill)).rejects.toMatchObject({ code: 'skill_unusable' });
    expect(readdirSync(elsewhere)).toEqual([]);
    const other = agentFolder({});
    mkdirSync(join(other, 'skills'));
    symlinkSync(elsewhere, join(other, 'skills/http-health'));
    await expect(addSkill(other, skill)).rejects.toMatchObject({ code: 'skill_exists' });
    expect(lstatSync(join(other, 'skills/http-health')).isSymbolicLink()).toBe(true);
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  it.each([
    { ...skill, name: '../x' },
    { ...skill, name: 'Big' },
    { ...skill, name: 'a'.repeat(65) },
    { ...skill, scripts: { '../../x': '' } },
    { ...skill, scripts: { '.hidden': '' } },
    { ...skill, scripts: { 'a/b.mjs': '' } },
    { ...skill, scripts: { ['a'.repeat(65)]: '' } },
    { ...skill, scripts: { 'é.mjs': '' } },
  ])('has names that stay in its folder: %#', async (wrong) => {
    const directory = agentFolder({});
    await expect(addSkill(directory, wrong)).rejects.toMatchObject({ code: 'skill_unusable' });
    expect(readdirSync(directory)).toEqual([]);
  });

  it('leaves nothing when it cannot be written', async () => {
    const directory = agentFolder({});
    writeFileSync(join(directory, 'skills'), 'a file');
    await expect(addSkill(directory, skill)).rejects.toMatchObject({ code: 'skill_unusable' });
    const half = { ...skill, scripts: { 'a.mjs': '', SKILL: '', 'b.mjs': null as never } };
    const other = agentFolder({});
    await expect(addSkill(other, half)).rejects.toThrow();
    expect(readdirSync(join(other, 'skills'))).toEqual([]);
  });
});
