import { describe, expect, it } from 'vitest';
import { type SkillDraft, validateSkill } from '../../../../src/actors/tools/tools.ts';

const good = `---
name: ask-shop
description: Asks the shop
category: shop-care
egress_domains: [api.example.com, "*.shop.example"]
---

# Shop

## Tool: ask_shop

Asks.
`;

const findings = (changes: Partial<SkillDraft> = {}) =>
  validateSkill({ skill_md: good, scripts: {}, existing: [], editing: null, ...changes });
const rules = (skill_md: string) =>
  findings({ skill_md }).map(({ level, rule, line, column }) => [level, rule, line, column]);

describe('a checked skill', () => {
  it('has no finding when it follows the rules', () => {
    const script =
      '// https://comment.example\nfetch("https://api.example.com/x", "https://eu.shop.example:8443");\n';
    expect(findings({ scripts: { 'ask_shop.mjs': script }, existing: ['other'] })).toEqual([]);
  });

  it.each([
    ['no name', good.replace('name: ask-shop\n', ''), ['error', 'name_present', 2, 1]],
    ['an empty name', good.replace('name: ask-shop', 'name: ""'), ['error', 'name_present', 2, 7]],
    ['capitals', good.replace('ask-shop', 'Ask-Shop'), ['error', 'name_format', 2, 7]],
    ['a number', good.replace('ask-shop', '12'), ['error', 'name_format', 2, 7]],
    ['a path', good.replace('ask-shop', '../etc'), ['error', 'name_format', 2, 7]],
    ['65 letters', good.replace('ask-shop', 'a'.repeat(65)), ['error', 'name_format', 2, 7]],
    [
      'no description',
      good.replace('description: Asks the shop\n', ''),
      ['error', 'description_present', 2, 1],
    ],
    [
      'a blank description',
      good.replace('Asks the shop', '" "'),
      ['error', 'description_present', 3, 14],
    ],
    ['broken YAML', good.replace('name: ask', 'name: [ask'), ['error', 'frontmatter_yaml', 3, 1]],
    ['no end', '---\nname: x\n', ['error', 'frontmatter_yaml', 1, 1]],
    ['no tool', good.replace('## Tool: ask_shop', 'text'), ['warning', 'tool_sections', 7, 1]],
    [
      'a tool in code',
      good.replace('## Tool: ask_shop', '    ## Tool: ask_shop'),
      ['warning', 'tool_sections', 7, 1],
    ],
    ['a category', good.replace('shop-care', 'Shop Care'), ['warning', 'category_format', 4, 11]],
  ])('has a finding for %s at its place', (_, text, finding) => {
    expect(rules(text)).toEqual([finding]);
  });

  it('has a finding for undeclared hosts in scripts', () => {
    const scripts = {
      'a.py': 'x = 1\nurlopen("https://api.example.com")\nurlopen("http://127.0.0.1:9/x")\n',
      'b.mjs': 'fetch("https://shop.example/")',
    };
    expect(findings({ scripts })).toEqual([
      {
        level: 'warning',
        rule: 'egress_declared',
        message: 'a.py mentions 127.0.0.1:9, which egress_domains does not list; add it there',
        ...{ file: 'a.py', line: 3, column: 10 },
      },
      {
        level: 'warning',
        rule: 'egress_declared',
        message: 'b.mjs mentions shop.example, which egress_domains does not list; add it there',
        ...{ file: 'b.mjs', line: 1, column: 8 },
      },
    ]);
  });

  it('has a finding for the name of another skill, unless that one is being edited', () => {
    const codes = (changes: Partial<SkillDraft>) => findings(changes).map(({ rule }) => rule);
    expect(codes({ existing: ['ask-shop'] })).toEqual(['name_unique']);
    expect(codes({ existing: ['ask-shop'], editing: 'ask-shop' })).toEqual([]);
    expect(codes({ existing: ['old'], editing: 'old' })).toEqual(['name_kept']);
    expect(codes({ existing: ['old', 'ask-shop'], editing: 'old' })).toEqual([
      'name_unique',
      'name_kept',
    ]);
  });

  it('may have several findings at once, for any text', () => {
    expect(findings({ skill_md: '' }).map(({ rule }) => rule)).toEqual([
      'name_present',
      'description_present',
      'tool_sections',
    ]);
    const odd =
      '---\nname: {a: 1}\ndescription: [x]\ncategory: 3\negress_domains: 4\n---\n## Tool: x\n';
    expect(findings({ skill_md: odd }).map(({ rule }) => rule)).toEqual([
      'name_format',
      'description_present',
      'category_format',
      'start',
    ]);
  });
});
