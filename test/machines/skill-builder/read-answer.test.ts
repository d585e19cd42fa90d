import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAnswer } from '../../../src/machines/skill-builder/read-answer.ts';
import { isScriptName, longestAnswer } from '../../../src/machines/skill-builder/written-skill.ts';

const skillMd = '---\nname: weather\ndescription: Tells the weather\n---\n\n## Tool: forecast\n';
const script = '#!/bin/sh\necho sunny\n';
const draft = { skill_md: skillMd, scripts: { 'forecast.sh': script } };
const skill = { skill_md: skillMd, scripts: draft.scripts };

const lines = (...all: string[]) => all.join('\n');

describe('an envelope of JSON', () => {
  it.each<[string, string, object]>([
    [
      'an interview',
      JSON.stringify({ message: 'Which city?', skill: null }),
      { message: 'Which city?', draft: null, problem: null },
    ],
    [
      'a draft',
      JSON.stringify({ message: 'Here it is.', skill }),
      { message: 'Here it is.', draft, problem: null },
    ],
    [
      'a block of JSON',
      lines('```json', JSON.stringify({ message: 'Here.', skill }, null, 2), '```'),
      { message: 'Here.', draft, problem: null },
    ],
    [
      'braces in strings',
      JSON.stringify({ message: 'Use {city} and "}" and \\{.', skill: null }),
      { message: 'Use {city} and "}" and \\{.', draft: null, problem: null },
    ],
    [
      'words with braces before it',
      `I filled in {city} and {"unit": "C"}: ${JSON.stringify({ message: 'Done.', skill })}`,
      { message: 'Done.', draft, problem: null },
    ],
    [
      'an object around it',
      JSON.stringify({ response: { message: 'Wrapped.', skill } }),
      { message: 'Wrapped.', draft, problem: null },
    ],
    [
      'scripts as a list',
      JSON.stringify({
        message: '',
        skill: { skill_md: skillMd, scripts: [{ name: 'forecast.sh', content: script }] },
      }),
      { message: '', draft, problem: null },
    ],
    ['a bare skill', JSON.stringify(skill), { message: '', draft, problem: null }],
  ])('%s is read', (_, text, answer) => {
    expect(readAnswer(text)).toEqual(answer);
  });

  it('is not confused with other JSON', () => {
    const text = 'The service answers {"temperature": 21, "skill": "high"}. Is that it?';
    expect(readAnswer(text)).toEqual({ message: text, draft: null, problem: null });
  });

  it('is not searched in the files of a skill', () => {
    const example = JSON.stringify({ message: 'taken over', skill: null });
    const text = lines(
      'Here:',
      '```script: forecast.sh',
      `echo '${example}'`,
      '```',
      '```skill.md',
      skillMd,
      '```',
    );
    const answer = readAnswer(text);
    expect([answer.message, answer.draft?.scripts]).toEqual([
      'Here:',
      { 'forecast.sh': `echo '${example}'\n` },
    ]);
  });

  it('with scripts that are not strings is refused', () => {
    const text = JSON.stringify({ message: 'x', skill: { skill_md: skillMd, scripts: { a: 1 } } });
    expect(readAnswer(text)).toEqual({
      message: 'x',
      draft: null,
      problem: 'the scripts of the answer are no texts by name; ask for them again',
    });
  });
});

describe('fenced files', () => {
  it.each<[string, string]>([
    [
      'three backticks',
      lines(
        '```skill.md',
        skillMd.trimEnd(),
        '```',
        '```script:forecast.sh',
        script.trimEnd(),
        '```',
      ),
    ],
    [
      'four backticks',
      lines(
        '````skill.md',
        skillMd.trimEnd(),
        '````',
        '````script: forecast.sh',
        script.trimEnd(),
        '````',
      ),
    ],
    [
      'five backticks',
      lines(
        '`````skill.md',
        skillMd.trimEnd(),
        '`````',
        '`````script: forecast.sh',
        script.trimEnd(),
        '`````',
      ),
    ],
    [
      'trailing spaces',
      lines(
        '```skill.md  ',
        skillMd.trimEnd(),
        '```\t ',
        '```  script: forecast.sh ',
        script.trimEnd(),
        '```   ',
      ),
    ],
    [
      'mismatched closers',
      lines(
        '````skill.md',
        skillMd.trimEnd(),
        '```',
        '```script: forecast.sh',
        script.trimEnd(),
        '`````',
      ),
    ],
    [
      'no closer at the end',
      lines('```skill.md', skillMd.trimEnd(), '```', '```script: forecast.sh', script.trimEnd()),
    ],
    [
      'no closer before the next file',
      lines('```skill.md', skillMd, '```script: forecast.sh', script.trimEnd(), '```'),
    ],
    [
      'a language before the name',
      lines(
        '```markdown skill.md',
        skillMd.trimEnd(),
        '```',
        '```bash script: forecast.sh',
        script.trimEnd(),
        '```',
      ),
    ],
    [
      'the folder in the name',
      lines(
        '```SKILL.MD',
        skillMd.trimEnd(),
        '```',
        '```script: scripts/forecast.sh',
        script.trimEnd(),
        '```',
      ),
    ],
    [
      'a block with only a language',
      lines(
        '```markdown',
        skillMd.trimEnd(),
        '```',
        '```script: forecast.sh',
        script.trimEnd(),
        '```',
      ),
    ],
    [
      'line ends of Windows',
      lines(
        '```skill.md',
        skillMd.trimEnd(),
        '```',
        '```script: forecast.sh',
        script.trimEnd(),
        '```',
      ).replaceAll('\n', '\r\n'),
    ],
  ])('with %s are read', (_, text) => {
    expect(readAnswer(`Here it is.\n\n${text}`)).toEqual({
      message: 'Here it is.',
      draft,
      problem: null,
    });
  });

  it('keep nested blocks', () => {
    const inner = lines('```json', '{"type": "object"}', '```');
    for (const ticks of ['```', '````']) {
      const text = lines(`${ticks}skill.md`, skillMd, inner, ticks, 'Try it.');
      const answer = readAnswer(text);
      expect([answer.message, answer.draft?.skill_md]).toEqual([
        'Try it.',
        `${skillMd}\n${inner}\n`,
      ]);
    }
    const bare = lines('````skill.md', skillMd, '```', 'curl', '```', '````', 'Try it.');
    expect(readAnswer(bare).draft?.skill_md).toBe(`${skillMd}\n\`\`\`\ncurl\n\`\`\`\n`);
  });

  it('leave blocks without a skill file in the text', () => {
    const text = lines('Run:', '```sh', 'echo hi', '```');
    expect(readAnswer(text)).toEqual({ message: text, draft: null, problem: null });
  });

  it.each([
    '../../etc/cron.d/x',
    '.bashrc',
    'a/b.sh',
    'a\\b.sh',
    '/etc/passwd',
    'a b.sh',
    'ä.sh',
    'x'.repeat(65),
  ])('with a script named %s are refused, and the name is not repeated', (name) => {
    const text = lines(
      'Hi.',
      '```skill.md',
      skillMd,
      '```',
      `\`\`\`script: ${name}`,
      script,
      '```',
    );
    const { problem, ...answer } = readAnswer(text);
    expect(answer).toEqual({ message: 'Hi.', draft: null });
    expect(problem).toContain('the name of a script is');
  });

  it('with 33 scripts are refused', () => {
    const scripts = Array.from(
      { length: 33 },
      (__, index) => `\`\`\`script: s${index}.sh\n:\n\`\`\``,
    );
    expect(readAnswer(lines('```skill.md', skillMd, '```', ...scripts)).problem).toBe(
      'a skill has at most 32 scripts; write fewer',
    );
  });

  it('without a SKILL.md are refused', () => {
    expect(readAnswer(lines('```script: a.sh', ':', '```')).problem).toBe(
      'the answer has scripts and no SKILL.md; ask for the whole skill',
    );
  });
});

const piece = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom('```', '````', '\n', '{', '}', '"', '\\', '---\nname: a\n---\n', '```md\n'),
  fc.constantFrom('```skill.md\n', '```script: ', '```script: ../a\n', '```script: __proto__\n'),
  fc.constantFrom(
    '{"message":"',
    '","skill":',
    '{"skill_md":"',
    '"scripts":{"',
    'null}',
    '":"x"}}}',
  ),
);

describe('any answer of a model', () => {
  it('is read without an exception, and every script name stays in its folder', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const { draft: found, message, problem } = readAnswer(pieces.join(''));
        expect(typeof message).toBe('string');
        expect(found === null || problem === null).toBe(true);
        expect(Object.keys(found?.scripts ?? {}).every(isScriptName)).toBe(true);
        expect(Object.keys(found?.scripts ?? {}).length).toBeLessThanOrEqual(32);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is read up to a megabyte', () => {
    expect(readAnswer('x'.repeat(longestAnswer + 1)).problem).toBe(
      'the answer is longer than 1 MiB; ask for less',
    );
  });
});
