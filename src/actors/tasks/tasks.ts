// Who works: the system of live tasks, the effects of their chart, and the models.

export { acceptCall } from './effects/accept-call.ts';
export { createModel } from './models/create-model.ts';
export { systemPrompt } from './models/system-prompt.ts';
export {
  type ChangedQuery,
  type Measured,
  type Progress,
  type SaidMessage,
  type Session,
  type SessionBrief,
  SystemError,
  type SystemErrorCode,
  type TaskFilter,
  type TaskPage,
  type TaskQuery,
  type TaskRequest,
  TaskSystem,
  type Watcher,
} from './task-system.ts';
