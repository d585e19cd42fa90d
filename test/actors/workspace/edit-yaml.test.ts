import fc from 'fast-check';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { editYaml, type YamlEdit } from '../../../src/actors/workspace/workspace.ts';

const list = (...items: string[]): YamlEdit[] => [
  { kind: 'append', path: ['egress', 'allowed_domains'], items, comment: 'skill x' },
];

describe('a YAML text with an addition', () => {
  it('continues a list at its indentation, after its comments', () => {
    const text = `agent_id: a   # ours

egress:
    mode: allowlist      # as ever
    allowed_domains:
    - "one.example"   # first

    # the next key
    writable: [work]
`;
    expect(editYaml(text, list('two.example', '*.three.example'))).toBe(
      text.replace(
        '# first\n',
        '# first\n    - two.example # skill x\n    - "*.three.example" # skill x\n',
      ),
    );
  });

  it('continues a list in brackets, over several lines too', () => {
    expect(editYaml('egress: {allowed_domains: [a.example]}\n', list('b.example'))).toBe(
      'egress: {allowed_domains: [a.example, b.example]}\n',
    );
    const text = 'egress:\n  allowed_domains: [\n    a.example, # one\n    ]\n';
    expect(editYaml(text, list('b.example'))).toBe(
      'egress:\n  allowed_domains: [\n    a.example, b.example, # one\n    ]\n',
    );
    expect(editYaml('egress: {allowed_domains: []}\n', list('b.example'))).toBe(
      'egress: {allowed_domains: [b.example]}\n',
    );
  });

  it.each([
    ['a: 1', 'a: 1\negress:\n  allowed_domains:\n    - b.example\n'],
    [
      'egress:\n  mode: allowlist\n# end\n',
      'egress:\n  mode: allowlist\n  allowed_domains:\n    - b.example\n# end\n',
    ],
    ['egress: {mode: allowlist}\n', 'egress: {mode: allowlist, allowed_domains: [b.example]}\n'],
    ['egress: {}\n', 'egress: {allowed_domains: [b.example]}\n'],
    ['egress:\n\na: 1\n', 'egress:\n  allowed_domains:\n    - b.example\n\na: 1\n'],
    [
      'egress:\n  allowed_domains: # none yet\n  mode: allowlist\n',
      'egress:\n  allowed_domains: # none yet\n    - b.example\n  mode: allowlist\n',
    ],
    [
      'egress:\r\n  mode: allowlist\r\na: 1\r\n',
      'egress:\r\n  mode: allowlist\r\n  allowed_domains:\r\n    - b.example\r\na: 1\r\n',
    ],
    [
      'egress:\n  writable:\n    - work\ntext: |\n  egress:\n',
      'egress:\n  writable:\n    - work\n  allowed_domains:\n    - b.example\ntext: |\n  egress:\n',
    ],
  ])('creates missing keys in %j', (text, expected) => {
    expect(editYaml(text, list('b.example'))).toBe(expected);
  });

  it('adds a rule to others, and sets a switch', () => {
    const text = `security:
  defer:
    enabled: false # for now
    tools:
      pay:
        to: "channel:console:*"
`;
    expect(
      editYaml(text, [
        { kind: 'put', path: ['security', 'defer', 'enabled'], value: true },
        {
          kind: 'put',
          path: ['security', 'defer', 'tools', 'post'],
          value: { to: 'channel:console:*', timeout: '5m' },
        },
      ]),
    ).toBe(`security:
  defer:
    enabled: true # for now
    tools:
      pay:
        to: "channel:console:*"
      post:
        to: channel:console:*
        timeout: 5m
`);
  });

  const commented = `# top
a: "1"   # quoted

b:   # a map
    c: 'two' # scalar

    # about d
    d: # a list
    - one # first

    - "two"   # second
    # end of d
    e:
      f: {x: 1, y: [1,  2]} # flow
g: |
  text # of g

# end
`;

  it.each<[YamlEdit, string, string]>([
    [{ kind: 'put', path: ['b', 'c'], value: 'three' }, "'two'", 'three'],
    [{ kind: 'put', path: ['b', 'c'], value: ['x', 'y'] }, "'two'", '[x, y]'],
    [
      { kind: 'put', path: ['b', 'd'], value: ['x'] },
      '    - one # first\n\n    - "two"   # second\n',
      '      - x\n',
    ],
    [
      { kind: 'put', path: ['b', 'd'], value: 'x' },
      ' # a list\n    - one # first\n\n    - "two"   # second\n',
      ' x # a list\n',
    ],
    [{ kind: 'put', path: ['b', 'e', 'f', 'y'], value: 3 }, '[1,  2]', '3'],
    [{ kind: 'put', path: ['b', 'e', 'f', 'w'], value: 0, isFirst: true }, '{x', '{w: 0, x'],
    [{ kind: 'put', path: ['b', 'a'], value: 0, isFirst: true }, '    c:', '    a: 0\n    c:'],
    [
      { kind: 'put', path: ['b', 'e', 'f', 'y'], value: `1\n#${'2'.repeat(80)}` },
      '[1,  2]',
      `"1\\n#${'2'.repeat(80)}"`,
    ],
    [{ kind: 'put', path: ['g'], value: { h: 'i' } }, '|\n  text # of g', '{h: i}'],
    [{ kind: 'delete', path: ['b', 'c'] }, "    c: 'two' # scalar\n", ''],
    [{ kind: 'delete', path: ['b', 'd', 0] }, '    - one # first\n', ''],
    [{ kind: 'delete', path: ['b', 'd', 1] }, '    - "two"   # second\n', ''],
    [
      { kind: 'delete', path: ['b', 'd'] },
      '    d: # a list\n    - one # first\n\n    - "two"   # second\n',
      '',
    ],
    [{ kind: 'delete', path: ['b', 'e', 'f', 'x'] }, 'x: 1, ', ''],
    [{ kind: 'delete', path: ['b', 'e', 'f', 'y'] }, ', y: [1,  2]', ''],
    [{ kind: 'delete', path: ['b', 'e', 'f', 'y', 1] }, ',  2', ''],
    [{ kind: 'delete', path: ['b', 'e', 'f'] }, 'e:\n      f: {x: 1, y: [1,  2]} # flow', 'e: {}'],
    [{ kind: 'delete', path: ['g'] }, 'g: |\n  text # of g\n', ''],
    [{ kind: 'delete', path: ['b', 'z', 'x'] }, '', ''],
  ])('keeps every other line: %j', (edit, old, now) => {
    const after = commented.replace(old, now);
    expect(editYaml(commented, [edit])).toBe(after);
    const windows = (text: string) => text.replaceAll('\n', '\r\n');
    expect(editYaml(windows(commented), [edit])).toBe(windows(after));
  });

  it.each([
    'base: &b [x]\negress: {allowed_domains: *b}\n',
    'egress: text\n',
    'egress: [a]\n',
    'egress: []\n',
    'egress: {allowed_domains: one.example}\n',
    'egress: {a: 1',
    `egress: ${'['.repeat(30_000)}`,
    '[a]\n',
  ])('is refused where nothing can be added: %.40j', (text) => {
    expect(() => editYaml(text, list('b.example'))).toThrow(
      expect.objectContaining({ code: 'yaml_unusable' }),
    );
  });

  it('keeps every line and has exactly the added meaning, for any content', () => {
    const word = fc.stringMatching(/^[a-z]{1,6}$/);
    const comment = fc.option(word, { nil: '' }).map((text) => (text ? ` # ${text}` : ''));
    const entries = fc.array(fc.tuple(word, comment), { maxLength: 3 });
    const others = fc.uniqueArray(
      word.filter((name) => name !== 'egress'),
      { maxLength: 3 },
    );
    fc.assert(
      fc.property(
        others,
        entries,
        comment,
        fc.constantFrom('', '\n', '# a line\n'),
        fc.boolean(),
        fc.uniqueArray(fc.stringMatching(/^(\*\.)?[a-z]{1,5}\.[a-z]{2,3}(:\d{2})?$/), {
          minLength: 1,
          maxLength: 3,
        }),
        (names, listed, note, gap, isList, hosts) => {
          const head = names.map((name) => `${name}: 1${note}\n${gap}`).join('');
          const items = listed.map(([name, text]) => `    - ${name}${text}\n`).join('');
          const text = `${head}egress:${note}\n  mode: allowlist${note}\n${
            isList ? `  allowed_domains:${note}\n${items}${gap}` : gap
          }`;
          const after = editYaml(text, list(...hosts));
          const lines = after.split('\n');
          const kept = text.split('\n');
          expect(kept.filter((line) => !lines.includes(line))).toEqual([]);
          const before = load(text) as { egress: { allowed_domains?: string[] | null } };
          const domains = before.egress.allowed_domains ?? [];
          expect(load(after)).toEqual({
            ...before,
            egress: { ...before.egress, allowed_domains: [...domains, ...hosts] },
          });
        },
      ),
    );
  });
});
