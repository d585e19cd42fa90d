import { afterAll, describe, expect, it } from 'vitest';
import { version } from '../../src/version.ts';
import { cleanUp, holdpoint, temporaryFolder } from './holdpoint.ts';

afterAll(cleanUp);

const commands = [
  ['policy'],
  ['policy', 'explain'],
  [],
  ['try'],
  ['run'],
  ['validate'],
  ['schema'],
  ['doctor'],
  ['audit'],
  ['audit', 'verify'],
  ['audit', 'tail'],
  ['store'],
  ['store', 'migrate'],
  ['store', 'copy'],
  ['secret'],
  ...['set', 'get', 'list', 'delete'].map((name) => ['secret', name]),
  ['task'],
  ...['send', 'get', 'list', 'watch', 'cancel', 'deferrals', 'approve', 'reject'].map((name) => [
    'task',
    name,
  ]),
];

describe.concurrent('the command line', () => {
  it('explains every command with --help', async () => {
    const ended = await Promise.all(commands.map((words) => holdpoint([...words, '--help'])));
    for (const [index, { code, stdout, stderr }] of ended.entries()) {
      const usage = `Usage: ${['holdpoint', ...(commands[index] ?? [])].join(' ')} `;
      expect({ code, stderr, usage: stdout.slice(0, usage.length) }).toEqual({
        code: 0,
        stderr: '',
        usage,
      });
      expect(stdout).toContain('--json');
    }
  });

  it('prints its version', async () => {
    expect(await holdpoint(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n` });
    const json = await holdpoint(['--version', '--json']);
    expect(JSON.parse(json.stdout)).toEqual({ version });
  });

  it.each([
    [['tsk'], "unknown command 'tsk' (Did you mean task?); see holdpoint --help"],
    [
      ['run', '--prot', '1'],
      "unknown option '--prot' (Did you mean --port?); see holdpoint run --help",
    ],
    [
      ['run', '--port', '65536'],
      "option '--port <port>' argument '65536' is invalid: it must be a whole number from 0 to 65535; see holdpoint run --help",
    ],
    [
      ['store', 'copy'],
      "required option '--from <file>' not specified; see holdpoint store copy --help",
    ],
    [['task', 'get'], "missing required argument 'id'; see holdpoint task get --help"],
    [
      ['task', 'send', '--data', '{'],
      "option '--data <json>' argument '{' is invalid: it is not valid JSON; put it in single quotes: '{\"a\": 1}'; see holdpoint task send --help",
    ],
    [
      ['task', 'send', '--script', '{}'],
      "option '--script <json>' argument '{}' is invalid: it must be a JSON list: '[{\"say\": \"hello\"}]'; see holdpoint task send --help",
    ],
    [
      ['task', 'get', 'x', '--timeout', '5'],
      "option '--timeout <duration>' argument '5' is invalid: a duration needs a unit; write 5s, 5m or 5h; see holdpoint task get --help",
    ],
  ])('exits with 2 for %j, and states the remedy', async (args, sentence) => {
    expect(await holdpoint(args)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: `error: ${sentence}\n`,
    });
  });

  it('prints its help and exits with 2 without a command', async () => {
    const { code, stdout, stderr } = await holdpoint([]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Usage: holdpoint');
    expect(stderr).toContain('error: no command was given; see holdpoint --help\n');
  });

  it('prints one JSON document for wrong usage, too', async () => {
    const { code, stdout } = await holdpoint(['tsk', '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toEqual({
      error: {
        code: 'usage',
        message: "unknown command 'tsk' (Did you mean task?)",
        hint: 'see holdpoint --help',
      },
    });
  });

  it('has no colour in a pipe, with NO_COLOR or with --no-color, and has it with --color', async () => {
    const dir = await temporaryFolder();
    const args = ['doctor', '--dir', dir];
    const [pipe, refused, flagged, forced] = await Promise.all([
      holdpoint(args),
      holdpoint(args, { env: { NO_COLOR: '1', FORCE_COLOR: '1' } }),
      holdpoint([...args, '--no-color'], { env: { FORCE_COLOR: '1' } }),
      holdpoint(args, { env: { FORCE_COLOR: '1' } }),
    ]);
    for (const { stdout, stderr } of [pipe, refused, flagged]) {
      expect(stdout + stderr).not.toContain('\u001b');
    }
    expect(forced.stdout).toContain('\u001b[31mfail\u001b[39m');
    expect(forced.stderr).toContain('\u001b[31merror:\u001b[39m');
  });

  it('prints the place of an error only with --debug', async () => {
    const args = ['audit', 'tail', '--file', '/nowhere/audit.ndjson'];
    const [plain, debug] = await Promise.all([holdpoint(args), holdpoint([...args, '--debug'])]);
    expect(plain.code).toBe(3);
    expect(plain.stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(debug.stderr).toMatch(/\n {4}at /);
  });
});
