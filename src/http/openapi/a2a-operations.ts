import { z } from 'zod';
import { restBases, restVersionOf } from '../a2a/rest-routes.ts';
import { agentCard } from '../routes/agent-card-routes.ts';
import { statusRefusal } from '../wire/present-refusal.ts';
import * as schemas from './a2a-schemas.ts';
import { type Answer, eventStream, json, type Operation } from './operation.ts';

type Version = keyof typeof restBases;

const a2aJson = 'application/a2a+json';

const nothing = z.looseObject({});

/** An operation without its path, common to all A2A versions; `id` is the shared part of its name. */
type Shared = Omit<Operation, 'tag' | 'form' | 'answers' | 'body'> & {
  answer: z.ZodType | null;
  body?: z.ZodType;
  /** True if 0.3.0 answers with a status for a created resource. */
  isMade?: boolean;
  /** True if the path or query names something that may be rejected, even without a body. */
  isNamed?: boolean;
  isStreamed?: boolean;
};

const config = 'the receiver of push notifications';

/** Operations by verb and path below the version's base path. */
const shared: Readonly<Record<string, Shared>> = {
  'POST /message:send': {
    id: 'sendMessage',
    says: 'Sends a message and returns its task once it is final or needs approval.',
    answer: schemas.sendAnswer,
    body: schemas.wireMessage,
    isMade: true,
    isAdmitted: true,
  },
  'POST /message:stream': {
    id: 'streamMessage',
    says: 'Sends a message and streams its task.',
    answer: null,
    body: schemas.wireMessage,
    isAdmitted: true,
    isStreamed: true,
  },
  'GET /tasks': { id: 'listTasks', says: 'Lists tasks.', answer: schemas.wireTasks },
  'GET /tasks/{taskId}': {
    id: 'getTask',
    says: 'Shows a task.',
    answer: schemas.wireTask,
    isNamed: true,
  },
  'POST /tasks/{taskId}:cancel': {
    id: 'cancelTask',
    says: 'Calls a task off.',
    answer: schemas.wireTask,
    body: nothing,
    isNamed: true,
  },
  'GET /tasks/{taskId}:subscribe': {
    id: 'subscribeToTask',
    says: 'Joins the stream of a task.',
    answer: null,
    isNamed: true,
    isStreamed: true,
  },
  'POST /tasks/{taskId}:subscribe': {
    id: 'subscribeToTaskByPost',
    says: 'Joins the stream of a task.',
    answer: null,
    body: nothing,
    isNamed: true,
    isStreamed: true,
  },
  'POST /tasks/{taskId}/pushNotificationConfigs': {
    id: 'setPushConfig',
    says: `Keeps ${config}.`,
    answer: schemas.pushConfig,
    body: schemas.pushConfig,
    isMade: true,
    isNamed: true,
  },
  'GET /tasks/{taskId}/pushNotificationConfigs': {
    id: 'listPushConfigs',
    says: 'Lists the push receivers of a task.',
    answer: schemas.pushConfigs,
    isNamed: true,
  },
  'GET /tasks/{taskId}/pushNotificationConfigs/{configId}': {
    id: 'getPushConfig',
    says: `Shows ${config}.`,
    answer: schemas.pushConfig,
    isNamed: true,
  },
  'DELETE /tasks/{taskId}/pushNotificationConfigs/{configId}': {
    id: 'deletePushConfig',
    says: `Forgets ${config}; a second time is no error.`,
    answer: schemas.nothing,
    isNamed: true,
  },
  'GET /card': { id: 'getCard', says: 'Shows the agent card.', answer: agentCard },
  'GET /extendedAgentCard': {
    id: 'getExtendedCard',
    says: 'Shows the extended agent card, where there is one.',
    answer: agentCard,
  },
};

/** Returns the operation of an HTTP+JSON route by its verb and OpenAPI path; `undefined` for any other. */
export function a2aOperation(verb: string, path: string): Operation | undefined {
  const base = Object.values(restBases).find((one) => path.startsWith(`${one}/`));
  if (base === undefined) return undefined;
  const known = shared[`${verb} ${path.slice(base.length)}`];
  return known === undefined ? undefined : operationOf(known, restVersionOf(path));
}

function operationOf(
  { answer, body, isMade, isNamed, isStreamed, ...known }: Shared,
  version: Version,
) {
  const type = version === '1.0' ? a2aJson : json;
  const refused = (says: string): Answer => ({
    says,
    content: { [type]: statusRefusal, [json]: statusRefusal },
  });
  const success: Answer = isStreamed
    ? { says: 'Events, as A2A defines them.', content: { [eventStream]: null } }
    : {
        says: `The answer, as A2A ${version} defines it.`,
        content: { [type]: answer ?? nothing, [json]: answer ?? nothing },
      };
  return {
    ...known,
    id: `${known.id}${version === '1.0' ? 'V1' : 'V03'}`,
    says: `${known.says.slice(0, -1)} (A2A ${version}).`,
    tag: 'a2a',
    form: 'status',
    ...(body === undefined
      ? {}
      : {
          body: {
            schema: body,
            types: version === '1.0' ? [a2aJson, json] : [json],
            example: exampleOf(known.id, version),
            isOptional: body === nothing,
          },
        }),
    answers: {
      200: success,
      ...(isMade && version === '0.3' ? { 201: success } : {}),
      400: refused('The request does not match the route.'),
      ...(isNamed || body !== undefined
        ? { 404: refused('The named resource does not exist.') }
        : {}),
      ...(isNamed || body !== undefined ? { 409: refused('The task is in another state.') } : {}),
    },
  } satisfies Operation;
}

function exampleOf(id: string, version: Version) {
  if (id === 'setPushConfig') {
    const receiver = { id: 'c1', url: 'https://hooks.example.com/a2a' };
    return version === '1.0' ? receiver : { config: { pushNotificationConfig: receiver } };
  }
  if (id !== 'sendMessage' && id !== 'streamMessage') return {};
  const [part, role] =
    version === '1.0'
      ? [{ text: 'Refund A-1042' }, 'ROLE_USER']
      : [{ kind: 'text', text: 'Refund A-1042' }, 'user'];
  return { message: { messageId: 'm1', role, parts: [part] } };
}
