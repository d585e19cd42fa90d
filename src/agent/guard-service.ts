/** A CEL text that a condition compares; patterns avoid backslashes and quotes. */
const quoted = (text: string): string => `"${text}"`;

/** A project whose path can be written in a pattern. */
const plainPath = /^(?:\/[A-Za-z0-9_.-]+)+$/;

/** Files that hold credentials, by their names. */
const credentials =
  '(?i)[.](?:env|ssh|aws|azure|gnupg|kube|docker|netrc|npmrc|pypirc|pgpass|git-credentials|service|holdpoint|pem|key|p12|pfx|kdbx|jks)|id_(?:rsa|dsa|ecdsa|ed25519)|(?:credential|secret|password|passwd|token|keystore)s?(?:[^a-z]|$)';

/** Settings of coding agents that are no hidden files; those of opencode can switch plugins off. */
const hostSettings = '(?i)/(?:opencode|tui|cli)[.]jsonc?$';

/** One simple command that only reads, with harmless options. */
function readingCommand(project: string | null): string {
  const inside = project === null ? '' : `(?:${project.replaceAll('.', '[.]')}/)?`;
  const path = `(?: (?:[.]|${inside}[A-Za-z0-9_][A-Za-z0-9_./-]*))`;
  const commands = [
    'pwd',
    `ls(?: -[alhtrRS1F]+)*${path}*`,
    `cat(?: -[nbs]+)*${path}+`,
    `(?:head|tail)(?: -n [0-9]+| -[0-9]+)?${path}+`,
    `wc(?: -[lwcm]+)*${path}+`,
    `grep(?: -[nilwcEFHhsvo]+)* [A-Za-z0-9_][A-Za-z0-9_.:-]*${path}+`,
    'git status(?: --short| -sb| --porcelain)?',
    `git diff(?: --stat| --cached| --staged| --name-only)*${path}*`,
    'git log(?: --oneline| --stat| -[0-9]+)*',
    'git show(?: --stat)?(?: [0-9a-f]{7,40})?',
    'git branch(?: -a| -v)?',
    '(?:node|npm|python3|go|cargo|rustc|git) --version',
  ];
  return `^(?:${commands.join('|')})$`;
}

/**
 * Returns the `service.yaml` of the gate that `holdpoint guard` starts: reading inside the project runs, and everything
 * else waits for a person. A project whose path has unusual characters gets no rule for absolute paths.
 */
export function guardService(project: string): string {
  const known = plainPath.test(project) && !project.includes('..') ? project : null;
  const command = allow([
    matches('args.command', readingCommand(known)),
    '!args.command.contains("..")',
    `!${matches('args.command', credentials)}`,
  ]);
  const read = (name: string) => allow([inside(name, known), ...harmless(name)]);
  const write = (name: string) =>
    allow([
      known === null ? 'false' : `args.${name}.startsWith(${quoted(`${known}/`)})`,
      ...harmless(name),
      `!args.${name}.contains("/.")`,
      `!${matches(`args.${name}`, hostSettings)}`,
    ]);
  const search = (more: readonly string[]) =>
    allow([
      `(!has(args.path) || ${[inside('path', known), ...harmless('path')].join(' && ')})`,
      ...more,
    ]);
  const glob = search([
    `!${matches('args.pattern', credentials)}`,
    '!args.pattern.contains("..")',
    '!args.pattern.startsWith("/")',
  ]);
  const sources = (name: string) =>
    `args.${name}.matches("^[*][.][a-z]{1,5}$") && !${matches(`args.${name}`, credentials)}`;
  const rules: [string[], string, string[]][] = [
    [
      ['Bash', 'bash', 'Shell'],
      'A shell command runs if it is one simple command of this list. Pipes, redirects, variables, quotes and',
      [command],
    ],
    [['Read'], 'Reading a file of the project runs.', [read('file_path')]],
    [['read'], 'Reading a file of the project runs (opencode).', [read('filePath')]],
    [['view'], 'Reading a file of the project runs (Copilot).', [read('path')]],
    [['Glob', 'glob'], 'Listing files of the project runs.', [glob]],
    [['LS', 'list'], 'Listing a folder of the project runs.', [search([])]],
    [
      ['Grep'],
      'A search runs if it lists files, or reads files of one type: others may show credentials.',
      [search(['has(args.output_mode)', '(args.output_mode != "content" || has(args.type))'])],
    ],
    [
      ['grep'],
      'A search runs if it reads files of one type (opencode).',
      [search([sources('include')])],
    ],
    [
      ['Write', 'Edit', 'MultiEdit'],
      'Writing a file of the project runs, except hidden files and folders such as .git and .claude.',
      [write('file_path')],
    ],
    [['NotebookEdit'], 'Writing a notebook of the project runs.', [write('notebook_path')]],
    [['write'], 'Writing a file of the project runs (opencode).', [write('filePath')]],
    [
      ['edit'],
      'Writing a file of the project runs (opencode, Copilot).',
      [write('filePath'), write('path')],
    ],
    [['create'], 'Writing a file of the project runs (Copilot).', [write('path')]],
  ];
  const lines = rules.flatMap(([tools, comment, conditions]) => [
    ...commentLines(comment),
    ...tools.flatMap((tool) => [
      `      ${tool}:`,
      ...conditions.map((condition) => `        - ${condition}`),
      '        - {to: "channel:console:*", timeout: 55m}',
    ]),
  ]);
  return `agent_id: guard
description: Holds the calls of coding agents in ${JSON.stringify(project).slice(1, -1).replaceAll('#', '')}
gate:
  tools:
${[...new Set(rules.flatMap(([tools]) => tools))].map((tool) => `    ${tool}: ${shells.has(tool) ? shellSchema : '{}'}`).join('\n')}
    # Tools without an effect outside of the agent. The calls of a subagent are asked for one by one.
${harmlessTools.map((tool) => `    ${tool}: {}`).join('\n')}
  # Every other tool waits for a person: the network, MCP servers, and tools that a new version brings.
  unknown: defer
# Only the token of this folder may ask and decide.
auth: {required: true}
security:
  defer:
    enabled: true
    default_timeout: 55m
    tools:
${lines.join('\n')}
audit: {sign: true}
`;
}

const shells = new Set(['Bash', 'bash', 'Shell']);

const shellSchema =
  '{schema: {type: object, properties: {command: {type: string}}, required: [command]}}';

const harmlessTools = [
  ...['TodoWrite', 'TodoRead', 'todowrite', 'todoread', 'update_todo', 'report_intent'],
  ...['BashOutput', 'TaskOutput', 'ToolSearch', 'Task', 'Agent', 'task'],
];

/** A path of the project: absolute below it, or relative without leaving it. */
function inside(name: string, project: string | null): string {
  const relative = matches(`args.${name}`, '^[A-Za-z0-9_.@][^:]*$');
  return project === null
    ? relative
    : `(args.${name} == ${quoted(project)} || args.${name}.startsWith(${quoted(`${project}/`)}) || ${relative})`;
}

function harmless(name: string): string[] {
  return [`!args.${name}.contains("..")`, `!${matches(`args.${name}`, credentials)}`];
}

function matches(value: string, pattern: string): string {
  return `${value}.matches(${quoted(pattern)})`;
}

function allow(conditions: readonly string[]): string {
  return `{when: '${conditions.join(' && ').replaceAll("'", "''")}', allow: true}`;
}

function commentLines(comment: string): string[] {
  const more = comment.endsWith(' and')
    ? [
        '      # absolute paths outside of the project wait, as do deletion, the network, pushes and names of credentials.',
      ]
    : [];
  return [`      # ${comment}`, ...more];
}
