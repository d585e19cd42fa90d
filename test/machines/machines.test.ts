import { expect, it } from 'vitest';
import * as machines from '../../src/machines/machines.ts';

it('the package exports these charts and rules only', () => {
  expect(Object.keys(machines).toSorted()).toEqual([
    'answerMispinned',
    'answerWithoutPending',
    'conversationMachine',
    'defaultLimits',
    'deferRule',
    'describeTask',
    'effectiveApprovers',
    'fitConversation',
    'formatDuration',
    'governanceFailed',
    'isApprover',
    'isFinal',
    'isKnownVersion',
    'isRefused',
    'isSamePerson',
    'isShortOfQuorum',
    'isStanding',
    'isWithin',
    'mayDecide',
    'newTask',
    'nextMoment',
    'openDeferral',
    'parseDuration',
    'registryMachine',
    'renderContext',
    'restorableSnapshot',
    'satisfiesAcr',
    'scopeOf',
    'sessionMessages',
    'settle',
    'stateOf',
    'taskMachine',
    'taskMachineVersion',
    'taskStates',
    'tokensOf',
    'toolCallMachine',
    'ungoverned',
    'withApproval',
  ]);
});

it('the package fills in the initial state of a task and the defaults of a rule', () => {
  const request = { role: 'user' as const, parts: [], messageId: 'm1' };
  const asked = { id: 'r1', request, requester: null, createdAt: 1_000 };
  expect(machines.newTask({ ...asked, contextId: 's1' })).toEqual({
    ...asked,
    contextId: 's1',
    correlationId: 'r1',
    tags: {},
    trace: null,
    surface: 'legacy',
    session: [],
    history: [],
    leftOut: 0,
    ran: [],
    hasModel: true,
    limits: machines.defaultLimits,
    onToolError: 'fail',
    settled: null,
  });
  const to = ['channel:console:*'];
  expect(machines.deferRule({ to, timeout: 60_000, quorum: 2 })).toEqual({
    to,
    timeout: 60_000,
    contextTemplate: 'tool={tool} args={args}',
    approvers: null,
    quorum: 2,
    bindApprover: false,
    distinctCallers: false,
    onReject: 'fail',
    remind: false,
    escalateTo: null,
  });
});
