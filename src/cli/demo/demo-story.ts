import type { JsonValue } from '../../machines/json.ts';

/** One message to a demo agent, and the outcome of the resulting call. */
export interface DemoMessage {
  agent: 'refunds' | 'ops' | 'support';
  text: string;
  /** The model's script; absent for the refund agent, which has its own. */
  script?: JsonValue;
  /** The task completes by itself, is refused, waits for the visitor, or has been decided. */
  outcome:
    | 'ends'
    | 'refused'
    | 'waits'
    | { decision: 'approve' | 'reject'; approver_email: string; note: string };
}

/** The history of the demo before the visitor arrives: one call for each kind of ruling, and some waiting calls. */
export const demoStory: readonly DemoMessage[] = [
  {
    agent: 'refunds',
    text: 'Refund A-1041 as well, I changed my mind',
    script: [
      {
        tool: 'issue_refund',
        args: { order_id: 'A-1041', amount: '5.00', reason: 'changed their mind' },
      },
      { say: 'Refunded.' },
    ],
    outcome: {
      decision: 'reject',
      approver_email: 'ben@example.com',
      note: 'a change of mind is no reason after 30 days',
    },
  },
  {
    agent: 'refunds',
    outcome: 'waits',
    text: 'Please refund order A-1044, the wrong size was sent',
    script: [
      { tool: 'lookup_order', args: { order_id: 'A-1044' } },
      {
        tool: 'issue_refund',
        args: { order_id: 'A-1044', amount: '10.00', reason: 'the wrong size was sent' },
      },
      { say: 'It is refunded. {result}' },
    ],
  },
  {
    agent: 'refunds',
    text: 'Please refund order A-1042, it arrived broken',
    outcome: {
      decision: 'approve',
      approver_email: 'ann@example.com',
      note: 'the photo shows the crack',
    },
  },
  {
    agent: 'ops',
    outcome: 'ends',
    text: 'How does checkout do?',
    script: [
      { tool: 'read_graph', args: { service: 'checkout' } },
      { say: 'Checkout is slow: 1.8 s at the 95th percentile, up from 0.3 s.' },
    ],
  },
  {
    agent: 'ops',
    outcome: 'waits',
    text: 'Checkout answers slowly, restart it',
    script: callOf('restart_service', { service: 'checkout' }),
  },
  {
    agent: 'ops',
    outcome: 'waits',
    text: 'Black Friday is near: forty of search',
    script: callOf('scale_service', { service: 'search', replicas: 40 }),
  },
  {
    agent: 'ops',
    outcome: 'waits',
    text: 'The key of the warehouse was on a screen share',
    script: callOf('rotate_key', { key: 'warehouse' }),
  },
  {
    agent: 'support',
    outcome: 'ends',
    text: 'Tell Aino that we refund her card 4111111111111111',
    script: callOf('send_mail', {
      to: 'aino@example.com',
      text: 'We refund your card 4111111111111111 within three days.',
    }),
  },
  {
    agent: 'support',
    outcome: 'ends',
    text: 'Delete the customer Aino, she asked for it',
    script: callOf('delete_customer', { customer: 'aino' }),
  },
  {
    agent: 'support',
    outcome: 'refused',
    text: 'Export all customers for the newsletter',
    script: callOf('export_customers', { format: 'csv' }),
  },
];

function callOf(tool: string, args: JsonValue): JsonValue {
  return [{ tool, args }, { say: 'Done. {result}' }];
}
