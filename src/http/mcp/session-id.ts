import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  LATEST_PROTOCOL_VERSION,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/sdk/types.js';
import type { Caller } from '../../machines/task/task.ts';

/** What the id of a session says. */
export interface SessionId {
  /** The whole id. */
  text: string;
  /** The version of MCP that was agreed on when the session began. */
  protocolVersion: string;
}

/** The version of the form, the version of MCP, a nonce and a signature. */
const form = /^1\.(\d{4}-\d{2}-\d{2})\.([\w-]{16})\.([\w-]{43})$/;

/** Signs the ids of MCP sessions, which are valid for their owner at every daemon that has the key, until it changes. */
export class SessionIds {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** Makes the id of a new session. An unknown version that a client asks for becomes the latest one. */
  make(owner: Caller | null, asked: unknown): SessionId {
    const protocolVersion =
      SUPPORTED_PROTOCOL_VERSIONS.find((version) => version === asked) ?? LATEST_PROTOCOL_VERSION;
    const head = `1.${protocolVersion}.${randomBytes(12).toString('base64url')}`;
    return { text: `${head}.${this.#sign(head, owner).toString('base64url')}`, protocolVersion };
  }

  /** Reads an id; returns `null` unless it was signed with the key for this owner. */
  read(text: string, owner: Caller | null): SessionId | null {
    const [, protocolVersion = '', nonce = '', signature = ''] = form.exec(text) ?? [];
    const signed = this.#sign(`1.${protocolVersion}.${nonce}`, owner);
    // A text that decodes to the same bytes as the signature is another id.
    const shown = Buffer.from(signature);
    const wanted = Buffer.from(signed.toString('base64url'));
    if (shown.length !== wanted.length || !timingSafeEqual(shown, wanted)) return null;
    return { text, protocolVersion };
  }

  #sign(head: string, owner: Caller | null): Buffer {
    const { provider, userId, orgId, workspaceId } = owner ?? {};
    const signed = [head, provider ?? null, userId ?? null, orgId ?? null, workspaceId ?? null];
    return createHmac('sha256', this.#key).update(JSON.stringify(signed)).digest();
  }
}
