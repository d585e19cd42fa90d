import { onTestFinished } from 'vitest';
import {
  createEgress,
  type Egress,
  type EgressOptions,
} from '../../../../src/actors/outbound/egress/egress.ts';
import type { EgressRecord, EgressScope } from '../../../../src/actors/ports/egress.ts';

/** A task with every workflow tag. */
export const scope: EgressScope = {
  taskId: 't1',
  correlationId: 'c1',
  tags: {
    workflow_id: 'refunds',
    workflow_execution_id: 'run-7',
    stage_id: 'check',
    step_id: 'ask',
    invocation_caller: 'orchestrator',
    org_id: 'acme',
  },
};

/** A policy that lists `*.example.test`, whose names are all 127.0.0.1, which is opened; closed after the test. */
export function anEgress(
  options: Partial<EgressOptions> & { names?: Record<string, string[]> } = {},
): { egress: Egress; records: EgressRecord[]; asked: string[] } {
  const records: EgressRecord[] = [];
  const asked: string[] = [];
  const { names = {}, ...rest } = options;
  const egress = createEgress({
    mode: 'allowlist',
    allowedDomains: ['*.example.test'],
    allowPrivateIps: false,
    allowedPrivateCidrs: ['127.0.0.1/32'],
    propagateTo: [],
    endpoints: [],
    record: (record) => void records.push(record),
    lookup: async (hostname) => {
      asked.push(hostname);
      return (names[hostname] ?? ['127.0.0.1']).map((address) => ({
        address,
        family: address.includes(':') ? 6 : 4,
      }));
    },
    ...rest,
  });
  onTestFinished(() => egress.close());
  return { egress, records, asked };
}

/** What a promise was rejected with. Throws when it was not. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('nothing failed');
}

/** The record of a hop of the task `scope`. */
export function recorded(domain: string, reason: string | null): EgressRecord {
  return { scope, domain, mode: 'allowlist', reason };
}
