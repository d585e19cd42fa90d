// Public entry `holdpoint/testing`: runs an agent's daemon in the test process with a simulated clock.

export type {
  Caller,
  DecisionRecord,
  Deferral,
  DeferralStage,
  Failure,
  Message,
  Part,
  SettledDeferral,
  Task,
  TaskState,
} from '../../src/machines/domain/task.ts';
export type { JsonObject, JsonValue } from '../../src/machines/json.ts';
export type {
  ModelAnswer,
  ModelCommand,
  ModelRules,
  ModelTask,
  ReferenceModel,
} from './model-command.ts';
export { settingsOf } from './model-settings.ts';
export { step } from './reference-model.ts';
export { startTestAgent } from './start-test-agent.ts';
export type {
  AuditLine,
  DecideOptions,
  DecisionReply,
  HeldCall,
  LogLine,
  LogVerdict,
  Person,
  ScriptStep,
  SendOptions,
  StandInTool,
  TestAgent,
  TestAgentOptions,
  ToolOnPaper,
  ToolRun,
} from './test-agent.ts';
export { UnusableAgentError } from './unusable-agent-error.ts';
