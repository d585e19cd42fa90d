import type { Refusal } from '../../../machines/domain/finding.ts';
import type { Caller, Message, ToolCall } from '../../../machines/domain/task.ts';
import { effectiveApprovers } from '../../../machines/governance/approvers.ts';
import type { DeferRule } from '../../../machines/governance/defer-policy.ts';
import type { Modification, ToolRules } from '../../../machines/governance/ruling.ts';
import type { JsonObject } from '../../../machines/json.ts';
import type { Tool } from '../../ports/tool.ts';
import { ToolMap } from '../../tool-name.ts';
import type { CredentialIssuer } from '../credentials/credentials.ts';
import type { Guardrails } from '../guardrails/guardrails.ts';
import type { Modify } from '../modify/modify.ts';
import { modifyCall } from './modify-call.ts';
import { createOutputCheck, type OutputCheck } from './output-check.ts';
import type { PolicySettings, StepUpSettings } from './policy-settings.ts';
import { refusalOfCall, refusalOfPrompt, refusalOfSpeaker } from './refusals.ts';
import { hiding, shownArguments } from './shown-arguments.ts';

/** The configured governance of messages, calls and results. */
export interface Policy {
  /** Returns why a message may not reach the model; `null` if it may. */
  refusalOf(message: Message): Refusal | null;
  /** Returns why a caller may not speak in the task of a requester; `null` if they may. */
  refusalOfSpeaker(speaker: Caller | null, requester: Caller | null): Refusal | null;
  rulesFor(call: ToolCall): ToolRules;
  /** Returns how calls of a tool are held now; `null` if they run without approval. */
  deferRuleOf(tool: string): DeferRule | null;
  /** Returns the credential settings of a tool without secrets; `null` if it gets none. */
  credentialOf(tool: string): JsonObject | null;
  /** Rewrites the arguments of a call; the result must be allowed to run. */
  modify(call: ToolCall): Modification;
  /** Returns the arguments redacted for people and logs. Never throws. */
  shown(args: JsonObject): JsonObject;
  checkOutput: OutputCheck;
}

/** `null` for a layer that is off. */
export interface PolicyParts {
  security: PolicySettings;
  /** True if every caller is authenticated. */
  isAuthOn: boolean;
  tools: ReadonlyMap<string, Tool>;
  guardrails: Guardrails | null;
  modify: Modify | null;
  credentials: CredentialIssuer | null;
  /** Removes secrets from a text that is stored; if it throws, the text is omitted. */
  scrub: (text: string) => string;
}

/** Creates the policy of an agent (docs/contract/governance.md, docs/contract/step-up.md). */
export function createPolicy(parts: PolicyParts): Policy {
  const { security, isAuthOn, tools, guardrails, modify, credentials, scrub } = parts;
  const deferRules = deferRulesOf(security.defer, isAuthOn);
  const stepUp = stepUpRulesOf(security.step_up);
  const intent = intentRulesOf(security.intent_alignment);
  const hide = hiding(scrub, guardrails);
  const refusal = (call: ToolCall) => refusalOfCall(call, tools, guardrails);
  const deferRuleOf = (tool: string) => deferRules.get(tool) ?? null;
  return {
    deferRuleOf,
    refusalOf: (message) => refusalOfPrompt(message, guardrails),
    refusalOfSpeaker: (speaker, requester) =>
      refusalOfSpeaker(speaker, requester, security.step_up),
    rulesFor: (call) => ({
      refusal: refusal(call),
      ...intent,
      ...stepUp(call.tool),
      defer: deferRuleOf(call.tool),
      credential: credentials?.providerOf(call.tool) ?? null,
    }),
    credentialOf(tool) {
      const provider = credentials?.providerOf(tool) ?? null;
      return provider === null ? null : { provider, spec: credentials?.specOf?.(tool) ?? null };
    },
    modify: (call) =>
      modify === null
        ? { kind: 'unchanged' }
        : modifyCall(call, modify, { refusalOf: refusal, scrub: hide }),
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

function deferRulesOf(defer: PolicySettings['defer'], isAuthOn: boolean): ToolMap<DeferRule> {
  const entries = Object.entries(defer.enabled ? defer.tools : {});
  return new ToolMap(
    entries.map(([tool, entry]) => {
      const rule: DeferRule = {
        to: entry.to,
        timeout: entry.timeout,
        contextTemplate: entry.context_template,
        approvers: effectiveApprovers(entry.approvers, defer.default_approvers),
        quorum: entry.quorum,
        fourEyes: entry.four_eyes,
        bindApprover: defer.bind_approver,
        distinctCallers: isAuthOn,
        onReject: defer.on_reject,
        remind: entry.remind,
        escalateTo: entry.escalate_to ?? null,
      };
      return [tool, rule];
    }),
  );
}

function stepUpRulesOf(stepUp: StepUpSettings) {
  const required = new ToolMap(stepUp.enabled ? Object.entries(stepUp.tools) : []);
  return (tool: string): Pick<ToolRules, 'requiredAcr' | 'acrHierarchy'> => ({
    requiredAcr: required.get(tool)?.acr ?? null,
    acrHierarchy: stepUp.acr_hierarchy,
  });
}
