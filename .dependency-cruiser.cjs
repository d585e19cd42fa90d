// oxlint-disable-next-line typescript/no-unsafe-call -- `require` has no type in a CommonJS file.
const { wings, dashboardRooms } = require('./scripts/rooms/rooms.cjs');

const core = '^src/machines/';
const npm = ['npm', 'npm-dev', 'npm-optional', 'npm-peer', 'npm-no-pkg', 'npm-unknown'];

/**
 * The packages of the product. They go into its bundle, so that npm installs them for whoever works on it alone; `piscina`
 * finds its files by path and is installed with the product.
 */
const productPackages = [
  '@a2a-js/sdk',
  '@ai-sdk/anthropic',
  '@ai-sdk/google',
  '@ai-sdk/openai',
  '@ai-sdk/openai-compatible',
  '@aws-sdk/client-sts',
  '@clack/prompts',
  '@hapi/bourne',
  '@koa/cors',
  '@koa/router',
  '@marcbachmann/cel-js',
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/core',
  '@modelcontextprotocol/server',
  '@opentelemetry/api',
  '@opentelemetry/context-async-hooks',
  '@opentelemetry/core',
  '@opentelemetry/otlp-transformer',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace',
  '@simplewebauthn/server',
  '@slack/socket-mode',
  '@slack/types',
  '@slack/web-api',
  '@smithy/fetch-http-handler',
  'ai',
  'ajv',
  'canonicalize',
  'chokidar',
  'commander',
  'csv-parse',
  'decimal.js',
  'eventsource-parser',
  'express',
  'fastest-levenshtein',
  'grammy',
  'html-to-text',
  'ipaddr.js',
  'jose',
  'js-yaml',
  'jsep',
  'json-p3',
  'jsonc-parser',
  'jszip',
  'koa',
  'koa-body',
  'koa-compress',
  'lru-cache',
  'marked',
  'mdast-util-from-markdown',
  'oauth4webapi',
  'nodemailer',
  'openid-client',
  'p-limit',
  'pg',
  'pg-boss',
  'pgpass',
  'picocolors',
  'picomatch',
  'pino',
  'piscina',
  'prom-client',
  'proxy-addr',
  're2js',
  'slackify-markdown',
  'smol-toml',
  'standardwebhooks',
  'tar-stream',
  'temporal-polyfill',
  'undici',
  'uuid',
  'web-push',
  'ws',
  'xstate',
  'yaml',
  'zod',
];

/** @param {string[]} names */
const insideOf = (names) => `^src/actors/(${names.join('|')})/`;

/** The only file of the product that names the fake Slack, which the published package does not contain. */
const fakeSlackLoader = '^src/cli/slack/fake-slack\\.ts$';

/** The rules by which logs and receipts are verified, without Node, and the files of the pages that use them. */
const verifier = '^src/actors/records/log/verifier\\.ts$';
const verifierUser =
  '^src/ui/(dashboard/views/(audit/log-check|receipts/check-receipts)|bundle/(verify-bundle|bundled-calls))\\.ts$';

/** What of src/machines the page runs as the command does. */
const sharedWithPage = [
  '^src/machines/wizard/',
  '^src/machines/(agent-process/stop-words|domain/task|duration|decimal-words|exact-json|exact-number|text|governance/(argument-at|kept-changes|caller-name|limit-words)|json|kebab-case|legible|mixed-letters|shell-word)\\.ts$',
];

/** What takes fast-check, a peer of the package. */
const propertyTests = '^packages/testing/arbitraries\\.ts$';

/** The rooms of src/ and the arrows between them; CONTRIBUTING.md tells why they point this way. */
module.exports = {
  forbidden: [
    {
      name: 'machines-are-pure',
      comment: 'src/machines imports src/machines and xstate, nothing else, types included.',
      severity: 'error',
      from: { path: core },
      to: { pathNot: [core, '(^|/)node_modules/xstate/'] },
    },
    ...[
      ['domain', '(?!domain/)[^/]+/'],
      ['governance', '(task|conversation|channels)/'],
      ['task', '(conversation|channels)/'],
    ].map(([room, above]) => ({
      name: `machines-${room}-points-down`,
      comment:
        'In src/machines the order is domain, governance, task, then conversation and channels; each imports only earlier ones.',
      severity: 'error',
      from: { path: `^src/machines/${room}/` },
      to: { path: `^src/machines/${above}` },
    })),
    {
      name: 'charts-are-offered-to-others',
      comment:
        'src/machines/machines.ts is for other programs; src and packages take what they need from its files.',
      severity: 'error',
      from: { path: '^(src|packages)/' },
      to: { path: '^src/machines/machines\\.ts$' },
    },
    {
      name: 'actors-know-no-transport',
      comment:
        'src/actors imports src/actors, src/machines, src/package-root.ts, packages and node:.',
      severity: 'error',
      from: { path: '^src/actors/' },
      to: { path: '^src/', pathNot: ['^src/actors/', core, '^src/package-root\\.ts$'] },
    },
    ...Object.keys(wings).map((wing) => ({
      name: `${wing}-is-entered-by-its-face`,
      comment: `From outside, src/actors/${wing} is reached by ${wing}.ts alone.`,
      severity: 'error',
      from: { path: '^(src|packages)/', pathNot: insideOf([wing]) },
      to: { path: insideOf([wing]), pathNot: [`^src/actors/${wing}/${wing}\\.ts$`, verifier] },
    })),
    ...Object.entries(wings).map(([wing, { uses: below }]) => ({
      name: `${wing}-stands-on-its-own-wings`,
      comment: `src/actors/${wing} uses ${below.length === 0 ? 'no other wing' : below.join(', ')}.`,
      severity: 'error',
      from: { path: insideOf([wing]) },
      to: { path: '^src/actors/[^/]+/', pathNot: insideOf(['ports', wing, ...below]) },
    })),
    {
      name: 'common-files-know-no-wing',
      comment:
        'A file of src/actors/ports or next to the wings belongs to all of them and imports none.',
      severity: 'error',
      from: { path: '^src/actors/([^/]+\\.ts$|ports/)' },
      to: { path: '^src/actors/[^/]+/', pathNot: insideOf(['ports']) },
    },
    {
      name: 'http-speaks-to-the-system-only',
      comment:
        'src/http reaches the actors through the wing of the tasks, actors/ports and actors/system-error.ts alone.',
      severity: 'error',
      from: { path: '^src/http/' },
      to: {
        path: '^src/',
        pathNot: ['^src/http/', core, '^src/actors/(tasks/tasks|ports/[^/]+|system-error)\\.ts$'],
      },
    },
    {
      name: 'http-runs-no-chart',
      comment: 'src/http may use types and pure functions of src/machines, never a chart.',
      severity: 'error',
      from: { path: '^src/http/' },
      to: { path: `${core}.*-machine\\.ts$` },
    },
    {
      name: 'http-translates-only',
      comment:
        'src/http needs Koa, its body and query parsers, the SDKs of A2A, with the router it is made for, and of MCP, zod, the metrics format and the interface of tracing.',
      severity: 'error',
      from: { path: '^src/http/' },
      to: {
        dependencyTypes: npm,
        pathNot:
          '(^|/)node_modules/(@types/)?(koa|@koa/router|@koa/cors|@a2a-js/sdk|@modelcontextprotocol/(core|server)|express|express-serve-static-core|@opentelemetry/api|koa-body|canonicalize|@hapi/bourne|ipaddr.js|lru-cache|proxy-addr|zod|prom-client)/',
      },
    },
    {
      name: 'ui-shares-the-wire-types-only',
      comment:
        'src/ui runs in a browser and imports nothing of the daemon but types of src/http/wire, the wizard, and how a shell reads a word.',
      severity: 'error',
      from: { path: '^src/ui/' },
      to: { path: '^src/', pathNot: ['^src/ui/', '^src/http/wire/', verifier, ...sharedWithPage] },
    },
    {
      name: 'the-verifier-runs-in-the-page-too',
      comment:
        'The pages verify by the same rules as `audit verify` and `receipt verify`: log-check.ts, check-receipts.ts, verify-bundle.ts and bundled-calls.ts alone import them, from records/log/verifier.ts.',
      severity: 'error',
      from: { path: '^(src|packages)/', pathNot: verifierUser },
      to: { path: verifier },
    },
    {
      name: 'only-the-command-line-puts-agents-together',
      comment:
        'src/agent is the composition root; only src/cli.ts, src/cli/, src/dashboard and packages/testing import it.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/cli(\\.ts$|/)', '^src/(agent|dashboard)/'] },
      to: { path: '^src/agent/' },
    },
    {
      name: 'only-the-command-line-serves-the-dashboard',
      comment: 'src/dashboard is imported by src/cli alone.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(cli|dashboard)/' },
      to: { path: '^src/dashboard/' },
    },
    {
      name: 'dashboard-shares-the-http-helpers-only',
      comment:
        'src/dashboard imports src/agent, src/actors, src/machines and of src/http the wire, the middleware, the sign-in, the listener and the state of a request.',
      severity: 'error',
      from: { path: '^src/dashboard/' },
      to: {
        path: '^src/',
        pathNot: [
          '^src/(dashboard|agent|actors)/',
          core,
          '^src/(package-root|version)\\.ts$',
          '^src/http/((wire|middleware|sign-in)/|(client-address|listen|request-state)\\.ts$)',
        ],
      },
    },
    ...Object.entries(dashboardRooms).map(([room, { uses: below }]) => ({
      name: `dashboard-${room}-stands-on-its-own-rooms`,
      comment: `src/dashboard/${room} uses ${below.length === 0 ? 'no other room of the dashboard' : below.join(', ')}.`,
      severity: 'error',
      from: { path: `^src/dashboard/${room}/` },
      to: { path: '^src/dashboard/', pathNot: `^src/dashboard/(${[room, ...below].join('|')})/` },
    })),
    ...['testing', 'client'].map((name) => ({
      name: `${name}-is-offered-to-others`,
      comment: `packages/${name} is for other programs; nothing of the product imports it.`,
      severity: 'error',
      from: { path: '^(src|packages)/', pathNot: `^packages/${name}/` },
      to: { path: `^packages/${name}/` },
    })),
    {
      name: 'testing-tests-the-agent-itself',
      comment:
        'packages/testing imports src/agent, src/actors by its faces, src/machines, and of src/http whose tasks are whose, how a decision is answered, and the tenant of a caller.',
      severity: 'error',
      from: { path: '^packages/testing/' },
      to: {
        path: '^src/',
        pathNot: [
          '^src/(agent|actors)/',
          core,
          '^src/http/(caller-tasks|wire/(decision|problem|request-envelope))\\.ts$',
        ],
      },
    },
    {
      name: 'checks-of-holds-stand-alone',
      comment:
        'packages/testing/holds checks any implementation in any runtime, and imports only itself, types included.',
      severity: 'error',
      from: { path: '^packages/testing/holds/' },
      to: { pathNot: '^packages/testing/holds/' },
    },
    {
      name: 'client-stands-alone',
      comment:
        'packages/client runs in the programs of others, also in browsers, and imports only itself, types included.',
      severity: 'error',
      from: { path: '^packages/client/' },
      to: { pathNot: '^packages/client/' },
    },
    {
      name: 'nobody-imports-the-command-line',
      comment: 'src/cli.ts and src/cli/ are imported by the command line alone.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/cli(\\.ts$|/)' },
      to: { path: '^src/cli(\\.ts$|/)' },
    },
    {
      name: 'fake-slack-is-loaded-where-it-is',
      comment:
        'The product names packages/fake-slack in src/cli/slack/fake-slack.ts alone, by its types; an installed package does not contain it.',
      severity: 'error',
      from: { path: '^src/', pathNot: fakeSlackLoader },
      to: { path: '^packages/fake-slack/' },
    },
    {
      name: 'fake-slack-is-not-bundled',
      comment: 'src/cli/slack/fake-slack.ts imports types of packages/fake-slack/demo.ts alone.',
      severity: 'error',
      from: { path: fakeSlackLoader },
      to: { path: '^packages/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'fake-slack-stands-alone',
      comment:
        'packages/fake-slack imports src/machines, actors/ports/clock.ts and actors/system-clock.ts, and packages; its demos also the command and the log.',
      severity: 'error',
      from: { path: '^packages/fake-slack/', pathNot: '^packages/fake-slack/demo/' },
      to: { path: '^src/', pathNot: [core, '^src/actors/(ports/clock|system-clock)\\.ts$'] },
    },
    {
      name: 'demos-use-the-command-and-the-log',
      comment: 'packages/fake-slack/demo imports src/cli and the face of src/actors/records.',
      severity: 'error',
      from: { path: '^packages/fake-slack/demo/' },
      to: { path: '^src/', pathNot: ['^src/cli/', '^src/actors/records/records\\.ts$'] },
    },
    {
      name: 'product-needs-no-test-code',
      comment: 'src and packages import no tests, scripts, benchmarks and examples.',
      severity: 'error',
      from: { path: '^(src|packages)/' },
      to: { path: '^(test|scripts|bench|examples)/' },
    },
    {
      name: 'product-runs-without-development-packages',
      comment:
        'A package that src imports is one of those of the product, which its bundle holds; the dashboard is built apart, and what property tests ask with takes the fast-check of whoever has them.',
      severity: 'error',
      from: {
        path: '^(src|packages/testing)/',
        pathNot: ['^src/ui/(approvals|dashboard)/', propertyTests],
      },
      to: {
        dependencyTypes: npm,
        dependencyTypesNot: ['type-only'],
        pathNot: `(^|/)node_modules/(@types/)?(${productPackages.join('|').replaceAll('.', '\\.')})/`,
      },
    },
    {
      name: 'no-cycles',
      comment: 'Two files that need each other are one file, or hide a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-unresolved-imports',
      comment: 'Every import must lead somewhere.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^packages/[^/]+/dist/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json', '.svelte'],
    },
  },
};
