import type { JsonObject } from '../json.ts';

/** How one tool is deferred, with every default filled in (document 1 section 2.4). */
export interface DeferRule {
  /** `channel:<adapter>:<target>` */
  to: string;
  /** Milliseconds. */
  timeout: number;
  contextTemplate: string;
  /** Normalised allowlist; `null` when none applies. */
  approvers: string[] | null;
  quorum: number;
  fourEyes: boolean;
  bindApprover: boolean;
}

/** The template of a tool that brings none (contract section 3). */
export const defaultContextTemplate = 'tool={tool} args={args}';

/**
 * Renders what the approver reads. Placeholders are replaced in one pass, so arguments that
 * themselves contain `{tool}` or `{args}` stay as they are.
 */
export function renderContext(template: string, tool: string, args: JsonObject): string {
  const text = template.trim() === '' ? defaultContextTemplate : template;
  return text
    .replace(/\{(tool|args)\}/g, (_, name) => (name === 'tool' ? tool : JSON.stringify(args)))
    .toWellFormed();
}
