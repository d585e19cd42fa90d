import type * as z from 'zod';
import { splitTarget } from '../../machines/channels/approval-notice.ts';
import { escalationTargets } from '../../machines/governance/escalation-targets.ts';
import { isLoopback } from '../../machines/loopback.ts';
import type { ChannelsReading } from '../channels/channels.ts';
import { nearestName } from '../nearest-name.ts';
import {
  type Environment,
  hiding,
  type Resolution,
  secretOf,
  untold,
} from './channel-resolution.ts';
import { type ConfigProblem, errorAt, type Finding, warningAt } from './config-problem.ts';
import { decisionPage } from './decision-page.ts';
import type { ConfigReading } from './parse-config.ts';
import { readSettingsFile } from './read-settings-file.ts';
import { resolveSlack } from './resolve-slack.ts';
import { resolveTeams } from './resolve-teams.ts';
import { resolveTelegram } from './resolve-telegram.ts';
import { resolveWebhook } from './resolve-webhook.ts';
import {
  type ChannelFileSettings,
  type ConfiguredAdapter,
  channelSchemas,
} from './schema-channels.ts';
import type { ServiceConfig } from './service-schema.ts';
import { askingRules } from './tool-rules.ts';

type Service = Extract<ConfigReading, { ok: true }>;

/** Content and problems of the adapters' files. */
export interface ChannelFilesReading {
  channels: ChannelsReading;
  problems: ConfigProblem[];
  warnings: ConfigProblem[];
}

/**
 * Reads `<adapter>-config.yaml` next to `service.yaml` for every adapter in `channels`, and the secrets that it names
 * from the environment (docs/contract/chat.md). Adapters without a usual target require their file. Never throws.
 */
export function readChannelFiles(
  directory: string,
  env: Environment,
  service: Service,
): ChannelFilesReading {
  const reader = new ChannelFileReader(directory, env, service);
  const slack = reader.read('slack', channelSchemas.slack, resolveSlack);
  const telegram = reader.read('telegram', channelSchemas.telegram, (file, variables) => {
    reader.problems.push(...telegramProblems(service, file));
    return resolveTelegram(file, variables);
  });
  const webhook = reader.read('webhook', channelSchemas.webhook, (file, variables) => {
    reader.problems.push(...targetProblems('webhook', service, file));
    return resolveWebhook(file, variables);
  });
  const email = reader.read('email', channelSchemas.email, (file, variables) =>
    resolveEmail(file, variables, decisionPage(service.config) ?? ''),
  );
  const teams = reader.read('teams', channelSchemas.teams, (file, variables) => {
    reader.problems.push(...targetProblems('teams', service, file));
    return resolveTeams(file, variables, decisionPage(service.config) ?? '');
  });
  reader.problems.push(...pageProblems('email', service), ...pageProblems('teams', service));
  const { problems, warnings } = reader;
  const channels = {
    ...{ slack, telegram, webhook },
    ...(email === null ? {} : { email }),
    ...(teams === null ? {} : { teams }),
  };
  return { channels, problems, warnings };
}

class ChannelFileReader {
  readonly problems: ConfigProblem[] = [];
  readonly warnings: ConfigProblem[] = [];
  readonly #directory: string;
  readonly #env: Environment;
  readonly #service: Service;

  constructor(directory: string, env: Environment, service: Service) {
    this.#directory = directory;
    this.#env = env;
    this.#service = service;
  }

  /** Returns `null` for an adapter that is not listed or cannot run. */
  read<Name extends ConfiguredAdapter, Settings>(
    adapter: Name,
    schema: z.ZodType<{ settings: ChannelFileSettings[Name] }>,
    resolve: (file: ChannelFileSettings[Name], env: Environment) => Resolution<Settings>,
  ): Settings | null {
    const index = this.#service.config.channels.indexOf(adapter);
    if (index < 0) return null;
    const file = readSettingsFile({
      directory: this.#directory,
      file: `${adapter}-config.yaml`,
      schema,
      env: this.#env,
      // A mistyped `allowed_users` key would let everybody in.
      unknownKeys: adapter === 'telegram' ? 'error' : 'warning',
    });
    if (file !== null) this.#add(file);
    const content = file === null ? schema.parse({}) : file.content;
    if (content === null) return null;
    const { settings, findings } = resolve(content.settings, this.#env);
    this.#add(file === null ? this.#atList(index, findings) : file.place(findings));
    return settings;
  }

  #add({ problems, warnings }: { problems: ConfigProblem[]; warnings: ConfigProblem[] }): void {
    this.problems.push(...problems);
    this.warnings.push(...warnings);
  }

  /** Reports findings at the adapter's entry in `channels`, as there is no file. */
  #atList(index: number, findings: readonly Finding[]) {
    const placed = (wanted: Finding['severity']) =>
      findings
        .filter(({ severity }) => severity === wanted)
        .map(({ message }) => this.#service.problemAt(['channels', index], message));
    return { problems: placed('error'), warnings: placed('warning') };
  }
}

const linking = { email: 'a mail', teams: 'a card of Teams' };

/** Checks that messages in which no one decides lead to a page on which people decide. */
function pageProblems(adapter: 'email' | 'teams', { config, problemAt }: Service): ConfigProblem[] {
  const index = config.channels.indexOf(adapter);
  if (index < 0 || decisionPage(config) !== null) return [];
  const message = `${linking[adapter]} has no page to link to; configure approvals with its public_url, or server.public_url`;
  return [problemAt(['channels', index], message)];
}

const exampleTargets = {
  webhook: '{ops: {url: ..., secret_env: ...}}',
  teams: '{ops: {url_env: ...}}',
};

/** Checks that an adapter has targets, and that every `to` of a held call names an existing one. */
function targetProblems(
  adapter: 'webhook' | 'teams',
  { config, problemAt }: Service,
  { targets }: { targets: object },
): ConfigProblem[] {
  const names = Object.keys(targets);
  if (names.length === 0) {
    const message = `${adapter} has no targets; add ${adapter}-config.yaml next to service.yaml, with settings: {targets: ${exampleTargets[adapter]}}`;
    return [problemAt(['channels', config.channels.indexOf(adapter)], message)];
  }
  return usesOf(adapter, config)
    .filter(({ target }) => !names.includes(target))
    .map(({ path, target }) => {
      const near = nearestName(target, names);
      const advice = near !== null ? `did you mean ${near}?` : `use one of ${names.join(', ')}`;
      return problemAt(path, `${adapter}-config.yaml has no such target; ${advice}`);
    });
}

/** Checks that someone can decide what is asked in Telegram. */
function telegramProblems(
  { config, problemAt }: Service,
  { people }: ChannelFileSettings['telegram'],
): ConfigProblem[] {
  if (Object.keys(people).length > 0) return [];
  const message =
    'no one can decide in Telegram, since telegram-config.yaml has no people; add settings: {people: {"12345": ann@example.com}}';
  return usesOf('telegram', config).map(({ path }) => problemAt(path, message));
}

/** Returns the targets of an adapter used by rules for held calls. */
function usesOf(name: ConfiguredAdapter, { security }: ServiceConfig) {
  return askingRules(security).flatMap(({ rule, path }) =>
    [
      ...rule.to.map((to) => ({ key: 'to', to })),
      ...escalationTargets(rule.escalate_to).map((to) => ({ key: 'escalate_to', to })),
    ].flatMap(({ key, to }) => {
      const { adapter, target } = splitTarget(to);
      return adapter === name ? [{ path: [...path, key], target }] : [];
    }),
  );
}

/** Resolves the password of the SMTP server; no finding contains it (docs/contract/chat.md). */
function resolveEmail(
  file: ChannelFileSettings['email'],
  env: Environment,
  pageUrl: string,
): Resolution<NonNullable<ChannelsReading['email']>> {
  const { host, port, security, from } = file;
  const secret = secretOf(['settings', 'password_env'], file.password_env, env);
  if (security === 'none' && !isLoopback(host)) {
    const message = 'without encryption anyone on the path can read the mails; use starttls or tls';
    return { settings: null, findings: [errorAt(['settings', 'security'], message)] };
  }
  if (file.user !== '' && secret.value === null) {
    const message = `${secret.variable} is not set, so the email adapter does not run; ${untold}`;
    return { settings: null, findings: [warningAt(secret.path, message)] };
  }
  const open = { host, port, security, user: file.user || null, from, pageUrl };
  return { settings: hiding(open, { password: secret.value ?? '' }), findings: [] };
}
