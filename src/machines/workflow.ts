/** A header and the key that its value has in the audit log. */
export type TagHeader = readonly [header: string, tag: string];

/**
 * The headers that say which workflow a request is part of (docs/contract/correlation.md); they go along with its work.
 */
export const workflowHeaders: readonly TagHeader[] = [
  ['X-Workflow-ID', 'workflow_id'],
  ['X-Workflow-Execution-ID', 'workflow_execution_id'],
  ['X-Workflow-Stage-ID', 'stage_id'],
  ['X-Workflow-Step-ID', 'step_id'],
  ['X-Invocation-Caller', 'invocation_caller'],
];

/** The headers that say whose tenant a request is for; nobody else is told. */
export const tenancyHeaders: readonly TagHeader[] = [
  ['X-Service-Org-ID', 'org_id'],
  ['X-Service-Workspace-ID', 'workspace_id'],
];

/** Returns whether a text may be the value of such a header: printable ASCII, 1 to 256 characters. */
export function isTagValue(text: string): boolean {
  return /^[\x20-\x7e]{1,256}$/.test(text);
}
