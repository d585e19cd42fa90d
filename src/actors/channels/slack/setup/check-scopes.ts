import type { SlackSelf } from '../link/slack-envelope.ts';
import { missingScopes } from '../link/slack-self.ts';
import type { SetupFinding, SlackSetup } from './setup-finding.ts';

/** The purpose of a scope, and the severity of its absence. */
interface Need {
  scope: string;
  purpose: string;
  severity: 'error' | 'warning';
}

/** Lists the scopes that the bot's token lacks, each with its purpose; empty if Slack does not list scopes. */
export function scopeFindings(self: SlackSelf, setup: ScopeNeeds): SetupFinding[] {
  const needs = needsOf(setup);
  const missing = missingScopes(
    self,
    needs.map(({ scope }) => scope),
  );
  return needs
    .filter(({ scope }) => missing.includes(scope))
    .map(({ scope, purpose, severity }) => ({
      severity,
      subject: scope,
      message: `the bot's token lacks the scope ${scope}, ${purpose}`,
      fix: 'add it to the bot token scopes on the page OAuth & Permissions, and install the app again',
    }));
}

type ScopeNeeds = Pick<SlackSetup, 'targets' | 'approvers' | 'groups' | 'conversations'>;

function needsOf({ targets, approvers, groups, conversations }: ScopeNeeds): Need[] {
  const identity = approvers.length + groups.length > 0 ? 'error' : 'warning';
  return [
    { scope: 'chat:write', purpose: 'with which it posts', severity: 'error' },
    ...(targets.length > 0 ? naming : []),
    { scope: 'users:read', purpose: 'which identifies users', severity: identity },
    {
      scope: 'users:read.email',
      purpose: 'which checks whether a user is an approver',
      severity: identity,
    },
    ...(groups.length > 0 ? grouping : []),
    ...(conversations ? speaking : []),
  ];
}

const naming: Need[] = [
  { scope: 'channels:read', purpose: 'which finds public channels by name', severity: 'warning' },
  { scope: 'groups:read', purpose: 'which finds private channels by name', severity: 'warning' },
];

const grouping: Need[] = [
  {
    scope: 'usergroups:read',
    purpose: 'without which no member of a Slack user group can decide',
    severity: 'error',
  },
];

const speaking: Need[] = [
  {
    scope: 'app_mentions:read',
    purpose: 'to receive mentions',
    severity: 'warning',
  },
  { scope: 'im:history', purpose: 'to receive direct messages', severity: 'warning' },
  {
    scope: 'reactions:write',
    purpose: 'with which it shows the progress of an answer',
    severity: 'warning',
  },
  { scope: 'files:write', purpose: 'with which it sends long answers', severity: 'warning' },
];
