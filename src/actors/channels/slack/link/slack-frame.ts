import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../../../../machines/json.ts';

/** A frame of Socket Mode; `odd` is an unexpected one. */
export type SlackFrame =
  | { kind: 'hello'; appId: string | null; lifetime: number | null }
  | { kind: 'disconnect'; reason: string }
  | { kind: 'envelope'; envelopeId: string; id: string; type: string; body: JsonValue }
  | { kind: 'odd' };

/** Parses a frame of Socket Mode; `lifetime` is in milliseconds. Never throws. */
export function readFrame(data: unknown): SlackFrame {
  const frame = typeof data === 'string' ? parseJson(data) : null;
  if (!isJsonObject(frame)) return { kind: 'odd' };
  const { type, envelope_id: envelopeId, payload = null } = frame;
  if (type === 'hello') return readHello(frame);
  if (type === 'disconnect') return { kind: 'disconnect', reason: plainWord(frame['reason']) };
  if (typeof type !== 'string' || typeof envelopeId !== 'string' || envelopeId === '') {
    return { kind: 'odd' };
  }
  return { kind: 'envelope', envelopeId, id: eventId(payload) ?? envelopeId, type, body: payload };
}

function readHello({ connection_info: info, debug_info: debug }: JsonObject): SlackFrame {
  const appId = isJsonObject(info) ? info['app_id'] : null;
  const seconds = isJsonObject(debug) ? debug['approximate_connection_time'] : null;
  return {
    kind: 'hello',
    appId: typeof appId === 'string' ? appId : null,
    lifetime: typeof seconds === 'number' && seconds > 0 ? seconds * 1_000 : null,
  };
}

/** Returns the event id; a redelivered event arrives in a new envelope. */
function eventId(payload: JsonValue): string | null {
  const id = isJsonObject(payload) ? payload['event_id'] : null;
  return typeof id === 'string' && id !== '' ? id : null;
}

function plainWord(value: JsonValue | undefined): string {
  return typeof value === 'string' && /^[a-z_]{1,40}$/.test(value) ? value : 'unknown';
}
