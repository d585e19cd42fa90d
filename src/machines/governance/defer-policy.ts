import type {
  Deferral,
  DeferralStage,
  EscalationStage,
  ToolCall,
  WaitTerms,
} from '../domain/task.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { legible } from '../legible.ts';
import { argumentAt } from './argument-at.ts';
import { termsOf } from './stricter-terms.ts';

/** A tool's deferral settings with all defaults applied (docs/contract/governance.md). */
export interface DeferRule extends WaitTerms {
  /** The targets to ask, each `channel:<adapter>:<target>`. */
  to: readonly string[];
  contextTemplate: string;
  /** What is wrong with the name of the tool, for its program and the approvers; absent for a listed tool. */
  hint?: string;
  /** True if approvers are reminded after half of the timeout. */
  remind: boolean;
}

/** Applies the defaults to a rule with only approvers and timeout. */
export function deferRule(rule: Pick<DeferRule, 'to' | 'timeout'> & Partial<DeferRule>): DeferRule {
  return {
    contextTemplate: defaultContextTemplate,
    approvers: null,
    quorum: 1,
    bindApprover: false,
    distinctCallers: false,
    onReject: 'fail',
    remind: false,
    escalateTo: null,
    ...rule,
  };
}

/** Placeholders of a context template (docs/contract/governance.md). */
export const placeholders = ['tool', 'args'] as const;

/** Prefix of a placeholder for a single argument, such as `args.amount` or `args.items.0.price`. */
export const argumentPlaceholder = 'args.';

/** The default template (docs/contract/configuration.md). */
export const defaultContextTemplate = 'tool={tool} args={args}';

/**
 * Renders the approver's text with every character visible. Placeholders are replaced in one pass, so `{tool}` or
 * `{args}` inside argument values is not expanded. A missing argument is shown as `(none)`.
 */
export function renderContext(template: string, tool: string, args: JsonObject): string {
  const text = template.trim() === '' ? defaultContextTemplate : template;
  return legible(
    text.replace(/\{(tool|args(?:\.[^{}\s]+)?)\}/g, (_, name: string) => {
      if (name === 'tool') return tool;
      if (name === 'args') return JSON.stringify(args);
      return onOneLine(argumentAt(args, name.split('.').slice(1)));
    }),
  );
}

/** A string is shown without quotes and on one line, so that it cannot imitate a line of the template. */
function onOneLine(found: JsonValue | undefined): string {
  if (typeof found === 'string') return found.replaceAll(/\r\n?|\n/g, '\\n');
  return found === undefined ? '(none)' : JSON.stringify(found);
}

/**
 * Opens a call's deferral: renders its context and computes its deadlines from `now` (epoch milliseconds). `shown` are
 * the arguments as people may see them.
 */
export function openDeferral(
  call: ToolCall,
  rule: DeferRule,
  now: number,
  shown: JsonObject = call.args,
): Deferral {
  const { to: targets, contextTemplate: _template, remind, ...kept } = rule;
  return {
    ...kept,
    to: targets.join(', '),
    targets,
    id: call.id,
    tool: call.tool,
    args: call.args,
    argsSha256: call.argsSha256,
    ...(call.edits === undefined ? {} : { edits: call.edits }),
    context: contextOf(rule, call.tool, shown),
    shown,
    approvals: [],
    requestedAt: now,
    remindAt: remind ? now + Math.round(rule.timeout / 2) : null,
    escalateAt: rule.escalateTo === null ? null : now + firstAfter(rule),
    expiresAt: now + rule.timeout,
  };
}

function contextOf({ contextTemplate, hint }: DeferRule, tool: string, shown: JsonObject): string {
  const context = renderContext(contextTemplate, tool, shown);
  return hint === undefined ? context : `${legible(hint)}. ${context}`;
}

/** Milliseconds until the first escalation: three quarters of the time, unless stages have their own times. */
function firstAfter({ timeout, escalations }: DeferRule): number {
  return escalations?.[0]?.after ?? Math.round((timeout * 3) / 4);
}

/** Returns the stage of an escalation that follows the current one; `null` for none. */
export function nextEscalation({
  requestedAt,
  escalateAt,
  escalations = [],
}: Deferral): EscalationStage | null {
  if (escalateAt === null) return null;
  return escalations.find(({ after }) => requestedAt + after > escalateAt) ?? null;
}

/** Returns a deferral whose next escalation is the current one; the earlier target stays asked. */
export function escalatedFurther(deferral: Deferral): Deferral {
  const next = nextEscalation(deferral);
  if (next === null) return deferral;
  const { targets, escalateTo } = deferral;
  return {
    ...deferral,
    targets: [...new Set([...targets, ...(escalateTo === null ? [] : [escalateTo])])],
    escalateTo: next.to,
    escalateAt: deferral.requestedAt + next.after,
  };
}

/** Returns the rule under which a deferral was opened. */
export function ruleOf(deferral: Deferral): DeferRule {
  const { targets, remindAt, escalateTo, escalations } = deferral;
  return {
    ...termsOf(deferral),
    to: targets,
    contextTemplate: defaultContextTemplate,
    remind: remindAt !== null,
    escalateTo: escalations?.[0]?.to ?? escalateTo,
  };
}

/**
 * Returns the time of a deferral's next action (remind, escalate or end) in epoch milliseconds. Completed actions are
 * not repeated.
 */
export function nextMoment(deferral: Deferral, stage: DeferralStage): number {
  const { remindAt, escalateAt, expiresAt, requestedAt } = deferral;
  const further = nextEscalation(deferral);
  const moments = [
    stage === 'asked' ? remindAt : null,
    stage === 'escalated' ? further && requestedAt + further.after : escalateAt,
    expiresAt,
  ];
  return Math.min(...moments.filter((moment) => moment !== null));
}
