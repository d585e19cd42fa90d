import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readSkills } from '../../../../src/actors/tools/skills/skills.ts';
import { agentFolder } from './agent-folder.ts';

const head = '---\nname: s\ndescription: d\n---\n';

async function read(body: string, scripts: string[] = ['go.sh']) {
  const files = Object.fromEntries(scripts.map((name) => [`scripts/${name}`, '']));
  const folder = agentFolder({ 'SKILL.md': head + body, ...files });
  const { skills, problems, warnings } = await readSkills(folder);
  const place = ({ line, message }: { line: number; message: string }) => `${line}: ${message}`;
  return {
    folder,
    tools: skills[0]?.tools ?? [],
    problems: problems.map(place),
    warnings: warnings.map(place),
  };
}

const schema = '```json\n{"type": "object", "properties": {"a": {"type": "string"}}}\n```\n';
const anyObject = { type: 'object' };

describe('the tool sections of a skill', () => {
  it.each(['sh', 'py', 'js', 'mjs', 'ts'])('accept a script ending in .%s', async (extension) => {
    const { folder, tools } = await read('## Tool: go\nGoes.\n', [`go.${extension}`]);
    expect(tools.map((tool) => tool.script)).toEqual([join(folder, `scripts/go.${extension}`)]);
  });

  it.each([
    ['look_up', 'look-up.py'],
    ['look-up', 'look_up.py'],
  ])('match tool %s with script %s', async (tool, script) => {
    const { tools } = await read(`## Tool: ${tool}\nX.\n`, [script]);
    expect(tools.map(({ name }) => name)).toEqual([tool]);
  });

  it('are text without a script, with a warning', async () => {
    expect(await read('## Tool: talk\nTalks.\n')).toMatchObject({
      tools: [],
      problems: [],
      warnings: [
        '5: tool talk has no script and is read as text only; add scripts/talk.{sh,py,js,mjs,ts} to make it callable',
      ],
    });
  });

  it('are not read inside fenced blocks and at other levels', async () => {
    const body = '```md\n## Tool: go\n```\n# Tool: go\n### Tool: go\n~~~\n## Tool: go\n';
    expect(await read(body)).toMatchObject({ tools: [], problems: [], warnings: [] });
  });

  it.each([
    ['a comment', '<!--\n## Tool: go\nGoes.\n-->\n'],
    ['a comment in a list', '- One\n  <!--\n  ## Tool: go\n  -->\n'],
    ['an unclosed comment', '<!-- ## Old\n\n## Tool: go\nGoes.\n'],
    ['a list', '- One\n\n  ## Tool: go\n  Goes.\n'],
    ['a quote', '> ## Tool: go\n> Goes.\n'],
  ])('are not read from a heading in %s', async (_place, body) => {
    expect(await read(body)).toMatchObject({ tools: [], problems: [], warnings: [] });
  });

  it('have a description without comments', async () => {
    const body =
      '## Tool: go\n<!-- Hidden.\n**Input:** b (string)\n\n```json\n{"type": "string"}\n```\n--> Goes.\n';
    const { tools, problems } = await read(body);
    expect(problems).toEqual([]);
    expect(tools.map(({ description, parameters }) => ({ description, parameters }))).toEqual([
      { description: 'Goes.', parameters: anyObject },
    ]);
  });

  it.each([['Afterwards\n---\n'], ['Afterwards\n===\n'], ['## Afterwards\n']])(
    'end at the heading %j',
    async (heading) => {
      const { tools } = await read(`## Tool: go\nGoes.\n\n${heading}\n**Input:** b (string)\n`);
      expect(tools.map(({ description, parameters }) => ({ description, parameters }))).toEqual([
        { description: 'Goes.', parameters: anyObject },
      ]);
    },
  );

  it('are read only from headings with number signs', async () => {
    expect(await read('Tool: go\n---\nGoes.\n')).toMatchObject({ tools: [], problems: [] });
  });

  it.each([['  '], ['    '], ['      ']])('have list fences indented by %j', async (indent) => {
    const block = schema.trimEnd().replaceAll('\n', `\n${indent}`);
    const bullet = '-'.padEnd(indent.length);
    const nested = indent.length > 4 ? '- a\n  - b\n    - c' : `${bullet}a`;
    const { tools } = await read(`## Tool: go\nGoes.\n\n${nested}\n\n${indent}${block}\n`);
    expect(tools[0]?.parameters).toEqual({
      type: 'object',
      properties: { a: { type: 'string' } },
    });
  });

  it('have the place of broken JSON in a list, in a quote and after a lone carriage return', async () => {
    const places = async (body: string) => {
      const folder = agentFolder({ 'SKILL.md': head + body, 'scripts/go.sh': '' });
      const { problems } = await readSkills(folder);
      return problems.map(({ line, column }) => ({ line, column }));
    };
    const broken = ['```json', '{', '  "type" "object"', '}', '```'];
    const inside = (margin: string) =>
      `## Tool: go\nGoes.\n\n- One\n\n${broken.map((line) => margin + line).join('\n')}\n`;
    expect(await places(inside(''))).toEqual([{ line: 12, column: 10 }]);
    expect(await places(inside('  '))).toEqual([{ line: 12, column: 12 }]);
    expect(await places(inside('> '))).toEqual([{ line: 12, column: 12 }]);
    expect(await places(inside('  ').replace('Goes.', 'Goes.\rFar.'))).toEqual([
      { line: 13, column: 12 },
    ]);
  });

  it('are read with Windows line ends and a byte order mark', async () => {
    const body = `\uFEFF## Tool: go\r\nGoes\r\nfar.\r\n\r\n**Input:** b (string)\r\n`;
    const { tools } = await read(body);
    expect(tools).toMatchObject([
      { description: 'Goes far.', line: 5, parameters: { required: ['b'] } },
    ]);
  });

  it.each([
    ['one line of lists', '- '.repeat(120_000)],
    ['one line of quotes', '>'.repeat(250_000)],
    [
      'deeply nested lists',
      Array.from({ length: 350 }, (_, at) => `${'  '.repeat(at)}- a\n`).join(''),
    ],
    ['stars', '*a_ '.repeat(60_000)],
  ])('are read quickly below %s', async (_name, text) => {
    const { tools } = await read(`${text}a\n\n\n## Tool: go\nGoes.\n`);
    expect(tools).toMatchObject([{ description: 'Goes.' }]);
  });

  it('prefer the JSON block over the input line', async () => {
    const { tools } = await read(`## Tool: go\nGoes.\n\n**Input:** b (string)\n\n${schema}`);
    expect(tools[0]).toMatchObject({
      description: 'Goes.',
      parameters: { type: 'object', properties: { a: { type: 'string' } } },
    });
  });

  it('skip a JSON block that is an example of a result', async () => {
    const { tools } = await read(
      '## Tool: go\nGoes.\n\n**Input:** b (string)\n\n```json\n{"ok": true}\n```\n',
    );
    expect(tools[0]?.parameters).toEqual({
      type: 'object',
      properties: { b: { type: 'string' } },
      required: ['b'],
    });
  });

  it('accept any object without a schema, and report a missing description', async () => {
    const { tools } = await read('## Tool: go ##\n\n## Notes\nNot the description.\n');
    expect(tools[0]).toMatchObject({ description: 'go of the skill s', parameters: anyObject });
  });

  it.each([
    [
      'name (string), n (int), ok (bool, optional)',
      { name: 'string', n: 'integer', ok: 'boolean' },
      ['name', 'n'],
    ],
    [
      '`id` (string) - the id, `list` (array): all of them.',
      { id: 'string', list: 'array' },
      ['id', 'list'],
    ],
    ['free (optional)', { free: undefined }, []],
  ])('read the input line %s', async (line, types, required) => {
    const { tools, warnings } = await read(`## Tool: go\nGoes.\n\n- **Input**: ${line}\n`);
    const parameters = tools[0]?.parameters as { properties: Record<string, { type?: string }> };
    const found = Object.entries(parameters.properties).map(([name, { type }]) => [name, type]);
    expect(Object.fromEntries(found)).toEqual(types);
    expect(parameters).toMatchObject({ type: 'object', required });
    expect(tools[0]?.description).toBe('Goes.');
    if (!line.includes(', `list`')) expect(warnings).toEqual([]);
  });

  it('refuse unreadable arguments, with line and column', async () => {
    const folder = agentFolder({
      'SKILL.md': `${head}## Tool: go\n**Input:** a (string[]), b (date), 7, c (optional string)\n`,
      'scripts/go.sh': '',
    });
    const { skills, problems } = await readSkills(folder);
    expect(skills.map(({ tools }) => tools)).toEqual([[]]);
    expect(problems.map(({ line, column, message }) => `${line}:${column}: ${message}`)).toEqual([
      '6:26: tool go: "date" of b is not a known type',
      '6:36: tool go: "7" is not an argument such as order_id (string)',
      '6:39: tool go: "optional string" of c is not a known type',
    ]);
  });

  it('read the details next to a type', async () => {
    const { tools, problems } = await read(
      '## Tool: go\n**Input:** repo (string: owner/repo, or a URL), branch (string, optional: made (once) if omitted), n (int, default: 1, max: 9), state (string: open/closed)\n',
    );
    expect(problems).toEqual([]);
    expect(tools[0]?.parameters).toEqual({
      type: 'object',
      properties: {
        repo: { type: 'string', description: 'owner/repo, or a URL' },
        branch: { type: 'string', description: 'made (once) if omitted' },
        n: { type: 'integer', description: 'default: 1, max: 9' },
        state: { type: 'string', description: 'open/closed' },
      },
      required: ['repo', 'state'],
    });
  });

  const table = [
    '| Parameter | Type | Required | Description |',
    '| --- | :---: | --- | --- |',
    '| `id` | string | **yes** | Its id, such as `a\\|b` |',
    '| tags | string[] | no (all) | |',
  ].join('\n');

  it.each([
    ['a table', `\n${table}\n`],
    [
      'a list',
      '- `id` (string) - Its id, such as `a|b`\n  and more\n- **tags** (string[], optional)\n',
    ],
  ])('read %s below the input line', async (_form, block) => {
    const { tools, problems } = await read(`## Tool: go\n**Input:**\n${block}\n**Output:** text\n`);
    expect(problems).toEqual([]);
    expect(tools[0]?.parameters).toEqual({
      type: 'object',
      properties: {
        id: { type: 'string', description: 'Its id, such as `a|b`' },
        tags: { type: 'array', items: { type: 'string' } },
      },
      required: ['id'],
    });
  });

  it.each([
    [
      'an unknown type',
      table.replace('string[]', 'path'),
      '10:10: tool go: "path" of tags is not a known type',
    ],
    [
      'neither yes nor no',
      table.replace('no (all)', 'maybe'),
      '10:21: tool go: "maybe" does not say whether tags is required; write yes or no',
    ],
    [
      'no name',
      table.replace('tags', 'the tags'),
      '10:3: tool go: "the tags" is no name of an argument',
    ],
    [
      'no types',
      table.replaceAll('Type', 'Kind'),
      '7:1: tool go: the table has no column Type; write | Parameter | Type | Required | Description |',
    ],
    [
      'prose',
      'The order to look up.',
      '7:1: tool go: "The order to look up." is not an argument such as order_id (string)',
    ],
  ])('refuse a block with %s at its place', async (_what, block, problem) => {
    const folder = agentFolder({
      'SKILL.md': `${head}## Tool: go\n**Input:**\n${block}\n`,
      'scripts/go.sh': '',
    });
    const { problems } = await readSkills(folder);
    expect(problems.map(({ line, column, message }) => `${line}:${column}: ${message}`)).toEqual([
      problem,
    ]);
  });

  it('read an input line without arguments', async () => {
    const { tools } = await read('## Tool: go\nGoes.\n**Input:** none\n');
    expect(tools[0]?.parameters).toEqual(anyObject);
  });

  it.each([
    [
      '```json\n{\n  "type": "object",\n}\n```',
      9,
      'the JSON block does not parse; fix the JSON here',
    ],
    [
      '```json\n{"type": "array"}\n```',
      7,
      'the JSON Schema must describe an object; set "type": "object"',
    ],
    [
      '```json\n{"properties": {"a": {"type": "txt"}}}\n```',
      7,
      'the JSON Schema cannot be used: properties.a.type must be one of array, boolean, integer, null, number, object, string',
    ],
    [
      '```json\n{"$ref": "https://example.com/s.json"}\n```',
      7,
      "the JSON Schema cannot be used: can't resolve reference",
    ],
    [
      '```json\n{"$async": true, "properties": {}}\n```',
      7,
      'the JSON Schema cannot be used: $async is not supported',
    ],
  ])('refuse %s', async (block, line, message) => {
    const { tools, problems } = await read(`## Tool: go\n${block}\n`);
    expect(tools).toEqual([]);
    expect(problems).toEqual([expect.stringMatching(new RegExp(`^${line}: tool go: `))]);
    expect(problems[0]).toContain(message);
  });

  it('refuse a repeated name, with hyphens equal to underscores', async () => {
    const { tools, problems } = await read('## Tool: a_b\nX.\n## Tool: a-b\nY.\n', ['a_b.sh']);
    expect(tools.map(({ name }) => name)).toEqual(['a_b']);
    expect(problems).toEqual(['7: tool a-b is described twice in this file; keep one section']);
  });

  it('refuse invalid names and tools with two scripts', async () => {
    const { problems } = await read('## Tool: ../go\nX.\n## Tool: go\nY.\n', ['go.sh', 'go.py']);
    expect(problems).toEqual([
      '5: "../go" cannot name a tool; use a letter, then up to 63 letters, digits, _ or -',
      '7: tool go has several scripts (go.py, go.sh); keep one',
    ]);
  });

  it('refuse one tool in two skills', async () => {
    const folder = agentFolder({
      'skills/a/SKILL.md': `---\nname: a\ndescription: d\n---\n## Tool: go\nX.\n`,
      'skills/a/scripts/go.sh': '',
      'skills/b/SKILL.md': `---\nname: b\ndescription: d\n---\n\n## Tool: go\nX.\n`,
      'skills/b/scripts/go.sh': '',
    });
    expect((await readSkills(folder)).problems).toEqual([
      {
        message: 'tool go is also described in skills/a/SKILL.md; rename one',
        file: 'skills/b/SKILL.md',
        line: 6,
        column: 1,
      },
    ]);
  });

  it('warn of an unknown idempotent tool', async () => {
    const folder = agentFolder({
      'SKILL.md': '---\nname: a\ndescription: d\nmetadata: {service: {idempotent: [gone]}}\n---\n',
    });
    expect((await readSkills(folder)).warnings.map(({ message }) => message)).toEqual([
      'idempotent names gone, which is not a tool of the skill a; fix the name',
    ]);
  });
});
