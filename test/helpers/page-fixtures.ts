import type { AgentJson } from '../../src/http/wire/dashboard/agent-json.ts';
import type { DeferralJson } from '../../src/http/wire/dashboard/held-call-json.ts';

/** An agent for the page; a test changes what it looks at. */
export function anAgent(changes: Partial<AgentJson> = {}): AgentJson {
  const id = changes.id ?? 'refunds';
  return {
    id,
    version: '1.2.0',
    directory: `/home/ann/agents/${id}`,
    model: { provider: 'anthropic', name: 'claude-sonnet-4-5' },
    fallbacks: [{ provider: 'openai', name: 'gpt-4.1' }],
    tools: ['issue_refund', 'lookup_order', 'math_calculate', 'send_mail', 'web_fetch'],
    held_tools: ['issue_refund', 'send_mail'],
    channels: ['channel:slack:#refunds'],
    skills: ['refunds'],
    status: 'running',
    port: 8080,
    url: 'http://127.0.0.1:8080',
    needs_passphrase: false,
    pending_deferrals: 0,
    on_restart: 'abandon',
    warnings: [],
    ...changes,
  };
}

/** A call that waits, asked a minute ago and open for another five. */
export function aDeferral(changes: Partial<DeferralJson> = {}): DeferralJson {
  return {
    agent_id: 'refunds',
    id: changes.id ?? 'd-1',
    deferral_id: changes.id ?? 'd-1',
    task_id: 'refund-1',
    tool: 'issue_refund',
    to: 'channel:slack:#refunds',
    timeout: '6m',
    context: 'The lamp arrived broken and the photo shows it.',
    args: { order_id: 'A-1042', amount: 89.9, currency: 'EUR', reason: 'arrived broken' },
    args_sha256: 'b49debc5dbedc964b8ebdc1b'.padEnd(64, '0'),
    requester: { user_id: 'ann', email: 'ann@example.com', provider: 'oidc' },
    requested_at: new Date(Date.now() - 60_000).toISOString(),
    expires_at: new Date(Date.now() + 300_000).toISOString(),
    approvers: null,
    quorum: 1,
    approvals: [],
    title: 'Order A-1042, 89.90 EUR to Aino Korhonen',
    ...changes,
  };
}
