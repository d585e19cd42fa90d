import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { blockLines } from '../../../../packages/fake-slack/screen/block-lines.ts';
import { markupWords } from '../../../../packages/fake-slack/screen/markup-words.ts';
import { paintMessage } from '../../../../packages/fake-slack/screen/paint-message.ts';
import { usualChannels, usualUsers } from '../../../../packages/fake-slack/workspace/people.ts';
import { Workspace } from '../../../../packages/fake-slack/workspace/workspace.ts';
import { Output } from '../../../../src/cli/output.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';

const silent = { write: () => true } as never;
const output = new Output({
  stdout: silent,
  stderr: silent,
  env: {},
  isJson: false,
  isDebug: false,
  mayColour: false,
});

const workspace = new Workspace(new ManualClock(0), usualUsers, usualChannels);

const plain = workspace.say({ channel: 'C0REFUNDS1', user: 'U0ANN00001', text: '' });

describe('the lines of a message', () => {
  it('are printed one by one', () => {
    const plain = (text: string) => ({ type: 'plain_text', text });
    const blocks = [
      { type: 'header', text: plain('Approval needed') },
      { type: 'section', text: plain('Tool: pay\nRequested by: *ann*'), fields: [plain('5 EUR')] },
      {
        type: 'rich_text',
        elements: [
          { type: 'rich_text_preformatted', elements: [{ type: 'text', text: '{"a": 1}\nend' }] },
        ],
      },
      { type: 'divider' },
      { type: 'context', elements: [{ type: 'mrkdwn', text: 'by <@U0BOB00001> &amp; me' }] },
      { type: 'input', label: plain('Reason'), hint: plain('short'), optional: true },
      { type: 'actions', elements: [{ type: 'button', text: plain('Approve') }] },
      { type: 'video' },
    ];
    expect(blockLines(blocks, workspace)).toEqual([
      { kind: 'title', text: 'Approval needed' },
      { kind: 'text', text: 'Tool: pay' },
      { kind: 'text', text: 'Requested by: *ann*' },
      { kind: 'text', text: '5 EUR' },
      { kind: 'quote', text: '{"a": 1}' },
      { kind: 'quote', text: 'end' },
      { kind: 'small', text: '---' },
      { kind: 'small', text: 'by @bob & me' },
      { kind: 'text', text: 'Reason (optional): ____' },
      { kind: 'small', text: 'short' },
      { kind: 'buttons', text: '[ Approve ]' },
      { kind: 'small', text: '("video")' },
    ]);
  });

  it.each([
    ['<!date^1700000000^{time}|14 Nov>', '14 Nov'],
    ['<https://a.example|Open>', 'Open (https://a.example)'],
    ['<https://a.example>', 'https://a.example'],
    ['<#C0REFUNDS1> <!channel>', '#refunds @channel'],
    ['&lt;!channel&gt; &amp;lt;', '<!channel> &lt;'],
    ['<@U0NOBODY01>', '@U0NOBODY01'],
  ])('for %s are %s', (markup, words) => {
    expect(markupWords(markup, workspace)).toBe(words);
  });

  it('contain no terminal control, with any text', () => {
    const said = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(said, said, said, (text, quoted, name) => {
        const blocks = [
          { type: 'section', text: { type: 'mrkdwn', text } },
          { type: 'rich_text', elements: [{ type: 'rich_text_quote', text: quoted }] },
          { type: name },
        ];
        const message = { ...plain, text, blocks: name === '' ? [] : blocks };
        const lines = paintMessage(output, message, { workspace, isChanged: false });
        expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      }),
    );
  });

  it('show control characters as codes, and name the only viewer of a message', () => {
    const message = { ...plain, text: 'red \u001b[31m\u202e', onlyFor: 'U0BOB00001' };
    expect(paintMessage(output, message, { workspace, isChanged: false })).toEqual([
      'Ann Miller  #refunds, only Bob Stone sees this',
      '  | red \\u001b[31m\\u202e',
    ]);
  });
});
