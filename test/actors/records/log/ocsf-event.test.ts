import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../../../src/actors/ports/audit-event.ts';
import { ocsfEvent } from '../../../../src/actors/records/log/audit.ts';
import { logOf } from './log-of.ts';

const ts = '2026-07-01T09:00:00.000Z';
const envelope = { ts, entity_id: 'refunds', entity_type: 'agent' };

function converted(event: Partial<AuditEvent> & { event: string }) {
  const [line = ''] = logOf([{ ...envelope, ...event }]).lines.map((text) => text.trimEnd());
  return { line, ocsf: ocsfEvent(Buffer.from(line), '1.2.3') };
}

/** Attributes of every object. */
function common(line: string, event: string, more: object = {}) {
  return {
    time: Date.UTC(2026, 6, 1, 9),
    metadata: {
      version: '1.5.0',
      product: { name: 'Holdpoint', vendor_name: 'Holdpoint', version: '1.2.3' },
      ...{ log_name: 'audit', event_code: event, original_time: ts },
      uid: hash('sha256', line, 'hex'),
      ...more,
    },
    raw_data: line,
  };
}

const controlled = { profiles: ['security_control'] };
const informational = { severity_id: 1, severity: 'Informational' };
const medium = { severity_id: 3, severity: 'Medium' };
const apiClass = {
  ...{ category_uid: 6, category_name: 'Application Activity' },
  ...{ class_uid: 6003, class_name: 'API Activity' },
  src_endpoint: { svc_name: 'refunds' },
};

describe('ocsfEvent', () => {
  it('writes an API activity for a tool call, with everything of the line', () => {
    const fields = { tool: 'issue_refund', phase: 'end', duration_ms: 12, error: 'exit code 1' };
    const { line, ocsf } = converted({
      ...{ event: 'tool_exec', seq: 7, task_id: 't-1', correlation_id: 'c-1' },
      ...{ org_id: 'acme', workflow_id: 'w-1', trace_id: 'f00', fields },
    });
    expect(ocsf).toStrictEqual({
      ...{ ...apiClass, activity_id: 99, activity_name: 'Call' },
      ...{ type_uid: 600399, type_name: 'API Activity: Call' },
      ...{ severity_id: 2, severity: 'Low', status_id: 2, status: 'Failure' },
      status_detail: 'exit code 1',
      actor: { app_name: 'refunds' },
      api: {
        ...{ operation: 'issue_refund', service: { name: 'refunds' } },
        group: { name: 'task', uid: 't-1' },
      },
      ...common(line, 'tool_exec', { sequence: 7, correlation_uid: 'c-1', tenant_uid: 'acme' }),
      unmapped: { task_id: 't-1', workflow_id: 'w-1', trace_id: 'f00', fields },
    });
  });

  it('names the approver and the disposition of a decision', () => {
    const fields = {
      ...{
        tool: 'issue_refund',
        decision: 'reject',
        approver: 'ann@example.com',
        note: 'too late',
      },
      ...{ provider: 'idp', user_id: 'u-1', wait_ms: 4_250 },
    };
    const { line, ocsf } = converted({ event: 'task_deferred_decision', fields });
    expect(ocsf).toStrictEqual({
      ...{ ...apiClass, ...medium, activity_id: 99, activity_name: 'Decide' },
      ...{ type_uid: 600399, type_name: 'API Activity: Decide' },
      ...{ status_id: 1, status: 'Success', status_detail: 'too late' },
      ...{ action_id: 2, action: 'Denied', disposition_id: 25, disposition: 'Rejected' },
      actor: {
        app_name: 'refunds',
        user: { name: 'ann@example.com', uid: 'u-1', domain: 'idp' },
      },
      api: { operation: 'issue_refund', service: { name: 'refunds' } },
      ...common(line, 'task_deferred_decision', controlled),
      unmapped: { fields },
    });
  });

  it('writes an authentication for a refused token', () => {
    const fields = { reason: 'rejected', token_kind: 'jwt', remote_addr: '192.0.2.7' };
    const { line, ocsf } = converted({ event: 'auth_fail', fields });
    expect(ocsf).toStrictEqual({
      ...{ activity_id: 1, activity_name: 'Logon' },
      ...{ category_uid: 3, category_name: 'Identity & Access Management' },
      ...{ class_uid: 3002, class_name: 'Authentication' },
      ...{ type_uid: 300201, type_name: 'Authentication: Logon' },
      ...{ severity_id: 2, severity: 'Low', status_id: 2, status: 'Failure' },
      status_detail: 'rejected',
      user: { name: 'unknown' },
      service: { name: 'refunds' },
      src_endpoint: { ip: '192.0.2.7' },
      ...common(line, 'auth_fail'),
      unmapped: { fields },
    });
  });

  it('writes a network activity for a blocked request', () => {
    const fields = { domain: 'evil.example', mode: 'restricted', reason: 'not allowed' };
    const { line, ocsf } = converted({ event: 'egress_blocked', fields });
    expect(ocsf).toStrictEqual({
      ...{ ...medium, activity_id: 5, activity_name: 'Refuse' },
      ...{ category_uid: 4, category_name: 'Network Activity' },
      ...{ class_uid: 4001, class_name: 'Network Activity' },
      ...{ type_uid: 400105, type_name: 'Network Activity: Refuse' },
      ...{ status_id: 2, status: 'Failure', status_detail: 'not allowed' },
      ...{ action_id: 2, action: 'Denied', disposition_id: 2, disposition: 'Blocked' },
      src_endpoint: { svc_name: 'refunds' },
      dst_endpoint: { hostname: 'evil.example' },
      ...common(line, 'egress_blocked', controlled),
      unmapped: { fields },
    });
  });

  it('writes a lifecycle event for a start and a log activity for a rotation', () => {
    const loaded = converted({ event: 'policy_loaded', fields: { version: '1.0.0' } });
    expect(loaded.ocsf).toStrictEqual({
      ...{ ...informational, activity_id: 3, activity_name: 'Start' },
      ...{ category_uid: 6, category_name: 'Application Activity' },
      ...{ class_uid: 6002, class_name: 'Application Lifecycle' },
      ...{ type_uid: 600203, type_name: 'Application Lifecycle: Start' },
      ...{ status_id: 1, status: 'Success' },
      app: { name: 'refunds', vendor_name: 'Holdpoint' },
      ...common(loaded.line, 'policy_loaded'),
      unmapped: { fields: { version: '1.0.0' } },
    });
    const rotated = converted({ event: 'audit_rotated', fields: { next: 8 } });
    expect(rotated.ocsf).toStrictEqual({
      ...{ ...informational, activity_id: 6, activity_name: 'Rotate' },
      ...{ category_uid: 1, category_name: 'System Activity' },
      ...{ class_uid: 1008, class_name: 'Event Log Activity' },
      ...{ type_uid: 100806, type_name: 'Event Log Activity: Rotate' },
      ...{ status_id: 1, status: 'Success' },
      ...{ log_name: 'audit', log_provider: 'Holdpoint' },
      ...common(rotated.line, 'audit_rotated'),
      unmapped: { fields: { next: 8 } },
    });
  });

  it('writes an API activity for an unknown event', () => {
    const { line, ocsf } = converted({ event: 'something_new' });
    expect(ocsf).toStrictEqual({
      ...{ ...apiClass, ...informational, activity_id: 99, activity_name: 'something_new' },
      ...{ type_uid: 600399, type_name: 'API Activity: something_new' },
      ...{ status_id: 0, status: 'Unknown', actor: { app_name: 'refunds' } },
      api: { operation: 'something_new', service: { name: 'refunds' } },
      ...common(line, 'something_new'),
    });
    expect(ocsfEvent(Buffer.from('nonsense'), '1.2.3')).toBeNull();
  });

  it('gives each event the class, activity, status and disposition of the page', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../../docs/audit-log.md'), 'utf8');
    const table =
      /^\| Event \| Class \| Activity \| Status \| Disposition \|\n\|[-|]+\|\n((?:\|.*\n)+)/m;
    const rows = (table.exec(page)?.[1] ?? '').trimEnd().split('\n');
    const found = rows.flatMap((row) => {
      const [, events = '', ...expected] = row.split('|').map((text) => text.trim());
      return [...events.matchAll(/`([a-z_]+)(?: ([a-z_]+): ([a-z_]+))?`/g)].map(
        ([, event = '', field, value]) => {
          const given = value === 'false' ? false : value;
          const fields = field === undefined ? {} : { [field]: given };
          const { ocsf } = converted({ event, fields });
          const { class_uid: uid, activity_name: activity, status, disposition = '' } = ocsf as any;
          const name = activity === event ? 'its name' : activity;
          return {
            event,
            field,
            expected: expected.slice(0, 4),
            is: [String(uid), name, status, disposition],
          };
        },
      );
    });
    expect(found.length).toBeGreaterThan(30);
    expect(found.map(({ event, field, is }) => [event, field, ...is])).toEqual(
      found.map(({ event, field, expected }) => [event, field, ...expected]),
    );
  });
});
