// Public entry `holdpoint/testing/holds`: checks for any implementation of holds. Has no dependency and runs in any runtime.

export {
  type Arguments,
  type AskedCall,
  type Feature,
  type Hold,
  type HoldDecision,
  type HoldOutcome,
  type HoldStatus,
  type HoldsAdapter,
  isRefused,
  type Person,
  type Refusal,
  type WaitingCall,
} from './adapter.ts';
export { type Capability, type HoldCheck, type HoldGroup, holdGroups } from './check.ts';
export { holdChecks } from './hold-checks.ts';
export type { Around, HoldsUnderTest } from './holds-under-test.ts';
export { BrokenPromise } from './promised.ts';
export { registerHoldChecks, type TestRunner } from './register-hold-checks.ts';
export {
  type HoldCheckOptions,
  type HoldReport,
  type HoldResult,
  runHoldChecks,
} from './run-hold-checks.ts';
