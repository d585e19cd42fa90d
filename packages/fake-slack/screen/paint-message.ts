import { isJsonObject } from '../../../src/machines/json.ts';
import { plainLine } from '../../../src/machines/plain-line.ts';
import type { FakeMessage, FakeView, Workspace } from '../workspace/workspace.ts';
import { blockLines, type ScreenLine } from './block-lines.ts';
import { markupWords } from './markup-words.ts';
import type { Terminal } from './terminal.ts';

/** Returns the visible lines of a message: its blocks or else its text, then its files. */
export function messageLines(message: FakeMessage, workspace: Workspace): ScreenLine[] {
  const { blocks, text, files } = message;
  const words = markupWords(text, workspace).split('\n');
  const said: ScreenLine[] =
    blocks.length > 0
      ? blockLines(blocks, workspace)
      : words.map((line) => ({ kind: 'text', text: line }));
  return [...said, ...files.map(({ name }) => ({ kind: 'small' as const, text: `file: ${name}` }))];
}

/** Draws a message with its author and channel, as Slack would show it. */
export function paintMessage(
  { colours }: Terminal,
  message: FakeMessage,
  { workspace, isChanged }: { workspace: Workspace; isChanged: boolean },
): string[] {
  const { dim, bold } = colours;
  const author = workspace.user(message.user)?.realName ?? message.user;
  const reader = workspace.user(message.onlyFor ?? '')?.realName ?? message.onlyFor;
  const notes = [
    placeOf(message, workspace),
    ...(isChanged ? ['changed'] : []),
    ...(reader === null ? [] : [`only ${reader} sees this`]),
  ];
  const head = `${bold(plainLine(author))}  ${dim(plainLine(notes.join(', ')))}`;
  return [head, ...messageLines(message, workspace).map((line) => paintLine(colours, line))];
}

/** Draws a modal. */
export function paintView(
  { colours }: Terminal,
  { content }: FakeView,
  workspace: Workspace,
): string[] {
  const label = (name: string): string => {
    const value = content[name];
    const text = isJsonObject(value) ? value['text'] : undefined;
    return typeof text === 'string' ? text : '';
  };
  const blocks = Array.isArray(content['blocks']) ? content['blocks'] : [];
  const lines: ScreenLine[] = [
    { kind: 'title', text: label('title') },
    ...blockLines(blocks, workspace),
    { kind: 'buttons', text: `[ ${label('submit')} ] [ ${label('close')} ]` },
  ];
  return lines.map((line) => paintLine(colours, line));
}

function placeOf({ channel, threadTs }: FakeMessage, workspace: Workspace): string {
  const found = workspace.channels.find(({ id }) => id === channel);
  const where = found?.partner === null ? `#${found.name}` : 'direct message';
  return threadTs === null ? where : `in a thread of ${where}`;
}

function paintLine(colours: Terminal['colours'], { kind, text }: ScreenLine): string {
  const line = plainLine(text);
  switch (kind) {
    case 'title':
      return `  | ${colours.bold(line)}`;
    case 'quote':
      return `  |   ${colours.cyan(line)}`;
    case 'small':
      return `  | ${colours.dim(line)}`;
    case 'buttons':
      return `  | ${colours.yellow(line)}`;
    case 'text':
      return `  | ${line}`.trimEnd();
  }
}
