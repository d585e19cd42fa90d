import { z } from 'zod';
import { namesOf } from '../a2a/a2a-versions.ts';

/** Minimal schemas of A2A objects with the fields common to all versions; A2A defines the rest. */
const taskOf = (states: [string, ...string[]]) =>
  z.looseObject({
    id: z.string(),
    contextId: z.string(),
    status: z.looseObject({ state: z.enum(states), timestamp: z.string().optional() }),
    artifacts: z.array(z.looseObject({ artifactId: z.string() })).optional(),
    history: z.array(z.looseObject({ messageId: z.string() })).optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
  });

const states = [
  'submitted',
  'working',
  'auth-required',
  'input-required',
  'completed',
  'failed',
  'canceled',
  'rejected',
  'unknown',
] as const;

const enumName = (state: string): string => `TASK_STATE_${state.toUpperCase().replace('-', '_')}`;

const [first, ...others] = states.map(enumName);

/** A task in the HTTP+JSON format of the two versions. */
export const wireTask = taskOf([first ?? '', ...others]).meta({ id: 'A2aTask' });

export const sendAnswer = z
  .looseObject({ task: wireTask.optional(), message: z.looseObject({}).optional() })
  .meta({ id: 'A2aSendAnswer' });

export const wireTasks = z
  .looseObject({
    tasks: z.array(wireTask).optional(),
    nextPageToken: z.string().optional(),
    totalSize: z.int().optional(),
  })
  .meta({ id: 'A2aTaskPage' });

export const pushConfig = z.looseObject({}).meta({
  id: 'PushConfig',
  description: 'A receiver of push notifications, as the version of A2A writes it.',
});

export const pushConfigs = z
  .looseObject({ configs: z.array(pushConfig).optional() })
  .meta({ id: 'PushConfigs' });

export const nothing = z.looseObject({}).meta({ id: 'Nothing' });

const legacyNames = ['tasks/send', 'tasks/sendSubscribe', 'tasks/get', 'tasks/cancel'];

const methods = [...legacyNames, ...namesOf['0.3'], ...namesOf['1.0']];

export const rpcRequest = z
  .object({
    jsonrpc: z.literal('2.0'),
    id: z.union([z.string(), z.number()]),
    method: z.string().meta({ examples: [...new Set(methods)] }),
    params: z.looseObject({}).optional(),
  })
  .meta({ id: 'RpcRequest' });

export const wireMessage = z
  .looseObject({
    message: z.looseObject({ messageId: z.string() }),
    configuration: z.looseObject({}).optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'A2aMessage' });
