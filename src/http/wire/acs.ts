import { z } from 'zod';
import type { JsonObject } from '../../machines/json.ts';
import { jsonObject } from './json-object.ts';
import type { RpcId } from './json-rpc.ts';

/** The version of the Agent Control Standard that the gate speaks. */
export const acsVersion = '0.1.0';

/** Returns true for a version that the gate accepts: one of the same major version, by section 3 of the standard. */
export function isAcceptedVersion(version: string): boolean {
  return version.split('.', 1)[0] === acsVersion.split('.', 1)[0];
}

const short = z.string().min(1).max(256);

const uuid = z
  .string()
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, { error: 'must be a UUID' });

const version = z.string().regex(/^\d{1,9}\.\d{1,9}\.\d{1,9}$/, { error: 'must be a version' });

const signature = z
  .object({ algorithm: z.string(), value: z.string(), key_id: z.string() })
  .meta({ id: 'AcsSignature' });

const params = z.looseObject({
  acs_version: version,
  request_id: uuid,
  timestamp: z
    .string()
    .regex(/^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/, {
      error: 'must be an RFC 3339 time',
    })
    .refine((text) => !Number.isNaN(Date.parse(text)), { error: 'must be an RFC 3339 time' }),
  nonce: z.string().min(16).max(64).exactOptional(),
  metadata: z.looseObject({
    agent_id: short.max(128),
    session_id: uuid,
    turn_id: short.exactOptional(),
    session_state: z
      .looseObject({ chain_hash: z.string().nullable().optional() })
      .nullable()
      .exactOptional(),
  }),
  payload: jsonObject,
  signature: signature.exactOptional(),
});

/** A request of the Agent Control Standard (docs/contract/acs.md). */
export const acsRequest = z
  .strictObject({
    jsonrpc: z.literal('2.0'),
    method: z
      .string()
      .max(256)
      .regex(/^(steps\/|protocols\/|agbom\/|trace\/|system\/|handshake\/|wrapped:)./, {
        error: 'must be a method of the Agent Control Standard',
      }),
    id: z.union([z.string().max(256), z.number()], { error: 'must be a string or a number' }),
    params,
  })
  .meta({ id: 'AcsRequest', description: 'A signed step of an observed agent.' });

/** The envelope of a request. */
export interface AcsRequest {
  method: string;
  id: string | number;
  params: {
    acs_version: string;
    request_id: string;
    timestamp: string;
    nonce?: string;
    metadata: {
      agent_id: string;
      session_id: string;
      turn_id?: string;
      session_state?: { chain_hash?: string | null } | null;
    };
    payload: JsonObject;
    signature?: z.infer<typeof signature>;
  };
}

const names = z.array(z.string().max(256)).max(256);

/** The payload of `handshake/hello`. */
export const clientHello = z.looseObject({
  acs_versions_supported: z.array(version).min(1).max(64),
  methods_implemented: names,
  transports_supported: names.min(1),
  provenance_producer: z.enum(['deterministic', 'none']),
  wrapped_protocols: z
    .array(z.looseObject({ protocol: z.string().max(64), version: z.string().max(64) }))
    .max(64)
    .exactOptional(),
  profiles_supported: names.exactOptional(),
});

export type ClientHello = z.infer<typeof clientHello>;

/** The payload of `steps/toolCallRequest`. */
export const toolCallRequest = z.looseObject({
  tool: z.looseObject({ name: z.string() }),
  operation: z.string().exactOptional(),
  capability: z.string().exactOptional(),
  arguments: z.record(z.string(), z.looseObject({ value: z.unknown() })),
  raw_command: z.string().exactOptional(),
  intent: z
    .looseObject({ description: z.string().exactOptional(), goal: z.string().exactOptional() })
    .exactOptional(),
});

/** The payload of `steps/toolCallResult`. */
export const toolCallResult = z.looseObject({
  tool: z.looseObject({ name: z.string() }),
  request_id_ref: z.string().exactOptional(),
  exit_status: z.enum(['success', 'failure', 'timeout', 'blocked']),
  outputs: z.array(z.looseObject({ value: z.unknown() })),
});

/** A wrapped MCP message: a request, a notification or a response. */
export const mcpMessage = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string().max(1_024), z.number()]).exactOptional(),
  method: z.string().exactOptional(),
  params: jsonObject.exactOptional(),
  result: jsonObject.exactOptional(),
  error: z.looseObject({ code: z.int(), message: z.string() }).exactOptional(),
});

/** A decision without the envelope of its answer. */
export type AcsDecision =
  | { decision: 'allow' }
  | { decision: 'deny'; reasoning: string; reason_codes: string[] }
  | {
      decision: 'modify';
      reasoning: string;
      modifications: { parameter_overrides: JsonObject };
    }
  | {
      decision: 'defer';
      reasoning: string;
      reason_codes: string[];
      defer_details: {
        reason: 'pending_dependency';
        resolution_method: 'human_approval';
        resolution_timeout_ms: number;
        timeout_decision: 'deny';
      };
      policy_data: JsonObject;
    };

/** Builds a denial; `reasoning` is for the model. */
export function denial(reasoning: string, code: string): AcsDecision {
  return { decision: 'deny', reasoning, reason_codes: [code] };
}

const result = z.looseObject({
  type: z.literal('final'),
  acs_version: z.string(),
  request_id: z.string(),
  decision: z.enum(['allow', 'deny', 'modify', 'defer']),
  reasoning: z.string().exactOptional(),
  chain_hash: z.string().exactOptional(),
  signature: signature.exactOptional(),
});

const refused = z.looseObject({ code: z.int(), message: z.string() });

/** The answer to a request: a decision, a ServerHello, or an error. */
export const acsAnswer = z
  .union([
    z.object({ jsonrpc: z.literal('2.0'), id: z.union([z.string(), z.number()]), result }),
    z.object({
      jsonrpc: z.literal('2.0'),
      id: z.union([z.string(), z.number(), z.null()]),
      error: refused,
    }),
  ])
  .meta({ id: 'AcsAnswer', description: 'A signed decision of the gate, or an error.' });

/** Error codes of the standard, and the reason that `data` has for each. */
export const acsCodes = {
  parseError: [-32700, 'parse_error'],
  invalidRequest: [-32600, 'invalid_request'],
  methodNotFound: [-32601, 'method_not_found'],
  invalidParams: [-32602, 'invalid_params'],
  internalError: [-32603, 'internal_error'],
  sessionRefused: [-32000, 'session_refused'],
  unsupportedVersion: [-32001, 'unsupported_version'],
  notNegotiated: [-32003, 'capability_not_negotiated'],
  signatureInvalid: [-32004, 'signature_invalid'],
  replayDetected: [-32005, 'replay_detected'],
  outOfWindow: [-32006, 'timestamp_out_of_window'],
} as const;

/** A refusal of a request without a decision; the message is one sentence. */
export class AcsError extends Error {
  readonly code: keyof typeof acsCodes;
  readonly data: JsonObject;

  constructor(code: keyof typeof acsCodes, message: string, data: JsonObject = {}) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Builds the error response of a refusal. */
export function presentAcsError({ code, message, data }: AcsError, id: RpcId): JsonObject {
  const [number, reason] = acsCodes[code];
  return {
    jsonrpc: '2.0',
    id,
    error: { code: number, message, data: { reason, message, ...data } },
  };
}

/** Reads an envelope. Throws AcsError. */
export function readAcsRequest(body: unknown): AcsRequest {
  if (Array.isArray(body)) {
    throw new AcsError('invalidRequest', 'batches are not supported; send one request');
  }
  return readAs(acsRequest, body, 'invalidRequest', '') as z.infer<typeof acsRequest> & AcsRequest;
}

/** Reads a payload. Throws AcsError. */
export function readPayload<Schema extends z.ZodType>(
  schema: Schema,
  payload: unknown,
): z.output<Schema> {
  return readAs(schema, payload, 'invalidParams', 'params.payload');
}

function readAs<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  code: 'invalidRequest' | 'invalidParams',
  at: string,
): z.output<Schema> {
  const read = schema.safeParse(value, { error: faultOf });
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const path = [...(at === '' ? [] : [at]), ...(issue?.path ?? [])].map(String).join('.');
  throw new AcsError(code, `${path || 'the body'} ${issue?.message}`);
}

function faultOf({ code }: { code?: string | undefined }): string {
  return code === 'unrecognized_keys' ? 'has an unknown key' : 'is missing or has the wrong form';
}
