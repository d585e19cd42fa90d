// Public entry `holdpoint/client`: asks a gate before a call runs. Runs in browsers and has no dependency.

export type { Connection } from './connection.ts';
export {
  type Arguments,
  type Decision,
  HoldReleased,
  type Outcome,
  type PendingHold,
  type RunOptions,
} from './decision.ts';
export {
  type DeniedStatus,
  GateUnavailable,
  HoldDenied,
  type RepeatedCall,
  StepUpRequired,
} from './errors.ts';
export {
  type CallOptions,
  createGate,
  type Gate,
  type GateOptions,
  type GuardOptions,
  type HeldCall,
} from './gate.ts';
export {
  createTestGate,
  type TestCall,
  type TestDecision,
  type TestGate,
  type TestGateOptions,
  type TestOutcome,
} from './test-gate.ts';
