import type { Exchange, Message, Part, SaidTurn } from '../task/task.ts';
import { utf8Size } from '../utf8-size.ts';

/** Bytes of UTF-8 that count as one token: about what English takes, and more than other scripts do. */
const bytesPerToken = 4;

/** What a message, a call or a result takes beside its words: its role, its ids. */
const tokensPerPiece = 8;

/** What a picture or a PDF takes, and one more for so many characters of its base64. */
const tokensPerFile = 1_600;
const charactersPerFileToken = 64;

/** Data of a part that a model is shown, at most. */
const longestData = 16 * 1024;

/** A message never changes, so that it is estimated once, in however many turns it is told. */
const estimates = new WeakMap<Message, number>();

/** Estimates the tokens of a text: a quarter of its bytes in UTF-8. */
export function textTokens(text: string): number {
  return Math.ceil(utf8Size(text) / bytesPerToken);
}

/** Estimates the tokens of a message as a model is told it. */
export function messageTokens(message: Message): number {
  const known = estimates.get(message);
  if (known !== undefined) return known;
  const tokens = message.parts.reduce((sum, part) => sum + partTokens(part), tokensPerPiece);
  estimates.set(message, tokens);
  return tokens;
}

/** Estimates the tokens of a call together with its result. */
export function exchangeTokens({ call, result }: Exchange): number {
  const asked = textTokens(call.tool) + textTokens(JSON.stringify(call.args));
  return 2 * tokensPerPiece + asked + textTokens(result);
}

/** Estimates the tokens of what a model said beside its calls. */
export function saidTokens({ parts }: SaidTurn): number {
  return parts.reduce((sum, part) => {
    const beside = part.metadata === undefined ? 0 : textTokens(JSON.stringify(part.metadata));
    return sum + beside + (part.kind === 'call' ? 0 : tokensPerPiece + textTokens(part.text));
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
