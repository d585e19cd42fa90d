import { readEntry } from '../../machines/governance/standing.ts';
import { checkSignIn } from './check-approvals.ts';
import { proxyFindings } from './check-server.ts';
import { type ConfigProblem, errorAt, type Finding, warningAt } from './config-problem.ts';
import { readSettingsFile } from './read-settings-file.ts';
import { origin } from './schema-approvals.ts';
import { type DashboardSettings, dashboardSchema } from './schema-dashboard.ts';

/** File with the sign-in of a workspace's dashboard. */
export const dashboardFile = 'dashboard.yaml';

/** The sign-in of a workspace's dashboard, and the problems of its file. */
export interface DashboardReading {
  /** `null` without a usable file. */
  settings: DashboardSettings | null;
  problems: ConfigProblem[];
  warnings: ConfigProblem[];
}

/** Reads `dashboard.yaml` of a workspace; `null` if there is none. Never throws. */
export function readDashboard(
  directory: string,
  env: Readonly<Record<string, string | undefined>>,
): DashboardReading | null {
  const file = readSettingsFile({
    ...{ directory, file: dashboardFile, schema: dashboardSchema, env },
    unknownKeys: 'error',
  });
  if (file === null) return null;
  const { content, problems, warnings } = file;
  const found = file.place(content === null ? [] : findingsOf(content, env));
  return {
    settings: found.problems.length === 0 ? content : null,
    problems: [...problems, ...found.problems],
    warnings: [...warnings, ...found.warnings],
  };
}

/** Returns true for the origin of a page: https, or http on a loopback host, in lower case and without a path. */
export function isPageOrigin(text: string): boolean {
  return origin.safeParse(text).success;
}

function findingsOf(
  { sign_in: signIn, operators, trusted_proxies: proxies }: DashboardSettings,
  env: Readonly<Record<string, string | undefined>>,
): Finding[] {
  const noClaim =
    'no one is in a group without sign_in.groups_claim; set it to the claim with the groups';
  const noOperator = 'no one may start or stop agents at the public address; add operators';
  return [
    ...checkSignIn(signIn, ['sign_in'], env),
    ...proxyFindings(proxies, ['trusted_proxies']),
    ...operators.flatMap((entry, index) =>
      readEntry(entry)?.kind === 'group' && signIn.groups_claim === undefined
        ? [errorAt(['operators', index], noClaim)]
        : [],
    ),
    ...(operators.length === 0 ? [warningAt([], noOperator)] : []),
  ];
}
