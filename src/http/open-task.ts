import { isSpanContextValid } from '@opentelemetry/api';
import type { Ids } from '../actors/ports/ids.ts';
import type { AskedCall, OpenedHold, Subscriber, TaskRequest } from '../actors/tasks/tasks.ts';
import type { CallOrigin, HoldTimes } from '../machines/domain/hold.ts';
import type { Message } from '../machines/domain/task.ts';
import { writeTraceParent } from '../machines/trace-parent.ts';
import type { RequestState, RoutedContext } from './request-state.ts';
import type { AskedHold } from './wire/hold.ts';
import { tenancyOf } from './wire/request-envelope.ts';
import { readSubmission } from './wire/task-request.ts';

/**
 * Starts the task of a legacy send and returns its ID. `subscriber` subscribes before the task starts. Throws a 400
 * Problem or SystemError.
 */
export async function openTask(
  { ids }: { ids: Ids },
  { state }: RoutedContext,
  body: unknown,
  subscriber?: Subscriber,
): Promise<string> {
  const submission = readSubmission(body, () => ids.next());
  return openTaskFor(state, submission, subscriber);
}

/**
 * Starts a task for a request and adds its ID to the request's span. `subscriber` subscribes to a new task before it
 * starts. Throws SystemError.
 */
export async function openTaskFor(
  state: RequestState,
  asked: Pick<
    TaskRequest,
    'id' | 'contextId' | 'message' | 'isKnownById' | 'place' | 'surface' | 'alias'
  >,
  subscriber?: Subscriber,
): Promise<string> {
  const id = await state.tasks.open({ ...asked, ...originOf(state) }, subscriber);
  state.span.setAttribute('a2a.task.id', id);
  return id;
}

/**
 * Starts the task of one call for a request, or finds the task of an equal call, and adds its ID to the request's span.
 * Throws SystemError.
 */
export async function openCallFor(
  state: RequestState,
  asked: Pick<TaskRequest, 'message' | 'surface' | 'alias'>,
  call: AskedCall,
): Promise<{ id: string; isNew: boolean }> {
  const opened = await state.tasks.openCall({ ...asked, ...originOf(state) }, call);
  state.span.setAttribute('a2a.task.id', opened.id);
  return opened;
}

/**
 * Starts the hold of one call for a request, or finds the hold with the same key, and adds its ID to the request's span.
 * Throws SystemError.
 */
export async function openHoldFor(
  state: RequestState,
  { args, tags, ...asked }: AskedHold & HoldTimes & Pick<CallOrigin, 'client'>,
): Promise<OpenedHold> {
  const { tool, session, key } = asked;
  const data = { tool, args };
  const message: Message = {
    role: 'user',
    parts: [{ kind: 'data', data }],
    messageId: key,
  };
  const origin = originOf(state);
  const request = {
    ...{ message, surface: 'hold' as const },
    ...{ ...origin, tags: { ...origin.tags, ...tags } },
    ...(session === undefined ? {} : { contextId: session }),
  };
  const opened = await state.tasks.openHold(request, args, asked);
  state.span.setAttribute('a2a.task.id', opened.id);
  return opened;
}

function originOf({ caller, correlationId, tags: said, span }: RequestState) {
  const at = span.spanContext();
  const trace = isSpanContextValid(at) ? writeTraceParent(at) : null;
  return { correlationId, tags: { ...said, ...tenancyOf(caller) }, trace };
}
