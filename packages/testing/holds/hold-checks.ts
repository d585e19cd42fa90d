import type { HoldCheck } from './check.ts';
import { bindingChecks } from './checks/binding.ts';
import { closedChecks } from './checks/closed.ts';
import { decisionChecks } from './checks/decisions.ts';
import { effectChecks } from './checks/effects.ts';
import { expiryChecks } from './checks/expiry.ts';
import { idempotencyChecks } from './checks/idempotency.ts';
import { limitChecks } from './checks/limits.ts';
import { outcomeChecks } from './checks/outcomes.ts';
import { peopleChecks } from './checks/people.ts';
import { raceChecks } from './checks/races.ts';
import { killChecks, stopChecks } from './checks/restarts.ts';

/** Every check, by group. */
export const holdChecks: readonly HoldCheck[] = [
  ...idempotencyChecks,
  ...bindingChecks,
  ...decisionChecks,
  ...raceChecks,
  ...stopChecks,
  ...killChecks,
  ...expiryChecks,
  ...closedChecks,
  ...peopleChecks,
  ...outcomeChecks,
  ...limitChecks,
  ...effectChecks,
];
