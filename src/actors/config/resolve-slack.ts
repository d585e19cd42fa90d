import type { ChannelsReading } from '../channels/channels.ts';
import {
  type Environment,
  hiding,
  plainFindings,
  type Resolution,
  type Secret,
  tokenOf,
  untold,
} from './channel-resolution.ts';
import { errorAt, type Finding, warningAt } from './config-problem.ts';
import type { ChannelFileSettings } from './schema-channels.ts';

/** Resolves the Slack tokens; no finding contains a value (docs/contract/chat.md). */
export function resolveSlack(
  file: ChannelFileSettings['slack'],
  env: Environment,
): Resolution<NonNullable<ChannelsReading['slack']>> {
  const bot = tokenOf(['settings', 'bot_token_env'], file.bot_token_env, env);
  const app = tokenOf(['settings', 'app_token_env'], file.app_token_env, env);
  const wrong = tokenFindings(bot, app);
  const findings = [
    ...wrong,
    ...plainFindings(file.api_url, ['settings', 'api_url']),
    ...plainFindings(file.dashboard_url, ['settings', 'dashboard_url']),
  ];
  if (wrong.length > 0 || bot.value === null || app.value === null) {
    return { settings: null, findings };
  }
  const open = {
    apiUrl: file.api_url.replace(/\/*$/, '/'),
    dashboardUrl: file.dashboard_url || null,
    conversations: file.conversations,
  };
  return { settings: hiding(open, { botToken: bot.value, appToken: app.value }), findings };
}

function tokenFindings(bot: Secret, app: Secret): Finding[] {
  if (bot.value?.startsWith('xapp-') && app.value?.startsWith('xoxb-')) {
    const message = `${bot.variable} and ${app.variable} hold each other's token; swap them`;
    return [errorAt(bot.path, message)];
  }
  return [
    ...absenceFindings([bot, app]),
    ...prefixFindings(bot, 'xoxb-', 'bot token', 'OAuth & Permissions'),
    ...prefixFindings(app, 'xapp-', 'app-level token', 'Basic Information'),
  ];
}

function absenceFindings(tokens: Secret[]): Finding[] {
  const absent = tokens.filter(({ value }) => value === null);
  const [first] = absent;
  if (first === undefined) return [];
  const names = absent.map(({ variable }) => variable).join(' and ');
  const verb = absent.length === 1 ? 'is' : 'are';
  const message = `${names} ${verb} not set, so the slack adapter does not run; ${untold}`;
  return [warningAt(first.path, message)];
}

function prefixFindings(
  { value, variable, path }: Secret,
  prefix: string,
  kind: string,
  page: string,
): Finding[] {
  if (value === null || (value.startsWith(prefix) && /^[\x21-\x7e]+$/.test(value))) return [];
  const message = `${variable} does not hold the ${kind}, which begins with ${prefix}; copy it from the page ${page} of the app`;
  return [errorAt(path, message)];
}
