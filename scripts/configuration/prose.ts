/** How the page begins. */
export const beginning = `# Every key

The keys of \`service.yaml\`, of the files of [channels](channels.md) next to it, and of the frontmatter of a
[skill](writing-tools.md). Only \`agent_id\` is required.

Written from the schemas of the code by \`npm run configuration\`; change the schema, not this page.

- **Durations** are written \`90s\`, \`5m\`, \`1h30m\`, \`250ms\` or \`7d\`, and are at most 24 days.
- **\`\${NAME}\`** in a text is that variable of the environment; \`$\${\` is a literal \`\${\`. A variable that is not set is an
  error. Keys that end in \`_env\` hold the bare name of a variable.
- **A key that is not known** is an error under \`security\`, \`auth\`, \`egress\` and \`audit\` and where one of these four seems to be
  meant, since a slip would switch a control off in silence, and a warning elsewhere; the nearest known key is named.
- The file is at most 256 KiB. \`holdpoint validate\` says of every problem where it stands.
- \`[]\` is an entry of a list, \`<name>\` a name of your own. *none* is a key that may be left out.

An editor that knows YAML completes and checks the keys while you write, without a network. \`holdpoint init\` and \`holdpoint import\` write
the first line for it, and the schema into \`.service\`:

\`\`\`yaml
# yaml-language-server: $schema=.service/service.schema.json
agent_id: refunds
\`\`\`

\`.service\` is not in version control. In a clone, for an agent that was made before, and after an update of Holdpoint (\`holdpoint validate\` reports it),
write the schemas of the agent's files yourself:

\`\`\`sh
holdpoint schema --write
\`\`\`

VS Code needs the extension *YAML* of Red Hat. \`people.yaml\`, \`dashboard.yaml\` and the files of channels have schemas as well:
\`holdpoint schema people.yaml\` prints one. The schemas refuse nothing that the daemon takes; addresses, and rules that span several keys, are
\`holdpoint validate\`'s. The schemas of the newest release are in [\`schema\`](https://github.com/holdpoint/holdpoint/tree/main/schema).`;

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
export const skillNote = `The block between \`---\` lines above a skill. \`metadata.forge\` is read as \`metadata.service\` is, which has the last word. How
a skill is written: [writing-tools.md](writing-tools.md).`;
