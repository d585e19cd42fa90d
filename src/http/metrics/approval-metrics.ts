import { Counter, Histogram, type Registry } from 'prom-client';
import { BoundedNames, otherName } from './bounded-names.ts';
import type { Observe } from './measurement.ts';

/** Histogram bounds for waits in seconds, from one second to two days. */
const waitBuckets = [1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400, 172_800];

/** Maximum number of decisions of a layer on a tool with series of their own. */
const mostRuled = 500;

const waitEnds = ['approve', 'reject', 'timeout', 'canceled', 'abandoned'] as const;

const holdStates = ['granted', 'released', 'closed', 'unaccounted', 'withdrawn'] as const;

/** Adds the metrics of governance and of the decisions of people. `labelOf` returns the label of a tool. */
export function addApprovalMetrics(registry: Registry, labelOf: (tool: string) => string): Observe {
  const registers = [registry];
  const rulings = new Counter({
    name: 'holdpoint_rulings_total',
    help: 'Rulings of governance on tool calls, by decision, layer and tool.',
    labelNames: ['decision', 'layer', 'tool'],
    registers,
  });
  const waits = new Histogram({
    name: 'holdpoint_decision_latency_seconds',
    help: 'How long deferred calls waited, by the end of the wait, of tasks and of calls of other programs.',
    labelNames: ['decision', 'kind'],
    buckets: waitBuckets,
    registers,
  });
  // A rate includes the first end of a wait only if the series exists before.
  for (const decision of waitEnds) {
    for (const kind of ['task', 'hold']) waits.zero({ decision, kind });
  }
  const decisions = new Counter({
    name: 'holdpoint_decisions_total',
    help: 'Decisions of people, by their source: counted, repeated and refused ones.',
    labelNames: ['decision', 'source', 'outcome'],
    registers,
  });
  const reminders = new Counter({
    name: 'holdpoint_reminders_total',
    help: 'Reminders of calls that wait.',
    registers,
  });
  const escalations = new Counter({
    name: 'holdpoint_escalations_total',
    help: 'Waiting calls that were escalated to further approvers.',
    registers,
  });
  const grants = new Counter({
    name: 'holdpoint_grants_used_total',
    help: 'Calls that ran by an earlier approval, by tool.',
    labelNames: ['tool'],
    registers,
  });
  const limits = new Counter({
    name: 'holdpoint_limit_reached_total',
    help: 'Calls that would have exceeded a limit, by limit and what happened to them.',
    labelNames: ['limit', 'decision'],
    registers,
  });
  const shadows = new Counter({
    name: 'holdpoint_policy_shadow_total',
    help: 'Calls that a rule in shadow would have decided, by rule and decision.',
    labelNames: ['rule', 'would'],
    registers,
  });
  const holds = new Counter({
    name: 'holdpoint_holds_total',
    help: 'Granted calls of other programs that entered a state.',
    labelNames: ['state'],
    registers,
  });
  const ruled = new BoundedNames(mostRuled);
  for (const state of holdStates) holds.inc({ state }, 0);
  return (measured) => {
    switch (measured.type) {
      case 'ruling': {
        const { decision, layer } = measured;
        const tool = labelOf(measured.tool);
        const isOwn = ruled.has(`${decision} ${layer} ${tool}`);
        return rulings.inc({ decision, layer, tool: isOwn ? tool : otherName });
      }
      case 'wait': {
        const { decision, kind, milliseconds } = measured;
        return waits.observe({ decision, kind }, milliseconds / 1_000);
      }
      case 'decision': {
        const { decision, source, outcome } = measured;
        return decisions.inc({ decision, source, outcome });
      }
      case 'notice':
        return measured.notice === 'reminder' ? reminders.inc() : escalations.inc();
      case 'grant':
        return grants.inc({ tool: labelOf(measured.tool) });
      case 'limit':
        return limits.inc({ limit: measured.limit, decision: measured.decision });
      case 'shadow':
        return shadows.inc({ rule: measured.rule, would: measured.would });
      case 'hold':
        return holds.inc({ state: measured.state });
      default:
    }
  };
}
