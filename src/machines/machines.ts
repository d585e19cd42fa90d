// Public entry `holdpoint/machines`: the charts, rules and types for use in other programs. No I/O.

export { conversationMachine } from './channels/conversation-machine.ts';
export type {
  ConversationContext,
  ConversationEvent,
} from './channels/conversation-setup.ts';
export type {
  Asked,
  ChatMessage,
  HeldCall,
  Spoken,
  Turn,
  TurnEnd,
  TurnMark,
  Utterance,
} from './channels/turn.ts';
export {
  type FittedConversation,
  fitConversation,
  type ToldConversation,
  tokensOf,
} from './conversation/fit-conversation.ts';
export { sessionMessages } from './conversation/session.ts';
export type { Compaction, LeftOut } from './domain/compaction.ts';
export type { AbandonReason, DecisionReport, Heard, TaskFact } from './domain/facts.ts';
export { type Finding, governanceFailed, type Refusal } from './domain/finding.ts';
export {
  type Approval,
  type ArgumentChange,
  type Caller,
  type DecisionRecord,
  type Deferral,
  type DeferralStage,
  type Exchange,
  type Failure,
  type FollowUp,
  isFinal,
  isStanding,
  type Layer,
  type Message,
  type Owner,
  type Part,
  type SaidPart,
  type SaidTurn,
  type SettledDeferral,
  type Surface,
  type Task,
  type TaskState,
  type ToolCall,
  taskStates,
  type Usage,
} from './domain/task.ts';
export { formatDuration, parseDuration } from './duration.ts';
export {
  type DecisionAttempt,
  effectiveApprovers,
  isApprover,
  isRefused,
} from './governance/approvers.ts';
export {
  answerMispinned,
  answerWithoutPending,
  type DecisionAnswer,
  isShortOfQuorum,
  settle,
  withApproval,
} from './governance/decision.ts';
export {
  type DeferRule,
  deferRule,
  nextMoment,
  openDeferral,
  renderContext,
} from './governance/defer-policy.ts';
export type { DriftRule } from './governance/intent-alignment.ts';
export {
  type CredentialProvider,
  type IntentVerdict,
  type Modification,
  type Ruling,
  type Timed,
  type ToolRules,
  ungoverned,
  type Verdict,
} from './governance/ruling.ts';
export { isSamePerson, type PersonKey } from './governance/same-person.ts';
export { satisfiesAcr } from './governance/step-up.ts';
export { toolCallMachine } from './governance/tool-call-machine.ts';
export type {
  IdentifyInput,
  JudgeIntentInput,
  ToolCallContext,
  ToolCallInput,
} from './governance/tool-call-setup.ts';
export type { JsonObject, JsonValue } from './json.ts';
export {
  type DeadlineEvent,
  type RegistryEvent,
  registryMachine,
} from './registry/registry-machine.ts';
export { type DescribedSnapshot, describeTask, stateOf } from './task/describe-task.ts';
export { defaultLimits, type Spent, type TaskLimits } from './task/limits.ts';
export { restorableSnapshot } from './task/restorable-snapshot.ts';
export { isKnownVersion, taskMachineVersion } from './task/snapshot-steps.ts';
export {
  isWithin,
  mayDecide,
  scopeOf,
  type TaskAccess,
  type TaskScope,
} from './task/task-access.ts';
export type {
  AcceptedCalls,
  AcceptInput,
  FailedModelCall,
  MessageAnswer,
  MintInput,
  MintOutcome,
  RunToolInput,
  StartStanding,
  TaskEmitted,
  TaskEvent,
  ThinkInput,
  Thought,
  ToolOutcome,
} from './task/task-events.ts';
export { newTask, type TaskContext, type TaskInput, type TaskRun } from './task/task-input.ts';
export { taskMachine } from './task/task-machine.ts';
