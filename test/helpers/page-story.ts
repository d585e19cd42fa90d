import { GENESIS } from '../../src/actors/records/log/chain-format.ts';
import { presentOutcome } from '../../src/http/wire/settlement.ts';
import {
  firstEffectJson,
  limitJson,
  measuredLimitJson,
} from '../../src/machines/governance/limit-json.ts';
import { logOf, testKey } from '../actors/records/log/log-of.ts';
import { aFirstEffect, aMeasuredLimit, anOpenOutcome } from './limit-fixtures.ts';
import { aDeferral, anAgent } from './page-fixtures.ts';
import { type PageServer } from './page-server.ts';
import { answerLog } from './served-log.ts';

/** Gives the server a workspace with something of everything, as a person would have it on an ordinary day. */
export function tellStory(server: PageServer): void {
  const minutes = (count: number): string => new Date(Date.now() + count * 60_000).toISOString();
  server.agents = [
    anAgent({
      id: 'newsroom',
      version: '2.0.1',
      status: 'errored',
      held_tools: ['send_newsletter'],
      tools: ['send_newsletter', 'web_fetch'],
      skills: [],
      channels: [],
      error:
        'service.yaml:14:9: the environment variable SENDGRID_KEY is not set; it must hold the key of send_newsletter',
    }),
    anAgent({
      id: 'ops-runner',
      version: '0.9.3',
      model: { provider: 'ollama', name: 'qwen3-32b' },
      fallbacks: [],
      tools: ['drop_table', 'file_read', 'file_write', 'run_script', 'restart_service'],
      held_tools: ['drop_table', 'run_script', 'restart_service', 'file_write'],
      channels: ['channel:console:ops', 'channel:webhook:pager'],
      port: 8081,
      url: 'http://127.0.0.1:8081',
      pending_deferrals: 1,
      started_at: minutes(-4_000),
      warnings: [
        "Scripts run without a sandbox here: one could read the operator's token. Install bubblewrap, or set egress.sandbox.",
      ],
    }),
    anAgent({ pending_deferrals: 2, started_at: minutes(-95) }),
    anAgent({
      id: 'translator',
      version: '0.3.0',
      status: 'stopped',
      tools: ['web_fetch'],
      held_tools: [],
      skills: ['refunds', 'orders'],
      needs_passphrase: true,
      channels: ['channel:telegram:ops'],
    }),
  ];
  server.deferrals = [
    aDeferral({
      args: { order_id: 'A-1042', amount: 89.9, currency: 'EUR', reason: 'arrived broken' },
      modified: 'rewritten by rule 2',
      escalates_at: new Date(Date.now() + 47_000).toISOString(),
      changes: [{ path: 'amount', before: '899', after: '89.9' }],
      approvers: ['bob@example.com', 'carol@example.com'],
      quorum: 2,
      approvals: [{ approver: 'carol@example.com', at: minutes(-1) }],
      requested_at: minutes(-4),
      expires_at: new Date(Date.now() + 107_000).toISOString(),
      limits: [
        measuredLimitJson(
          aMeasuredLimit({ amount: '89.9', isOver: false, by: { caller: 'ann@example.com' } }),
        ),
      ],
      first: firstEffectJson(aFirstEffect({ key: 'refund:A-1042', at: Date.now() - 360_000 })),
      context:
        'A refund above 50 EUR. issue_refund wants to pay back order A-1042: 89.90 EUR, as it arrived broken.',
    }),
    aDeferral({
      agent_id: 'ops-runner',
      id: 'd-2',
      task_id: 'cleanup-7',
      tool: 'drop_table',
      title: 'staging.sessions_2024, 1.2 million rows',
      args: { database: 'staging', table: 'sessions_2024', cascade: false },
      to: 'channel:console:ops, channel:webhook:pager',
      requested_at: minutes(-8),
      expires_at: minutes(22.2),
      requester: null,
    }),
    aDeferral({
      id: 'd-3',
      task_id: 'news-3',
      tool: 'send_mail',
      title: 'Tell Aino Korhonen that her refund is on its way',
      args: {
        to: ['aino@example.com'],
        subject: 'Your refund',
        body: 'Dear Aino,\n\nwe have paid 89.90 EUR back to your card. It arrives within three days.\n\nThe refund desk',
      },
      requested_at: minutes(-20),
      expires_at: minutes(341),
    }),
  ];
  server.routes.set('GET /api/agents/refunds/logs', () => ({
    body: {
      lines: [
        'holdpoint 0.1.0 runs refunds on http://127.0.0.1:8080',
        'warning: tools.issue_refund waits 6 minutes, which is as long as the caller waits',
        '14:25:46 refund-1 accepted',
        '14:25:48 refund-1 issue_refund waits for finance-leads',
      ],
    },
  }));
  server.routes.set('GET /api/agents/translator/logs', () => ({ body: { lines: [] } }));
  server.routes.set('GET /api/agents/refunds/limits', () => ({
    body: {
      limits: [
        limitJson(aMeasuredLimit({ by: { caller: 'ann@example.com' } })),
        limitJson(
          aMeasuredLimit({
            ...{ name: 'newsletters_a_week', by: {}, max: '2', used: '1', reserved: '0' },
            period: { calendar: 'week', zone: 'Europe/Berlin' },
          }),
        ),
      ],
    },
  }));
  server.routes.set('GET /api/outcomes', () => ({ body: { ...outcomes(), unasked: [] } }));
  server.routes.set('GET /api/agents/refunds/policy', () => ({
    body: {
      tools: [
        {
          name: 'issue_refund',
          origin: 'mcp shop',
          decisions: [
            {
              layer: 'modify',
              decision: 'modify',
              rule: 'modify.rules[1]',
              says: 'an amount above 500 is cut to a tenth',
            },
            {
              layer: 'defer',
              decision: 'defer',
              rule: 'defer.tools.issue_refund',
              says: 'asks #refunds in Slack',
            },
            {
              ...{ layer: 'limits', decision: 'limit', rule: 'limits.refunds_a_day' },
              says: 'at most 5,000 of args.amount in 24 h for each caller; a call over it waits for a person: channel:slack:#finance, for 2h0m0s, decided by group:finance',
              limit: 'refunds_a_day',
            },
            {
              ...{ layer: 'effects', decision: 'effect', rule: 'effects.issue_refund' },
              says: 'one call with the same refund:{args.order_id} within 30 days; a repeat waits for a person: channel:console:*, for 6m0s',
            },
          ],
          approvers: ['bob@example.com', 'carol@example.com'],
          timeout: '6m',
          warning:
            'It waits 6 minutes, which is as long as a caller waits: answer before, or send with a push.',
        },
        {
          name: 'lookup_order',
          origin: 'mcp shop',
          decisions: [{ layer: 'default', decision: 'allow', rule: '', says: 'runs immediately' }],
          approvers: null,
        },
        {
          ...{ name: 'send_newsletter', origin: 'skill', approvers: null },
          decisions: [
            {
              ...{ layer: 'limits', decision: 'limit', rule: 'limits.newsletters_a_week' },
              says: 'at most 2 calls a week (Europe/Berlin); a call over it is denied',
              limit: 'newsletters_a_week',
            },
          ],
        },
        {
          name: 'web_fetch',
          origin: 'builtin',
          decisions: [{ layer: 'deny', decision: 'deny', rule: 'deny.tools', says: 'denied' }],
          approvers: null,
        },
      ],
      egress: {
        mode: 'allowlist',
        hosts: [
          { host: 'api.anthropic.com', origin: 'model' },
          { host: 'api.openai.com', origin: 'fallback model' },
          { host: 'slack.com', origin: 'channel slack' },
        ],
      },
      auth: { providers: ['oidc'], required: true },
      admission: { enabled: false },
      unknown_servers: [],
      warnings: [],
    },
  }));
  tellOfConversation(server, minutes);
  tellOfLog(server);
}

/** A refund that was cut off, and one that a person settled. */
function outcomes() {
  const ago = (minutes: number) => Date.now() - minutes * 60_000;
  const of = (outcome: Parameters<typeof anOpenOutcome>[0]) => ({
    agent_id: 'refunds',
    ...presentOutcome(anOpenOutcome(outcome)),
  });
  const reason = 'The bank shows the payment re_81.';
  return {
    open: [of({ at: ago(12) })],
    settled: [
      of({
        ...{ callId: 'call-7', taskId: 'refund-2', at: ago(1_500) },
        settled: { ran: true, by: 'carol@example.com', reason, at: ago(1_400) },
      }),
    ],
  };
}

function tellOfConversation(server: PageServer, minutes: (count: number) => string): void {
  const said = (role: string, text: string) => ({ role, parts: [{ kind: 'text', text }] });
  server.routes.set('GET /api/agents/refunds/sessions', () => ({
    body: [
      ['c-1', 'Please refund order A-1042, the lamp arrived broken', -4],
      ['c-2', 'Which orders of Aino Korhonen are still on their way?', -55],
    ].map(([id, preview, at]) => ({
      id,
      preview,
      created_at: minutes(Number(at) - 1),
      updated_at: minutes(Number(at)),
    })),
  }));
  server.routes.set('GET /api/agents/refunds/sessions/c-1', () => ({
    body: {
      id: 'c-1',
      messages: [
        said('user', 'What is your policy for lamps that arrive broken?'),
        said(
          'agent',
          'A lamp that arrives broken is **refunded in full** within 30 days:\n\n1. a photo of the damage\n2. the order number\n\nMore stands in [the terms](https://shop.example.com/terms).',
        ),
        said('user', 'Please refund order A-1042, the lamp arrived broken'),
        said('agent', 'The photo shows the damage, and order `A-1042` is 12 days old.'),
      ],
    },
  }));
  server.routes.set('GET /api/agents/refunds/tasks', () => ({ body: { tasks: [] } }));
}

/** A log of a quiet morning, as a signed log looks. */
function tellOfLog(server: PageServer): void {
  const { signer, publicKey } = testKey('service-audit-v1', 1);
  const { lines } = logOf(
    [
      { event: 'session_start', fields: {} },
      { event: 'llm_call', fields: { duration_ms: 1_312, input_tokens: 812, output_tokens: 64 } },
      { event: 'tool_call_modified', fields: { tool: 'issue_refund', rules: [2] } },
      { event: 'task_deferred', fields: { tool: 'issue_refund', to: 'channel:slack:#refunds' } },
      {
        event: 'task_deferred_decision',
        fields: { tool: 'issue_refund', approver: 'carol@example.com', decision: 'approve' },
      },
      { event: 'tool_exec', fields: { tool: 'issue_refund', phase: 'end', duration_ms: 174 } },
      { event: 'egress_blocked', fields: { domain: 'evil.example', reason: 'not on the list' } },
      { event: 'session_end', fields: { state: 'completed' } },
    ].map((event, index) => ({
      ...event,
      ts: new Date(Date.now() - (60 - index) * 1_000).toISOString(),
      seq: index + 1,
      task_id: 'refund-1',
    })),
    GENESIS,
    signer,
  );
  const path = '/api/agents/refunds/audit';
  const log = { lines, keys: [publicKey] };
  for (const part of ['', '/lines']) {
    server.routes.set(`GET ${path}${part}`, (_, url) => {
      const answer = answerLog(url, 'refunds', log);
      return answer instanceof Response ? answer : { body: answer };
    });
  }
}
