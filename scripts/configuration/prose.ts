/** How the page begins. */
export const beginning = `# Every key

Reference. For operators who write \`service.yaml\`, the files of [channels](channels.md), \`dashboard.yaml\` or a
[skill](writing-tools.md): look up the values, default and example of a key. Only \`agent_id\` is required.

\`npm run configuration\` generates this page from the schemas of the code. Change the schema, not this page.

- **Durations** are \`90s\`, \`5m\`, \`1h30m\`, \`250ms\` or \`7d\`, and at most 24 days; in \`security.limits\` and \`security.effects\` at most 366 days.
- **\`\${NAME}\`** in a string is that environment variable; \`$\${\` is a literal \`\${\`. An unset variable is an
  error. Keys that end in \`_env\` hold the name of a variable.
- **An unknown key** is a warning that names the nearest key. It is an error under \`security\`, \`auth\`, \`egress\` and \`audit\`, and for
  a key that resembles one of these four, because a typo would turn a control off.
- The file is at most 256 KiB. \`holdpoint validate\` reports each problem with its line and column.
- \`[]\` is an entry of a list, \`<name>\` a name of your choice. After the semicolon of a value is its default, or *required*; other keys are optional.

Editors with YAML support complete and check the keys offline. \`holdpoint init\` and \`holdpoint import\` write the line for it and the
schema in \`.service\`:

\`\`\`yaml
# yaml-language-server: $schema=.service/service.schema.json
agent_id: refunds
\`\`\`

\`.service\` is not in version control. In a clone, for an older agent, and when \`holdpoint validate\` reports it after an update, write the schemas again:

\`\`\`sh
holdpoint schema --write
\`\`\`

VS Code needs Red Hat's extension *YAML*. \`holdpoint schema people.yaml\` prints the schema of another file. The schemas accept everything that the
daemon accepts; only \`holdpoint validate\` checks addresses and rules that span several keys. The newest release's schemas are in
[\`schema\`](https://github.com/holdpoint/holdpoint/tree/main/schema).`;

/** Where there is more about a section. */
export const seeAlso: Record<string, string> = {
  skills: 'See [writing-tools.md](writing-tools.md).',
  egress: 'See [egress.md](egress.md).',
  workflow_propagation: 'See [egress.md](egress.md#workflow-headers).',
  card: 'See [agent-card.md](agent-card.md).',
  auth: 'See [door.md](door.md#authentication) for an example of each type.',
  server: 'See [door.md](door.md).',
  security: 'See [governance.md](governance.md), which has an example with every layer.',
  audit: 'See [audit-log.md](audit-log.md).',
  observability: 'See [observability.md](observability.md).',
  store: 'See [store.md](store.md), and [scaling.md](scaling.md) for `postgres`.',
};

/** What comes before the keys of a skill. */
export const skillNote = `The block between \`---\` lines at the top of a skill. \`metadata.forge\` is an alias of \`metadata.service\`, which takes precedence.`;
