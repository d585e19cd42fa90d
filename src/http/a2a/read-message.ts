import type { Part as CorePart, SendMessageRequest } from '@a2a-js/sdk';
import type { JsonValue } from '../../machines/json.ts';
import { readSubmission, type Submission } from '../wire/task-request.ts';
import type { Sdk } from './sdk.ts';

/** A sent A2A message. */
export interface SentSubmission extends Submission {
  /** True if the client supplied a message ID, which identifies repeated messages. */
  isKnownById: boolean;
  /** The task and context that the message names. */
  place: { taskId?: string; contextId?: string };
}

/**
 * Reads a sent message of A2A 0.3.0 or 1.0 with the rules of a legacy send. `newMessageId` supplies a missing ID.
 * Throws a 400 Problem that names the fault.
 */
export function readMessage(
  { Role }: Sdk,
  { message }: SendMessageRequest,
  newMessageId: () => string,
): SentSubmission {
  const { parts = [], messageId, taskId, contextId } = message ?? {};
  const place = { ...(taskId ? { taskId } : {}), ...(contextId ? { contextId } : {}) };
  const body = {
    message: {
      role: 'user',
      parts: parts.map(partJson),
      ...(messageId ? { messageId } : {}),
      ...(message?.metadata === undefined ? {} : { metadata: message.metadata }),
      ...(contextId ? { contextId } : {}),
    },
  };
  const read = readSubmission(body, newMessageId);
  // A sender always has the role of a user, regardless of the role it names.
  const said =
    message?.role === Role.ROLE_AGENT
      ? { ...read.message, sentAs: 'agent' as const }
      : read.message;
  return { ...read, message: said, isKnownById: Boolean(messageId), place };
}

function partJson({ metadata, ...part }: CorePart): object {
  return { ...contentJson(part), ...(metadata === undefined ? {} : { metadata }) };
}

function contentJson({ content, filename, mediaType }: Omit<CorePart, 'metadata'>): object {
  const file = {
    ...(filename === '' ? {} : { name: filename }),
    ...(mediaType === '' ? {} : { mimeType: mediaType }),
  };
  switch (content?.$case) {
    case 'text':
      return { kind: 'text', text: content.value };
    case 'data':
      return { kind: 'data', data: content.value as JsonValue };
    case 'url':
      return { kind: 'file', file: { ...file, uri: content.value } };
    case 'raw':
      return {
        kind: 'file',
        file: { ...file, bytes: Buffer.from(content.value).toString('base64') },
      };
    default:
      return {};
  }
}
