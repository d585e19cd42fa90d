import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';
import { legible } from '../legible.ts';
import type { Deferral, DeferralStage, ToolCall } from '../task/task.ts';

/** How one tool is deferred, with every default filled in (docs/contract/governance.md). */
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

/** What a context template may have filled in (docs/contract/governance.md). */
export const placeholders = ['tool', 'args'] as const;

/** Begins a placeholder for a single argument, such as `args.amount` or `args.items.0.price`. */
export const argumentPlaceholder = 'args.';

/** The template of a tool that brings none (docs/contract/configuration.md). */
export const defaultContextTemplate = 'tool={tool} args={args}';

/**
 * Renders what the approver reads, every character of it visible. Placeholders are replaced in one
 * pass, so arguments that themselves contain `{tool}` or `{args}` stay as they are. An argument that is not there is
 * shown as `(none)`.
 */
export function renderContext(template: string, tool: string, args: JsonObject): string {
  const text = template.trim() === '' ? defaultContextTemplate : template;
  return legible(
    text.replace(/\{(tool|args(?:\.[^{}\s]+)?)\}/g, (_, name: string) => {
      if (name === 'tool') return tool;
      return name === 'args' ? JSON.stringify(args) : argumentAt(args, name.split('.').slice(1));
    }),
  );
}

/** A text stands without its quotes and on one line, so that it cannot pose as a line of the template. */
function argumentAt(args: JsonObject, path: readonly string[]): string {
  let found: JsonValue | undefined = args;
  for (const name of path) found = memberOf(found, name);
  if (typeof found === 'string') return found.replaceAll(/\r\n?|\n/g, '\\n');
  return found === undefined ? '(none)' : JSON.stringify(found);
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (Array.isArray(value)) return /^\d+$/.test(name) ? value[Number(name)] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/**
 * Opens the deferral of a call: its context rendered and its moments fixed, counted from `now` (epoch milliseconds).
 * `shown` are the arguments as people may see them.
 */
export function openDeferral(
  call: ToolCall,
  rule: DeferRule,
  now: number,
  shown: JsonObject = call.args,
): Deferral {
  const { to: targets, contextTemplate, remind, ...kept } = rule;
  return {
    ...kept,
    to: targets.join(', '),
    targets,
    id: call.id,
    tool: call.tool,
    args: call.args,
    argsSha256: call.argsSha256,
    context: renderContext(contextTemplate, call.tool, shown),
    shown,
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
