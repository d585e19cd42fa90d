// Who works: the system of live tasks, the effects of their chart, and the models.

export { acceptCall } from './effects/accept-call.ts';
export { scriptedModel } from './models/scripted-model.ts';
export {
  type ChangedQuery,
  type Measured,
  type Progress,
  type SaidMessage,
  SystemError,
  type SystemErrorCode,
  type TaskFilter,
  type TaskPage,
  type TaskQuery,
  type TaskRequest,
  TaskSystem,
  type Watcher,
} from './task-system.ts';
