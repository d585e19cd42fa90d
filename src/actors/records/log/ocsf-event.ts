import { hash } from 'node:crypto';
import { eventOfWait } from '../../../machines/domain/hold-events.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../machines/json.ts';
import { type RecordedEvent, recordedEvent } from './recorded-event.ts';

/** The version of OCSF that the objects follow. */
const schemaVersion = '1.5.0';

/** Classes of OCSF with their categories; `as` builds the attributes that a class requires. */
const classes = {
  api: {
    ...{ uid: 6003, name: 'API Activity', category: 'Application Activity' },
    as: (event: RecordedEvent, fields: JsonObject): JsonObject => ({
      api: {
        operation: textOf(fields['tool']) ?? event.event,
        service: { name: agentOf(event) },
        ...(event.task_id === undefined ? {} : { group: { name: 'task', uid: event.task_id } }),
      },
      src_endpoint: { svc_name: agentOf(event) },
      actor: actorOf(event, fields),
    }),
  },
  lifecycle: {
    ...{ uid: 6002, name: 'Application Lifecycle', category: 'Application Activity' },
    as: (event: RecordedEvent): JsonObject => ({
      app: { name: agentOf(event), vendor_name: product.vendor_name },
    }),
  },
  network: {
    ...{ uid: 4001, name: 'Network Activity', category: 'Network Activity' },
    as: (event: RecordedEvent, { domain }: JsonObject): JsonObject => ({
      src_endpoint: { svc_name: agentOf(event) },
      dst_endpoint: { hostname: textOf(domain) ?? 'unknown' },
    }),
  },
  authentication: {
    ...{ uid: 3002, name: 'Authentication', category: 'Identity & Access Management' },
    as: (event: RecordedEvent, fields: JsonObject): JsonObject => {
      const address = textOf(fields['remote_addr']);
      return {
        user: userOf(fields) ?? { name: 'unknown' },
        service: { name: agentOf(event) },
        ...(address === null ? {} : { src_endpoint: { ip: address } }),
      };
    },
  },
  log: {
    ...{ uid: 1008, name: 'Event Log Activity', category: 'System Activity' },
    as: (): JsonObject => ({ log_name: 'audit', log_provider: product.name }),
  },
} as const;

type ClassName = keyof typeof classes;

const statuses = { 0: 'Unknown', 1: 'Success', 2: 'Failure', 99: 'Other' } as const;
const severities = { 1: 'Informational', 2: 'Low', 3: 'Medium' } as const;
const actions = { 1: 'Allowed', 2: 'Denied' } as const;
const dispositions = {
  1: 'Allowed',
  2: 'Blocked',
  6: 'Dropped',
  8: 'Approved',
  11: 'Corrected',
  14: 'Delayed',
  19: 'Alert',
  23: 'Challenge',
  25: 'Rejected',
  26: 'Unauthorized',
} as const;

const product = { name: 'Holdpoint', vendor_name: 'Holdpoint' };

/** The outcome of an event: its status, and what a control did. */
interface Outcome {
  status: keyof typeof statuses;
  detail?: string | null;
  control?: [action: keyof typeof actions, disposition: keyof typeof dispositions];
}

interface Mapping {
  of: ClassName;
  activity: readonly [id: number, name: string];
  outcome: (fields: JsonObject) => Outcome;
}

const create = [1, 'Create'] as const;
const update = [3, 'Update'] as const;
const start = [3, 'Start'] as const;
const logon = [1, 'Logon'] as const;
const other = (name: string) => [99, name] as const;

const success = (): Outcome => ({ status: 1 });
const unknown = (): Outcome => ({ status: 0 });
const byError = ({ error }: JsonObject): Outcome =>
  error === undefined ? { status: 1 } : { status: 2, detail: textOf(error) };
const byEnd = ({ outcome, error }: JsonObject): Outcome => {
  const known = textOf(outcome) === 'unknown' ? { status: 0 as const } : {};
  return { ...byError(error === undefined ? {} : { error }), ...known };
};
const denied = ({ reason }: JsonObject): Outcome => ({
  ...{ status: 2, detail: textOf(reason), control: [2, 2] },
});

/** The control's result for the decision of a layer. */
const ruled: Readonly<Record<string, Outcome['control']>> = {
  allow: [1, 1],
  modify: [1, 11],
  redact: [1, 11],
  warn: [1, 19],
  defer: [1, 14],
  step_up: [2, 23],
  deny: [2, 2],
  block: [2, 2],
};

function ruling({ decision, reason, rule }: JsonObject): Outcome {
  const control = ruled[textOf(decision)?.toLowerCase() ?? ''];
  const detail = textOf(reason) ?? textOf(rule);
  return { status: 1, detail, ...(control === undefined ? {} : { control }) };
}

const ended: Readonly<Record<string, Outcome['status']>> = { completed: 1, failed: 2 };

/** The mapping of each event that has one of its own (docs/audit-log.md). */
const mappings: Readonly<Record<string, Mapping>> = {
  session_start: { of: 'api', activity: create, outcome: success },
  session_end: {
    ...{ of: 'api', activity: update },
    outcome: ({ state, reason }) => ({
      status: ended[textOf(state) ?? ''] ?? 99,
      detail: textOf(reason) ?? textOf(state),
    }),
  },
  tool_exec: {
    ...{ of: 'api', activity: other('Call') },
    outcome: (fields) => (fields['phase'] === 'start' ? { status: 0 } : byEnd(fields)),
  },
  llm_call: { of: 'api', activity: other('Model call'), outcome: byError },
  call_ruled: { of: 'api', activity: other('Evaluate'), outcome: ruling },
  guardrail_check: { of: 'api', activity: other('Evaluate'), outcome: ruling },
  intent_alignment: { of: 'api', activity: other('Evaluate'), outcome: ruling },
  intent_drift: {
    ...{ of: 'api', activity: other('Evaluate') },
    outcome: ({ reason }) => ({ status: 1, detail: textOf(reason), control: [1, 19] }),
  },
  tool_call_modified: {
    ...{ of: 'api', activity: update },
    outcome: () => ({ status: 1, control: [1, 11] }),
  },
  auth_step_up_required: {
    ...{ of: 'api', activity: other('Evaluate') },
    outcome: ({ reason }) => ({ status: 2, detail: textOf(reason), control: [2, 23] }),
  },
  credential_issued: { of: 'api', activity: create, outcome: success },
  credential_failed: { of: 'api', activity: create, outcome: () => ({ status: 2 }) },
  task_admission_denied: { of: 'api', activity: create, outcome: denied },
  task_deferred: {
    ...{ of: 'api', activity: other('Hold') },
    outcome: () => ({ status: 99, detail: 'pending', control: [1, 14] }),
  },
  task_deferred_decision: {
    ...{ of: 'api', activity: other('Decide') },
    outcome: ({ decision, authorized, note }) => {
      if (authorized === false) return { status: 2, detail: textOf(note), control: [2, 26] };
      return {
        status: 1,
        detail: textOf(note),
        control: decision === 'approve' ? [1, 8] : [2, 25],
      };
    },
  },
  task_deferred_timeout: {
    ...{ of: 'api', activity: other('Expire') },
    outcome: () => ({ status: 2, detail: 'timeout', control: [2, 2] }),
  },
  task_deferred_abandoned: {
    ...{ of: 'api', activity: other('Abandon') },
    outcome: ({ reason }) => ({ status: 2, detail: textOf(reason), control: [2, 6] }),
  },
  egress_allowed: {
    ...{ of: 'network', activity: [1, 'Open'] },
    outcome: () => ({ status: 1, control: [1, 1] }),
  },
  egress_blocked: { of: 'network', activity: [5, 'Refuse'], outcome: denied },
  auth_verify: { of: 'authentication', activity: logon, outcome: success },
  auth_fail: {
    ...{ of: 'authentication', activity: logon },
    outcome: ({ reason }) => ({ status: 2, detail: textOf(reason) }),
  },
  policy_loaded: { of: 'lifecycle', activity: start, outcome: success },
  audit_rotated: { of: 'log', activity: [6, 'Rotate'], outcome: success },
  audit_pruned: { of: 'log', activity: [2, 'Delete'], outcome: success },
};

/** Classes of the other events; `api` for the rest. */
const classOfOther: Readonly<Record<string, ClassName>> = {
  ...{ checkpoint: 'log', audit_recovered: 'log', audit_sink: 'log', audit_key_rotated: 'log' },
  ...{ store_behind_log: 'log', store_lost: 'log', store_restored: 'log', clock_stepped: 'log' },
  ...{ policy_file_changed: 'lifecycle', agent_card_published: 'lifecycle' },
  policy_refused: 'lifecycle',
  ...{ mcp_tools: 'lifecycle', mcp_rule_unmatched: 'lifecycle', mcp_tool_withheld: 'lifecycle' },
  ...{ mcp_tool_accepted: 'lifecycle', mcp_login: 'lifecycle', mcp_logout: 'lifecycle' },
};

/** Envelope keys that have no place of their own in OCSF. */
const unmappedKeys = [
  ...['task_id', 'workflow_id', 'workflow_execution_id', 'stage_id', 'step_id'],
  ...['invocation_caller', 'invocation_depth', 'workspace_id', 'trace_id', 'span_id', 'fields'],
];

/**
 * Converts a line of the log to an OCSF event (docs/audit-log.md). `raw_data` is the line, so its hash and its signature
 * can still be checked; `null` for a line without an event.
 *
 * @param version version of the program that converts it
 */
export function ocsfEvent(line: Uint8Array, version: string): JsonObject | null {
  const event = recordedEvent(line);
  if (event === null) return null;
  const fields = isJsonObject(event['fields']) ? event['fields'] : {};
  const { of, activity, outcome } = mappings[eventOfWait(event.event)] ?? {
    ...{ of: classOfOther[event.event] ?? 'api', activity: other(event.event), outcome: unknown },
  };
  const { uid, name, category, as } = classes[of];
  const { status, detail, control } = outcome(fields);
  const severity = control?.[0] === 2 ? 3 : status === 2 ? 2 : 1;
  const unmapped = Object.fromEntries(
    unmappedKeys.flatMap((key) => (event[key] === undefined ? [] : [[key, event[key]]])),
  );
  return {
    ...{ activity_id: activity[0], activity_name: activity[1] },
    ...{ category_uid: Math.floor(uid / 1_000), category_name: category },
    ...{ class_uid: uid, class_name: name },
    ...{ type_uid: uid * 100 + activity[0], type_name: `${name}: ${activity[1]}` },
    time: Date.parse(event.ts),
    ...{ severity_id: severity, severity: severities[severity] },
    ...{ status_id: status, status: statuses[status] },
    ...(detail === undefined || detail === null ? {} : { status_detail: detail }),
    ...(control === undefined ? {} : controlOf(control)),
    ...as(event, fields),
    metadata: metadataOf(event, line, { version, isControl: control !== undefined }),
    ...(Object.keys(unmapped).length === 0 ? {} : { unmapped }),
    raw_data: new TextDecoder().decode(line),
  };
}

function controlOf([action, disposition]: NonNullable<Outcome['control']>): JsonObject {
  return {
    ...{ action_id: action, action: actions[action] },
    ...{ disposition_id: disposition, disposition: dispositions[disposition] },
  };
}

function metadataOf(
  event: RecordedEvent,
  line: Uint8Array,
  { version, isControl }: { version: string; isControl: boolean },
): JsonObject {
  const { seq, correlation_id: correlation, org_id: org } = event;
  return {
    version: schemaVersion,
    product: { ...product, version },
    ...(isControl ? { profiles: ['security_control'] } : {}),
    log_name: 'audit',
    event_code: event.event,
    original_time: event.ts,
    uid: hash('sha256', line, 'hex'),
    ...(seq === undefined ? {} : { sequence: seq }),
    ...(correlation === undefined ? {} : { correlation_uid: correlation }),
    ...(org === undefined ? {} : { tenant_uid: org }),
  };
}

function agentOf(event: RecordedEvent): string {
  return textOf(event['entity_id']) ?? 'unknown';
}

/** The approver of a decision or the caller, in addition to the agent that acts for them. */
function actorOf(event: RecordedEvent, fields: JsonObject): JsonObject {
  const user = userOf(fields);
  return { app_name: agentOf(event), ...(user === null ? {} : { user }) };
}

function userOf({ approver, email, user_id: id, provider, org_id: org }: JsonObject) {
  const name = textOf(approver) ?? textOf(email) ?? textOf(id);
  if (name === null) return null;
  const [address, uid, domain] = [textOf(email), textOf(id), textOf(provider)];
  const orgId = textOf(org);
  return {
    name,
    ...(uid === null ? {} : { uid }),
    ...(address === null ? {} : { email_addr: address }),
    ...(domain === null ? {} : { domain }),
    ...(orgId === null ? {} : { org: { uid: orgId } }),
  };
}

function textOf(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
