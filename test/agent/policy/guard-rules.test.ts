import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ConditionCompiler, noFacts } from '../../../src/actors/governance/governance.ts';
import { gateText } from '../../../src/agent/create/service-text.ts';
import { conditionsOf, shellTool } from '../../../src/agent/policy/guard-rules.ts';
import { guardService } from '../../../src/agent/policy/guard-service.ts';
import type { JsonObject } from '../../../src/machines/json.ts';
import { packageRoot } from '../../../src/package-root.ts';
import { hostileCommands, hostileFolders } from '../../helpers/hostile-commands.ts';
import { type HostCall, rulingOf } from '../../helpers/ruled-events.ts';

const root = '/home/ann/app';

/** A coding agent: its shell, and its tools that read, write and search. */
interface Host {
  shell: string;
  /** The arguments that its shell needs in addition to the command. */
  more: JsonObject;
  read: [tool: string, path: string][];
  write: [tool: string, path: string, more: JsonObject][];
  search: ((filter: string, path: JsonObject) => HostCall)[];
}

const hosts: Record<string, Host> = {
  'claude-code': {
    ...{ shell: 'Bash', more: { description: 'x' }, read: [['Read', 'file_path']] },
    write: [
      ['Write', 'file_path', { content: '' }],
      ['Edit', 'file_path', { old_string: 'a', new_string: 'b' }],
      ['NotebookEdit', 'notebook_path', { new_source: '' }],
    ],
    search: [
      (type, path) => ({ tool: 'Grep', args: { pattern: 'a', type, ...path } }),
      (ext, path) => ({ tool: 'Grep', args: { pattern: 'a', glob: `*.${ext}`, ...path } }),
    ],
  },
  codex: { shell: 'Bash', more: {}, read: [], write: [], search: [] },
  opencode: {
    ...{ shell: 'bash', more: {}, read: [['read', 'filePath']] },
    write: [
      ['write', 'filePath', { content: '' }],
      ['edit', 'filePath', { oldString: 'a', newString: 'b' }],
    ],
    search: [
      (ext, path) => ({ tool: 'grep', args: { pattern: 'a', include: `*.${ext}`, ...path } }),
    ],
  },
  copilot: {
    ...{ shell: 'bash', more: { description: 'x' }, read: [['view', 'path']] },
    write: [
      ['create', 'path', { file_text: '' }],
      ['edit', 'path', { old_str: 'a', new_str: 'b' }],
    ],
    search: [
      (type, { path, ...more }) => ({
        tool: 'grep',
        args: { pattern: 'a', type, ...more, ...(path === undefined ? {} : { paths: path }) },
      }),
    ],
  },
  cursor: {
    ...{ shell: 'Shell', more: {}, read: [['Read', 'file_path']] },
    write: [['Write', 'file_path', { content: '' }]],
    search: [],
  },
};

const runs = rulingOf(guardService({ root, hasGit: true }));
const without = rulingOf(guardService({ root, hasGit: false }));

const outside = [
  ...['/etc/passwd', '/home/ann/application/a', '/home/ann/app2/a', '/', '/home/ann', '~/a'],
  ...[
    `${root}/../x`,
    `${root}/src/../../x`,
    '../x',
    'src/../../x',
    'a\\..\\..\\x',
    'C:/x',
    'file:///x',
  ],
];

const secret = [
  ...['.env', '.env.local', 'env.local', '.ssh/id_rsa', 'id_ed25519', 'a.pem', 'a.key', '.npmrc'],
  ...['terraform.tfstate', 'prod.tfvars', 'kubeconfig', 'service-account.json', '.git/config'],
  ...[
    'service_account_prod.json',
    'credentials',
    'secrets.yaml',
    'passwd',
    '.aws/config',
    'x.kdbx',
  ],
  ...['.mcp.json', '.dev.vars', 'auth.json', '.claude/settings.local.json', '.config/gh/hosts.yml'],
  ...['AuthKey_A.p8', 'a.ovpn', 'a.keytab', 'api_key.txt', 'private-key', 'wp-config.php', 'a.gpg'],
  ...['local.settings.json', '.my.cnf', '.yarnrc.yml', 'pip.conf', '.psql_history', 'x.asc'],
  // On macOS these name .ssh, passwd, .env and .git/config.
  ...['.ßh/known_hosts', 'paßwd', '.e\u200cnv', '.git/conﬁg', '.\u2060env'],
  ...['.holdpoint/guard/x', 'token.json', '.git/modules/a/config', 'Terraform.TFSTATE'],
];

const obeyed = [
  ...['HEAD', 'config', 'sub/HEAD', 'sub/config', 'evil/objects/keep', 'evil/refs/keep', 'head'],
  ...['packed-refs', 'sub/hooks/post-index-change', 'githooks/pre-commit', '.git/config', 'CONFIG'],
  ...['.gitattributes', '.gitmodules', 'sub/.gitattributes', '.git', '.claude/settings.json'],
  ...[
    '.claude/settings.local.json',
    '.codex/hooks.json',
    '.codex/config.toml',
    '.cursor/hooks.json',
  ],
  ...['.github/hooks/holdpoint.json', '.github/workflows/a.yml', '.opencode/plugins/holdpoint.js'],
  ...['opencode.json', 'OpenCode.JSONC', 'sub/opencode.jsonc', 'opencode.json/', 'opencode.json '],
  ...['opencode.json.', 'tui.json', 'cli.json', '.mcp.json', 'mcp.json', 'CLAUDE.md', 'claude.md'],
  ...[
    'CLAUDE.local.md',
    'AGENTS.md',
    'sub/Agents.md',
    'AGENTS.override.md',
    'GEMINI.md',
    'SKILL.md',
  ],
  ...[
    'x.code-workspace',
    'lefthook.yml',
    'lefthook-local.yaml',
    'rust-toolchain.toml',
    'mise.toml',
  ],
  ...[
    'node_modules/typescript/lib/tsserver.js',
    'prettier.config.js',
    'eslint.config.mjs',
    'build.rs',
  ],
  ...[
    'a.instructions.md',
    '.vscode/tasks.json',
    '.envrc',
    'src//.git/config',
    'a\u200b/HEAD',
    'a\n',
  ],
  ...[
    '.',
    './.git/config',
    'build.gradle.kts',
    'CONTEXT.md',
    'mise/config.toml',
    'Cargo.toml',
    'build.zig',
    'Gemfile',
    'a.gemspec',
    'App.csproj',
    'Directory.Build.props',
    'hie.yaml',
    'project.clj',
    'gradle/wrapper/gradle-wrapper.properties',
    'venv/bin/activate_this.py',
    'sub/.husky/pre-commit',
  ],
];

/** Calls that must wait, by family. */
function hostileCalls({ shell, more, read, write, search }: Host): HostCall[] {
  const cwd = root;
  const command = (text: string, added: JsonObject = {}, place = cwd): HostCall => ({
    ...{ tool: shell, args: { ...more, command: text, ...added }, cwd: place },
  });
  const file = ([tool, path]: [string, string], value: unknown, added: JsonObject = {}) =>
    ({ tool, args: { [path]: value, ...added }, cwd }) as HostCall;
  const relative = ['cat a', 'ls', 'ls -la .', 'git status', 'grep a b', 'head -n 3 config'];
  const arguments_ = ['cwd', 'env', 'shell', 'directory', 'path', 'run_in_background', 'Command'];
  const pathArguments = [
    'path',
    'filePath',
    'file_path',
    'notebook_path',
    'file',
    'target_file',
    'paths',
  ];
  return [
    ...hostileCommands.map((text) => command(text)),
    ...hostileFolders(root).flatMap((place) => relative.map((text) => command(text, {}, place))),
    ...hostileFolders(root)
      .filter((place) => /^[/~]/.test(place))
      .flatMap((place) =>
        ['workdir', 'working_directory'].map((name) => command('cat a', { [name]: place })),
      ),
    ...[[], 5, null, {}].map((place) =>
      command('cat a', { workdir: place, working_directory: place }),
    ),
    ...arguments_.map((name) => command(`cat ${root}/a`, { [name]: '/tmp/evil' })),
    { tool: shell, args: { ...more, command: 'cat a' } },
    { tool: shell, args: { ...more, command: ['ls'] }, cwd },
    ...read.flatMap((one) => [
      ...[...outside, ...secret.map((path) => `${root}/${path}`), ...secret].map((path) =>
        file(one, path),
      ),
      ...hostileFolders(root).map((place) => ({ ...file(one, 'notes.txt'), cwd: place })),
      ...pathArguments
        .filter((name) => name !== one[1])
        .flatMap((name) => [
          file(one, `${root}/a`, { [name]: '/etc/passwd' }),
          file(one, '/etc/passwd', { [name]: `${root}/a` }),
        ]),
      ...[undefined, null, [`${root}/a`], 5].map((path) => file(one, path)),
    ]),
    ...write.flatMap(([tool, path, added]) => [
      ...[...outside, 'src/a.ts', ...[...secret, ...obeyed].map((name) => `${root}/${name}`)].map(
        (name) => file([tool, path], name, added),
      ),
      ...pathArguments
        .filter((name) => name !== path)
        .flatMap((name) => [
          file([tool, path], `${root}/.opencode/plugins/holdpoint.js`, {
            ...added,
            [name]: `${root}/a.txt`,
          }),
          file([tool, path], `${root}/a.txt`, { ...added, [name]: `${root}/.git/config` }),
        ]),
      file([tool, path], [`${root}/a.txt`], added),
    ]),
    ...search.flatMap((one) => [
      ...['pem', 'env', 'json', 'yaml', '*', '{ts,env}', 'ts,*', ''].map((filter) => ({
        ...one(filter, {}),
        cwd,
      })),
      ...[...outside, ...secret].map((path) => ({ ...one('ts', { path }), cwd })),
      ...hostileFolders(root).map((place) => ({ ...one('ts', {}), cwd: place })),
      { ...one('ts', { path: ['/etc'] as never }), cwd },
      { ...one('ts', { glob: '*.env', type: 'ts' }), cwd },
    ]),
    ...['Glob', 'glob'].flatMap((tool) =>
      [
        ...[
          '**/.env*',
          '/etc/*',
          '../*',
          '{.,}{.,}/etc/*',
          '{/etc,a}/*',
          '~/*',
          '[.][.]/*',
          '.?/x',
          '*secret*',
        ],
      ].map((pattern) => ({ tool, args: { pattern }, cwd })),
    ),
    ...['*', '**/*.ts'].flatMap((pattern) =>
      ['Glob', 'glob'].flatMap((tool) => [
        { tool, args: { pattern, path: '/etc' }, cwd },
        { tool, args: { pattern, paths: ['/etc'] }, cwd },
        { tool, args: { pattern }, cwd: '/etc' },
      ]),
    ),
    ...['WebFetch', 'mcp__github__delete_repository', 'MCP:Task', 'apply_patch', 'write_stdin'].map(
      (tool) => ({ tool, args: { command: 'ls', input: 'x' }, cwd }),
    ),
    ...['write_bash', 'Delete', 'Skill', 'LS', 'MultiEdit', 'webfetch', 'patch', 'KillShell'].map(
      (tool) => ({ tool, args: { path: `${root}/a` }, cwd }),
    ),
    { tool: 'Agent', args: { description: 'x', prompt: 'x', isolation: 'remote' }, cwd },
    { tool: 'Agent', args: { description: 'x', prompt: 'x', mode: 'bypassPermissions' }, cwd },
    { tool: 'ExitPlanMode', args: { allowedPrompts: [{ tool: 'Bash', prompt: 'x' }] }, cwd },
  ];
}

describe.each(Object.entries(hosts))('%s', (name, host) => {
  const cwd = root;
  const shell = (command: string, place = cwd) => ({
    ...{ tool: host.shell, args: { ...host.more, command }, cwd: place },
  });

  it('runs none of at least 200 hostile calls without an approval', () => {
    const calls = hostileCalls(host);
    expect(calls.length).toBeGreaterThanOrEqual(200);
    expect(calls.filter((call) => runs(name, call) || without(name, call))).toEqual([]);
  });

  it('runs commands that read files of the project', () => {
    const absolute = [
      ...['pwd', 'node --version', `cat ${root}/src/a.ts`, `ls -la ${root}`],
      ...[`grep -n TODO ${root}/src/a.ts`, `head -n 20 ${root}/a.ts ${root}/b.ts`],
    ];
    const relative = [
      ...['ls', 'ls .', 'ls -la src', 'cat README.md', 'head -n 20 a.ts b.ts', 'wc -l a.ts'],
      ...['grep -n TODO src/a.ts', 'tail -5 a.ts', `cat ${root}/a b`],
    ];
    const git = [
      ...['git status', 'git diff --stat src', 'git log --oneline -5', 'git show', 'git branch -a'],
    ];
    const isFolderKnown = name !== 'codex';
    const all = [
      ...absolute.map((command) => [command, true] as const),
      ...[...relative, ...git].map((command) => [command, isFolderKnown] as const),
    ];
    expect(all.map(([command]) => [command, runs(name, shell(command))])).toEqual(all);
    for (const command of relative) {
      expect([command, runs(name, shell(command, `${root}/src`))]).toEqual([
        command,
        isFolderKnown,
      ]);
    }
    expect(git.filter((command) => runs(name, shell(command, `${root}/src`)))).toEqual([]);
    expect(git.filter((command) => without(name, shell(command)))).toEqual([]);
  });

  it('reads, writes and searches files of the project', () => {
    const { read, write, search } = host;
    const calls: HostCall[] = [
      ...read.flatMap(([tool, path]) =>
        [`${root}/src/a.ts`, 'src/a.ts', `${root}/README.md`, root].map((file) => ({
          tool,
          args: { [path]: file },
          cwd,
        })),
      ),
      ...write.flatMap(([tool, path, more]) =>
        [
          'src/a.ts',
          'docs/Übersicht (neu).md',
          'app/[id]/page.tsx',
          'src/hooks/use-x.ts',
          'package.json',
          'src/config.ts',
        ].map((file) => ({ tool, args: { [path]: `${root}/${file}`, ...more }, cwd })),
      ),
      ...search.flatMap((one) => [
        { ...one('ts', {}), cwd },
        { ...one('py', { path: `${root}/src` }), cwd },
      ]),
    ];
    expect(calls.filter((call) => !runs(name, call))).toEqual([]);
  });
});

const claude = (command: string) =>
  runs('claude-code', { tool: 'Bash', args: { command }, cwd: root });

describe('a shell command', () => {
  it('waits with any character that a shell does not read as part of a word', () => {
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
        ...([allowed, special, fc.nat(), fc.string({ maxLength: 12 })] as const),
        (base, character, at, more) => {
          const place = at % (base.length + 1);
          expect(claude(base.slice(0, place) + character + more + base.slice(place))).toBe(false);
        },
      ),
    );
  });

  it('runs only if a POSIX shell reads the same words as the rule', () => {
    const word = fc.stringMatching(/^[ -~]{1,10}$/);
    fc.assert(
      fc.property(fc.array(word, { maxLength: 4 }), (words) => {
        const text = ['cat', ...words].join(' ');
        if (claude(text)) expect(text).toMatch(/^cat(?: [A-Za-z0-9_./-]+)+$/);
      }),
    );
  });
});

it.each(['bash', 'sh -i', '/bin/zsh -l', 'python3', 'python3 -i', 'node'])(
  '%j of Codex is denied, since its input passes no hook',
  (command) => {
    const { security } = parse(guardService({ root, hasGit: true }));
    const [{ when }] = security.guardrails.denied_tools;
    const condition = new ConditionCompiler({ environment: {} }).compile(when, {});
    const holds = (client: string) =>
      'holds' in condition &&
      condition.holds(
        { tool: 'Bash', args: { command } },
        { ...noFacts, task: { ...noFacts.task, call: { client } } },
      );
    expect([holds('codex'), holds('claude-code')]).toEqual([true, false]);
  },
);

describe('tools without an effect', () => {
  it.each<[string, string, JsonObject]>([
    ['claude-code', 'TaskCreate', { subject: 'x', description: 'y', metadata: { a: 1 } }],
    ['claude-code', 'TaskUpdate', { taskId: '1', status: 'completed' }],
    ['claude-code', 'TaskList', {}],
    ['claude-code', 'AskUserQuestion', { questions: [{ question: 'x' }] }],
    ['claude-code', 'EnterPlanMode', {}],
    ['claude-code', 'ExitPlanMode', { plan: 'x' }],
    ['claude-code', 'ListAgents', {}],
    ['claude-code', 'Agent', { description: 'x', prompt: 'y', subagent_type: 'Explore' }],
    ['opencode', 'todowrite', { todos: [] }],
    ['opencode', 'task', { description: 'x', prompt: 'y', subagent_type: 'general' }],
    ['copilot', 'read_bash', { shellId: '1', delay: 5 }],
    ['copilot', 'stop_bash', { shellId: '1' }],
  ])('of %s run: %s', (host, tool, args) => {
    expect(runs(host, { tool, args, cwd: root })).toBe(true);
  });

  it('of another coding agent wait', () => {
    expect(runs('codex', { tool: 'TaskList', args: {}, cwd: root })).toBe(false);
    expect(runs(null, { tool: 'TaskList', args: {}, cwd: root })).toBe(false);
  });
});

it('no path is allowed for a project with unusual characters', () => {
  const odd = '/home/ann/it" || true || "';
  const oddly = rulingOf(guardService({ root: odd, hasGit: true }));
  for (const call of [
    { tool: 'Write', args: { file_path: `${odd}/a`, content: '' } },
    { tool: 'Read', args: { file_path: `${odd}/a` } },
    { tool: 'Read', args: { file_path: 'a' } },
    { tool: 'Bash', args: { command: 'ls' } },
    { tool: 'Grep', args: { pattern: 'a', type: 'ts' } },
  ]) {
    expect(oddly('claude-code', { ...call, cwd: odd })).toBe(false);
  }
});

const read = (path: string) => readFileSync(join(packageRoot, path), 'utf8');
const page = /```yaml\n(# service\.yaml\n[\s\S]*?)```/.exec(read('docs/gate.md'))?.[1] ?? '';

describe.each([
  ['init --gate', gateText('x')],
  ['examples/gate', read('examples/gate/service.yaml')],
  ['docs/gate.md', page],
])('the rules of %s', (_, text) => {
  const ruling = rulingOf(text);

  it('run none of the hostile calls without an approval', () => {
    const project = '/srv/app';
    const command = (args: JsonObject, cwd: string | undefined = project): HostCall => ({
      ...{ tool: 'Bash', args, ...(cwd === undefined ? {} : { cwd }) },
    });
    const calls = [
      ...hostileCommands.map((text) => command({ command: text })),
      ...hostileFolders(project).flatMap((cwd) =>
        ['ls', 'cat a', 'pwd', 'head config', 'git status', 'wc a'].map((text) =>
          command({ command: text }, cwd),
        ),
      ),
      ...['cwd', 'env', 'workdir', 'shell', 'dangerouslyDisableSandbox'].map((name) =>
        command({ command: 'ls', [name]: '/etc' }),
      ),
      ...['git status', 'git diff', 'ls -la', 'cat /srv/app/a', 'cat -n a'].map((text) =>
        command({ command: text }),
      ),
      { tool: 'Bash', args: { command: 'cat a' } },
      { tool: 'mcp__github__delete_repository', args: {}, cwd: project },
      { tool: 'Write', args: { file_path: '/srv/app/a' }, cwd: project },
    ];
    expect(calls.length).toBeGreaterThanOrEqual(200);
    expect(calls.filter((call) => ruling(null, call))).toEqual([]);
  });
});

it('the rule of the example and of init --gate is generated', () => {
  const [when] = conditionsOf(shellTool({ root: '/srv/app' }), []);
  for (const text of [gateText('x'), read('examples/gate/service.yaml')]) {
    expect(parse(text).security.defer.tools.Bash[0]).toEqual({ when, allow: true });
  }
  const ruling = rulingOf(gateText('x'));
  for (const command of ['pwd', 'ls', 'ls src', 'cat README.md src/a.ts', 'wc a']) {
    expect(ruling(null, { tool: 'Bash', args: { command }, cwd: '/srv/app/docs' })).toBe(true);
  }
});
