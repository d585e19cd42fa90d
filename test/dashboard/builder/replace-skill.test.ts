import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readCustomSkill } from '../../../src/dashboard/builder/custom-skill.ts';
import { mendSkills, replaceSkill } from '../../../src/dashboard/builder/replace-skill.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

const mark = '.weather.00000000-0000-4000-8000-000000000000';
const text = '---\nname: weather\ndescription: Tells it\n---\n';

function folderWith(files: Record<string, string>): string {
  const folder = temporaryFolder();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

const tree = (folder: string) =>
  readdirSync(join(folder, 'skills'), { recursive: true }).map(String).toSorted();

describe('a replacement that was killed in the middle', () => {
  const half = {
    [`skills/${mark}.old/SKILL.md`]: text,
    [`skills/${mark}.old/scripts/a.sh`]: ':\n',
    [`skills/${mark}.tmp/SKILL.md`]: 'half',
  };
  const later = () => Date.now() + 61_000;

  it('is restored once no process can be in it', async () => {
    const folder = folderWith(half);
    await mendSkills(folder, Date.now());
    expect(tree(folder)).toHaveLength(6);
    await mendSkills(folder, later());
    expect(tree(folder)).toEqual([
      ...['weather', 'weather/SKILL.md', 'weather/scripts', 'weather/scripts/a.sh'],
    ]);
  });

  it('keeps the new skill where that is in place', async () => {
    const folder = folderWith({ ...half, 'skills/weather/SKILL.md': 'new' });
    await mendSkills(folder, later());
    expect(tree(folder)).toEqual(['weather', 'weather/SKILL.md']);
    expect(readFileSync(join(folder, 'skills/weather/SKILL.md'), 'utf8')).toBe('new');
  });

  it('restores a flat skill', async () => {
    const folder = folderWith({ [`skills/${mark}.old.md`]: text });
    await mendSkills(folder, later());
    expect(tree(folder)).toEqual(['weather.md']);
  });

  it('removes no files of others', async () => {
    const folder = folderWith({ 'skills/.mine.old/x': 'x', 'skills/.git/y': 'y' });
    await mendSkills(folder, later());
    expect(tree(folder)).toEqual(['.git', '.git/y', '.mine.old', '.mine.old/x']);
  });
});

describe('a replaced skill', () => {
  it('is restored completely', async () => {
    const folder = folderWith({
      'skills/weather/SKILL.md': text,
      'skills/weather/scripts/a.sh': 'a',
    });
    const before = await readCustomSkill(folder, 'weather');
    const files = { name: 'weather', skill_md: 'new', scripts: { 'b.sh': 'b' } };
    const replaced = await replaceSkill(folder, files, before.etag);
    expect((await readCustomSkill(folder, 'weather')).scripts).toEqual({ 'b.sh': 'b' });
    await replaced?.restore();
    expect(await readCustomSkill(folder, 'weather')).toEqual(before);
    expect(await replaceSkill(folder, files, '"another"')).toBeNull();
    expect(await readCustomSkill(folder, 'weather')).toEqual(before);
    expect(tree(folder)).toHaveLength(4);
  });
});
