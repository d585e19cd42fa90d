import { describe, expect, it } from 'vitest';
import { type Fences, findFences } from '../../../src/machines/skill-builder/find-fences.ts';

const lines = (...all: string[]) => all.join('\n');

const md = (content: string) => ({ script: null, content });
const script = (name: string, content = ':\n') => ({ script: name, content });
const frontmatter = ['---', 'name: a', '---'];

describe('a code block of a file', () => {
  it.each<[string, string[], Fences]>([
    ['is not found in an empty answer', [''], { artifacts: [], prose: '' }],
    ['is not found in plain words', ['a', '', 'b'], { artifacts: [], prose: 'a\n\nb' }],
    [
      'is found between words',
      ['a', '```skill.md', '# A', '```', 'b', '```script: x.sh', ':', '```', 'c'],
      { artifacts: [md('# A\n'), script('x.sh')], prose: 'a\nb\nc' },
    ],
    [
      'may be the whole answer',
      ['```skill.md', '# A', '```'],
      { artifacts: [md('# A\n')], prose: '\n' },
    ],
    ['may be empty', ['```skill.md', '```', 'b'], { artifacts: [md('')], prose: '\nb' }],
    [
      'may contain only blank lines',
      ['```skill.md', '', '', '```'],
      { artifacts: [md('')], prose: '\n' },
    ],
    [
      'loses one line end at its end and keeps blank lines',
      ['```skill.md', '', '# A', '', 'b', '', '', '```'],
      { artifacts: [md('\n# A\n\nb\n')], prose: '\n' },
    ],
    [
      'may occur twice',
      ['```skill.md', 'a', '```', '```skill.md', 'b', '```'],
      { artifacts: [md('a\n'), md('b\n')], prose: '\n\n' },
    ],
    [
      'may be indented by three spaces',
      ['   ```skill.md', '# A', '   ```', 'b'],
      { artifacts: [md('# A\n')], prose: '\nb' },
    ],
    [
      'is ignored when indented by four',
      ['    ```skill.md', '# A', '    ```'],
      { artifacts: [], prose: '    ```skill.md\n# A\n    ```' },
    ],
    [
      'is ignored with two backticks',
      ['``skill.md', '# A', '``'],
      { artifacts: [], prose: '``skill.md\n# A\n``' },
    ],
    [
      'is ignored after words on its line',
      ['x ```skill.md', '# A', 'y```'],
      { artifacts: [], prose: 'x ```skill.md\n# A\ny```' },
    ],
    [
      'is ignored when its info string contains a backtick',
      ['```skill.md ` skill.md', '# A'],
      { artifacts: [], prose: '```skill.md ` skill.md\n# A' },
    ],
    [
      'ends with the answer when it is not closed',
      ['a', '```skill.md', '# A', 'b'],
      { artifacts: [md('# A\nb\n')], prose: 'a\n' },
    ],
    [
      'ends at the next file',
      ['```skill.md', '# A', '```script: x.sh', ':', '```', 'b'],
      { artifacts: [md('# A\n'), script('x.sh')], prose: '\n\nb' },
    ],
    [
      'keeps nested blocks, named or closed',
      ['```skill.md', '```json', '{}', '```', '```sh', ':', '```', '# A', '```', 'b'],
      { artifacts: [md('```json\n{}\n```\n```sh\n:\n```\n# A\n')], prose: '\nb' },
    ],
    [
      'with four backticks keeps blocks without a language',
      ['````skill.md', '```', 'a', '```', '````', 'b'],
      { artifacts: [md('```\na\n```\n')], prose: '\nb' },
    ],
    [
      'with four backticks ends at five',
      ['````skill.md', '```json', 'a', '`````', 'b'],
      { artifacts: [md('```json\na\n')], prose: '\nb' },
    ],
    [
      'with four backticks ends at the first three when no longer fence follows',
      ['````skill.md', 'a', '```', 'b', '```', 'c'],
      { artifacts: [md('a\n')], prose: '\nb\n```\nc' },
    ],
    [
      'with four backticks ends at the three before the next file',
      ['````skill.md', 'a', '```', 'b', '````script: x.sh', ':', '````'],
      { artifacts: [md('a\n'), script('x.sh')], prose: '\nb\n' },
    ],
    [
      'with four backticks does not end at the end of a nested block',
      ['````skill.md', '```json', 'a', '```', 'b', '```', 'c'],
      { artifacts: [md('```json\na\n```\nb\n')], prose: '\nc' },
    ],
    [
      'with three backticks does not end at four within a nested block',
      ['```skill.md', '```json', 'a', '````', 'b', '```', 'c'],
      { artifacts: [md('```json\na\n````\nb\n')], prose: '\nc' },
    ],
    [
      'with three backticks ends at four',
      ['```skill.md', 'a', '````', 'b'],
      { artifacts: [md('a\n')], prose: '\nb' },
    ],
    [
      'ends with the answer when a nested block is not closed',
      ['```skill.md', '```json', 'a', '```', 'b'],
      { artifacts: [md('```json\na\n```\nb\n')], prose: '\n' },
    ],
    [
      'has its line ends converted',
      ['a\r', '```skill.md\r', '# A\r', '```\r', 'b'],
      { artifacts: [md('# A\n')], prose: 'a\nb' },
    ],
  ])('%s', (_, said, found) => {
    expect(findFences(lines(...said))).toEqual(found);
  });
});

describe('the info string after the backticks', () => {
  const name64 = 'x'.repeat(64);

  it.each<[string, string | null]>([
    ['skill.md', null],
    ['SKILL.md', null],
    [' \tskill.md\t ', null],
    ['markdown skill.md', null],
    ['script: x.sh', 'x.sh'],
    ['script:x.sh', 'x.sh'],
    ['Script: x.sh', 'x.sh'],
    ['bash script: x.sh', 'x.sh'],
    ['script:   x.sh   ', 'x.sh'],
    ['script: x.sh\u00a0', 'x.sh'],
    ['script: "x.sh"', 'x.sh'],
    ["script: 'x.sh'", 'x.sh'],
    ['script: scripts/x.sh', 'x.sh'],
    ['script: ./scripts/x.sh', 'x.sh'],
    ['script: "scripts/x.sh"', 'x.sh'],
    [`script: scripts/${name64}`, name64],
    ['script: scripts/../x', 'scripts/../x'],
    ['script: scripts/.x', 'scripts/.x'],
    ['script: a/scripts/x.sh', 'a/scripts/x.sh'],
    ['script: myscripts/x', 'myscripts/x'],
    ['script: ../x', '../x'],
    ['script: x"y', 'x"y'],
    ['script: a b', 'a b'],
    ['script: skill.md', 'skill.md'],
  ])('%j names %j', (info, name) => {
    expect(findFences(lines(`\`\`\`${info}`, ':', '```'))).toEqual({
      artifacts: [{ script: name, content: ':\n' }],
      prose: '\n',
    });
  });

  it.each([
    '',
    'sh',
    'md',
    'skill.md.txt',
    'skillxmd',
    'myskill.md',
    'skill.md of the weather',
    'script:',
    'script: ',
    'myscript: x.sh',
    'script x.sh',
    'script: x\u2028y',
  ])('%j names no file', (info) => {
    const text = lines(`\`\`\`${info}`, ':', '```');
    expect(findFences(text)).toEqual({ artifacts: [], prose: text });
  });

  it('is read up to 256 characters', () => {
    const opener = (length: number) => `\`\`\`${'x'.repeat(length - 12)} skill.md`;
    expect(findFences(lines(opener(256), 'a', '```'))).toEqual({
      artifacts: [md('a\n')],
      prose: '\n',
    });
    const long = lines(opener(257), 'a');
    expect(findFences(long)).toEqual({ artifacts: [], prose: long });
  });
});

describe('a block with only a language', () => {
  const padding = (count: number) => Array.from({ length: count }, (_, index) => `a${index}: b`);

  it.each<[string, string[]]>([
    ['is a SKILL.md in markdown', ['```markdown', ...frontmatter]],
    ['is a SKILL.md in md', ['```md', ...frontmatter]],
    ['is a SKILL.md in yaml', ['```YAML', ...frontmatter]],
    ['is a SKILL.md in yml', ['```yml', ...frontmatter]],
    ['may be named later', ['```md', '---', 'description: d', 'name:  a', '---', '# A']],
    ['may have trailing spaces', ['```md', '--- ', 'name:a', '---\t']],
    ['may have 31 lines of frontmatter', ['```md', '---', ...padding(30), 'name: a', '---']],
  ])('%s', (_, said) => {
    const { artifacts, prose } = findFences(lines(...said, '```', 'b'));
    expect({ artifacts, prose }).toEqual({
      artifacts: [md(`${lines(...said.slice(1))}\n`)],
      prose: '\nb',
    });
  });

  it.each<[string, string[]]>([
    ['is ignored in another language', ['```json', ...frontmatter]],
    ['is ignored in a longer language', ['```mdx', ...frontmatter]],
    ['is ignored in a language with more words', ['```my md', ...frontmatter]],
    ['is ignored without frontmatter', ['```md', '# A', ...frontmatter]],
    ['is ignored after a blank line', ['```md', '', ...frontmatter]],
    ['is ignored with an indented frontmatter', ['```md', ' ---', 'name: a', '---']],
    ['is ignored with a longer rule', ['```md', '----', 'name: a', '---']],
    ['is ignored when its frontmatter is not closed', ['```md', '---', 'name: a']],
    ['is ignored when its frontmatter is empty', ['```md', '---', '---', 'name: a']],
    ['is ignored without a name', ['```md', '---', 'title: a', '---', 'name: a']],
    ['is ignored with an empty name', ['```md', '---', 'name: ', '---']],
    ['is ignored with a nested name', ['```md', '---', 'tool:', '  name: a', '---']],
    ['is ignored with a longer key', ['```md', '---', 'names: a', '---']],
    ['is ignored with 32 lines of frontmatter', ['```md', '---', ...padding(31), 'name: a', '---']],
    ['is ignored at the end of the answer', ['```md']],
  ])('%s', (_, said) => {
    const text = lines(...said, '```');
    expect(findFences(text)).toEqual({ artifacts: [], prose: text });
  });

  it('does not end the block before it', () => {
    const text = lines('```skill.md', 'a', '```md', ...frontmatter, '```', 'b', '```', 'c');
    expect(findFences(text)).toEqual({
      artifacts: [md(lines('a', '```md', ...frontmatter, '```', 'b', ''))],
      prose: '\nc',
    });
  });
});

it('at most 64 files are read, and later ones stay in the text', () => {
  const block = (index: number) => lines(`\`\`\`script: s${index}`, ':', '```');
  const all = Array.from({ length: 65 }, (_, index) => block(index));
  const { artifacts, prose } = findFences(lines(...all));
  expect(artifacts).toEqual(Array.from({ length: 64 }, (_, index) => script(`s${index}`)));
  expect(prose.trim()).toBe(block(64));
});
