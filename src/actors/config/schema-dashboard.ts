import * as z from 'zod';
import { normaliseEntry, readEntry } from '../../machines/governance/standing.ts';
import { name } from '../schema-value.ts';
import { plainSignIn, sessionTimes } from './schema-approvals.ts';
import { trustedProxies } from './schema-daemon.ts';

const operator = z
  .string()
  .refine((text) => normaliseEntry(text) !== null && readEntry(text)?.kind !== 'oncall', {
    error: 'this must be an email, group:NAME or claim:NAME=VALUE',
  })
  .transform((text) => normaliseEntry(text) ?? text);

/** `dashboard.yaml`: the sign-in of a workspace's dashboard; durations are in milliseconds (docs/dashboard.md). */
export const dashboardSchema = z.object({
  sign_in: plainSignIn.describe('How people sign in.'),
  operators: z
    .array(operator)
    .default([])
    .meta({
      description:
        'People who may do all that the dashboard offers; everyone else who signs in has an approvals page only.',
      example: ['ann@example.com', 'group:platform', 'claim:department=it'],
    }),
  claims: z
    .array(name)
    .default([])
    .meta({
      description: 'Claims of people that the agents receive, whose rules read `claim:NAME=VALUE`.',
      example: ['department'],
    }),
  trusted_proxies: trustedProxies,
  ...sessionTimes,
});

/** The sign-in of a workspace's dashboard. */
export type DashboardSettings = z.output<typeof dashboardSchema>;
