/** The headers that say whose work a request is part of, and the audit key of each (document 2 section 2.4). */
const keys: ReadonlyMap<string, string> = new Map([
  ['X-Workflow-ID', 'workflow_id'],
  ['X-Workflow-Execution-ID', 'workflow_execution_id'],
  ['X-Workflow-Stage-ID', 'stage_id'],
  ['X-Workflow-Step-ID', 'step_id'],
  ['X-Invocation-Caller', 'invocation_caller'],
  ['X-Service-Org-ID', 'org_id'],
  ['X-Service-Workspace-ID', 'workspace_id'],
]);

/** Printable ASCII, at most 256 characters. */
const acceptable = /^[\x20-\x7e]{1,256}$/;

/** What a request says it is part of; `dropped` names the headers whose value no identifier has. */
export interface ReadTags {
  tags: Record<string, string>;
  dropped: string[];
}

/** Reads the workflow and tenancy headers of a request; `get` returns an empty text for an absent one. */
export function readInvocationTags(get: (header: string) => string): ReadTags {
  const tags: Record<string, string> = {};
  const dropped: string[] = [];
  for (const [header, key] of keys) {
    const value = get(header).trim();
    if (acceptable.test(value)) tags[key] = value;
    else if (value !== '') dropped.push(header);
  }
  return { tags, dropped };
}
