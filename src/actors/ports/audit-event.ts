import type { JsonValue } from '../../machines/json.ts';

/** One event of the audit log before hash chaining (docs/contract/audit.md). Empty envelope keys are omitted. */
export interface AuditEvent {
  event: string;
  /** RFC 3339 UTC with milliseconds. */
  ts: string;
  seq?: number;
  correlation_id?: string;
  task_id?: string;
  workflow_id?: string;
  workflow_execution_id?: string;
  stage_id?: string;
  step_id?: string;
  invocation_caller?: string;
  invocation_depth?: string;
  org_id?: string;
  workspace_id?: string;
  entity_id?: string;
  entity_type?: string;
  trace_id?: string;
  span_id?: string;
  fields?: { [key: string]: JsonValue | undefined };
}
