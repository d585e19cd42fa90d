import { Argument, Command } from 'commander';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { completeLine } from '../../../src/cli/completion/complete-line.ts';

const program = aProgram();

function aProgram(): Command {
  const root = new Command('tool').option('--json', 'as JSON').version('1');
  const task = root.command('task').description('tasks');
  task
    .command('get')
    .description('show a task')
    .argument('<id>')
    .option('--dir <dir>', 'folder')
    .option('--url <url>', 'address')
    .option('-n, --lines <count>', 'how many');
  task.command('list').description('list tasks').option('--state <state>');
  root.command('verify').argument('<file...>').option('--keys <file>');
  root.command('shell').addArgument(new Argument('<shell>').choices(['bash', 'zsh']));
  root.command('run').option('--inspect [port]').option('--no-auth');
  return root;
}

/** The values that may stand at the end of a line. */
function values(line: string): string[] {
  return completeLine(program, line.split(' ')).candidates.map(({ value }) => value);
}

describe('completeLine', () => {
  it.each([
    ['', ['task', 'verify', 'shell', 'run']],
    ['t', ['task']],
    ['x', []],
    ['task ', ['get', 'list']],
    ['--json task g', ['get']],
    ['task get --', ['--dir', '--url', '--lines', '--json', '--version']],
    ['task get --d', ['--dir']],
    ['task get r1 --l', ['--lines']],
    ['task get -- --', []],
    ['shell ', ['bash', 'zsh']],
    ['shell z', ['zsh']],
    ['shell zsh ', []],
    ['run --inspect ', []],
    ['run --no', ['--no-auth']],
  ])('offers after %j %j', (line, offered) => {
    expect(values(line)).toEqual(offered);
  });

  it('describes each word', () => {
    expect(completeLine(program, ['task', 'l']).candidates).toEqual([
      { value: 'list', description: 'list tasks' },
    ]);
  });

  it.each([
    ['verify ', 'files'],
    ['verify a b ', 'files'],
    ['verify --keys ', 'files'],
    ['verify --keys=', 'files'],
    ['task get --dir ', 'folders'],
    ['task get --dir=/s', 'folders'],
    ['task get ', 'nothing'],
    ['task get --lines ', 'nothing'],
    ['', 'nothing'],
  ])('lets the shell complete after %j %s', (line, also) => {
    expect(completeLine(program, line.split(' ')).also).toBe(also);
  });

  it.each([
    ['task get ', { name: 'id', prefix: '', dir: null, isElsewhere: false }],
    ['task get --dir /srv ', { name: 'id', prefix: '', dir: '/srv', isElsewhere: false }],
    ['task get --dir=/srv -n 3 r', { name: 'id', prefix: '', dir: '/srv', isElsewhere: false }],
    ['task get --url http://x ', { name: 'id', prefix: '', dir: null, isElsewhere: true }],
    ['task get --dir=', { name: 'dir', prefix: '--dir=', dir: null, isElsewhere: false }],
  ])('queries the running agent after %j', (line, wanted) => {
    expect(completeLine(program, line.split(' ')).wanted).toEqual({
      command: 'task get',
      ...wanted,
    });
  });

  it('offers only words with the written beginning, for any text', () => {
    const word = fc.oneof(
      fc.constantFrom('task', 'get', '--dir', '--', '-n', '=', '', '--dir=', 'verify'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(word), (words) => {
        const current = words.at(-1) ?? '';
        for (const { value } of completeLine(program, words).candidates) {
          expect(value.startsWith(current)).toBe(true);
        }
      }),
    );
  });
});
