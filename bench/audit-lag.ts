import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { redactSecrets } from '../src/actors/governance/credentials/credentials.ts';
import { compileGuardrails } from '../src/actors/governance/guardrails/guardrails.ts';
import { auditEventOf, type Capture, createCapture } from '../src/actors/records/log/audit.ts';
import { SqliteStore } from '../src/actors/records/sqlite/sqlite-store.ts';
import type { TaskFact } from '../src/machines/domain/facts.ts';
import type { Figure } from './figure.ts';

const seconds = 10;
const perSecond = 1_000;

/** How late the event loop is while the ends of 1,000 calls a second are recorded, without contents and with them. */
export async function auditLagFigures(): Promise<Figure[]> {
  return [
    await lagFigure('no contents', null),
    await lagFigure('1 KiB of captured result each', capture()),
  ];
}

async function lagFigure(what: string, contents: Capture | null): Promise<Figure> {
  const directory = mkdtempSync(join(tmpdir(), 'holdpoint-bench-'));
  const store = await SqliteStore.open({
    path: join(directory, 'tasks.db'),
    audit: { path: join(directory, 'audit.ndjson'), chain: true },
  });
  try {
    const { p99, p50, recorded } = await lagWhile(store, contents);
    return {
      what: `event loop delay at ${Math.round(recorded / seconds).toLocaleString('en')} task events/s, ${what}, p99`,
      measured: `${p99.toFixed(1)} ms (p50 ${p50.toFixed(1)} ms)`,
      aim: '20 ms',
    };
  } finally {
    await store.close();
    rmSync(directory, { recursive: true });
  }
}

async function lagWhile(
  store: SqliteStore,
  contents: Capture | null,
): Promise<{ p99: number; p50: number; recorded: number }> {
  // The monitor's own timer is part of what it measures, so its period is taken off.
  const period = 1;
  const delay = monitorEventLoopDelay({ resolution: period });
  const total = seconds * perSecond;
  const began = performance.now();
  let sent = 0;
  let recorded = 0;
  delay.enable();
  await new Promise<void>((resolve, reject) => {
    const timer = setInterval(() => {
      const due = Math.min(total, ((performance.now() - began) * perSecond) / 1_000);
      for (; sent < due; sent += 1) {
        const event = auditEventOf(aFact(sent), envelope(sent), { capture: contents });
        store.record([event]).then(() => (recorded += 1), reject);
      }
      if (sent < total) return;
      clearInterval(timer);
      resolve();
    }, 1);
  });
  delay.disable();
  await store.flush();
  await new Promise((next) => setImmediate(next));
  const milliseconds = (percentile: number) =>
    Math.max(0, delay.percentile(percentile) / 1e6 - period);
  return { p99: milliseconds(99), p50: milliseconds(50), recorded };
}

function envelope(index: number) {
  return {
    ts: new Date().toISOString(),
    seq: index + 1,
    task_id: '019b1f2e-6c4a-7cc1-8f3a-0d7e5b6a1c2d',
    correlation_id: '019b1f2e-6c4a-7cc1-8f3a-0d7e5b6a1c2e',
    entity_id: 'refunds',
    entity_type: 'agent',
  };
}

function aFact(index: number): TaskFact {
  const order = `{"order":${index},"customer":"ann@example.com","status":"paid\\nin full"},`;
  const result = order.repeat(Math.ceil(1_024 / order.length));
  const sizes = { argsSize: 64, resultSize: result.length };
  const call = { callId: `c-${index}` };
  return {
    type: 'tool.ended',
    outcome: 'succeeded',
    call,
    tool: 'order_lookup',
    duration: 12,
    ...sizes,
    result,
  };
}

/** What an agent scrubs with, for one secret of its own and the built-in rules. */
function capture(): Capture | null {
  const none = { deny_commands: [], deny_prompts: [], deny_output: [], denied_tools: [] };
  const compiled = compileGuardrails({ ...none, redact: ['secrets'] });
  if (!compiled.ok) throw new Error('the built-in redaction rules do not compile');
  const wanted = { tool_args: true, tool_result: true, llm_messages: true, max_bytes: 16_384 };
  return createCapture(wanted, () => (text) => {
    const checked = compiled.guardrails.checkOutput(redactSecrets(text, ['live-key-3f9a7c51']));
    return checked.kind === 'blocked' ? '' : checked.text;
  });
}
