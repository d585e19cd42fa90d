import { createHash } from 'node:crypto';
import type { AssistantContent, FilePart, ModelMessage, TextPart, ToolContent } from 'ai';
import type { ModelSpeaker } from '../../../machines/domain/model-speaker.ts';
import type {
  Exchange,
  Message,
  Part,
  RanCall,
  SaidPart,
  SaidTurn,
} from '../../../machines/domain/task.ts';
import { editWords } from '../../../machines/governance/edit-words.ts';
import { oneLine } from '../../../machines/legible.ts';
import { type ToldTurn, turnsOf } from '../../../machines/task/turns-of.ts';
import type { Conversation } from '../../ports/model.ts';
import type { WireTools } from './wire-tools.ts';

/** Maximum characters of a part's data that are sent to a model. */
const longestData = 16 * 1024;

/** Media types sent to models as they are; other files are mentioned by name only. */
const shown: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'application/pdf',
]);

/**
 * Converts a message to model input. A file given by URL is named, not fetched: the caller chose the URL, and the
 * daemon must not fetch it on the caller's behalf.
 */
function messageContent({ parts }: Message): (TextPart | FilePart)[] {
  return parts.map(contentOf).filter((part) => part.type !== 'text' || part.text !== '');
}

/** Returns an agent's message without its files: they came from tools, and are not the agent's words. */
function messageText(message: Message): string {
  const parts = message.parts.filter(({ kind }) => kind !== 'file');
  return messageContent({ ...message, parts })
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n');
}

function contentOf(part: Part): TextPart | FilePart {
  switch (part.kind) {
    case 'text':
      return textOf(part.text);
    case 'data':
      return textOf(cut(JSON.stringify(part.data)));
    case 'file':
      return fileOf(part.file);
  }
}

function fileOf({ name, mimeType = '', uri, bytes }: FileOf): TextPart | FilePart {
  const label = name ?? 'a file';
  if (bytes === undefined) return textOf(`[${label}: ${uri ?? 'no content'}]`);
  if (shown.has(mimeType)) {
    const filename = name === undefined ? {} : { filename: name };
    return { type: 'file', data: bytes, mediaType: mimeType, ...filename };
  }
  const isText = mimeType.startsWith('text/') || mimeType === 'application/json';
  if (!isText) return textOf(`[${label}: ${mimeType || 'of unknown type'}, not shown]`);
  return textOf(`[${label}]\n${Buffer.from(bytes, 'base64').toString('utf8')}`);
}

type FileOf = Extract<Part, { kind: 'file' }>['file'];

function textOf(text: string): TextPart {
  return { type: 'text', text: text.toWellFormed() };
}

function cut(json: string): string {
  if (json.length <= longestData) return json;
  return `${json.slice(0, longestData)}… (${json.length - longestData} characters more)`;
}

type ToldNames = Pick<WireTools, 'toWire' | 'argsToWire'>;

/** The model that receives a conversation. */
export interface Listener {
  model: ModelSpeaker;
  names: ToldNames;
}

type AssistantPart = Exclude<AssistantContent, string>[number];

/**
 * Converts a conversation to a provider's messages: earlier messages, the request, and for each turn of the run the
 * model's text and calls in order, the results of its calls, and messages sent meanwhile.
 */
export function promptMessages(conversation: Conversation, listener: Listener): ModelMessage[] {
  const { history, request, exchanges, followUps } = conversation;
  const spoken = [...history, request, ...followUps.map(({ message }) => message)];
  const isNamed = new Set(spoken.flatMap(nameOf)).size > 1;
  const said = (message: Message) => messageTold(message, isNamed);
  const saidWithin = (from: number, until: number) =>
    followUps
      .filter(({ after }) => after > from && after <= until)
      .flatMap(({ message }) => said(message));
  let told = 0;
  const run = turnsOf(exchanges, conversation.said).flatMap((turn) => {
    const from = told;
    told = turn.until;
    return [...turnTold(turn, listener), ...saidWithin(from, told)];
  });
  const before = (conversation.ran ?? [])
    .filter(({ isEarlier }) => isEarlier)
    .map(ranTold)
    .join('\n');
  const opening =
    before === '' ? [] : [{ role: 'user', content: `${ranHeading}\n${before}` } as const];
  return [...history.flatMap(said), ...opening, ...said(request), ...saidWithin(-1, 0), ...run];
}

const ranHeading =
  '[from the service, not from the caller: these calls started in earlier runs; do not repeat one unless the caller wants it again]';

function ranTold({ tool, args, outcome, at, approver }: RanCall): string {
  const when = new Date(at).toISOString();
  const by = approver === undefined ? '' : `, approved by ${oneLine(approver)}`;
  return `- ${oneLine(tool)} ${oneLine(args)}: ${outcome} at ${when}${by}`;
}

/** If several users speak, each message starts with the name of its author, as verified by a token or chat service. */
function messageTold(message: Message, isNamed: boolean): ModelMessage[] {
  if (message.role === 'agent') {
    const text = messageText(message);
    return text === '' ? [] : [{ role: 'assistant', content: text }];
  }
  const content = messageContent(message);
  if (content.length === 0) return [];
  const names = isNamed ? nameOf(message) : [];
  const from = names.map((name) => ({ type: 'text', text: `[from ${name}]` }) as const);
  return [{ role: 'user', content: [...from, ...content] }];
}

function turnTold({ said: turn, exchanges }: ToldTurn, { model, names }: Listener): ModelMessage[] {
  const isOwn = turn !== null && isSaidBy(turn, model);
  const calls = exchanges.map((exchange) => callTold(exchange, names));
  const parts = (turn?.parts ?? []).flatMap((part) => partTold(part, isOwn, calls));
  const results = exchanges.map((exchange) => resultTold(exchange, names));
  return [
    { role: 'assistant', content: [...parts, ...calls] },
    { role: 'tool', content: results },
  ];
}

/** For turns stored by older releases the model is unknown. */
function isSaidBy({ by }: SaidTurn, model: ModelSpeaker): boolean {
  const isThere = by.endpoint === undefined || by.endpoint === model.endpoint;
  return by.provider === model.provider && by.model === model.model && isThere;
}

function nameOf({ sender }: Message): string[] {
  return sender === undefined ? [] : [oneLine(sender.email ?? sender.userId)];
}

/** Assigns the next pending call to a call part. Reasoning and signatures of one provider are not sent to another. */
function partTold(part: SaidPart, isOwn: boolean, calls: AssistantPart[]): AssistantPart[] {
  const signed = isOwn && part.metadata !== undefined ? { providerOptions: part.metadata } : {};
  switch (part.kind) {
    case 'text':
      return part.text === '' && !isOwn ? [] : [{ type: 'text', text: part.text, ...signed }];
    case 'thought':
      return isOwn ? [{ type: 'reasoning', text: part.text, ...signed }] : [];
    case 'call':
      return calls.splice(0, 1).map((call) => ({ ...call, ...signed }));
  }
}

function callTold({ call }: Exchange, names: ToldNames): AssistantPart {
  const toolName = names.toWire(call.tool);
  const input = names.argsToWire(call.tool, call.args);
  return { type: 'tool-call', toolCallId: wireId(call.id), toolName, input };
}

function resultTold(exchange: Exchange, names: ToldNames): ToolContent[number] {
  const { call, failed } = exchange;
  const value = `${exchange.result}${noteTold(exchange)}`.toWellFormed();
  const output =
    failed === true
      ? ({ type: 'error-text', value: `error: ${value}` } as const)
      : ({ type: 'text', value } as const);
  const toolName = names.toWire(call.tool);
  return { type: 'tool-result', toolCallId: wireId(call.id), toolName, output };
}

function noteTold({ approval, call: { edits = [] } }: Exchange): string {
  const changed = edits.map((edit) => `\n\n[${editWords(edit)}]`).join('');
  if (approval === undefined) return changed;
  const { approver, note } = approval;
  return `${changed}\n\n[${oneLine(approver)} approved this call and wrote: ${note}]`;
}

/** Some servers accept only nine letters and digits as a call id. */
function wireId(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 9);
}
