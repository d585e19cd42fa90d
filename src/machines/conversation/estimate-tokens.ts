import type { Exchange, Message, Part, SaidTurn } from '../domain/task.ts';
import { utf8Size } from '../utf8-size.ts';

/** Bytes of UTF-8 per estimated token: about right for English, and an overestimate for other scripts. */
const bytesPerToken = 4;

/** Token overhead of a message, call or result: role and IDs. */
const tokensPerPiece = 8;

/** Base tokens of a picture or PDF, plus one per fixed number of base64 characters. */
const tokensPerFile = 1_600;
const charactersPerFileToken = 64;

/** Maximum size of a data part shown to a model. */
const longestData = 16 * 1024;

/** A message never changes, so its estimate is cached for all turns that include it. */
const estimates = new WeakMap<Message, number>();

/** Estimates a string's tokens: a quarter of its UTF-8 bytes. */
export function textTokens(text: string): number {
  return Math.ceil(utf8Size(text) / bytesPerToken);
}

/** Estimates the tokens of a message as sent to a model. */
export function messageTokens(message: Message): number {
  const known = estimates.get(message);
  if (known !== undefined) return known;
  const isRead = message.role === 'user';
  const parts = message.parts.filter((part) => isRead || part.kind !== 'file');
  const tokens = parts.reduce((sum, part) => sum + partTokens(part), tokensPerPiece);
  estimates.set(message, tokens);
  return tokens;
}

/** Estimates the tokens of a call with its result. */
export function exchangeTokens({ call, result }: Exchange): number {
  const asked = textTokens(call.tool) + textTokens(JSON.stringify(call.args));
  return 2 * tokensPerPiece + asked + textTokens(result);
}

/** Estimates the tokens of a model's text and other parts around its calls. */
export function saidTokens({ parts }: SaidTurn): number {
  return parts.reduce((sum, part) => {
    const extra = part.metadata === undefined ? 0 : textTokens(JSON.stringify(part.metadata));
    return sum + extra + (part.kind === 'call' ? 0 : tokensPerPiece + textTokens(part.text));
  }, 0);
}

function partTokens(part: Part): number {
  if (part.kind === 'text') return textTokens(part.text);
  if (part.kind === 'data') return textTokens(JSON.stringify(part.data).slice(0, longestData));
  const { name = '', mimeType, uri = '', bytes = '' } = part.file;
  if (mimeType?.startsWith('text/') || mimeType === 'application/json') {
    return textTokens(name) + textTokens(bytes);
  }
  if (bytes === '') return textTokens(name) + textTokens(uri) + tokensPerPiece;
  return tokensPerFile + Math.ceil(bytes.length / charactersPerFileToken);
}
