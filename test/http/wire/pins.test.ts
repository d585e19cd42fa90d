import { globSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { mcpRoutes } from '../../../src/http/mcp/mcp-route.ts';
import { describeSurface } from '../../../src/http/openapi/describe-surface.ts';
import { acsRoutes } from '../../../src/http/routes/acs.ts';
import { cardRoutes } from '../../../src/http/routes/agent-card-routes.ts';
import { auditKeyRoutes } from '../../../src/http/routes/audit-keys.ts';
import { deferralRoutes } from '../../../src/http/routes/deferrals.ts';
import { delegationRoutes } from '../../../src/http/routes/delegations.ts';
import { eventRoutes } from '../../../src/http/routes/events.ts';
import { grantRoutes } from '../../../src/http/routes/grants.ts';
import { healthRoutes } from '../../../src/http/routes/health.ts';
import { holdRoutes } from '../../../src/http/routes/holds.ts';
import { hookRoutes } from '../../../src/http/routes/hooks.ts';
import { rpcRoutes } from '../../../src/http/routes/json-rpc-route.ts';
import { limitRoutes } from '../../../src/http/routes/limits.ts';
import { mcpServerRoutes } from '../../../src/http/routes/mcp-servers.ts';
import { policyRoutes } from '../../../src/http/routes/policy-reload.ts';
import { resourceRoutes } from '../../../src/http/routes/protected-resource.ts';
import { sessionRoutes } from '../../../src/http/routes/sessions.ts';
import { taskRoutes } from '../../../src/http/routes/tasks.ts';
import { admissionDenied, denialProblem } from '../../../src/http/wire/admission.ts';
import { decided, decisionConflict, presentAnswer } from '../../../src/http/wire/decision.ts';
import { decisionRecord, presentDecisions } from '../../../src/http/wire/decision-record.ts';
import {
  deferral,
  deferralDetail,
  deferralEvent,
  pendingDeferral,
  presentDeferral,
  presentPending,
  presentWait,
  presentWhole,
} from '../../../src/http/wire/deferral.ts';
import { hold, holdOutcome, presentHold } from '../../../src/http/wire/hold.ts';
import { message, presentMessage } from '../../../src/http/wire/message.ts';
import { refusal } from '../../../src/http/wire/problem.ts';
import { presentProgress, progress } from '../../../src/http/wire/progress.ts';
import { presentRequester, requester } from '../../../src/http/wire/requester.ts';
import {
  presentBrief,
  presentSession,
  session,
  sessionBrief,
} from '../../../src/http/wire/session.ts';
import {
  outcome as outcomeSchema,
  presentOutcome,
  settledBefore,
  settledEarlier,
} from '../../../src/http/wire/settlement.ts';
import { presentStates, statePath } from '../../../src/http/wire/states.ts';
import { origin, presentOrigin, presentTask, stepUpOf, task } from '../../../src/http/wire/task.ts';
import { presentRow, taskRow } from '../../../src/http/wire/task-row.ts';
import type { AdmissionVerdict } from '../../../src/machines/admission/admission-answer.ts';
import type { DecisionRecord, Message, Task } from '../../../src/machines/domain/task.ts';
import type { DecisionAnswer } from '../../../src/machines/governance/decision.ts';
import { aFirstEffect, aMeasuredLimit, anOpenOutcome } from '../../helpers/limit-fixtures.ts';
import { aParkedTask, aTask } from '../../helpers/stored-tasks.ts';
import {
  aCaller,
  aDeferral,
  anEdit,
  aSettledDeferral,
  digest,
  runsDigest,
} from '../../helpers/task-fixtures.ts';

const asked: Message = {
  role: 'user',
  messageId: 'm-1',
  sentAs: 'agent',
  parts: [
    { kind: 'text', text: 'Refund A-1042', metadata: {} },
    { kind: 'data', data: { order: 'A-1042' } },
    { kind: 'file', file: { name: 'a.txt', mimeType: 'text/plain', bytes: 'YQ==' } },
    { kind: 'file', file: { uri: 'https://example.com/a.txt' } },
  ],
};
const records: DecisionRecord[] = [
  {
    ...{ callId: null, tool: null, layer: 'prompt', decision: 'allow', reason: 'fits' },
    ...{ duration: 0.1, rule: 'defer.tools.pay[1]' },
  },
  {
    ...{ callId: 'call-1', tool: 'pay', layer: 'modify', decision: 'modify', reason: 'rule 1' },
    duration: 0.2,
    changes: [{ path: 'amount', before: '5', after: '3' }, { path: 'to' }],
  },
];
const held = aDeferral({
  args: { amount: 3, card: '4242' },
  shown: { amount: 3, card: '…' },
  runsSha256: runsDigest,
  repeats: { callId: 'call-0', at: 1_000, approver: 'Ann' },
  limits: [
    aMeasuredLimit(),
    aMeasuredLimit({ name: 'refunds', period: { calendar: 'day', zone: 'UTC' }, amount: null }),
  ],
  first: aFirstEffect({ requester: aCaller() }),
  requests: 2,
  approvers: ['ann@example.com', 'group:finance'],
  alsoBy: [['group:legal']],
  quorum: 2,
  quorumOf: { 'group:finance': 2 },
  requireReason: 'both',
  requirePasskey: true,
  fourEyes: true,
  mention: true,
  isEditable: true,
  display: ['args.amount'],
  edits: [anEdit()],
  escalateAt: 2_000,
  escalateTo: 'channel:slack:#heads',
  approvals: [{ approver: 'Ann', at: 1_500, as: ['group:finance'], for: 'bo@example.com' }],
  messages: [
    { from: null, text: 'hurry' },
    { from: 'rita@example.com', text: 'stop', at: 1_600 },
  ],
});
const parked: Task = {
  ...aParkedTask('t-1', 300_000),
  requester: aCaller(),
  history: [asked],
  leftOut: 3,
  records,
  deferral: held,
  tags: { workflow_id: 'w-1', org_id: 'o-1' },
};
const failed = aTask({ state: 'failed', text: 'failed' });

/** Tasks in which each field of the wire is presented at least once. */
const statedHold = {
  ...{ key: 'k-1', tool: 'pay', askedSha256: digest, outcomeWithin: 1, releaseWithin: 1 },
  ...{ agent: 'claude-code', session: 's-1', subject: 'ann', cwd: '/home/ann/shop' },
};
const tasks: Task[] = [
  aTask(),
  parked,
  { ...parked, stage: 'escalated' },
  { ...aParkedTask('t-2', 300_000), hold: statedHold },
  {
    ...aParkedTask('t-3', 300_000),
    deferral: aDeferral({ remember: { time: 3_600_000, uses: 3 } }),
  },
  aTask({ state: 'completed', text: 'done', answer: asked.parts, history: [asked], cut: 'length' }),
  aTask({ decided: [{ ...aSettledDeferral({ edit: anEdit() }), by: [null] }] }),
  aTask({ waits: { at: 'shop', for: 'its manager', until: 'noon' } }),
  {
    ...failed,
    ran: [
      {
        ...{ tool: 'pay', callId: 'call-0', argsSha256: digest, args: '{}', outcome: 'unknown' },
        at: 1_000,
      },
    ],
  },
  {
    ...failed,
    failure: {
      ...{ kind: 'stepUp', text: 'sign in again', tool: 'pay', requiredAcr: 'high' },
      ...{ presentedAcr: null, reason: 'rule 1' },
    },
  },
];
const history = {
  states: [{ state: 'submitted', event: 'task.send', at: 1_000 }],
  ...{ leftOut: 2, version: 7 },
};
const present = (task: Task, index: number) =>
  presentTask(task, {
    withDecisions: true,
    withOrigin: index % 2 === 0,
    states: index % 2 === 0 ? presentStates(task, history) : undefined,
  });
const sessions = [{ id: 's-1', preview: 'Refund', createdAt: 1_000, updatedAt: 2_000 }];
const verdict: AdmissionVerdict = {
  ...{ decision: 'deny', reason: 'budget', scope: 'org', window: 'day', resetAt: '' },
  ...{ cached: false, fallback: false },
};
const answers: DecisionAnswer[] = [
  { kind: 'resolved', deferralId: 'd-1', decision: 'approve', approver: 'Ann' },
  {
    ...{ kind: 'resolved', deferralId: 'd-1', decision: 'approve', approver: 'Ann' },
    editedSha256: digest,
  },
  { kind: 'recorded', deferralId: 'd-1', decision: 'reject', approver: 'Ann' },
  { kind: 'forbidden' },
  {
    kind: 'decided',
    settled: {
      ...{ id: 'd-1', tool: 'pay', argsSha256: digest, decision: 'approve', approver: 'Ann' },
      ...{ note: '', decidedAt: 1_000 },
    },
  },
  { kind: 'notEditable' },
  { kind: 'unfit', text: 'pay: argument amount is missing' },
  { kind: 'otherDeferral', pendingId: 'd-2' },
  { kind: 'otherArguments', pendingSha256: digest },
  { kind: 'otherRuns', pendingSha256: runsDigest },
  { kind: 'notPending' },
];
const answered = answers.map((answer) => presentAnswer('t-1', answer));
const bodiesOf = (...statuses: number[]) =>
  answered.filter(({ status }) => statuses.includes(status)).map(({ body }) => body);
const there = <Value>(value: Value | null): Value[] => (value === null ? [] : [value]);

const granted = { callId: 'c-1', args: { amount: 5 }, argsSha256: digest, deferralId: 'c-1' };
const outcome = { status: 'failed', resultSha256: digest, error: 'no space left' } as const;
const closedHold = {
  ...statedHold,
  granted,
  account: { state: 'closed', grantedAt: 1, releasedAt: 1, outcome },
} as const;
const holds = [
  aTask({ state: 'deferred', hold: statedHold, deferral: { ...held, hint: 'no such tool' } }),
  aTask({ state: 'completed', hold: closedHold }),
  aTask({ state: 'failed', hold: statedHold, text: 'denied' }),
  aTask({
    ...{ state: 'failed', hold: statedHold, text: 'denied' },
    failure: {
      ...{ kind: 'denied', text: 'denied', tool: 'pay', layer: 'defer' },
      repeats: { callId: 'c-0', taskId: 't-0', key: 'pay:A-1', outcome: 'succeeded' },
    },
  }),
].map((one) => presentHold(one, { isTaken: true }));

const statement = {
  ran: false,
  by: 'ann',
  reason: 'not at the bank',
  at: 3_000,
  contradictedAt: 9_000,
};
const settledOutcome = anOpenOutcome({ settled: statement });

/** Each schema with objects that its presenter made. */
const presented: [name: string, schema: z.ZodType, objects: unknown[]][] = [
  ['task', task, tasks.map(present)],
  ['deferral', deferral, tasks.flatMap((one) => there(presentDeferral(one)))],
  [
    'deferralDetail',
    deferralDetail,
    tasks.flatMap((one) => there(presentWhole(one, {})).concat(there(presentDeferral(one)))),
  ],
  ['hold', hold, holds],
  ['holdOutcome', holdOutcome, holds.flatMap((one) => there(one.outcome ?? null))],
  ['pendingDeferral', pendingDeferral, tasks.flatMap((one) => there(presentPending(one)))],
  ['deferralEvent', deferralEvent, tasks.map((one) => presentWait(one.id, one))],
  ['decisionRecord', decisionRecord, presentDecisions(records)],
  [
    'requester',
    requester,
    [presentRequester(aCaller()), presentRequester(aCaller({ email: 'a' }))],
  ],
  ['origin', origin, tasks.map(presentOrigin)],
  ['statePath', statePath, [presentStates(parked, history)]],
  ['message', message, [presentMessage(asked), presentMessage({ ...asked, role: 'agent' })]],
  ['taskRow', taskRow, tasks.map(presentRow)],
  ['sessionBrief', sessionBrief, sessions.map(presentBrief)],
  ['session', session, sessions.map((one) => presentSession({ ...one, messages: [asked] }))],
  ['progress', progress, [presentProgress('t-1', { phase: 'token', tool: 'pay', text: 'a' })]],
  ['outcome', outcomeSchema, [anOpenOutcome(), settledOutcome].map(presentOutcome)],
  ['settledEarlier', settledEarlier, [settledBefore(settledOutcome).body]],
  ['decided', decided, bodiesOf(200)],
  ['decisionConflict', decisionConflict, bodiesOf(409)],
  ['refusal', refusal, bodiesOf(400, 403, 404)],
  ['admissionDenied', admissionDenied, [denialProblem(verdict, 0).body]],
];

describe.each(presented)('a presented %s', (_, schema, objects) => {
  it('is read by its schema unchanged', () => {
    expect(objects.length).toBeGreaterThan(0);
    for (const object of objects) expect(schema.parse(object)).toStrictEqual(object);
  });

  it('has each field of its schema at least once', () => {
    expect(pathsIn(objects)).toEqual(pathsOf(schema));
  });
});

it('each presenter returns the whole value of its schema', () => {
  expectTypeOf(presentTask).returns.toEqualTypeOf<z.output<typeof task>>();
  expectTypeOf(presentDeferral).returns.toEqualTypeOf<z.output<typeof deferral> | null>();
  expectTypeOf(presentHold).returns.toEqualTypeOf<z.output<typeof hold>>();
  expectTypeOf(presentPending).returns.toEqualTypeOf<z.output<typeof pendingDeferral> | null>();
  expectTypeOf(presentWait).returns.toEqualTypeOf<z.output<typeof deferralEvent>>();
  expectTypeOf(presentDecisions).returns.toEqualTypeOf<z.output<typeof decisionRecord>[]>();
  expectTypeOf(presentRequester).returns.toEqualTypeOf<z.output<typeof requester> | null>();
  expectTypeOf(presentOrigin).returns.toEqualTypeOf<z.output<typeof origin>>();
  expectTypeOf(presentStates).returns.toEqualTypeOf<z.output<typeof statePath>>();
  expectTypeOf(presentMessage).returns.toEqualTypeOf<z.output<typeof message>>();
  expectTypeOf(presentRow).returns.toEqualTypeOf<z.output<typeof taskRow>>();
  expectTypeOf(presentBrief).returns.toEqualTypeOf<z.output<typeof sessionBrief>>();
  expectTypeOf(presentSession).returns.toEqualTypeOf<z.output<typeof session>>();
  expectTypeOf(presentProgress).returns.toEqualTypeOf<z.output<typeof progress>>();
  type StepUp = NonNullable<z.output<typeof task>['metadata']>['step_up'];
  expectTypeOf(stepUpOf).returns.toEqualTypeOf<NonNullable<StepUp> | null>();
});

it('the OpenAPI document names each schema of the wire', async () => {
  const folder = join(import.meta.dirname, '../../../src/http/wire');
  const files = globSync('*.ts', { cwd: folder }).map((name) => import(join(folder, name)));
  const named = (await Promise.all(files))
    .flatMap((file) => Object.values(file as object) as unknown[])
    .flatMap((value) => (value instanceof z.ZodType ? (value.meta()?.id ?? []) : []));
  const ports = {} as never;
  const own = {
    ...{ ...taskRoutes(ports), ...eventRoutes, ...sessionRoutes, ...deferralRoutes(ports) },
    ...{ ...policyRoutes(ports), ...grantRoutes, ...delegationRoutes(ports), ...holdRoutes(ports) },
    ...limitRoutes(ports),
    ...{ ...acsRoutes(ports), ...hookRoutes(ports), ...mcpServerRoutes(ports, ports) },
    ...{ ...healthRoutes(ports), ...rpcRoutes(ports), ...mcpRoutes(ports, ports) },
    ...{
      ...cardRoutes(ports),
      ...auditKeyRoutes(ports),
      ...resourceRoutes({ issuers: [], scopes: [] } as never),
    },
  };
  const routes = Object.keys(own).map((way) => {
    const [verb = '', path = ''] = way.split(' ');
    return { path, methods: [verb] };
  });
  const a2a = [{ path: '/a2a/tasks', methods: ['GET'] }];
  const owner = { name: 'till', version: '1.0.0', url: 'http://127.0.0.1' };
  const { components } = describeSurface([...routes, ...a2a], own, owner) as {
    components: { schemas: object };
  };
  expect(Object.keys(components.schemas)).toEqual(expect.arrayContaining(named));
  expect(named).toEqual(expect.arrayContaining(['Deferral', 'Task', 'Message', 'DecisionRecord']));
});

/** Fields with any keys, and the message of a status, which is always a string. */
const open = /(^|\.)(args|data|workflow|quorum_of|by|status\.message)$/;

/** Returns the paths of all fields in these values, sorted. */
function pathsIn(values: readonly unknown[], under = ''): string[] {
  const objects = values.flatMap((value) => (Array.isArray(value) ? value : [value]));
  const keys = new Set(objects.flatMap((one) => (isObject(one) ? Object.keys(one) : [])));
  return [...keys]
    .flatMap((key) => {
      const path = `${under}${key}`;
      const inside = objects.flatMap((one) => (isObject(one) && key in one ? [one[key]] : []));
      return open.test(path) ? [path] : [path, ...pathsIn(inside, `${path}.`)];
    })
    .toSorted();
}

/** Returns the paths of all fields of a schema, sorted. */
function pathsOf(schema: unknown, under = ''): string[] {
  if (schema instanceof z.ZodArray) return pathsOf(schema.element, under);
  if (schema instanceof z.ZodNullable) return pathsOf(schema.unwrap(), under);
  if (schema instanceof z.ZodOptional) return pathsOf(schema.unwrap(), under);
  if (schema instanceof z.ZodExactOptional) return pathsOf(schema.unwrap(), under);
  if (schema instanceof z.ZodUnion) {
    const paths = schema.options.flatMap((option) => pathsOf(option, under));
    return [...new Set(paths)].toSorted();
  }
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape)
    .flatMap(([key, field]) => {
      const path = `${under}${key}`;
      return open.test(path) ? [path] : [path, ...pathsOf(field, `${path}.`)];
    })
    .toSorted();
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
