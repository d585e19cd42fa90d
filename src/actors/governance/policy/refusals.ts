import type { Finding, Refusal } from '../../../machines/domain/finding.ts';
import type { Caller, Message, ToolCall } from '../../../machines/domain/task.ts';
import { isWeaker } from '../../../machines/governance/step-up.ts';
import { nearestName } from '../../nearest-name.ts';
import type { Tool } from '../../ports/tool.ts';
import { type Guardrails, promptTexts } from '../guardrails/guardrails.ts';
import type { PolicySettings } from '../settings/policy-settings.ts';
import type { Sight } from './tool-views.ts';

/**
 * Returns why a call cannot run (docs/contract/governance.md); `null` if it can. Reasons: an unknown tool or invalid
 * arguments, which the model may correct, a guardrail, or too many waiting calls of the caller. A tool that the caller
 * does not see is an unknown one.
 */
export function refusalOfCall(
  { tool: name, args, fault, refused }: ToolCall,
  tools: ReadonlyMap<string, Tool>,
  guardrails: Guardrails | null,
  sees: Sight = () => true,
): Refusal | null {
  const tool = tools.get(name);
  if (tool === undefined || !sees(tool)) {
    return misfitOf(unknownTool(name, [...tools.values()].filter(sees)), 'tool', 'unknown tool');
  }
  if (fault !== undefined) return misfitOf(fault, 'arguments', 'form');
  const checked = guardrails?.checkCall(name, args) ?? nothing;
  if (checked.denial !== null) return { text: checked.denial, findings: checked.findings };
  const misfit = tool.check?.(args) ?? null;
  if (misfit !== null) return misfitOf(misfit, 'arguments', 'schema');
  return refused === undefined ? null : { text: refused, findings: [tooManyWait], layer: 'defer' };
}

function unknownTool(name: string, tools: readonly Tool[]): string {
  const names = tools.map((tool) => tool.name);
  const near = names.length === 0 ? null : nearestName(name, names, 0.25);
  return `unknown tool: ${name}${near === null ? '' : `; the nearest is ${near}`}`;
}

/** Returns why a message may not reach the model (docs/contract/governance.md); `null` if it may. */
export function refusalOfPrompt(message: Message, guardrails: Guardrails | null): Refusal | null {
  const { denial, findings } = guardrails?.checkPrompt(() => promptTexts(message)) ?? nothing;
  return denial === null ? null : { text: denial, findings };
}

/**
 * Returns why a caller may not speak in the task of a requester; `null` if they may. Calls of the task are governed
 * with the requester's assurance only.
 */
export function refusalOfSpeaker(
  speaker: Caller | null,
  requester: Caller | null,
  { enabled, acr_hierarchy: hierarchy }: PolicySettings['step_up'],
): Refusal | null {
  if (!enabled || !isWeaker(speaker, requester, hierarchy)) return null;
  const required = requester?.acr ?? '';
  return {
    text: `the task was asked for with acr "${required}"; sign in with it to continue the task`,
    findings: [{ gate: 'governance', decision: 'deny', rule: 'step_up' }],
  };
}

const tooManyWait: Finding = {
  gate: 'governance',
  decision: 'deny',
  rule: 'defer.max_pending_per_caller',
};

const nothing = { denial: null, findings: [] };

function misfitOf(text: string, gate: Finding['gate'], rule: string): Refusal {
  return { text, findings: [{ gate, decision: 'deny', rule }], isMisfit: true };
}
