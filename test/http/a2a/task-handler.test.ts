import { SendMessageRequest } from '@a2a-js/sdk';
import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { expect, it } from 'vitest';
import { PushNotifications } from '../../../src/actors/outbound/push/push-notifications.ts';
import { randomIds } from '../../../src/actors/random-ids.ts';
import { type CallRequest, callContext } from '../../../src/http/a2a/call-context.ts';
import { loadSdk } from '../../../src/http/a2a/sdk.ts';
import { TaskHandler } from '../../../src/http/a2a/task-handler.ts';
import { CallerTasks } from '../../../src/http/caller-tasks.ts';
import { Heartbeats } from '../../../src/http/heartbeats.ts';
import { anEgress } from '../../actors/outbound/egress/an-egress.ts';
import { someTraffic } from '../../helpers/some-traffic.ts';
import { openSystem } from '../../helpers/test-system.ts';

it('the receiver of a send without a task is deleted', async () => {
  const sdk = await loadSdk();
  const { system, store, clock } = await openSystem({ isStarted: false });
  const told: string[] = [];
  const log = () => void told.push('logged');
  const push = new PushNotifications({
    rows: store.push,
    find: (id) => system.reads.find(id),
    write: () => Promise.reject(new Error('nothing is told')),
    egress: anEgress().egress,
    clock,
    log: { info: log, warn: log, error: log },
  });
  const card = { current: () => null };
  const handler = new TaskHandler(sdk, {
    ids: randomIds(),
    card: card as never,
    a2aHold: false,
    a2aAnswer: 'artifact',
  });
  const request: CallRequest = {
    state: {
      correlationId: 'c-1',
      clientAddress: '127.0.0.1',
      nextSequence: () => 1,
      tags: {},
      span: trace.getTracer('test').startSpan('send', {}, ROOT_CONTEXT),
      caller: null,
      traffic: someTraffic(),
      keepAlive: { comments: new Heartbeats(clock, 4_000), blanks: null },
      tasks: new CallerTasks({ system, push, taskAccess: 'org' }, null),
      actAs: () => undefined,
    },
    gone: new AbortController().signal,
    isRead: true,
    holdOpen: () => ({ follow: () => undefined, release: () => undefined }),
    tellUsage: () => undefined,
    canChallenge: () => true,
  };
  const send = SendMessageRequest.fromJSON({
    message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'hello' }] },
    configuration: { taskPushNotificationConfig: { url: 'https://hook.example.test/' } },
  });
  await expect(handler.sendMessage(send, callContext(sdk, request, '1.0'))).rejects.toThrow(
    'service is starting; try again in a moment',
  );
  expect([await store.push.open(), told, clock.pending]).toEqual([[], [], 0]);
});
