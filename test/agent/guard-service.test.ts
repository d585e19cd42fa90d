import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Condition, ConditionCompiler } from '../../src/actors/governance/governance.ts';
import { guardService } from '../../src/agent/guard-service.ts';
import type { JsonObject } from '../../src/machines/json.ts';

const compiler = new ConditionCompiler({ environment: {} });

const facts = {
  ...{ requester: null, ran: null, now: 0 },
  task: { id: 't', surface: 'hold', session: 's', tags: {} },
} as never;

/** The conditions under which calls of a tool run, by project and tool. */
const compiled = new Map<string, Condition[]>();

function conditionsOf(tool: string, project: string): Condition[] {
  const key = `${project} ${tool}`;
  const known = compiled.get(key);
  if (known !== undefined) return known;
  const { gate, security } = parse(guardService(project));
  const rules = security.defer.tools[tool] as { when?: string; allow?: boolean }[];
  const conditions = rules.flatMap(({ when, allow }) => {
    if (when === undefined) return [];
    const condition = compiler.compile(when, gate.tools[tool].schema ?? {});
    if (!('holds' in condition)) throw new Error(condition.message);
    expect(allow).toBe(true);
    return [condition];
  });
  compiled.set(key, conditions);
  return conditions;
}

/** Returns whether the rules for a project let a call run without a person. */
function runs(tool: string, args: object, project = '/home/ann/app'): boolean {
  const call = { tool, args: args as JsonObject };
  return conditionsOf(tool, project).some((condition) => condition.holds(call, facts) === true);
}

const command = (text: string) => runs('Bash', { command: text });

describe('a shell command', () => {
  it.each([
    ...[
      'pwd',
      'ls',
      'ls -la src',
      'cat README.md',
      'cat /home/ann/app/src/a.ts',
      'head -n 20 a.ts b.ts',
    ],
    ...[
      'grep -n TODO src/a.ts',
      'wc -l a.ts',
      'git status',
      'git diff --stat src',
      'git log --oneline -5',
    ],
    ...['git show', 'git branch -a', 'node --version', 'ls .'],
  ])('%j runs', (text) => {
    expect(command(text)).toBe(true);
  });

  it.each([
    ...[
      'ls; rm -rf /',
      'ls && rm a',
      'ls | sh',
      'ls > a',
      'ls < a',
      'ls &',
      'ls\nrm a',
      'ls\r\nrm a',
      'ls\n',
    ],
    ...[
      'cat $(rm a)',
      'cat `rm a`',
      'cat ${HOME}/a',
      'cat $HOME',
      'ls {a,b}',
      'ls *',
      'ls a?',
      'ls [a]',
      'ls !!',
    ],
    ...[
      'cat ~/.ssh/id_rsa',
      'cat /etc/passwd',
      'cat /home/ann/app2/a',
      'cat ../a',
      'cat a/../../b',
      'cat src/..',
    ],
    ...[
      'cat .env',
      'cat config/.env.local',
      'cat id_rsa',
      'cat a.pem',
      'cat credentials',
      'grep x secrets.yaml',
    ],
    ...['cat .service/runtime.token', 'cat /home/ann/app/.npmrc', 'git diff .env'],
    ...[
      'git -c core.pager=sh status',
      'git --git-dir=x status',
      'git push',
      'git commit -m x',
      'git diff --ext-diff',
    ],
    ...[
      'git diff --output=a',
      'git log --exec=x',
      'git branch -D main',
      'git branch new',
      'git show HEAD:.env',
    ],
    ...[
      'PAGER=sh git log',
      'A=b ls',
      'env ls',
      'sudo ls',
      'command ls',
      'exec ls',
      '\\ls',
      "'ls'",
      '"ls"',
      'l\\s',
    ],
    ...[
      '/bin/ls',
      './ls',
      'bash -c ls',
      'eval ls',
      'xargs ls',
      'find . -delete',
      'find . -exec rm a',
      'rm a',
      'mv a b',
    ],
    ...[
      'curl a.example',
      'npm test',
      'node a.js',
      'alias ls=rm',
      'tail -f a',
      'cat -- a',
      'ls --color=x',
      'cat',
      ' ls',
    ],
    ...[
      'ls  ',
      'cat\ta',
      'ls\u00a0a',
      'cat a\u0000b',
      'ls＆rm',
      'grep -f a b',
      'grep -r x .',
      'LS',
      '',
      '#',
      'ls # a',
    ],
  ])('%j waits', (text) => {
    expect(command(text)).toBe(false);
  });

  it('waits with any character that a shell reads as more than a word', () => {
    const special = fc.constantFrom(...';&|<>()$`\\"\'*?[]{}~!#=\n\r\t\0');
    const allowed = fc.constantFrom(
      'ls',
      'cat a.ts',
      'git status',
      'grep -n a b',
      'head -n 5 src/a',
    );
    fc.assert(
      fc.property(
        allowed,
        special,
        fc.nat(),
        fc.string({ maxLength: 12 }),
        (base, character, at, more) => {
          const place = at % (base.length + 1);
          expect(command(base.slice(0, place) + character + more + base.slice(place))).toBe(false);
        },
      ),
    );
  });

  it('runs only if a POSIX shell reads the words that the rule reads', () => {
    const word = fc.stringMatching(/^[ -~]{1,10}$/);
    fc.assert(
      fc.property(fc.array(word, { maxLength: 4 }), (words) => {
        const text = ['cat', ...words].join(' ');
        if (command(text)) expect(text).toMatch(/^cat(?: [A-Za-z0-9_./-]+)+$/);
      }),
    );
  });
});

describe('a file tool', () => {
  it.each<[tool: string, args: object, expected: boolean]>([
    ['Read', { file_path: '/home/ann/app/src/a.ts' }, true],
    ['Read', { file_path: 'src/a.ts' }, true],
    ['Read', { file_path: '/home/ann/app/../.ssh/id_rsa' }, false],
    ['Read', { file_path: '/home/ann/application/a' }, false],
    ['Read', { file_path: '/home/ann/app/.env' }, false],
    ['Read', { file_path: '~/a' }, false],
    ['Read', { file_path: ['/home/ann/app/a'] }, false],
    ['Read', {}, false],
    ['read', { filePath: '/home/ann/app/a' }, true],
    ['view', { path: '/home/ann/app' }, true],
    ['Write', { file_path: '/home/ann/app/src/a.ts' }, true],
    ['Write', { file_path: 'src/a.ts' }, false],
    ['Write', { file_path: '/home/ann/app/.claude/settings.json' }, false],
    ['Write', { file_path: '/home/ann/app/.git/config' }, false],
    ['Edit', { file_path: '/home/ann/app/src/../../b' }, false],
    ['Edit', { file_path: '/etc/hosts' }, false],
    ['edit', { filePath: '/home/ann/app/a' }, true],
    ['edit', { path: '/home/ann/app/a' }, true],
    ['edit', { path: '/home/ann/app/.github/hooks/holdpoint.json' }, false],
    ['create', { path: '/home/ann/app/opencode.json' }, false],
    ...[
      ...['.claude/settings.json', '.claude/settings.local.json', '.codex/hooks.json'],
      ...['.codex/config.toml', '.cursor/hooks.json', '.github/hooks/holdpoint.json'],
      ...['.opencode/plugins/holdpoint.js', 'opencode.json', 'opencode.jsonc', 'OpenCode.JSONC'],
      ...['sub/opencode.jsonc', 'tui.json', 'cli.json', '.mcp.json'],
    ].flatMap((file): [string, object, boolean][] => [
      ['Write', { file_path: `/home/ann/app/${file}` }, false],
      ['Edit', { file_path: `/home/ann/app/${file}` }, false],
      ['write', { filePath: `/home/ann/app/${file}` }, false],
      ['edit', { path: `/home/ann/app/${file}` }, false],
    ]),
    ['Write', { file_path: '/home/ann/app/src/opencode.ts' }, true],
    ['Glob', { pattern: '**/*.ts' }, true],
    ['Glob', { pattern: '**/.env*' }, false],
    ['Glob', { pattern: '*', path: '/etc' }, false],
    ['Grep', { pattern: 'a', output_mode: 'files_with_matches' }, true],
    ['Grep', { pattern: '=', output_mode: 'content' }, false],
    ['Grep', { pattern: '=', output_mode: 'content', type: 'ts', path: '.env' }, false],
    ['Grep', { pattern: 'a', output_mode: 'content', type: 'ts' }, true],
    ['grep', { pattern: 'a', include: '*.ts' }, true],
    ['grep', { pattern: 'a' }, false],
    ['grep', { pattern: 'a', include: '*.pem' }, false],
  ])('%s %j: %s', (tool, args, expected) => {
    expect(runs(tool, args)).toBe(expected);
  });

  it('has no rule for absolute paths of a project with unusual characters', () => {
    const odd = '/home/ann/it" || true || "';
    expect(runs('Write', { file_path: `${odd}/a` }, odd)).toBe(false);
    expect(runs('Read', { file_path: `${odd}/a` }, odd)).toBe(false);
    expect(runs('Read', { file_path: 'a' }, odd)).toBe(true);
  });
});
