import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  distinctTags,
  inOrder,
  skillOfFile,
  skillOfTool,
} from '../../../src/actors/card/agent-skill.ts';
import type { Skill } from '../../../src/actors/tools/skills/skills.ts';
import { aSkill } from './card-fixtures.ts';

const file: Skill = {
  id: 'issue-refunds',
  name: 'issue-refunds',
  description: 'Pays money back.',
  tags: [],
  file: 'SKILL.md',
  body: 'a prompt that nobody outside should read',
  tools: [],
  requires: { bins: ['git'], env: { required: ['SHOP_KEY'], oneOf: [], optional: [] } },
  egressDomains: ['api.internal.example'],
};

describe('a skill file on the card', () => {
  it('is named by its id while it has no other name, and shows nothing else of the file', () => {
    expect(skillOfFile({ ...file, name: '' })).toStrictEqual({
      id: 'issue-refunds',
      name: 'issue-refunds',
      description: 'Pays money back.',
      tags: ['skill'],
    });
  });

  it('is named by its display name', () => {
    expect(skillOfFile({ ...file, name: 'Refunds' })).toStrictEqual({
      id: 'issue-refunds',
      name: 'Refunds',
      description: 'Pays money back.',
      tags: ['skill'],
    });
  });

  it.each([
    ['customer-care', ['Orders', 'refunds'], ['customer-care', 'Orders', 'refunds']],
    ['orders', ['Orders', 'ORDERS', 'refunds'], ['orders', 'refunds']],
    [undefined, ['Refunds', 'refunds'], ['Refunds']],
    ['orders', [], ['orders']],
    [undefined, [' ', ''], ['skill']],
  ])('of category %s with tags %j is tagged %j', (category, tags, expected) => {
    const skill = { ...file, tags, ...(category === undefined ? {} : { category }) };
    expect(skillOfFile(skill).tags).toStrictEqual(expected);
  });
});

it('a builtin tool is shown as a skill with the tag tool', () => {
  expect(skillOfTool({ name: 'datetime_now', description: 'Tells the time.' })).toStrictEqual({
    id: 'datetime_now',
    name: 'datetime_now',
    description: 'Tells the time.',
    tags: ['tool'],
  });
});

it('the first of several skills with one id is kept', () => {
  const built = aSkill('refunds', { description: 'as built' });
  const walked = aSkill('refunds', { description: 'as found later' });
  expect(inOrder([built, walked, aSkill('a')])).toStrictEqual([aSkill('a'), built]);
});

it('each skill has a tag, and no two tags that differ only in case', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (tags) => {
      const kept = distinctTags(tags, 'skill');
      const folded = kept.map((tag) => tag.toLowerCase());
      expect(kept.length).toBeGreaterThan(0);
      expect(new Set(folded).size).toBe(kept.length);
      expect(kept.every((tag) => tag.trim() !== '')).toBe(true);
    }),
  );
});
