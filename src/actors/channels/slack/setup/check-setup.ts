import { WebAPIPlatformError, type WebClient } from '@slack/web-api';
import { namesOnePerson } from '../../../../machines/governance/email.ts';
import { DeliveryError } from '../../channel-adapter.ts';
import { personOf } from '../link/channel-directory.ts';
import { linkFault, slackCode } from '../link/slack-failure.ts';
import { readSelf } from '../link/slack-self.ts';
import { scopeFindings } from './check-scopes.ts';
import type { SetupFinding, SlackSetup } from './setup-finding.ts';

/** Maximum number of checked items, so that Slack's rate limit leaves room for the agent. */
const most = 50;

/**
 * Checks items one after the other, fifty at most. Stops at the first check that rejects: later checks would fail
 * likewise, or Slack limits the rate. Never rejects.
 *
 * @param what the kind of items, such as `channels`
 */
async function checkEach(
  things: readonly string[],
  look: (thing: string) => Promise<SetupFinding | null>,
  what: string,
): Promise<SetupFinding[]> {
  const findings: SetupFinding[] = [];
  for (const [index, thing] of things.slice(0, most).entries()) {
    try {
      const finding = await look(thing);
      if (finding !== null) findings.push(finding);
    } catch (error) {
      return [...findings, notLookedAt(what, things.length - index, wordsOf(error))];
    }
  }
  const left = things.length - most;
  return left <= 0
    ? findings
    : [...findings, notLookedAt(what, left, `there are more than ${most}`)];
}

function notLookedAt(what: string, count: number, reason: string): SetupFinding {
  const message = `${count} of the ${what} ${count === 1 ? 'was' : 'were'} not checked: ${reason}`;
  return { severity: 'warning', subject: what, message };
}

/** Returns the reason of a failed check, without a final period. */
function wordsOf(error: unknown): string {
  return error instanceof DeliveryError
    ? error.message.replace(/^slack: /, '')
    : linkFault(error).message;
}

export type { SetupFinding } from './setup-finding.ts';

/** Checks whether approvals can be requested through Slack; posts nothing and never rejects (docs/contract/chat.md). */
export async function checkSlackSetup(setup: SlackSetup): Promise<SetupFinding[]> {
  const bot = await checkBot(setup);
  return [...bot, ...(setup.app === undefined ? [] : [await checkApp(setup.app)])];
}

async function checkBot(setup: SlackSetup): Promise<SetupFinding[]> {
  const { web, targets, approvers, groups } = setup;
  try {
    const self = await readSelf(web);
    const canLookUp = self.scopes.length === 0 || self.scopes.includes('users:read.email');
    const canList = self.scopes.length === 0 || self.scopes.includes('usergroups:read');
    const ids = canList ? groups : [];
    const emails = canLookUp ? approvers.filter(namesOnePerson) : [];
    return [
      {
        severity: 'ok',
        subject: 'bot token',
        message: `the bot is ${self.botUserId} in ${self.teamId}`,
      },
      ...scopeFindings(self, setup),
      ...(await checkEach(targets, (target) => checkTarget(setup, target), 'channels')),
      ...(await checkEach(emails, (email) => checkApprover(setup, email), 'approvers')),
      ...(await checkEach(ids, (id) => checkGroup(setup, id), 'user groups')),
    ];
  } catch (error) {
    const message = `the bot cannot speak to Slack: ${linkFault(error).message}`;
    return [{ severity: 'error', subject: 'bot token', message }];
  }
}

async function checkTarget({ web, directory }: SlackSetup, target: string): Promise<SetupFinding> {
  const finding = (message: string, fix: string): SetupFinding => {
    return { severity: 'error', subject: target, message, fix };
  };
  try {
    const id = await directory.resolve(target);
    const email = personOf(target);
    if (email !== null)
      return { severity: 'ok', subject: target, message: `${email} is asked directly` };
    const { channel } = await web.conversations.info({ channel: id });
    if (channel?.is_archived === true) {
      return finding(
        `${target} is archived, so no approver is notified there`,
        'name another channel',
      );
    }
    if (channel?.is_member === false) {
      return finding(
        `the bot is not in ${target}, so no approver is notified there`,
        'invite it in that channel with /invite and its name',
      );
    }
    return { severity: 'ok', subject: target, message: `the bot is in ${target}` };
  } catch (error) {
    if (!isAnswer(error)) throw error;
    return {
      severity: 'error',
      subject: target,
      message: `no approver is notified in ${target}: ${wordsOf(error)}`,
    };
  }
}

async function checkApprover({ web }: SlackSetup, email: string): Promise<SetupFinding | null> {
  try {
    const { user } = await web.users.lookupByEmail({ email });
    if (user?.deleted !== true && user?.is_bot !== true) return null;
  } catch (error) {
    if (slackCode(error) !== 'users_not_found') throw error;
  }
  return {
    severity: 'warning',
    subject: email,
    message: `${email} is no Slack user, so that person cannot decide there`,
    fix: 'correct the address among the approvers, or let that person decide elsewhere',
  };
}

async function checkGroup({ web }: SlackSetup, id: string): Promise<SetupFinding> {
  try {
    const { users = [] } = await web.usergroups.users.list({ usergroup: id });
    if (users.length > 0) {
      return {
        severity: 'ok',
        subject: id,
        message: `the user group ${id} has ${users.length} members`,
      };
    }
  } catch (error) {
    if (slackCode(error) !== 'no_such_subteam') throw error;
  }
  return {
    severity: 'error',
    subject: id,
    message: `Slack has no user group ${id} with members, so no one can decide as its member`,
    fix: 'correct the id in people.yaml, or add members to the group in Slack',
  };
}

async function checkApp({ apps }: Pick<WebClient, 'apps'>): Promise<SetupFinding> {
  const subject = 'app token';
  try {
    await apps.connections.open({});
    return { severity: 'ok', subject, message: 'the app may connect' };
  } catch (error) {
    const message = `the app cannot connect to Slack: ${linkFault(error).message}`;
    const fix = 'give the app-level token the scope connections:write, and switch Socket Mode on';
    return { severity: 'error', subject, message, fix };
  }
}

/** True if the error concerns this item only, so the remaining checks can proceed. */
function isAnswer(error: unknown): error is DeliveryError | WebAPIPlatformError {
  if (error instanceof DeliveryError) return error.fault === 'target';
  return error instanceof WebAPIPlatformError && linkFault(error).retryAfter === null;
}
