import { describe, expect, it } from 'vitest';
import { readAnswer } from '../../../src/machines/skill-builder/read-answer.ts';

const noTexts = 'the scripts of the answer are no texts by name; ask for them again';
const noSkill = 'the answer has scripts and no SKILL.md; ask for the whole skill';

function envelope(scripts: unknown): string {
  return JSON.stringify({ message: 'Here.', skill: { skill_md: '# A', scripts } });
}

function fences(...files: [info: string, content: string][]): string {
  return files.map(([info, content]) => `\`\`\`${info}\n${content}\n\`\`\``).join('\n');
}

describe('the scripts of an envelope', () => {
  it.each<[string, unknown, Record<string, string>]>([
    ['may be omitted', undefined, {}],
    ['may be null', null, {}],
    ['may be an empty string', '', {}],
    ['may be an empty list', [], {}],
    ['may be strings by name', { 'a.sh': ':', b: '' }, { 'a.sh': ':', b: '' }],
    [
      'may be a list, in which the last of equal names counts',
      [
        { name: 'a', content: '1' },
        { name: 'b', content: '2', mode: 7 },
        { name: 'a', content: '3' },
      ],
      { a: '3', b: '2' },
    ],
  ])('%s', (_, scripts, read) => {
    expect(readAnswer(envelope(scripts))).toEqual({
      message: 'Here.',
      draft: { skill_md: '# A', scripts: read },
      problem: null,
    });
  });

  it.each<[string, unknown, string]>([
    ['may not be a string', 'echo', noTexts],
    ['may not be a list of strings', ['a.sh'], noTexts],
    ['may not be a list with null', [null], noTexts],
    ['may not be a list without contents', [{ name: 'a' }], noTexts],
    ['may not be a list without names', [{ content: 'a' }], noTexts],
    ['may not be a list with invalid names', [{ name: 1, content: 'a' }], noTexts],
    ['may not be a list with one invalid entry', [{ name: 'a', content: 'a' }, {}], noTexts],
    ['may not have other values by name', { a: 'a', b: null }, noTexts],
    [
      'may not be 33',
      Array.from({ length: 33 }, (__, index) => ({ name: `a${index}`, content: '' })),
      'a skill has at most 32 scripts; write fewer',
    ],
  ])('%s', (_, scripts, problem) => {
    expect(readAnswer(envelope(scripts))).toEqual({ message: 'Here.', draft: null, problem });
  });
});

describe('the files of an answer', () => {
  it.each<[string, string, { skill_md: string; scripts: Record<string, string> }]>([
    [
      'are the last of each name',
      fences(['skill.md', '# A'], ['script: a', '1'], ['skill.md', '# B'], ['script: a', '2']),
      { skill_md: '# B\n', scripts: { a: '2\n' } },
    ],
    [
      'may have a script before the skill',
      fences(['script: a', '1'], ['skill.md', '# A']),
      { skill_md: '# A\n', scripts: { a: '1\n' } },
    ],
    [
      'may have a script named like a property of every object',
      fences(['skill.md', '# A'], ['script: __proto__', '1']),
      { skill_md: '# A\n', scripts: Object.fromEntries([['__proto__', '1\n']]) },
    ],
  ])('%s', (_, text, draft) => {
    expect(readAnswer(text)).toEqual({ message: '', draft, problem: null });
  });

  it.each([
    ['a SKILL.md that is empty', fences(['skill.md', '']), ''],
    ['a SKILL.md that is blank', `Hi.\n${fences(['skill.md', ' \n\t'])}`, 'Hi.'],
    [
      'a SKILL.md that is blank in an envelope',
      JSON.stringify({ message: 'Hi.', skill: { skill_md: ' ' } }),
      'Hi.',
    ],
  ])('are refused with %s', (_, text, message) => {
    expect(readAnswer(text)).toEqual({ message, draft: null, problem: noSkill });
  });
});

it('keeps the paragraphs of the text, without gaps where files were', () => {
  const text = ` \n a\n\nb\n\n\n\nc\n\n\n${fences(['skill.md', '# A'])}\n\n\nd \n`;
  expect(readAnswer(text)).toEqual({
    message: 'a\n\nb\n\nc\n\nd',
    draft: { skill_md: '# A\n', scripts: {} },
    problem: null,
  });
});

it('reads an answer of one MiB', () => {
  const { message, ...files } = readAnswer('x'.repeat(1_048_576));
  expect([message.length, files]).toEqual([1_048_576, { draft: null, problem: null }]);
  expect(readAnswer('x'.repeat(1_048_577))).toEqual({
    message: '',
    draft: null,
    problem: 'the answer is longer than 1 MiB; ask for less',
  });
});

it('takes the words and the skill of an envelope next to any blocks', () => {
  const block = fences(['script: a', ':'], ['skill.md', '# B']);
  expect(readAnswer(`${block}\n${envelope({})}`)).toEqual({
    message: 'Here.',
    draft: { skill_md: '# A', scripts: {} },
    problem: null,
  });
});
