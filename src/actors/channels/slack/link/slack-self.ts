import type { WebClient } from '@slack/web-api';
import { SlackSetupError } from './setup-error.ts';
import type { SlackSelf } from './slack-envelope.ts';

/** Fetches the identity behind a token. Rejects like the client, or with a SlackSetupError. */
export async function readSelf(web: Pick<WebClient, 'auth'>): Promise<SlackSelf> {
  const { user_id, team_id, bot_id, app_id, is_enterprise_install, response_metadata } =
    await web.auth.test({});
  // Interactions in an org-wide install carry no workspace, so colleagues and strangers would be indistinguishable.
  if (is_enterprise_install === true) {
    throw new SlackSetupError(
      'the Slack app is installed for a whole organisation; install it in the one workspace where people decide',
    );
  }
  if (!user_id || !team_id || !bot_id) {
    throw new SlackSetupError(
      'the token is not one of a bot; put the bot token (xoxb-) into the environment',
    );
  }
  return {
    appId: app_id ?? null,
    teamId: team_id,
    botUserId: user_id,
    botId: bot_id,
    scopes: response_metadata?.scopes?.filter((scope) => scope !== '') ?? [],
  };
}

/** Returns the scopes in `wanted` that are missing; empty if Slack did not list its scopes. */
export function missingScopes({ scopes }: SlackSelf, wanted: readonly string[]): string[] {
  return scopes.length === 0 ? [] : wanted.filter((scope) => !scopes.includes(scope));
}
