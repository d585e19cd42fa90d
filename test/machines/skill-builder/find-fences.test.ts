import { describe, expect, it } from 'vitest';
import { type Fences, findFences } from '../../../src/machines/skill-builder/find-fences.ts';

const lines = (...all: string[]) => all.join('\n');

const md = (content: string) => ({ script: null, content });
const script = (name: string, content = ':\n') => ({ script: name, content });
const frontmatter = ['---', 'name: a', '---'];

describe('a block of a file', () => {
  it.each<[string, string[], Fences]>([
    ['is not there in nothing', [''], { artifacts: [], prose: '' }],
    ['is not there in words', ['a', '', 'b'], { artifacts: [], prose: 'a\n\nb' }],
    [
      'stands between words',
      ['a', '```skill.md', '# A', '```', 'b', '```script: x.sh', ':', '```', 'c'],
      { artifacts: [md('# A\n'), script('x.sh')], prose: 'a\nb\nc' },
    ],
    ['may be all', ['```skill.md', '# A', '```'], { artifacts: [md('# A\n')], prose: '\n' }],
    ['may be empty', ['```skill.md', '```', 'b'], { artifacts: [md('')], prose: '\nb' }],
    [
      'may hold nothing but blank lines',
      ['```skill.md', '', '', '```'],
      { artifacts: [md('')], prose: '\n' },
    ],
    [
      'ends with one line end and keeps blank lines in it',
      ['```skill.md', '', '# A', '', 'b', '', '', '```'],
      { artifacts: [md('\n# A\n\nb\n')], prose: '\n' },
    ],
    [
      'may be there twice',
      ['```skill.md', 'a', '```', '```skill.md', 'b', '```'],
      { artifacts: [md('a\n'), md('b\n')], prose: '\n\n' },
    ],
    [
      'may be indented by three blanks',
      ['   ```skill.md', '# A', '   ```', 'b'],
      { artifacts: [md('# A\n')], prose: '\nb' },
    ],
    [
      'is none when it is indented by four',
      ['    ```skill.md', '# A', '    ```'],
      { artifacts: [], prose: '    ```skill.md\n# A\n    ```' },
    ],
    [
      'is none with two backticks',
      ['``skill.md', '# A', '``'],
      { artifacts: [], prose: '``skill.md\n# A\n``' },
    ],
    [
      'is none behind words on its line',
      ['x ```skill.md', '# A', 'y```'],
      { artifacts: [], prose: 'x ```skill.md\n# A\ny```' },
    ],
    [
      'is none when its words hold a backtick',
      ['```skill.md ` skill.md', '# A'],
      { artifacts: [], prose: '```skill.md ` skill.md\n# A' },
    ],
    [
      'ends with the text when nothing closes it',
      ['a', '```skill.md', '# A', 'b'],
      { artifacts: [md('# A\nb\n')], prose: 'a\n' },
    ],
    [
      'ends at the next file',
      ['```skill.md', '# A', '```script: x.sh', ':', '```', 'b'],
      { artifacts: [md('# A\n'), script('x.sh')], prose: '\n\nb' },
    ],
    [
      'keeps the blocks that stand in it, named or closed',
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
      'with four backticks ends at the first three when nothing longer comes',
      ['````skill.md', 'a', '```', 'b', '```', 'c'],
      { artifacts: [md('a\n')], prose: '\nb\n```\nc' },
    ],
    [
      'with four backticks ends at the three before the next file',
      ['````skill.md', 'a', '```', 'b', '````script: x.sh', ':', '````'],
      { artifacts: [md('a\n'), script('x.sh')], prose: '\nb\n' },
    ],
    [
      'with four backticks does not end at the end of a block in it',
      ['````skill.md', '```json', 'a', '```', 'b', '```', 'c'],
      { artifacts: [md('```json\na\n```\nb\n')], prose: '\nc' },
    ],
    [
      'with three backticks does not end at four within a block in it',
      ['```skill.md', '```json', 'a', '````', 'b', '```', 'c'],
      { artifacts: [md('```json\na\n````\nb\n')], prose: '\nc' },
    ],
    [
      'with three backticks ends at four',
      ['```skill.md', 'a', '````', 'b'],
      { artifacts: [md('a\n')], prose: '\nb' },
    ],
    [
      'ends at the end of the text when a block in it is not closed',
      ['```skill.md', '```json', 'a', '```', 'b'],
      { artifacts: [md('```json\na\n```\nb\n')], prose: '\n' },
    ],
    [
      'has its line ends made those of a file',
      ['a\r', '```skill.md\r', '# A\r', '```\r', 'b'],
      { artifacts: [md('# A\n')], prose: 'a\nb' },
    ],
  ])('%s', (_, said, found) => {
    expect(findFences(lines(...said))).toEqual(found);
  });
});

describe('the words behind the backticks', () => {
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
  ])('%j name %j', (info, name) => {
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
  ])('%j name no file', (info) => {
    const text = lines(`\`\`\`${info}`, ':', '```');
    expect(findFences(text)).toEqual({ artifacts: [], prose: text });
  });

  it('are read up to 256 characters of the line', () => {
    const opener = (length: number) => `\`\`\`${'x'.repeat(length - 12)} skill.md`;
    expect(findFences(lines(opener(256), 'a', '```'))).toEqual({
      artifacts: [md('a\n')],
      prose: '\n',
    });
    const long = lines(opener(257), 'a');
    expect(findFences(long)).toEqual({ artifacts: [], prose: long });
  });
});

describe('a block that says its language alone', () => {
  const padding = (count: number) => Array.from({ length: count }, (_, index) => `a${index}: b`);

  it.each<[string, string[]]>([
    ['is a SKILL.md in markdown', ['```markdown', ...frontmatter]],
    ['is a SKILL.md in md', ['```md', ...frontmatter]],
    ['is a SKILL.md in yaml', ['```YAML', ...frontmatter]],
    ['is a SKILL.md in yml', ['```yml', ...frontmatter]],
    ['may have its name later', ['```md', '---', 'description: d', 'name:  a', '---', '# A']],
    ['may have blanks behind its lines', ['```md', '--- ', 'name:a', '---\t']],
    ['may have 31 lines of frontmatter', ['```md', '---', ...padding(30), 'name: a', '---']],
  ])('%s', (_, said) => {
    const { artifacts, prose } = findFences(lines(...said, '```', 'b'));
    expect({ artifacts, prose }).toEqual({
      artifacts: [md(`${lines(...said.slice(1))}\n`)],
      prose: '\nb',
    });
  });

  it.each<[string, string[]]>([
    ['is none in another language', ['```json', ...frontmatter]],
    ['is none in a longer language', ['```mdx', ...frontmatter]],
    ['is none in a language with more words', ['```my md', ...frontmatter]],
    ['is none without frontmatter', ['```md', '# A', ...frontmatter]],
    ['is none behind a blank line', ['```md', '', ...frontmatter]],
    ['is none with an indented frontmatter', ['```md', ' ---', 'name: a', '---']],
    ['is none with a longer rule', ['```md', '----', 'name: a', '---']],
    ['is none when its frontmatter does not end', ['```md', '---', 'name: a']],
    ['is none when its frontmatter is empty', ['```md', '---', '---', 'name: a']],
    ['is none without a name', ['```md', '---', 'title: a', '---', 'name: a']],
    ['is none with an empty name', ['```md', '---', 'name: ', '---']],
    ['is none with a name within another', ['```md', '---', 'tool:', '  name: a', '---']],
    ['is none with a longer key', ['```md', '---', 'names: a', '---']],
    ['is none with 32 lines of frontmatter', ['```md', '---', ...padding(31), 'name: a', '---']],
    ['is none at the end of the text', ['```md']],
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

it('looks for 64 files, and leaves what comes after them in the words', () => {
  const block = (index: number) => lines(`\`\`\`script: s${index}`, ':', '```');
  const all = Array.from({ length: 65 }, (_, index) => block(index));
  const { artifacts, prose } = findFences(lines(...all));
  expect(artifacts).toEqual(Array.from({ length: 64 }, (_, index) => script(`s${index}`)));
  expect(prose.trim()).toBe(block(64));
});
