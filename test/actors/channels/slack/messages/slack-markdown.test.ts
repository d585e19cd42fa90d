import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { slackMarkdown } from '../../../../../src/actors/channels/slack/messages/slack-markdown.ts';
import { runs } from '../../../../helpers/runs.ts';

describe("an answer in Slack's markup", () => {
  it.each<[string, string]>([
    ['# Head\n\n**bold** and *italic*', '*Head*\n\n\u200b*bold*\u200b and \u200b_italic_\u200b'],
    ['- one\n- two', '•   one\n•   two'],
    ['```js\na && b < c\n```', '```\na &amp;&amp; b &lt; c\n```'],
    ['see [the docs](https://x.test/?a=1&b=2)', 'see <https://x.test/?a=1&amp;b=2|the docs>'],
    ['see <https://x.test/a?b=1>.', 'see <https://x.test/a?b=1|https://x.test/a?b=1>.'],
    ['<https://x.test>.evil.test', '&lt;https://x.test&gt;.evil.test'],
    ['a & b &lt;', 'a &amp; b &amp;lt;'],
    ['[x](http://a.test/%zz) <b>', '[x](http://a.test/%zz) &lt;b&gt;'],
    ['', ''],
  ])('is written from %j', (markdown, markup) => {
    expect(slackMarkdown(markdown)).toBe(markup);
  });

  it.each<[string, string]>([
    ['Hi <!channel> and <@U0ANN00001>', 'Hi &lt;!channel> and &lt;@U0ANN00001&gt;'],
    ['`<!here>`', '`&lt;!here>`'],
    ['```\n<#C0REFUNDS1>\n```', '```\n&lt;#C0REFUNDS1>\n```'],
    ['[<!everyone>](http://x.test)', '<http://x.test|&lt;!everyone&gt;>'],
    ['[click](<!here>)', 'click'],
    ['[click](javascript:alert)', 'click'],
    ['\\<@U0ANN00001>', '\\&lt;@U0ANN00001&gt;'],
    ['&#60;!here&#62;', '&amp;#60;!here&amp;#62;'],
    ['\ue000!here> %EE%80%80!here>', '!here> %3C!here&gt;'],
  ])('mentions no one for %j', (markdown, markup) => {
    expect(slackMarkdown(markdown)).toBe(markup);
  });

  it('is empty for a string that no message accepts', () => {
    expect([slackMarkdown('a'.repeat(4_000)), slackMarkdown('a'.repeat(4_001))]).toEqual([
      'a'.repeat(4_000),
      null,
    ]);
  });

  it('is converted in linear time for hostile text', () => {
    const before = performance.now();
    for (const piece of ['> ', '[', '_a', '~a~', '[x](', '![[](', '* ']) {
      slackMarkdown(piece.repeat(4_000 / piece.length));
    }
    expect(performance.now() - before).toBeLessThan(5_000);
  });

  it.each<[string, string]>([
    ['- - - - - - - a', '•   •   •   •   •   - - a'],
    ['1) - 1) - 1) - a', '1.  •   1.  •   1.  - a'],
    ['> - > - > - > a', '> •   > •   > - &gt; a'],
    ['* * * * * * *', '***'],
    ['- - - - - a', '•   •   •   •   •   a'],
  ])('begins at most five lists or quotes on one line of %j', (markdown, markup) => {
    expect(slackMarkdown(markdown)).toBe(markup);
  });

  const piece = fc.oneof(
    fc.constantFrom(
      ...[
        '<!channel>',
        '<@U1>',
        '<#C1|x>',
        '<!here|y>',
        '<',
        '>',
        '&',
        '|',
        '`',
        '```\n',
        '\n',
        '\\',
        '*',
        '_',
        '~',
      ],
      ...[
        '[',
        '](',
        ')',
        '](http://x.test/',
        '<http://y.test>',
        'https://z.test/%20',
        '&lt;',
        '&#60;',
        '%3C',
        '> ',
        '# ',
      ],
      ...[
        '[a]: http://d.test/<!here>\n',
        '[a]',
        '![',
        '\ue000',
        '\ue001',
        '%EE%80%80',
        '\ud800',
        '| - |\n',
        'me@x.test',
      ],
    ),
    fc.string({ maxLength: 6, unit: 'grapheme' }),
  );

  it('mentions no one, and links only to addresses in its text', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 25 }), (pieces) => {
        const markdown = pieces.join('').slice(0, 4_000);
        const markup = slackMarkdown(markdown) ?? '';
        const opened = [...markup.matchAll(/<([^|>]*)/g)].map(([, target = '']) => target);
        const known = /^(https?:\/\/|ftp:|mailto:)/i;
        expect(opened.filter((target) => !known.test(target))).toEqual([]);
        const hosts = opened.flatMap((target) => /^https?:\/\/([a-z.]+)/i.exec(target)?.[1] ?? []);
        expect(hosts.filter((host) => !markdown.includes(host))).toEqual([]);
        expect(markup.isWellFormed()).toBe(true);
      }),
      { numRuns: runs(400) },
    );
  });
});
