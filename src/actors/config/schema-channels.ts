import * as z from 'zod';
import { normaliseEmail } from '../../machines/governance/email.ts';
import { name } from '../schema-value.ts';

/** Adapters with their own file next to `service.yaml` (docs/contract/chat.md). */
export const configuredAdapters = ['slack', 'telegram', 'webhook', 'email', 'teams'] as const;

export type ConfiguredAdapter = (typeof configuredAdapters)[number];

/** A string that is not a variable name may be the secret itself, so it is never repeated. */
const secretVariable = z.string().regex(/^(?!whsec_)[A-Za-z_][A-Za-z0-9_]*$/, {
  error: 'this must be the bare name of an environment variable, never the secret itself',
});

const plainUrl = z.string().refine(isPlainUrl, {
  error: 'this must be an http or https URL without credentials, ? and #',
});

/** URL of a webhook; a query is allowed, since some services put a key there. */
const postUrl = z.string().refine(isUrl, {
  error: 'this must be an http or https URL without credentials and #',
});

const dashboardUrl = z.string().refine((text) => text === '' || isPlainUrl(text), {
  error: 'this must be an http or https URL without credentials, ? and #, or empty for no links',
});

const slack = z.object({
  bot_token_env: secretVariable.default('SLACK_BOT_TOKEN').meta({
    description: 'Variable that holds the bot token (`xoxb-…`).',
    example: 'REFUNDS_SLACK_BOT_TOKEN',
  }),
  app_token_env: secretVariable.default('SLACK_APP_TOKEN').meta({
    description: 'Variable that holds the app token (`xapp-…`).',
    example: 'REFUNDS_SLACK_APP_TOKEN',
  }),
  api_url: plainUrl.default('https://slack.com/api/').meta({
    description: 'Address of the API of Slack.',
    example: 'http://127.0.0.1:8900/api/',
  }),
  dashboard_url: dashboardUrl.default('').meta({
    description: 'Address that messages link to; empty for no links.',
    example: 'https://desk.example.com',
  }),
  conversations: z.boolean().default(true).describe('Mentions and direct messages become tasks.'),
});

const unknowable = { error: 'this must be the id or the name of a user, such as 12345 or @ann' };

/** A Telegram user by id or by name, with or without `@`. */
const user = z.union(
  [
    z.int(unknowable).positive(unknowable).transform(String),
    z.string().regex(/^(?:[1-9]\d*|@?[A-Za-z]\w*)$/, unknowable),
  ],
  unknowable,
);

const approver = z.string().refine((text) => normaliseEmail(text) !== null, {
  error: 'this is no email; write name@example.com',
});

const telegram = z.object({
  bot_token_env: secretVariable.default('TELEGRAM_BOT_TOKEN').meta({
    description: 'Variable that holds the token of the bot.',
    example: 'REFUNDS_TELEGRAM_TOKEN',
  }),
  api_url: plainUrl
    .default('https://api.telegram.org')
    .meta({ description: 'Address of the API of Telegram.', example: 'http://127.0.0.1:8901' }),
  allowed_users: z
    .array(user)
    .optional()
    .meta({
      description: 'Allowed users, by number or name; everyone if omitted.',
      example: [12345, '@ann'],
    }),
  people: z
    .record(
      z.string().regex(/^[1-9]\d*$/, { error: 'this must be the id of a user, such as 12345' }),
      approver,
    )
    .default({})
    .meta({
      description:
        'Emails of the people who may decide, by their number in Telegram. It is their verified identity.',
      example: { '12345': 'ann@example.com' },
    }),
  conversations: z.boolean().default(true).describe('Messages to the bot become tasks.'),
});

const webhook = z.object({
  dashboard_url: dashboardUrl.default('').meta({
    description: 'Address that posts link to; empty for no links.',
    example: 'https://desk.example.com',
  }),
  targets: z
    .record(
      name,
      z.object({
        url: postUrl.meta({
          description: 'Address that is posted to.',
          example: 'https://ops.example.com/approvals',
        }),
        secret_env: secretVariable.meta({
          description: 'Variable that holds the secret of the signature (`whsec_…`).',
          example: 'OPS_WEBHOOK_SECRET',
        }),
      }),
    )
    .default({})
    .meta({
      description: 'Receivers by name; `channel:webhook:<name>` addresses one.',
      example: {
        ops: { url: 'https://ops.example.com/approvals', secret_env: 'OPS_WEBHOOK_SECRET' },
      },
    }),
});

const email = z.object({
  host: z
    .string()
    .regex(/^[A-Za-z0-9.:-]+$/, { error: 'this must be the name of a host' })
    .meta({
      description: 'Host of the SMTP server.',
      example: 'smtp.example.com',
    }),
  port: z.int().min(1).max(65_535).default(587).meta({ description: 'Port.', example: 465 }),
  security: z
    .enum(['starttls', 'tls', 'none'])
    .default('starttls')
    .describe(
      'Encryption: `tls` from the start, `starttls`, or `none` for a server on this machine.',
    ),
  user: z.string().default('').meta({
    description: 'Name at the server; empty for no sign-in.',
    example: 'holdpoint',
  }),
  password_env: secretVariable.default('SMTP_PASSWORD').meta({
    description: 'Variable that holds the password of `user`.',
    example: 'REFUNDS_SMTP_PASSWORD',
  }),
  from: approver.meta({
    description: 'Address of the sender.',
    example: 'holdpoint@example.com',
  }),
});

const teams = z.object({
  targets: z
    .record(
      name,
      z.object({
        url_env: secretVariable.meta({
          description: 'Variable that holds the URL of the webhook, which is a secret.',
          example: 'TEAMS_OPS_URL',
        }),
      }),
    )
    .default({})
    .meta({
      description: 'Webhooks by name; `channel:teams:<name>` addresses one.',
      example: { ops: { url_env: 'TEAMS_OPS_URL' } },
    }),
});

/** Schemas of the adapters' files with their own key names; every key has a default, except the keys of a target. */
export const channelSchemas = {
  slack: fileOf('slack', slack),
  telegram: fileOf('telegram', telegram),
  webhook: fileOf('webhook', webhook),
  email: fileOf('email', email),
  teams: fileOf('teams', teams),
} satisfies Record<ConfiguredAdapter, z.ZodType>;

/** Content of an adapter's file. */
export type ChannelFileSettings = {
  [Adapter in ConfiguredAdapter]: z.output<(typeof channelSchemas)[Adapter]>['settings'];
};

function fileOf<Name extends ConfiguredAdapter, Settings extends z.ZodObject>(
  adapter: Name,
  settings: Settings,
) {
  return z.object({
    adapter: z.literal(adapter).optional().describe('Name of the adapter; optional.'),
    settings: settings.prefault({} as z.input<Settings>).describe('Settings of the adapter.'),
  });
}

function isPlainUrl(text: string): boolean {
  return isUrl(text) && !text.includes('?');
}

function isUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || text.includes('#')) return false;
  if (url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || url.protocol === 'http:';
}
