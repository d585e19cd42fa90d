import type { DoctorJson } from '../../../../http/wire/dashboard/doctor-json.ts';
import { agentPath } from '../../api/paths.ts';
import { sentenceOf } from '../../api/sentence-of.ts';
import type { Dashboard } from '../../start-dashboard.ts';

/** The results of an agent's checks, or the reason why they failed. */
export type Report = { kind: 'told'; told: DoctorJson } | { kind: 'failed'; problem: string };

/** Runs the checks of one agent. */
export function checkAgent(
  client: Dashboard['client'],
  agent: string,
  signal: AbortSignal,
): Promise<Report> {
  return client.get<DoctorJson>(agentPath(agent, 'doctor'), signal).then(
    (told) => ({ kind: 'told', told }) as const,
    (error: unknown) => ({ kind: 'failed', problem: sentenceOf(error) }) as const,
  );
}
