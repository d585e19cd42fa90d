import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/machines/json.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { markupWords } from './markup-words.ts';

export interface ScreenLine {
  kind: 'title' | 'text' | 'quote' | 'small' | 'buttons';
  text: string;
}

/** Returns the visible lines of blocks. A block without text shows its type. */
export function blockLines(blocks: readonly JsonValue[], workspace: Workspace): ScreenLine[] {
  return blocks.flatMap((block) => (isJsonObject(block) ? linesOf(block, workspace) : []));
}

function linesOf(block: JsonObject, workspace: Workspace): ScreenLine[] {
  const words = (value: JsonValue | undefined): string => textWords(value, workspace);
  const elements = Array.isArray(block['elements']) ? block['elements'] : [];
  switch (block['type']) {
    case 'header':
      return split('title', words(block['text']));
    case 'section':
      return split('text', [words(block['text']), ...listWords(block['fields'], words)].join('\n'));
    case 'markdown':
      return split('text', typeof block['text'] === 'string' ? block['text'] : '');
    case 'context':
      return split('small', elements.map(words).join('\n'));
    case 'rich_text':
      return elements.flatMap((element) => richLines(element));
    case 'actions':
      return [
        { kind: 'buttons', text: elements.map((each) => `[ ${buttonWords(each)} ]`).join(' ') },
      ];
    case 'input': {
      const isOptional = block['optional'] === true;
      const field = `${words(block['label'])}${isOptional ? ' (optional)' : ''}: ____`;
      return [...split('text', field), ...split('small', words(block['hint']))];
    }
    case 'divider':
      return [{ kind: 'small', text: '---' }];
    default:
      return [{ kind: 'small', text: `(${JSON.stringify(block['type'])})` }];
  }
}

function richLines(element: JsonValue): ScreenLine[] {
  const isQuote = isJsonObject(element) && element['type'] !== 'rich_text_section';
  return split(isQuote ? 'quote' : 'text', richWords(element));
}

function richWords(element: JsonValue): string {
  if (!isJsonObject(element)) return '';
  if (typeof element['text'] === 'string') return element['text'];
  if (typeof element['url'] === 'string') return element['url'];
  return Array.isArray(element['elements']) ? element['elements'].map(richWords).join('') : '';
}

function textWords(value: JsonValue | undefined, workspace: Workspace): string {
  const text = isJsonObject(value) ? value['text'] : value;
  if (typeof text !== 'string') return '';
  const isMarkup = isJsonObject(value) && value['type'] === 'mrkdwn';
  return isMarkup ? markupWords(text, workspace) : text;
}

function listWords(value: JsonValue | undefined, words: (each: JsonValue) => string): string[] {
  return Array.isArray(value) ? value.map(words) : [];
}

function buttonWords(value: JsonValue): string {
  const label = isJsonObject(value) ? value['text'] : undefined;
  return isJsonObject(label) && typeof label['text'] === 'string' ? label['text'] : '?';
}

function split(kind: ScreenLine['kind'], text: string): ScreenLine[] {
  if (text === '') return [];
  return text
    .replace(/^\n+|\n+$/g, '')
    .split('\n')
    .map((line) => ({ kind, text: line }));
}
