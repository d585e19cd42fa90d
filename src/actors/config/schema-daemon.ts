import * as z from 'zod';
import { answerPlaces } from '../../machines/domain/task.ts';
import { taskAccesses } from '../../machines/task/task-access.ts';
import { duration, name, positiveDuration, variableName } from '../schema-value.ts';

/** Proxies that name the address of a client. */
export const trustedProxies = z
  .array(name)
  .default([])
  .meta({
    description:
      'Proxies whose `X-Forwarded-For` is believed: addresses, networks, or `loopback`, `linklocal`, `uniquelocal`.',
    example: ['10.0.0.0/8'],
  });

const rateLimitSchema = z.object({
  read_rps: z
    .number()
    .positive()
    .default(50)
    .meta({ description: 'Reads per second of one address.', example: 20 }),
  read_burst: z.int().min(1).default(200).meta({ description: 'Reads at once.', example: 100 }),
  write_rps: z.number().positive().default(20).meta({
    description: 'Sends, decisions and cancels per second of one address.',
    example: 5,
  }),
  write_burst: z
    .int()
    .min(1)
    .default(100)
    .meta({ description: 'Sends, decisions and cancels at once.', example: 50 }),
  cancel_exempt: z
    .boolean()
    .default(true)
    .describe('Exempts authenticated cancels from the rate limit.'),
  trusted_proxies: trustedProxies,
});

/** Minimum interval between the keep-alive blanks of a held request, in milliseconds. */
const shortestHeartbeat = 100;

/** `server.mcp`: the MCP endpoint. */
const mcpFaceSchema = z.object({
  answer_within: duration.prefault('50s').meta({
    description:
      'How long a held call keeps an MCP client without progress waiting before it receives its task id and the tool `task_result`; 0s waits for the decision.',
    example: '25s',
  }),
  scopes: z
    .array(
      z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, { error: 'a scope has no spaces, " and \\' }),
    )
    .default([])
    .meta({
      description:
        'Scopes that clients request with a token for `/mcp`, in its metadata and challenge; tokens are not checked for them.',
      example: ['tools'],
    }),
});

/** `server.metrics`: access to the metrics. */
const metricsSchema = z.object({
  token_env: variableName.meta({
    description:
      'Variable that holds a bearer token for `GET /metrics`, which opens nothing else: 16 to 512 characters, different from every other token.',
    example: 'SERVICE_METRICS_TOKEN',
  }),
});

/** `server`: the HTTP server of the daemon. */
export const serverSchema = z.object({
  public_url: z.string().default('').meta({
    description: 'Public address of the agent, for the card and for links; the real one if empty.',
    example: 'https://agents.example.com/refunds',
  }),
  cors_origins: z
    .array(name)
    .default([])
    .meta({
      description: 'Origins whose pages in a browser may call; `*` for any.',
      example: ['https://desk.example.com'],
    }),
  write_timeout: duration.prefault('0s').meta({
    description: 'Maximum time of an answer before its connection is closed; 0s for no limit.',
    example: '10m',
  }),
  hold_heartbeat: duration
    .refine((milliseconds) => milliseconds === 0 || milliseconds >= shortestHeartbeat, {
      error: 'the heartbeat of a hold is at least 100ms; write 25s, or 0s for none',
    })
    .prefault('25s')
    .meta({
      description:
        'Time a held send waits before its answer starts, and interval of the blanks that keep it open; 0s for neither, else at least 100ms.',
      example: '10s',
    }),
  task_access: z
    .enum(taskAccesses)
    .default('org')
    .describe(
      'Tasks that a caller can see and decide: those of its organisation (`org`), its own (`requester`), or all (`any`).',
    ),
  a2a_hold: z
    .boolean()
    .default(false)
    .describe(
      'A blocking A2A send waits for the end of its task, through every hold, instead of returning when a decision is needed.',
    ),
  a2a_answer: z.enum(answerPlaces).default('artifact').meta({
    description:
      'Where A2A 0.3.0 and 1.0 carry the answer of a completed task: in its artifact, in the message of its status, or in both. Clients such as AG-UI show messages alone.',
    example: 'both',
  }),
  mcp: z
    .union([z.boolean(), mcpFaceSchema], {
      error: 'this must be true, false or a block such as {answer_within: 50s}',
    })
    .transform((face) => (face === true ? mcpFaceSchema.parse({}) : face))
    .prefault(false)
    .meta({
      description:
        'Shows the tools of the agent to MCP clients, at `/mcp`; each call is a task. `true` or a block turns it on.',
      example: true,
    }),
  metrics: metricsSchema.optional().meta({
    description:
      'Lets a monitoring system read `GET /metrics` with a token of its own. Without a token of the agent or this one the route then returns 401, even while authentication is off.',
    example: { token_env: 'SERVICE_METRICS_TOKEN' },
  }),
  rate_limit: rateLimitSchema.prefault({}).describe('Rate limit of each address.'),
});

/** `egress`: reachable hosts, and how scripts are confined to them (docs/contract/egress.md). */
export const egressSchema = z.object({
  mode: z
    .enum(['deny-all', 'allowlist', 'dev-open'])
    .default('allowlist')
    .describe(
      'Reachable hosts: the list (`allowlist`), none (`deny-all`), or every host (`dev-open`).',
    ),
  allowed_domains: z
    .array(name)
    .default([])
    .meta({
      description:
        'Hosts that tools and scripts may reach; `*.` and a domain covers all its subdomains.',
      example: ['api.example.com', '*.example.org'],
    }),
  allow_private_ips: z
    .boolean()
    .default(false)
    .describe('Lets listed hosts have private addresses.'),
  allowed_private_cidrs: z
    .array(name)
    .default([])
    .meta({
      description: 'Private networks that listed hosts may be in.',
      example: ['10.1.0.0/16'],
    }),
  allowed_private: z
    .array(name)
    .default([])
    .meta({
      description: 'Hosts that may be reached and may be private, in one entry.',
      example: ['db.internal', '127.0.0.1:9000'],
    }),
  sandbox: z
    .enum(['env', 'bwrap', 'auto'])
    .default('auto')
    .describe(
      'Isolation of scripts: bubblewrap (`bwrap`), environment only (`env`), or bubblewrap where it works (`auto`).',
    ),
  writable: z
    .array(name)
    .default([])
    .meta({
      description:
        'Folders of the agent that its tools may write and keep: scripts, `file_write` and `file_edit`.',
      example: ['work'],
    }),
});

const tracingSchema = z.object({
  enabled: z.boolean().default(false).describe('Sends traces to a collector.'),
  endpoint: z.string().default('').meta({
    description: 'Address of the collector; the variables of OpenTelemetry when it is empty.',
    example: 'http://localhost:4318/v1/traces',
  }),
  service_name: z.string().default('').meta({
    description: 'Name of the service in the traces; `agent_id` when it is empty.',
    example: 'refunds',
  }),
  sampler: name.default('parentbased_always_on').meta({
    description: 'Which traces are recorded, in the names of OpenTelemetry.',
    example: 'parentbased_traceidratio:0.1',
  }),
});

/** `observability`. */
export const observabilitySchema = z.object({
  tracing: tracingSchema.prefault({}).describe('Traces of requests, over OTLP.'),
});

/** `store`: location of the tasks, and their retention after they end. */
export const storeSchema = z.object({
  kind: z.enum(['sqlite', 'postgres']).default('sqlite').meta({
    description:
      'The database: `sqlite` is a file for one daemon, `postgres` a server for several daemons of one agent.',
    example: 'postgres',
  }),
  path: name.default('.service/tasks.db').meta({
    description: 'The file of `sqlite`, relative to the folder of the agent.',
    example: '/var/lib/refunds/tasks.db',
  }),
  url_env: name.optional().meta({
    description:
      'The variable with the URL of `postgres`; `SERVICE_DATABASE_URL` if omitted. It is read again with each connection.',
    example: 'REFUNDS_DATABASE_URL',
  }),
  schema: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,39}$/, 'use lower-case letters, digits and _, at most 40')
    .regex(/^(?!pg_|information_schema$)/, 'PostgreSQL keeps that name to itself; use another')
    .optional()
    .meta({
      description: 'PostgreSQL schema of this agent; `holdpoint` if omitted.',
      example: 'refunds',
    }),
  pool: z.int().min(2).max(100).optional().meta({
    description: 'Maximum PostgreSQL connections per daemon; 10 if omitted.',
    example: 20,
  }),
  retention: positiveDuration
    .prefault('7d')
    .meta({ description: 'Retention of ended tasks.', example: '14d' }),
});

/** `secrets` (docs/contract/secrets.md). */
export const secretsSchema = z.object({
  providers: z
    .array(z.enum(['encrypted-file', 'env']))
    .default(['encrypted-file', 'env'])
    .meta({
      description:
        'Sources of secrets, in order: the encrypted file, and the environment with the `.env` next to that file.',
      example: ['env'],
    }),
  path: name
    .default('.service/secrets.enc')
    .meta({ description: 'The encrypted file.', example: '.service/secrets.enc' }),
});
