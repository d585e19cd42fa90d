import type { Refusal } from '../../../machines/domain/finding.ts';
import type {
  ArgumentChange,
  Caller,
  Message,
  Separation,
  ToolCall,
} from '../../../machines/domain/task.ts';
import type { Bounds, CallLimit } from '../../../machines/governance/bounds.ts';
import type { CallerReads } from '../../../machines/governance/caller-reads.ts';
import type { AppliedRule, Modification, ToolRules } from '../../../machines/governance/ruling.ts';
import type { JsonObject } from '../../../machines/json.ts';
import type { KnownLimit } from '../../ports/ledger.ts';
import type { Tool } from '../../ports/tool.ts';
import type { CallFacts } from '../conditions/condition-input.ts';
import type { CredentialIssuer } from '../credentials/credentials.ts';
import type { Guardrails } from '../guardrails/guardrails.ts';
import type { Modify, ModifyEntryPlace } from '../modify/modify.ts';
import type { PolicySettings } from '../settings/policy-settings.ts';
import { argsDigest } from './args-digest.ts';
import { argumentChanges } from './argument-changes.ts';
import { createOutputCheck, type OutputCheck } from './output-check.ts';
import { PolicyRules, type UnlistedRule, withEntries } from './policy-rules.ts';
import { refusalOfCall, refusalOfPrompt, refusalOfSpeaker } from './refusals.ts';
import { noFacts, type RuledCall } from './rule-lists.ts';
import { hiding, shownArguments } from './shown-arguments.ts';
import { type Asker, everyTool, type Sight, type ToolViews } from './tool-views.ts';

/** The configured governance of messages, calls and results. */
export interface Policy {
  /** Returns why a message may not reach the model; `null` if it may. */
  refusalOf(message: Message): Refusal | null;
  /** Returns why a caller may not speak in the task of a requester; `null` if they may. */
  refusalOfSpeaker(speaker: Caller | null, requester: Caller | null): Refusal | null;
  /** Without facts, a condition on anything but the arguments cannot be evaluated, and no view applies. */
  rulesFor(call: ToolCall, facts?: CallFacts): ToolRules;
  /** Returns how a call is held now, and the name of the rule; `null` for a call that runs without approval. */
  deferRuleOf(call: RuledCall, facts: CallFacts): AppliedRule;
  /** Returns the limits and the effect of a call; `null` if it has none. */
  boundsOf(call: RuledCall, facts: CallFacts): Bounds | null;
  /** The limits of the configuration. */
  limits: readonly KnownLimit[];
  /** Returns the limits that conditions on a call read. */
  limitsReadBy(call: RuledCall, facts: CallFacts): readonly CallLimit[];
  /** Returns whether a condition holds for a call, or why it cannot be evaluated for the tool. */
  holds(when: string, call: RuledCall, facts: CallFacts): boolean | string;
  /** True if a rule, a limit or an effect of the tool holds calls, under any condition. */
  mayHold(tool: string): boolean;
  /** True if a rule of the tool has a condition, or a limit or an effect may hold its calls. */
  isConditional(tool: string): boolean;
  /** True if a rule of a tool reads the calls of the session. */
  readsHistory(tool: string): boolean;
  /** True if the rulings on equal calls of a tool are equal: its rules read nothing but arguments, and no view applies. */
  isFixed(tool: string): boolean;
  /** True if calls of a tool may have a limit or an effect. */
  isBounded(tool: string): boolean;
  /** Returns the credential settings of a tool without secrets; `null` if it gets none. */
  credentialOf(tool: string): JsonObject | null;
  /** Rewrites the arguments of a call; the result must be allowed to run. */
  modify(call: ToolCall, facts?: CallFacts): Modification;
  /** Returns which tools a caller can see and call. */
  sightOf(asker: Asker): Sight;
  /** What conditions and views read of a requester. */
  callerReads: CallerReads;
  /** Returns what other arguments change in a call, and why they do not fit the tool; `null` if they do. */
  changesOf(
    call: RuledCall,
    args: JsonObject,
  ): { changes: ArgumentChange[]; misfit: string | null };
  /** Returns the arguments redacted for people and logs. Never throws. */
  shown(args: JsonObject): JsonObject;
  checkOutput: OutputCheck;
}

/** `null` for a layer that is off. */
export interface PolicyParts {
  security: PolicySettings;
  /** The value of `agent` in `by` of limits; empty when absent. */
  agentId?: string;
  /** True if every caller is authenticated. */
  isAuthOn: boolean;
  /** Keeps the programs that ask a gate from deciding; absent elsewhere, and without sign-in. */
  separation?: Separation | undefined;
  tools: ReadonlyMap<string, Tool>;
  guardrails: Guardrails | null;
  modify: Modify | null;
  credentials: CredentialIssuer | null;
  /** Removes secrets from a string that is stored; if it throws, the text is omitted. */
  scrub: (text: string) => string;
  /** The file of an included policy, named with its rules; absent for the agent's own policy. */
  from?: string;
  /** Variables of the daemon that conditions may read; none when absent. */
  environment?: Readonly<Record<string, string | undefined>>;
  /** Holds calls of tools that the agent does not list. */
  unlisted?: UnlistedRule | undefined;
  /** The tools of each caller; every caller sees every tool when absent. */
  views?: ToolViews | undefined;
}

/** Creates the policy of an agent (docs/contract/governance.md, docs/contract/step-up.md). */
export function createPolicy(parts: PolicyParts): Policy {
  const { security, tools, guardrails, modify, credentials, scrub, environment = {} } = parts;
  const { views = everyTool } = parts;
  const { acr_hierarchy: acrHierarchy } = security.step_up;
  const rules = new PolicyRules({ ...parts, environment });
  const intent = intentRulesOf(security.intent_alignment);
  const hide = hiding(scrub, guardrails);
  const refusalOf = (call: ToolCall, sees?: Sight) => refusalOfCall(call, tools, guardrails, sees);
  return {
    changesOf: ({ tool, args }, changed) => ({
      changes: argumentChanges(args, changed, hide),
      misfit: tools.get(tool)?.check?.(changed) ?? null,
    }),
    sightOf: (asker) => views.sightOf(asker),
    callerReads: withEntries(rules.callerReads, views.entries),
    deferRuleOf: (call, facts) => rules.deferOf(call, facts),
    limits: rules.limits,
    boundsOf: (call, facts) => rules.boundsOf(call, facts),
    limitsReadBy: (call, facts) => rules.limitsReadBy(call, facts),
    holds: (when, call, facts) => rules.holds(when, call, facts),
    mayHold: (tool) => rules.mayHold(tool),
    isConditional: (tool) => rules.isConditional(tool),
    readsHistory: (tool) => rules.readsHistory(tool),
    isBounded: (tool) => rules.isBounded(tool),
    isFixed: (tool) => views.isOff && rules.isFixed(tool),
    refusalOf: (message) => refusalOfPrompt(message, guardrails),
    refusalOfSpeaker: (speaker, requester) =>
      refusalOfSpeaker(speaker, requester, security.step_up),
    rulesFor(call, facts) {
      const { refusal, requiredAcr, defer, names, shadows } = rules.of(call, facts ?? noFacts);
      const sees = facts && views.sightOf({ caller: facts.requester, surface: facts.task.surface });
      return {
        refusal: refusalOf(call, sees) ?? refusal,
        ...intent,
        requiredAcr,
        acrHierarchy,
        defer,
        credential: credentials?.providerOf(call.tool) ?? null,
        modifies: modify !== null && rules.mayModify(call.tool),
        ...(Object.keys(names).length === 0 ? {} : { names }),
        ...(shadows.length === 0 ? {} : { shadows }),
      };
    },
    credentialOf(tool) {
      const provider = credentials?.providerOf(tool) ?? null;
      return provider === null ? null : { provider, spec: credentials?.specOf?.(tool) ?? null };
    },
    modify(call, facts = noFacts) {
      const entries = modify === null ? [] : rules.modifyEntriesOf(call, facts);
      if (modify === null || entries.length === 0) return { kind: 'unchanged' };
      const refused = (changed: ToolCall) => refusalOf(changed) ?? rules.of(changed, facts).refusal;
      return modifyCall(call, modify, { refusalOf: refused, scrub: hide, entries });
    },
    shown: (args) => shownArguments(args, hide),
    checkOutput: createOutputCheck({ guardrails, modify }),
  };
}

function intentRulesOf(
  alignment: PolicySettings['intent_alignment'],
): Pick<ToolRules, 'judgesIntent' | 'drift'> {
  const { enabled, drift } = alignment;
  if (!enabled || drift === undefined) return { judgesIntent: enabled, drift: null };
  const { window, drift_threshold: driftThreshold, monotone_n: monotoneN } = drift;
  return { judgesIntent: true, drift: { window, driftThreshold, monotoneN } };
}

/**
 * Rewrites the arguments of a call. The result must fit the tool's schema and pass the static denials again
 * (docs/contract/governance.md). Throws a ModifyError.
 */
export function modifyCall(
  call: ToolCall,
  modify: Modify,
  {
    refusalOf,
    scrub,
    entries,
  }: {
    refusalOf: (call: ToolCall) => Refusal | null;
    scrub: (text: string) => string;
    /** The entries that apply to the call. */
    entries: readonly ModifyEntryPlace[];
  },
): Modification {
  const { args, applied } = modify.modifyArguments(call.tool, call.args, entries);
  if (applied.length === 0) return { kind: 'unchanged' };
  const modified = { ...call, args, argsSha256: argsDigest(call.tool, args), asked: call.args };
  const refusal = refusalOf(modified);
  if (refusal === null) {
    const changes = argumentChanges(call.args, args, scrub);
    return { kind: 'modified', call: modified, rules: applied, changes };
  }
  const text = `MODIFY made arguments that may not run: ${refusal.text}`;
  return { kind: 'refused', refusal: { text, findings: refusal.findings } };
}
