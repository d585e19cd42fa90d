/**
 * The wings of src/actors: the question that each answers, and the wings it uses. `ports/` and the files next to the wings,
 * such as `deadline.ts`, belong to all. A wing is entered by the file of its own name.
 */
exports.wings = {
  process: {
    purpose: 'How does it run on its machine?',
    uses: [],
  },
  telemetry: {
    purpose: 'What can be monitored?',
    uses: [],
  },
  oauth: {
    purpose: 'How does it find an authorization server?',
    uses: [],
  },
  people: {
    purpose: 'Which people are there? Groups, on-call lists, delegations',
    uses: [],
  },
  records: {
    purpose:
      'What is stored? `store/` (the port), `sqlite/`, `postgres/` (its implementations), `log/`, `sinks/`',
    uses: [],
  },
  providers: {
    purpose: 'Which models can it call? Addresses, keys and packages of providers',
    uses: [],
  },
  governance: {
    purpose:
      'What may run? `settings/`, `policy/`, `guardrails/`, `modify/`, `alignment/`, `credentials/`',
    uses: ['process', 'providers'],
  },
  secrets: {
    purpose: 'What must stay secret? The encrypted file, `.env`, their order',
    uses: ['process', 'records'],
  },
  outbound: {
    purpose: 'How does it send requests? `egress/`, `proxy/`, `push/`',
    uses: ['process', 'records', 'telemetry'],
  },
  tools: {
    purpose:
      'What can it do? `builtin/`, `skills/`, `scripts/`, `sandbox/`, `mcp/` ([ARCHITECTURE.md](src/actors/tools/mcp/ARCHITECTURE.md))',
    uses: ['governance', 'oauth', 'outbound', 'process'],
  },
  channels: {
    purpose: 'Whom does it ask? `console/`, `slack/`, `telegram/`, `webhook/`, `conversations/`',
    uses: ['outbound', 'records'],
  },
  config: {
    purpose: 'What is configured? ([ARCHITECTURE.md](src/actors/config/ARCHITECTURE.md))',
    uses: ['channels', 'governance', 'outbound', 'people', 'providers', 'records', 'telemetry'],
  },
  access: {
    purpose:
      'Who may call? `auth/`, `sign-in/`, `admission/` ([ARCHITECTURE.md](src/actors/access/ARCHITECTURE.md))',
    uses: ['config', 'oauth', 'telemetry'],
  },
  card: {
    purpose: 'How does it describe itself?',
    uses: ['config', 'tools'],
  },
  workspace: {
    purpose:
      'Which agents exist? Their folders, their background processes, and the connection to each',
    uses: ['process'],
  },
  tasks: {
    purpose: 'Who works? The task system, live tasks, the effects of their chart, `models/`',
    uses: ['governance', 'people', 'providers', 'records', 'telemetry'],
  },
};

/** The rooms of src/dashboard: what each does, and the rooms it uses. */
exports.dashboardRooms = {
  reading: {
    purpose: 'Reads agents: audit logs, policies, recorded calls, cards',
    uses: [],
  },
  'sign-in': {
    purpose: 'Signs in to a model provider with a browser; the tokens stay here',
    uses: [],
  },
  builder: {
    purpose:
      'Writes a skill with a person: model settings, a turn of the conversation, skills read and saved',
    uses: [],
  },
  workspace: {
    purpose: 'Follows the agents of a folder, publishes their changes, creates agents, adds skills',
    uses: ['reading', 'sign-in'],
  },
  routes: {
    purpose: 'Translates requests; one table converts errors to problems',
    uses: ['builder', 'reading', 'sign-in', 'workspace'],
  },
  server: {
    purpose: 'Listens, guards every request, serves the page, opens the services',
    uses: ['builder', 'reading', 'routes', 'sign-in', 'workspace'],
  },
};
