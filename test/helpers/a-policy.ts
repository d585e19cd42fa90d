import type { Policy } from '../../src/actors/governance/policy/policy.ts';
import { nothingRead } from '../../src/machines/governance/caller-reads.ts';
import { toolRules } from './task-fixtures.ts';

/** A policy that lets everything through as it is, except for what a test says. */
export function aPolicy(overrides: Partial<Policy> = {}): Policy {
  return {
    refusalOf: () => null,
    refusalOfSpeaker: () => null,
    rulesFor: () => toolRules(),
    limits: [],
    sightOf: () => () => true,
    callerReads: nothingRead,
    changesOf: () => ({ changes: [], misfit: null }),
    deferRuleOf: () => ({ rule: null, name: null }),
    boundsOf: () => null,
    limitsReadBy: () => [],
    holds: () => false,
    mayHold: () => false,
    isBounded: () => false,
    isConditional: () => false,
    readsHistory: () => false,
    isFixed: () => false,
    credentialOf: () => null,
    modify: () => ({ kind: 'unchanged' }),
    shown: (args) => args,
    checkOutput: async (_tool, text) => ({ kind: 'passed', text, findings: [], rewrites: [] }),
    ...overrides,
  };
}
