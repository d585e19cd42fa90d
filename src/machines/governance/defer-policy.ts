import type { JsonObject } from '../json.ts';
import { legible } from '../legible.ts';
import type { Deferral, DeferralStage, ToolCall } from '../task/task.ts';

/** How one tool is deferred, with every default filled in (document 1 section 2.4). */
export interface DeferRule {
  /** `channel:<adapter>:<target>` of each one that is asked. */
  to: readonly string[];
  /** Milliseconds. */
  timeout: number;
  contextTemplate: string;
  /** Normalised allowlist; `null` when none applies. */
  approvers: string[] | null;
  quorum: number;
  fourEyes: boolean;
  bindApprover: boolean;
  /** True when approvals of a quorum must come from different callers, too. */
  distinctCallers: boolean;
  onReject: 'fail' | 'tool_result';
  /** Approvers are reminded when half of the time is over. */
  remind: boolean;
  /** `channel:<adapter>:<target>` that is asked as well at three quarters of the time; `null` for none. */
  escalateTo: string | null;
}

/** Fills in how a tool is deferred that says no more than whom to ask and for how long. */
export function deferRule(rule: Pick<DeferRule, 'to' | 'timeout'> & Partial<DeferRule>): DeferRule {
  return {
    contextTemplate: defaultContextTemplate,
    approvers: null,
    quorum: 1,
    fourEyes: false,
    bindApprover: false,
    distinctCallers: false,
    onReject: 'fail',
    remind: false,
    escalateTo: null,
    ...rule,
  };
}

/** What a context template may have filled in (document 1 section 2.4). */
export const placeholders = ['tool', 'args'] as const;

/** The template of a tool that brings none (contract section 3). */
export const defaultContextTemplate = 'tool={tool} args={args}';

/**
 * Renders what the approver reads, every character of it visible. Placeholders are replaced in one
 * pass, so arguments that themselves contain `{tool}` or `{args}` stay as they are.
 */
export function renderContext(template: string, tool: string, args: JsonObject): string {
  const text = template.trim() === '' ? defaultContextTemplate : template;
  return legible(
    text.replace(/\{(tool|args)\}/g, (_, name) => (name === 'tool' ? tool : JSON.stringify(args))),
  );
}

/** Opens the deferral of a call: its context rendered and its moments fixed, counted from `now` (epoch milliseconds). */
export function openDeferral(call: ToolCall, rule: DeferRule, now: number): Deferral {
  const { to: targets, contextTemplate, remind, ...kept } = rule;
  return {
    ...kept,
    to: targets.join(', '),
    targets,
    id: call.id,
    tool: call.tool,
    args: call.args,
    argsSha256: call.argsSha256,
    context: renderContext(contextTemplate, call.tool, call.args),
    approvals: [],
    requestedAt: now,
    remindAt: remind ? now + Math.round(rule.timeout / 2) : null,
    escalateAt: rule.escalateTo === null ? null : now + Math.round((rule.timeout * 3) / 4),
    expiresAt: now + rule.timeout,
  };
}

/** Returns the rule that a deferral was opened by. */
export function ruleOf(deferral: Deferral): DeferRule {
  const { to, targets = [to], timeout, approvers, quorum, fourEyes, bindApprover } = deferral;
  const { distinctCallers, onReject, remindAt, escalateTo } = deferral;
  return {
    to: targets,
    timeout,
    contextTemplate: defaultContextTemplate,
    approvers,
    quorum,
    fourEyes,
    bindApprover,
    distinctCallers,
    onReject,
    remind: remindAt !== null,
    escalateTo,
  };
}

/**
 * Tells when a deferral next has something to do: remind, escalate or end, in epoch milliseconds.
 * What has been done is not done again.
 */
export function nextMoment(deferral: Deferral, stage: DeferralStage): number {
  const { remindAt, escalateAt, expiresAt } = deferral;
  const moments = [
    stage === 'asked' ? remindAt : null,
    stage === 'escalated' ? null : escalateAt,
    expiresAt,
  ];
  return Math.min(...moments.filter((moment) => moment !== null));
}
