import { createHmac, randomUUID } from 'node:crypto';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { AgentClient, Answer } from './agent-client.ts';

/** RFC 8785 for values without fractions, written apart from the product. */
export function jcs(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jcs).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, each]) => each !== undefined);
  const sorted = members.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${sorted.map(([name, each]) => `${JSON.stringify(name)}:${jcs(each)}`).join(',')}}`;
}

const hmac = (key: string | Buffer, text: string | Buffer): Buffer =>
  createHmac('sha256', key).update(text).digest();

/** HKDF-SHA256 of one block without salt, with the session as `info` (RFC 5869). */
export function derivedKey(secret: string, session: string): Buffer {
  return hmac(hmac(Buffer.alloc(32), secret), `${session}\u0001`);
}

/** The signature of an envelope without its `signature`. */
export function macOf(key: Buffer, envelope: object): string {
  return hmac(key, jcs(envelope)).toString('base64');
}

const uuid = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';
const needing = (decision: string, ...required: string[]) => ({
  anyOf: [{ not: { properties: { decision: { const: decision } } } }, { required }],
});

/** What an answer of a Guardian must look like by the text of the standard (sections 3, 4, 6, 10 and 17). */
const answerSchema = {
  type: 'object',
  required: ['jsonrpc', 'id'],
  additionalProperties: false,
  properties: {
    jsonrpc: { const: '2.0' },
    id: { type: ['string', 'number', 'null'] },
    result: {
      type: 'object',
      required: ['type', 'acs_version', 'request_id', 'decision', 'signature'],
      properties: {
        type: { const: 'final' },
        acs_version: { const: '0.1.0' },
        request_id: { type: 'string', pattern: uuid },
        decision: { enum: ['allow', 'deny', 'modify', 'ask', 'defer'] },
        reasoning: { type: 'string', minLength: 1 },
        reason_codes: { type: 'array', items: { type: 'string' }, uniqueItems: true },
        policy_data: { type: 'object' },
        chain_hash: { type: 'string', pattern: '^[0-9a-f]{64}$' },
        modifications: {
          type: 'object',
          additionalProperties: false,
          properties: { parameter_overrides: { type: 'object', minProperties: 1 } },
        },
        defer_details: {
          type: 'object',
          required: ['reason', 'resolution_method', 'resolution_timeout_ms', 'timeout_decision'],
          properties: {
            reason: {
              enum: [
                ...['insufficient_context', 'conflicting_policies'],
                ...['low_confidence', 'pending_dependency'],
              ],
            },
            resolution_method: { enum: ['additional_context', 'human_approval', 'timeout'] },
            resolution_timeout_ms: { type: 'integer', minimum: 1 },
            timeout_decision: { enum: ['deny', 'ask'] },
          },
        },
        signature: {
          type: 'object',
          required: ['algorithm', 'value', 'key_id'],
          properties: { algorithm: { const: 'HMAC-SHA256' } },
        },
      },
      allOf: [
        needing('deny', 'reasoning'),
        needing('modify', 'reasoning', 'modifications'),
        needing('ask', 'reasoning', 'ask_details'),
        needing('defer', 'reasoning', 'defer_details'),
      ],
    },
    error: {
      type: 'object',
      required: ['code', 'message', 'data'],
      properties: {
        code: { enum: [-32700, ...range(-32603, -32600), ...range(-32007, -32000)] },
        message: { type: 'string', pattern: '[^.]$' },
        data: { type: 'object', required: ['reason', 'message'] },
      },
    },
  },
  oneOf: [{ required: ['result'] }, { required: ['error'] }],
};

/** The ServerHello (section 4). */
const serverHelloSchema = {
  type: 'object',
  required: ['negotiated_version', 'methods_evaluated', 'selected_transport', 'timeout_config'],
  properties: {
    negotiated_version: { const: '0.1.0' },
    methods_evaluated: { type: 'array', items: { type: 'string' } },
    selected_transport: { enum: ['http', 'https', 'stdio'] },
    signature_algorithms_supported: { type: 'array', items: { const: 'HMAC-SHA256' } },
    timeout_config: {
      type: 'object',
      required: ['default_ms'],
      properties: { default_ms: { type: 'integer', minimum: 1 } },
    },
    skew_window_ms: { type: 'integer', minimum: 0 },
    on_decision_failure: { enum: ['proceed', 'deny'] },
    approver_types_supported: { type: 'array', items: { enum: ['human', 'agent', 'service'] } },
    policy_requires_provenance: { type: 'boolean' },
    profiles_accepted: { type: 'array', items: { type: 'string' } },
  },
};

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true });
const isAnswer = ajv.compile(answerSchema);
export const isServerHello = ajv.compile(serverHelloSchema);

/** What a request says besides its payload. */
export interface AcsTerms {
  request?: string;
  timestamp?: string;
  nonce?: string;
  /** Changes the envelope before it is signed. */
  with?: (envelope: any) => void;
}

export const secret = 'a secret of thirty-two characters';

/** The methods of a client that emits the hooks of the core profile. */
export const coreMethods = [
  ...['steps/sessionStart', 'steps/userMessage', 'steps/toolCallRequest', 'steps/toolCallResult'],
  ...['steps/agentResponse', 'steps/sessionEnd', 'steps/subagentStart', 'system/ping'],
  'protocols/MCP/*',
];

/** An observed agent of the Agent Control Standard. It accepts signed answers to its own requests only. */
export class AcsClient {
  readonly at: AgentClient;
  readonly session: string;
  readonly key: Buffer;
  readonly keyId: string;

  constructor(at: AgentClient, { session = randomUUID() as string, keyId = 'default' } = {}) {
    this.at = at;
    this.session = session;
    this.keyId = keyId;
    this.key = derivedKey(secret, session);
  }

  /** The same session at another daemon. */
  through(at: AgentClient): AcsClient {
    return new AcsClient(at, this);
  }

  /** A signed request. */
  envelope(method: string, payload: unknown, terms: AcsTerms = {}): any {
    const envelope: any = {
      ...{ jsonrpc: '2.0', id: randomUUID(), method },
      params: {
        acs_version: '0.1.0',
        request_id: terms.request ?? randomUUID(),
        timestamp: terms.timestamp ?? new Date().toISOString(),
        ...(terms.nonce === undefined ? {} : { nonce: terms.nonce }),
        metadata: { agent_id: 'coder', session_id: this.session },
        payload,
      },
    };
    terms.with?.(envelope);
    const value = macOf(this.key, envelope);
    envelope.params.signature = { algorithm: 'HMAC-SHA256', value, key_id: this.keyId };
    return envelope;
  }

  /** Sends a body as it is. */
  post(body: unknown): Promise<Answer> {
    return this.at.post('/acs', body);
  }

  /** Sends a request; resolves with its result or error once signature, ids and form are checked. */
  async send(method: string, payload: unknown, terms: AcsTerms = {}): Promise<any> {
    const envelope = this.envelope(method, payload, terms);
    const { status, body } = await this.post(envelope);
    const faults = [
      ...(status === 200 ? [] : [`status ${status}`]),
      ...(isAnswer(body) ? [] : [JSON.stringify(isAnswer.errors)]),
      ...(body.id === envelope.id ? [] : ['another id']),
      ...(this.isSigned(body) ? [] : ['the signature does not match']),
      ...(body.error !== undefined || body.result.request_id === envelope.params.request_id
        ? []
        : ['another request_id']),
    ];
    if (faults.length > 0) throw new Error(`${faults.join('; ')}: ${JSON.stringify(body)}`);
    return body.result ?? body.error;
  }

  /** Whether an answer carries the signature of the session. */
  isSigned(body: any): boolean {
    const part = body.result === undefined ? 'error' : 'result';
    const { signature, ...rest } = body[part];
    return signature?.value === macOf(this.key, { ...body, [part]: rest });
  }

  hello(more: object = {}): Promise<any> {
    return this.send('handshake/hello', {
      ...{ acs_versions_supported: ['0.1.0'], methods_implemented: coreMethods },
      ...{ transports_supported: ['http', 'stdio'], provenance_producer: 'none' },
      ...{ profiles_supported: ['acs-core', 'acs-trace'], ...more },
    });
  }

  /** Asks for a call of `Bash`. */
  bash(command: string, terms: AcsTerms = {}): Promise<any> {
    return this.send('steps/toolCallRequest', bashCall(command), terms);
  }
}

/** The payload of a call of `Bash`. */
export const bashCall = (command: string) => ({
  tool: { name: 'Bash' },
  arguments: { command: { value: command } },
});
