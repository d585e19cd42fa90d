// Task execution: the system of live tasks, the effects of their chart, and the models.

export type {
  ChangedQuery,
  PageQuery,
  TaskFilter,
  TaskPage,
  TaskQuery,
} from '../records/records.ts';
export { confirmedDecision } from './confirmed-decision.ts';
export { acceptCall } from './effects/accept-call.ts';
export type { Changed as ChangedHold, OutcomeAnswer } from './hold-accounts.ts';
export type { OpenedHold } from './holds.ts';
export type { Measured } from './measured.ts';
export { createModel } from './models/create-model.ts';
export { scriptedModel } from './models/scripted-model.ts';
export { systemPrompt } from './models/system-prompt.ts';
export type { Session, SessionPage } from './sessions.ts';
export type { HandedRequest, SharedWork } from './shared-work.ts';
export type { SpokenTurn } from './spoken-turn.ts';
export type { FeedChange } from './task-feed.ts';
export type { AskedCall, SaidMessage, TaskRequest } from './task-request.ts';
export { TaskSystem } from './task-system.ts';
export { allTasks, type Progress, type Subscriber } from './watchers.ts';
