import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { LATEST_PROTOCOL_VERSION, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import type { Caller } from '../../machines/domain/task.ts';

/** The content of a session ID. */
export interface SessionId {
  /** The whole id. */
  text: string;
  /** The MCP version negotiated when the session began. */
  protocolVersion: string;
  /** True if the client can show an address to its user. */
  opensLinks: boolean;
}

/** Format version, MCP version, nonce and signature; the second format also has the client's abilities. */
const form = /^((?:1|2(l?))\.(\d{4}-\d{2}-\d{2})\.[\w-]{16})\.([\w-]{43})$/;

/**
 * Signs the IDs of MCP sessions. An ID is valid only for its owner, at every daemon with the key, until the key
 * changes.
 */
export class SessionIds {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** Creates a session ID. An unknown requested version is replaced with the latest one. */
  make(owner: Caller | null, asked: unknown, opensLinks: boolean): SessionId {
    const protocolVersion =
      SUPPORTED_PROTOCOL_VERSIONS.find((version) => version === asked) ?? LATEST_PROTOCOL_VERSION;
    const nonce = randomBytes(12).toString('base64url');
    const head = `2${opensLinks ? 'l' : ''}.${protocolVersion}.${nonce}`;
    const text = `${head}.${this.#sign(head, owner).toString('base64url')}`;
    return { text, protocolVersion, opensLinks };
  }

  /** Reads an ID; returns `null` unless it was signed with the key for this owner. */
  read(text: string, owner: Caller | null): SessionId | null {
    const [, head = '', links, protocolVersion = '', signature = ''] = form.exec(text) ?? [];
    // Compared as text, because different texts can decode to the same signature bytes.
    const shown = Buffer.from(signature);
    const wanted = Buffer.from(this.#sign(head, owner).toString('base64url'));
    if (shown.length !== wanted.length || !timingSafeEqual(shown, wanted)) return null;
    return { text, protocolVersion, opensLinks: links === 'l' };
  }

  #sign(head: string, owner: Caller | null): Buffer {
    const { provider, userId, orgId, workspaceId } = owner ?? {};
    const signed = [head, provider ?? null, userId ?? null, orgId ?? null, workspaceId ?? null];
    return createHmac('sha256', this.#key).update(JSON.stringify(signed)).digest();
  }
}
