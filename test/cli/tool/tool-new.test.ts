import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentFolder } from '../../actors/tools/skills/agent-folder.ts';
import { holdpointHere } from '../command-here.ts';

const service = `# the desk
agent_id: desk
description: Keeps the desk
model: {provider: openai, name: gpt-5}   # no key is needed to write a tool
`;

const skill = `---
name: desk
---

# Desk

## Tool: look

Looks.

**Input:** none
`;

const desk = (more: Record<string, string> = {}) =>
  agentFolder({ 'service.yaml': service, ...more });
const make = (directory: string, ...words: string[]) =>
  holdpointHere(['tool', 'new', ...words, '--dir', directory]);
const read = (directory: string, name: string) => readFileSync(join(directory, name), 'utf8');

describe('tool new', () => {
  it('writes the section, the script and the rule into a folder without skills, and shows them', async () => {
    const directory = desk();
    const made = await make(
      directory,
      ...['cancel_order', '--python', '--arg', 'order_id', '--arg', 'note:string?', '--held'],
      ...['--description', 'Cancels an order that has not been sent yet.'],
    );
    expect(made).toMatchObject({ code: 0 });
    expect(read(directory, 'SKILL.md')).toBe(`---
name: desk
description: "Keeps the desk"
---

# desk

## Tool: cancel_order

Cancels an order that has not been sent yet.

**Input:** order_id (string), note (string, optional)
`);
    expect(read(directory, 'scripts/cancel_order.py')).toContain('call = json.load(sys.stdin)');
    expect(read(directory, 'scripts/cancel_order.py')).toContain(
      'print("cancel_order ran:", call["order_id"], call.get("note"))',
    );
    expect(statSync(join(directory, 'scripts/cancel_order.py')).mode & 0o777).toBe(0o755);
    expect(read(directory, 'service.yaml')).toBe(`${service}security:
  defer:
    enabled: true
    tools:
      cancel_order:
        to: channel:console:*
`);
    expect(made.stdout).toContain(`wrote ${directory}/SKILL.md\n  ## Tool: cancel_order\n`);
    expect(made.stdout).toContain(`wrote ${directory}/scripts/cancel_order.py\n  import json, sys`);
    expect(made.stdout).toContain(
      `added security.defer.tools.cancel_order to ${directory}/service.yaml, and turned security.defer.enabled on\n  its calls require approval by channel:console:*\n`,
    );
    expect(made.stderr).toContain(
      `try it with: holdpoint task send 'call cancel_order with {"order_id":"A-1"}' --dir ${directory}\n`,
    );
  });

  it('appends to the existing skill, with its line ends, and shows a scripted call', async () => {
    const directory = desk({
      'service.yaml': 'agent_id: desk\r\n',
      'SKILL.md': skill.replaceAll('\n', '\r\n'),
      'scripts/look.sh': 'echo',
    });
    const args = ['--arg', 'n:integer', '--arg', 'tags:string[]', '--arg', 'is_new:boolean'];
    const made = await make(directory, 'count', '--js', ...args, '--description', 'Counts.');
    expect(read(directory, 'SKILL.md')).toBe(
      `${skill}\n## Tool: count\n\nCounts.\n\n**Input:** n (integer), tags (string[]), is_new (boolean)\n`.replaceAll(
        '\n',
        '\r\n',
      ),
    );
    expect(read(directory, 'service.yaml')).toBe('agent_id: desk\r\n');
    expect(read(directory, 'scripts/count.mjs')).toContain(
      "console.log('count ran:', call['n'], call['tags'], call['is_new']);",
    );
    expect(made.stderr).toContain(
      `try it with: holdpoint task send try --script '[{"tool":"count","args":{"n":1,"tags":["A-1"],"is_new":true}},{"say":"{result}"}]'`,
    );
  });

  it('uses the target of the first rule, or --to, and keeps an existing rule', async () => {
    const ruled = `agent_id: desk
security:
  defer:
    enabled: true
    tools:
      pay: {to: "channel:dashboard:*", timeout: 5m, optional: true} # money
      look: {to: "channel:console:*"}
`;
    const directory = desk({ 'service.yaml': ruled });
    await make(directory, 'first', '--sh', '--held');
    await make(directory, 'second', '--sh', '--held', '--to', 'channel:console:desk');
    const kept = await make(directory, 'look', '--sh', '--held');
    expect(kept.stdout).toContain('already has a rule for look, which is unchanged');
    expect(read(directory, 'service.yaml')).toBe(`${ruled}      first:
        to: channel:dashboard:*
      second:
        to: channel:console:desk
`);
  });

  it.each([
    ['--python', 'py', 'python3', 'pay ran: 5 None\n'],
    ['--sh', 'sh', 'sh', 'pay ran: {"amount":5}\n'],
    ['--js', 'mjs', process.execPath, 'pay ran: 5 undefined\n'],
  ])('writes a script with %s that reads its arguments', async (flag, ending, program, said) => {
    const directory = desk();
    await make(directory, 'pay', flag, '--arg', 'amount:number', '--arg', 'to-whom:string?');
    const script = join(directory, `scripts/pay.${ending}`);
    const { status, stdout } = spawnSync(program, [script], { input: '{"amount":5}' });
    expect([status, String(stdout)]).toEqual([0, said]);
    await make(directory, 'rest', flag);
    const rest = spawnSync(program, [join(directory, `scripts/rest.${ending}`)], { input: '{}' });
    expect([rest.status, String(rest.stderr)]).toEqual([0, '']);
  });

  it('prints the changes as JSON', async () => {
    const directory = desk();
    const { stdout } = await make(directory, 'look', '--sh', '--description', 'Looks.', '--json');
    expect(JSON.parse(stdout)).toEqual({
      ...{ tool: 'look', directory, skill: 'SKILL.md', script: 'scripts/look.sh', held: null },
      section: '## Tool: look\n\nLooks.\n\n**Input:** none\n',
      try: `holdpoint task send 'call look with {}' --dir ${directory}`,
    });
  });

  it.each([
    [['9x', '--sh'], '"9x" cannot name a tool; use a letter'],
    [['../x', '--sh'], '"../x" cannot name a tool'],
    [['x'], 'nothing says which language the script is in; give one of --python, --sh and --js'],
    [['x', '--sh', '--js'], 'a tool has one script; give one of --python, --sh and --js'],
    [['x', '--sh', '--arg', 'a b'], '"a b" cannot name an argument; use a letter'],
    [['x', '--sh', '--arg', '__proto__'], '"__proto__" cannot name an argument'],
    [['x', '--sh', '--arg', 'a', '--arg', 'a:number'], 'the argument a is named twice'],
    [['x', '--sh', '--arg', 'a:sting'], '"sting" of a is not a known type; write string, number'],
    [['x', '--sh', '--arg', 'a:string) b (int'], 'is not'],
    [
      ['x', '--sh', '--to', 'channel:console:*'],
      '--to is the approval target of a held call; give --held as well',
    ],
    [['x', '--sh', '--held', '--to', 'ops'], 'service.yaml was not changed'],
    [['x', '--sh', '--description', ' '], 'the description is one line of text'],
    [['x', '--sh', '--description', 'a\nb'], 'the description is one line of text'],
    [['x', '--sh', '--description', '# Heading'], 'the description cannot stand as a paragraph'],
    [['x', '--sh', '--description', '```'], 'the description cannot stand as a paragraph'],
    [['look', '--sh'], 'there is a tool look already; choose another name'],
    [['datetime-now', '--sh'], 'there is a tool datetime_now already'],
    [
      ['spoken', '--sh'],
      'SKILL.md has a section ## Tool: spoken already, on line 13; write its script',
    ],
    [['left', '--sh'], 'scripts/left.py is already there; rename the tool'],
  ])('refuses %j and writes nothing', async (words, message) => {
    const files = {
      'service.yaml': 'agent_id: desk\n',
      'SKILL.md': `${skill}\n## Tool: spoken\n\nIs only spoken of.\n`,
      'scripts/look.sh': 'echo',
      'scripts/left.py': '',
    };
    const directory = desk(files);
    const { code, stdout, stderr } = await make(directory, ...words);
    expect([code === 0, stdout]).toEqual([false, '']);
    expect(stderr).toContain(message);
    expect(readdirSync(join(directory, 'scripts')).toSorted()).toEqual(['left.py', 'look.sh']);
    for (const [name, text] of Object.entries(files)) expect(read(directory, name)).toBe(text);
  });

  it.each([
    ['a comment', '<!-- to be written'],
    ['a code block', '```'],
  ])('refuses a skill that ends inside %s', async (_, end) => {
    const directory = desk({ 'SKILL.md': `---\nname: desk\n---\n\n${end}\n` });
    const before = read(directory, 'SKILL.md');
    const { code, stderr } = await make(directory, 'x', '--sh', '--held');
    expect([code, stderr]).toEqual([1, expect.stringContaining('close it first')]);
    expect([read(directory, 'SKILL.md'), read(directory, 'service.yaml')]).toEqual([
      before,
      service,
    ]);
    expect(readdirSync(join(directory, 'scripts'))).toEqual([]);
  });

  it('reports that a skill without a name is not read', async () => {
    const directory = desk({ 'SKILL.md': '# Desk\n' });
    const { code, stderr } = await make(directory, 'x', '--sh');
    expect([code, stderr]).toEqual([
      1,
      'error: nothing was written: the file has no name in its frontmatter and is skipped; add one\n',
    ]);
    expect(read(directory, 'SKILL.md')).toBe('# Desk\n');
  });

  it('writes nothing outside the folder', async () => {
    const [directory, elsewhere] = [desk(), desk()];
    mkdirSync(join(elsewhere, 'scripts'));
    symlinkSync(join(elsewhere, 'scripts'), join(directory, 'scripts'));
    const { code, stderr } = await make(directory, 'x', '--sh');
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("scripts leads out of the agent's folder"),
    ]);
    expect(readdirSync(join(elsewhere, 'scripts'))).toEqual([]);
    expect(existsSync(join(directory, 'SKILL.md'))).toBe(false);
    const outside = desk({ 'service.yaml': 'agent_id: desk\nskills: {path: ../SKILL.md}\n' });
    expect((await make(outside, 'x', '--sh')).code).not.toBe(0);
  });

  it('reports a folder without an agent', async () => {
    const directory = desk();
    expect(await make(join(directory, 'none'), 'x', '--sh')).toMatchObject({ code: 3 });
    writeFileSync(join(directory, 'service.yaml'), 'agent_id: [');
    const { code, stderr } = await make(directory, 'x', '--sh');
    expect([code, stderr]).toEqual([
      5,
      expect.stringContaining('service.yaml has problems, which come first: service.yaml:'),
    ]);
  });
});
