/** The project that rules are made for. */
export interface GuardedProject {
  /** Absolute path of its folder. */
  root: string;
  /** True if this folder has a `.git` of its own, so that git reads no other configuration there. */
  hasGit: boolean;
}

/** A tool of a coding agent whose calls may run without a person. */
export interface GuardedTool {
  /** The coding agent, as in `call.client`; `null` for programs that ask without a hook. */
  client: string | null;
  name: string;
  /** What runs, for a comment. */
  about: string;
  /** The arguments that its host reads; a call with any other one waits. */
  args: readonly string[];
  /** The texts of `args` that a condition looks at. */
  texts: readonly string[];
  /** The conditions under which a call runs; one of them must hold. */
  conditions: readonly string[];
}

/** A project whose path can be written in a pattern. */
const plainPath = /^(?:\/[A-Za-z0-9_.-]+)+$/;

/** Files that hold credentials, by their names. */
const credentials =
  '[.](?:env|ssh|aws|azure|gnupg|kube|docker|netrc|npmrc|pypirc|pgpass|git-credentials|pem|key|p12|pfx|ppk|kdbx|jks|tfstate|tfvars|mcp[.]json|dev[.]vars|yarnrc|boto|s3cfg|my[.]cnf|terraformrc|authinfo|curlrc|config/|p8|ovpn|keytab|asc|gpg)|[.](?:service|holdpoint)(?:[/ ]|$)|[.]git/.*config|id_(?:rsa|dsa|ecdsa|ed25519)|_netrc|kubeconfig|service[-_]?account|adminsdk|wp-config|_history|wallet[.]dat|(?:api|private)[-_]?key|(?:pip|rclone)[.]conf|(?:auth|local[.]settings)[.]json|settings[.]local|(?:^|[/ ])env[.](?:local|dev|development|test|staging|prod|production)|(?:credential|secret|password|passwd|token|keystore)s?(?:[^a-z]|$)';

/** Characters that a file system of macOS drops from names, or reads as several letters: `.ßh` is `.ssh`. */
const folded =
  '[ßẞﬀ-ﬆ\\\\x{ad}\\\\x{200b}-\\\\x{200f}\\\\x{202a}-\\\\x{202e}\\\\x{2060}-\\\\x{206f}\\\\x{feff}]';

/** Names of files that a program reads as orders or as configuration that runs code, below any folder. */
const orders = [
  // Parts of a git repository: git runs programs that its configuration names.
  '(?:head|config|config[.]worktree|packed-refs|commondir|gitdir)',
  '(?:.*/)?(?:objects|refs|[a-z-]*hooks)/[^.]*',
  // Instructions of coding agents, and their settings.
  // opencode reads CONTEXT.md as well.
  '[^/]*(?:agents?|context|claude|gemini|qwen|codex|copilot|copilot-instructions|warp|crush|skill)(?:[.][a-z.-]+)?[.]md',
  '[^/]*[.](?:instructions|prompt|chatmode|agent)[.]md',
  '(?:opencode|tui|cli|mcp|crush|managed-settings)[.]jsonc?',
  // Settings of editors, version managers and runners of hooks.
  '[^/]*[.](?:code-workspace|sublime-project)',
  'lefthook(?:-local)?[.][a-z]+',
  'mise(?:[.][a-z]+|/config)?[.]toml',
  'rust-toolchain(?:[.]toml)?',
  '(?:flake|shell|default|devenv)[.]nix',
  // Code that formatters and language servers of a host run after a write.
  '(?:.*/)?(?:node_modules|site-packages|venv|virtualenv|vendor)/.*',
  '[^/]*[.]config[.][cm]?[jt]s',
  '(?:gemfile|gradlew|gradle-wrapper[.][a-z]+|hie[.]yaml|project[.]clj|cargo[.]toml|build[.]zig|[^/]*[.](?:gemspec|(?:cs|fs|vb)proj|props|targets))',
  '(?:build[.]rs|build[.]sbt|mix[.]exs|package[.]swift|[^/]*[.]gradle(?:[.]kts)?)',
];

/** File types of source code for a search; a search in any other file may show credentials. */
const sourceTypes =
  'js|jsx|ts|tsx|mjs|cjs|vue|svelte|py|rb|ruby|go|rs|rust|java|kt|kotlin|scala|c|h|cpp|cs|csharp|swift|php|css|scss|html|md|markdown';

/** A pattern of files below a folder: no hidden part and nothing that expands to a path outside of it. */
const filePattern = (() => {
  const braces = '[{](?:[A-Za-z0-9]+,)*[A-Za-z0-9]+[}]';
  const part = `(?:[A-Za-z0-9_*@+-]|${braces})(?:[A-Za-z0-9_*@+.-]|${braces})*`;
  return `^(?:${part}/)*${part}$`;
})();

const aShell =
  'one simple command that only reads; pipes, redirects, variables and other options wait';
const aRead = 'reading a file of the project, except files that hold credentials';
const aWrite =
  'writing a file of the project, except hidden files and what a program reads as orders';
const aSearch = 'a search in source files of one type';

/** Returns the tools of each coding agent whose calls the rules of a project let run. */
export function guardedTools(project: GuardedProject): GuardedTool[] {
  const { write, read, search, list } = fileConditions(project);
  const shell = (client: string, name: string, more: readonly string[]): GuardedTool => ({
    ...{ client, name, about: aShell, args: ['command', ...more], texts: ['command'] },
    conditions: shellConditions(project),
  });
  const files = (
    client: string,
    name: string,
    [path, ...more]: readonly [string, ...string[]],
    condition: (path: string) => string,
  ): GuardedTool => ({
    ...{ client, name, about: condition === read ? aRead : aWrite },
    ...{ args: [path, ...more], texts: [path], conditions: [condition(path)] },
  });
  const listing = (client: string, name: string, path: string): GuardedTool => ({
    ...{ client, name, about: 'listing files of the project', args: ['pattern', path] },
    // A host that accepts a list of paths sends a string or a list; only a string can be evaluated.
    ...{ texts: ['pattern', ...(path === 'path' ? [path] : [])], conditions: [list(path)] },
  });
  const searching = (
    client: string,
    name: string,
    path: string,
    filters: readonly string[],
    more: readonly string[] = [],
  ): GuardedTool => ({
    ...{ client, name, about: aSearch, args: ['pattern', path, ...filters, ...more] },
    texts: ['pattern', ...filters, ...(path === 'path' ? [path] : [])],
    conditions: search(path, filters),
  });
  const harmless = (client: string, name: string, args: readonly string[]): GuardedTool => ({
    ...{ client, name, about: 'no effect of its own', args, texts: [], conditions: ['true'] },
  });
  const claude = 'claude-code';
  return [
    shell(claude, 'Bash', ['timeout', 'description']),
    files(claude, 'Read', ['file_path', 'offset', 'limit', 'pages', 'allow_large'], read),
    files(claude, 'Write', ['file_path', 'content'], write),
    files(claude, 'Edit', ['file_path', 'old_string', 'new_string', 'replace_all'], write),
    files(
      ...([claude, 'NotebookEdit'] as const),
      ['notebook_path', 'cell_id', 'new_source', 'cell_type', 'edit_mode'],
      write,
    ),
    listing(claude, 'Glob', 'path'),
    searching(
      claude,
      'Grep',
      'path',
      ['type', 'glob'],
      [
        ...['output_mode', '-A', '-B', '-C', 'context', '-n', '-i', '-o', 'head_limit', 'offset'],
        'multiline',
      ],
    ),
    harmless(claude, 'TodoWrite', ['todos']),
    harmless(claude, 'TaskCreate', ['subject', 'description', 'activeForm', 'metadata']),
    harmless(claude, 'TaskUpdate', [
      ...['taskId', 'subject', 'description', 'activeForm', 'status', 'addBlocks'],
      ...['addBlockedBy', 'owner', 'metadata'],
    ]),
    harmless(claude, 'TaskGet', ['taskId']),
    harmless(claude, 'TaskList', []),
    harmless(claude, 'TaskStop', ['task_id', 'shell_id']),
    harmless(claude, 'AskUserQuestion', ['questions', 'metadata']),
    harmless(claude, 'EnterPlanMode', []),
    harmless(claude, 'ExitPlanMode', ['plan', 'planFilePath']),
    harmless(claude, 'ListAgents', ['channel', 'q', 'cursor']),
    harmless(claude, 'ReportFindings', ['level', 'findings']),
    harmless(claude, 'ToolSearch', ['query', 'max_results']),
    harmless(claude, 'Agent', [
      ...['description', 'prompt', 'subagent_type', 'model', 'effort', 'run_in_background'],
    ]),
    // Not every version of Codex sends the folder of its shell, so only absolute paths are known to be of the project.
    { ...shell('codex', 'Bash', []), conditions: shellConditions(project).slice(0, 1) },
    shell('opencode', 'bash', ['timeout', 'workdir', 'description']),
    files('opencode', 'read', ['filePath', 'offset', 'limit'], read),
    files('opencode', 'write', ['filePath', 'content'], write),
    files('opencode', 'edit', ['filePath', 'oldString', 'newString', 'replaceAll'], write),
    listing('opencode', 'glob', 'path'),
    searching('opencode', 'grep', 'path', ['include']),
    harmless('opencode', 'todowrite', ['todos']),
    harmless('opencode', 'task', [
      ...['description', 'prompt', 'subagent_type', 'task_id', 'command'],
    ]),
    shell('copilot', 'bash', ['description', 'mode', 'initial_wait']),
    files('copilot', 'view', ['path', 'view_range', 'forceReadLargeFiles'], read),
    files('copilot', 'create', ['path', 'file_text'], write),
    files('copilot', 'edit', ['path', 'old_str', 'new_str'], write),
    listing('copilot', 'glob', 'paths'),
    searching(
      'copilot',
      'grep',
      'paths',
      ['type', 'glob'],
      [...['output_mode', '-A', '-B', '-C', '-n', '-i', 'head_limit', 'multiline']],
    ),
    harmless('copilot', 'read_bash', ['shellId', 'delay']),
    harmless('copilot', 'stop_bash', ['shellId']),
    harmless('copilot', 'list_bash', []),
    shell('cursor', 'Shell', ['working_directory', 'timeout', 'description']),
    files('cursor', 'Read', ['file_path', 'offset', 'limit'], read),
    files('cursor', 'Write', ['file_path', 'content'], write),
  ];
}

/**
 * Returns the shell of programs that ask without a hook: one simple command without options that only reads, with relative
 * paths, in the folder of a project or below it. `holdpoint init --gate`, the example and the pages have this rule.
 */
export function shellTool({ root }: Pick<GuardedProject, 'root'>): GuardedTool {
  const path = '(?: [A-Za-z0-9_][A-Za-z0-9_./-]*)';
  const command = simple(['pwd', `ls${path}*`, `(?:cat|head|wc)${path}+`]);
  return {
    ...{ client: null, name: 'Bash', about: aShell, args: ['command', 'description', 'timeout'] },
    ...{ texts: ['command'], conditions: [`${isInside(root)} && ${command}`] },
  };
}

/** Returns the `when` of each rule that lets calls of a tool run; `others` are arguments of equally named tools. */
export function conditionsOf(tool: GuardedTool, others: readonly string[]): string[] {
  const { client, args, conditions } = tool;
  const foreign = others.filter((name) => !args.includes(name) && /^[A-Za-z_]\w*$/.test(name));
  const own = [
    ...(client === null ? [] : [`call.client == ${quoted(client)}`]),
    ...foreign.map((name) => `!has(args.${name})`),
  ];
  return conditions.map((condition) =>
    [...own, ...(condition === 'true' && own.length > 0 ? [] : [condition])].join(' && '),
  );
}

/**
 * The conditions of a shell command: with absolute paths below the project in any folder, with relative ones in the project
 * or below it, and git in its folder only. In any other folder git could take files of the model for its repository.
 */
function shellConditions({ root, hasGit }: GuardedProject): string[] {
  if (!isPlain(root)) return ['false'];
  const absolute = `(?: ${literal(root)}(?:/[A-Za-z0-9_.-]+)*/?)`;
  const relative = '(?: (?:[.]|[A-Za-z0-9_][A-Za-z0-9_./-]*))';
  const either = `(?:${absolute}|${relative})`;
  const reading = (path: string, least: '*' | '+') => [
    `ls(?: -[alhtrRS1F]+)*${path}${least}`,
    `cat(?: -[nbs]+)*${path}+`,
    `(?:head|tail)(?: -n [0-9]+| -[0-9]+)?${path}+`,
    `wc(?: -[lwcm]+)*${path}+`,
    `grep(?: -[nilwcEFHhsvo]+)* [A-Za-z0-9_][A-Za-z0-9_.:-]*${path}+`,
  ];
  const git = [
    'git status(?: --short| -sb| --porcelain)?',
    `git diff(?: --stat| --cached| --staged| --name-only)*${either}*`,
    'git log(?: --oneline| --stat| -[0-9]+)*',
    'git show(?: --stat)?(?: [0-9a-f]{7,40})?',
    'git branch(?: -a| -v)?',
  ];
  return [
    simple(['pwd', '(?:node|python3|git) --version', ...reading(absolute, '+')]),
    `${isInside(root)} && ${simple(reading(either, '*'))}`,
    ...(hasGit ? [`call.cwd == ${quoted(root)} && ${simple(git)}`] : []),
  ];
}

function fileConditions({ root }: GuardedProject) {
  const isKnown = isPlain(root);
  const below = (path: string) =>
    isKnown
      ? `(${path} == ${quoted(root)} || ${path}.startsWith(${quoted(`${root}/`)}) || (${isInside(root)} && ${matches(path, '^[A-Za-z0-9_.@][^:]*$')}))`
      : 'false';
  const plain = (value: string) => [...harmless(value), `!${matches(value, folded)}`];
  const inFolder = (name: string) =>
    `(has(args.${name}) ? ${[below(`args.${name}`), ...plain(`args.${name}`)].join(' && ')} : ${isKnown ? isInside(root) : 'false'})`;
  // A class cannot hold the closing bracket without a backslash.
  const letter = '[A-Za-z0-9À-ɏ_@+()$[-]|]';
  const part = `(?:${letter})(?:(?:${letter}|[,=. ])*(?:${letter}|[,=]))?`;
  return {
    read: (name: string) => [below(`args.${name}`), ...plain(`args.${name}`)].join(' && '),
    /** No hidden part, no part that ends with a blank or a dot, and no file that a program takes for orders. */
    write: (name: string) =>
      [
        isKnown ? matches(`args.${name}`, `^${literal(root)}(?:/${part})+$`) : 'false',
        ...plain(`args.${name}`),
        `!${matches(`args.${name}`, `(?i)/(?:${orders.join('|')})$`)}`,
      ].join(' && '),
    list: (path: string) =>
      [inFolder(path), matches('args.pattern', filePattern), ...harmless('args.pattern')].join(
        ' && ',
      ),
    /** In files of one type, also if it lists files only: each match shows a part of what a file has. */
    search: (path: string, filters: readonly string[]) =>
      filters.map((filter) =>
        [
          ...filters.filter((other) => other !== filter).map((other) => `!has(args.${other})`),
          matches(
            `args.${filter}`,
            filter === 'type' ? `^(?:${sourceTypes})$` : `^[*][.](?:${sourceTypes})$`,
          ),
          inFolder(path),
        ].join(' && '),
      ),
  };
}

/** The call works in the project or in a folder below it that is neither hidden nor named as one for credentials. */
function isInside(root: string): string {
  const folder = `^${literal(root)}(?:/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$`;
  const secret = `(?i)^${literal(root)}/.*(?:${credentials})`;
  return [
    matches('call.cwd', folder),
    ...['!call.cwd.contains("..")', `!${matches('call.cwd', secret)}`],
  ].join(' && ');
}

/** One command of a list, without a path that leaves its folder and without a name of credentials. */
function simple(commands: readonly string[]): string {
  const command = matches('args.command', `^(?:${commands.join('|')})$`);
  return [command, ...harmless('args.command')].join(' && ');
}

function harmless(value: string): string[] {
  return [`!${value}.contains("..")`, `!${matches(value, `(?i)${credentials}`)}`];
}

function matches(value: string, pattern: string): string {
  return `${value}.matches(${quoted(pattern)})`;
}

/** A CEL text that a condition compares; patterns have no quotes, and two backslashes for one. */
function quoted(text: string): string {
  return `"${text}"`;
}

function literal(path: string): string {
  return path.replaceAll('.', '[.]');
}

function isPlain(root: string): boolean {
  return plainPath.test(root) && !root.includes('..');
}
