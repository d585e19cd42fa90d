import * as z from 'zod';
import { name, positiveDuration, variableName } from '../schema-value.ts';

const signingSchema = z.object({
  enabled: z
    .boolean()
    .default(false)
    .describe('Signs every line; the start is refused without a usable key.'),
  key_env: variableName.default('SERVICE_AUDIT_SIGNING_KEY').meta({
    description:
      'Variable that holds the private key (Ed25519, PKCS#8), as `holdpoint key generate` makes it.',
    example: 'REFUNDS_AUDIT_KEY',
  }),
  kid: name.default('service-audit-v1').meta({
    description:
      'Name of the key in the log and in the published key set; a new key gets a new one.',
    example: 'refunds-2027',
  }),
});

const captureSchema = z.object({
  tool_args: z
    .boolean()
    .default(false)
    .describe('Stores the arguments of tool calls in the log, of held calls as well.'),
  tool_result: z
    .boolean()
    .default(false)
    .describe('Stores results of tools, including error texts.'),
  llm_messages: z.boolean().default(false).describe('Stores messages to and from the model.'),
  max_bytes: z.int().min(1).default(16_384).meta({
    description: 'Maximum bytes of one text; longer texts are cut.',
    example: 4096,
  }),
});

/** Minimum file size, in bytes; a smaller file would hold little more than its first and last line. */
const smallestFile = 65_536;

const rotationSchema = z.object({
  max_bytes: z
    .int()
    .refine((bytes) => bytes === 0 || bytes >= smallestFile, {
      error: `this must be 0 for one file without end, or at least ${smallestFile}`,
    })
    .default(67_108_864)
    .meta({
      description: 'Bytes after which a new file starts; 0 for a single file.',
      minimum: 0,
      example: 268435456,
    }),
  daily: z.boolean().default(false).describe('Also starts a new file each UTC day.'),
  keep: z.int().min(0).default(0).meta({
    description: 'Number of finished files to keep; 0 for all.',
    example: 30,
  }),
});

const sinkSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('stdout').describe('Standard output of the daemon.') }),
  z.object({
    type: z.literal('http').describe('An HTTP address that receives the lines.'),
    url: z.url({ protocol: /^https?$/u, error: 'this must be a URL with http or https' }).meta({
      description: 'Address that lines are posted to, as NDJSON.',
      example: 'https://logs.example.com/ingest',
    }),
    token_env: variableName.optional().meta({
      description: 'Variable that holds the bearer token of the address.',
      example: 'LOG_TOKEN',
    }),
    batch: z
      .int()
      .min(1)
      .max(10_000)
      .default(500)
      .meta({ description: 'Lines of one post at most.', example: 100 }),
    timeout: positiveDuration
      .prefault('10s')
      .meta({ description: 'How long one post may take.', example: '5s' }),
  }),
  z.object({
    type: z.literal('unix').describe('A socket on this machine.'),
    path: name.meta({
      description: 'Socket that lines are written to.',
      example: '/run/vector/audit.sock',
    }),
  }),
]);

/** `audit` (docs/contract/audit.md). */
export const auditSchema = z.object({
  path: name.default('.service/audit.ndjson').meta({
    description: 'The log, relative to the folder of the agent.',
    example: '/var/log/refunds/audit.ndjson',
  }),
  chain: z.boolean().default(true).describe('Writes the hash of the previous line into each line.'),
  sign: z
    .boolean()
    .default(false)
    .describe(
      'Signs every line with a key in .service/, which the first start creates; a key of `signing` overrides it.',
    ),
  signing: signingSchema.prefault({}).describe('Signatures of the lines.'),
  vocabulary: z
    .enum(['holdpoint', 'aarm'])
    .default('holdpoint')
    .describe('`aarm` adds `aarm_decision` to decisions in the log: the term of that standard.'),
  capture: captureSchema.prefault({}).describe('Contents stored in the log; none by default.'),
  rotation: rotationSchema.prefault({}).describe('When the log starts a new file.'),
  sinks: z
    .array(sinkSchema)
    .default([])
    .meta({
      description: 'Additional receivers of every line; none of them slows the log.',
      example: [{ type: 'stdout' }],
    }),
});
