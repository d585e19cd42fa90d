/** A header and its key in the audit log. */
export type TagHeader = readonly [header: string, tag: string];

/**
 * Headers that name a request's workflow (docs/contract/correlation.md). They are forwarded with the request's calls.
 */
export const workflowHeaders: readonly TagHeader[] = [
  ['X-Workflow-ID', 'workflow_id'],
  ['X-Workflow-Execution-ID', 'workflow_execution_id'],
  ['X-Workflow-Stage-ID', 'stage_id'],
  ['X-Workflow-Step-ID', 'step_id'],
  ['X-Invocation-Caller', 'invocation_caller'],
];

/** Headers that name a request's tenant. They are never forwarded. */
export const tenancyHeaders: readonly TagHeader[] = [
  ['X-Service-Org-ID', 'org_id'],
  ['X-Service-Workspace-ID', 'workspace_id'],
];

/** The header and the tag of the number of agents through which a request has passed. */
export const depthHeader = 'X-Invocation-Depth';
export const depthTag = 'invocation_depth';

/** Returns true if a string is a number of agents. */
export function isDepth(text: string): boolean {
  return /^\d{1,4}$/.test(text);
}

/** Returns true if a string is a valid value of such a header: printable ASCII, 1 to 256 characters. */
export function isTagValue(text: string): boolean {
  return /^[\x20-\x7e]{1,256}$/.test(text);
}
