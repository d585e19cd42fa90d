import type { ChannelsReading } from '../channels/channels.ts';
import {
  type Environment,
  hiding,
  plainFindings,
  type Resolution,
  type Secret,
  tokenOf,
} from './channel-resolution.ts';
import { errorAt, type Finding, warningAt } from './config-problem.ts';
import type { ChannelFileSettings } from './schema-channels.ts';

/** Resolves the Telegram token; no finding contains it (docs/contract/chat.md). */
export function resolveTelegram(
  file: ChannelFileSettings['telegram'],
  env: Environment,
): Resolution<NonNullable<ChannelsReading['telegram']>> {
  const token = tokenOf(['settings', 'bot_token_env'], file.bot_token_env, env);
  const wrong = tokenFindings(token);
  const findings = [
    ...wrong,
    ...(file.conversations ? userFindings(file.allowed_users) : []),
    ...plainFindings(file.api_url, ['settings', 'api_url']),
  ];
  if (wrong.length > 0 || token.value === null) return { settings: null, findings };
  const open = {
    apiUrl: file.api_url.replace(/\/+$/, ''),
    allowedUsers: file.allowed_users ?? null,
    people: file.people,
    conversations: file.conversations,
  };
  return { settings: hiding(open, { token: token.value }), findings };
}

function tokenFindings({ value, variable, path }: Secret): Finding[] {
  if (value === null) {
    const message = `${variable} is not set, so the telegram adapter does not run; set it`;
    return [warningAt(path, message)];
  }
  if (/^\d+:[\w-]+$/.test(value)) return [];
  const message = `${variable} does not hold the token of a bot, which is a number, a colon and letters; copy it from BotFather`;
  return [errorAt(path, message)];
}

function userFindings(allowed: string[] | undefined): Finding[] {
  const path = ['settings', 'allowed_users'];
  if (allowed === undefined) {
    const message =
      'without allowed_users anyone who finds the bot can use the agent; list who may';
    return [warningAt(path, message)];
  }
  if (allowed.length > 0) return [];
  return [warningAt(path, 'this list is empty, so no one can use the bot; add the allowed users')];
}
